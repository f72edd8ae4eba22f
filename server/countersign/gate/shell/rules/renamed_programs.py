"""Deny and ask rules for a program that a command may give another name: ``mv bin/evil z; ./z`` (docs/gate.md S7).

A copy of a program is that program under another name, and so is a link to it. Whatever takes or reads a file and
writes another, or hands what it reads to the next command of a pipeline, may make one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from countersign.gate.patterns import CommandPattern, glob_segment, is_glob
from countersign.gate.probes import disk
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet, evidence
from countersign.gate.shell.files.word_values import meaning
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.match import any_rule
from countersign.wire.verdicts import Evidence

_MOST_MATCHES = 500
"""Names that one pattern may match; behind more, any rule may match."""

_LISTS: tuple[ListName, ...] = ("deny", "ask")


def renamed_program(
    analyzed: AnalyzedCommand, places: Sequence[str] | None, rules: RuleSet, agent: str
) -> Evidence | None:
    """Return a deny or ask rule for a program of which this command may make a copy or a link."""
    for name in _taken(analyzed, places):
        if name is None:
            return any_rule(rules, agent)
        for listed in _LISTS:
            for rule in _candidates(analyzed, name, listed, rules, agent):
                if isinstance(rule.specifier, CommandPattern) and _speaks_of(rule.specifier, name):
                    return evidence(
                        rule, f"`{rule.text}` matches `{name}`, which this command copies, links or passes on"
                    )
    return None


def _candidates(analyzed: AnalyzedCommand, name: str, listed: ListName, rules: RuleSet, agent: str) -> Iterable[Rule]:
    if is_glob(name):
        return rules.commands_of(listed, None, agent)
    return analyzed.candidates((name,), rules, agent).get(listed, ())


def _speaks_of(pattern: CommandPattern, name: str) -> bool:
    """Whether a rule speaks of the program of this name, which may be a pattern."""
    first = (pattern.first_word or "").rpartition("/")[2]
    return pattern.touches((name,)) or (first != "" and glob_segment(name).may_match_any_case(first))


def _taken(analyzed: AnalyzedCommand, places: Sequence[str] | None) -> Iterator[str | None]:
    """Yield the last names of files that this command may copy, move or link, or patterns of them; None where that may
    be any."""
    command = analyzed.step.command
    uses = [use for layer in range(len(analyzed.layers)) for use in analyzed.file_uses(layer)]
    writes = any(use.operation in ("write", "move") for use in uses) or any(
        ">" in redirect.operator for redirect in command.redirects
    )
    if not writes and not analyzed.step.beside:
        return
    if writes and any(use.listed for use in uses) and not any(use.found and use.shown for use in uses):
        yield None  # a listing chooses the names, by nothing that is known here
    yield from (use.into for use in uses if use.into is not None and not is_glob(use.into))
    yield from (_last(use.word.value or "") for use in uses if use.found and use.shown)  # these may be patterns
    words = [use.word for use in uses if use.operation != "list" and not (use.listed or use.found)]
    words += [redirect.target for redirect in command.redirects if redirect.operator == "<"]
    for word in dict.fromkeys(words):
        meant = meaning(word, analyzed.facts, "~", None)
        if writes and not meant.complete:
            yield None
        yield from (name for name in map(_last, meant.values) if not is_glob(name))
        for pattern in meant.patterns:
            yield from _matched(pattern, places)


def _matched(pattern: str, places: Sequence[str] | None) -> Iterator[str | None]:
    """The last names of what a pattern matches now; the pattern itself where that is not known."""
    folders = ("/",) if pattern.startswith("/") else places
    if folders is None:
        yield _last(pattern)
    for folder in folders or ():
        found = disk.matching(pattern, folder, _MOST_MATCHES)
        yield from (None,) if found is None else (_last(name.rstrip("/")) for name in found)


def _last(path: str) -> str:
    return path.rpartition("/")[2]
