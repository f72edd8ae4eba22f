"""What a tool may say before the gate has spoken, and what a search leaves out.

Preparing a change looks at the file. Where the file could be read without asking, a change that does not fit is told to
the model at once; where it could not, the answer itself would tell what the file holds, so the call goes to the gate
first and fails afterwards.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache

from countersign.gate import Finding, PathJudge, RuleSet, judge_for
from countersign.settings.policy import Policy, RuleText
from countersign.tools.places import Place


@dataclass(frozen=True, slots=True)
class CannotSucceed:
    """The payload of a call that cannot succeed, where saying so needs leave; ``reason`` is told after the permit."""

    reason: str


def freely_read(place: Place, policy: Policy) -> bool:
    """Whether reading this file needs nobody's leave: inside, no secret, and no deny or ask rule names it."""
    return all(
        finding.known_read and finding.requires_ask is None and not _held_back(finding)
        for finding in _reads(place, policy)
    )


def guarded(place: Place, policy: Policy) -> bool:
    """Whether the content of this file is guarded as such: a secret, or named by a deny or ask rule.

    To change a guarded file by its content, or to move it away, needs the leave to read it too.
    """
    judge = _judge(policy)
    if any(judge.is_secret(path, cwd=policy.workspace) is not None for path in (place.asked, place.resolved)):
        return True
    return any(map(_held_back, _reads(place, policy)))


def _reads(place: Place, policy: Policy) -> list[Finding]:
    """What is to be said of reading a place by both spellings: a link may lead elsewhere by now, and the tools act on
    what it was resolved to."""
    judge = _judge(policy)
    return [judge.judge_read(path, cwd=policy.workspace) for path in dict.fromkeys((place.asked, place.resolved))]


class Screen:
    """Tells of paths below a folder that was allowed whether a search or a listing passes them by.

    So it is that reading a folder is judged as the folder alone: what is below it and would ask or be denied by itself
    is not touched. ``place`` is the folder or file that the call names; naming a secret is asking for it.
    """

    def __init__(self, policy: Policy, place: Place) -> None:
        self._policy = policy
        self._place = place
        self._judge = _judge(policy)
        self._ruled = any(rule.list != "allow" for rule in policy.rules)

    def enters(self, below: str) -> bool:
        """Whether this folder, given by its path below the place, is gone into."""
        return not any(_held_back(self._read(path)) for path in self._spellings(below))

    def lists(self, below: str) -> bool:
        """Whether this name is shown."""
        return not self._ruled or self.enters(below)

    def opens(self, below: str) -> bool:
        """Whether the content of this file is looked at; the empty path is the place itself."""
        if not below:
            return True
        cwd = self._policy.workspace
        secret = any(self._judge.is_secret(path, cwd=cwd) is not None for path in self._spellings(below))
        return not secret and self.lists(below)

    def _read(self, path: str) -> Finding:
        return self._judge.judge_read(path, cwd=self._policy.workspace)

    def _spellings(self, below: str) -> tuple[str, ...]:
        roots = dict.fromkeys((self._place.asked, self._place.resolved))
        return tuple(os.path.join(root, below) for root in roots)


def _held_back(finding: Finding) -> bool:
    return bool(finding.floors) or finding.deny is not None or finding.ask is not None


def _judge(policy: Policy) -> PathJudge:
    return judge_for(policy, _stern(policy.rules), "")


@lru_cache(maxsize=4)
def _stern(rules: tuple[RuleText, ...]) -> RuleSet:
    # Who asks is not known here, so a rule that holds one agent back holds all of them back.
    return RuleSet(replace(rule, agent=None) for rule in rules if rule.list != "allow")
