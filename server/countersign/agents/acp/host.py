"""A hosted agent: one process, started when it is needed, and one session for each chat.

It starts the agent by its recipe, sends prompts and stops, kills an agent that ignores a stop, and notices when it has
died. What the agent asks and reports goes to ``client.py`` and ``session.py``; nothing is decided here.
Its lines stay in one file because process, sandbox and sessions begin and end under one lock.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from countersign.agents.acp.agent_environment import agent_environment
from countersign.agents.acp.agent_process import START_SECONDS, Link, open_link
from countersign.agents.acp.asking_mode import hold_mode
from countersign.agents.acp.before_trust import blocking_obeys_workspace
from countersign.agents.acp.change_watch import ChangeWatch
from countersign.agents.acp.client import Client
from countersign.agents.acp.confinement import (
    agent_may_reach,
    blocking_agent_holds,
    confine_agent,
    outlived,
)
from countersign.agents.acp.hook_door import HookDoor
from countersign.agents.acp.hook_requests import HookRequests
from countersign.agents.acp.key_login import KeyLogin, LoginKeys
from countersign.agents.acp.label import Seen, blocking_hostile_now
from countersign.agents.acp.label_state import LabelState
from countersign.agents.acp.label_store import LabelStore
from countersign.agents.acp.last_greeting import GreetingStore, LastGreeting
from countersign.agents.acp.launch_binding import launch_binding
from countersign.agents.acp.line_filter import NAME as FILTER
from countersign.agents.acp.line_filter import filter_command
from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.login import MOST_VARIABLES, authenticate, login_sentence, without_keys
from countersign.agents.acp.offered import Offered
from countersign.agents.acp.opening import Opening
from countersign.agents.acp.own_servers import blocking_servers
from countersign.agents.acp.project_words import ProjectWords
from countersign.agents.acp.prompt_blocks import content_blocks, image_blocks, with_resources
from countersign.agents.acp.questions import Questions
from countersign.agents.acp.reading import AgentContext
from countersign.agents.acp.recipe import STRANGER, Recipe
from countersign.agents.acp.recipes import Launch, agent_folder, prepare_launch, recipe_for, runs_bash
from countersign.agents.acp.refused_hosts import (
    ask_for_hosts,
    grants_of_all,
    running_turns,
    tell_outlived,
    tell_refused,
)
from countersign.agents.acp.reports import Reports
from countersign.agents.acp.session import FAREWELL_SECONDS, Session
from countersign.agents.acp.session_list import list_sessions
from countersign.agents.acp.session_store import SessionStore, StoredSession
from countersign.agents.acp.translate import read_stop
from countersign.agents.acp.turn_watch import TurnWatch
from countersign.agents.acp.unpermitted import Unpermitted
from countersign.agents.attached_images import takes_none
from countersign.agents.models.base import Image
from countersign.gate import Gate, Resolution, Turn, Workers, sharing
from countersign.settings.policy import AgentConfig, Policy, RuleText
from countersign.tools.sandbox.confiner import Confiner
from countersign.tools.shell.processes import ShellRegistry
from countersign.tools.visible import as_title
from countersign.wire.agents import AgentLabel, AgentSession, AgentState, LoginMethod
from countersign.wire.base import Json
from countersign.wire.errors import AgentExit, InvalidAnswer, LoginNeeded, ModelError
from countersign.wire.threads import Attachment, NoticeEvent, StopReason, ThreadMemory, ThreadOption

log = limited_logger(__name__)

STOP_SECONDS = 5.0
"""An agent that has not ended its turn so long after a stop is killed."""
MOST_FOLLOW_UPS = 8
"""How often one prompt is followed up with what a person said when they denied something."""
LEFT = Resolution("interrupted", "change", "the agent ended its turn without waiting for the answer")
DIED = Resolution("interrupted", "agentExit", "the agent has ended")


class AcpAgent:
    """One configured agent in one workspace.

    The process is started by the first prompt, serves all chats of this agent, and is started anew by the next prompt
    once it has died. ``recipe`` stands for the one that the settings tell.
    ``confiner`` makes the sandbox that it is started in where ``sandbox.mode`` is ``all``; without it it is not started
    then. ``sessions`` keeps which session each chat has, so that the agent can take it up; without it each starts anew.
    ``secrets`` gives the variables of the settings that hold secrets, for the folder that the agent is started in, or
    raises ModelError. ``login_keys`` gives the keys that a person entered for its login methods, ``greetings`` keeps
    what it said when it was last started. ``questions`` shows what it asks the person; without it, or without a client
    that can, the agent is not told that it may ask. ``terminal_logins``: whether the client runs a login in a terminal.
    ``changed`` is called whenever ``state``, ``label`` or ``detail`` is another than before, ``tell_offered`` when the
    agent offers something else in a chat, ``tell_title`` when it gives a chat a title.
    """

    def __init__(
        self,
        config: AgentConfig,
        *,
        gate: Gate,
        policy: Callable[[], Policy],
        environment: Callable[[], Mapping[str, str]],
        gate_folder: Path,
        shell_registry: ShellRegistry | None = None,
        labels: LabelStore | None = None,
        changes: ChangeWatch | None = None,
        recipe: Recipe | None = None,
        sessions: SessionStore | None = None,
        confiner: Confiner | None = None,
        secrets: Callable[[AgentConfig, str], Awaitable[Mapping[str, str]]] | None = None,  # See `binding`.
        login_keys: LoginKeys | None = None,
        greetings: GreetingStore | None = None,
        questions: Questions | None = None,
        terminal_logins: Callable[[], bool] = lambda: False,
        changed: Callable[[], None] = lambda: None,
        tell_offered: Callable[[str], None] = lambda thread_id: None,
        tell_title: Callable[[str, str], None] = lambda thread_id, title: None,
    ) -> None:
        self.config = config
        self.name = config.name
        self.recipe = recipe or recipe_for(config, policy().recipes)
        self.state: AgentState = "idle"
        self._failure: str | None = None
        self._folder = agent_folder(config, policy().workspace)
        self._label = LabelState(config.name, self.recipe, policy().workspace, labels, changed, self._folder)
        self.servers: str | None = None
        """Which MCP servers of its own settings are off, and which run; None where it has none."""
        self._project_words = ProjectWords(config.name, self.recipe.instructions, policy)
        self._looked: bool | None = None
        self._changes = changes
        self._gate = gate
        self._policy = policy
        self._environment = environment
        self._gate_folder = gate_folder
        self._runs_bash = False
        self._shell_registry = shell_registry
        self._confiner = confiner
        self._secrets = secrets
        self._key_login = KeyLogin(config, login_keys)
        self._greetings = greetings
        self._greeting: LastGreeting | None = None
        self._questions = questions
        self._terminal_logins = terminal_logins
        self._confined_by: Policy | None = None
        self._changed = changed
        self._tell_offered = tell_offered
        self._tell_title = tell_title
        self._chosen: dict[str, dict[str, str | bool]] = {}
        self._link: Link | None = None
        self._door: HookDoor | None = None
        self._starting = asyncio.Lock()
        self._retired = False
        self._threads: dict[str, Session] = {}
        self._unheard: dict[str, list[str]] = {}
        """Refusals that chats whose process has ended did not hear of."""
        self._served: set[str] = set()
        """The chats whose session this process has, or is opening."""
        self._told_outlived = False
        self._sessions: dict[str, Session] = {}
        self._workers = Workers(self.name)
        self._opening = Opening(config, self.recipe.name, self._folder, policy().workspace, sessions)
        self._client = Client(self.name, self._sessions.get, self._opening.replays.get, questions)
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def folder(self) -> str:
        """Where it is started."""
        return self._folder

    @property
    def label(self) -> AgentLabel:
        """What holds this agent here, as far as is known."""
        return self._label.label

    @property
    def fallen(self) -> bool:
        """Whether something that it did here lowered its label."""
        return self._label.findings.fallen is not None

    @property
    def detail(self) -> str:
        """Why its label is what it is, or why it could not be started."""
        return self._failure or self._label.detail

    @property
    def takes_images(self) -> bool | None:
        """Whether prompts may hold images; None before the agent was started and said so."""
        return None if self._link is None else self._link.takes_images

    @property
    def lists_sessions(self) -> bool | None:
        """Whether it lists its sessions and takes them up, as it said when it was last started; None: not known."""
        return None if self._greeting is None else self._greeting.lists

    @property
    def forks(self) -> bool | None:
        """Whether it forks its sessions; None as with ``lists_sessions``."""
        return None if self._greeting is None else self._greeting.forks

    @property
    def login_methods(self) -> list[LoginMethod] | None:
        """How to log in to it, while it needs that."""
        link = self._link if self.state == "needsLogin" else None
        return None if link is None else self._key_login.views(link.auth_methods, self.binding())

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables that its login methods take keys in, as far as is known."""
        return () if self._greeting is None else self._greeting.variables

    @property
    def plain_variables(self) -> tuple[str, ...]:
        """Those of them whose values are no secrets."""
        return () if self._greeting is None else self._greeting.plain

    def memory(self, thread_id: str, stored: StoredSession) -> ThreadMemory:
        """Whether this agent remembers all of a chat, as far as is known before it is asked."""
        open_here = thread_id in self._threads
        return "kept" if open_here and not stored.lost else self._opening.memory(stored)

    def offered(self, thread_id: str) -> Offered | None:
        """What this agent offers in a chat; None while it has no session for it."""
        session = self._threads.get(thread_id)
        return None if session is None else session.offered

    async def set_option(self, thread_id: str, option_id: str, value: str | bool) -> list[ThreadOption]:
        """Set an option of a chat's session; return what all are then. Another session of the chat gets it, too.

        Raises:
            InvalidAnswer: there is no session or no such value, or the agent would ask less with it.
            ModelError: the agent refused it.
            AgentExit: it ended meanwhile.
        """
        session, link = self._threads.get(thread_id), self._link
        if session is None or link is None:
            raise InvalidAnswer(f"{self.name} has not begun with this chat yet; send a message first, then choose")
        await self._set_option(link, session, option_id, value)
        self._judge(session)
        self._opening.keep_modes(thread_id, session.offered)
        self._chosen.setdefault(thread_id, {})[option_id] = value
        return session.offered.options

    async def _set_option(self, link: Link, session: Session, option_id: str, value: str | bool) -> None:
        offered = session.offered
        method, params = offered.request(option_id, value)
        before = offered.choose(option_id, value)
        try:
            result = await link.ask_soon(method, {"sessionId": session.session_id, **params})
        except ModelError:
            offered.choose(option_id, before)
            raise
        except ConnectionError:
            raise AgentExit(f"the agent {self.name} has ended; the next prompt starts it again") from None
        offered.hear_set(method, params, result)
        offered.held.judge()

    async def _choose_again(self, link: Link, session: Session, thread_id: str) -> None:
        """Set what the person chose in an earlier session of this chat."""
        now = {option.option_id: option.value for option in session.offered.options}
        for option_id, value in self._chosen.get(thread_id, {}).items():
            if now.get(option_id, value) != value:
                try:
                    await self._set_option(link, session, option_id, value)
                except (InvalidAnswer, ModelError) as error:
                    log.warning("%s did not take `%s` again: %s", self.name, option_id, error)

    def look(self) -> None:
        """Find out in the background what is installed, once, and once more when the workspace's trust changes;
        ``changed`` is called when that changes the label."""
        trusted = self._policy().trusted
        if self._looked != trusted:
            self._looked = trusted
            self._own(self._find_out(), f"identify {self.name}")

    async def reset_label(self) -> None:
        """Clear the fall of its label, because a person says so."""
        await self._label.reset()
        await self._find_out()

    async def prompt(
        self, text: str, turn: Turn, images: Sequence[Image] = (), attached: Sequence[Attachment] = ()
    ) -> StopReason:
        """Send the person's words, images and other attachments, and serve the agent until its turn is over.

        Cancelled: the agent is told to stop, every open request ends as cancelled, an agent that does not end its turn
        in ``STOP_SECONDS`` is killed, and the cancellation is raised on.

        Raises:
            AgentExit: the agent could not be started, or died; its open requests have ended as interrupted.
            ModelError: the agent answered with an error, or takes no images; then nothing was sent.
        """
        watch = self._turn_watch(turn)
        try:
            link, session = await self._ready(turn, text, watch, images)
        except BaseException as error:
            await watch.end()
            self._note_login(error)
            raise
        session.begin(turn)
        self._judge(session)
        takes_resources = link.takes_resources and not self.recipe.drops_resources
        words, beside = with_resources(text, attached, self._folder, takes_resources=takes_resources)
        beside += image_blocks(images)
        turning = self._own(self._turn(link, session, words, beside, watch), f"{self.name} in {turn.thread_id}")
        try:
            return await asyncio.shield(turning)
        except asyncio.CancelledError:
            await self._stop(link, session)
            # The kill after STOP_SECONDS ends it; should even that fail, nobody waits for ever.
            await asyncio.wait({turning}, timeout=2 * STOP_SECONDS + FAREWELL_SECONDS)
            turning.cancel()
            raise
        except LoginNeeded as error:
            self._note_login(error)
            raise

    async def list_sessions(self) -> tuple[list[AgentSession], bool]:
        """Return the sessions that the agent keeps of this folder, and whether there are further ones. Starts it if it
        does not run. Raises as ``session_list.list_sessions``; AgentExit if it cannot be started."""
        link = await self._started()
        try:
            found, more = await list_sessions(link, self._folder)
        except LoginNeeded as error:
            self._note_login(error)
            raise
        chats = self._opening.chats()
        return [
            AgentSession(
                session_id=each.session_id,
                title=each.title,
                updated_at=each.updated_at,
                thread_id=chats.get(each.session_id),
            )
            for each in found
        ], more

    async def begin(self, turn: Turn) -> None:
        """Open the session of this turn's chat ahead of its next prompt. It may not act before that.

        Raises:
            AgentExit: the agent could not be started, or died.
            ModelError: it answered with an error.
        """
        await self._open_ahead(turn, self._ready)

    async def begin_with(self, turn: Turn, session_id: str) -> None:
        """Let this turn's new chat take up a session of the agent's own list, and show what was said in it.

        Raises:
            InvalidAnswer: the agent does not take sessions up, or a chat has this one.
            AgentExit, ModelError: as ``begin``.
        """
        self._opening.claim_session(await self._started(), turn.thread_id, session_id)
        await self._open_ahead(turn, self._ready)

    async def fork(self, turn: Turn, source: str) -> None:
        """Open a session for this turn's new chat that goes on from the one of the chat ``source``.

        Raises:
            InvalidAnswer: the agent does not fork this chat.
            AgentExit, ModelError: as ``begin``.
        """
        await self._open_ahead(turn, partial(self._ready, source=source))

    def _turn_watch(self, turn: Turn) -> TurnWatch:
        root = lambda: self._link.process.pid if self._link else None  # noqa: E731
        return TurnWatch(self._changes, self.name, turn.thread_id, root)

    async def _open_ahead(self, turn: Turn, ready: Callable[..., Awaitable[tuple[Link, Session]]]) -> None:
        watch = self._turn_watch(turn)
        try:
            _, session = await ready(turn, "", watch, ())
        except LoginNeeded as error:
            self._note_login(error)
            raise
        finally:
            await watch.end()
        if session.turn is None:
            session.introduce(turn)
            self._judge(session)

    async def _started(self) -> Link:
        async with self._starting:
            return await self._running()

    async def cancel(self, thread_id: str) -> None:
        """Stop the running turn of this chat; ``prompt`` then returns "cancelled". Returns once the agent was told."""
        session, link = self._threads.get(thread_id), self._link
        if session is not None and link is not None and session.turn is not None:
            await self._stop(link, session)

    async def log_in(self, method_id: str) -> None:
        """Let the agent log in by one of its methods; by keys, it is started anew with them. Raises as
        ``authenticate``; InvalidAnswer if a key was not entered, AgentExit if it cannot be started."""
        async with self._starting:
            link = self._link or await self._start()
            method = next((each for each in link.auth_methods if each.method_id == method_id), None)
            by_keys = method is not None and bool(method.variables)
            if method is not None and by_keys:
                await self._key_login.require(self.binding(), method)
                await self._remember(login=None)
                await link.process.end()
                await self._buried(link)
                link = await self._start()
        try:
            await authenticate(link, method_id)
        except ModelError as error:
            told = without_keys(str(error), self._key_login.given)
            if self._link is link and by_keys:
                self._set("needsLogin", told)
            raise type(error)(told) from None
        if self._link is link:
            await self._remember(login=method_id if by_keys else None)
            self._set("running")

    async def close(self) -> None:
        """End the process and everything it started; running prompts raise AgentExit, the next one starts it anew."""
        async with self._starting:
            link = self._link
            if link is not None:
                await link.process.end()
                await self._buried(link)

    async def retire(self) -> None:
        """``close`` for good, because another host takes this one's place: nothing is started here any more."""
        self._retired = True
        await self.close()

    # A turn.

    async def _turn(
        self, link: Link, session: Session, text: str, beside: Sequence[Json], watch: TurnWatch
    ) -> StopReason:
        try:
            await watch.begin(session.unpermitted.say_changed)
            return await self._unwatched_turn(link, session, text, beside)
        finally:
            await watch.end()

    def _root(self, link: Link) -> int | None:
        return link.process.pid if self._link is link else None

    async def _unwatched_turn(self, link: Link, session: Session, text: str, beside: Sequence[Json]) -> StopReason:
        ending = LEFT
        try:
            if session.stopping:
                return "cancelled"
            stop = await self._prompt_first(link, session, text, beside)
            for _ in range(MOST_FOLLOW_UPS):
                if session.stopping or not session.urgent:
                    break
                await session.close_open(LEFT)
                if session.stopping:
                    break
                session.reopen()
                stop = await self._prompt_once(link, session, session.notes_due())
            if session.turn is not None and not session.stopping and (refused := link.process.newly_refused()):
                await ask_for_hosts(session, session.turn, self._policy, refused, self._served)
            return "cancelled" if session.stopping else stop
        except ConnectionError:
            ending = DIED
            if session.stopping:
                return "cancelled"
            raise AgentExit(f"the agent {self.name} has ended; the next prompt starts it again") from None
        except ModelError:
            if session.stopping:
                return "cancelled"
            raise
        finally:
            tell_refused(session, link.process.newly_refused())
            await session.end(ending)

    async def _prompt_first(self, link: Link, session: Session, text: str, beside: Sequence[Json]) -> StopReason:
        """Send the person's words, with what the agent must hear beside them. Nothing stands before a slash command,
        because agents look for it at the beginning."""
        if text.startswith("/"):
            return await self._prompt_once(link, session, [text, *session.notes_due()], beside)
        due = await self._project_words.words_due(session.session_id)
        stop = await self._prompt_once(link, session, [*session.notes_due(), text, *(due or ())], beside)
        if due is not None:
            self._project_words.accepted(session.session_id, session.emit)
        return stop

    async def _prompt_once(
        self, link: Link, session: Session, words: list[str], beside: Sequence[Json] = ()
    ) -> StopReason:
        params: dict[str, Json] = {"sessionId": session.session_id, "prompt": content_blocks(words, beside)}
        result = await link.request("session/prompt", params)
        session.notes_accepted()
        stop, events = read_stop(result)
        for event in events:
            session.emit(event)
        # Some agents end a turn as cancelled after a refusal; nobody cancelled it then.
        return "end_turn" if stop == "cancelled" and not session.stopping else stop

    async def _stop(self, link: Link, session: Session) -> None:
        if session.stopping or session.turn is None:
            return
        turn = session.turn
        session.stop()
        # Armed first: an agent that does not even read would hold the message up.
        self._own(self._kill_unless_ended(link, session, turn), f"stop {self.name}")
        await link.tell("session/cancel", {"sessionId": session.session_id})

    async def _kill_unless_ended(self, link: Link, session: Session, turn: Turn) -> None:
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await session.ended.wait()
        except TimeoutError:
            if session.turn is turn:
                log.warning("%s ignored a stop for %.0f s and is killed", self.name, STOP_SECONDS)
                link.process.kill()

    # The process and its sessions.

    async def _running(self) -> Link:
        """The agent, started anew where it has ended or must run otherwise. Only under ``_starting``."""
        if self._link is not None and self._link.pipe.ended.is_set():
            await self._buried(self._link)
        if self._link is not None and outlived(self._confined_by, self._policy()):
            await self._link.process.end()
            await self._buried(self._link)
        return self._link or await self._start()

    async def _ready(
        self, turn: Turn, text: str, watch: TurnWatch, images: Sequence[Image], source: str | None = None
    ) -> tuple[Link, Session]:
        """``source``: the chat whose session is forked for this one."""
        async with self._starting:
            link = await self._running()
            if images and not link.takes_images:
                raise takes_none(f"the agent {self.name}")
            if (session := self._threads.get(turn.thread_id)) is not None:
                return link, session
            self._served.add(turn.thread_id)
            session = await self._open_session(link, turn, text, watch, source)
            self._set("running")
            self._threads[turn.thread_id] = session
            session.note_again(self._unheard.pop(turn.thread_id, []))
            await self._choose_again(link, session, turn.thread_id)
            self._tell_offered(turn.thread_id)
            return link, session

    def binding(self) -> str:
        """Return what this agent's keys are bound to: one line for a person that tells how it is started."""
        return launch_binding(self.config, self.recipe, self._folder)

    async def _quiet_or_raise(self, launch: Launch, environment: Mapping[str, str], policy: Policy) -> None:
        """INVARIANT (quiet before trust): nothing that the workspace holds is started."""
        places = self._folder, policy.workspace
        why = await asyncio.to_thread(blocking_obeys_workspace, launch.command, environment, *places)
        if why is not None:
            raise AgentExit(
                f"the agent {self.name} is not started before the workspace is trusted, because {why}; trust the "
                "workspace, or install the agent and name its program"
            )

    async def _start(self) -> Link:
        if self._retired:
            raise AgentExit(f"the agent {self.name} has ended; the next prompt starts it again")
        self._set("starting")
        try:
            clean = self._environment()
            bare = agent_environment(clean, self.config, Launch((), {}), self._folder)
            door = await self._open_door()
            hook = () if door is None else door.command
            filtered = await asyncio.to_thread(self._blocking_filter, bare)
            launch = await asyncio.to_thread(
                prepare_launch, self.recipe, self.config, self._gate_folder, bare, shlex.join(hook), filtered
            )
            environment = agent_environment(clean, self.config, launch, self._folder)
            # Only the agent itself gets them, not what finds out about it.
            secrets = await self._secrets(self.config, self.binding()) if self._secrets is not None else {}
            settled = {**environment, **secrets}
            keys = await self._key_login.read(self.binding(), (await self._last_greeting()).variables, settled)
            started_in = {**environment, **keys, **secrets, **launch.env}
            self._runs_bash = await asyncio.to_thread(runs_bash, self.recipe, environment)
            policy = self._policy()
            confinement = None
            hidden = frozenset[Seen]()
            if policy.sandbox_mode == "all":
                bases = policy.workspace, self._folder
                hidden = await asyncio.to_thread(blocking_hostile_now, self.recipe, *bases)
                may_reach = agent_may_reach(self._policy, self._common_grants, self.recipe, self.name)
                beside = hook, (() if not filtered else (*filtered, os.path.join(launch.folder, FILTER)))
                confinement = await confine_agent(
                    self._confiner, policy, self.recipe, self.name, launch, started_in, self._folder, may_reach, beside
                )
                launch, started_in = confinement.launch, confinement.environment
            if not policy.trusted:
                await self._quiet_or_raise(launch, started_in, policy)
            with sharing(self._workers):
                link = await open_link(
                    self.name,
                    launch,
                    started_in,
                    self._folder,
                    self._client.request,
                    self._client.notify,
                    terminals=self._shell_registry is not None,
                    questions=self._questions is not None and self._questions.can_ask(),
                    terminal_logins=self._terminal_logins(),
                    config=self.config,
                    settled=settled.keys() | self.config.written_env.keys(),
                    confined=None if confinement is None else confinement.confined,
                )
        except (OSError, AgentExit, ModelError) as error:
            await self._close_door()
            self._set("failed", str(error))
            if isinstance(error, AgentExit):
                raise
            raise AgentExit(f"the agent {self.name} cannot be started: {error}") from None
        except BaseException:
            await self._close_door()
            self._set("failed")
            raise
        self._link = link
        self._confined_by = None if confinement is None else policy
        holds = () if confinement is None else await asyncio.to_thread(blocking_agent_holds, policy, self.recipe)
        self._label.confine(holds, hidden)
        await self._label.find_out(launch.command, environment, link.claim)
        await self._heard_greeting(link)
        self._set("running")
        self._own(self._watch(link), f"watch {self.name}")
        return link

    def _blocking_filter(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        if self.recipe.filter is None:
            return ()
        command = self.config.command or "", *self.config.args
        return filter_command(self.recipe.filter, self.name, command, environment, self._folder)

    async def _open_door(self) -> HookDoor | None:
        """Listen for the pre-tool hook that the recipe sets up; None where it sets up none."""
        await self._close_door()
        if (hook := self.recipe.hook) is None:
            return None
        asked = HookRequests(self.name, hook, self._sessions.get)
        self._door = HookDoor(self.name, hook, asked.ask)
        await self._door.open()
        return self._door

    async def _close_door(self) -> None:
        door, self._door = self._door, None
        if door is not None:
            await door.close()

    async def _last_greeting(self) -> LastGreeting:
        """What it said when it was last started, looked up once."""
        if self._greeting is None and self._greetings is not None:
            found = await asyncio.to_thread(self._greetings.blocking_find, self.name, self.binding())
            self._greeting = self._greeting or found
        return self._greeting or LastGreeting()

    async def _heard_greeting(self, link: Link) -> None:
        """Keep what a started agent said, and log it in again where keys are all that this takes."""
        # Some agents name a variable only as long as it is not set.
        told = [each for method in link.auth_methods for each in method.variables]
        variables = tuple(dict.fromkeys((*self._key_login.given, *(each.name for each in told))))[:MOST_VARIABLES]
        secret = {each.name for each in told if not each.plain}
        known = {*(await self._last_greeting()).plain, *(each.name for each in told)} - secret
        plain = tuple(name for name in variables if name in known)
        lists = link.lists and link.reopens is not None
        await self._remember(lists=lists, forks=link.forks, variables=variables, plain=plain)
        login = (await self._last_greeting()).login
        method = next((each for each in link.auth_methods if login is not None and each.method_id == login), None)
        if method is not None and method.variables and self._key_login.has_all(method):
            try:
                async with asyncio.timeout(START_SECONDS):
                    await authenticate(link, method.method_id)
            except (TimeoutError, AgentExit, ModelError):
                # Its next answer says what is missing.
                log.warning("%s did not log in with its keys again", self.name)

    async def _remember(self, **changes: Any) -> None:
        before = await self._last_greeting()
        self._greeting = replace(before, **changes)
        if self._greetings is not None and self._greeting != before:
            try:
                await asyncio.to_thread(self._greetings.blocking_keep, self.name, self.binding(), self._greeting)
            except OSError:
                # It counts all the same, for as long as this server runs.
                log.exception("what %s offers could not be stored", self.name)

    def _common_grants(self) -> Sequence[RuleText]:
        return grants_of_all(self._gate, self.name, running_turns(self._served, self._threads))

    async def end_if_outlived(self) -> None:
        """End the process, in the middle of a turn too, if the settings by now say that it must run in the sandbox and
        it does not. The next prompt starts it there. If it runs in one of earlier rules, tell the chats of its turns
        that the next prompt starts it in another."""
        async with self._starting:
            link = self._link
            if link is not None and self._confined_by is None and self._policy().sandbox_mode == "all":
                await link.process.end()
                await self._buried(link)
            elif link is not None and self._policy().sandbox_mode == "all" and not self._told_outlived:
                self._told_outlived = outlived(self._confined_by, self._policy())
                if self._told_outlived:
                    tell_outlived(self._sessions.values())

    async def _open_session(
        self, link: Link, turn: Turn, text: str, watch: TurnWatch, source: str | None = None
    ) -> Session:
        params: dict[str, Json] = {"cwd": self._folder, "mcpServers": []}
        if self.recipe.session_meta is not None:
            params["_meta"] = dict(self.recipe.session_meta)

        # Opening a session may run hooks and servers of the repository, and one that is taken up may go on by itself.
        reports = Reports(self.name, turn.emit, lambda: AgentContext(self._folder, self._policy().home))
        unpermitted = Unpermitted(self.name, turn.thread_id, self._gate, self, reports, turn.emit)
        await watch.begin(unpermitted.say_changed)
        opening, taken = self._opening, self._sessions
        offered = self._make_offered(turn.thread_id)
        if source is not None:
            session_id = await opening.fork(link, source, turn.thread_id, params, taken, offered)
            session = self._make_session(link, session_id, turn.thread_id, offered, cost=None)
            self._sessions[session_id] = session
            await self._hold_mode(link, session_id, offered)
            return session
        found = await opening.take_up(link, turn, text, params, taken, self._hold_mode, offered)
        if found is not None:
            session_id, replay = found
            made = self._make_session(link, session_id, turn.thread_id, offered, cost=replay.cost)
            session = self._sessions[session_id] = made
            return session
        offered = self._make_offered(turn.thread_id)
        session_id = await opening.start_anew(link, params, taken, offered)
        made = self._make_session(link, session_id, turn.thread_id, offered, cost=0.0)
        session = self._sessions[session_id] = made
        self._project_words.begin(session_id)
        await opening.keep_new(link, turn, text, session_id)
        opening.keep_modes(turn.thread_id, offered)
        await self._hold_mode(link, session_id, offered)
        return session

    def _make_offered(self, thread_id: str) -> Offered:
        return Offered(self.name, self.recipe, lambda: self._tell_offered(thread_id))

    def _make_session(
        self, link: Link, session_id: str, thread_id: str, offered: Offered, *, cost: float | None
    ) -> Session:
        return Session(
            session_id,
            agent=self.name,
            recipe=self.recipe,
            gate=self._gate,
            policy=self._policy,
            shell_registry=self._shell_registry,
            questions=self._questions,
            workers=self._workers,
            labels=self,
            tell_settings=self._judge,
            tell_title=lambda _, title: self._tell_title(thread_id, title),
            offered=offered,
            cost=cost,
            runs_bash=self._runs_bash,
            folder=self._folder,
            root=lambda: self._root(link),
        )

    async def _hold_mode(self, link: Link, session_id: str, offered: Offered) -> None:
        """Put the session into the mode and options in which the agent asks; if it will not, the label says so."""
        refused = await hold_mode(link, self.recipe, session_id, offered)
        if refused is not None:
            # Not kept: the next start tries again.
            self._label.fall(refused)

    def _judge(self, session: Session, *, put_back: bool = True) -> None:
        """Act on modes and held options by which the agent may ask less (``held.py``), whoever told of them."""
        strays = session.offered.held.take()
        if self.recipe.name == STRANGER.name and self._label.findings.probed is None:
            # Nothing is known to hold it, so its label has nothing to fall from.
            return
        for stray in strays:
            value = as_title(str(stray.value))
            match stray.kind:
                case "mode":
                    message = (
                        f"{self.name} went into its mode `{value}` by itself; it was put back and counts as unguarded"
                    )
                    self.fall(message)
                case "option":
                    message = (
                        f"{self.name} set its option `{stray.option_id}` to `{value}`; it was put back, and it counts "
                        "as unguarded until restarted"
                    )
                    self._label.fall(message)
                case "opening":
                    message = (
                        f"{self.name} opened this chat in its mode `{value}`, which says that it asks for less, so it "
                        "counts as unguarded until restarted"
                    )
                    self._label.fall(message)
            session.emit(NoticeEvent(level="warning", message=message))
        if put_back and any(stray.kind != "opening" for stray in strays):
            self._put_back(session)

    def _put_back(self, session: Session) -> None:
        if (link := self._link) is not None:
            self._own(self._hold_again(link, session), f"hold the mode of {self.name}")

    async def _hold_again(self, link: Link, session: Session) -> None:
        await self._hold_mode(link, session.session_id, session.offered)
        # Once only: an agent that answers with the mode that it shall leave would be asked for ever.
        self._judge(session, put_back=False)

    async def _watch(self, link: Link) -> None:
        await link.gone()
        async with self._starting:
            await self._buried(link)

    async def _buried(self, link: Link) -> None:
        """The agent is gone: end what it had open, then everything that is left of it."""
        if self._link is not link:
            return
        self._link = None
        self._label.confine(())
        for thread_id, session in self._threads.items():
            if notes := session.unheard_notes():
                self._unheard[thread_id] = notes
        sessions, threads = list(self._sessions.values()), list(self._threads)
        self._threads.clear()
        for thread_id in threads:
            self._tell_offered(thread_id)
        self._served.clear()
        self._told_outlived = False
        self._sessions.clear()
        self._set("exited")
        self._workers.close()
        await asyncio.gather(*(session.end(DIED) for session in sessions))
        if self._questions is not None:
            self._questions.forget_agent(self.name)
        await link.close()
        await self._close_door()

    async def _find_out(self) -> None:
        clean = self._environment()
        environment = agent_environment(clean, self.config, Launch((), {}), self._folder)
        known = self._greeting
        await self._last_greeting()
        if self._greeting != known:
            self._changed()
        await self._label.find_out((self.config.command or "", *self.config.args), environment)
        home = environment.get("HOME") or self._policy().home
        policy = self._policy()
        servers = await asyncio.to_thread(blocking_servers, self.recipe, policy.workspace, home, trusted=policy.trusted)
        if servers != self.servers:
            self.servers = servers
            self._changed()
        for session in self._threads.values():
            # What was found out may have given back a label that a session speaks against.
            session.offered.held.judge_anew()
            self._judge(session)

    @property
    def announces_calls(self) -> bool:
        """Whether a call that it first reports as failed never ran (``LabelState.announces_calls``)."""
        return self._label.announces_calls

    def suspect(self, call_id: str, why: str) -> None:
        """A call runs that was not asked about."""
        self._label.suspect(call_id, why)

    def clear(self, call_id: str) -> None:
        """It was asked about after all."""
        self._label.clear(call_id)

    def fall(self, why: str) -> None:
        """What the agent did speaks against its label, until a person clears that."""
        self._label.fall(why)
        self._own(self._label.keep_fall(), f"store the fall of {self.name}")

    def _note_login(self, error: BaseException) -> None:
        if isinstance(error, LoginNeeded) and (link := self._link) is not None:
            variables = [each for method in link.auth_methods for each in method.variables if not each.optional]
            enter_key = self._key_login.how_to_enter(self.binding(), variables[0]) if variables else ""
            told = without_keys(login_sentence(error, self.recipe, enter_key), self._key_login.given)
            self._set("needsLogin", told)

    def _set(self, state: AgentState, failure: str | None = None) -> None:
        self.state, self._failure = state, failure
        self._changed()

    def _own(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, _TOLD):
            log.error("%s failed", task.get_name(), exc_info=error)


_TOLD = (AgentExit, ModelError)
"""Errors that ``prompt`` raises to its caller; they need no second mention in the log."""
