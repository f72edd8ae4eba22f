"""A workbench: a real workspace, real tools, permits as the gate would make them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from countersign.gate.call import ToolCall
from countersign.gate.permit import Permit, _issue
from countersign.gate.receipt import Outcome
from countersign.settings.policy import Policy
from countersign.tools.registry import BY_NAME, parse_arguments
from countersign.tools.shell.processes import SHELLS_SERVICE, ShellRegistry
from countersign.tools.todo_write import TODO_SERVICE
from countersign.tools.tool import Prepared, ToolContext
from countersign.wire.shells import ShellView
from tests.patience import PATIENCE


class Workbench:
    """Prepares and runs tools in one workspace, and waits for what they tell."""

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        self.workspace = folder / "workspace"
        self.home = folder / "home"
        self.outside = folder / "outside"
        for made in (self.workspace, self.home, self.outside):
            made.mkdir()
        self.policy = Policy(workspace=str(self.workspace), home=str(self.home), trusted=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.desk = ShellRegistry(lambda: self.policy, on_change=self._changed, base_environment=self.environment)
        self.emitted = ""
        self.todos: list[Any] = []
        self.changes: list[ShellView] = []
        self._news = asyncio.Event()
        self._calls = 0
        self.bench = ToolContext(
            lambda: self.policy, self._emit, {SHELLS_SERVICE: self.desk, TODO_SERVICE: self.todos.extend}
        )

    def file(self, name: str, content: str | bytes = "") -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def set(self, **changes: Any) -> None:
        self.policy = replace(self.policy, **changes)

    def prepare(self, name: str, /, **arguments: Any) -> Prepared:
        tool = BY_NAME[name]
        return tool.prepare(parse_arguments(tool, arguments), self.policy)

    def permit(
        self, name: str, prepared: Prepared, *, background: bool = False, runs: str | None = None, **changes: Any
    ) -> Permit:
        tool = BY_NAME[name]
        self._calls += 1
        call = ToolCall(
            tool_call_id=f"call-{self._calls}",
            thread_id="thread",
            turn_id="turn",
            agent="Countersign",
            tool=name,
            arguments={},
            kind=tool.kind,
            category=tool.category,
            effects=prepared.effects,
            preview=prepared.preview,
            cwd=prepared.cwd,
            title=prepared.title,
            bound=prepared.bound,
        )
        return _issue(replace(call, **changes), "rule" if runs else "user", background=background, runs=runs)

    async def run(self, name: str, prepared: Prepared, **changes: Any) -> Outcome:
        return await BY_NAME[name].run(self.permit(name, prepared, **changes), prepared, self.bench)

    async def do(self, name: str, /, **arguments: Any) -> Outcome:
        return await self.run(name, self.prepare(name, **arguments))

    def tree(self) -> dict[str, str]:
        """Everything below the test's folder: names with content, kind, link target and mode."""
        found: dict[str, str] = {}
        root = self.workspace.parent
        for folder, folders, files in os.walk(root):
            for name in [*folders, *files]:
                path = Path(folder, name)
                shown = os.readlink(path) if path.is_symlink() else path.read_bytes().hex() if path.is_file() else ""
                found[str(path.relative_to(root))] = f"{oct(path.lstat().st_mode)} {shown}"
        return found

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for output or a changed shell to make this true."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def until_output(self, shell_id: str, total: int) -> None:
        """Wait until so many bytes of a command's output have been read."""
        kept = self.desk.find(shell_id).kept
        append = kept.append

        def append_and_tell(data: bytes) -> None:
            append(data)
            self._news.set()

        kept.append = append_and_tell  # type: ignore[method-assign]
        await self.until(lambda: kept.total >= total)

    def _emit(self, text: str) -> None:
        self.emitted += text
        self._news.set()

    def _changed(self, view: ShellView) -> None:
        self.changes.append(view)
        self._news.set()
