"""Commands whose options take the next word for a value, in front of the words that say what they run.

``npm --otp 5 exec evil`` runs `evil`. The readers of what a program runs look for its subcommand right behind its name
and know few options, and a record may lack one. So the command is also judged without the options that take a value
and the values, of those that no record knows in each combination, if it would run or load something then. A record
may also be wrong the other way: in `cabal -v repl` the option takes nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.effects.escapes import look_up
from countersign.gate.shell.effects.operand_code import OWN_COMMANDS
from countersign.gate.shell.effects.partial_subcommands import (
    is_subcommand,
    may_be_subcommand,
    takes_subcommands,
)
from countersign.gate.shell.effects.unwrap import Unwrapped, is_wrapper, program, unwrap, wrapper_row
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.languages.git import READ_HERE
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.programs.subcommand_depth import ALL_FLAGS, FLAGS, VALUED
from countersign.gate.shell.programs.tables import INTERPRETERS, WRAPPERS
from countersign.gate.shell.syntax.tree import Word

_FARTHEST = 200
"""Words behind which such an option is not looked for: a command with more of them in front of six operands asks."""

_MOST_PAIRS, _FEW_PAIRS, _MOST_OPERANDS = 12, 3, 6
"""Such options that are looked at, of few of them in each combination, and words that are none among them."""

_MOST_READ = 5_000
"""Words of all these readings together."""

_OPTION = re.compile(r"-[^=\s]+")

_FEWEST = 3
"""Words of a command that has a name, an option, and its value or a subcommand."""

_MOST = 32
"""Readings of one command that are judged."""


def with_valued_options(step: Step) -> Sequence[Step] | None:
    """Return the command in each further reading of its options in which it does more; None if there are too many."""
    words, layers = step.command.words, step.unwrapped.layers
    if step.command.kind != "command" or len(words) < _FEWEST or (len(layers) == 1 and not _leads(words[0].value)):
        return ()
    found: dict[tuple[Word, ...], None] = {}
    for layer in layers:
        front, first = words[: len(words) - len(layer.words)], layer.words[0].value
        if first is None or not _leads(first):
            continue
        if words[len(front) :] != layer.words:
            front = ()  # words are put into it (`xargs`, `find -exec`), so it is judged by itself
        name = program(first)
        readings = _readings(name, layer.words)
        if readings is None:
            return None
        passed = _without_passed(name, layer.words)
        if passed is not None:
            behind = _readings(name, passed)
            if behind is None:
                return None
            readings = itertools.chain(readings, (passed,), behind)
        elif not readings:
            continue
        written, known = unwrap(layer.words), look_up(name, layer.words)
        for reading in readings:
            if len(found) >= _MOST:
                return None
            if _does_more(name, reading, layer.words, written, known):
                found[(*front, *reading)] = None
    return [step.with_words(each) for each in found]


def _without_passed(name: str, words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """The words of an interpreter without one that its own words may follow (``tsx watch -e CODE``)."""
    passes = INTERPRETERS[name].passes if name in INTERPRETERS else ()
    at = next((index for index, word in enumerate(words) if index and word.value in passes), None)
    return None if at is None else (*words[:at], *words[at + 1 :])


def _leads(first: str | None) -> bool:
    """Whether this is a program whose further words may say what it runs. Git has a reading of its own."""
    name = program(first or "")
    return (takes_subcommands(name) or name in OWN_COMMANDS or name in INTERPRETERS) and name not in READ_HERE


def _readings(name: str, words: Sequence[Word]) -> Iterable[tuple[Word, ...]] | None:
    """The command without some of the options that may take a word, each with that word: nothing if there is no such
    option, None if it is too long."""
    pairs, valued, named, operands, index = list[int](), list[int](), list[int](), 0, 1
    behind = _inner_command(name, words)
    while index < len(words) - 1 and len(pairs) < _MOST_PAIRS and operands < _MOST_OPERANDS:
        if index > _FARTHEST:
            return None
        word, value = words[index], words[index + 1]
        option = word.value if word.value is not None else word.prefix
        if option == "--":
            break
        operands += option[:1] != "-"
        if operands and name in INTERPRETERS:
            break  # its script: the words behind it are the script's own
        if _OPTION.fullmatch(option) and value.prefix[:1] != "-":
            takes = _takes_value(name, option, value, words) if word.value is not None else None
            pairs += [index] if takes is None and index < behind else []
            valued += [index] if takes and name not in INTERPRETERS else []
            named += [index] if is_subcommand(name, value.value) else []
            index += takes is not False
        index += 1
    if not (pairs or valued or named):
        return ()
    if len(pairs) == _MOST_PAIRS and not operands:
        return None
    if len(pairs) <= _FEW_PAIRS:
        chosen = [each for size in range(1, len(pairs) + 1) for each in itertools.combinations(pairs, size)]
    else:
        # What stands in front of a subcommand, or between two, is left out together.
        chosen = [tuple(pairs[start:end]) for start, end in itertools.combinations(range(len(pairs) + 1), 2)]
    # Those that surely take a value are left out, and, as a record may be wrong, kept.
    both = [(*each, *more) for more in (valued, ()) for each in ((), *chosen) if each or more]
    if (len(both) + len(named)) * len(words) > _MOST_READ:
        return None
    alone = ((*words[:index], *words[index + 1 :]) for index in named)
    return itertools.chain((_without(words, each) for each in both), alone)


def _inner_command(name: str, words: Sequence[Word]) -> int:
    """Where the command begins that a wrapper runs, if no option stands in front of it: further options are its own."""
    wrapper, start = wrapper_row(name, words)
    sure = wrapper is not None and wrapper.grammar.ordered and wrapper.tail == "command" and not wrapper.skip
    plain = all(word.value is not None and word.value[:1] not in {"-", "+"} for word in words[: start + 1])
    return start if sure and plain else len(words)


def _without(words: Sequence[Word], pairs: Sequence[int]) -> tuple[Word, ...]:
    return tuple(word for index, word in enumerate(words) if index not in pairs and index - 1 not in pairs)


def _takes_value(name: str, option: str, value: Word, words: Sequence[Word]) -> bool | None:
    """Whether an option takes the next word, by the record that says what the program runs; None if it does not."""
    if value.value in {"true", "false"}:
        return None  # some take these behind any option
    if name in INTERPRETERS:
        return INTERPRETERS[name].takes_value(option)
    bare = option.lstrip("-")
    letter = bare if len(option) == len("-x") else None
    row, _ = find_program(name, words[:1])
    grammars = [each.grammar for each in (row, WRAPPERS.get(name)) if each is not None]
    if any(bare in grammar.long or letter in grammar.short for grammar in grammars):
        return True
    if option in VALUED.get(name, ()):
        return None
    wrapper, start = wrapper_row(name, words)
    if wrapper is not None and option in wrapper.reached and words.index(value) > start:
        return False
    flag = option in ALL_FLAGS or option in FLAGS.get(name, ()) or (row is not None and option in row.escapes)
    return False if flag or any(bare in each.names or letter in each.flags for each in grammars) else None


def does_more(name: str, reading: Sequence[Word], words: Sequence[Word]) -> bool:
    """Return whether a command runs or loads something in this reading that it does not in the written one."""
    return _does_more(name, reading, words, unwrap(tuple(words)), look_up(name, words))


def _does_more(
    name: str, reading: Sequence[Word], words: Sequence[Word], written: Unwrapped, known_before: ProgramReading
) -> bool:
    found = unwrap(tuple(reading))
    known = [layer.words for layer in written.layers]
    if any(layer.words not in known for layer in found.layers[1:]):
        return True
    known_code = (*written.texts, *written.programs)
    if any(each not in known_code for each in (*found.texts, *found.programs)):
        return True
    if is_wrapper(name, reading) and not is_wrapper(name, words):
        return True  # without a command it may start a shell
    known_now = look_up(name, reading)
    before = {use.why for use in known_before.uses}
    if any(use.kind in ("runs", "code") and use.why not in before for use in known_now.uses):
        return True
    if any(word not in known_before.open_words for word in known_now.open_words):
        return True
    partly = may_be_subcommand(name, reading, known_now.arguments)
    return partly is not None and may_be_subcommand(name, words, known_before.arguments) is None
