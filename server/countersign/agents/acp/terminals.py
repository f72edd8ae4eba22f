"""``terminal/*``: commands that an agent runs through us, as bash takes them, at the same desk as all others.

A command that an approval of the agent's own request covers to the letter runs on that approval (``pre_approval.py``);
every other is a call of its own at the gate. What runs when the turn ends is ended with it, unless a person moved it to
the background.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Sequence

from countersign.agents.acp.client_methods import OVER, Denied, Failed, call_at_door, over, pass_door, running_turn
from countersign.agents.acp.hints import LONGEST_COMMAND
from countersign.agents.acp.reports import new_call_id
from countersign.agents.acp.requests import TOO_LONG, Entry
from countersign.agents.acp.session import Session
from countersign.agents.acp.translate import BadMessage, Raw, read_text
from countersign.gate import BadArguments, Outcome, Permit, Plan, RunCommand, Stale, ToolCall, in_worker
from countersign.settings.policy import RuleText
from countersign.tools.places import PATH_LENGTH
from countersign.tools.sandbox.host_tool import reachable
from countersign.tools.sandbox.state import runs_confined
from countersign.tools.shell.command_line import CommandLine, Sandbox, shell_line
from countersign.tools.shell.processes import Shell, ShellRegistry
from countersign.tools.shell.shell import ended_outcome, sandbox_of_reads, scripts_or_stale
from countersign.tools.tool import Prepared
from countersign.tools.use_permit import spend
from countersign.tools.visible import as_title
from countersign.wire.approvals import CommandPreview
from countersign.wire.base import Json
from countersign.wire.threads import ToolOutputEvent

MOST_TERMINALS = 32
"""Terminals of one session whose commands have ended; the oldest is forgotten."""
LONG = 64 << 10
"""Characters from which on an output waits until the agent has read others (``Session.hold_text``)."""
MOST_KEPT = 1 << 20
"""Bytes of output that a terminal answers with at most, whatever the agent asks for."""

SHELL = re.compile(r"(?:/(?:usr/)?bin/)?(?:ba|da|z)?sh")
RUNS_TEXT = re.compile(r"-l?c")


async def create_terminal(session: Session, params: Raw) -> dict[str, Json]:
    """Start a command and answer with its terminal's id; the command runs on.

    Raises:
        BadMessage: the params are not those of the method.
        Denied, Failed: nothing was started.
    """
    text, cwd = command_text(params), await in_worker(_blocking_folder, session.folder, params.get("cwd"))
    if len(text) > LONGEST_COMMAND:
        raise Failed(TOO_LONG)
    limit = params.get("outputByteLimit")
    shell_registry = _shell_registry(session)
    running_turn(session)
    shell = await _run_on_credit(session, shell_registry, text, cwd) or await _ask_to_run(
        session, shell_registry, text, cwd
    )
    session.limits[shell.shell_id] = min(limit, MOST_KEPT) if isinstance(limit, int) and limit >= 0 else MOST_KEPT
    session.reports.terminals_of_ours[shell.shell_id] = command_forms(params)
    return {"terminalId": shell.shell_id}


async def terminal_output(session: Session, params: Raw) -> dict[str, Json]:
    """What the command has put out, its end if that is longer than the agent's limit, and how it ended if it did."""
    shell = _shell(session, params)
    start = max(shell.kept.total - session.limits.get(shell.shell_id, MOST_KEPT), 0)
    if min(shell.kept.total, MOST_KEPT) > LONG:
        await session.hold_text(asyncio.current_task())
    read = shell.read(start, shell.kept.total)
    answer: dict[str, Json] = {"output": read.text, "truncated": bool(read.truncated or start > 0)}
    if shell.ended.is_set():
        answer["exitStatus"] = _exit_status(shell)
    return answer


async def wait_for_terminal_exit(session: Session, params: Raw) -> dict[str, Json]:
    """How the command ended, once it has."""
    shell = _shell(session, params)
    await shell.ended.wait()
    return _exit_status(shell)


async def kill_terminal(session: Session, params: Raw) -> dict[str, Json]:
    """End the command; its output can still be read."""
    shell = _shell(session, params)
    await _shell_registry(session).kill(shell.shell_id)
    return {}


async def release_terminal(session: Session, params: Raw) -> dict[str, Json]:
    """End the command if it runs, and forget the terminal."""
    await kill_terminal(session, params)
    del session.shells[read_text(params, "terminalId")]
    return {}


def command_text(params: Raw) -> str:
    """The line that bash is given: ``command`` alone is shell text, with ``args`` it is a program and its words.

    Variables of its own are part of the line, so that they are judged and shown with it.

    Raises:
        BadMessage: the params are not those of the method.
    """
    command, args, env = read_text(params, "command"), params.get("args") or [], params.get("env") or []
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        raise BadMessage("`args` must be strings")
    text = shlex.join([command, *(str(word) for word in args)]) if args else command
    if not isinstance(env, list):
        raise BadMessage("`env` must be a list")
    variables = []
    for entry in env:
        if not isinstance(entry, dict):
            raise BadMessage("`env` must be a list of names and values")
        variables.append(f"{read_text(entry, 'name')}={read_text(entry, 'value')}")
    return shlex.join(["env", *variables, "bash", "-c", text]) if variables else text


def command_forms(params: Raw) -> frozenset[str]:
    """The command of a terminal in each form in which its agent may tell it elsewhere: with and without its variables
    and, where a shell is given one, as that text."""
    plain = {key: value for key, value in params.items() if key != "env"}
    forms = {command_text(params), command_text(plain)}
    match params.get("command"), params.get("args"):
        case str(program), [str(option), str(text)] if SHELL.fullmatch(program) and RUNS_TEXT.fullmatch(option):
            forms.add(text)
        case str(program), list(words):
            forms.add(" ".join((program, *map(str, words))))
        case _:
            pass
    return frozenset(forms)


