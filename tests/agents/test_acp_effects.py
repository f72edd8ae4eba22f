"""What a foreign call would touch, worked out from what the agent said of it.

A weaker effect than the true one would be a wrong allow, so every way of understating a call that anybody thought of
stays in these tables.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.agents.acp.command_shapes import MOVES_SHELL
from countersign.agents.acp.effects import Touch, show, work_out
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.translate import ToolReport
from countersign.gate.call import Effect, FetchUrl, ReadPath, RunCommand, UseTool, WritePath

HOME = "/home/me"


def touch(workspace: Path, *said: dict, moved: bool = False) -> tuple[Touch, ToolReport, AgentContext]:
    report = ToolReport("a")
    for raw in said:
        report = report.merged(raw)
    ground = AgentContext(str(workspace), HOME, shell_moved=moved, runs_bash=True)
    return work_out(report, ground), report, ground


def diff(path: str, new: str | None, old: str | None = None) -> dict:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


UNDERSTOOD = [
    ("a command", {"kind": "execute", "rawInput": {"command": "ls"}}, [RunCommand("ls", "{ws}", own_text=True)]),
    (
        "a command that claims to search",
        {"kind": "search", "rawInput": {"command": "ls"}},
        [RunCommand("ls", "{ws}", own_text=True)],
    ),
    (
        "a command that claims to read",
        {"kind": "read", "rawInput": {"command": "rm x"}},
        [RunCommand("rm x", "{ws}", own_text=True)],
    ),
    (
        "a command of words",
        {"kind": "execute", "rawInput": {"command": ["rm", "-f", "$a"]}},
        [RunCommand("rm -f '$a'", "{ws}", own_text=True)],
    ),
    (
        "a command elsewhere",
        {"kind": "execute", "rawInput": {"command": "ls", "cwd": "sub"}},
        [RunCommand("ls", "{ws}/sub", own_text=True)],
    ),
    (
        "a command with words about it",
        {"kind": "execute", "rawInput": {"command": "ls", "description": "look", "timeout": 5}},
        [RunCommand("ls", "{ws}", own_text=True)],
    ),
    (
        "a whole file",
        {"kind": "edit", "rawInput": {"file_path": "a.txt", "content": "x"}},
        [WritePath("{ws}/a.txt", "create")],
    ),
    (
        "a whole file that claims to be read",
        {"kind": "read", "rawInput": {"file_path": "a.txt", "content": "x"}},
        [WritePath("{ws}/a.txt", "create")],
    ),
    (
        "an edit",
        {"kind": "edit", "rawInput": {"path": "{ws}/old.txt", "oldText": "a", "newText": "b"}},
        [WritePath("{ws}/old.txt", "edit")],
    ),
    (
        "several edits",
        {"kind": "edit", "rawInput": {"path": "old.txt", "edits": [{"old_text": "a", "new_text": "b"}]}},
        [WritePath("{ws}/old.txt", "edit")],
    ),
    (
        "a diff and no input",
        {"kind": "edit", "content": [diff("{ws}/old.txt", "b")]},
        [WritePath("{ws}/old.txt", "edit")],
    ),
    (
        "a patch as other",
        {"kind": "other", "content": [diff("{ws}/old.txt", "b")]},
        [WritePath("{ws}/old.txt", "edit")],
    ),
    ("a file to read", {"kind": "read", "rawInput": {"path": "old.txt", "limit": 3}}, [ReadPath("{ws}/old.txt")]),
    ("a read with nothing but a location", {"kind": "read", "locations": [{"path": "a"}]}, [ReadPath("{ws}/a")]),
    ("a folder to read", {"kind": "read", "rawInput": {"path": "sub"}}, [ReadPath("{ws}/sub", below=True)]),
    ("a file to delete", {"kind": "delete", "rawInput": {"path": "old.txt"}}, [WritePath("{ws}/old.txt", "delete")]),
    (
        "a move",
        {"kind": "move", "rawInput": {"source": "old.txt", "destination": "b.txt"}},
        [WritePath("{ws}/old.txt", "move"), WritePath("{ws}/b.txt", "move")],
    ),
    (
        "an address",
        {"kind": "fetch", "rawInput": {"url": "https://x.org/a", "prompt": "what"}},
        [FetchUrl("https://x.org/a")],
    ),
    (
        "an MCP tool",
        {"kind": "other", "name": "mcp__git_hub__get_it", "rawInput": {"path": "x", "more": {"a": 1}}},
        [UseTool("mcp__git_hub__get_it", server="git_hub"), ReadPath("{ws}/x", mentioned=True)],
    ),
    (
        "an MCP tool named in the adapter's own notes",
        {"kind": "other", "_meta": {"anyAgent": {"toolName": "mcp__s__t"}}, "rawInput": {}},
        [UseTool("mcp__s__t", server="s")],
    ),
    (
        "an MCP tool that runs a command",
        {"kind": "other", "name": "mcp__s__run", "rawInput": {"command": "rm x"}},
        [RunCommand("rm x", "{ws}", own_text=True), UseTool("mcp__s__run", server="s")],
    ),
    (
        "a path in the home",
        {"kind": "edit", "rawInput": {"path": "~/x", "content": ""}},
        [WritePath("/home/me/x", "create"), WritePath("{ws}/~/x", "create")],
    ),
    (
        "a path through a link",
        {"kind": "edit", "rawInput": {"path": "link/x", "content": ""}},
        [WritePath("{ws}/link/x", "create"), WritePath("{ws}/sub/deep/x", "create")],
    ),
    (
        "a path back out of a link",
        {"kind": "edit", "rawInput": {"path": "link/../x", "content": ""}},
        [WritePath("{ws}/x", "create"), WritePath("{ws}/sub/x", "create")],
    ),
    (
        "input and a diff of another file",
        {"kind": "edit", "rawInput": {"path": "a.txt", "content": "x"}, "content": [diff("/etc/passwd", "x")]},
        [WritePath("{ws}/a.txt", "create"), WritePath("/etc/passwd", "edit")],
    ),
    (
        "a command and a diff",
        {"kind": "execute", "rawInput": {"command": "ls"}, "content": [diff("a.txt", "x")]},
        [RunCommand("ls", "{ws}", own_text=True), WritePath("{ws}/a.txt", "create")],
    ),
    (
        "a read that names another file beside it",
        {"kind": "read", "rawInput": {"path": "old.txt"}, "locations": [{"path": "/etc/passwd"}]},
        [ReadPath("{ws}/old.txt"), ReadPath("/etc/passwd"), WritePath("/etc/passwd")],
    ),
]


def filled(effect: Effect, workspace: Path) -> Effect:
    given = {key: value.replace("{ws}", str(workspace)) if isinstance(value, str) else value
             for key, value in ((name, getattr(effect, name)) for name in effect.__slots__)}  # fmt: skip
    return type(effect)(**given)


def told(raw: object, workspace: Path) -> object:
    if isinstance(raw, str):
        return raw.replace("{ws}", str(workspace))
    if isinstance(raw, list):
        return [told(entry, workspace) for entry in raw]
    return {key: told(value, workspace) for key, value in raw.items()} if isinstance(raw, dict) else raw


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "old.txt").write_text("a\nb\n")
    (tmp_path / "link").symlink_to(tmp_path / "sub" / "deep")
    return tmp_path


@pytest.mark.parametrize(("said", "expected"), [row[1:] for row in UNDERSTOOD], ids=[row[0] for row in UNDERSTOOD])
def test_an_understood_call_has_exactly_these_effects(workspace: Path, said, expected):
    found, _, _ = touch(workspace, told(said, workspace))
    assert found.understood
    assert list(found.effects) == [filled(effect, workspace) for effect in expected]


NOT_UNDERSTOOD = [
    ("nothing at all", {}, []),
    ("only a title", {"kind": "other", "title": "Do it"}, []),
    ("only a kind that reads", {"kind": "read", "title": "a.txt"}, []),
    ("a command of words, one of which might be a command", {"rawInput": {"command": ["ls", "rm x"]}}, []),
    (
        "a command only in the title",
        {"kind": "execute", "title": "rm x"},
        [RunCommand("rm x", "{ws}", understood=False)],
    ),
    (
        "a command with a key nobody knows",
        {"kind": "execute", "rawInput": {"command": "ls", "sudo": True}},
        [RunCommand("ls", "{ws}", understood=False)],
    ),
    (
        "an editor that is told to view",
        {"kind": "read", "rawInput": {"command": "view", "path": "/etc/passwd"}},
        [RunCommand("view", "{ws}", understood=False), ReadPath("/etc/passwd"), WritePath("/etc/passwd")],
    ),
    (
        "two commands",
        {"kind": "execute", "rawInput": {"command": "ls", "cmd": "rm x"}},
        [RunCommand("ls", "{ws}", understood=False), RunCommand("rm x", "{ws}", understood=False)],
    ),
    ("a command as text", {"kind": "execute", "rawInput": "rm x"}, [RunCommand("rm x", "{ws}", understood=False)]),
    ("a command with its arguments apart", {"rawInput": {"command": "rm", "args": ["x"]}}, []),
    ("two folders", {"rawInput": {"command": "ls", "cwd": "a", "workdir": "/"}}, []),
    ("a path and a kind that says nothing", {"kind": "other", "rawInput": {"path": "a"}}, [WritePath("{ws}/a")]),
    ("a path without a kind", {"rawInput": {"path": "a"}}, [WritePath("{ws}/a")]),
    ("a path and a kind that edits", {"kind": "edit", "rawInput": {"path": "a"}}, [WritePath("{ws}/a")]),
    ("a read by a tool named for writing", {"kind": "read", "name": "WriteIt", "rawInput": {"path": "a"}}, []),
    ("a read that is told more", {"kind": "read", "rawInput": {"path": "a", "then": "delete"}}, [WritePath("{ws}/a")]),
    ("a search", {"kind": "search", "rawInput": {"pattern": "x", "path": "sub"}}, [ReadPath("{ws}/sub", below=True)]),
    ("a read that claims to edit", {"kind": "edit", "rawInput": {"url": "https://x.org"}}, [FetchUrl("https://x.org")]),
    ("an address of a file", {"kind": "fetch", "rawInput": {"url": "file:///etc/passwd"}}, []),
    ("an address with headers", {"rawInput": {"url": "https://x.org", "headers": {}}}, [FetchUrl("https://x.org")]),
    ("a fetch without an address", {"kind": "fetch", "rawInput": {"path": "a"}}, []),
    ("a change of mode", {"kind": "switch_mode", "rawInput": {"mode": "x"}}, []),
    ("a name of an MCP tool in the title", {"kind": "other", "title": "mcp__s__t", "rawInput": {"a": 1}}, []),
    (
        "a patch in a text with a line that no patch has",
        {"kind": "other", "rawInput": {"input": "*** Begin Patch\n*** Update File: b/c.py\nx\n*** End Patch"}},
        [WritePath("{ws}/b/c.py")],
    ),
    ("changes by file", {"rawInput": {"changes": {"/etc/hosts": {"type": "update"}}}}, [WritePath("/etc/hosts")]),
    ("a delete inside a list", {"rawInput": {"todo": [{"file_path": "/x", "remove": True}]}}, [WritePath("/x")]),
    (
        "a command behind the name of an MCP tool",
        {"kind": "execute", "name": "mcp__s__t", "rawInput": {"line": "rm x"}, "title": "rm x"},
        [UseTool("mcp__s__t", server="s"), RunCommand("rm x", "{ws}", understood=False)],
    ),
    (
        "two names of which one is no MCP tool's",
        {"kind": "other", "name": "Bash", "_meta": {"any": {"toolName": "mcp__s__t"}}, "rawInput": {}},
        [UseTool("mcp__s__t", server="s")],
    ),
    ("an execution that is none", {"kind": "execute", "rawInput": {"path": "a", "content": "x"}}, []),
]


@pytest.mark.parametrize(
    ("said", "hinted"), [row[1:] for row in NOT_UNDERSTOOD], ids=[row[0] for row in NOT_UNDERSTOOD]
)
def test_what_cannot_be_worked_out_is_external_and_keeps_its_hints(workspace: Path, said, hinted):
    found = touch(workspace, told(said, workspace))[0]
    assert not found.understood or any(isinstance(effect, UseTool) for effect in found.effects)
    assert found.category == "external"
    assert any(isinstance(effect, UseTool) and effect.name.startswith("acp:") for effect in found.effects)
    for effect in hinted:
        assert filled(effect, workspace) in found.effects
    assert not any(isinstance(effect, RunCommand) and effect.understood for effect in found.effects)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("~/.ssh/id_rsa", f"{HOME}/.ssh/id_rsa"),
        ("@~/.ssh/id_rsa", f"{HOME}/.ssh/id_rsa"),
        ("@~", HOME),
        ("file:~/x", f"{HOME}/x"),
        ("file:%7e/x", f"{HOME}/x"),
        ("@file:///etc/x", "/etc/x"),
        ("@/etc/x", "/etc/x"),
        ("file:///etc/a\u00a0b", "/etc/a b"),
        ("@/etc/a\u202fb", "/etc/a b"),
        ("held\u3000back/x", "{ws}/held back/x"),
        ("file:///etc/x%00", "/etc/x\0"),
    ],
)
@pytest.mark.parametrize("kind", ["read", "delete"])
def test_ways_to_read_a_path_count_one_behind_the_other(workspace: Path, path: str, meant: str, kind: str):
    found, _, _ = touch(workspace, {"kind": kind, "rawInput": {"path": path}})
    meant = meant.replace("{ws}", str(workspace))
    assert meant in {each.path for each in found.effects if isinstance(each, ReadPath | WritePath)}


def test_a_diff_that_came_before_the_request_counts(workspace: Path):
    earlier = {"kind": "edit", "title": "Edit", "content": [diff(str(workspace / "old.txt"), "x")]}
    found, _, _ = touch(workspace, earlier, {"title": "Edit files", "content": []})
    assert found.effects == (WritePath(str(workspace / "old.txt")),)


JOINED = {
    "the folder of a command before the command": (
        [{"kind": "execute", "rawInput": {"cwd": "{ws}"}}, {"rawInput": {"command": "ls"}}],
        [RunCommand("ls", "{ws}", own_text=True)],
    ),
    "another folder of a command before the command": (
        [{"kind": "execute", "rawInput": {"cwd": "/etc"}}, {"rawInput": {"command": "ls"}}],
        [RunCommand("ls", "/etc", own_text=True), RunCommand("ls", "{ws}", own_text=True)],
    ),
    "the folder of a command after the command": (
        [{"kind": "execute", "rawInput": {"command": "ls"}}, {"rawInput": {"workdir": "/etc"}}],
        [RunCommand("ls", "{ws}", own_text=True), RunCommand("ls", "/etc", own_text=True)],
    ),
    "the folder of a command, then the command with folders that stand in it": (
        [{"kind": "execute", "rawInput": {"cwd": "{ws}"}, "locations": [{"path": "{ws}"}]},
         {"kind": "other", "rawInput": {"command": "cd /etc", "directories": ["/etc"], "patterns": ["/etc/*"]},
          "locations": [{"path": "/etc"}]},
         {"kind": "execute", "rawInput": {"command": "cd /etc", "description": "Goes", "cwd": "{ws}"}}],
        [RunCommand("cd /etc", "{ws}", own_text=True)],
    ),
    "the method of a fetch after its address": (
        [{"kind": "fetch", "rawInput": {"url": "https://x.org"}}, {"rawInput": {"method": "POST"}}],
        [FetchUrl("https://x.org", "GET"), FetchUrl("https://x.org", "POST")],
    ),
    "a file outside and its folder": (
        [{"kind": "other", "rawInput": {"filepath": "/etc/x", "parentDir": "/etc"},
          "locations": [{"path": "/etc/x"}, {"path": "/etc"}]}],
        [ReadPath("/etc/x"), WritePath("/etc/x")],
    ),
    "a file outside that was named before, and its folder": (
        [{"kind": "read", "rawInput": {"filePath": "/etc/x"}},
         {"kind": "other", "rawInput": {"filepath": "/etc/x", "parentDir": "/etc"}}],
        [ReadPath("/etc/x"), WritePath("/etc/x")],
    ),
    "a read of a file outside, whose folder was named before": (
        [{"kind": "other", "rawInput": {"filepath": "/etc/x", "parentDir": "/etc"},
          "locations": [{"path": "/etc/x"}, {"path": "/etc"}]},
         {"kind": "read", "rawInput": {"filePath": "/etc/x"}}],
        [ReadPath("/etc/x")],
    ),
    "a write of a file outside, whose folder was named before": (
        [{"kind": "other", "rawInput": {"filepath": "/etc/x", "parentDir": "/etc"}},
         {"kind": "edit", "rawInput": {"filePath": "/etc/x", "content": "a"}}],
        [WritePath("/etc/x", "create")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("said", "expected"), JOINED.values(), ids=JOINED)
def test_inputs_that_an_agent_sends_one_by_one_are_read_together(workspace: Path, said, expected):
    found, _, _ = touch(workspace, *(told(each, workspace) for each in said))
    assert found.understood
    assert set(found.effects) == {filled(effect, workspace) for effect in expected}


NOT_JOINED = {
    "a command beside other patterns": [
        {"kind": "execute", "rawInput": {"command": "ls", "directories": ["/etc"], "patterns": ["rm x"]}},
    ],
    "a command beside folders alone": [{"kind": "execute", "rawInput": {"command": "ls", "directories": ["rm x"]}}],
    "a key nobody knows beside a command": [{"rawInput": {"sudo": "yes"}}, {"rawInput": {"command": "ls"}}],
    "another command": [{"rawInput": {"command": "ls", "sudo": True}}, {"rawInput": {"command": "id", "cwd": "/"}}],
    "a path beside a command": [{"rawInput": {"path": "/etc/x"}}, {"rawInput": {"command": "ls"}}],
    "a patch beside a write": [
        {"rawInput": {"patch": "rm x"}},
        {"kind": "edit", "rawInput": {"path": "a", "content": "x"}},
    ],
    "a file inside and its folder": [{"kind": "other", "rawInput": {"path": "{ws}/a", "parentDir": "{ws}"}}],
    "a folder outside and the one above": [{"kind": "other", "rawInput": {"path": "/etc/ssl", "parentDir": "/etc"}}],
    "a file and another folder": [{"kind": "other", "rawInput": {"path": "/etc/x", "parentDir": "/usr"}}],
    "a file, its folder and more": [{"kind": "other", "rawInput": {"path": "/etc/x", "parentDir": "/etc", "do": "rm"}}],
    "a file and its folder, to delete": [{"kind": "delete", "rawInput": {"path": "/etc/x", "parentDir": "/etc"}}],
    "a file and its folder, for a command": [
        {"kind": "execute", "rawInput": {"path": "/etc/x", "parentDir": "/etc"}},
    ],
    "a file and its folder, for a tool that runs": [
        {"kind": "other", "name": "run", "rawInput": {"path": "/etc/x", "parentDir": "/etc"}},
    ],
    "two files and their folders": [
        {"kind": "other", "rawInput": {"path": "/etc/x", "parentDir": "/etc"}},
        {"kind": "other", "rawInput": {"path": "/usr/y", "parentDir": "/usr"}},
        {"kind": "execute", "rawInput": {"more": True}},
    ],
}


@pytest.mark.parametrize("said", NOT_JOINED.values(), ids=NOT_JOINED)
def test_inputs_that_do_not_make_one_are_not_understood(workspace: Path, said):
    found, _, _ = touch(workspace, *(told(each, workspace) for each in said))
    assert not found.understood
    assert any(isinstance(effect, UseTool) for effect in found.effects)


def test_an_edit_that_is_told_later_to_go_on_everywhere_is_shown_so(workspace: Path):
    edit = {"kind": "edit", "rawInput": {"path": "{ws}/old.txt", "old_string": "a", "new_string": "c"}}
    (workspace / "old.txt").write_text("a\na\n")
    found, report, ground = touch(workspace, told(edit, workspace), {"rawInput": {"replace_all": True}})
    shown = show(found, report, ground)[0]
    assert shown.kind == "diff"
    assert shown.new_text == "c\nc\n"


def test_a_request_cannot_hide_a_diff_behind_another(workspace: Path):
    found, _, _ = touch(workspace, {"content": [diff("/etc/passwd", "x")]}, {"content": [diff("a.txt", "x")]})
    assert WritePath("/etc/passwd") in found.effects


def test_a_request_cannot_hide_its_input_behind_an_empty_one(workspace: Path):
    found, _, _ = touch(workspace, {"rawInput": {"command": "rm x"}}, {"rawInput": {}})
    assert found.effects == (RunCommand("rm x", str(workspace), own_text=True),)


def test_in_a_shell_that_was_moved_a_command_is_only_hinted_at(workspace: Path):
    found, _, _ = touch(workspace, {"rawInput": {"command": "rm x"}}, moved=True)
    assert not found.understood
    assert RunCommand("rm x", str(workspace), understood=False, own_text=True) in found.effects


SHOWN = [
    ("a command", {"rawInput": {"command": "ls"}}, "command", None),
    ("a new file", {"rawInput": {"path": "new.txt", "content": "x\n"}}, "diff", (None, "x\n")),
    ("an overwrite", {"rawInput": {"path": "old.txt", "content": "x\n"}}, "diff", ("a\nb\n", "x\n")),
    ("an edit", {"rawInput": {"path": "old.txt", "old_string": "b", "new_string": "B"}}, "diff", ("a\nb\n", "a\nB\n")),
    ("a fragment", {"content": [diff("{ws}/old.txt", "B", "b")]}, "diff", ("a\nb\n", "a\nB\n")),
    ("a whole file as a diff", {"content": [diff("{ws}/old.txt", "n", "a\nb\n")]}, "diff", ("a\nb\n", "n")),
    ("an overwrite that hides the old text", {"content": [diff("{ws}/old.txt", "n")]}, "diff", ("a\nb\n", "n")),
    ("a false old text", {"content": [diff("{ws}/old.txt", "n", "no such text")]}, "tool", None),
    (
        "an edit that fits twice",
        {"rawInput": {"path": "twice.txt", "old_string": "x", "new_string": "y"}},
        "tool",
        None,
    ),
    (
        "an edit everywhere",
        {"rawInput": {"path": "twice.txt", "old_string": "x", "new_string": "y", "replace_all": True}},
        "diff",
        ("x\nx\n", "y\ny\n"),
    ),
    (
        "input and diff that differ",
        {"rawInput": {"path": "new.txt", "content": "good"}, "content": [diff("{ws}/new.txt", "bad")]},
        "tool",
        None,
    ),
    ("no text", {"rawInput": {"path": "binary", "content": "x"}}, "tool", None),
    ("two files", {"content": [diff("{ws}/a", "x"), diff("{ws}/b", "x")]}, "tool", None),
    (
        "a deletion behind a diff of the same file",
        {"kind": "delete", "rawInput": {"path": "old.txt"}, "content": [diff("{ws}/old.txt", "B", "b")]},
        "tool",
        None,
    ),
    (
        "a deletion that shows only a diff",
        {"kind": "delete", "content": [diff("{ws}/old.txt", "B", "b")]},
        "tool",
        None,
    ),
    (
        "a move that shows only an edit",
        {"kind": "move", "rawInput": {"path": "old.txt", "old_string": "b", "new_string": "B"}},
        "tool",
        None,
    ),
    ("an address", {"rawInput": {"url": "https://x.org"}}, "fetch", None),
    ("nobody knows", {"rawInput": {"a": {"b": [1]}}}, "tool", None),
]


@pytest.mark.parametrize(("said", "kind", "texts"), [row[1:] for row in SHOWN], ids=[row[0] for row in SHOWN])
def test_the_card_shows_the_true_change_or_everything_raw(workspace: Path, said, kind, texts):
    (workspace / "twice.txt").write_text("x\nx\n")
    (workspace / "binary").write_bytes(b"\xff\xfe")
    raw = told(said, workspace)
    preview, bound = show(*touch(workspace, raw))
    assert preview.kind == kind
    if texts is not None:
        assert (preview.old_text, preview.new_text) == texts
        assert [state.path for state in bound] == [preview.path]
    if kind == "tool" and "rawInput" in raw:
        assert preview.input["rawInput"] == raw["rawInput"]


@pytest.mark.parametrize(
    "raw", [{"rawInput": {"path": "a\0b", "content": "x"}}, {"kind": "read", "rawInput": {"path": "\0"}}]
)
def test_a_path_that_no_file_can_have_is_passed_on_to_be_refused(workspace: Path, raw):
    found, report, ground = touch(workspace, raw)
    assert any("\0" in effect.path for effect in found.effects if isinstance(effect, ReadPath | WritePath))
    assert show(found, report, ground)[0].kind in ("tool", "diff")


MOVING = ["cd sub", "true && cd ..", "(cd x)", ". env.sh", "source x", "PATH=/evil", "alias ls=rm", "ls() { rm x; }",
          "export A=b", "if true; then cd x; fi", "eval $X", "make\ncd x", "X=1; make", "'cd' x", "c\\d x",
          "$GO x", "A='b c'", "`x`"]  # fmt: skip
STAYING = ["ls", "make cd", "echo set up", "A=1 make", "git read-tree x", "cat export.txt", "./set"]


@pytest.mark.parametrize("command", MOVING)
def test_a_command_that_changes_its_shell_is_noticed(command: str):
    assert MOVES_SHELL.search(command)


@pytest.mark.parametrize("command", STAYING)
def test_a_command_that_leaves_its_shell_alone_is_not(command: str):
    assert not MOVES_SHELL.search(command)
