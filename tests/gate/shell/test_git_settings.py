"""Every setting of git in a repository's own file, by what it can do to a command that only reads
(`git_settings.toml`)."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.gate.shell.files.git_settings import entries_of
from tests.patience import PATIENCE

from .asked import decide

TABLE = tomllib.loads(Path(__file__).with_name("git_settings.toml").read_text(encoding="utf-8"))
NAMES = {kind: TABLE[kind].split() for kind in ("runs", "reads", "fetches", "elsewhere", "plain")}
ADDRESSES = ("remote.<name>.url", "url.<base>.insteadOf", "remote.<name>.vcs")
PROMISED = '[remote "origin"]\n\turl = https://h/x\n\tpromisor = true\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in ("work/.git/objects", "work/.git/refs", "work/.git/hooks", "home"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "work/.git/HEAD").write_text("ref: refs/heads/main")
    # It runs where git writes a ref.
    (tmp_path / "work/.git/hooks/reference-transaction").touch(mode=0o755)
    return tmp_path / "work"


def setting(name: str, value: str) -> str:
    section, _, rest = re.sub(r"<[^>]*>|\*", "x", name).partition(".")
    part, _, key = rest.rpartition(".")
    return f'[{section} "{part}"]\n\t{key} = "{value}"\n' if part else f'[{section}]\n\t{key} = "{value}"\n'


def asked(repository: Path, text: str, file: str = "config") -> str:
    (repository / ".git" / file).write_text(text)
    return decide("git status", workspace=str(repository), home=str(repository.parent / "home"))


@pytest.mark.parametrize("name", [".gitconfig", ".config/git/config", ".config/git/attributes", ".config/git", "x/git"])
def test_settings_of_a_person_that_lie_in_the_workspace_ask(
    name: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, inside = repository.parent / "home", repository / "dots"
    (inside / "config").parent.mkdir()
    for each in ("config", "attributes"):
        (inside / each).write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "x"))
    assert asked(repository, "") == "allow"
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).symlink_to(inside if name.endswith("git") else inside / name.rpartition("/")[2].replace(".git", ""))
    assert asked(repository, "") == "ask"


@pytest.mark.parametrize(
    "setting", ["core.attributesFile", "mailmap.file", "core.excludesFile", "blame.ignoreRevsFile"]
)
def test_a_file_of_the_workspace_that_a_persons_setting_names_asks(setting: str, repository: Path) -> None:
    (repository / "lines").write_text("")
    (repository.parent / "lines").write_text("")
    section, _, key = setting.partition(".")
    for folder, decision in ((repository, "ask"), (repository.parent, "allow")):
        (repository.parent / "home/.gitconfig").write_text(f"[{section}]\n{key} = {folder}/lines\n")
        assert asked(repository, "") == decision


@pytest.mark.parametrize("file", ["config", "config.worktree"])
@pytest.mark.parametrize("name", NAMES["runs"])
def test_a_program_that_reading_runs_asks(name: str, file: str, repository: Path) -> None:
    assert asked(repository, setting(name, "/opt/evil"), file) == "ask"


@pytest.mark.parametrize("value", ["on", "yes", "true", "0", "fal\u017fe"])
@pytest.mark.parametrize("name", NAMES["runs"])
def test_a_program_may_be_called_like_a_switch(name: str, value: str, repository: Path) -> None:
    switched = name in {"core.fsmonitor", "pager.<cmd>"} and value.isascii()
    assert asked(repository, setting(name, value)) == ("allow" if switched else "ask")


@pytest.mark.parametrize("name", NAMES["reads"])
def test_a_strange_file_that_reading_reads_asks(name: str, repository: Path) -> None:
    (repository / ".env").write_text("KEY")
    (repository.parent / "outside").write_text("no settings")
    for value in (str(repository.parent / "outside"), "../.env" if name.startswith("include") else ".env"):
        assert asked(repository, setting(name, value)) == "ask"


@pytest.mark.parametrize("name", NAMES["fetches"])
def test_what_fetching_runs_and_names_asks_in_a_partial_clone(name: str, repository: Path) -> None:
    value = "ext::/opt/evil" if name in ADDRESSES else "/opt/evil"
    text = setting(name.replace("<base>", "ext::/opt/evil ").replace("remote.<name>", "remote.origin"), value)
    assert asked(repository, PROMISED) == "ask"  # the hook
    (repository / ".git/hooks/reference-transaction").unlink()
    assert asked(repository, PROMISED) == "allow"
    assert asked(repository, PROMISED + text) == "ask"


@pytest.mark.parametrize(("name", "value"), TABLE["changes"].items())
def test_a_value_by_which_reading_does_more_asks(name: str, value: str, repository: Path) -> None:
    assert asked(repository, setting(name, value)) == "ask"


@pytest.mark.parametrize("name", [*NAMES["elsewhere"], *NAMES["plain"]])
def test_any_other_setting_asks_nothing(name: str, repository: Path) -> None:
    assert asked(repository, setting(name, "/opt/x" if name in NAMES["elsewhere"] else "true")) == "allow"


def listed(option: str) -> list[str]:
    # git itself may be missing, or too old for the list.
    try:
        found = subprocess.run(["git", "help", option], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return [line for line in found.stdout.splitlines() if re.fullmatch(r"[A-Za-z0-9]+\.\S*", line)]


@pytest.mark.parametrize("option", ["--config-for-completion", "-c"])
def test_every_setting_of_the_installed_git_is_in_the_table(option: str) -> None:
    names = {name.lower() for name in [*TABLE["changes"], *(name for kind in NAMES.values() for name in kind)]}
    unknown = [
        name
        for name in listed(option)
        if name.partition(".")[0] not in TABLE["sections"]
        and name.lower() not in names
        and not (name.endswith(".") and any(known.startswith(name.lower()) for known in names))
    ]
    assert not unknown, "read what these do, and enter them in git_settings.toml"


_PIECES = [
    "[a]", "[A.b]", '[a "B c"]', '[a "x\\"y"]', "\n", "\n", "\n", "\t", " ", "k", "key", "K-1", "=", " = ", "\\\n",
    "\\\n  ", '"', '""', '"x', '" "', "\\t", "\\n", "\\b", "\\\\", '\\"', "#c", ";c", "x", "x y", "../p", "é", "\r\n",
    "[core]\nx = y\n",
    "\nk = ", "\nk = \\\n ", "\n\tk=v", "v \\\n", "%f", "'", "$(x)", ".", "-", "[", "]",
    "\ufeff", "\v", "\f", "\u00a0",
]  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(_PIECES), max_size=14))
def test_what_is_understood_is_what_git_reads(tmp_path: Path, pieces: list[str]) -> None:
    text = "[s]" + "".join(pieces)
    read = list(entries_of(text.encode()))
    if any(section == "" for section, *_ in read):
        return  # it asks
    (tmp_path / "config").write_bytes(text.encode())
    line = ["git", "config", "--file", str(tmp_path / "config"), "-z", "--list"]
    done = subprocess.run(line, capture_output=True, check=False, timeout=PATIENCE)
    if done.returncode != 0:
        return
    theirs = [entry.partition("\n") for entry in done.stdout.decode().split("\0")[:-1]]
    ours = [(f"{section}.{f'{name}.' if name else ''}{key}", value) for section, name, key, value in read]
    # Older versions of git make a space of another blank inside a value, which no path of ours may hold.
    assert [(key, _with_spaces(value)) for key, value in ours] == [(key, _with_spaces(said)) for key, _, said in theirs]


def _with_spaces(value: str) -> str:
    return re.sub(r"[\t\r]", " ", value)
