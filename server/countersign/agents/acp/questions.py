"""Questions of hosted agents to the person (``elicitation/create``): which are open, and how each ends.

A question is no call: nothing here goes to the gate, no answer gives leave for anything, and no answer is kept or
logged. The chat keeps what was asked and that it was answered. Its form is read by ``question_schema.py``.

INVARIANT (once): ``Questions._finish`` is the only end of a question; it is synchronous, and who comes second finds
none.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from countersign.agents.acp.log_limit import limited_logger
from countersign.agents.acp.question_schema import LONGEST_MESSAGE, ReadUrl, read_content, read_form, read_url
from countersign.agents.acp.translate import LONGEST_NAME, BadMessage, Raw, read_text
from countersign.gate import now
from countersign.tools.visible import as_message, as_title
from countersign.wire.base import Json
from countersign.wire.elicitation import (
    ElicitationRequest,
    ElicitationResolved,
    ElicitationRespondParams,
    ElicitationSchema,
    QuestionState,
)
from countersign.wire.errors import AlreadyResolved, InvalidAnswer
from countersign.wire.threads import NoticeEvent, QuestionEvent, ThreadEvent

if TYPE_CHECKING:
    from countersign.agents.acp.session import Session

log = limited_logger(__name__)

MOST_OPEN = 20
"""Questions of one session at once; more are answered `cancel`."""
MOST_ASKED = 100
"""Questions of one turn; more are answered `cancel`."""
MOST_OPENED = 100
"""URLs that were opened and that the agent has not told the end of."""
DECLINE: Mapping[str, Json] = {"action": "decline"}
CANCEL: Mapping[str, Json] = {"action": "cancel"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What an agent asks: a form, or a URL with the agent's own id for it."""

    message: str
    form: ElicitationSchema | None = None
    url: ReadUrl | None = None
    agent_id: str | None = None


@dataclass(slots=True, eq=False)
class OpenQuestion:
    """A question that waits for a person. ``answer`` is what the agent is told."""

    request: ElicitationRequest
    session: Session
    asked: Asked
    answer: asyncio.Future[Mapping[str, Json]]

    def event(self, state: QuestionState) -> QuestionEvent:
        """Return its row in the chat."""
        form = self.asked.form
        fields = [field.title or name for name, field in form.properties.items()] if form is not None else None
        return QuestionEvent(
            elicitation_id=self.request.elicitation_id,
            agent_name=self.request.agent_name,
            message=self.asked.message,
            url=_kept_url(self.request.url),
            fields=fields,
            state=state,
        )


@dataclass(frozen=True, slots=True)
class _Opened:
    """A URL that a person opened, until the agent says that this has ended."""

    thread_id: str
    event: QuestionEvent
    emit: Callable[[ThreadEvent], None]


