"""The commands that run, and those that ran a moment ago: started, read, moved to the background, ended.

``ShellRegistry`` is owned by the server. It decides nothing: whoever starts a command holds the permit. Every command
has a shell id, runs under supervision, and its output is read all the time, whether or not anybody looks, so that no
full pipe ever holds it up.
"""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Callable, Coroutine, Mapping
from functools import partial

from countersign.gate import BadArguments
from countersign.settings.policy import Policy
from countersign.tools.files.safe_open import held_folder
from countersign.tools.sandbox.boundary import Additions, Mount
from countersign.tools.sandbox.confiner import Confined, Confiner, NoSandbox
from countersign.tools.sandbox.proxy import RefusedHost
from countersign.tools.shell.command_line import CommandLine
from countersign.tools.shell.environment import confined_environment, filtered_environment, withheld
from countersign.tools.shell.left_running import LeftRunning
from countersign.tools.shell.output_buffer import KeptOutput, text_from
from countersign.tools.shell.process_tracking import Tracking, tracking_of
from countersign.tools.shell.process_tree import Process
from countersign.tools.shell.supervised import Supervised, spawn_supervised
from countersign.tools.shell.temporary_folders import blocking_make_temporary
from countersign.wire.errors import InvalidAnswer, UnknownShell
from countersign.wire.shells import ShellOutputResult, ShellState, ShellView

SHELLS_SERVICE = "shells"
"""Name of the ``ShellRegistry`` in ``ToolContext.services``."""
MOST_LEFT = 64
"""Processes that agents left running and that are listed."""
MOST_ENDED = 32
"""Commands that have ended and whose output is still kept."""
MOST_EMITTED = 256 << 10
"""Bytes of one command's output that are streamed into the chat; the rest is there to be read."""
MOST_READ = 20_000
"""Names that are looked at before a command that only reads is put into a sandbox nobody asked for: a larger workspace
would hold up each such command."""
CHUNK = 1 << 16
INPUT_PATIENCE = 5.0
"""Seconds that input waits for a command that does not read it."""


class Shell:
    """One command, running or ended. Keeps what it put out; changed by its desk only.

    ``settled`` is set once nobody need wait for it any more: it has ended, or went to the background.
    """

    def __init__(
        self, shell_id: str, line: CommandLine, process: Supervised, emit: Callable[[str], None] | None
    ) -> None:
        self.shell_id = shell_id
        self.line = line
        self.process = process
        self.kept = KeptOutput()
        self.background = line.background
        self.state: ShellState = "running"
        self.exit_code: int | None = None
        self.settled = asyncio.Event()
        self.ended = asyncio.Event()
        self.killed = False
        self.emit = emit
        self.confined: Confined | None = None
        self._told_hosts: set[RefusedHost] = set()

    def newly_refused(self) -> tuple[RefusedHost, ...]:
        """The hosts that the sandbox refused to it since this was last asked."""
        refused = () if self.confined is None else self.confined.refused_hosts
        new = tuple(each for each in refused if each not in self._told_hosts)
        self._told_hosts.update(new)
        return new

    @property
    def tracking(self) -> Tracking:
        """What finds and ends the processes that the command starts."""
        return tracking_of(
            confined=self.confined is not None and self.confined.holds_processes, grouped=self.process.has_group
        )

    def read(self, start: int, most: int) -> ShellOutputResult:
        """At most so many bytes of output from this offset on, as text; what was dropped is marked."""
        text, at, whole = text_from(self.kept, start, most, ended=self.state != "running")
        return ShellOutputResult(text=text, next=at, state=self.state, truncated=None if whole else True)

    def view(self) -> ShellView:
        return ShellView(
            shell_id=self.shell_id,
            tool_call_id=self.line.tool_call_id,
            thread_id=self.line.thread_id,
            command=self.line.shown,
            state=self.state,
            exit_code=self.exit_code,
            background=self.background,
        )


def _additions(temporary: str | None, *, writable: bool) -> Additions:
    return Additions() if temporary is None else Additions(mounts=(Mount(temporary, temporary, writable),))