async def _run_on_credit(session: Session, shell_registry: ShellRegistry, text: str, cwd: str) -> Shell | None:
    """Start it on the approval by a person whose card showed exactly this.

    None if there is none, if the gate would deny it by now, or if a script that it named has changed since. What was
    allowed without a person is decided again: then what was judged runs, not the bytes that the agent sent.
    """
    approved = session.credits.spend_run(text, cwd)
    if approved is None or approved.by != "user" or not await session.honors(approved, (RunCommand(text, cwd),)):
        return None
    try:
        return await _start(session, shell_registry, approved.call, text, cwd, by_person=True)
    except Stale:
        return None


async def _ask_to_run(session: Session, shell_registry: ShellRegistry, text: str, cwd: str) -> Shell:
    turn, entry = running_turn(session), Entry(new_call_id())
    prepared = Prepared(
        effects=(RunCommand(text, cwd),),
        preview=CommandPreview(command=text, cwd=cwd, parts=[]),
        title=as_title(text),
        cwd=cwd,
        payload=None,
    )
    arguments: dict[str, Json] = {"command": text, "cwd": cwd}
    call = call_at_door(entry, turn, prepared, arguments, kind="execute", category="execute")
    started: asyncio.Future[Shell] = asyncio.get_running_loop().create_future()

    async def run(permit: Permit) -> Outcome:
        permitted = spend(permit, prepared)
        entry.acting = True
        try:
            shell = await _start(
                session,
                shell_registry,
                permitted,
                text,
                cwd,
                runs=permit.runs,
                by_person=permit.by == "user",
                reads=sandbox_of_reads(permit),
            )
        except (Denied, Failed) as error:
            return Outcome(False, str(error))
        started.set_result(shell)
        try:
            await shell.settled.wait()
        except asyncio.CancelledError:
            await shell_registry.kill(shell.shell_id)
            raise
        if not shell.ended.is_set():
            return Outcome(True, f"goes on in the background as {shell.shell_id}", record={"shellId": shell.shell_id})
        return ended_outcome(shell, "was killed" if shell.state == "killed" else None)

    passing = asyncio.ensure_future(pass_door(entry, session, lambda _: Plan(call, run)))
    try:
        await asyncio.wait({passing, started}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        passing.cancel()
        raise
    if started.done():
        passing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return started.result()
    raise Failed((await passing).output)


async def _start(
    session: Session,
    shell_registry: ShellRegistry,
    call: ToolCall,
    text: str,
    cwd: str,
    *,
    by_person: bool,
    runs: str | None = None,
    reads: Sandbox = "none",
) -> Shell:
    """Start the text for this call, unless a script that it names is not what it was when the call was judged.

    ``runs`` is the text that runs in place of ``text``, which is shown.

    Raises:
        Stale: it is not, or the folder is a link now; nothing was started.
        Failed: it cannot be started.
    """
    turn = running_turn(session)
    environment = shell_registry.environment(only_reads=reads != "none")

    def emit(output: str) -> None:
        turn.emit(ToolOutputEvent(tool_call_id=call.tool_call_id, text=output))

    def grants() -> Sequence[RuleText]:
        return session.gate.grants.live(agent=turn.agent, thread_id=turn.thread_id, turn_id=turn.turn_id)

    try:
        line = CommandLine(
            argv=shell_line("bash", text if runs is None else runs, environment, session.policy().workspace),
            shown=text,
            cwd=cwd,
            environment=environment,
            tool_call_id=call.tool_call_id,
            thread_id=turn.thread_id,
            by_person=by_person,
            may_reach=reachable(session.policy, grants, turn.agent),
            sandbox="writable" if runs_confined(session.policy()) else reads,
        )
        # INVARIANT (same bytes): looked at right before the start, on a credit too.
        await in_worker(scripts_or_stale, call)
        if over(session, turn):
            raise Denied(OVER)
        shell = await shell_registry.start(line, emit)
    except (BadArguments, OSError) as error:
        raise Failed(str(error)) from None
    # Known from its first moment, so that the end of the turn ends it.
    session.shells[shell.shell_id] = shell
    ended = [each for each, known in session.shells.items() if known.ended.is_set()]
    for each in ended[: max(0, len(ended) - MOST_TERMINALS)]:
        del session.shells[each]
    if over(session, turn):
        await shell_registry.kill(shell.shell_id)
        raise Denied(OVER)
    return shell


def _exit_status(shell: Shell) -> dict[str, Json]:
    return {"exitCode": shell.exit_code, "signal": "SIGKILL" if shell.state == "killed" else None}


def _shell(session: Session, params: Raw) -> Shell:
    shell = session.shells.get(read_text(params, "terminalId"))
    if shell is None:
        raise BadMessage("there is no such terminal")
    return shell


def _shell_registry(session: Session) -> ShellRegistry:
    if session.shell_registry is None:
        raise Denied("terminals are not available here")
    return session.shell_registry


def _blocking_folder(workspace: str, cwd: Json) -> str:
    """Where the command is to run, resolved."""
    if cwd is None:
        return os.path.realpath(workspace)
    if not isinstance(cwd, str) or "\0" in cwd or not os.path.isabs(cwd):
        raise BadMessage("`cwd` must be an absolute path")
    if len(cwd) > PATH_LENGTH:
        raise BadMessage(f"`cwd` is longer than {PATH_LENGTH} characters")
    return os.path.realpath(cwd)
