"""Problems, hover and completion in settings files, asked of the real process over stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.stdio.desk import Desk, open_desk

SETTINGS = """{
  "editor.tabSize": 2,
  "countersign.permissions": {
    "deny": ["Bash(rm -rf:*)", /* 😀 */ "Read(secret"],
    "allow": ["Bash(npm run test:*)"]
  },
  "countersign.agents": {"Countersign": {"bypassPermissions": true}}
}
"""


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    (tmp_path / "work" / "src").mkdir(parents=True)
    async with open_desk(tmp_path / "work", tmp_path / "storage") as opened:
        yield opened


def uri_of(desk: Desk) -> str:
    return (desk.workspace / ".vscode" / "settings.json").as_uri()


def write(desk: Desk, text: str) -> None:
    path = desk.workspace / ".vscode" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def show(desk: Desk, text: str, version: int = 1) -> None:
    """Opens the workspace's settings with this text, or changes them to it."""
    uri = uri_of(desk)
    if version == 1:
        document = {"uri": uri, "languageId": "jsonc", "version": 1, "text": text}
        desk.peer.notify("textDocument/didOpen", {"textDocument": document})
    else:
        changed = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
        desk.peer.notify("textDocument/didChange", changed)


async def told(desk: Desk, version: int | None) -> list[tuple[Any, ...]]:
    """What was published of the workspace's settings: where each thing begins, how grave and of what kind it is."""
    published = await desk.peer.wait_for(
        "textDocument/publishDiagnostics",
        lambda params: params["uri"] == uri_of(desk) and params.get("version") == version,
    )
    return [
        (one["range"]["start"]["line"], one["range"]["start"]["character"], one["severity"], one["code"])
        for one in published["diagnostics"]
    ]


def place(text: str, what: str) -> dict[str, int]:
    """The position of the character behind the first one of ``what``, in UTF-16 units."""
    before = text[: text.index(what) + 1]
    line = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


async def test_a_text_is_told_as_it_is_typed_and_cleared_once_it_is_mended(desk: Desk) -> None:
    show(desk, SETTINGS)
    assert await told(desk, 1) == [
        (3, 40, 1, "rule"),
        (4, 14, 3, "unconfirmed"),
        (6, 41, 3, "unconfirmed"),
    ]
    show(desk, SETTINGS[:-3], 2)
    assert await told(desk, 2) == [(6, 68, 1, "syntax")]
    show(desk, '{"countersign.permissions.deny": ["Bash(rm -rf:*)"]}', 3)
    assert await told(desk, 3) == []


async def test_files_that_are_not_open_are_told_and_cleared_too(desk: Desk) -> None:
    write(desk, '{"countersign.permissions.deny": ["Bsh"]}')
    assert await told(desk, None) == [(0, 34, 2, "lint")]
    write(desk, '{\n "countersign.permissions.deny": ["Bsh"]}')
    assert await told(desk, None) == [(1, 34, 2, "lint")]
    write(desk, "{}")
    assert await told(desk, None) == []
    (desk.storage / "rules.json").write_text('{"permissions": {"allow": ["Bash(*)"]}}')
    published = await desk.peer.wait_for(
        "textDocument/publishDiagnostics", lambda params: params["uri"].endswith("/rules.json")
    )
    assert published["uri"] == (desk.storage / "rules.json").as_uri()
    assert [one["code"] for one in published["diagnostics"]] == ["lint"]


async def test_what_was_typed_and_not_saved_is_forgotten_when_the_text_is_closed(desk: Desk) -> None:
    write(desk, '{"countersign.permissions.deny": ["Bsh"]}')
    assert await told(desk, None) == [(0, 34, 2, "lint")]
    show(desk, "{}")
    assert await told(desk, 1) == []
    desk.peer.notify("textDocument/didClose", {"textDocument": {"uri": uri_of(desk)}})
    assert await told(desk, None) == [(0, 34, 2, "lint")]


async def test_a_confirmation_clears_what_waited_for_it(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "work", tmp_path / "storage", client={"confirm": True}) as desk:
        write(desk, '{"countersign.permissions.allow": ["Bash(make fmt)"]}')
        assert await told(desk, None) == [(0, 35, 3, "unconfirmed")]
        asked = await desk.peer.wait_for("settings/unconfirmed", lambda params: params["items"])
        await desk.peer.request("settings/confirm", {"digest": asked["items"][0]["digest"], "accept": True})
        assert await told(desk, None) == []


