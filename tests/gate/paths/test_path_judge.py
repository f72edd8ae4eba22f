"""Paths as an adversary would write them. Past 500 lines, because they are one table of places and what covers them."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from countersign.gate import ReadPath, ToolCall, WritePath
from countersign.gate.decisions.decide import decide
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.rules.rule_set import RuleSet
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.wire.approvals import ToolPreview
from countersign.wire.verdicts import Category, Mode

OPERATIONS: Mapping[str, Literal["create", "edit", "delete", "move"]] = {
    "write": "create", "write_file": "create", "edit": "edit", "edit_file": "edit", "delete_file": "delete",
    "move_file": "move",
}  # fmt: skip


@dataclass
class AgentContext:
    """A workspace, a home and a place outside, with a few files in each."""

    ws: Path
    home: Path
    out: Path

    def verdict(
        self,
        tool: str,
        path: str,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
        ask: Sequence[str] = (),
        *,
        mode: Mode = "default",
        bypass: bool = False,
        **more: object,
    ) -> str:
        rules = [
            *(("allow", text) for text in allow),
            *(("deny", text) for text in deny),
            *(("ask", text) for text in ask),
        ]
        policy = Policy(
            workspace=more.pop("workspace", str(self.ws)),  # type: ignore[arg-type]
            home=str(self.home),
            trusted=True,
            rules=tuple(RuleText(listed, self.filled(text)) for listed, text in rules),  # type: ignore[arg-type]
            agents={"Countersign": AgentConfig("Countersign", bypass=bypass)},
            **more,  # type: ignore[arg-type]
        )
        decision = decide(path_call(tool, self.filled(path), str(self.ws / "to"), policy), policy, (mode,))
        assert decision.evidence
        assert decision.evidence[0].source != "error"
        return decision.verdict

    def judge(self, *rules: RuleText, **more: Sequence[str]) -> PathJudge:
        return PathJudge(
            str(self.ws), str(self.home), more.get("additional", ()), more.get("own", ()), RuleSet(rules), "Countersign"
        )

    def filled(self, text: str) -> str:
        return text.format(ws=self.ws, home=self.home, out=self.out) if "{" in text else text


def path_call(tool: str, path: str, to: str, policy: Policy) -> ToolCall:
    """A call with the path as it is written; our own tools normalize it first."""
    effects: tuple[ReadPath | WritePath, ...] = (
        (WritePath(path, OPERATIONS[tool]),) if tool in OPERATIONS else (ReadPath(path),)
    )
    if tool == "move_file":
        effects = (ReadPath(path), *effects, WritePath(to, "move"))
    category: Category = "write" if tool in OPERATIONS else "read"
    return ToolCall(
        "c", "t", "u", "Countersign", tool, {}, "other", category, effects, ToolPreview(input={}), policy.workspace
    )  # fmt: skip


@pytest.fixture
def ground(tmp_path: Path) -> AgentContext:
    found = AgentContext(tmp_path / "ws", tmp_path / "home", tmp_path / "out")
    for file in ("ws/src/a.py", "ws/.env", "ws/.git/config", "home/.ssh/id_rsa", "home/x", "out/dir/x", "ws2/x"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("x", encoding="utf-8")
    return found


READS = [
    ("src/a.py", "allow"),
    ("./src//a.py", "allow"),
    ("src/a.py/", "allow"),
    ("nowhere/../src/a.py", "allow"),
    ("nowhere/new.txt", "allow"),
    ("{ws}/src/a.py", "allow"),
    ("/{ws}/src/a.py", "allow"),
    ("//{ws}/src/a.py", "allow"),
    (".", "allow"),
    ("~", "allow"),
    ("~root/x", "allow"),
    ("%2e%2e/x", "allow"),
    ("$HOME/x", "allow"),
    ("a file with blanks.txt", "allow"),
    ("日本語/ü.txt", "allow"),
    ("..", "ask"),
    ("../ws2/x", "ask"),
    ("{ws}2/x", "ask"),
    ("{ws}/../ws2/x", "ask"),
    ("src/../../out/dir/x", "ask"),
    ("~/x", "ask"),
    ("~/.ssh/id_rsa", "ask"),
    ("/etc/passwd", "ask"),
    ("/proc/self/environ", "ask"),
    ("/proc/self/cwd/src/a.py", "ask"),
    ("/dev/stdin", "ask"),
    ("/dev/fd/0", "ask"),
    ("", "deny"),
    ("a\0b", "deny"),
    ("a\nb", "deny"),
    ("a\rb", "deny"),
    ("a\x1bb", "deny"),
    ("a\u202eb", "deny"),
    ("a\u200bb", "deny"),
    ("a\u2066b", "deny"),
    ("a\ufeffb", "deny"),
    ("a\u3164b", "deny"),
    ("a\ufe0fb", "deny"),
    ("a\U000e0041b", "deny"),
    ("a\ud800b", "deny"),
    ("x" * 256, "deny"),
    ("é" * 128, "deny"),
    ("x/" * 2100, "deny"),
    (".env", "ask"),
    (".ENV", "ask"),
    ("deep/.env.local", "ask"),
    (".env.example", "allow"),
    (".env.local.Sample", "allow"),
    (".env.templates", "ask"),
    (".environment", "allow"),
    ("certs/server.pem", "ask"),
    ("certs/SERVER.PEM", "ask"),
    ("certs/server.pem.txt", "allow"),
    (".npmrc", "ask"),
    ("pkg/.pypirc", "ask"),
    ("id_rsa.pub", "ask"),
    ("id_ed25519", "ask"),
    ("keys/ID_ECDSA-old", "ask"),
    ("my_id_rsa", "allow"),
    (".ssh/config", "allow"),
    (".env.", "ask"),
    (".env ", "ask"),
    (".git/config", "allow"),
    (".env~HEAD", "ask"),
    ("server.pem.orig~HEAD", "ask"),
    (".npmrc.orig~", "ask"),
    (".env~5476295 (four)", "ask"),
    ("certs/server.pem.rej", "ask"),
    ("_LOCAL_123.env", "ask"),
    ("a_BACKUP_1.pem", "ask"),
    ("a~b", "allow"),
    *((f".git/{each}", "allow") for each in (
        "HEAD", "FETCH_HEAD", "index", "refs/heads/objects", "logs/HEAD", "hooks/pre-commit", "info/exclude",
        "objects/info/packs", "packed-refs", "MERGE_MSG", "rebase-merge/git-rebase-todo", "BISECT_LOG",
        "rebase-apply/next", "sequencer/todo", "worktrees/x/HEAD", "worktrees/x/gitdir",
        "modules/lib/a/HEAD", "modules/lib/a/refs/heads/main", "modules/lib/a/logs/HEAD",
    )),
    *((f".git/{each}", "ask") for each in (
        "objects/ab/cdef", "objects/pack/pack-1.pack", "rebase-merge/patch", "REBASE-MERGE/PATCH", "rebase-apply/0001",
        "rr-cache/ab/preimage", "COMMIT_EDITMSG", "lfs/objects/ab/cd/x", "addp-hunk-edit.diff", "annex/objects/x",
        "worktrees/x/rebase-merge/patch", "worktrees/x/COMMIT_EDITMSG", "modules/a/objects/ab/cd", "modules/a/x",
        "modules/a/rebase-apply/0001", "modules/hooks/rr-cache/ab/preimage", "anything",
    )),
    ("x/.git/objects/ab/cd", "ask"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected"), READS)
def test_reading_without_rules(ground: AgentContext, path: str, expected: str) -> None:
    assert ground.verdict("read", path) == expected


EDITABLE = [
    "src/a.py",
    "src/new/b.py",
    ".github/workflows/ci.yml",
    ".gitignore",
    ".gitattributes",
    "git/config",
    "node_modules/x/index.js",
    "venv/lib/x.py",
    "settings.json",
    "x.code-workspaces",
    "cargo/config.toml",
    ".bashrc",
    ".env",
]


@pytest.mark.parametrize("path", EDITABLE)
def test_a_rule_for_the_workspace_allows_ordinary_files(ground: AgentContext, path: str) -> None:
    assert ground.verdict("edit", path, allow=["Edit(./**)"]) == "allow"


PROTECTED = [
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "sub/module/.git/hooks/x",
    "sub/.git",
    ".git.",
    ".git /config",
    ".git./config",
    ".git::$INDEX_ALLOCATION/config",
    "git~1/config",
    ".git\\config",
    "src\\..\\.git\\config",
    "src/../.git/config",
    ".vscode",
    ".vscode/settings.json",
    "packages/a/.vscode/tasks.json",
    ".idea/workspace.xml",
    ".husky/pre-commit",
    ".devcontainer/devcontainer.json",
    ".countersign/rules.json",
    ".claude/settings.json",
    ".Claude/agents/x.md",
    ".envrc",
    "sub/.envrc",
    ".mcp.json",
    ".npmrc",
    ".gitmodules",
    "any.code-workspace",
    "sub/any.Code-Workspace",
    ".yarnrc.yml",
    ".cargo/config.toml",
    ".venv/bin/python",
    "venv/bin/activate",
    "app/node_modules/.bin/tsc",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".opencode/x",
    "opencode.json",
    ".cline/x",
    ".clinerules/x.md",
    ".copilot/x",
    ".github/hooks/x",
    ".github/copilot/x",
    ".cursor/mcp.json",
    ".zed/settings.json",
    ".devcontainer.json",
    "sub/.devcontainer.json",
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".hg/sharedpath",
    ".yarnrc",
    "mise.toml",
    "sub/.mise.toml",
    "mise.local.toml",
    ".mise/config.toml",
    ".config/mise/conf.d/x.toml",
    ".config/mise.toml",
    ".windsurf/x",
    ".kiro/hooks/x",
    ".roo/mcp.json",
    ".venv/lib/python3.11/site-packages/x.pth",
    ".yarn/releases/yarn-1.cjs",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "tools/bazel",
    ".aider.conf.yml",
    ".continue/mcpServers/x.yaml",
    ".helix/languages.toml",
]


@pytest.mark.parametrize("path", PROTECTED)
def test_writing_a_protected_path_asks_whatever_is_set(ground: AgentContext, path: str) -> None:
    assert ground.verdict("write", path, allow=["Edit", "Edit(./**)", "Edit(//**)"], mode="auto", bypass=True) == "ask"
    assert ground.verdict("write", path, deny=["Edit(./**)"]) == "deny"


HOME = [".bash_aliases", ".xprofile", ".config/environment.d/x.conf", ".local/bin/git", ".aws/config", ".kube/config",
        ".docker/config.json", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".gitconfig",
        ".ssh/authorized_keys", ".SSH/config", ".config/autostart/x.desktop", ".config/Autostart/x"]  # fmt: skip


@pytest.mark.parametrize("path", HOME)
def test_writing_what_a_login_runs_asks_whatever_is_set(ground: AgentContext, path: str) -> None:
    for spelling in (f"~/{path}", f"{{home}}/{path}", f"../home/{path}"):
        assert ground.verdict("write", spelling, allow=["Edit(~/**)", "Edit(//**)"], mode="auto", bypass=True) == "ask"


def test_a_workspace_below_a_protected_folder_is_not_protected_as_a_whole(ground: AgentContext) -> None:
    inner = ground.home / ".cursor" / "worktrees" / "one"
    inner.mkdir(parents=True)
    assert ground.verdict("edit", "a.py", allow=["Edit(./**)"], workspace=str(inner)) == "allow"
    assert ground.verdict("edit", ".cursor/a", allow=["Edit(./**)"], workspace=str(inner)) == "ask"


OUTSIDE = [
    # rules that allow, path, read, write
    ([], "{out}/dir/x", "ask", "ask"),
    (["Read", "Edit"], "{out}/dir/x", "ask", "ask"),
    (["Read(**)", "Edit(**)"], "{out}/dir/x", "ask", "ask"),
    (["Read(x)", "Edit(x)"], "{out}/dir/x", "ask", "ask"),
    (["Read(./**)", "Edit(./**)"], "{out}/dir/x", "ask", "ask"),
    (["Read(/{out}/**)", "Edit(/{out}/**)"], "{out}/dir/x", "allow", "allow"),
    (["Read(/{out}/dir/x)", "Edit(/{out}/dir/x)"], "{out}/dir/x", "allow", "allow"),
    (["Read(/{out}/dir/x)", "Edit(/{out}/dir/x)"], "{out}/dir/y", "ask", "ask"),
    (["Read(~/x)", "Edit(~/x)"], "~/x", "allow", "allow"),
    (["Read(~/x)", "Edit(~/x)"], "{home}/x", "allow", "allow"),
    (["Read(~/X)", "Edit(~/X)"], "~/x", "ask", "ask"),
    (["Edit(~/x)"], "~/x", "ask", "allow"),
    (["Read(~/x)"], "~/x", "allow", "ask"),
    (["Bash", "Bash(*)"], "~/x", "ask", "ask"),
    (["Edit(../out/**)", "Read(../out/**)"], "{out}/dir/x", "ask", "ask"),
]


@pytest.mark.parametrize(("allow", "path", "read", "write"), OUTSIDE)
def test_outside_only_a_rule_that_matches_the_path_allows(
    ground: AgentContext, allow: list[str], path: str, read: str, write: str
) -> None:
    assert (ground.verdict("read", path, allow), ground.verdict("write", path, allow)) == (read, write)


OUTSIDE_MODES: list[tuple[Mode, bool, str, str]] = [
    ("ask", False, "ask", "ask"),
    ("plan", False, "ask", "deny"),
    ("default", False, "ask", "ask"),
    ("acceptEdits", False, "ask", "ask"),
    ("auto", False, "allow", "ask"),
    ("dontAsk", False, "deny", "deny"),
    ("default", True, "allow", "allow"),
]


@pytest.mark.parametrize(("mode", "bypass", "read", "write"), OUTSIDE_MODES)
def test_outside_in_every_mode(ground: AgentContext, mode: Mode, bypass: bool, read: str, write: str) -> None:
    outside = "{out}/dir/x"
    given = (
        ground.verdict("read", outside, mode=mode, bypass=bypass),
        ground.verdict("write", outside, mode=mode, bypass=bypass),
    )
    assert given == (read, write)


# --- links -----------------------------------------------------------------------------------------------------------

LINKS = [
    # link -> target, path asked, rules that allow and deny, read, write
    ("l -> {out}/dir/x", "l", [], [], "ask", "ask"),
    ("l -> {out}/dir/x", "l", ["Read(./**)", "Edit(./**)"], [], "ask", "ask"),
    ("l -> {out}/dir/x", "l", ["Read(/{out}/**)", "Edit(/{out}/**)"], [], "ask", "ask"),
    ("l -> {out}/dir/x", "l", ["Read(./l)", "Edit(./l)", "Read(/{out}/**)"], [], "ask", "ask"),
    ("l -> {out}/dir", "l/x", ["Edit(./**)"], [], "ask", "ask"),
    ("l -> {out}/dir", "l/new", ["Edit(./**)"], [], "ask", "ask"),
    ("l -> {out}/nothing", "l", ["Edit(./**)"], [], "ask", "ask"),
    ("l -> ../out/dir", "l/../dir/x", ["Edit(./**)"], [], "ask", "ask"),
    ("l -> {out}/dir", "l/../a.py", ["Edit(./**)"], [], "ask", "ask"),
    ("l -> {out}/dir", "src/../l/x", ["Edit(./**)"], [], "ask", "ask"),
    ("l -> {out}/dir", "nowhere/../l/x", ["Edit(./**)"], [], "ask", "ask"),
    ("l -> src", "l/a.py", [], [], "allow", "ask"),
    ("l -> src", "l/a.py", ["Edit(./**)"], [], "allow", "allow"),
    ("l -> src", "l/a.py", ["Edit(./l/**)"], [], "allow", "ask"),
    ("l -> src", "l/a.py", ["Edit(./src/**)"], [], "allow", "ask"),
    ("l -> .env", "l", [], [], "ask", "ask"),
    ("l -> .env", "l", ["Read(./l)"], [], "ask", "ask"),
    ("l -> .env", "l", [], ["Read(.env)"], "deny", "deny"),
    ("l -> .env", "l", [], ["Read(./l)"], "deny", "deny"),
    ("l -> .env", "l", [], ["Edit(.env)"], "ask", "deny"),
    ("l -> .git", "l/config", ["Edit(./**)"], [], "allow", "ask"),
    ("l -> .git/config", "l", ["Edit(./**)"], [], "allow", "ask"),
    ("l -> l", "l", ["Read(./**)", "Edit(./**)"], [], "ask", "ask"),
    ("l -> l/x", "l", ["Read(./**)", "Edit(./**)"], [], "ask", "ask"),
    ("l -> /proc/self", "l/environ", ["Read(./**)"], [], "ask", "ask"),
    ("l -> /dev/null", "l", ["Read(./**)", "Edit(./**)"], [], "ask", "ask"),
    ("{out}/back -> {ws}/src", "{out}/back/a.py", ["Edit(./**)"], [], "ask", "ask"),
    ("{out}/back -> {ws}/src", "{out}/back/a.py", [], ["Read(./src/**)"], "deny", "deny"),
    ("src/up -> ..", "src/up/.git/config", ["Edit(./**)"], [], "allow", "ask"),
    ("src/up -> ../..", "src/up/ws/src/a.py", ["Edit(./**)"], [], "allow", "allow"),
    ("src/up -> ../..", "src/up/out/dir/x", ["Edit(./**)"], [], "ask", "ask"),
]


@pytest.mark.parametrize(("link", "path", "allow", "deny", "read", "write"), LINKS)
def test_a_link_is_judged_by_both_its_ends(
    ground: AgentContext, link: str, path: str, allow: list[str], deny: list[str], read: str, write: str
) -> None:
    name, target = ground.filled(link).split(" -> ")
    (ground.ws / name).symlink_to(target)
    assert (ground.verdict("read", path, allow, deny), ground.verdict("write", path, allow, deny)) == (read, write)


def test_a_deny_rule_holds_for_a_name_on_the_way(ground: AgentContext) -> None:
    (ground.ws / "one").symlink_to("two")
    (ground.ws / "two").symlink_to("src/a.py")
    assert ground.verdict("read", "one", deny=["Read(./two)"]) == "deny"


def test_many_links_in_a_row_are_a_circle(ground: AgentContext) -> None:
    (ground.ws / "0").symlink_to("src/a.py")
    for number in range(1, 60):
        (ground.ws / str(number)).symlink_to(str(number - 1))
    assert ground.verdict("read", "30") == "allow"
    assert ground.verdict("read", "59") == "ask"


def test_a_link_to_a_name_that_cannot_be_shown_asks(ground: AgentContext) -> None:
    (ground.ws / "a\u202eb").write_text("x", encoding="utf-8")
    (ground.ws / "l").symlink_to("a\u202eb")
    assert ground.verdict("read", "l", mode="auto", bypass=True) == "ask"


def test_a_workspace_with_an_unusual_name_is_still_the_workspace(ground: AgentContext, tmp_path: Path) -> None:
    odd = tmp_path / "a\u200db"
    odd.mkdir()
    assert ground.verdict("read", "src/a.py", workspace=str(odd)) == "allow"


def test_a_folder_that_may_not_be_entered_asks(ground: AgentContext, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        if path.startswith(str(ground.ws / "src") + "/"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "lstat", lstat)
    assert ground.verdict("read", "src/a.py") == "ask"
    assert ground.verdict("edit", "src/a.py", allow=["Edit(./**)"], mode="auto", bypass=True) == "ask"


@pytest.mark.parametrize("mode", ["acceptEdits", "auto"])
def test_a_repository_cannot_be_planted_file_by_file(ground: AgentContext, mode: Mode) -> None:
    planted = ("sub/config", "sub/objects/x", "sub/refs/x", "sub/HEAD")
    assert [ground.verdict("write_file", path, mode=mode) for path in planted] == ["allow", "allow", "allow", "ask"]
    assert ground.verdict("move_file", "sub/HEAD", mode=mode) == "ask"
    assert ground.verdict("edit_file", "sub/head", allow=["Edit(./**)"], mode=mode, bypass=True) == "ask"
    assert ground.verdict("write_file", "src/head/index.ts", mode=mode) == "allow"


@pytest.mark.parametrize("name", ["config", "config.worktree", "commondir", "hooks/post-checkout", "hooks"])
def test_what_git_obeys_in_a_repository_without_git_folder_asks(ground: AgentContext, name: str) -> None:
    assert ground.verdict("write_file", f"src/{name}", mode="acceptEdits") == "allow"
    (ground.ws / "src" / "HEAD").write_text("ref: refs/heads/main")
    for folder in ("objects", "refs"):
        (ground.ws / "src" / folder).mkdir()
    assert ground.verdict("write_file", f"src/{name}", mode="acceptEdits") == "ask"
    assert ground.verdict("write_file", "src/description", mode="acceptEdits") == "allow"


@pytest.fixture
def short_names(ground: AgentContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that also knows `.vscode`, `.env` and `secrets.production` by the short names that Windows makes."""
    (ground.ws / ".vscode").mkdir()
    (ground.ws / ".env").write_text("KEY=1")
    (ground.ws / "secrets.production").write_text("KEY=1")
    real = os.lstat
    longer = {"VSCODE~1": ".vscode", "ENV~1": ".env", "SECRET~1.PRO": "secrets.production"}

    def lstat(path: str) -> os.stat_result:
        return real("/".join(longer.get(part, part) for part in os.fspath(path).split("/")))

    monkeypatch.setattr(os, "lstat", lstat)


