"""What an editor is told of one settings file: what is broken, what rules are not worth, what waits for a person.

Errors are what grants nothing or fails closed, warnings what counts but is not what it seems, information what does
not count until a person confirms it. Each message says what to do. Pure: an Overview in, LSP's diagnostics out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from lsprotocol import types

from countersign.advice.lint import lint_rules
from countersign.gate import compile_rule
from countersign.lsp.language.pages import PAGES, Overview, Page, PageName
from countersign.lsp.language.positions import Positions, Units, utf16
from countersign.settings.jsonc import Document, Element
from countersign.settings.policy import Problem
from countersign.settings.workspace_restrictions import Claim

SOURCE = "countersign"
MOST = 1000
"""Diagnostics of one file: a hostile repository must not fill the editor with them."""
LONGEST = 2000
"""Characters of one message, which quotes what a file says."""
Code = Literal["syntax", "rule", "lint", "setting", "unconfirmed", "refused"]
"""What kind of thing a diagnostic says, for filters."""

ClaimState = Literal["untrusted", "waiting", "refused", "counts"]


def diagnose(
    overview: Overview, tools: Collection[str] = (), *, units: Units = utf16
) -> Mapping[PageName, tuple[types.Diagnostic, ...]]:
    """The diagnostics of every page, in the order of their places.

    Args:
        tools: names of tools that exist beside those that the gate knows.
    """
    linted = [*_linted(overview, tools)]
    return {name: _of_page(overview, overview.pages[name], linted, units) for name in PAGES}


def claim_state(overview: Overview, claim: Claim) -> ClaimState:
    """What becomes of a value that takes a person's word."""
    if not overview.known.trusted:
        return "untrusted"
    answer = overview.known.answers.get(claim.digest)
    return "waiting" if answer is None else "counts" if answer else "refused"


def claim_words(overview: Overview, state: ClaimState) -> str:
    """Why a value of the workspace is ignored, or that it is not, and what to do."""
    review = ", by `Countersign: Review Workspace Settings`" if overview.known.can_review else ""
    match state:
        case "untrusted":
            return "ignored, because the workspace is not trusted; trust it in the editor first"
        case "waiting":
            return f"ignored until you confirm it on this machine{review}"
        case "refused":
            return "ignored, because you chose so on this machine; take it out, or write it anew to be asked again"
        case "counts":
            return "confirmed on this machine"


def _of_page(
    overview: Overview, page: Page, linted: Iterable[tuple[Code, Problem]], units: Units
) -> tuple[types.Diagnostic, ...]:
    if page.loaded.problem is not None:
        return _unreadable(page, page.loaded.problem, units)
    if page.loaded.tree is None:
        return ()
    told = [one for one in linted if one[1].file == page.loaded.path]
    for problem in overview.built.policy.problems:
        if problem.file == page.loaded.path:
            told.append(("rule", _mendable(problem)) if problem in overview.misshapen else ("setting", problem))
    broken = {(problem.line, problem.column) for code, problem in told if code == "rule"}
    for state, claim in _claims(overview, page):
        if (claim.place.line, claim.place.column) not in broken:
            message = f"{claim.text}; {claim_words(overview, state)}"
            told.append(("refused" if state == "refused" else "unconfirmed", claim.place.problem(message)))
    document = page.loaded.tree.document
    places = _Places(document, Positions.of(document.text, units))
    found = [_diagnostic(code, problem, places) for code, problem in dict.fromkeys(told)]
    return tuple(sorted(found, key=lambda one: (one.range.start.line, one.range.start.character))[:MOST])


def _linted(overview: Overview, tools: Collection[str]) -> Iterator[tuple[Code, Problem]]:
    """What the gate says of all rules, with what to do about it."""
    compiled = [(source, *compile_rule(source)) for source in overview.rules]
    unread = {problem: (source, rule) for source, rule, problem in compiled if problem is not None}
    for problem in lint_rules(overview.rules, tools):
        if problem not in unread:
            yield "lint", _advised(problem, "change it or take it out")
            continue
        source, rule = unread[problem]
        if problem.severity == "warning":
            yield "lint", _advised(problem, f"it counts, but say `{rule.tool if rule else source.text}` to be clear")
        elif rule is None:
            yield "rule", _advised(problem, "correct or remove it")
        else:
            asked = f"every `{rule.tool}` call" if rule.tool else "every call that is no read"
            yield "rule", _advised(problem, f"that is {asked}; correct or remove it")


def _mendable(problem: Problem) -> Problem:
    return problem if problem.message.endswith("correct it") else _advised(problem, "correct or remove it")


def _advised(problem: Problem, advice: str) -> Problem:
    return Problem(problem.file, problem.line, problem.column, f"{problem.message}; {advice}", problem.severity)


def _claims(overview: Overview, page: Page) -> Iterator[tuple[ClaimState, Claim]]:
    for claim in overview.built.claims.values():
        if claim.place.file == page.loaded.path and not claim.moot:
            state = claim_state(overview, claim)
            if state != "counts":
                yield state, claim


def _unreadable(page: Page, problem: Problem, units: Units) -> tuple[types.Diagnostic, ...]:
    consequence = _CONSEQUENCE[page.name]
    if consequence is None:
        return ()
    line, column = problem.line or 1, problem.column or 1
    if page.text is None:
        # The text is not at hand, so that only the line is sure.
        span = types.Range(types.Position(line - 1, 0), types.Position(line, 0))
    else:
        positions = Positions.of(page.text, units)
        start = positions.at(line, column)
        span = positions.range(start, max(positions.end_of_line(start), start))
    return (_told("syntax", "error", f"{problem.message}; {consequence}", span),)


_CONSEQUENCE: Mapping[PageName, str | None] = {
    "workspace": "correct it; until then everything asks and nothing here allows",
    "code_workspace": "correct it; until then everything asks and nothing here allows",
    "managed": "correct it; until then everything asks and nothing allows",
    "rules": "correct it before you save: a broken store is set aside and its rules no longer count",
    "user": None,  # the editor says so itself, and what it makes of the text is what counts
}


class _Places:
    """From a place counted from 1, as problems have it, to the span of what begins there."""

    def __init__(self, document: Document, positions: Positions) -> None:
        self._positions = positions
        self._ends: dict[tuple[int, int], tuple[int, int]] = {}
        for element in _elements(document.root.elements if document.root else ()):
            self._ends.setdefault(document.position(element.start), document.position(element.node.end))

    def span(self, line: int | None, column: int | None) -> types.Range:
        start = self._positions.at(line or 1, column or 1)
        end = self._ends.get((line or 1, column or 1))
        line_end = self._positions.end_of_line(start)
        # Of what goes over several lines the first is enough: nobody wants half a file underlined.
        return self._positions.range(start, line_end if end is None else min(self._positions.at(*end), line_end))


def _elements(elements: Iterable[Element]) -> Iterator[Element]:
    for element in elements:
        yield element
        yield from _elements(element.node.elements)


def _diagnostic(code: Code, problem: Problem, places: _Places) -> types.Diagnostic:
    severity = "information" if code in ("unconfirmed", "refused") else "error" if code == "rule" else problem.severity
    return _told(code, severity, problem.message, places.span(problem.line, problem.column))


_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
}


def _told(
    code: Code, severity: Literal["error", "warning", "information"], message: str, span: types.Range
) -> types.Diagnostic:
    message = message if len(message) <= LONGEST else f"{message[: LONGEST - 1]}…"
    return types.Diagnostic(range=span, message=message, severity=_SEVERITIES[severity], code=code, source=SOURCE)
