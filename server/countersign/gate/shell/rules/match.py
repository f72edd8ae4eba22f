"""Which rules speak about one simple command: deny and ask through everything, allow by the letter.

This is docs/gate.md S1 to S9.

INVARIANT (strictest): for deny and ask every layer, spelling and known value of the words is tried, and what could
match once expansions are known asks; for allow a rule must cover the words as they stand and name what escapes them.
More than 500 lines, because both ways go over the same words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from countersign.gate.patterns import WILD, CommandPattern, wildcards_meet
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet, evidence
from countersign.gate.shell.effects.escape_use import EscapeUse, ProgramReading
from countersign.gate.shell.effects.unwrap import Layer, is_wrapper, may_run, program, wrapper_row
from countersign.gate.shell.files.file_operands import rewrites_named_files
from countersign.gate.shell.languages.find import FINDERS
from countersign.gate.shell.programs.argv import arguments
from countersign.gate.shell.programs.subcommand_depth import MANY, VALUED
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS, TABLES, WRAPPERS, names_with
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.option_clusters import first_spelled_otherwise
from countersign.gate.shell.rules.redirected_rules import redirected_rules
from countersign.gate.shell.rules.same_commands import said_otherwise
from countersign.gate.shell.rules.script_names import (
    ANYWHERE,
    RuledPaths,
    files_of_module,
    found_in,
    modules_of,
    paths_to,
    paths_to_each,
    ruled_paths,
    search_path,
    searched,
)
from countersign.gate.shell.rules.taken_back import taken_back
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Assignment, Variable, Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.assignments import is_safe_prefix
from countersign.gate.shell.variables.bindings import Facts
from countersign.wire.verdicts import Evidence

MAX_SPELLINGS = 32
"""How many known spellings of one command are tried against deny and ask rules."""


# --- deny and ask ----------------------------------------------------------------------------------------------------


def touching(analyzed: AnalyzedCommand, rules: RuleSet, agent: str) -> tuple[Evidence | None, Evidence | None]:
    """The first deny and the first ask rule that matches any layer in any known spelling."""
    deny, ask = _as_written(analyzed, rules, agent)
    if deny is None:
        deny, other = said_otherwise((words for words, _ in _spellings(analyzed, rules)), rules, agent)
        ask = ask or other
    for each in redirected_rules(rules, analyzed.step.command.redirects):
        if any(each.pattern.touches(words) for words, _ in _spellings(analyzed, rules, _most_assigned(rules))):
            deny, ask = _with(each.rule, deny, ask)
    return deny, ask


def _with(rule: Rule, deny: Evidence | None, ask: Evidence | None) -> tuple[Evidence | None, Evidence | None]:
    return (deny or evidence(rule), ask) if rule.list == "deny" else (deny, ask or evidence(rule))


def _as_written(analyzed: AnalyzedCommand, rules: RuleSet, agent: str) -> tuple[Evidence | None, Evidence | None]:
    deny = ask = None
    if analyzed.plain and len(analyzed.layers) == 1 and not analyzed.step.unwrapped.programs:
        # All spellings of such a command are found by its words, and mostly it has but one.
        words, candidates = analyzed.shapes, analyzed.candidates(analyzed.shapes, rules, agent)
        if "deny" not in candidates and "ask" not in candidates:
            return None, None
        if (len(words) < 3 or not words[1].startswith(("-", "+"))) and analyzed.names[0] not in MANY:
            return _touching(words, candidates.get("deny", ())), _touching(words, candidates.get("ask", ()))
    for words, looked_up in _spellings(analyzed, rules, _most_assigned(rules)):
        candidates = analyzed.candidates(looked_up, rules, agent)
        if deny is None and "deny" in candidates:
            deny = _touching(words, candidates["deny"])
        if ask is None and "ask" in candidates:
            ask = _touching(words, candidates["ask"])
    return deny, ask


def by_letters(analyzed: AnalyzedCommand, rules: RuleSet, agent: str) -> Evidence | None:
    """The first deny or ask rule whose options a command spells otherwise."""
    rule = first_spelled_otherwise((words for words, _ in _spellings(analyzed, rules)), rules, agent)
    return None if rule is None else evidence(rule, f"`{rule.text}` names the same options")


def _touching(words: tuple[str, ...], candidates: Sequence[Rule]) -> Evidence | None:
    length = len(" ".join(words))
    for rule in candidates:
        pattern = rule.specifier
        if not isinstance(pattern, CommandPattern) or (pattern.least <= length and pattern.touches(words)):
            return evidence(rule)
    return None


def may_touch(analyzed: AnalyzedCommand, rules: RuleSet, agent: str) -> Evidence | None:
    """A deny or ask rule that could match once the words are known."""
    if analyzed.step.unwrapped.programs:
        for words in _other_scripts(analyzed, rules, perhaps=True):
            shapes = tuple([word.shape for word in words])
            candidates = analyzed.candidates(shapes, rules, agent)
            for listed in _RESTRICTING:
                for rule in candidates.get(listed, ()):
                    if _touching(shapes, (rule,)) is not None:
                        return _maybe(rule)
    if analyzed.plain:
        return None
    scripts = [words for words in _other_scripts(analyzed, rules) if any(word.value is None for word in words)]
    for layer, known in zip(analyzed.layers, analyzed.known, strict=True):
        if all(word.value is not None for word in layer.words):
            continue
        behind = _behind_leading_options(layer.words, known)
        bare = () if behind is None else (layer.words[0], *layer.words[behind:])
        targets = [(layer.words[0], *layer.words[at:]) for at, _ in _targets(layer.words, known)[:MAX_SPELLINGS]]
        said = [known_pieces(words) for words in (layer.words, bare, *targets, *scripts) if words]
        texts = _texts_by_rule(rules)
        for listed in _RESTRICTING:
            for rule in rules.commands_of(listed, layer.words[0].value, agent):
                for wanted in texts.get(id(rule), ()):
                    if any(wildcards_meet(wanted, text) for text in said):
                        return _maybe(rule)
    return None


def any_rule(rules: RuleSet, agent: str) -> Evidence | None:
    """Any deny or ask rule about commands: what is not known at all could be what it names."""
    for listed in ("deny", "ask"):
        for rule in rules.commands_of(listed, None, agent):
            return _maybe(rule)
    return None


def _maybe(rule: Rule) -> Evidence:
    return evidence(rule, f"`{rule.text}` could match; that is only known at run time")


def _most_assigned(rules: RuleSet) -> int:
    """How many variables a deny or ask rule names in front of its command, at most."""

    def make() -> int:
        named = (rule.specifier for listed in _RESTRICTING for rule in rules.commands_of(listed, None, ""))
        return max((pattern.assigned for pattern in named if isinstance(pattern, CommandPattern)), default=0)

    return rules.derived((_most_assigned,), make)


def _spellings(
    analyzed: AnalyzedCommand, rules: RuleSet, most_assigned: int = 1
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The words of every layer, with and without what is assigned in front, up to ``most_assigned`` of that in any
    order, and with each known value in place; each with words that hold all of them, by which its rules are found."""
    command = analyzed.step.command
    assigned = tuple([assignment.source for assignment in command.assignments])
    plain = tuple([_as_word(assignment) for assignment in command.assignments])
    for layer, known in zip(analyzed.layers, analyzed.known, strict=True):
        words = tuple([word.shape for word in layer.words])
        yield words, words
        if assigned and layer.above is None:
            counts = range(1, min(most_assigned, len(plain)) + 1)
            some = itertools.chain.from_iterable(itertools.permutations(plain, count) for count in counts)
            for named in dict.fromkeys((assigned, plain, *itertools.islice(some, MAX_SPELLINGS))):
                yield (*named, *words), (*named, *words)
        behind = _behind_leading_options(layer.words, known)
        if behind is not None:
            yield (words[0], *words[behind:]), words
        for index, _ in _targets(layer.words, known)[:MAX_SPELLINGS]:
            yield (words[0], *words[index:]), words
        if not analyzed.plain and any(word.value is None for word in layer.words):
            for spelled in itertools.islice(_known_values(layer.words, analyzed.facts), MAX_SPELLINGS):
                yield spelled, spelled
    scripts = analyzed.step.unwrapped.programs
    for script in scripts:
        # `bash evil x` and `. evil x` run what `evil x` does. Where there are many, none is given the others.
        layers = analyzed.layers if len(scripts) <= _MOST_SCRIPTS else ()
        behind = [layer.words[index:] for layer in layers for index in _places_of({id(script)}, layer.words)]
        for words in behind or [(script,)]:
            run = tuple([word.shape for word in words])
            yield run, run
    for other in _other_scripts(analyzed, rules):
        run = tuple([word.shape for word in other])
        yield run, run
    if assigned and not analyzed.layers:
        yield assigned, assigned


