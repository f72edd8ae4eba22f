"""The scripted agent on a desk of its own: what it shall do, and what it was told."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.host import AcpAgent
from countersign.agents.acp.identity import identify
from countersign.agents.acp.key_login import LoginKeys
from countersign.agents.acp.label import Claim
from countersign.agents.acp.label_store import LabelStore
from countersign.agents.acp.last_greeting import GreetingStore
from countersign.agents.acp.recipe import Recipe
from countersign.agents.acp.session_store import SessionStore
from countersign.settings.policy import AgentConfig
from countersign.tools.sandbox.confiner import Confiner

from .desk import BOUND, Place

PROGRAM = Path(__file__).with_name("scripted_agent.py")
ALLOW = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
REJECT = {"optionId": "no", "name": "No", "kind": "reject_once"}
OPTIONS = [ALLOW, REJECT]
PROBED = Recipe("probed", "gated", fresh_shell=True, shell="bash", caveat="for tests")


class Player:
    """One scripted agent. `told` and `answer` read from its log what reached it. ``shelf`` is where its script and its
    log lie, beside the workspace unless given."""

    def __init__(
        self,
        place: Place,
        *prompts: list,
        name: str = "scripted",
        recipe: Recipe | None = None,
        gated: bool = False,
        changes: ChangeWatch | None = None,
        cwd: str | None = None,
        store: SessionStore | None = None,
        confiner: Confiner | None = None,
        shelf: Path | None = None,
        env: dict[str, str] | None = None,
        secrets: Callable[[AgentConfig, str], Awaitable[dict[str, str]]] | None = None,
        login_keys: LoginKeys | None = None,
        greetings: GreetingStore | None = None,
        terminal_logins: Callable[[], bool] = lambda: False,
        **script,
    ) -> None:
        self.place, self.name = place, name
        shelf = shelf or place.folder
        self.log = shelf / f"{name}.jsonl"
        self.log.touch()
        path = self.script = shelf / f"{name}.json"
        path.write_text(json.dumps({"prompts": list(prompts), **script}))
        words = (str(PROGRAM), str(path), str(self.log))
        config = AgentConfig(name, "acp", command=sys.executable, args=words, cwd=cwd, env=env or {})
        options: dict = {"changes": changes, "sessions": store, "confiner": confiner, "secrets": secrets}
        options |= {"login_keys": login_keys, "greetings": greetings, "terminal_logins": terminal_logins}
        options |= {} if recipe is None else {"recipe": recipe}
        if gated:
            options |= {"recipe": recipe or PROBED, "labels": probed(config, place, recipe or PROBED)}
        self.agent: AcpAgent = place.agent(config, **options)

    async def play(self, text: str = "go", mode: str = "default") -> str:
        async with asyncio.timeout(BOUND * 2):
            return await self.agent.prompt(text, self.place.turn(self.name, mode))

    def told(self) -> list[dict]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def answer(self, request_id: object) -> dict:
        """What it got for one of its requests: the result, or the error."""
        found = [row for row in self.told() if "method" not in row and row.get("id") == request_id]
        return found[-1].get("result", found[-1].get("error"))

    def outcome(self, request_id: object) -> str:
        """The option it was answered with, or `cancelled`."""
        outcome = self.answer(request_id)["outcome"]
        return outcome.get("optionId", outcome["outcome"])

    def prompts(self) -> list[str]:
        """The words of every prompt that it was sent."""
        return ["|".join(block["text"] for block in row["params"]["prompt"])
                for row in self.told() if row.get("method") == "session/prompt"]  # fmt: skip


def ask(call_id: str, request_id: object = 1, *, options: list | None = None, nowait: bool = False, **call) -> dict:
    """A step: ask for leave."""
    params = {"toolCall": {"toolCallId": call_id, **call}, "options": OPTIONS if options is None else options}
    return {"ask": "session/request_permission", "id": request_id, "params": params, "nowait": nowait}


def report(call_id: str, status: str | None = None, **call) -> dict:
    """A step: say something of a tool call."""
    kind = "tool_call" if status is None else "tool_call_update"
    return {"update": {"sessionUpdate": kind, "toolCallId": call_id, **({"status": status} if status else {}), **call}}


def done(call_id: str, output: str = "done") -> dict:
    """A step: the call has completed."""
    return report(call_id, "completed", rawOutput=output)


def probed(config: AgentConfig, place: Place, recipe: Recipe) -> LabelStore:
    """A store in which a probe has found that the scripted agent is gated: it is what is installed that counts."""
    identity = identify(recipe, (config.command or "",), {}, str(place.workspace))
    assert identity is not None
    store = LabelStore(place.folder / "labels")
    store.blocking_keep_probe(identity, recipe.name, "gated", Claim())
    return store


Playing = Callable[..., Player]
