"""Deny and ask rules for a command that is spelled otherwise: by another name of its program or subcommand, with its
options in another order or under other names, or with words that stand for an option.

``Bash(rm:*)`` means ``grm x``, ``Bash(rm -rf:*)`` means ``rm -R --force x``, ``Bash(npm install:*)`` means ``npm i``,
and ``Bash(git push --force:*)`` means ``git push origin +main``. Where the tables know the program, a deny rule denies;
where a name only may stand for the same program (``python`` for ``python3.11``), it asks. Allow rules and grants never
come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from countersign.gate.rules.rule_set import RuleSet, evidence
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.effects.escapes import look_up
from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.programs.argv import Option, is_one_of
from countersign.gate.shell.programs.other_names import Likeness, likeness, with_other_names
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.programs.row import Program
from countersign.gate.shell.programs.tables import INTERPRETERS, names_with, words_of
from countersign.gate.shell.rules.named_programs import Named, Spelled, base_name, by_family
from countersign.gate.shell.syntax.words import constant
from countersign.wire.verdicts import Evidence

_MOST_WORDS = 400
"""Words of a command that are compared one by one. One with more asks if it holds all words of a rule but options."""


def said_otherwise(
    commands: Iterator[tuple[str, ...]], rules: RuleSet, agent: str
) -> tuple[Evidence | None, Evidence | None]:
    """The first deny and the first ask rule that means one of these commands, each given by its words."""
    named = by_family(rules)
    deny = ask = None
    if not named:
        return deny, ask
    for words in commands:
        if not words:
            continue
        command = Spelled(words)
        group = named.get(command.family)
        if group is None:
            continue
        among = frozenset(command.written) if len(command.written) > _MOST_WORDS else frozenset[str]()
        for each in group.all if among else group.candidates(command, rules, agent):
            if not each.rule.serves(agent):
                continue
            found = _means(each, command)
            if found is None and _may_be_behind_options(each, command):
                found = "akin", f"what `{each.rule.text}` names may stand behind its options"
            if found is None and among and _may_be_among(each, command.written, among):
                found = "akin", f"the command has too many words to compare it with `{each.rule.text}`"
            if found is None:
                continue
            likely, reason = found
            said = evidence(each.rule, reason)
            if each.rule.list == "deny" and likely == "same":
                deny = deny or said
            else:
                ask = ask or said
    return deny, ask


def _means(each: Named, command: Spelled) -> tuple[Likeness, str] | None:
    """How surely a rule means a command with these words, and why; None if it does not."""
    words = command.written
    name = base_name(words[0])
    likely = likeness(each.name, name)
    if likely is None:
        return None
    text = each.rule.text
    if (name != each.name or command.renamed) and each.pattern.touches((each.pattern.loose_words[0], *words[1:])):
        if name == each.name:
            return likely, f"`{text}` names the same command"
        return likely, f"`{name}` is another name of what `{text}` names"
    if each.words != each.pattern.loose_words and _begins(each, words):
        return likely, f"`{text}` names the same command"
    if each.known is not None and len(words) <= _MOST_WORDS and _is_same(each, each.known, command):
        return likely, f"`{text}` names the same options"
    return None


def _may_be_behind_options(each: Named, command: Spelled) -> bool:
    """Whether the words of a rule that are no options stand in the command behind options, where a word behind one may
    be its value or not, and all options of the rule somewhere. Where no table sorts the words of the program, the
    options of a rule that names nothing else may stand anywhere."""
    words = command.apart
    if likeness(each.name, base_name(words[0])) is None:
        return False
    wanted, known = each.plain, each.known
    git = known.git if known is not None else None
    if len(words) > _MOST_WORDS:
        return False
    if not wanted and each.pattern.prefix and (known is None or _is_unsorted(each, known)):
        return len(each.words) > 1 and all(_is_given(option, words) for option in each.words[1:])
    if not wanted or (git is not None and not _is_unknown_git(each, words)):
        return False
    at, skipped, behind = 0, False, False
    for word in words[1:]:
        if at == len(wanted):
            break
        if wanted[at] in command.names_of(word):
            at, behind = at + 1, False
        elif word.startswith("-") or (each.words[0] in _ASSIGNED and "=" in word):
            skipped = behind = True
        elif behind:
            behind = False
        else:
            return False
    return at == len(wanted) and skipped and all(word in words for word in each.words[1:] if word.startswith("-"))


def _is_unsorted(each: Named, known: ProgramReading) -> bool:
    row = known.program
    if row is not None:
        return row.closed or row.grammar.single
    return program(each.words[0]) not in INTERPRETERS


def _is_given(option: str, words: Sequence[str]) -> bool:
    # To many programs one dash in front of a long option is as good as two.
    bare = option.lstrip("-")
    given = [word.lstrip("-") if len(bare) > 1 and word[:1] == "-" else word for word in words[1:]]
    wanted = bare if len(bare) > 1 else option
    return any(word == wanted or word.startswith(f"{wanted}=") for word in given)


def _may_be_among(each: Named, words: tuple[str, ...], among: frozenset[str]) -> bool:
    """Whether a command of more words than are compared holds all words of a rule that are no options."""
    if len(each.words) == 1 or likeness(each.name, base_name(words[0])) is None:
        return False
    return among.issuperset(each.plain)


_ASSIGNED = with_other_names(names_with("takes_assignments"))
"""Programs that take ``NAME=value`` in front of what they are to do."""


def _is_unknown_git(each: Named, words: tuple[str, ...]) -> bool:
    """Whether git's subcommand is not known, for an option in front of it that git does not document."""
    git = look_up(program(each.words[0]), tuple(map(constant, words))).git
    return git is not None and git.subcommand is None


