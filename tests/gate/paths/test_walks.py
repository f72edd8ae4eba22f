"""Ways to folders that are kept: a path found by one is what it would be if its whole way were gone anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.gate.paths.resolve import Walk, resolve
from countersign.gate.probes import disk

NAMES = st.sampled_from(["a", "b", "c", "progra~1"])
PATHS = st.lists(st.sampled_from(["a", "b", "c", "progra~1", "..", ".", ""]), min_size=1, max_size=6).map("/".join)
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join),
    st.one_of(st.just("folder"), st.just("file"), PATHS, PATHS.map("@/{}".format)),
    max_size=8,
)
"""What stands where; what is neither a folder nor a file is a link's target, of the workspace where it begins with
`@`."""


@given(TREES, st.lists(PATHS, min_size=1, max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_kept_ways_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, str], paths: list[str]
) -> None:
    top = tmp_path_factory.mktemp("walks")
    lay(top, tree)
    walked: dict[str, Walk] = {}
    for path in (*paths, *paths):
        for given_path in (path, f"{top}/{path}"):
            kept = resolve(given_path, cwd=str(top), home="/nowhere", straight=str(top), walked=walked)
            anew = resolve(given_path, cwd=str(top), home="/nowhere", straight=str(top))
            assert kept == anew
            if (whole := whole_way(given_path, str(top))) is not None:
                assert (kept.resolved, kept.between, kept.passed, kept.unclear, kept.kind, kept.links) == whole


@given(TREES, PATHS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_way_ends_where_the_system_ends_it(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, str], path: str
) -> None:
    top = tmp_path_factory.mktemp("walks")
    lay(top, tree)
    found = Walk(f"{top}/{path}", str(top)).follow()
    if found is not None:
        assert found == os.path.realpath(f"{top}/{path}")


def test_nothing_is_looked_at_below_a_missing_part(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with disk.record_probes() as looks:
        deep = resolve(f"gone/{'b/' * 50}c", cwd=str(tmp_path), home="/nowhere", straight=str(tmp_path))
    assert (deep.kind, len(looks)) == ("missing", 1)
    back = resolve("gone/b/../../a", cwd=str(tmp_path), home="/nowhere", straight=str(tmp_path))
    assert (back.kind, back.resolved) == ("file", str(tmp_path / "a"))


def whole_way(path: str, top: str) -> tuple[object, ...] | None:
    """What the way to a path shows where it is gone as one, as long as that is all that there is to say of it."""
    if not path:
        return None
    walk = Walk(path if path.startswith("/") else f"{top}/{path}", top)
    found = walk.follow()
    return found, tuple(walk.between), tuple(walk.passed), walk.unclear, walk.kind, walk.links


def lay(top: Path, tree: dict[str, str]) -> None:
    """Make what a tree says, as far as the disk lets one."""
    for name, what in tree.items():
        place = top / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if what == "folder":
                place.mkdir(exist_ok=True)
            elif what == "file":
                place.touch()
            else:
                place.symlink_to(what.replace("@", str(top), 1))
        except OSError:
            continue
