"""Before a workspace is trusted, no agent is started by what the workspace holds."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from countersign.agents.acp.before_trust import blocking_obeys_workspace
from countersign.agents.acp.identity import cached_by_npx
from countersign.settings.policy import AgentConfig
from countersign.wire.errors import AgentExit

from .desk import Place


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "bin").mkdir(parents=True)
    for name in ("agent.js", "bin/agent"):
        (made / name).write_text("x")
        (made / name).chmod(0o755)
    return made


REFUSED = [
    ["npx", "-y", "agent@1.2.3"],
    ["/usr/bin/npx", "agent"],
    ["npm", "exec", "agent"],
    ["bunx", "agent"],
    ["uvx", "agent"],
    ["env", "A=1", "npx", "agent"],
    ["sh", "-c", "exec npx agent"],
    ["node", "agent.js"],
    ["node", "--no-warnings", "./agent.js"],
    ["./agent.js"],
    ["bin/agent"],
    ["agent"],
    ["python3", "-m", "agent"],
    ["{ws}/bin/agent"],
]


@pytest.mark.parametrize("command", REFUSED, ids=" ".join)
def test_what_may_run_a_file_of_the_workspace_is_told(workspace: Path, command: list[str]) -> None:
    words = [word.format(ws=workspace) for word in command]
    path = {"PATH": f"/usr/bin:/bin:{workspace}/bin"}
    assert blocking_obeys_workspace(words, path, str(workspace), str(workspace)) is not None


STARTED = [["node", "{out}/agent.js"], ["{out}/agent"], ["python3", "-I", "-m", "agent"], ["python3", "{out}/agent.py"]]


@pytest.mark.parametrize("command", STARTED, ids=" ".join)
def test_what_lies_elsewhere_is_started(workspace: Path, tmp_path: Path, command: list[str]) -> None:
    for name in ("agent", "agent.js", "agent.py"):
        (tmp_path / name).write_text("x")
    words = [word.format(out=tmp_path) for word in command]
    assert blocking_obeys_workspace(words, {"PATH": "/usr/bin:/bin"}, str(workspace), str(workspace)) is None


def test_a_runner_that_is_started_elsewhere_obeys_nothing_of_the_workspace(workspace: Path, tmp_path: Path) -> None:
    assert blocking_obeys_workspace(["npx", "agent"], {}, str(tmp_path), str(workspace)) is None


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_program_of_the_workspace_is_started_only_after_trust(place: Place, trusted: bool) -> None:
    program = place.workspace / "agent"
    program.write_text(f"#!/bin/sh\ntouch {place.workspace}/ran\nexit 1\n")
    program.chmod(0o755)
    agent = place.agent(AgentConfig("planted", "acp", command=str(program)))
    place.change(trusted=trusted)
    with pytest.raises(AgentExit, match="ended" if trusted else "before the workspace is trusted"):
        await agent.prompt("go", place.turn("planted", "default"))
    assert (place.workspace / "ran").exists() is trusted


def test_a_file_that_npx_would_run_hides_the_one_in_its_cache(tmp_path: Path) -> None:
    word = "some-agent@1.2.3"
    package = tmp_path / "npm/_npx" / hashlib.sha512(word.encode()).hexdigest()[:16] / "node_modules/some-agent"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "some-agent", "version": "1.2.3", "bin": "x.js"}')
    work = tmp_path / "work"
    work.mkdir()
    environment = {"npm_config_cache": str(tmp_path / "npm")}
    found = cached_by_npx(["npx", "-y", word], environment, str(work))
    assert found == Path(os.path.realpath(package / "x.js"))
    (work / "node_modules/.bin").mkdir(parents=True)
    (work / "node_modules/.bin" / word).write_text("x")
    assert cached_by_npx(["npx", "-y", word], environment, str(work)) is None
