"""What is taken for ordinary by its text is nothing that any list knows, and is judged as it would be in full."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from countersign.gate.paths.ordinary_names import is_ordinary
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.resolve import normalise
from countersign.gate.paths.roots import as_other_systems, segments_of
from countersign.gate.paths.sensitive_paths import (
    PROTECTED,
    PROTECTED_ENDINGS,
    PROTECTED_IN_HOME,
    SECRET,
    SECRET_IN_HOME,
    SECRET_SAMPLES,
    protected_in_home,
    protected_reason,
    secret_at,
    secret_in_home,
    secret_name,
)
from countersign.gate.rules.rule_set import RuleSet
from countersign.settings.policy import RuleText

LISTED = sorted(
    {name for table in (PROTECTED, PROTECTED_IN_HOME, SECRET_IN_HOME) for names in table for name in names}
    | {f"x{ending}" for ending in PROTECTED_ENDINGS}
    | {"id_rsa", "id_ed25519.pub", "key.pem", ".env.local", ".env.example", ".pypirc"}
    | {".env~", ".#.env", "#.npmrc#", ".key.pem.swp", "key.pem.bak", "key.pem.~1~", ".netrc~"}
    | {"git~1", ".GIT", "a.", "a:b", "..", "."}
)  # fmt: skip
names = st.one_of(
    st.sampled_from(LISTED),
    st.sampled_from(LISTED).map(str.upper),
    st.sampled_from(["src", "a", "link", "away", "main.py", "a-b_c.d", "x1", "gone", "up", "fifo", "-x", "~"]),
    st.text("ab.~-_/\\: \nİK", max_size=4),
)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize("name", ["/".join(names) for table in (PROTECTED, PROTECTED_IN_HOME) for names in table])
def test_no_name_that_is_protected_is_ordinary(name: str):
    assert not is_ordinary(name)
    assert not is_ordinary(f"a/{name.upper()}")


@given(paths)
@example("venv/bin")
@example("VENV/Scripts")
@example("Library/LaunchAgents")
@example("a/")
@example("a//b")
@example("x\n")
def test_an_ordinary_path_holds_nothing_that_a_list_knows(path: str):
    if not is_ordinary(path):
        return
    segments = segments_of(path)
    assert normalise(f"/w/{path}") == f"/w/{path}"
    assert list(as_other_systems(path)) == [segments]
    for start in range(len(segments)):
        for said in (protected_reason, protected_in_home, secret_at, secret_in_home):
            assert said(segments[start:]) is None


@pytest.mark.parametrize("path", ["src", "src/main.py", "a-b/c_d.e.f", "README.md", "x1/2"])
def test_what_is_in_most_workspaces_is_ordinary(path: str):
    assert is_ordinary(path)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with workspaces in it whose place, neighbours and links are of every kind."""
    home = tmp_path_factory.mktemp("home").resolve()
    for folder in (
        "ws/src/a",
        "ws/venv/bin",
        ".config/ws/src",
        "Library/ws/src",
        "Library/LaunchAgents/src",
    ):
        (home / folder).mkdir(parents=True)
    for file in ("ws/main.py", "ws/src/main.py", "ws/.env", "ws/id_rsa", "outside"):
        (home / file).write_text("x")
    (home / "ws/link").symlink_to("src")
    (home / "ws/away").symlink_to("../outside")
    (home / "ws/src/up").symlink_to("../.env")
    (home / "opened").symlink_to("ws")
    return home


WORKSPACES = [
    "ws",
    ".config/ws",
    "Library",
    "Library/LaunchAgents",
    ".",
    "opened",
    "ws/src",
    "ws/venv",
    "none",
]
RULES = [(), ("Read(src/**)",), ("Read",)]


@given(paths, st.sampled_from(WORKSPACES), st.sampled_from(["", "src", "link"]), st.booleans(), st.sampled_from(RULES),
       st.sampled_from(["allow", "deny", "ask"]), st.sampled_from([(), ("ws/src",), (".",), ("WS",)]))  # fmt: skip
def test_a_path_is_judged_as_it_would_be_in_full(
    home: Path, path: str, workspace: str, folder: str, below: bool, said: tuple[str, ...], listed: str,
    own: tuple[str, ...],
):  # fmt: skip
    rules = RuleSet(RuleText(listed, text) for text in said)  # type: ignore[arg-type]
    root = str((home / workspace).absolute())
    quick, full = (PathJudge(root, str(home), (), [str(home / each) for each in own], rules, "a") for _ in range(2))
    full._quiet, full._straight = False, None
    cwd = f"{root}/{folder}".rstrip("/")
    assert quick.judge_read(path, cwd=cwd, below=below) == full.judge_read(path, cwd=cwd, below=below)
    assert quick.judge_write(path, cwd=cwd) == full.judge_write(path, cwd=cwd)
    assert quick.resolve(path, cwd=cwd) == full.resolve(path, cwd=cwd)
    if quick.is_unremarkable(path, cwd=cwd):
        found = full.judge_read(path, cwd=cwd)
        assert (found.floors, found.deny, found.ask, found.requires_ask) == ((), None, None, None)
        assert full.is_secret(path, cwd=cwd) is None
        assert full.is_protected(path, cwd=cwd) is None


def test_the_samples_of_secret_names_match_every_pattern_of_them() -> None:
    names = [name.replace("\0", "x") for name in SECRET_SAMPLES]
    matching = [[name for name in names if pattern.fullmatch(name)] for pattern, _reason in SECRET]
    assert all(matching)
    assert all(map(secret_name, names))
