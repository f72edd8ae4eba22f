"""``shell``: run a command line, in the foreground with a time limit or in the background."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from countersign.gate import (
    BadArguments,
    Effect,
    Offer,
    Outcome,
    Permit,
    RunCommand,
    Stale,
    ToolCall,
    blocking_still_true,
    in_worker,
)
from countersign.settings.policy import Policy
from countersign.tools.arguments import Arguments
from countersign.tools.cancellation import note_how_far
from countersign.tools.clip import MOST_OUTPUT, head, tail
from countersign.tools.files.safe_open import complaint
from countersign.tools.places import Place, locate
from countersign.tools.sandbox.boundary import Network
from countersign.tools.sandbox.host_tool import host_offers
from countersign.tools.sandbox.refusals import refusals_in
from countersign.tools.sandbox.state import runs_confined
from countersign.tools.shell.command_line import SHELLS, CommandLine, Sandbox, shell_line
from countersign.tools.shell.process_tracking import LEFT_OUT, UNTRACKED
from countersign.tools.shell.processes import SHELLS_SERVICE, Shell, ShellRegistry
from countersign.tools.tool import Prepared, ToolContext
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title, visible
from countersign.wire.approvals import CommandPreview, SandboxPreview, ToolKind
from countersign.wire.base import Json
from countersign.wire.verdicts import Category

MOST_REASON = 600
"""Characters of the reason for running outside the sandbox."""
LONGEST = 86_400.0
"""Seconds, at most, that a command may ask for."""
_HALF = (MOST_OUTPUT - 1024) // 2
"""Bytes of the beginning and of the end that a model sees of long output; the rest of the room is for marks."""


@dataclass(frozen=True, slots=True)
class ShellPlan:
    """``timeout`` is in seconds from the start of the command; None in the background: as long as it likes.
    ``confined`` says that the card showed the sandbox, ``outside`` that the call asks to run outside it.
    """

    command: str
    shell: str
    place: Place
    timeout: float | None
    default_timeout: float
    background: bool
    confined: bool = False
    outside: bool = False


MACHINE_PROGRAMS = frozenset({"ps", "df", "hostname", "uname", "tty"})
"""Programs that are known to read and tell of the machine, of which a sandbox shows little."""
MACHINE = "it ran in a read-only sandbox, which has processes, mounts and a host name of its own"


class ShellArguments(Arguments):
    command: str = Field(description="The text to run.")
    timeout: float | None = Field(default=None, gt=0, le=LONGEST, description="Seconds after which it is ended.")
    cwd: str | None = Field(default=None, description="Working directory; the workspace unless given.")
    shell: str | None = Field(default=None, description=f"One of {', '.join(SHELLS)}; bash unless given.")
    background: bool = Field(default=False, description="Go on at once; read on with shell_output.")
    outside_sandbox: str | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_REASON,
        description="Why the command cannot run in the sandbox. A person is asked. Only after it failed there.",
    )


class RunShell:
    """Runs ``bash -c TEXT``. The time limit counts from the start of the command, never while a person is asked."""

    name = "shell"
    kind: ToolKind = "execute"
    category: Category = "execute"
    description = (
        "Run a command with bash in the workspace. Output and errors come in order. What it leaves running ends with "
        "it: use background for servers, then shell_output, shell_input, shell_kill. Temporary files belong "
        'directly in `"$TMPDIR"`, not in /tmp.'
    )
    arguments = ShellArguments

    def effects(self, arguments: ShellArguments, policy: Policy) -> tuple[Effect, ...]:
        return _effects(arguments, locate(arguments.cwd or ".", policy))

    def prepare(self, arguments: ShellArguments, policy: Policy) -> Prepared[ShellPlan]:
        command, shell = arguments.command, arguments.shell or "bash"
        place = locate(arguments.cwd or ".", policy)
        effects = _effects(arguments, place)
        outside = arguments.outside_sandbox is not None
        confined = not outside and runs_confined(policy)
        timeout = arguments.timeout
        if timeout is None and not arguments.background:
            timeout = policy.shell_timeout
        return Prepared(
            effects=effects,
            preview=CommandPreview(
                command=command,
                cwd=place.resolved,
                parts=[],
                timeout=timeout,
                background=arguments.background or None,
                sandbox=_sandbox_preview(policy) if confined else None,
                outside=(outside and runs_confined(policy)) or None,
            ),
            title=as_title(command),
            cwd=place.resolved,
            payload=ShellPlan(
                command,
                shell,
                place,
                arguments.timeout,
                policy.shell_timeout,
                arguments.background,
                confined=confined,
                outside=outside,
            ),
        )

    async def run(self, permit: Permit, prepared: Prepared[ShellPlan], bench: ToolContext) -> Outcome:
        """Cancelled: the command and all it started are ended first."""
        call = spend(permit, prepared)
        plan = prepared.payload
        desk: ShellRegistry = bench.services[SHELLS_SERVICE]
        background = plan.background or permit.background
        try:
            environment = desk.environment(only_reads=permit.only_reads)
            line = CommandLine(
                argv=shell_line(
                    plan.shell,
                    plan.command if permit.runs is None else permit.runs,
                    environment,
                    bench.policy().workspace,
                ),
                shown=plan.command,
                cwd=plan.place.resolved,
                environment=environment,
                tool_call_id=call.tool_call_id,
                thread_id=call.thread_id,
                by_person=permit.by == "user",
                background=background,
                takes_input=background,
                may_reach=bench.may_reach,
                sandbox=_sandbox_of(plan, permit, bench.policy()),
            )
            # INVARIANT (same bytes): looked at right before the start.
            plan.place.same_or_stale()
            await in_worker(scripts_or_stale, call)
            shell = await desk.start(line, None if background else bench.emit)
        except BadArguments as error:
            return Outcome(False, str(error))
        except OSError as error:
            return Outcome(False, f"the command could not be started: {complaint(error, plan.place.shown)}")
        outcome = await _attended(shell, plan, desk)
        if shell.state == "exited" and not shell.background:
            outcome = replace(outcome, offers=_offers(shell, call, outcome))
        return _naming_withheld(outcome, [name for name in desk.withheld() if name in plan.command + outcome.output])


def _sandbox_of(plan: ShellPlan, permit: Permit, policy: Policy) -> Sandbox:
    """The sandbox that the command runs in. A card that showed one is kept to, whatever the settings say by now."""
    if plan.confined or (not plan.outside and runs_confined(policy)):
        return "readOnly" if permit.only_reads else "writable"
    return sandbox_of_reads(permit)


def sandbox_of_reads(permit: Permit) -> Sandbox:
    """The second line behind the parser: what is allowed only because it reads can do nothing else."""
    return "readOnlyIfAny" if permit.only_reads else "none"


def _effects(arguments: ShellArguments, place: Place) -> tuple[Effect, ...]:
    command, shell = arguments.command, arguments.shell or "bash"
    if not command.strip():
        raise BadArguments("the command is empty")
    if "\0" in command or not _is_utf8(command):
        raise BadArguments("the command holds a character that no command can hold")
    if shell not in SHELLS:
        raise BadArguments(f"there is no shell `{visible(shell[:40])}`; use one of {', '.join(SHELLS)}")
    # Commands are judged as bash reads them; how another shell reads the same text is not known.
    folders = dict.fromkeys((place.resolved, place.asked))
    outside = None if arguments.outside_sandbox is None else visible(arguments.outside_sandbox)
    return tuple(RunCommand(command, folder, understood=shell == "bash", outside=outside) for folder in folders)


def scripts_or_stale(call: ToolCall) -> None:
    """Look again at the scripts that a command names.

    Raises:
        Stale: one of them is not what it was when the call was judged.
    """
    if not blocking_still_true(call):
        raise Stale("a script that the command names has changed")


async def _attended(shell: Shell, plan: ShellPlan, desk: ShellRegistry) -> Outcome:
    """Wait until the command has ended, went to the background, or its time is over."""
    if shell.background:
        if plan.timeout is not None:
            desk.end_after(shell, plan.timeout)
        return _in_background(shell)
    seconds = plan.timeout or plan.default_timeout
    try:
        async with asyncio.timeout(seconds):
            await shell.settled.wait()
    except TimeoutError:
        await desk.kill(shell.shell_id)
        return ended_outcome(shell, f"timed out after {seconds:g} s and was ended", timed_out=True)
    except asyncio.CancelledError as cancelled:
        await desk.kill(shell.shell_id)
        note_how_far(cancelled, ended_outcome(shell, "was stopped"))
        raise
    if shell.state == "running":
        return _in_background(shell)
    if shell.state == "killed":
        return ended_outcome(shell, "was killed by the person")
    if shell.confined is not None and not shell.confined.started:
        said = output_for_model(shell).strip()
        words = f"the command was not run, because its sandbox could not be made: {said}"
        return Outcome(False, words, record=_record(shell))
    return ended_outcome(shell, None)


def ended_outcome(shell: Shell, why: str | None, *, timed_out: bool = False) -> Outcome:
    """The outcome of a command that has ended; ``why`` if it did not end by itself."""
    marks: list[str] = []
    if why is not None:
        marks.append(f"the command {why}")
    elif shell.exit_code:
        marks.append(f"exit code {shell.exit_code}")
    if shell.confined is not None:
        marks += shell.confined.notes
        marks += [refused.sentence() for refused in shell.confined.refused_hosts]
        if shell.exit_code and why is None:
            marks += [f"the sandbox refused {sentence}" for sentence in _refused(shell)] or _hints(shell)
        elif _tells_of_machine(shell):
            marks.append(MACHINE)
    shown = output_for_model(shell)
    if shell.tracking == "processGroup":
        marks.append(UNTRACKED)
    if not shown and not marks:
        marks.append("no output")
    ending = "".join(f"[{mark}]" for mark in marks)
    joint = "\n" if shown and ending and not shown.endswith("\n") else ""
    return Outcome(
        success=why is None and shell.exit_code == 0,
        output=shown + joint + ending,
        record=_record(shell, timed_out=timed_out),
    )


def _hints(shell: Shell) -> list[str]:
    """What a failure for unknown reasons says; a command that only reads mostly fails because it finds nothing."""
    if shell.confined is None or shell.line.sandbox != "writable":
        return []
    return [_confined(shell.confined.boundary.network)]


def _confined(network: Network) -> str:
    match network:
        case "none":
            return (
                "it ran in the sandbox: no network, writes only in the workspace and granted folders; if it failed "
                "for that, call shell again with outside_sandbox and the reason"
            )
        case "hosts":
            return (
                "it ran in the sandbox: network only by its proxy (`HTTPS_PROXY`) to hosts that are allowed, writes "
                "only in the workspace and granted folders; if it failed for that, call shell again with "
                "outside_sandbox and the reason"
            )
        case "all":
            return (
                "it ran in the sandbox: network only by its proxy (`HTTPS_PROXY`), writes only in the workspace and "
                "granted folders; if it failed for that, call shell again with outside_sandbox and the reason"
            )


def _tells_of_machine(shell: Shell) -> bool:
    return shell.line.sandbox != "writable" and not MACHINE_PROGRAMS.isdisjoint(re.findall(r"\w+", shell.line.shown))


def _refused(shell: Shell) -> tuple[str, ...]:
    """What the sandbox refused to a command that failed, as its output tells it."""
    if shell.confined is None or not shell.confined.started or not shell.exit_code:
        return ()
    return refusals_in(output_for_model(shell), shell.confined.boundary, shell.line.cwd)


def _offers(shell: Shell, call: ToolCall, outcome: Outcome) -> tuple[Offer, ...]:
    """The cards that follow a command which the sandbox hindered: its hosts, or to run it outside."""
    if shell.confined is None:
        return ()
    if hosts := host_offers(shell.confined.refused_hosts, shell.line.shown):
        return hosts
    refused = _refused(shell)
    if outcome.success or not refused:
        return ()
    reason = f"the sandbox refused {'; '.join(refused)}"[:MOST_REASON]
    return (Offer("shell", {**call.arguments, "outside_sandbox": reason}, "[run outside the sandbox] "),)


def _naming_withheld(outcome: Outcome, names: Sequence[str]) -> Outcome:
    """Say which variables the command speaks of and did not get."""
    if not names:
        return outcome
    said = f"[withheld because they look like secrets: {', '.join(names)}; `shell.env.pass` lets one through]"
    joint = "" if not outcome.output or outcome.output.endswith("\n") else "\n"
    return replace(outcome, output=f"{outcome.output}{joint}{said}", record={**outcome.record, "withheld": list(names)})


def output_for_model(shell: Shell) -> str:
    """The output within the model's bound: all of it, or its two ends with a mark between them."""
    kept = shell.kept
    if kept.total <= 2 * _HALF:
        whole = kept.read(0, kept.total).data.decode("utf-8", "replace")
        return whole if len(whole.encode()) <= 2 * _HALF else head(whole, _HALF) + "\n[…]\n" + tail(whole, _HALF)
    begin, end = kept.read(0, _HALF).data, kept.read(kept.total - _HALF, _HALF).data
    mark = (
        f"\n[… {kept.total - len(begin) - len(end)} bytes left out; read them with shell_output, "
        f"shell_id {shell.shell_id}, from {len(begin)} …]\n"
    )
    return head(begin.decode("utf-8", "replace"), _HALF) + mark + tail(end.decode("utf-8", "replace"), _HALF)


def _in_background(shell: Shell) -> Outcome:
    shown = output_for_model(shell)
    told = f"[running in the background as {shell.shell_id}; read its output with shell_output, end it with shell_kill]"
    joint = "\n" if shown and not shown.endswith("\n") else ""
    return Outcome(True, shown + joint + told, record=_record(shell))


def _sandbox_preview(policy: Policy) -> SandboxPreview:
    return SandboxPreview(
        mode="all" if policy.sandbox_mode == "all" else "commands",
        network=policy.sandbox_network,
        hosts=[] if policy.sandbox_network == "none" else list(policy.sandbox_hosts),
        gaps=list(policy.sandbox_gaps) or None,
    )


def _record(shell: Shell, *, timed_out: bool = False) -> Mapping[str, Json]:
    return {
        "shellId": shell.shell_id,
        "state": shell.state,
        "exitCode": shell.exit_code,
        "bytes": shell.kept.total,
        "background": shell.background,
        "timedOut": timed_out,
        **({} if shell.confined is None else {"sandbox": shell.confined.record()}),
        **({"processTracking": shell.tracking} if shell.tracking in LEFT_OUT else {}),
    }


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
