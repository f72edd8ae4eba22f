"""Inputs that agents send in shapes of their own are understood as the edits, reads and commands that they are.

Each row has the effects that the call must have to the last one; what is like it but not understood must ask in every
mode and still be found by deny rules.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.agents.acp.effects import show, work_out
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.translate import ToolReport
from countersign.gate import Effect, ReadPath, RunCommand, ToolCall, WritePath
from countersign.gate.decisions.decide import decide
from countersign.settings.policy import AgentConfig, Policy, RuleText

from .desk import Place
from .scripted_agent_fixture import Player, ask, done


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


UNIFIED = "--- a/seed.txt\n+++ b/seed.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n"
HUNK = "@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n"
SEED = WritePath("{ws}/seed.txt", "edit")
NEW = WritePath("{ws}/new.txt", "create")
EVENT = {"call_id": "a", "turn_id": "t", "started_at_ms": 5, "process_id": "1", "source": "agent",
         "auto_approved": False, "available_decisions": ["approved", "abort"], "parsed_cmd": [{"type": "unknown"}],
         "proposed_execpolicy_amendment": ["rm"]}  # fmt: skip
ADDED = patch("*** Add File: new.txt", "+x")
UPDATED = patch("*** Update File: seed.txt", "@@", " alpha", "-beta", "+BETA")

UNDERSTOOD: dict[str, tuple[dict, list[Effect]]] = {
    "a patch that adds": ({"kind": "edit", "rawInput": {"input": ADDED}}, [NEW]),
    "a patch that claims to be other": ({"kind": "other", "rawInput": {"patchText": ADDED}}, [NEW]),
    "a patch that updates": ({"kind": "edit", "rawInput": {"patch": UPDATED}}, [SEED]),
    "a patch that deletes": (
        {"kind": "edit", "rawInput": {"input": patch("*** Delete File: seed.txt")}},
        [WritePath("{ws}/seed.txt", "delete")],
    ),
    "a patch that moves": (
        {"kind": "edit", "rawInput": {"input": patch("*** Update File: seed.txt", "*** Move to: new.txt")}},
        [WritePath("{ws}/seed.txt", "move"), WritePath("{ws}/new.txt", "move")],
    ),
    "a patch of two files": (
        {"kind": "edit", "rawInput": {"input": patch("*** Add File: new.txt", "+x", "*** Delete File: seed.txt")}},
        [NEW, WritePath("{ws}/seed.txt", "delete")],
    ),
    "a unified diff": ({"kind": "edit", "rawInput": {"filepath": "seed.txt", "diff": UNIFIED}}, [SEED]),
    "changes by file": (
        {"kind": "edit", "rawInput": {"changes": {"seed.txt": {"type": "update", "unified_diff": HUNK}}}},
        [SEED],
    ),
    "files to read": (
        {"kind": "read", "rawInput": {"files": [{"path": "seed.txt"}, {"path": "b"}]}},
        [ReadPath("{ws}/seed.txt"), ReadPath("{ws}/b")],
    ),
    "paths to read": ({"kind": "read", "rawInput": {"paths": ["seed.txt"]}}, [ReadPath("{ws}/seed.txt")]),
    "a read by its location": ({"kind": "read", "locations": [{"path": "seed.txt"}]}, [ReadPath("{ws}/seed.txt")]),
    "a list of commands": (
        {"kind": "execute", "rawInput": {"commands": ["ls", "rm x"]}},
        [RunCommand("ls", "{ws}", own_text=True), RunCommand("rm x", "{ws}", own_text=True)],
    ),
    "a whole event of the agent": (
        {"kind": "execute", "rawInput": {**EVENT, "command": ["/bin/bash", "-lc", "rm x"], "cwd": "{ws}"}},
        [RunCommand("rm x", "{ws}", own_text=True)],
    ),
    "a patch in a whole event": (
        {"kind": "edit", "rawInput": {**EVENT, "changes": {"new.txt": {"type": "add", "content": "x"}}}},
        [NEW],
    ),
}
NOT_UNDERSTOOD: dict[str, tuple[dict, tuple[str, ...]]] = {
    "a patch with a line of its own": ({"input": patch("*** Add File: new.txt", "+x", "run me")}, ("Edit(new.txt)",)),
    "a patch with another key": ({"input": ADDED, "then": "rm y"}, ("Edit(new.txt)", "Bash(rm:*)")),
    "a diff of another file": ({"filepath": "b.txt", "diff": UNIFIED}, ("Edit(seed.txt)", "Edit(b.txt)")),
    "changes of an unknown type": ({"changes": {"seed.txt": {"type": "chmod"}}}, ("Edit(seed.txt)",)),
    "files to read and a command": ({"files": [{"path": "seed.txt"}], "command": "rm y"}, ("Bash(rm:*)",)),
    "files that do more": ({"files": [{"path": "seed.txt", "run": "rm y"}]}, ("Bash(rm:*)", "Read(seed.txt)")),
    "an event of another call": ({**EVENT, "call_id": "b", "command": "rm y"}, ("Bash(rm:*)",)),
    "a list that is no command": ({"commands": ["ls", {"rm": "y"}], "more": "rm y"}, ("Bash(rm:*)",)),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = (tmp_path / "ws").resolve()
    made.mkdir()
    (made / "seed.txt").write_text("alpha\nbeta\ngamma\n")
    return made


def filled(value, workspace: Path):
    match value:
        case str():
            return value.replace("{ws}", str(workspace))
        case list():
            return [filled(each, workspace) for each in value]
        case dict():
            return {key: filled(each, workspace) for key, each in value.items()}
        case _:
            return value


def verdict(said: dict, workspace: Path, *rules: tuple[str, str], mode: str = "default", bypass: bool = False) -> str:
    report = ToolReport("a").merged(filled(said, workspace))
    ground = AgentContext(str(workspace), "/home/me", runs_bash=True)
    touch = work_out(report, ground)
    preview, bound = show(touch, report, ground)
    call = ToolCall("a", "t", "u", "X", f"acp:{report.tool_kind}", {}, report.tool_kind, touch.category,
                    touch.effects, preview, str(workspace), bound=bound)  # fmt: skip
    given = Policy(str(workspace), "/home/me", trusted=True, rules=tuple(RuleText(*rule) for rule in rules),
                   agents={"X": AgentConfig("X", "acp", bypass=bypass)})  # fmt: skip
    return decide(call, given, [mode], check_syntax=lambda text: None).verdict  # type: ignore[list-item]


@pytest.mark.parametrize(("said", "effects"), UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_a_known_shape_has_exactly_these_effects(workspace: Path, said: dict, effects: list[Effect]):
    report = ToolReport("a").merged(filled(said, workspace))
    touch = work_out(report, AgentContext(str(workspace), "/home/me", runs_bash=True))
    expected = [repr(effect).replace("{ws}", str(workspace)) for effect in effects]
    assert (touch.understood, [repr(effect) for effect in touch.effects]) == (True, expected)


@pytest.mark.parametrize(("said", "effects"), UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_rules_and_modes_decide_it_as_any_other_call(workspace: Path, said: dict, effects: list[Effect]):
    for effect in effects:
        match effect:
            case WritePath(path=path, operation=operation):
                name = path.removeprefix("{ws}/")
                assert verdict(said, workspace, ("deny", f"Edit({name})"), ("allow", "Edit")) == "deny"
                assert verdict(said, workspace, mode="plan") == "deny"
                if operation in ("create", "edit") and len(effects) == 1:
                    assert verdict(said, workspace) == "ask"
                    assert verdict(said, workspace, ("allow", f"Edit({name})")) == "allow"
                    assert verdict(said, workspace, mode="acceptEdits") == "allow"
            case ReadPath(path=path):
                assert verdict(said, workspace, ("deny", f"Read({path.removeprefix('{ws}/')})")) == "deny"
                assert verdict(said, workspace) == "allow"
            case RunCommand(command=command):
                assert verdict(said, workspace, ("deny", f"Bash({command})"), ("allow", "Bash")) == "deny"
                assert verdict(said, workspace) == "ask"
    assert verdict(said, workspace, bypass=True) == "allow"


@pytest.mark.parametrize("kind", ["edit", "read", "other", "execute"])
@pytest.mark.parametrize(("raw", "rules"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_what_only_looks_like_one_asks_and_deny_rules_find_it(workspace: Path, raw: dict, rules: tuple, kind: str):
    said = {"kind": kind, "rawInput": raw}
    for mode in ("default", "acceptEdits"):
        assert verdict(said, workspace, mode=mode) == "ask"
    for rule in rules:
        assert verdict(said, workspace, ("deny", rule)) == "deny"


@pytest.mark.parametrize(
    "more",
    [
        {"PATH": ".env"},
        {"File_Path": ".env"},
        {"where": "{ws}/.env"},
        {"where": "file:{ws}/.env"},
        {"where": ["FILE://LOCALHOST{ws}/.env"]},
        {"path": "file://{ws}/.env"},
        {"path": "file:/{ws}/.env"},
        {"path": "file:///{ws}/%2eenv"},
        {"path": "file://machine{ws}/.env"},
        {"path": "file:.env"},
        {"path": ".env#L1"},
        {"path": ".env#L1-L9"},
        {"path": ".env?raw=1"},
        {"path": ".env?x=1#y"},
        {"path": ".env:3"},
        {"path": ".env:3:1"},
        {"path": "file://{ws}/.env#L1"},
        {"path": "file://{ws}/.env?x"},
        {"path": "file://{ws}/%2Eenv#L1"},
        {"where": "{ws}/.env#L1"},
        {"where": "vscode://file{ws}/.env:1:2"},
        {"where": "vscode://file{ws}/.env?line=1"},
        {"path": "%2eenv"},
        {"path": " .env "},
        {"path": "'.env'"},
        {"path": "<.env>"},
        {"where": "./.env"},
        {"where": ".env"},
        {"where": '".env"'},
        {"where": "--file=.env"},
        {"where": "-f=./.env"},
        {"where": "file=./.env"},
        {"where": "src/../.env"},
        {"file_name": " .env "},
        {"outputPath": ".env"},
        {"source-uri": "@.env"},
        {"args": ["--config", ".env"]},
        {"where": ".\\.env"},
        {"where": "$PWD/.env"},
        {"where": "${PWD}/.env"},
        {"where": "${workspaceFolder}/.env"},
        {"where": "sub/../.env", "path": "./sub/../.env"},
    ],
)
def test_a_path_given_to_another_server_counts_under_any_key(more: dict, workspace: Path) -> None:
    said = {"kind": "read", "name": "mcp__fs__read", "rawInput": filled(more, workspace)}
    assert verdict(said, workspace, ("deny", "Read(.env)"), ("allow", "mcp__fs__read"), bypass=True) == "deny"
    assert verdict(said, workspace, ("allow", "mcp__fs__read")) == "ask"
    unknown = {"kind": "other", "name": "open_it", "rawInput": filled(more, workspace)}
    assert verdict(unknown, workspace, ("deny", "Read(.env)"), bypass=True) == "deny"


@pytest.mark.parametrize(
    "raw",
    [
        {"files": {".env": True}},
        {"files": {"secrets/k": True}},
        {"cwd": "secrets", "path": "k"},
        {"root": "secrets", "leaf": "k"},
        {"segments": ["secrets", "k"]},
        {"paths": "a.txt,secrets/k"},
        {"paths": "a.txt secrets/k"},
        {"x": "a.txt\nsecrets/k"},
        {"args": "--path secrets/k"},
        {"args": ["-fsecrets/k"]},
        {"args": ["file=secrets/k"]},
        {"args": ["--file:secrets/k"]},
        {"uri": "file://secrets/k"},
        {"uri": "repo://secrets/k"},
        {"uri": "fs:secrets/k"},
        {"uri": "jar:file:{ws}/secrets/k!/x"},
        {"revision": "HEAD:secrets/k"},
        {"x": "secrets%252Fk"},
        {"x": "@~/.aws/credentials"},
        {"x": "file://~/.aws/credentials"},
        {"x": "file://$HOME/.aws/credentials"},
        {"x": "$USERPROFILE/.aws/credentials"},
        {"x": "${env:USERPROFILE}/.aws/credentials"},
        {"x": "$env:HOME/.aws/credentials"},
        {"x": "~me/.aws/credentials"},
        {"x": "~+/secrets/k"},
        {"x": "$INIT_CWD/secrets/k"},
        {"x": "${workspaceFolder:ws}/secrets/k"},
        {"name": "server.pem"},
        {"key": "id_rsa"},
        {"query": "secrets/k"},
        {"path": "**/*"},
        {"paths": ["sec*/k"]},
        {"path": "."},
        {"path": "/proc/self/environ"},
        {"path": "/proc/self/cwd/secrets/k"},
        {"path": "/dev/mem"},
    ],
)
def test_a_file_named_in_other_words_asks_even_where_the_tool_is_allowed(raw: dict, workspace: Path) -> None:
    (workspace / "secrets").mkdir(exist_ok=True)
    said = {"kind": "other", "name": "mcp__fs__read", "rawInput": filled(raw, workspace)}
    rules = ("allow", "mcp__fs"), ("deny", "Read(./secrets/**)"), ("deny", "Read(.env)")
    assert verdict(said, workspace, *rules) in ("ask", "deny")
    assert verdict(said, workspace, *rules, mode="auto") in ("ask", "deny")


@pytest.mark.parametrize(
    "raw",
    [
        {"title": "Use server.pem and secrets/k"},
        {"body": "Put `.env` and secrets/k into .gitignore"},
        {"content": [{"type": "text", "text": "see secrets/k"}]},
        {"owner": "me", "repo": "held/secrets", "labels": ["a", "b"]},
        {"url": "https://example.org/secrets/k"},
        {"sql": "select a/b from c.d"},
        {"path": "src/a.py"},
    ],
)
def test_words_about_files_are_left_to_the_rule_for_the_tool(raw: dict, workspace: Path) -> None:
    said = {"kind": "other", "name": "mcp__fs__read", "rawInput": raw}
    rules = ("allow", "mcp__fs"), ("allow", "WebFetch"), ("deny", "Read(./secrets/**)"), ("deny", "Read(.env)")
    assert verdict(said, workspace, *rules) == "allow"


@pytest.mark.parametrize("path", ["held.txt", ".git/hooks/pre-commit", "sub/../.vscode/tasks.json"])
def test_a_tool_of_another_server_may_change_the_file_that_it_is_given(path: str, workspace: Path) -> None:
    for name, raw in (("mcp__fs__put", {"path": path, "data": "x"}), ("mcp__fs__put", {"where": f"./{path}"})):
        said = {"kind": "other", "name": name, "rawInput": raw}
        rules = ("deny", "Edit(held.txt)"), ("allow", "mcp__fs__*")
        for how in ({}, {"mode": "auto"}, {"bypass": True}):
            assert verdict(said, workspace, *rules, **how) == "ask"
        assert verdict(said, workspace, ("ask", "Edit(held.txt)"), bypass=True) == "ask"


@pytest.mark.parametrize("spelled", ["~", "$HOME", "${HOME}", "${env:HOME}", "%HOME%", "%7E", "file://{home}"])
@pytest.mark.parametrize("end", ["", "#L1", "?x=1"])
@pytest.mark.parametrize("key", ["path", "where"])
def test_the_home_given_to_another_server_counts_in_each_spelling(
    spelled: str, end: str, key: str, workspace: Path
) -> None:
    path = f"{spelled}/notes/key{end}".replace("{home}", "/home/me")
    report = ToolReport("a").merged({"kind": "read", "name": "mcp__fs__read", "rawInput": {key: path}})
    assert (
        ReadPath("/home/me/notes/key", mentioned=True)
        in work_out(report, AgentContext(str(workspace), "/home/me")).effects
    )


def test_more_paths_than_are_judged_are_too_much(workspace: Path) -> None:
    def touched(count: int) -> bool:
        paths = [f"{workspace}/a{index}" for index in range(count)]
        report = ToolReport("a").merged({"kind": "read", "name": "mcp__fs__read", "rawInput": {"paths": paths}})
        return work_out(report, AgentContext(str(workspace), "/home/me")).too_much

    assert touched(1_030)
    assert not touched(1_000)


def test_names_with_more_readings_than_are_judged_are_too_much(workspace: Path) -> None:
    names = [f'"--a{index}=x:/\\%2e{index}?x#y:1" ' for index in range(1_000)]
    report = ToolReport("a").merged({"kind": "read", "name": "mcp__fs__read", "rawInput": {"paths": names}})
    touch = work_out(report, AgentContext(str(workspace), "/home/me"))
    assert touch.too_much
    assert len(touch.effects) < 6_000


@pytest.mark.parametrize("more", [{"path": ".env"}, {"path": ".env", "encoding": "utf8"}, {"uri": "file://{ws}/.env"}])
def test_rules_and_secrets_count_for_a_path_that_a_tool_of_another_server_is_given(workspace: Path, more: dict):
    said = {"kind": "read", "name": "mcp__fs__read", "rawInput": filled(more, workspace)}
    assert verdict(said, workspace, ("deny", "Read(.env)"), ("allow", "mcp__fs__read"), bypass=True) == "deny"
    assert verdict(said, workspace, ("ask", "Read(.env)"), bypass=True) == "ask"
    assert verdict(said, workspace, ("allow", "mcp__fs__read")) == "ask"
    assert verdict(said, workspace, mode="auto") == "ask"


def test_a_path_that_no_rule_speaks_of_is_left_to_the_rule_for_the_tool(workspace: Path):
    other_words = ({"description": "held/x"}, {"title": "held"}, {"text": "see .env"}, {"page": "https://x.org/held/x"})
    paths = ({"path": path} for path in ("seed.txt", "/elsewhere/x", "issues"))
    for raw in (*paths, *other_words, {"repository": "me/held", "label": "held"}):
        said = {"kind": "read", "name": "mcp__fs__read", "rawInput": raw}
        assert verdict(said, workspace, ("allow", "mcp__fs__read"), ("deny", "Read(held/**)")) == "allow", raw


@pytest.mark.parametrize(
    "pattern", ["**/*", "*", "**/.e*", ".en?", "**/*.{pem,ts}", "/**/*", "[.]env", "secrets/*.pem"]
)
def test_a_pattern_to_read_that_could_match_a_secret_asks(workspace: Path, pattern: str):
    for raw in ({"paths": [pattern]}, {"path": pattern}, {"paths": ["seed.txt", pattern]}):
        said = {"kind": "read", "rawInput": raw}
        for mode in ("default", "acceptEdits", "auto"):
            assert verdict(said, workspace, mode=mode) == "ask"


def test_a_rule_for_what_a_pattern_could_match_asks(workspace: Path):
    said = {"kind": "read", "rawInput": {"paths": ["**/*.txt"]}}
    assert verdict(said, workspace) == "allow"
    assert verdict(said, workspace, ("deny", "Read(seed.txt)"), bypass=True) == "ask"


@pytest.mark.parametrize("path", ["@held.txt", "file://{ws}/held.txt", "FILE://localhost{ws}/hel%64.txt"])
def test_an_address_of_a_file_and_an_at_sign_name_the_file(workspace: Path, path: str):
    said = {"kind": "read", "rawInput": filled({"path": path}, workspace)}
    assert verdict(said, workspace, ("deny", "Read(held.txt)"), bypass=True) == "deny"


@pytest.mark.parametrize("end", ["\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\r"], ids=ascii)
def test_a_line_end_that_only_some_readers_know_hides_no_file(workspace: Path, end: str):
    added = patch("*** Add File: new.txt", end.join(("+x", "*** Add File: held.txt", "+y")))
    said = {"kind": "edit", "rawInput": {"input": added}}
    assert verdict(said, workspace, mode="acceptEdits") == "ask"
    assert verdict(said, workspace, ("deny", "Edit(held.txt)"), bypass=True) == "deny"
    diff = UNIFIED.replace("+BETA", f"+BETA{end}--- a/held.txt")
    for raw in (
        {"path": "seed.txt", "diff": diff},
        {"changes": {"seed.txt": {"type": "update", "unified_diff": HUNK.replace("+BETA", f"+BETA{end}x")}}},
    ):
        assert verdict({"kind": "edit", "rawInput": raw}, workspace, mode="acceptEdits") == "ask"


def test_a_diff_whose_index_line_names_another_file_is_not_understood(workspace: Path):
    for named, expected in (("seed.txt", "allow"), ("held.txt", "ask")):
        for head in (f"Index: {named}", f"diff --git a/seed.txt b/{named}"):
            raw = {"path": "seed.txt", "diff": f"{head}\n{UNIFIED}"}
            assert verdict({"kind": "edit", "rawInput": raw}, workspace, mode="acceptEdits") == expected


async def test_a_read_by_its_location_holds_the_agent_to_that_file(place: Place):
    """The approval covers reading the file that was named, through us, and no other."""
    for name in ("named.txt", "other.txt"):
        (place.folder / name).write_text(name)

    def read(request_id: int, name: str) -> dict:
        return {"ask": "fs/read_text_file", "id": request_id, "params": {"path": str(place.folder / name)}}

    place.person.decide = lambda card: {"option": "allow_once" if card.tool_call.agent_tool_call_id else "reject_once"}
    request = ask("a", kind="read", title="Read", locations=[{"path": str(place.folder / "named.txt")}])
    player = Player(place, [request, read(2, "named.txt"), read(3, "other.txt"), done("a")])
    await player.play()
    assert player.answer(2) == {"content": "named.txt"}
    assert player.answer(3)["code"] == -32000
    assert len(place.person.shown) == 2
