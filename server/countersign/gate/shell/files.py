"""The findings about the files that one simple command names, in its words and its redirections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from countersign.wire.verdicts import Evidence

from ..finding import Finding
from .circumstances import Circumstances
from .could import could_be_denied
from .cover import Case, Coverage
from .places import Lookout, literal, meaning
from .script import Redirect, Word
from .table_wrappers import WRAPPERS
from .touch import Touch
from .words import constant


@dataclass(frozen=True, slots=True)
class Touched:
    """The findings of one file. ``by_command``: a rule for the command covers them as far as it may; ``named``: the
    text names the file literally, so a grant of this very text names it too."""

    findings: tuple[Finding, ...]
    by_command: bool
    named: bool


def touched_files(around: Circumstances, case: Case, places: Sequence[str] | None) -> Iterator[Touched]:
    """All files that a command touches, as far as its words tell."""
    for index, (name, layer, known) in enumerate(zip(case.names, case.layers, case.known, strict=True)):
        for touch in case.touches(index):
            yield _touched(around, case, touch, places)
        if known.program is None and known.git is None and name not in WRAPPERS:
            # What a program that no table knows does with a file is not known; only a secret or a ruled one counts.
            for word in layer.words[1:]:
                if word.value is not None:
                    yield _touched(around, case, Touch("read", _named_by(word), shown=True), places)
    for word in case.step.unwrapped.programs:
        yield _touched(around, case, Touch("read", word), places)
    for redirect in case.step.command.redirects:
        yield from _redirected(around, redirect, case, places)


def with_command(finding: Finding, coverage: Coverage) -> Finding:
    """What a rule for the command covers of the files that it names: reads that are no secrets, also outside; writes
    inside. Never what must be asked for otherwise (CONTRACT.md 8 and 9)."""
    if coverage.evidence is None or finding.allow is not None or finding.grant is not None:
        return finding
    if finding.must_ask is not None and not (finding.kind == "read" and finding.auto_lifts):
        return finding
    if coverage.evidence.source == "grant":
        return replace(finding, grant=coverage.evidence)
    if coverage.evidence.source == "rule":
        return replace(finding, allow=coverage.evidence)
    return finding


def run_files(around: Circumstances, case: Case, places: Sequence[str] | None) -> Iterator[str]:
    """Files of the workspace that are run, or read as programs, as absolute paths."""
    words = [layer.words[0] for layer in case.layers if "/" in (layer.words[0].value or "")]
    words += case.step.unwrapped.programs
    for known, name in zip(case.known, case.names, strict=True):
        if name in {"make", "sed", "awk", "jq"}:
            words += known.arguments.values("-f", "--file", "--makefile", "--from-file")
    # Where the place is not known, files of that name where the text starts are bound: too many do no harm.
    for word in words:
        for place in places if places is not None else (around.start,):
            if word.value is not None and around.paths.inside_workspace(literal(word), cwd=place):
                resolved = around.paths.resolve(literal(word), cwd=place)
                yield resolved.resolved or resolved.lexical


def _named_by(word: Word) -> Word:
    """The file in ``--option=file`` and ``@file``."""
    value = word.value or ""
    if value.startswith("-"):
        return constant(value.partition("=")[2])
    return constant(value.removeprefix("@"))


def _touched(around: Circumstances, case: Case, touch: Touch, places: Sequence[str] | None) -> Touched:
    found = [
        finding
        for place in (places if places is not None else [None])
        for finding in Lookout(around.paths, case.facts, place).look(touch)
    ]
    return Touched(tuple(dict.fromkeys(found)), by_command=True, named=touch.word.value is not None)


def _redirected(
    around: Circumstances, redirect: Redirect, case: Case, places: Sequence[str] | None
) -> Iterator[Touched]:
    """A redirection: an output is a write that only an Edit rule covers, an input a read (S8)."""
    target = redirect.target
    if redirect.operator in {"<<", "<<<"} or _is_descriptor(redirect):
        return
    if redirect.operator in {"<", "<>"}:
        yield _touched(around, case, Touch("read", target), places)
    if redirect.operator == "<":
        return
    found = _touched(around, case, Touch("write", target), places)
    findings = found.findings
    if target.form != "constant":
        reason = Evidence(source="default", reason=f"`{target.source}` is not known before it runs")
        # An Edit rule names files, and this is not known to be one of them.
        findings = tuple(
            replace(finding, must_ask=finding.must_ask or reason, allow=None, grant=None) for finding in findings
        )
        findings += tuple(_denied_matches(around, target, case, places))
    yield Touched(findings, by_command=False, named=found.named)


def _denied_matches(around: Circumstances, target: Word, case: Case, places: Sequence[str] | None) -> Iterator[Finding]:
    """What a deny rule forbids of the names that a pattern could turn out to be."""
    for pattern in meaning(target, case.facts, around.paths.home, None).patterns:
        for place in places if places is not None else (around.start,):
            found = could_be_denied(around.paths, around.rules, pattern, place)
            if found is not None:
                yield found


def _is_descriptor(redirect: Redirect) -> bool:
    value = redirect.target.value
    if redirect.operator not in {">&", "<&"} or value is None:
        return False
    return value.rstrip("-").isdigit() or value == "-"
