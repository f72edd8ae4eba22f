"""A resolver of many paths says of each what the system says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countersign.gate.probes import disk

NAMES = ("a", "b", "c", "d/e", "d/f", "d/g/h")
TARGETS = ("a", "b", "./c", "../a", "d", "d/f", "d/g", "../g/h", "..", ".", "/", "missing/x", "d/../b", "a/.", "b/")


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TARGETS)))
def test_links_lead_where_the_system_says(tmp_path_factory: pytest.TempPathFactory, links: dict[str, str]) -> None:
    top = Path(os.path.realpath(tmp_path_factory.mktemp("links")))
    (top / "d/g").mkdir(parents=True)
    for name, target in links.items():
        (top / name).symlink_to(target)
    resolve = disk.Resolver()

    for name in (*NAMES, "d", "d/..", "missing", "a/x", ""):
        path = f"{top}/{name}"
        assert resolve(path) == os.path.realpath(path), links