@pytest.mark.usefixtures("short_names")
@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ("write_file", "VSCODE~1/tasks.json"),
        ("edit_file", "VSCODE~1/settings.json"),
        ("read_file", "ENV~1"),
        ("read_file", "SECRET~1.PRO"),
    ],
)
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "auto"])
def test_a_short_name_of_a_longer_one_asks(ground: AgentContext, tool: str, path: str, mode: Mode) -> None:
    assert ground.verdict(tool, path, mode=mode) == "ask"
    assert ground.verdict(tool, path, allow=["Edit", "Read", "Edit(./**)"], mode=mode) == "ask"


def test_a_file_that_is_really_named_like_a_short_name_does_not_ask(ground: AgentContext) -> None:
    (ground.ws / "backup~1.txt").write_text("x")
    (ground.ws / "notes.txt~").write_text("x")
    for path in ("backup~1.txt", "BACKUP~2", "notes.txt~", "missing~1.txt"):
        assert ground.verdict("read_file", path) == "allow"


def test_pipes_and_sockets_ask(ground: AgentContext, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(ground.ws / "pipe")
    monkeypatch.chdir(ground.ws)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("door")
        for name in ("pipe", "door"):
            assert ground.verdict("read", name, allow=["Read(./**)"], bypass=True) == "ask"
            assert ground.verdict("edit", name, allow=["Edit(./**)"], bypass=True) == "ask"


DEVICES = [
    "/proc/self/environ",
    "/proc",
    "/dev/stdin",
    "/dev/null",
    "/dev/fd/0",
    "/dev/tcp/example.com/80",
    "/proc/1/root/etc",
]


@pytest.mark.parametrize("path", DEVICES)
def test_the_kernels_own_trees_ask_whatever_is_set(ground: AgentContext, path: str) -> None:
    allow = ["Read(//**)", "Edit(//**)", "Read(//proc/**)", "Edit(//dev/**)"]
    assert ground.verdict("read", path, allow, mode="auto", bypass=True) == "ask"
    assert ground.verdict("edit", path, allow, mode="auto", bypass=True) == "ask"


def test_files_in_memory_are_ordinary_files(ground: AgentContext) -> None:
    assert ground.verdict("read", "/dev/shm/a", ["Read(//dev/shm/**)"]) == "allow"


def test_a_path_that_grows_too_long_is_refused(ground: AgentContext) -> None:
    deep = f"{ground.ws}/" + "d/" * 2020
    assert ground.judge().resolve("x" * 200, cwd=deep).refused is not None
    (ground.ws / "l").symlink_to("d/" * 2040 + "d")
    assert ground.verdict("read", "l/" + "x" * 100) == "ask"


def test_a_path_of_very_many_parts_is_refused(ground: AgentContext) -> None:
    assert ground.verdict("read", "d/" * 100 + "x") == "allow"
    for path in ("d/" * 300 + "x", "./" * 300 + "x", "d/" * 200 + "x/../" * 100):
        assert ground.judge().resolve(path, cwd=str(ground.ws)).refused == "it has more than 256 parts"
        assert ground.verdict("read", path, ["Read"]) == "deny"


def test_a_file_with_several_names_asks_before_it_is_read_or_changed(ground: AgentContext) -> None:
    os.link(ground.out / "dir" / "x", ground.ws / "same")
    assert ground.verdict("read", "same") == "ask"
    assert ground.verdict("read", "same", allow=["Read(./**)"], mode="auto") == "ask"
    assert ground.verdict("read", "same", allow=["Read(./same)"]) == "allow"
    assert ground.verdict("edit", "same", allow=["Edit(./**)"], mode="auto", bypass=True) == "ask"
    assert ground.verdict("delete_file", "same", allow=["Edit(./**)"]) == "allow"


# --- the workspace itself --------------------------------------------------------------------------------------------


def test_a_workspace_opened_by_a_link_is_both_of_its_spellings(ground: AgentContext, tmp_path: Path) -> None:
    (tmp_path / "opened").symlink_to(ground.ws)
    opened = str(tmp_path / "opened")
    for path in ("src/a.py", f"{opened}/src/a.py", f"{ground.ws}/src/a.py"):
        assert ground.verdict("read", path, workspace=opened) == "allow"
        assert ground.verdict("edit", path, allow=["Edit(./src/**)"], workspace=opened) == "allow"
        assert ground.verdict("read", path, deny=["Read(./src/**)"], workspace=opened) == "deny"
    assert ground.verdict("write", f"{opened}/.git/config", allow=["Edit(./**)"], workspace=opened) == "ask"


def test_a_workspace_that_is_not_there_is_judged_by_its_text(ground: AgentContext, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    assert ground.verdict("read", "a/b", workspace=gone) == "allow"
    assert ground.verdict("read", "../b", workspace=gone) == "ask"


def test_additional_directories_are_read_freely_but_not_beside_them(ground: AgentContext) -> None:
    more = {"additional_directories": (str(ground.out / "dir"),)}
    assert ground.verdict("read", "{out}/dir/x", **more) == "allow"
    assert ground.verdict("read", "{out}/dir2/x", **more) == "ask"
    assert ground.verdict("read", "{out}/other", **more) == "ask"
    assert ground.verdict("edit", "{out}/dir/x", **more) == "ask"
    assert ground.verdict("edit", "{out}/dir/x", mode="acceptEdits", **more) == "ask"
    assert ground.verdict("edit", "{out}/dir/x", mode="auto", **more) == "allow"
    assert ground.verdict("edit", "{out}/dir/.git/x", mode="auto", bypass=True, **more) == "ask"
    assert ground.verdict("read", "{out}/dir/.env", mode="auto", **more) == "ask"


def test_our_own_places_are_denied_to_tools_even_in_an_additional_directory(ground: AgentContext) -> None:
    more = {"own_paths": (str(ground.out / "dir"),), "additional_directories": (str(ground.out),)}
    allow = ["Edit(//**)", "Read(//**)"]
    assert ground.verdict("edit", "{out}/dir/x", allow, mode="auto", bypass=True, **more) == "deny"
    assert ground.verdict("edit", "{out}/DIR/x", allow, mode="auto", bypass=True, **more) == "deny"
    assert ground.verdict("read", "{out}/dir/x", allow, mode="auto", **more) == "deny"
    assert ground.verdict("read", "{out}/dir/x", allow, bypass=True, **more) == "allow"
    (ground.ws / "l").symlink_to(ground.out / "dir")
    assert ground.verdict("edit", "l/new", allow, mode="auto", bypass=True, **more) == "deny"


def test_a_workspace_inside_our_own_places_is_still_the_persons(ground: AgentContext) -> None:
    more = {"own_paths": (str(ground.ws.parent), str(ground.ws / "env"))}
    assert ground.verdict("edit", "src/a.py", ["Edit(./**)"], **more) == "allow"
    assert ground.verdict("edit", "env/x", ["Edit(./**)"], **more) == "deny"
    assert ground.verdict("edit", "{out}/dir/x", ["Edit(//**)"], **more) == "deny"


def test_where_everybodys_programs_lie_is_our_own_for_writing_only(ground: AgentContext) -> None:
    assert ground.verdict("read", "/usr/include/nothing.h", ["Read(//usr/**)"], own_paths=("/usr",)) == "allow"
    assert ground.verdict("edit", "/usr/include/nothing.h", ["Edit(//usr/**)"], own_paths=("/usr",)) == "deny"


ROOTS = ["/", "~/", "{home}", "{ws}", ".", "./", "..", "../..", "/home/somebody", "/root", "C:\\", "src/.."]


@pytest.mark.parametrize("path", ROOTS)
def test_removing_a_root_asks_whatever_is_set(ground: AgentContext, path: str) -> None:
    for tool in ("delete_file", "move_file"):
        assert ground.verdict(tool, path, allow=["Edit(//**)", "Edit(./**)"], mode="auto", bypass=True) == "ask"


# --- secrets ---------------------------------------------------------------------------------------------------------

SECRETS = [
    # rules that allow, path, verdict in default, in auto, under bypass
    ([], ".env", "ask", "ask", "allow"),
    (["Read"], ".env", "ask", "ask", "allow"),
    (["Read(./**)"], ".env", "ask", "ask", "allow"),
    (["Read(**)"], "a/.env", "ask", "ask", "allow"),
    (["Read(*)"], ".env", "ask", "ask", "allow"),
    (["Read(.*)"], ".env", "ask", "ask", "allow"),
    (["Read(./conf/**)"], "conf/.env.prod", "ask", "ask", "allow"),
    (["Read(.env)"], ".env", "allow", "allow", "allow"),
    (["Read(./.env)"], ".env", "allow", "allow", "allow"),
    (["Read(.env*)"], "a/.env.prod", "allow", "allow", "allow"),
    (["Read(.env.*)"], "a/.env.prod", "allow", "allow", "allow"),
    (["Read(*.prod)"], "a/.env.prod", "ask", "ask", "allow"),
    (["Read(*.pem)"], "a/k.pem", "allow", "allow", "allow"),
    (["Read(./a/*)"], "a/k.pem", "ask", "ask", "allow"),
    (["Read(k.*)"], "a/k.pem", "ask", "ask", "allow"),
    (["Edit(.env)"], ".env", "ask", "ask", "allow"),
    ([], "~/.ssh/config", "ask", "ask", "ask"),
    (["Read(~/**)"], "~/.ssh/config", "ask", "ask", "ask"),
    (["Read(//**)"], "~/.ssh/config", "ask", "ask", "ask"),
    (["Read(~/.ssh/**)"], "~/.ssh/config", "allow", "allow", "allow"),
    (["Read(~/.ssh/config)"], "~/.ssh/config", "allow", "allow", "allow"),
    (["Read(~/.config/**)"], "~/.config/gh/hosts.yml", "ask", "ask", "ask"),
    (["Read(~/.config/gh/**)"], "~/.config/gh/hosts.yml", "allow", "allow", "allow"),
    ([], "~/.netrc", "ask", "ask", "ask"),
    ([], "~/.AWS/credentials", "ask", "ask", "ask"),
    ([], "~/.gnupg/x", "ask", "ask", "ask"),
    ([], "~/.kube/config", "ask", "ask", "ask"),
    ([], "~/.config/gcloud/x", "ask", "ask", "ask"),
    ([], "~/.git-credentials", "ask", "ask", "ask"),
    ([], "~/.docker/config.json", "ask", "ask", "ask"),
    ([], "~/.docker/other.json", "ask", "allow", "allow"),
    ([], "~/x", "ask", "allow", "allow"),
]


@pytest.mark.parametrize(("allow", "path", "default", "auto", "bypassed"), SECRETS)
def test_a_secret_is_read_only_where_a_rule_names_it(
    ground: AgentContext, allow: list[str], path: str, default: str, auto: str, bypassed: str
) -> None:
    given = (
        ground.verdict("read", path, allow),
        ground.verdict("read", path, allow, mode="auto"),
        ground.verdict("read", path, allow, bypass=True),
    )
    assert given == (default, auto, bypassed)


# --- rules -----------------------------------------------------------------------------------------------------------

RULES = [
    # allow, deny, ask, tool, path, verdict
    ([], ["Read(./private/**)"], [], "read", "private/a", "deny"),
    ([], ["Read(./private/**)"], [], "read", "PRIVATE/a", "deny"),
    ([], ["Read(./private/**)"], [], "read", "private", "deny"),
    ([], ["Read(./private/**)"], [], "read", "private./a", "deny"),
    ([], ["Read(./private/**)"], [], "list_dir", "private", "deny"),
    (["Edit(./**)"], ["Read(./private/**)"], [], "write", "private/a", "deny"),
    (["Edit(./**)"], ["Read(./private/**)"], [], "delete_file", "private", "deny"),
    (["Edit(./**)"], ["Edit(./src/deep/**)"], [], "delete_file", "src", "ask"),
    (["Edit(./**)"], ["Edit(./src/a.py)"], [], "read", "src/a.py", "allow"),
    (["Edit(./**)"], [], ["Edit(./src/a.py)"], "edit", "src/a.py", "ask"),
    (["Edit(./**)"], [], ["Edit(./SRC/**)"], "edit", "src/a.py", "ask"),
    (["Edit(./SRC/**)"], [], [], "edit", "src/a.py", "ask"),
    ([], ["Read(caf\u00e9)"], [], "read", "cafe\u0301", "deny"),
    ([], ["Read(cafe\u0301)"], [], "read", "caf\u00e9", "deny"),
    ([], ["Read(/{out}/**)"], [], "read", "../out/dir/x", "deny"),
    ([], ["Read(~/**)"], [], "read", "{home}/x", "deny"),
    ([], ["Read(x)"], [], "read", "{out}/dir/x", "deny"),
    ([], ["Read"], [], "read", "src/a.py", "deny"),
    (["Edit(./**)"], ["Read"], [], "edit", "src/a.py", "deny"),
    ([], [], ["Read"], "read", "src/a.py", "ask"),
    (["Edit(./**)"], ["Read(a[)"], [], "read", "src/a.py", "ask"),
    (["Edit(./**)"], ["Read(a[)"], [], "edit", "src/a.py", "ask"),
    (["Edit(./**)"], ["Edit(a[)"], [], "edit", "src/a.py", "ask"),
    (["Edit(./**)"], ["Edit(a[)"], [], "read", "src/a.py", "allow"),
    (["Edit(./**)"], ["(("], [], "edit", "src/a.py", "ask"),
    (["Edit(./**)"], ["(("], [], "read", "src/a.py", "allow"),
    (["Edit(a[)"], [], [], "edit", "src/a.py", "ask"),
    (["Edit(!x)", "Edit(./src)"], [], [], "edit", "src/a.py", "allow"),
    (["Edit(./**)"], ["*"], [], "edit", "src/a.py", "deny"),
    (["Write(./src/**)"], [], [], "write", "src/n", "allow"),
    (["Edit(*.{{py,ts}})"], [], [], "edit", "src/a.py", "ask"),
    (["Edit(./**)"], ["Edit(*.{{py,ts}})"], [], "edit", "src/a.py", "deny"),
]


@pytest.mark.parametrize(("allow", "deny", "ask", "tool", "path", "expected"), RULES)
def test_rules_about_paths(
    ground: AgentContext, allow: list[str], deny: list[str], ask: list[str], tool: str, path: str, expected: str
) -> None:
    assert ground.verdict(tool, path, allow, deny, ask) == expected


BELOW = [
    ("Read(*.key)", "src", True),
    ("Read(./private/**)", "src", False),
    ("Read(./private/**)", ".", True),
    ("Read(./private/**)", "..", True),
    ("Read(./private/**)", "private/x", True),
    ("Read(~/.cache/**)", "{home}", True),
    ("Read(~/.cache/**)", "/", True),
    ("Read(~/.cache/**)", ".", False),
    ("Read(/{out}/**)", "{out}", True),
    ("Edit(./private/**)", ".", False),
]


@pytest.mark.parametrize(("rule", "folder", "held"), BELOW)
def test_a_folder_may_hold_what_a_rule_denies(ground: AgentContext, rule: str, folder: str, held: bool) -> None:
    judge = ground.judge(RuleText("deny", ground.filled(rule)))
    folder = ground.filled(folder)
    assert (judge.may_hold_ruled(folder, cwd=str(ground.ws)) is not None) is held
    finding = judge.judge_read(folder, cwd=str(ground.ws), below=True)
    assert (finding.ask is not None or finding.deny is not None) is held


def test_reading_all_of_the_home_would_read_its_secrets(ground: AgentContext) -> None:
    judge = ground.judge(RuleText("allow", "Read(~/**)"), RuleText("allow", "Read(//**)"))
    for folder in (str(ground.home), str(ground.home.parent), "/", f"{ground.home}/.config", f"{ground.home}/.ssh"):
        finding = judge.judge_read(folder, cwd=str(ground.ws), below=True)
        assert finding.requires_ask is not None
        assert (finding.allow, finding.auto_lifts) == (None, False)


def test_a_rule_for_a_folder_alone_does_not_cover_what_lies_below(ground: AgentContext) -> None:
    shallow = ground.judge(RuleText("allow", f"Read(/{ground.out}/*)"))
    deep = ground.judge(RuleText("allow", f"Read(/{ground.out}/**)"))
    folder = str(ground.out / "dir")
    assert shallow.judge_read(folder, cwd="/").allow is not None
    assert shallow.judge_read(folder, cwd="/", below=True).allow is None
    assert deep.judge_read(folder, cwd="/", below=True).allow is not None


PROPOSED = [
    # path, the exact rule, wider ones
    ("src/a.py", "Edit(./src/a.py)", ("Edit(./src/*.py)", "Edit(./src/**)")),
    ("src/deep/b[1].py", "Edit(./src/deep/b\\[1\\].py)", ("Edit(./src/deep/*.py)", "Edit(./src/deep/**)")),
    ("{ws}/README", "Edit(./README)", ()),
    ("{home}/x", "Edit(~/x)", ()),
    ("{out}/dir/x", "Edit(/{out}/dir/x)", ("Edit(/{out}/dir/**)",)),
    (".env", "Edit(./.env)", ()),
    ("a b/c.txt", "Edit(./a\\ b/c.txt)", ("Edit(./a\\ b/*.txt)", "Edit(./a\\ b/**)")),
    (".", None, ()),
    ("", None, ()),
]


@pytest.mark.parametrize(("path", "exact", "wider"), PROPOSED)
def test_a_rule_is_proposed_that_covers_exactly_this_path(
    ground: AgentContext, path: str, exact: str | None, wider: tuple[str, ...]
) -> None:
    judge, path = ground.judge(), ground.filled(path)
    assert judge.exact_rule("Edit", path, cwd=str(ground.ws)) == (ground.filled(exact) if exact else None)
    assert judge.wider_rules("Edit", path, cwd=str(ground.ws)) == tuple(map(ground.filled, wider))
    for rule in filter(None, (judge.exact_rule("Edit", path, cwd=str(ground.ws)), *wider)):
        allowing = ground.judge(RuleText("allow", ground.filled(rule)))
        assert allowing.judge_write(path, cwd=str(ground.ws)).allow is not None


def test_a_deny_rule_holds_where_the_disk_does_not_mind_the_case_of_the_workspace(ground: AgentContext) -> None:
    shouted = str(ground.ws).upper()
    assert ground.verdict("read", f"{shouted}/private/a", mode="auto") == "allow"
    assert ground.verdict("read", f"{shouted}/private/a", deny=["Read(./private/**)"], mode="auto") == "deny"
    assert ground.verdict("read", f"{str(ground.home).upper()}/.ssh/config", mode="auto") == "ask"
    assert ground.verdict("edit", f"{str(ground.home).upper()}/.bashrc", ["Edit(//**)"], bypass=True) == "ask"


def test_a_path_through_a_link_has_no_rule_of_its_own(ground: AgentContext) -> None:
    (ground.ws / "l").symlink_to("src")
    assert ground.judge().exact_rule("Edit", "l/a.py", cwd=str(ground.ws)) is None


def test_a_relative_path_counts_from_the_working_folder(ground: AgentContext) -> None:
    judge = ground.judge()
    assert judge.inside_workspace("a.py", cwd=str(ground.ws / "src"))
    assert judge.inside_workspace("a.py", cwd="src")
    assert not judge.inside_workspace("../../x", cwd="src")
    assert not judge.inside_workspace("a.py", cwd=str(ground.out))


def test_what_is_protected_or_secret_comes_with_its_reason(ground: AgentContext) -> None:
    judge = ground.judge()
    assert "git runs" in (judge.is_protected(".git/x", cwd=str(ground.ws)) or "")
    assert judge.is_protected("src/a.py", cwd=str(ground.ws)) is None
    assert judge.is_secret("k.pem", cwd=str(ground.ws))
    assert judge.is_secret("k.txt", cwd=str(ground.ws)) is None
