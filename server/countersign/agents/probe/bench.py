"""The bench of a probe: a throw-away home, workspace and outside folder, with a gate that lets no effect through.

Everything is real but the model and the person: the agent is started by its recipe as in the product, and each of its
calls comes to the gate. Nobody's settings or login are used.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from countersign.agents.acp.host import AcpAgent
from countersign.agents.acp.recipe import Recipe
from countersign.agents.probe.plants import AUTORUN
from countersign.gate import Gate, Ledger, Turn, decide
from countersign.settings.policy import AgentConfig, Policy
from countersign.tools.shell.processes import ShellRegistry
from countersign.wire.approvals import ApprovalRequest, ApprovalResolved, ApprovalResponseParams
from countersign.wire.threads import ThreadEvent

SEED = "alpha\nbeta\ngamma\n"
SECRET = "outside-secret"
AGENT = "probed"
PASSED = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""All that the agent gets of the person's environment."""
GENERIC: Mapping[str, str] = {
    "ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "probe", "OPENAI_BASE_URL": "{url}/v1",
    "OPENAI_API_BASE": "{url}/v1", "OPENAI_API_KEY": "probe", "OPENAI_MODEL": "fake-model",
    "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "probe", "OLLAMA_HOST": "{url}",
}  # fmt: skip
"""Variables that lead many agents to another model; for one whose recipe does not say how."""


def lead_to_model(recipe: Recipe, url: str, home: Path) -> dict[str, str]:
    """Write the files into the home, and return the environment, with which this agent asks the model at ``url``."""

    def filled(text: str) -> str:
        return text.replace("{url}", url).replace("{home}", str(home))

    for name, text in recipe.probe.files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text))
    given = recipe.probe.env or (GENERIC if not recipe.probe.files else {})
    machine = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "TERM": "dumb", "LANG": "C.UTF-8",
               "PATH": os.environ.get("PATH", os.defpath), "NO_PROXY": "127.0.0.1,localhost",
               "no_proxy": "127.0.0.1,localhost", "XDG_CONFIG_HOME": str(home / ".config"),
               "XDG_DATA_HOME": str(home / ".local/share"), "XDG_STATE_HOME": str(home / ".local/state"),
               "XDG_CACHE_HOME": str(home / ".cache")}  # fmt: skip
    return {**machine, **{name: filled(value) for name, value in given.items()}}


class Denier:
    """Stands for the person: denies every call but reads inside the workspace, so that any effect happened unasked.

    ``starter`` is a text that only the start of a sub-agent holds: that is allowed, because what matters is whether the
    sub-agent asks. A class because it keeps the cards of the scenario.
    """

    def __init__(self, workspace: Path, starter: str) -> None:
        self.gate: Gate | None = None
        self.cards: list[ApprovalRequest] = []
        self.started = False
        self._inside = str(workspace.resolve())
        self._starter = starter
        self._answering: set[asyncio.Task[str]] = set()

    def present(self) -> bool:
        return True

    def show(self, request: ApprovalRequest, said: str | None = None) -> None:
        assert self.gate is not None
        starts = not self.started and self._starter in json.dumps(request.tool_call.raw_input or {})
        self.started = self.started or starts
        if not starts and not self._is_read_inside(request):
            self.cards.append(request)
        option = "allow_once" if starts or self._is_read_inside(request) else "reject_once"
        answer = ApprovalResponseParams.model_validate(
            {
                "approvalId": request.approval_id,
                "digest": request.digest,
                "response": {"outcome": {"outcome": "selected", "optionId": option}},
                "bypassAll": False,
            }
        )
        task = asyncio.ensure_future(self.gate.answering.answer(answer))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    def resolved(self, notice: ApprovalResolved) -> None: ...

    def warn(self, message: str) -> None: ...

    def _is_read_inside(self, request: ApprovalRequest) -> bool:
        call = request.tool_call
        paths = [location.path for location in call.locations or ()]
        inside = bool(paths) and all(Path(os.path.realpath(path)).is_relative_to(self._inside) for path in paths)
        return call.kind in ("read", "search") and inside and call.category == "read"


class KeepsNothing:
    """Takes no rule: a probe leaves nothing behind."""

    async def save_rule(self, rule_list: str, rule: str, scope: str, agent: str) -> None: ...

    async def set_bypass(self, agent: str) -> None: ...

    async def set_session_bypass(self, agent: str) -> None: ...


class Bench:
    """One world of a probe. A class because it owns folders, a gate and the agent's process."""

    def __init__(self, folder: Path, starter: str) -> None:
        self.workspace, self.home, self.outside = (folder / name for name in ("workspace", "home", "outside"))
        for each in (self.workspace, self.home, self.home / "tmp", self.outside):
            each.mkdir(parents=True)
        self.seed()
        self.events: list[ThreadEvent] = []
        self.person = Denier(self.workspace, starter)
        self._folder = folder
        self._policy = Policy(str(self.workspace.resolve()), str(self.home.resolve()), trusted=True)
        self._ledger = Ledger(folder / "ledger.db")
        self._gate = Gate(
            decide=decide,
            policy=lambda: self._policy,
            ledger=self._ledger,
            asker=self.person,
            keeper=KeepsNothing(),
            owner="probe",
        )
        self.person.gate = self._gate
        self._shells = ShellRegistry(lambda: self._policy)
        self._turns = 0

    def agent(self, command: tuple[str, ...], recipe: Recipe, url: str) -> AcpAgent:
        """Return the agent, not started yet."""
        env = {**{name: os.environ[name] for name in PASSED if name in os.environ},
               **lead_to_model(recipe, url, self.home)}  # fmt: skip
        config = AgentConfig(AGENT, "acp", command=command[0], args=command[1:], env=env)
        return AcpAgent(
            config,
            gate=self._gate,
            policy=lambda: self._policy,
            environment=lambda: env,
            gate_folder=self._folder / "gate",
            shell_registry=self._shells,
            recipe=recipe,
        )

    def seed(self) -> None:
        """Put the files there that scenarios change and read."""
        (self.workspace / "seed.txt").write_text(SEED)
        for name in ("made.txt", "shell.txt", "sub.txt"):
            (self.workspace / name).unlink(missing_ok=True)
            (self.outside / name).unlink(missing_ok=True)
        (self.outside / "secret.txt").write_text(f"{SECRET}\n")

    def turn(self) -> Turn:
        """Return a new turn in which everything asks; events and cards start anew."""
        self._turns += 1
        self.events, self.person.cards, self.person.started = [], [], False
        emit: Callable[[ThreadEvent], None] = self.events.append
        return Turn("probe", f"turn-{self._turns}", AGENT, ["ask"], emit, resumable=False, editable=False)

    def effects(self) -> str:
        """Return a digest of all files of the workspace and outside it."""
        summed = hashlib.sha256()
        for path in sorted((*self.workspace.rglob("*"), *self.outside.rglob("*"))):
            if path.name.startswith(AUTORUN):
                continue
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            summed.update(f"{path}\0{len(content)}\0".encode(errors="surrogateescape") + content)
        return summed.hexdigest()

    async def close(self) -> None:
        """Give back what the gate holds; the agent was closed before."""
        await self._shells.close()
        await self._gate.asking.close()
        self._ledger.close()
