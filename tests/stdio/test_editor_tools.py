"""The editor tools through the real server: offered where the client says so, answered by it, judged here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.models.providers import scripted
from tests.stdio.desk import Json, open_desk
from tests.stdio.peer import Peer

NAMES = {"list_open_files", "get_selection", "get_diagnostics", "find_symbols", "find_references", "rename_symbol"}
CALLS = [
    {"name": "list_open_files", "args": {}},
    {"name": "get_selection", "args": {}},
    {"name": "get_diagnostics", "args": {"path": "a.py"}},
    {"name": "find_symbols", "args": {"query": "door"}},
    {"name": "find_references", "args": {"path": "a.py", "line": 1, "name": "door"}},
]
SCRIPT = {"scenarios": {"look": {"steps": [{"text": "I look. ", "tools": CALLS}, {"text": "Seen."}]}}}


def settings(url: str) -> Json:
    model = {"provider": "openai", "model": "m", "baseUrl": f"{url}/v1"}
    return {
        "user": {"models": {"m": model}, "agents": {"Countersign": {"model": "m"}}},
        "workspace": {"permissions": {"deny": ["Read(private/**)"]}},
    }


def offered(row: Json) -> set[str]:
    return {tool["function"]["name"] for tool in row["body"]["tools"]}


async def test_an_editor_that_answers_is_asked_and_what_it_says_is_judged(tmp_path: Path):
    workspace = tmp_path / "w"
    for name in ("a.py", "private/p.py"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("door = 1\n")
    here = [{"path": str(workspace / name), "line": 1, "character": 1} for name in ("a.py", "private/p.py")]
    peer = Peer.python("-m", "countersign", "serve")
    asked: list[tuple[str, Json]] = []
    answers: dict[str, Json] = {
        "editor/openFiles": {"files": [{"path": each["path"]} for each in here]},
        "editor/selection": {"selection": {**here[1], "endLine": 1, "endCharacter": 5, "text": "SECRET"}},
        "editor/diagnostics": {"diagnostics": [{**here[0], "severity": "error", "message": "no door"}]},
        "editor/symbols": {"symbols": [{**each, "name": "door", "kind": "variable"} for each in here]},
        "editor/references": {"references": here},
    }

    def answering(method: str):
        def answer(params: Json) -> Json:
            asked.append((method, params))
            return answers[method]

        return answer

    peer.on_request = {method: answering(method) for method in answers}
    with scripted(SCRIPT, tmp_path) as fake:
        given = {"settings": settings(fake.url), "client": {"editor": True}}
        async with open_desk(workspace, tmp_path / "s", peer=peer, **given) as desk:
            assert (await desk.prompt(await desk.thread(), "[[look]] go"))["stopReason"] == "end_turn"
        first, last = fake.rows()[0], fake.rows()[-1]
    assert offered(first) >= NAMES
    texts = [result["text"] for result in last["tool_results"]]
    results = {call["name"]: text for call, text in zip(CALLS, texts, strict=True)}
    assert "private" not in str(results)
    assert "SECRET" not in str(results)
    assert all("1 left out" in results[name] for name in results.keys() - {"get_diagnostics"})
    assert "a.py:1:1: error: no door" in results["get_diagnostics"]
    assert "a.py:1:1: variable door" in results["find_symbols"]
    assert dict(asked)["editor/references"] == {"path": str(workspace / "a.py"), "line": 1, "name": "door"}
    assert dict(asked)["editor/symbols"] == {"query": "door"}


async def test_an_editor_that_does_not_answer_is_not_asked(tmp_path: Path):
    with scripted(SCRIPT, tmp_path) as fake:
        async with open_desk(tmp_path / "w", tmp_path / "s", settings=settings(fake.url)) as desk:
            assert (await desk.prompt(await desk.thread(), "[[look]] go"))["stopReason"] == "end_turn"
        first, last = fake.rows()[0], fake.rows()[-1]
    assert not offered(first) & NAMES
    assert "list_open_files" not in str(first["body"]["messages"])
    assert all("there is no such tool" in result["text"] for result in last["tool_results"])


RENAME = {"name": "rename_symbol", "args": {"path": "a.py", "line": 1, "name": "door", "new_name": "gate"}}
RENAMING = {"scenarios": {"rename": {"steps": [{"text": "I rename. ", "tools": [RENAME]}, {"text": "Renamed."}]}}}


@pytest.mark.parametrize(
    ("mode", "deny", "changed", "says"),
    [
        ("acceptEdits", [], ["a.py", "b.py"], ["changed `a.py`", "changed `b.py`"]),
        ("acceptEdits", ["Edit(b.py)"], ["a.py"], ["changed `a.py`", "`Edit(b.py)`"]),
        ("acceptEdits", ["rename_symbol"], [], ["`rename_symbol`"]),
        ("plan", [], [], ["plan mode"]),
        ("dontAsk", [], [], ["does not allow this"]),
        ("default", [], ["b.py"], ["changed `b.py`", "not that one"]),
    ],
)
async def test_a_rename_is_an_edit_of_each_file_that_is_decided_by_itself(
    tmp_path: Path, mode: str, deny: list[str], changed: list[str], says: list[str]
):
    workspace = tmp_path / "w"
    workspace.mkdir()
    place = {"line": 1, "character": 1, "endLine": 1, "endCharacter": 5, "oldText": "door", "newText": "gate"}
    for name in ("a.py", "b.py"):
        (workspace / name).write_text("door = 1\n")
    files = [{"path": str(workspace / name), "edits": [place]} for name in ("a.py", "b.py")]
    peer = Peer.python("-m", "countersign", "serve")
    peer.on_request = {"editor/rename": lambda _: {"files": files}, "editor/diagnostics": lambda _: {"diagnostics": []}}
    with scripted(RENAMING, tmp_path) as fake:
        layers = settings(fake.url)
        layers["workspace"]["permissions"]["deny"] = deny
        given = {"settings": layers, "client": {"editor": True}}
        async with open_desk(workspace, tmp_path / "s", peer=peer, **given) as desk:
            turn = desk.prompt(await desk.thread(), "[[rename]] go", mode=mode)
            if mode == "default":
                cards = [await desk.card(), await desk.card()]
                assert [Path(card["preview"]["path"]).name for card in cards] == ["a.py", "b.py"]
                assert await desk.answer(cards[1]) == "allowed"
                assert await desk.answer(cards[0], "reject_once", reason="not that one") == "denied"
            assert (await turn)["stopReason"] == "end_turn"
        (result,) = fake.rows()[-1]["tool_results"]
    now = [name for name in ("a.py", "b.py") if (workspace / name).read_text() == "gate = 1\n"]
    assert now == changed
    assert all(each in result["text"] for each in says), result["text"]


EDIT = {"name": "write_file", "args": {"path": "a.py", "content": "dor = 1\n"}}
EDITING = {"scenarios": {"edit": {"steps": [{"text": "I write. ", "tools": [EDIT]}, {"text": "Written."}]}}}


@pytest.mark.parametrize(
    ("mode", "deny", "told"),
    [
        ("acceptEdits", [], True),
        ("auto", ["get_diagnostics"], False),
        ("auto", ["Read(b.py)"], True),
        ("ask", [], False),
    ],
)
async def test_new_problems_follow_an_edit_where_the_gate_would_let_them_be_read(
    tmp_path: Path, mode: str, deny: list[str], told: bool
):
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "a.py").write_text("door = 1\n")
    peer = Peer.python("-m", "countersign", "serve")
    asked: list[Json] = []

    def answer(params: Json) -> Json:
        asked.append(params)
        problem = {"path": params["path"], "line": 1, "character": 1, "severity": "error", "message": "no dor"}
        return {"diagnostics": [problem] if params["changed"] else []}

    peer.on_request = {"editor/diagnostics": answer}
    with scripted(EDITING, tmp_path) as fake:
        layers = settings(fake.url)
        layers["workspace"]["permissions"]["deny"] = deny
        given = {"settings": layers, "client": {"editor": True}}
        async with open_desk(workspace, tmp_path / "s", peer=peer, **given) as desk:
            turn = desk.prompt(await desk.thread(), "[[edit]] go", mode=mode)
            if mode == "ask":
                await desk.answer(await desk.card())
            assert (await turn)["stopReason"] == "end_turn"
        (result,) = fake.rows()[-1]["tool_results"]
    assert (workspace / "a.py").read_text() == "dor = 1\n"
    assert result["text"].startswith("changed `a.py`")
    assert ("a.py:1:1: error: no dor" in result["text"]) is told
    assert [each["changed"] for each in asked] == ([False, True] if told else [])


async def test_a_call_that_waited_for_an_editor_that_is_gone_ends(tmp_path: Path):
    script = {"scenarios": {"look": {"steps": [{"text": "I look. ", "tools": CALLS[:1]}, {"text": "Seen."}]}}}
    with scripted(script, tmp_path) as fake:
        layers = settings(fake.url)
        async with open_desk(tmp_path / "w", tmp_path / "s", settings=layers, client={"editor": True}) as desk:
            thread = await desk.thread()
            turn = desk.prompt(thread, "[[look]] go", mode="ask")
            card = await desk.card()
        turn.cancel()
        async with open_desk(tmp_path / "w", tmp_path / "s", settings=layers) as desk:
            again = await desk.card()
            assert again["approvalId"] == card["approvalId"]
            assert await desk.answer(again) == "allowed"
            result = await desk.peer.wait_until(lambda: _result(desk.peer), what="the call's result")
            assert "does not answer such questions" in result["output"]
            assert (await desk.peer.request("tool/pendingApprovals", {}))["approvals"] == []


def _result(peer: Peer) -> Json | None:
    events = [event for update in peer.seen("thread/update") for event in update["events"]]
    return next((event for event in events if event["type"] == "toolResult"), None)