async def test_hover_says_in_words_what_a_rule_matches_and_whether_bypass_counts(desk: Desk) -> None:
    show(desk, SETTINGS)
    document = {"textDocument": {"uri": uri_of(desk)}}
    rule = await desk.peer.request("textDocument/hover", {**document, "position": place(SETTINGS, "Bash(npm")})
    assert "any command that begins with the words `npm run test`" in rule["contents"]["value"]
    assert "does not count: ignored until you confirm it" in rule["contents"]["value"]
    assert rule["range"]["start"] == {"line": 4, "character": 14}
    bypass = await desk.peer.request("textDocument/hover", {**document, "position": place(SETTINGS, "bypassPerm")})
    assert "does not count: ignored until you confirm it" in bypass["contents"]["value"]
    elsewhere = {**document, "position": place(SETTINGS, "editor")}
    assert await desk.peer.request("textDocument/hover", elsewhere) is None


async def test_completion_offers_rules_with_folders_and_the_commands_of_the_past(desk: Desk) -> None:
    turn = desk.prompt(await desk.thread(), "run touch made.txt")
    await desk.answer(await desk.card())
    await turn
    text = '{"countersign.permissions.allow": ["Edit(", ""'
    show(desk, text)
    document = {"textDocument": {"uri": uri_of(desk)}}
    at = {"line": 0, "character": text.index("Edit(") + 5}
    folders = await desk.peer.request("textDocument/completion", {**document, "position": at})
    assert [item["label"] for item in folders["items"]] == ["Edit(src/**)"]
    assert folders["items"][0]["textEdit"]["newText"] == "Edit(src/**)"
    at = {"line": 0, "character": len(text) - 1}
    rules = await desk.peer.request("textDocument/completion", {**document, "position": at})
    labels = [item["label"] for item in rules["items"]]
    assert {"Bash(command *)", "Bash(touch made.txt)", "Agent(Countersign)"} <= {*labels}


async def test_other_documents_are_left_alone(desk: Desk) -> None:
    uri = (desk.workspace / "src" / ".vscode" / "settings.json").as_uri()
    for scheme in (uri, "untitled:Untitled-1"):
        document = {"uri": scheme, "languageId": "jsonc", "version": 1, "text": SETTINGS}
        desk.peer.notify("textDocument/didOpen", {"textDocument": document})
        params = {"textDocument": {"uri": scheme}, "position": place(SETTINGS, "Bash(npm")}
        assert await desk.peer.request("textDocument/hover", params) is None
        assert await desk.peer.request("textDocument/completion", params) is None
    show(desk, SETTINGS)
    await told(desk, 1)
    assert {params["uri"] for params in desk.peer.seen("textDocument/publishDiagnostics")} == {uri_of(desk)}


async def test_an_editors_own_settings_are_told_under_the_name_that_the_editor_has_for_them(tmp_path: Path) -> None:
    own = tmp_path / "User"
    own.mkdir()
    (own / "settings.json").write_text("{}")
    options = {"settings": {"user": {}}, "client": {"ownPaths": [str(own)]}}
    async with open_desk(tmp_path / "work", tmp_path / "storage", **options) as desk:
        uri = f"vscode-userdata:{own}/settings.json"
        document = {"uri": uri, "languageId": "jsonc", "version": 1, "text": '{"countersign.permissions.ask": ["Bsh"]}'}
        desk.peer.notify("textDocument/didOpen", {"textDocument": document})
        published = await desk.peer.wait_for("textDocument/publishDiagnostics")
        assert (published["uri"], [one["code"] for one in published["diagnostics"]]) == (uri, ["lint"])


async def test_settings_that_do_nothing_yet_are_named_at_the_start_and_where_they_stand(tmp_path: Path) -> None:
    folder = tmp_path / "work" / ".vscode"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{\n  "countersign.mcpServers": {"db": {"command": "db-server"}}\n}\n')
    user = {"hooks": {"afterTool": [{"command": "notify"}]}, "sandbox": {"mode": "off"}}
    async with open_desk(tmp_path / "work", tmp_path / "storage", settings={"user": user}) as desk:
        shown = await desk.peer.wait_for("window/showMessage", lambda params: "not yet" in params["message"])
        assert "`mcpServers` is not yet available" in shown["message"]
        assert "`hooks.afterTool` is not yet available" in shown["message"]
        assert "sandbox" not in shown["message"]
        published = await desk.peer.wait_for(
            "textDocument/publishDiagnostics", lambda params: params["uri"] == uri_of(desk)
        )
        assert any(
            "not yet available" in one["message"] and one["range"]["start"]["line"] == 1
            for one in published["diagnostics"]
        )


async def test_nothing_is_said_of_settings_that_work(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    async with open_desk(
        tmp_path / "work", tmp_path / "storage", settings={"user": {"sandbox": {"mode": "off"}}}
    ) as desk:
        await desk.peer.request("ledger/status", {})
        assert not any("not yet" in params["message"] for params in desk.peer.seen("window/showMessage"))
