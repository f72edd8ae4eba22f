"""A Finding: one thing a call would touch, and all that floors and rules say of it, before precedence.

Matching (rules, paths, shell) makes findings; ``policy.decide`` folds them by the numbered precedence. Nothing here
knows modes, bypass or trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from countersign.wire.verdicts import Category, EffectKind, Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Floor:
    """What no setting overrides: ask or deny. ``bypassable`` for what is denied to tools, but not under bypass."""

    verdict: Verdict
    evidence: Evidence
    bypassable: bool = False


FILE_KINDS: frozenset[EffectKind] = frozenset({"read", "write"})
"""Effects whose ``resource`` is a file."""


class Finding(NamedTuple):
    """One effect with everything that was found about it.

    ``category`` is the row of the mode matrix that it falls under; ``known_read`` says that the fixed read-only set
    covers it (for a command: this part only reads inside the workspace), ``neutral`` that it needs no rule at all
    (``true``, ``[``, ``cd src``), ``not_covered_by_command`` that it is read beside a command that needs no rule, so
    that nobody answers for it. ``requires_ask`` is an ask that only a rule naming the very effect, or bypass, lifts
    (outside the workspace, secrets); with ``bypassable`` False not even bypass does, with ``auto_lifts`` mode `auto`
    does too (a read outside), and ``replaced`` says that no rule for the command lifts it, since another file may stand
    there by then. ``in_workspace`` says that it lies in the workspace itself (what `acceptEdits` covers).
    ``ask_below`` says that ``ask`` is of a rule that is about something below a folder, and not about the folder, and
    ``ask_idle`` that nothing of that is there now; where ``ask_lifts``, it does not count in a text that only reads
    or changes what git is known to change.
    ``not_plain`` names what of the command's text is outside Plain Bash (docs/gate.md S0): then nothing below it
    allows.
    ``allow`` is the first allow rule, in order of scope, that covers it honestly, ``grant`` a grant that does.
    ``near_miss_reason`` says why a rule that looks as if it matched does not (for the card).
    """

    kind: EffectKind
    resource: str
    category: Category
    floors: tuple[Floor, ...] = ()
    deny: Evidence | None = None
    ask: Evidence | None = None
    requires_ask: Evidence | None = None
    bypassable: bool = True
    auto_lifts: bool = False
    in_workspace: bool = False
    allow: Evidence | None = None
    grant: Evidence | None = None
    known_read: bool = False
    neutral: bool = False
    not_covered_by_command: bool = False
    near_miss_reason: str | None = None
    risks: tuple[str, ...] = ()
    text: str | None = None
    not_plain: Evidence | None = None
    replaced: bool = False
    ask_below: bool = False
    ask_idle: bool = False
    ask_lifts: bool = False

    def asks_beyond(self, other: Finding) -> bool:
        """Whether it asks where the other finding does not: in some mode, or since a rule or a grant answers that."""
        if self.requires_ask is None:
            return False
        answered = [each.allow is not None or each.grant is not None for each in (self, other)]
        if other.requires_ask is None or answered == [False, True]:
            return True
        return (other.auto_lifts and not self.auto_lifts) or (other.bypassable and not self.bypassable)

    def allowed_by(self, allow: Evidence) -> Finding:
        """Return the finding with this allow rule: ``_replace``, in a third of its time."""
        return self._make((*self[:_ALLOW], allow, *self[_ALLOW + 1 :]))


_ALLOW = Finding._fields.index("allow")