class ShellRegistry:
    """Every command of one server. Bounded: commands in the background, output kept, commands remembered.

    ``on_change`` hears of every start, move and end. ``confiner`` is needed when a command is to run in the sandbox:
    without it that command is not started. While the policy says sandbox, only a command that a person let run is
    started outside it, which the gate makes sure of (``gate/decisions/sandbox.py``) and this class checks.
    """

    def __init__(
        self,
        policy: Callable[[], Policy],
        *,
        on_change: Callable[[ShellView], None] = lambda _: None,
        base_environment: Mapping[str, str] = os.environ,
        confiner: Confiner | None = None,
    ) -> None:
        self._policy = policy
        self._on_change = on_change
        self._base_environment = base_environment
        self.confiner = confiner
        self._shells: dict[str, Shell] = {}
        self._count = 0
        self._starting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping: dict[str, asyncio.Task[None]] = {}
        self._left: dict[str, LeftRunning] = {}
        self._closed = False

    def list(self) -> list[ShellView]:
        """All that run and the last that ended, oldest first."""
        return [shell.view() for shell in (*self._shells.values(), *self._left.values())]

    @property
    def is_any_running(self) -> bool:
        """Whether any command runs, or anything that one left running which was let through."""
        return any(left.permitted for left in self._left.values()) or any(
            shell.state == "running" for shell in self._shells.values()
        )

    def adopt(self, process: Process, command: str, thread_id: str, tool_call_id: str, *, permitted: bool) -> None:
        """List a process that a hosted agent's call left running, so that a person can end it. ``permitted``: the call
        was let through to run a command, so that what it changes is nothing to be told of."""
        known = any(left.process == process for left in self._left.values())
        if known or self._closed or len(self._left) >= MOST_LEFT:
            return
        self._count += 1
        left = LeftRunning(f"shell-{self._count}", process, command, thread_id, tool_call_id, permitted=permitted)
        self._left[left.shell_id] = left
        self._on_change(left.view())
        left.watch(self._left_ended)

    def _left_ended(self, view: ShellView) -> None:
        self._left.pop(view.shell_id, None)
        self._on_change(view)

    def environment(self, *, only_reads: bool = False) -> dict[str, str]:
        """What a command starts with now; ``only_reads`` as in ``filtered_environment``."""
        policy = self._policy()
        return filtered_environment(self._base_environment, policy, policy.workspace, only_reads=only_reads)

    def withheld(self) -> list[str]:
        """Names of the variables that a command does not get because they look like secrets."""
        return withheld(self._base_environment, self._policy())

    def find(self, shell_id: str, thread_id: str | None = None) -> Shell:
        """The command with this id, of this chat if one is named.

        Raises:
            UnknownShell: there is none, or it is another chat's.
        """
        shell = self._shells.get(shell_id)
        if shell is None or (thread_id is not None and shell.line.thread_id != thread_id):
            raise UnknownShell(f"there is no shell `{shell_id}`")
        return shell

    def output(self, shell_id: str, start: int = 0) -> ShellOutputResult:
        """All that is kept from this offset on (bytes, from 0). ``next`` is where to read on.

        ``truncated`` when something between the offset and ``next`` was dropped; a mark stands there in the text.
        """
        if (left := self._left.get(shell_id)) is not None:
            return left.read()
        shell = self.find(shell_id)
        return shell.read(start, shell.kept.total)

    async def start(self, line: CommandLine, emit: Callable[[str], None] | None = None) -> Shell:
        """Start it. ``emit`` gets its output as text until it ends or goes to the background.

        Cancelled: nothing is left running.

        Raises:
            BadArguments: it may not be started now (too many in the background, no sandbox, the server is ending).
            Stale: the working directory is a link now.
            OSError: it cannot be started.
        """
        policy = self._policy()
        if self._closed:
            raise BadArguments("the server is ending; nothing new is started")
        if line.background:
            self._check_room(policy)
        if policy.sandbox_mode != "off" and line.sandbox == "none" and not line.by_person:
            raise BadArguments("the sandbox is on; only a person can let a command run outside it")
        self._starting += line.background
        try:
            temporary = policy.temporary_root(line.thread_id)
            if temporary is not None:
                blocking_make_temporary(temporary)
            confined = None if line.sandbox == "none" else await self._confined(line, policy, temporary)
            process = await self._spawn(line, confined, temporary)
        finally:
            self._starting -= line.background
        self._count += 1
        shell = Shell(f"shell-{self._count}", line, process, emit)
        shell.confined = confined
        if shell.background:
            shell.settled.set()
        self._shells[shell.shell_id] = shell
        self._own(self._attend(shell), f"attend {shell.shell_id}")
        if self._closed:
            # The server began to end while we started.
            process.kill()
        self._on_change(shell.view())
        return shell

    async def _confined(self, line: CommandLine, policy: Policy, temporary: str | None) -> Confined | None:
        """The sandbox for this command. INVARIANT (never outside by accident): without one nothing is started, unless
        the command only reads and no sandbox was asked for."""
        optional = line.sandbox == "readOnlyIfAny" and policy.sandbox_mode == "off"
        if self.confiner is None:
            if optional:
                return None
            raise BadArguments("the sandbox is on but not available here; nothing is run outside it")
        confine = partial(
            self.confiner.blocking_confine,
            policy,
            line.cwd,
            writable=line.sandbox == "writable",
            may_reach=line.may_reach,
            additions=_additions(temporary, writable=line.sandbox == "writable"),
            most=MOST_READ if optional else None,
        )
        making = asyncio.ensure_future(asyncio.to_thread(confine))
        try:
            return await asyncio.shield(making)
        except NoSandbox as error:
            if optional:
                return None
            raise BadArguments(f"not run, because there is no sandbox for it: {error}") from None
        except asyncio.CancelledError:
            making.add_done_callback(_give_back)
            raise

    async def _spawn(self, line: CommandLine, confined: Confined | None, temporary: str | None) -> Supervised:
        environment = {**line.environment, "PWD": line.cwd}
        if confined is not None:
            environment = confined_environment(environment) | confined.environment()
        if temporary is not None:
            # INVARIANT (same bytes): what `$TMPDIR` was judged as is what it names.
            shown = confined is None or any(mount.place == temporary for mount in confined.boundary.mounts)
            environment["TMPDIR"] = temporary if shown else "/tmp"
        started = False
        try:
            with held_folder(line.cwd) as folder:
                process = await spawn_supervised(
                    line.argv,
                    env=environment,
                    cwd=folder,
                    stdin=asyncio.subprocess.PIPE if line.takes_input else asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                    pass_fds=() if confined is None else confined.pass_fds,
                    sandbox=-1 if confined is None else confined.description,
                )
            started = True
            return process
        finally:
            if confined is not None:
                confined.close_ours()
                if not started:
                    confined.blocking_finish(set_aside=None)

    async def write(self, shell_id: str, text: str) -> None:
        """Give a command input.

        Raises:
            UnknownShell: there is no such command.
            InvalidAnswer: it has ended, takes no input, or does not read it.
        """
        shell = self.find(shell_id)
        stdin = shell.process.stdin
        if shell.state != "running":
            raise InvalidAnswer(f"`{shell_id}` has ended")
        if stdin is None:
            raise InvalidAnswer(f"`{shell_id}` takes no input; start it in the background for that")
        try:
            stdin.write(text.encode("utf-8", "replace"))
            async with asyncio.timeout(INPUT_PATIENCE):
                await stdin.drain()
        except TimeoutError:
            raise InvalidAnswer(f"`{shell_id}` does not read its input") from None
        except OSError:
            raise InvalidAnswer(f"`{shell_id}` has closed its input") from None

    def to_background(self, tool_call_id: str) -> str:
        """Let the running command of this call go on in the background; whoever waits for it returns at once.

        Returns its shell id. Raises:
            UnknownShell: no command of this call is running.
            InvalidAnswer: too many run in the background already.
        """
        for shell in self._shells.values():
            if shell.line.tool_call_id == tool_call_id and shell.state == "running":
                if not shell.background:
                    if self._room(self._policy()) <= 0:
                        raise InvalidAnswer(_too_many(self._policy()))
                    shell.background = True
                    shell.emit = None
                    shell.settled.set()
                    self._on_change(shell.view())
                return shell.shell_id
        raise UnknownShell(f"no command of call `{tool_call_id}` is running")

    async def kill(self, shell_id: str) -> ShellState:
        """End a command and everything it started: TERM to its group, KILL after two seconds. Waits for its end.

        Cancelled: it is ended all the same, at once.
        """
        if (left := self._left.get(shell_id)) is not None:
            return await left.kill()
        shell = self.find(shell_id)
        if shell.state == "running":
            shell.killed = True
            if shell_id not in self._stopping:
                self._stopping[shell_id] = self._own(self._stop(shell), f"stop {shell_id}")
            try:
                await asyncio.shield(self._stopping[shell_id])
            except asyncio.CancelledError:
                shell.process.kill()
                raise
        return shell.state

    def end_after(self, shell: Shell, seconds: float) -> None:
        """Let a command in the background end after so many seconds."""
        self._own(self._end_late(shell, seconds), f"end {shell.shell_id} in time")

    async def close(self) -> None:
        """End every command; nothing is started afterwards. Takes at most some four seconds."""
        self._closed = True
        for left in list(self._left.values()):
            left.close()  # it ends with its agent
        running = [shell.shell_id for shell in self._shells.values() if shell.state == "running"]
        await asyncio.gather(*(self.kill(shell_id) for shell_id in running))
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _attend(self, shell: Shell) -> None:
        """Read all output and wait for the end. Lives as long as the command."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        assert shell.process.stdout is not None
        try:
            while data := await shell.process.stdout.read(CHUNK):
                shell.kept.append(data)
                self._tell(shell, decoder.decode(data))
            self._tell(shell, decoder.decode(b"", final=True))
        finally:
            # Output may end before the command does.
            returncode = await shell.process.wait()
            await self._leave_sandbox(shell)
            shell.exit_code = returncode if returncode >= 0 else 128 - returncode
            shell.state = "killed" if shell.killed else "exited"
            shell.emit = None
            if shell.process.stdin is not None:
                shell.process.stdin.close()
            shell.ended.set()
            shell.settled.set()
            self._forget_old()
            self._on_change(shell.view())

    async def _leave_sandbox(self, shell: Shell) -> None:
        if shell.confined is not None:
            # Others may have made such names while a command ran in the background: those stay where they are.
            set_aside = self.confiner.set_aside if self.confiner is not None and not shell.background else None
            await asyncio.to_thread(shell.confined.blocking_finish, set_aside=set_aside)

    def _tell(self, shell: Shell, text: str) -> None:
        if shell.emit is None or not text:
            return
        shell.emit(text)
        if shell.kept.total > MOST_EMITTED:
            shell.emit(f"\n[more output follows; it is kept, read it as {shell.shell_id}]\n")
            shell.emit = None

    async def _end_late(self, shell: Shell, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await shell.ended.wait()
        except TimeoutError:
            await self.kill(shell.shell_id)

    async def _stop(self, shell: Shell) -> None:
        await shell.process.stop()
        await shell.ended.wait()
        self._stopping.pop(shell.shell_id, None)

    def _check_room(self, policy: Policy) -> None:
        if self._room(policy) <= 0:
            raise BadArguments(_too_many(policy))

    def _room(self, policy: Policy) -> int:
        running = sum(shell.background and shell.state == "running" for shell in self._shells.values())
        return policy.shell_max_background - running - self._starting

    def _forget_old(self) -> None:
        ended = [shell.shell_id for shell in self._shells.values() if shell.state != "running"]
        for shell_id in ended[: max(0, len(ended) - MOST_ENDED)]:
            del self._shells[shell_id]

    def _own(self, work: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _give_back(making: asyncio.Future[Confined]) -> None:
    """Clear up a sandbox that nobody waits for any more."""
    if not making.cancelled() and making.exception() is None:
        making.result().close_ours()
        making.result().blocking_finish(set_aside=None)


def _too_many(policy: Policy) -> str:
    return f"{policy.shell_max_background} commands run in the background already; end one of them first"
