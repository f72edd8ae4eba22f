"""Compares the prompts of a chat with those that an agent repeated of its session. Pure: it reads and says nothing.

Agents join, split and frame what they were sent, so spaces and what stands around a prompt count for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_COMPARED = 1000
"""Characters of a prompt that are compared."""
OF_THE_AGENT = ("<", "[", "The person denied `", "`")
"""How prompts begin that no person wrote: an agent's own notes, and what we told it of refusals."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt of the chat. ``certain``: its turn went to its end, so the agent must remember it."""

    text: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a chat and what the agent repeated differ. ``expected`` prompts should have been repeated, ``missing`` of
    them were not; ``further`` prompts came after the last known one."""

    expected: int
    missing: int
    further: int


def compare(prompts: Sequence[Prompt], repeated: Sequence[str]) -> Comparison:
    """Compare the prompts of a chat with those that the agent repeated, both in order."""
    heard = [" ".join(text.split()) for text in repeated]
    start, offset, last = 0, 0, -1
    expected = missing = 0
    for prompt in prompts:
        wanted = " ".join(prompt.text[:LONGEST_COMPARED].split())
        if not wanted or wanted.startswith("/"):  # agents carry out commands of their own without keeping them as said
            continue
        expected += prompt.certain
        found = _find(heard, wanted, start, offset)
        if found is None:
            missing += prompt.certain
        else:
            last = start = found[0]
            offset = found[1] + len(wanted)
    further = sum(not text.startswith(OF_THE_AGENT) for text in heard[last + 1 :] if text)
    return Comparison(expected, missing, further)


def _find(heard: Sequence[str], wanted: str, start: int, offset: int) -> tuple[int, int] | None:
    for number in range(start, len(heard)):
        at = heard[number].find(wanted, offset if number == start else 0)
        if at >= 0:
            return number, at
    return None
