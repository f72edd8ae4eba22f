"""Ordered verdicts and the Decision they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from countersign.gate.finding import Finding
from countersign.gate.risk import risk_of
from countersign.wire.approvals import CommandPart
from countersign.wire.verdicts import DecidedBy, EffectView, Evidence, Verdict

STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """The strictest of them; of none, ask, because what nobody spoke for is not understood."""
    found = set(verdicts)
    return "deny" if "deny" in found else "ask" if "ask" in found or not found else "allow"


class Weighed(NamedTuple):
    """One finding with its verdict. ``evidence`` is all that speaks for that verdict, the deciding one first;
    ``grantable`` is False where no grant may cover it."""

    finding: Finding
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    grantable: bool


@dataclass(frozen=True, slots=True)
class RuleOffers:
    """What rules could say of a call: ``exact_rule`` this one and no other, ``proposals`` it and its like."""

    exact_rule: str | None = None
    proposals: tuple[str, ...] = ()


NO_OFFERS = RuleOffers()


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says of one call.

    ``by`` is who would be recorded as having decided. ``evidence`` is never empty; its first entry is the one that
    decided. ``weighed`` is everything that the call touches, ``part_findings`` each simple command of a text with the
    indexes of what it touches there. ``grantable`` is False where a floor, an ask rule or a hook made it ask: no grant
    may cover it. ``exact_rule`` says this very call and no other (None where that cannot be said), ``proposals`` are
    rules for "always", narrowest first; both match the call, and are there once ``with_offers`` has found them.
    ``scripts`` are absolute paths of workspace files that a command names as program or script: the approval is bound
    to their content. ``exact_text`` is True where the call is allowed and a rule or grant holds exactly the text of its
    command: then the original bytes run. Otherwise, where it is allowed, ``runs`` is the text that runs in place of the
    command's own: the judged tree, printed. ``withheld`` are names of variables that the command mentions and does not
    get.
    """

    verdict: Verdict
    by: DecidedBy
    evidence: tuple[Evidence, ...]
    weighed: tuple[Weighed, ...]
    reason: str
    risks: tuple[str, ...] = ()
    part_findings: tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...] = ()
    grantable: bool = True
    exact_rule: str | None = None
    proposals: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    exact_text: bool = False
    runs: str | None = None
    withheld: tuple[str, ...] = ()
    only_reads: bool = False
    """A command that nobody allowed but the table of what reads, and a mode."""
    find_offers: Callable[[], RuleOffers] | None = field(default=None, compare=False, repr=False)
    """Where the verdict is to ask: works out what rules a card can offer. It may look at the disk."""

    def with_offers(self) -> Decision:
        """The same decision with the rules that a card can offer, where there are any. May block."""
        if self.find_offers is None:
            return self
        found = self.find_offers()
        return replace(self, exact_rule=found.exact_rule, proposals=found.proposals, find_offers=None)

    @property
    def effects(self) -> tuple[EffectView, ...]:
        """All that the call touches, as it is shown. Made when it is asked for: a text may touch thousands of things,
        and what is allowed is seldom looked at."""
        return tuple(
            EffectView(
                kind=each.finding.kind,
                resource=each.finding.resource,
                verdict=each.verdict,
                evidence=each.evidence[0],
            )
            for each in self.weighed
        )

    @property
    def parts(self) -> tuple[CommandPart, ...]:
        """Each simple command, with the strictest of what was said of it. Made when it is asked for."""
        parts: list[CommandPart] = []
        for text, indexes, words in self.part_findings:
            if indexes:
                worst = max((self.weighed[index] for index in indexes), key=lambda each: STRICTNESS[each.verdict])
                found = (*words, *(risk for index in indexes for risk in self.weighed[index].finding.risks))
                risks = [risk_of(text) for text in dict.fromkeys(found)] or None
                parts.append(CommandPart(text=text, verdict=worst.verdict, evidence=worst.evidence[0], risks=risks))
        return tuple(parts)