class Questions:
    """The open questions of one workspace. ``can_ask``: a client is there that draws them."""

    def __init__(
        self,
        *,
        show: Callable[[ElicitationRequest], None],
        resolved: Callable[[ElicitationResolved], None],
        can_ask: Callable[[], bool],
    ) -> None:
        self._show = show
        self._resolved = resolved
        self.can_ask = can_ask
        self._open: dict[str, OpenQuestion] = {}
        self._opened: dict[tuple[str, str], _Opened] = {}

    def waiting(self) -> list[str]:
        """Return the chat of each open question."""
        return [question.request.thread_id for question in self._open.values()]

    def of_session(self, session: Session) -> list[OpenQuestion]:
        """Return the open questions of one session."""
        return [question for question in self._open.values() if question.session is session]

    async def ask(self, session: Session, thread_id: str, asked: Asked) -> Mapping[str, Json]:
        """Show a question and wait for its end; the result is the agent's answer.

        Cancelled (the agent took it back, or is gone): it ends.

        Raises:
            BadMessage: a question with the same id of this agent is open.
        """
        if asked.agent_id is not None and self._find(session.agent, asked.agent_id) is not None:
            raise BadMessage("a question with this `elicitationId` is open")
        url = asked.url
        request = ElicitationRequest(
            elicitation_id=secrets.token_urlsafe(12),
            thread_id=thread_id,
            agent_name=session.agent,
            message=asked.message,
            schema=asked.form,
            url=url.url if url is not None else None,
            host=url.host if url is not None else None,
            notes=[*url.notes] if url is not None and url.notes else None,
            created_at=now(),
        )
        question = OpenQuestion(request, session, asked, asyncio.get_running_loop().create_future())
        self._open[request.elicitation_id] = question
        session.emit(question.event("waiting"))
        self._show(request)
        try:
            return await question.answer
        finally:
            self._finish(question, "cancelled", CANCEL)

    def respond(self, params: ElicitationRespondParams) -> QuestionState:
        """Take a person's answer.

        Raises:
            AlreadyResolved: the question has ended.
            InvalidAnswer: the answer does not fit the form; the question stays open.
        """
        question = self._open.get(params.elicitation_id)
        if question is None:
            raise AlreadyResolved("this question has ended; the agent no longer waits for an answer")
        form = question.asked.form
        if params.content is not None and (form is None or params.action != "accept"):
            raise InvalidAnswer("only a form that is submitted has values")
        state: QuestionState
        answer: Mapping[str, Json]
        match params.action:
            case "accept" if form is not None:
                state, answer = "answered", {"action": "accept", "content": read_content(form, params.content or {})}
            case "accept":
                state, answer = "opened", {"action": "accept"}
            case "decline":
                state, answer = "declined", DECLINE
            case "cancel":
                state, answer = "dismissed", CANCEL
        self._finish(question, state, answer)
        return state

    def end(self, session: Session) -> None:
        """End every open question of a session: its turn was stopped or is over, or the agent is gone."""
        for question in self.of_session(session):
            self._finish(question, "cancelled", CANCEL)

    def complete(self, agent: str, agent_id: str) -> None:
        """The agent says that what the person opened a URL for has ended. It is no agreement to an open question."""
        question = self._find(agent, agent_id)
        if question is not None:
            self._finish(question, "completed", CANCEL)
        elif (opened := self._opened.pop((agent, agent_id), None)) is not None:
            opened.emit(opened.event)

    def forget_agent(self, agent: str) -> None:
        """The agent's process has ended."""
        self._opened = {key: opened for key, opened in self._opened.items() if key[0] != agent}

    def forget_thread(self, thread_id: str) -> None:
        """The chat is deleted."""
        self._opened = {key: opened for key, opened in self._opened.items() if opened.thread_id != thread_id}

    def _find(self, agent: str, agent_id: str) -> OpenQuestion | None:
        return next(
            (
                question
                for question in self._open.values()
                if question.request.agent_name == agent and question.asked.agent_id == agent_id
            ),
            None,
        )

    def _finish(self, question: OpenQuestion, state: QuestionState, answer: Mapping[str, Json]) -> None:
        request = question.request
        if self._open.pop(request.elicitation_id, None) is None:
            return
        if not question.answer.done():
            question.answer.set_result(answer)
        question.session.emit(question.event(state))
        if state == "opened" and question.asked.agent_id is not None:
            key = request.agent_name, question.asked.agent_id
            self._opened[key] = _Opened(request.thread_id, question.event("completed"), question.session.emit)
            if len(self._opened) > MOST_OPENED:
                del self._opened[next(iter(self._opened))]
        self._resolved(
            ElicitationResolved(elicitation_id=request.elicitation_id, thread_id=request.thread_id, state=state)
        )


async def create_elicitation(session: Session, params: Raw) -> Any:
    """Answer ``elicitation/create``.

    Raises:
        BadMessage: it is no question that can be drawn; the message says why.
    """
    turn = session.open_turn()
    if turn is None:
        log.warning("%s asked a question while no turn was running; it was cancelled", session.agent)
        return CANCEL
    questions = session.questions
    if questions is None or not questions.can_ask():
        _say_declined(session, params.get("message"))
        return DECLINE
    asked = read_asked(params)
    session.asked += 1
    if len(questions.of_session(session)) >= MOST_OPEN or session.asked > MOST_ASKED:
        log.warning("%s asked too many questions; one was cancelled", session.agent)
        return CANCEL
    return await questions.ask(session, turn.thread_id, asked)


def read_asked(params: Raw) -> Asked:
    """Return the question of an ``elicitation/create``.

    Raises:
        BadMessage: it is none that can be drawn.
    """
    message = read_text(params, "message")
    if len(message) > LONGEST_MESSAGE:
        raise BadMessage(f"`message` is longer than {LONGEST_MESSAGE} characters")
    match params.get("mode"):
        case "form":
            return Asked(message, form=read_form(params.get("requestedSchema"), message))
        case "url":
            agent_id = read_text(params, "elicitationId")
            if len(agent_id) > LONGEST_NAME:
                raise BadMessage(f"`elicitationId` is longer than {LONGEST_NAME} characters")
            return Asked(message, url=read_url(params.get("url")), agent_id=agent_id)
        case mode:
            raise BadMessage(f"the mode `{as_title(str(mode))}` is unknown; a question is a `form` or a `url`")


def _kept_url(url: str | None) -> str | None:
    """A URL as the chat keeps it: what follows its path often is a key for one use."""
    if url is None:
        return None
    place = re.split(r"[?#]", url, maxsplit=1)[0]
    return url if place == url else f"{place}?…"


def _say_declined(session: Session, message: Json) -> None:
    """Say once a turn that a question was declined because nobody could see it."""
    session.asked += 1
    if session.asked == 1:
        told = f" (`{as_message(message)}`)" if isinstance(message, str) and message.strip() else ""
        words = f"{session.agent} asked a question that this editor cannot show, so it was declined{told}"
        session.emit(NoticeEvent(level="warning", message=words))
