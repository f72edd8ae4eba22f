"""Deny and ask rules for a program that a command gives another name: ``mv bin/evil z; ./z`` (docs/gate.md S7).

A copy of a program is that program under another name, and so is a link to it. What counts is the command that copies
or links by itself, or prints a file into another; what several commands pass on is in `docs/known-limitations.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from countersign.gate.patterns import WILD, CommandPattern, glob_segment, is_glob
from countersign.gate.probes import disk
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet, evidence
from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.files.word_values import meaning
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS, WRAPPERS
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.match import any_rule
from countersign.gate.shell.syntax.tree import Word
from countersign.wire.verdicts import Evidence

_MOST_MATCHES = 500
"""Names that one pattern may match; behind more, any rule may match."""

_LISTS: tuple[ListName, ...] = ("deny", "ask")

_RUN_OTHERS = frozenset({*SHELLS, *WRAPPERS, *INTERPRETERS})
"""Programs that run what any rule may name."""


def renamed_program(
    analyzed: AnalyzedCommand, places: Sequence[str] | None, rules: RuleSet, agent: str
) -> Evidence | None:
    """Return a deny or ask rule for a program of which this command may make a copy or a link."""
    in_place = _writes_in_place(analyzed)
    for name in _Taken(analyzed, places).names():
        if name is None or program(name) in _RUN_OTHERS:
            return any_rule(rules, agent)
        rule = None if in_place else _behind_interpreter(name, rules)
        if rule is not None:
            return _copies(rule, name)
        for spelled in dict.fromkeys((name, program(name))):
            for listed in _LISTS:
                for rule in _candidates(analyzed, spelled, listed, rules, agent):
                    if isinstance(rule.specifier, CommandPattern) and _speaks_of(rule.specifier, spelled):
                        return _copies(rule, name)
    return None


def _copies(rule: Rule, name: str) -> Evidence:
    return evidence(rule, f"`{rule.text}` matches `{name}`, which this command copies, links or passes on")


def _writes_in_place(analyzed: AnalyzedCommand) -> bool:
    """Whether all files that are written are read as well: rewritten where they are, so that no other name comes of
    it."""
    if any(">" in redirect.operator for redirect in analyzed.step.command.redirects):
        return False
    uses = [use for index in range(len(analyzed.layers)) for use in analyzed.file_uses(index)]
    read = {use.word.value for use in uses if use.operation == "read"}
    return not any(use.operation == "move" or use.into is not None for use in uses) and read.issuperset(
        [use.word.value for use in uses if use.operation == "write"]
    )


def _behind_interpreter(name: str, rules: RuleSet) -> Rule | None:
    """A deny or ask rule that names a script of this name, which may be a pattern, behind its interpreter."""
    scripts = _scripts_of(rules)
    if is_glob(name) and scripts:
        glob = glob_segment(name)
        return next((rule for script, rule in scripts.items() if glob.may_match_any_case(script)), None)
    return scripts.get(name) or scripts.get(name.rpartition(".")[0])


def _scripts_of(rules: RuleSet) -> Mapping[str, Rule]:
    """The last names of the scripts that deny and ask rules name behind an interpreter, each with its rule."""

    def make() -> Mapping[str, Rule]:
        found: dict[str, Rule] = {}
        for listed in _LISTS:
            for rule in rules.commands_of(listed, None, ""):
                words = rule.specifier.loose_words if isinstance(rule.specifier, CommandPattern) else ()
                if words and program(words[0]) in _RUN_SCRIPTS:
                    script = next((word for word in words[1:] if word[:1] != "-"), "")
                    if WILD not in script and (name := _last(script)):
                        found.setdefault(name, rule)
        return found

    return rules.derived((_scripts_of,), make)


_RUN_SCRIPTS = frozenset({*SHELLS, *INTERPRETERS})


def _candidates(analyzed: AnalyzedCommand, name: str, listed: ListName, rules: RuleSet, agent: str) -> Iterable[Rule]:
    if is_glob(name):
        return rules.commands_of(listed, None, agent)
    return analyzed.candidates((name,), rules, agent).get(listed, ())


def _speaks_of(pattern: CommandPattern, name: str) -> bool:
    """Whether a rule speaks of the program of this name, which may be a pattern."""
    first = (pattern.first_word or "").rpartition("/")[2]
    return pattern.touches((name,)) or (first != "" and glob_segment(name).may_match_any_case(first))


class _Taken:
    """The files of which a command may make copies or links, seen from where it runs."""

    def __init__(self, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> None:
        self._analyzed = analyzed
        moved = any(layer.carried.folders != () for layer in analyzed.layers)
        self._places = None if moved else places

    def names(self) -> Iterator[str | None]:
        """Yield their last names, or patterns of them; None where that may be any."""
        command = self._analyzed.step.command
        prints = any(">" in redirect.operator for redirect in command.redirects)
        for index, layer in enumerate(self._analyzed.layers):
            uses = self._analyzed.file_uses(index)
            writes = any(use.operation in ("write", "move") for use in uses)
            if not writes and not prints:
                continue
            yield from (use.into for use in uses if use.into is not None and self._links(uses))
            if writes and any(use.listed for use in uses) and not _keeps_names(uses):
                yield from _listed(uses)
            taken = [use.word for use in uses if _is_taken(use)]
            if prints:
                taken += [word for word in layer.words[1:] if "/" in word.prefix]
            taken += [redirect.target for redirect in command.redirects if redirect.operator == "<"]
            for word in dict.fromkeys(taken):
                yield from self._named(word)

    @staticmethod
    def _links(uses: Sequence[FileUse]) -> bool:
        """Whether the name in a folder is all that says what is linked."""
        return not any(use.operation == "read" for use in uses)

    def _named(self, word: Word) -> Iterator[str | None]:
        meant = meaning(word, self._analyzed.facts, "~", None)
        places = self._places or ()
        for value in meant.values:
            is_folder = bool(places) and all(disk.is_folder(_at(place, value)) for place in places)
            if not is_folder and not is_glob(value):
                yield _last(value)
        for pattern in meant.patterns:
            yield from self._matched(pattern)

    def _matched(self, pattern: str) -> Iterator[str | None]:
        """The last names of what a pattern matches now; the pattern itself where that is nothing, or not known."""
        found: list[str] = []
        for folder in ("/",) if pattern.startswith("/") else self._places or ():
            matched = disk.matching(pattern, folder, _MOST_MATCHES)
            if matched is None:
                yield None
            found += [_at(folder, path) for path in matched or ()]
        if not found:
            yield _last(pattern)
        yield from (_last(path) for path in found if not disk.is_folder(path))


def _is_taken(use: FileUse) -> bool:
    """Whether a file is copied or moved by its name. A word that git may take for a revision does not count."""
    return use.operation in ("read", "move") and not (use.listed or use.found or use.shown)


def _keeps_names(uses: Sequence[FileUse]) -> bool:
    """Whether all that is written is surely written into folders (``cp a b out/``)."""
    return all((use.word.value or "").endswith("/") for use in uses if use.operation == "write")


def _listed(uses: Sequence[FileUse]) -> Iterator[str | None]:
    """Patterns of names that a listing gives; None where it may give any."""
    for use in uses:
        if use.listing is not None:
            yield from use.listing.names or (None,)


def _at(place: str, path: str) -> str:
    return path if path.startswith("/") else f"{place}/{path}"


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