def _begins(each: Named, words: tuple[str, ...]) -> bool:
    """Whether the words begin with the rule's, which the rule itself spells as one (``docker-compose``)."""
    rest = words[1 : len(each.words)] == each.words[1:]
    return rest and (each.pattern.prefix or len(words) == len(each.words))


def _is_same(each: Named, known: ProgramReading, command: Spelled) -> bool:
    """Whether a command has the operands that a rule begins with, and all of its options, in whatever order."""
    if known.program is None:
        return _is_same_code(each, known, command)
    words, there = command.written, command.known
    name = program(words[0])
    row = there.program
    if row is None or row.closed or row is not known.program or not _same_subcommand(each, name, words, there):
        return False
    operands = [word.value for _, word in there.arguments.operands]
    wanted = [word.value for _, word in known.arguments.operands]
    options = _apart(row, known.arguments.options)
    others = [*_apart(row, there.arguments.options), *_implied(name, there, operands)]
    if operands[: len(wanted)] != wanted:
        return False
    if not all(any(_is_one(row.alike, option, other) for other in others) for option in options):
        return False
    if each.pattern.prefix:
        return True
    return len(operands) == len(wanted) and all(
        any(_is_one(row.alike, option, other) for option in options) for other in others
    )


def _is_same_code(each: Named, known: ProgramReading, command: Spelled) -> bool:
    """Whether an interpreter gets all options that a rule for it names, and the operands that the rule begins with."""
    there, wanted = command.known.arguments, known.arguments
    name = program(command.written[0])
    if name not in INTERPRETERS or name != program(each.words[0]) or not wanted.options:
        return False
    alike = INTERPRETERS[name].alike
    if not all(any(_is_one(alike, option, other) for other in there.options) for option in wanted.options):
        return False
    operands = [word.value for _, word in there.operands]
    begun = operands[: len(wanted.operands)] == [word.value for _, word in wanted.operands]
    return begun and (each.pattern.prefix or len(operands) == len(wanted.operands))


def _implied(name: str, there: ProgramReading, operands: Sequence[str | None]) -> Iterator[Option]:
    """Yield options that a command does not hold and that its words stand for."""
    if there.git is not None and there.git.subcommand == "push":
        if any((value or "").startswith("+") for value in operands):
            yield Option("--force", 0)
        if any((value or "").startswith(":") for value in operands):
            yield Option("--delete", 0)
    if name in _METHOD_GIVEN:
        bodies, put = _METHOD_POST[name], _METHOD_PUT[name]
        named = (option.name for option in there.arguments.options)
        given = {next((each for each in bodies if each.startswith(option)), option) for option in named}
        if not given & _METHOD_GIVEN[name]:
            method = "POST" if given & bodies else "PUT" if given & put else None
            if method is not None:
                yield Option("--request", 0, constant(method))


_METHOD_GIVEN = words_of("http_methods", "given")
"""Options with which the method does not depend on others."""
_METHOD_POST = words_of("http_methods", "post")
_METHOD_PUT = words_of("http_methods", "put")


def _same_subcommand(each: Named, name: str, words: Sequence[str], there: ProgramReading) -> bool:
    known = each.known
    if known is not None and known.git is not None:
        return there.git is not None and known.git.subcommand == there.git.subcommand is not None
    _, start = find_program(name, tuple(map(constant, each.words)))
    return tuple(words[1:start]) == each.words[1:start]


def _apart(row: Program, options: Sequence[Option]) -> Sequence[Option]:
    """Options with one that stands for several as these."""
    found: list[Option] = []
    for option in options:
        parts = next(iter(row.alike.get(option.name, ())), "")
        found += [Option(name, option.index) for name in parts.split("+")] if "+" in parts else [option]
    return found


def _two_dashes(option: str) -> str:
    """A long option that has one dash or two, which is the same to those that take one."""
    return f"--{option.lstrip('-')}" if len(option) > len("-x") else option


def _is_one(alike: Mapping[str, frozenset[str]], wanted: Option, given: Option) -> bool:
    """Whether an option of a command is what a rule names, abbreviated or by another of its names."""
    names = alike.get(wanted.name, frozenset((wanted.name,)))
    if not is_one_of(given.name, names) and not is_one_of(_two_dashes(given.name), frozenset(map(_two_dashes, names))):
        return False
    value = wanted.value.value if wanted.value is not None else None
    return value is None or (given.value is not None and given.value.value == value)
