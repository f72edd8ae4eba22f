"""MCP servers of an agent's own settings: named within bounds, in words that cannot be taken for ours."""

from __future__ import annotations

import asyncio
import json
import os
import tomllib
from pathlib import Path

import pytest

from countersign.agents.acp.own_servers import MOST_BYTES, MOST_OWN_BYTES, MOST_PARTS, blocking_servers
from countersign.agents.acp.recipe import OwnServers, Recipe

from .desk import BOUND, Place
from .scripted_agent_fixture import Player

SERVERS = Recipe(
    "test",
    "gated",
    servers=(
        OwnServers("{home}/.agent.json", "mcpServers"),
        OwnServers(".mcp.json", "mcpServers"),
        OwnServers("{home}/config.toml", "mcp_servers", runs=True),
    ),
)


class Folders:
    """A home and a workspace."""

    def __init__(self, root: Path) -> None:
        self.home, self.workspace = root / "home", root / "ws"
        self.home.mkdir()
        self.workspace.mkdir()

    def told(self, *, trusted: bool = True) -> str | None:
        return blocking_servers(SERVERS, str(self.workspace), str(self.home), trusted=trusted)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_servers_of_the_agents_own_settings_are_named(folders: Folders) -> None:
    assert folders.told() is None
    (folders.home / ".agent.json").write_text('{"mcpServers": {"github": {"command": "x"}, "my-db_2": {}}}')
    (folders.workspace / ".mcp.json").write_text("no JSON")
    (folders.home / "config.toml").write_text('[mcp_servers.sentry]\ncommand = "x"\n')
    assert folders.told() == (
        "its own MCP servers are off here: `github`, `my-db_2`; its own MCP servers run outside the gate: `sentry`"
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("@org/server.io:2+x", "@org/server.io:2+x"),
        ("データ", "データ"),
        ("a` and `b", "a\\x60\\x20and\\x20\\x60b"),
        ("a\nb\r", "a\\x0ab\\x0d"),
        ("a\u2028b", "a\\u2028b"),
        ("a\u202eb", "a\\u202eb"),
        ("\u05d0\u05d1", "\\u05d0\\u05d1"),
        ("a\u200bb\u0301", "a\\u200bb\\u0301"),
        ("**a** [b](c) <i> $(zap)", "\\x2a\\x2aa\\x2a\\x2a\\x20\\x5bb\\x5d\\x28c\\x29\\x20\\x3ci\\x3e\\x20…"),
        ("a\\x60b", "a\\x5cx60b"),
        ("\U0001f6a8", "\\U0001f6a8"),
        ("", ""),
        ("x" * 500, "x" * 59 + "…"),
    ],
)
def test_a_name_cannot_look_like_our_words(folders: Folders, name: str, shown: str) -> None:
    (folders.home / ".agent.json").write_text(json.dumps({"mcpServers": {name: {}}}))
    assert folders.told() == f"its own MCP servers are off here: `{shown}`"


def test_a_larger_file_is_not_read_and_that_is_said(folders: Folders) -> None:
    text = '{"mcpServers": {"github": {}}}'
    (folders.workspace / ".mcp.json").write_text(text + " " * (MOST_BYTES - len(text)))
    assert folders.told() == "its own MCP servers are off here: `github`"
    (folders.workspace / ".mcp.json").write_text(text + " " * (MOST_BYTES - len(text) + 1))
    assert folders.told() == "which MCP servers stand in `.mcp.json` is not known, as it is larger than 256 KiB"


def test_the_persons_own_file_may_hold_a_long_history(folders: Folders) -> None:
    history = json.dumps({"history": ["x" * 1000] * 4000, "mcpServers": {"github": {}}})
    (folders.home / ".agent.json").write_text(history)
    assert folders.told() == "its own MCP servers are off here: `github`"
    (folders.home / ".agent.json").write_text(history + " " * MOST_OWN_BYTES)
    assert folders.told() == "which MCP servers stand in `~/.agent.json` is not known, as it is larger than 16384 KiB"


def test_what_is_no_file_is_not_waited_for(folders: Folders) -> None:
    os.mkfifo(folders.home / ".agent.json")
    (folders.home / "config.toml").mkdir()
    (folders.workspace / ".mcp.json").symlink_to("/dev/zero")
    assert folders.told() is None


@pytest.mark.parametrize("way", ["a file", "a link from home", "a home inside"])
def test_nothing_of_an_untrusted_workspace_is_read(folders: Folders, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = folders.workspace / ".mcp.json"
    planted.write_text('{"mcpServers": {"planted": {}}}')
    match way:
        case "a link from home":
            (folders.home / ".agent.json").symlink_to(planted)
        case "a home inside":
            folders.home = folders.workspace / "home"
            folders.home.mkdir()
            (folders.home / ".agent.json").write_text('{"mcpServers": {"planted": {}}}')
    opened: list[str] = []
    open_file = os.open

    def note(path: str, *rest: int) -> int:
        opened.append(os.path.realpath(path))
        return open_file(path, *rest)

    monkeypatch.setattr(os, "open", note)
    assert folders.told(trusted=False) is None
    assert [path for path in opened if path.startswith(os.path.realpath(folders.workspace))] == []
    assert "planted" in (folders.told() or "")


DEEP = ".".join("a" * (MOST_PARTS + 1))
"""Longer ones, in inline tables too, took minutes in a file of 256 KiB."""


@pytest.mark.parametrize(
    "line",
    [
        f"[{DEEP}]",
        f"[[{DEEP}]]",
        f"{DEEP} = 1",
        f'"=".{DEEP} = 1',
        f"'\"'.{DEEP} = 1",
        f'"\\"".{DEEP} = 1',
        f' "#" . {DEEP}',
        f"x = {{ {DEEP} = 1 }}",
        f"x = [1, {{ b = 1, {DEEP} = 1 }}]",
        'x = {k = """\n\' """, ' + DEEP + " = 1}",
        "x = {k = '''\n\" ''', " + '"=".'.join("a" * 20) + " = 1}",
    ],
)
def test_keys_of_many_parts_are_not_parsed_and_that_is_said(
    folders: Folders, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tomllib, "loads", pytest.fail)
    (folders.home / "config.toml").write_text(f'[mcp_servers.a]\ncommand = "x"\n{line}\n')
    assert folders.told() == (
        "which MCP servers stand in `~/config.toml` is not known, as keys in it are nested too deeply"
    )


@pytest.mark.parametrize(
    "line",
    [
        f'command = "{DEEP}"',
        f"# {DEEP}",
        f'"{DEEP}" = 1',
        f"'{DEEP}' = 1",
        f"{'.'.join('b' * MOST_PARTS)} = 1",
        f"x = [{', '.join(['1.5'] * 2 * MOST_PARTS)}]",
        'text = """\nx = 1\n"""',
    ],
)
def test_other_dots_are_no_hindrance(folders: Folders, line: str) -> None:
    (folders.home / "config.toml").write_text(f"[mcp_servers.a]\n{line}\n")
    assert folders.told() == "its own MCP servers run outside the gate: `a`"


async def test_they_are_looked_up_anew_when_the_workspace_becomes_trusted(place: Place) -> None:
    (place.workspace / ".mcp.json").write_text('{"mcpServers": {"github": {}}}')
    place.change(trusted=False)
    player = Player(place, [], recipe=SERVERS)
    agent = player.agent
    agent.look()
    await asyncio.wait(agent._tasks, timeout=BOUND)
    assert agent.servers is None
    place.change(trusted=True)
    agent.look()
    await asyncio.wait(agent._tasks, timeout=BOUND)
    assert agent.servers == "its own MCP servers are off here: `github`"