def _places_of(scripts: Collection[int], words: Sequence[Word]) -> Iterator[int]:
    """Where one of these words may stand, each given by its identity: words that are the same are often one."""
    found = (index for index, word in enumerate(words) if index and id(word) in scripts)
    return itertools.islice(found, max(_MOST_SCRIPTS, _MOST_BEHIND // max(1, len(words))))


def _other_scripts(analyzed: AnalyzedCommand, rules: RuleSet, *, perhaps: bool = False) -> Iterator[tuple[Word, ...]]:
    """The same commands with a script by other names under which its interpreter finds it: ``./x`` for ``x``, ``x.js``
    and ``x/index.js`` for ``x`` and the other way round, ``a/b.py`` for the module ``a.b``, and right behind the
    interpreter. With ``perhaps`` those under which it may find it in a folder that is not known."""
    scripts = {id(word): word.value or "" for word in analyzed.step.unwrapped.programs if word.value}
    runner = any(layer.way == "runner" for layer in analyzed.layers)
    if not (scripts or runner):
        return
    many, ruled = len(scripts) > _MOST_SCRIPTS, ruled_paths(rules)
    path: Sequence[str] = search_path(analyzed) if scripts else ()
    for layer, known, name in zip(analyzed.layers, analyzed.known, analyzed.names, strict=True):
        first, *rest = layer.words
        above = _interpreter_above(analyzed, layer) if layer.way == "runner" else None
        for file in map(constant, files_of_module(first.value or "", ruled) if above is not None else ()):
            for found in map(constant, paths_to(file.value or "", ruled)):
                yield found, *rest
                yield above or first, found, *rest
        row, behind = INTERPRETERS.get(name), _behind_leading_options(layer.words, known)
        endings = row.endings if row is not None else frozenset[str]()
        added: Sequence[str] = searched(known.arguments.valued(*row.searches), analyzed) if row is not None else ()
        if len(scripts) * (len(path) + len(added)) > _MOST_FOUND:
            path, added = ANYWHERE[: len(path)], ANYWHERE[: len(added)]
        loaded = {each.value for each in known.arguments.values(*row.loads)} if row is not None and added else ()
        named = {
            value: _script_names(value, [*path, *added] if value in loaded else path, ruled, perhaps=perhaps)
            for value in scripts.values()
        }
        if perhaps and not any(named.values()):
            continue
        for index in _places_of(scripts, layer.words) if scripts and not many else ():
            value, rest = scripts[id(layer.words[index])], layer.words[index + 1 :]
            yield first, layer.words[index], *rest
            for file in map(constant, paths_to_each(named[value], ruled, endings)):
                yield file, *rest
            for found in (each for file in named[value] for each in modules_of(file, ruled)):
                if row is not None and row.module is not None:
                    yield first, constant(row.module), constant(found), *rest
            for file in map(constant, paths_to_each(named[value], ruled, endings, less=True)):
                yield first, file, *rest
                yield *layer.words[:index], file, *rest
                if behind is not None and behind <= index:
                    yield first, *layer.words[behind:index], file, *rest
        # What is the value of an option in the same word, is no word of its own.
        own = {id(word) for word in layer.words} if not many else frozenset[int]()
        operands = [word for _, word in known.arguments.operands[:_MOST_OPERANDS]] if not many else []
        apart = row is not None or name in SHELLS
        for value in dict.fromkeys(value for at, value in scripts.items() if at not in own) if apart else ():
            yield from ((file,) for file in map(constant, paths_to_each(named[value], ruled, endings)))
            for file in map(constant, paths_to_each(named[value], ruled, endings, less=True)):
                yield first, file
                yield first, file, *operands


def _script_names(value: str, folders: Sequence[str], ruled: RuledPaths, *, perhaps: bool) -> Sequence[str]:
    surely, others = found_in(value, folders, ruled)
    return others if perhaps else (value, *surely)


def _interpreter_above(analyzed: AnalyzedCommand, layer: Layer) -> Word | None:
    """The word for the interpreter that runs what this layer says, also by modules that run others."""
    while layer.above is not None:
        name, layer = analyzed.names[layer.above], analyzed.layers[layer.above]
        if name in INTERPRETERS:
            return layer.words[0]
    return None


_MOST_SCRIPTS = 8
"""Scripts of one command that are compared with the words behind each."""

_MOST_BEHIND = 20_000
"""Words behind a script, counted once for each place where it may stand, that are compared."""

_MOST_FOUND = 1_000
"""Scripts, counted once for each folder in which they are looked for, that are compared."""

_MOST_OPERANDS = 40
"""Operands that are compared behind a script which an option names."""


def _targets(words: Sequence[Word], known: ProgramReading) -> list[tuple[int, Word]]:
    """The targets behind the first, of a program that takes several: it makes each of them (``make test deploy``)."""
    name = program(words[0].value or "")
    if name not in MANY:
        return []
    valued = VALUED.get(name, ())
    named = [
        (index, word)
        for index, word in known.arguments.operands
        if "=" not in word.prefix and words[index - 1].value not in valued
    ]
    return named[1:]


def _behind_leading_options(words: Sequence[Word], known: ProgramReading) -> int | None:
    """Where the subcommand of ``git -C x push`` stands, None where no option is in front: options do not hide it from a
    rule that names it."""
    if len(words) < 3 or not words[1].shape.startswith(("-", "+")):
        return None
    operand = next((index for index, word in known.arguments.operands if not word.prefix.startswith("+")), 0)
    first = known.git.start - 1 if known.git is not None else operand
    return first if 1 < first < len(words) else None


def _known_values(words: Sequence[Word], facts: Facts) -> Iterator[tuple[str, ...]]:
    choices: list[Sequence[str]] = []
    for word in words:
        if word.value is not None:
            choices.append((word.value,))
        elif word.choices:
            choices.append(word.choices)
        elif len(word.pieces) == 1 and isinstance(only := word.pieces[0], Variable) and only.held in facts.values:
            known = [value for value in facts.values[only.held] if value is not None]
            choices.append(known or (word.shape,))
        else:
            choices.append((word.shape,))
    for combination in itertools.product(*choices):
        yield combination
        if " " in combination[0]:
            yield (*combination[0].split(), *combination[1:])


def _texts_of(pattern: CommandPattern) -> Sequence[Sequence[str]]:
    """The texts that a pattern may match, in pieces with any text between two of them."""
    found: dict[tuple[str, ...], None] = {}
    for given in (pattern.words, pattern.loose_words):
        named = [word if index or WILD in word else word.rsplit("/", 1)[-1] for index, word in enumerate(given)]
        wanted = tuple(" ".join(named).split(WILD))
        found[wanted] = None
        if pattern.prefix:
            found[*wanted[:-1], f"{wanted[-1]} ", ""] = None
    return tuple(found)


def _texts_by_rule(rules: RuleSet) -> Mapping[int, Sequence[Sequence[str]]]:
    """These texts of each deny and ask rule that has a pattern, by the rule's identity."""

    def make() -> Mapping[int, Sequence[Sequence[str]]]:
        named = (rule for listed in _RESTRICTING for rule in rules.commands_of(listed, None, ""))
        return {id(rule): _texts_of(rule.specifier) for rule in named if isinstance(rule.specifier, CommandPattern)}

    return rules.derived((_texts_by_rule,), make)


_RESTRICTING: Sequence[ListName] = ("deny", "ask")


_MOST_KNOWN = 2000
"""Characters of a command that are compared so; what stands behind them may be anything."""


def known_pieces(words: Sequence[Word]) -> list[str]:
    """What is known of a command's text, in pieces with any text between two of them."""
    known: list[str | None] = []
    for index, word in enumerate(words):
        blank = " " if index else ""
        if word.value is not None:
            value = word.value if index else word.value.rsplit("/", 1)[-1]
            known += (blank, value[:400])
            if len(value) > 400:
                known.append(None)
        else:
            known += (blank + word.prefix if word.prefix else "", None)
    pieces, left = [""], _MOST_KNOWN
    for part in known:
        left -= 1 if part is None else len(part)
        if part is not None:
            pieces[-1] += part if left >= 0 else part[:left]
        if part is None or left < 0:
            pieces.append("")
        if left < 0:
            break
    return pieces


# --- allow -----------------------------------------------------------------------------------------------------------


class Coverage(NamedTuple):
    """What allow rules (or grants) say of a command. ``whole``: the rule says this very command to the letter, so it
    covers the texts that it runs in turn as well. ``rule`` is the one that says so. ``writes``: it writes by an option
    that the rule does not name, so what it writes needs an Edit rule or a mode. ``near`` is why a rule that looks as if
    it matched does not."""

    evidence: Evidence | None = None
    whole: bool = False
    near: str | None = None
    writes: bool = False
    rule: Rule | None = None


def covering(
    analyzed: AnalyzedCommand,
    listed: Literal["allow", "grant"],
    rules: RuleSet,
    agent: str,
    *,
    harmless: frozenset[str] = frozenset(),
) -> Coverage:
    """The first rule that honestly covers this command. ``harmless`` are names that it assigns in front which need not
    be in the rule, beside those that never need to."""
    return _covering(analyzed, lambda words: analyzed.candidates(words, rules, agent).get(listed, ()), harmless)


def covering_alone(analyzed: AnalyzedCommand, rule: Rule) -> Coverage:
    """What this one allow rule says of the command."""
    return _covering(analyzed, lambda words: (rule,), frozenset())


def _covering(
    analyzed: AnalyzedCommand, candidates: Callable[[tuple[str, ...]], Sequence[Rule]], harmless: frozenset[str]
) -> Coverage:
    """The first of the rules that could match which covers the command."""
    near: str | None = None
    if analyzed.unnamed is not None:
        return Coverage(near=f"the program is only known at run time: `{analyzed.unnamed.source}`")
    for words, above, homes in _readings(analyzed, harmless):
        length = len(" ".join(words))
        for rule in candidates(words):
            pattern = rule.specifier
            if not isinstance(pattern, CommandPattern):
                reason = _kept_out(analyzed)
                if reason is None:
                    return Coverage(evidence(rule), rule=rule)
            elif pattern.least <= length and pattern.covers(words, max(0, -above), homes):
                if _says(rule, pattern, analyzed):
                    reason = analyzed.evaluates or _renamed(analyzed)
                    if reason is None:
                        return Coverage(evidence(rule), whole=True, rule=rule)
                else:
                    reason = _kept_out(analyzed) or _uncovered(analyzed, pattern, words, above)
                    if reason is None:
                        return Coverage(evidence(rule), writes=_writes_unnamed(analyzed, pattern), rule=rule)
            else:
                continue
            near = near or f"`{rule.text}` does not cover this: {reason}"
    return Coverage(near=near or _kept_out(analyzed))


def _says(rule: Rule, pattern: CommandPattern, analyzed: AnalyzedCommand) -> bool:
    """Whether the rule is this command's own text, byte for byte, and that is all of it: what another part of the text
    writes to its input may be code, of which the rule says nothing."""
    return pattern.exact and not analyzed.step.input.comes and rule.text == f"Bash({analyzed.step.command.source})"


class _Reading(NamedTuple):
    """Words that an allow rule may cover, how many words of the whole command stand before them (fewer than none: how
    many of them assign variables), and in which of them a ``~`` means a home."""

    words: tuple[str, ...]
    above: int
    homes: frozenset[int]


def _readings(analyzed: AnalyzedCommand, harmless: frozenset[str]) -> Iterable[_Reading]:
    """The command with what is assigned in front, without it where that is safe, and what clear wrappers run."""
    if len(analyzed.layers) == 1 and not analyzed.step.command.assignments:
        return (_Reading(analyzed.shapes, 0, _homes(analyzed.layers[0].words)),)
    return _all_readings(analyzed, harmless)


def _homes(words: Sequence[Word], assigned: int = 0) -> frozenset[int]:
    found = [index + assigned for index, word in enumerate(words) if word.tilde]
    return frozenset(found) if found else _NOWHERE


_NOWHERE: frozenset[int] = frozenset()


def _all_readings(analyzed: AnalyzedCommand, harmless: frozenset[str]) -> Iterator[_Reading]:
    command = analyzed.step.command
    shapes = tuple(word.shape for word in command.words)
    unsafe = [each for each in command.assignments if not (is_safe_prefix(each) or each.name in harmless)]
    if command.assignments:
        for named in _named_assignments(command.assignments, unsafe):
            yield _Reading((*map(_as_word, named), *shapes), -len(named), _homes(command.words, len(named)))
    if unsafe:
        return
    clear = True
    for layer in analyzed.layers:
        if layer.above is not None and layer.way != "clear":
            clear = False
        if clear:
            yield _Reading(tuple(word.shape for word in layer.words), layer.start or 0, _homes(layer.words))


_MOST_LEFT_OUT = 4
"""How many safe assignments a rule may name or leave out each by itself; with more, all or none of them."""


def _named_assignments(
    assignments: Sequence[Assignment], unsafe: Sequence[Assignment]
) -> Iterator[tuple[Assignment, ...]]:
    """What a rule may name of the assignments in front of a command: all that is not safe, and any of the rest."""
    safe = [each for each in assignments if each not in unsafe]
    counts = range(len(safe) + 1) if len(safe) <= _MOST_LEFT_OUT else (0, len(safe))
    for left_out in itertools.chain.from_iterable(itertools.combinations(safe, count) for count in counts):
        named = tuple(each for each in assignments if each not in left_out)
        if named and {each.name for each in left_out}.isdisjoint([each.name for each in named]):
            yield named


def _as_word(assignment: Assignment) -> str:
    plain = assignment.plain
    operator = "+=" if assignment.appends else "="
    return f"{assignment.name}{operator}{plain}" if plain is not None else UNKNOWN_TEXT + assignment.source


def _kept_out(analyzed: AnalyzedCommand) -> str | None:
    """Why no rule at all covers this command."""
    if analyzed.evaluates is not None:
        return analyzed.evaluates
    return _renamed(analyzed)


def _renamed(analyzed: AnalyzedCommand) -> str | None:
    if analyzed.redefined is not None:
        return f"`{analyzed.redefined}` is redefined in the same text"
    return None


def _uncovered(analyzed: AnalyzedCommand, pattern: CommandPattern, words: Sequence[str], above: int) -> str | None:
    """Why this rule, whose words match, does not cover the command."""
    if pattern.options and (word := taken_back(pattern, words)) is not None:
        return f"`{word}` takes back what it names"
    if analyzed.clear and pattern.first_word is not None:
        return None
    step = analyzed.step
    literals = pattern.literals
    reached = len(pattern.literal_prefix) + above
    for layer in analyzed.layers:
        below = layer.above is not None and (layer.start is None or layer.start > above)
        if layer.above is not None and below and (layer.start is None or layer.start >= reached):
            wrapper = analyzed.layers[layer.above].words[0].source
            return f"a rule for `{wrapper}` does not cover what it runs"
        closed = layer.way == "closed" and not pattern.exact and analyzed.names[layer.above or 0] not in FINDERS
        if below and closed and not (layer.carried.folders == () and _may_be_reached(analyzed, layer.above or 0)):
            # Only a package runner's rule may reach into what it runs; what `find` runs is an option of its own (S9).
            return (
                f"a rule for `{analyzed.layers[layer.above or 0].words[0].source}` must spell out the command it runs"
            )
    if step.unwrapped.unknown is not None:
        return step.unwrapped.unknown
    if step.unwrapped.texts:
        return "a rule does not cover the text that a nested shell runs"
    for name, layer in zip(analyzed.names, analyzed.layers, strict=True):
        if name in SHELLS or name in {"source", "."}:
            if step.unwrapped.reads_stdin:
                return "the shell's commands are not among its arguments"
            unnamed = any(word.value not in literals for word in step.unwrapped.programs)
            if unnamed and not _only_parses(name, layer.words, literals):
                return f"a rule for `{layer.words[0].source}` does not cover the script it runs"
    if pattern.first_word is None:
        reason = _too_free(analyzed, by_folder="/" in pattern.words[pattern.assigned])
        if reason is None and pattern.words[pattern.assigned] == WILD and _may_be_script(words, literals):
            reason = "a wildcard does not match an interpreter with a script"
        if reason is not None:
            return reason
    wrapper = _shell_starter(analyzed)
    if wrapper is not None and not pattern.exact:
        return f"`{wrapper}` without a command may start a shell, so only a rule with exactly this text covers it"
    for use in analyzed.uses:
        if not all(_named(names, literals) for names in use.names) and not _answered(analyzed, use):
            return use.why
        if use.words and (reason := _does_more(analyzed, use, literals)) is not None:
            return reason
    if analyzed.holes:
        hole = analyzed.holes[0]
        if hole.prefix:
            return f"how `{hole.source}` ends is only known at run time, and it could run or write something"
        return f"`{hole.source}` could become an option that runs or writes something"
    return None


def _may_be_reached(analyzed: AnalyzedCommand, at: int) -> bool:
    """Whether a rule may reach into what this wrapper runs, since it is known for certain where that begins."""
    name, words = analyzed.names[at], analyzed.layers[at].words
    row, skip = wrapper_row(name, words)
    if row is None or not row.reached or (words[0].value or "").rpartition("/")[2] != name:
        return False
    options = arguments(words, row.grammar, skip).options
    return all(option.value is not None or option.name in row.reached for option in options)


_LIKE_BASH = names_with("like_bash")


def _only_parses(name: str, words: Sequence[Word], literals: frozenset[str]) -> bool:
    """Whether a shell reads a script without running it, as the rule says: with a further option it may run it after
    all (``-i``, ``+n``)."""
    return (
        name in _LIKE_BASH
        and "-n" in literals
        and len(words) > 2
        and words[1].value == "-n"
        and words[2].value is not None
        and words[2].value[:1] not in {"-", "+", ""}
    )


def _does_more(analyzed: AnalyzedCommand, use: EscapeUse, literals: frozenset[str]) -> str | None:
    """Why a rule that names the program which an escape runs does not cover what that does with its words."""
    inner = AnalyzedCommand(analyzed.step.with_words(use.words), analyzed.facts)
    step = inner.step.unwrapped
    runs = len(inner.layers) > 1 or step.texts or step.unknown or step.programs or step.reads_stdin
    if runs or inner.holes or _shell_starter(inner) is not None:
        return f"a rule for `{analyzed.layers[0].words[0].source}` does not cover what it runs"
    return next((each.why for each in inner.uses if not all(_named(names, literals) for names in each.names)), None)


def _writes_unnamed(analyzed: AnalyzedCommand, pattern: CommandPattern) -> bool:
    return any(
        use.kind in ("writes", "changes") and not all(_named(names, pattern.literals) for names in use.names)
        for use in analyzed.uses
    )


def _answered(analyzed: AnalyzedCommand, use: EscapeUse) -> bool:
    """Whether all that an option does is judged by the paths in it: it writes constant files, or takes settings or a
    folder from a constant place (S9)."""
    if analyzed.holes or not _STAYING.issuperset(analyzed.names[:-1]):
        return False
    if use.kind == "writes":
        path = use.path.value if use.path is not None else None
        unlike = any(known.git for known in analyzed.known) and use.names[0][0] not in _WRITES_THERE
        return path is not None and not unlike and _PATH.fullmatch(path) is not None
    if use.kind == "code":
        return use.place is not None and use.place.value is not None
    if use.kind == "changes" and len(analyzed.names) == 1 and analyzed.names[0] in FINDERS:
        touched = [file_use for file_use in analyzed.file_uses(0) if file_use.operation != "list"]
        return bool(touched) and all(file_use.word.value is not None for file_use in touched)
    return use.kind == "changes" and rewrites_named_files(
        analyzed.names[-1], analyzed.layers[-1].words, analyzed.file_uses(-1)
    )


_WRITES_THERE = frozenset({"-o", "--output", "--output-directory"})
"""Options of git's whose value is the file or folder that is written."""

_STAYING = names_with("stays_in_folder")
"""What runs another program in the folder where it was started."""

_PATH = re.compile(r"[\w./][\w./+-]*")
"""A path for certain: nothing in it gives a part another meaning (``type=local,dest=x``)."""


def _shell_starter(analyzed: AnalyzedCommand) -> str | None:
    """A wrapper at the end of the line: with nothing to run, many of them run a shell."""
    if not analyzed.layers:
        return None
    name, words = analyzed.names[-1], analyzed.layers[-1].words
    if not may_run(name):
        return None
    clear = name in WRAPPERS and WRAPPERS[name].kind == "clear"
    if clear or name == "command" or not is_wrapper(name, words):
        return None
    row = analyzed.known[-1].program
    if row is not None and not row.closed and row is not TABLES.get((name,)) and wrapper_row(name, words)[0] is None:
        return None  # a subcommand of which the tables know what it does
    return words[0].source


def _named(names: tuple[str, ...], literals: frozenset[str]) -> bool:
    return any(name in literals and UNKNOWN_TEXT not in name for name in names)


def _may_be_script(words: Sequence[str], literals: frozenset[str]) -> bool:
    """Whether a file stands among the words that a wildcard for the program matches: many more programs than we know
    run it (``bun e.js --version``)."""
    matched = itertools.takewhile(lambda word: word not in literals, words[1:])
    return bool(literals) and any(("." in word or "/" in word) and word[:1] != "-" for word in matched)


def _too_free(analyzed: AnalyzedCommand, *, by_folder: bool) -> str | None:
    """A wildcard that stands for the first word covers no shell, no interpreter with code, no wrapper (S2)."""
    if len(analyzed.layers) > 1:
        return "a wildcard does not match a wrapper"
    name = analyzed.names[0] if analyzed.names else ""
    if name in SHELLS or name in {"source", ".", "eval", "exec", "trap"}:
        return "a wildcard does not match a shell"
    if name in INTERPRETERS and any(use.kind == "code" for use in analyzed.uses):
        return "a wildcard does not match inline code"
    if name in INTERPRETERS and (analyzed.known[0].arguments.operands or analyzed.step.unwrapped.programs):
        return "a wildcard does not match an interpreter with a script"
    if not by_folder and any("/" in (layer.words[0].value or "") for layer in analyzed.layers):
        return "a wildcard does not match a program that is named by its path"
    if analyzed.known[0].program is not None and analyzed.known[0].program.closed:
        return "a wildcard does not match a program with a language of its own"
    return None
