"""What may be said of a file without leave, where a link is turned between two looks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from countersign.settings.policy import Policy, RuleText
from countersign.tools.access import freely_read, guarded
from countersign.tools.places import Place, locate


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    for name in (".env", "held.txt", "plain.txt"):
        (tmp_path / name).write_text("x")
    held = RuleText("deny", "Read(held.txt)")
    return Policy(workspace=os.path.realpath(tmp_path), home="/home/me", trusted=True, rules=(held,))


def turned(policy: Policy, first: str, then: str) -> Place:
    link = Path(policy.workspace, "link")
    link.symlink_to(first)
    place = locate("link", policy)
    link.unlink()
    link.symlink_to(then)
    return place


@pytest.mark.parametrize("kept", [".env", "held.txt"])
@pytest.mark.parametrize("before", [True, False])
def test_a_link_that_is_turned_frees_nothing(policy: Policy, kept: str, before: bool) -> None:
    place = turned(policy, *((kept, "plain.txt") if before else ("plain.txt", kept)))
    assert not freely_read(place, policy)
    assert guarded(place, policy)


def test_a_link_to_an_ordinary_file_is_free(policy: Policy) -> None:
    place = turned(policy, "plain.txt", "plain.txt")
    assert freely_read(place, policy)
    assert not guarded(place, policy)
