"""What a rule or a grant could say of a whole text: cover it to the letter, or be offered for "always"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from countersign.settings.policy import RuleText

from ..finding import Finding
from ..grammar import compile_rule
from ..pattern import CommandPattern
from ..rule import Rule, evidence
from .circumstances import Circumstances
from .cover import Case
from .proposals import propose

MAX_RULE = 2000
"""Characters up to which a command is said in full as a rule; nobody reads a longer one."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A text with its findings. ``cases`` are its commands by the index of their finding; ``named`` are the findings
    of files that the text names literally."""

    text: str
    findings: tuple[Finding, ...]
    cases: Mapping[int, Case]
    named: frozenset[int]


def with_grant(whole: Whole, around: Circumstances) -> tuple[Finding, ...]:
    """The findings, covered by a grant of exactly this text where there is one.

    It covers what only lacks a rule, and what must be asked for only where it names it; never floors or ask rules.
    """
    if not around.granting:
        return whole.findings
    wanted = f"Bash({whole.text})"
    for rule in around.rules.commands_of("grant", None, around.agent):
        if rule.text == wanted and _says_one_text(rule):
            said = evidence(rule)
            return tuple(
                replace(finding, grant=said) if finding.grant is None and _grantable(whole, index) else finding
                for index, finding in enumerate(whole.findings)
            )
    return whole.findings


def exact_rule(whole: Whole, around: Circumstances) -> str | None:
    """The rule that says this text and no other, if as a grant it would cover all that asks; else None."""
    if len(whole.text) > MAX_RULE:
        return None
    text = f"Bash({whole.text})"
    rule, problem = compile_rule(RuleText("allow", text, scope="grant", agent=around.agent))
    if rule is None or problem is not None or rule.text != text or not _says_one_text(rule):
        return None
    for index, finding in enumerate(whole.findings):
        if finding.floors or finding.deny or finding.ask:
            return None
        if not (_grantable(whole, index) or finding.allow or finding.grant or finding.neutral):
            return None
    return text


def proposals(whole: Whole, around: Circumstances) -> tuple[str, ...]:
    """Rules for each part that nothing covers yet, narrowest first."""
    offered: dict[str, None] = {}
    for index, case in whole.cases.items():
        finding = whole.findings[index]
        spoken = finding.deny or finding.ask or finding.floors or finding.must_ask
        done = finding.allow or finding.grant or finding.neutral or finding.known_read
        if not spoken and not done:
            offered.update(dict.fromkeys(propose(case)))
    return tuple(offered)


def _says_one_text(rule: Rule) -> bool:
    return isinstance(rule.specifier, CommandPattern) and rule.specifier.exact


def _grantable(whole: Whole, index: int) -> bool:
    """Whether a grant of this text covers this finding."""
    finding = whole.findings[index]
    if finding.kind != "command":
        return finding.must_ask is None or index in whole.named
    case = whole.cases.get(index)
    return finding.must_ask is None and (case is None or (case.evaluates is None and case.unnamed is None))
