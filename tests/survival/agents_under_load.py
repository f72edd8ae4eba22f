"""Five agents at work at once, and the person who answers them: three chats of the built-in agent, two ACP children.

Everything that they may do has a token of its own: it stands in the call's input and, if the call ran, once in the
workspace. What is made of the tokens afterwards is left to ``remains``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.agents.scripted_agent_fixture import PROGRAM, ask, done
from tests.stdio.desk import Desk
from tests.stdio.peer import Peer, RpcError

Json = Any
CHATS = 3
CHILDREN = ("Left", "Right")
MARK = "SURVIVAL_MARK"
"""Variable by which everything that a server ever started is found."""
ANSWERS = (*["allow_once"] * 16, "allow_chat", "reject_once", None, "later")
"""What the person does with a card; None closes it, ``later`` leaves it open."""
FAMILY = "(setsid sleep 300 &); sleep 300 & wait"
"""Goes on until it is ended, with a child and with one that has left the family."""
LONG = 60.0
"""Seconds that the person would go on for; every round is over long before."""


def marked_server(mark: str, **environment: str) -> Peer:
    """The real server; it and all that it starts carry the mark."""
    return Peer.python("-m", "countersign", "serve", env={**os.environ, MARK: mark, **environment})


class Crew:
    """The agents of one storage folder, over as many servers as come and go."""

    def __init__(self, root: Path) -> None:
        self.workspace, self.storage, self._folder = root / "work", root / "storage", root / "agents"
        for folder in (self.workspace, self._folder):
            folder.mkdir(parents=True)
        self.settings: Json = {"user": {"agents": {name: self._child(name) for name in CHILDREN}}}

    def _child(self, name: str) -> Json:
        script, log = self._folder / f"{name}.json", self._folder / f"{name}.jsonl"
        return {"type": "acp", "command": sys.executable, "args": [str(PROGRAM), str(script), str(log)]}

    def rehearse(self, number: int) -> None:
        """Write what the children will do in this round; before the server starts them."""
        for name in CHILDREN:
            tokens = tokens_of(name, number)
            prompts = [self._acts(name, tokens) for _ in range(4)]
            (self._folder / f"{name}.json").write_text(json.dumps({"prompts": [*prompts, [{"until": "cancel"}]]}))

    def _acts(self, name: str, tokens: Iterator[str]) -> list[Json]:
        """One prompt's steps: a write on an approval, a write at the door, a command, and one that lasts."""
        asked, written, run, lasting = (next(tokens) for _ in range(4))
        asked_path, written_path = (str(self.workspace / f"{token}.txt") for token in (asked, written))
        log = self.workspace / f"{name}.log"
        return [
            ask(asked, f"ask {asked}", kind="edit", rawInput={"file_path": asked_path, "content": asked}),
            {"ask": "fs/write_text_file", "id": f"put {asked}", "params": {"path": asked_path, "content": asked}},
            done(asked),
            {"ask": "fs/write_text_file", "id": written, "params": {"path": written_path, "content": written}},
            {"ask": "terminal/create", "id": run, "params": {"command": f"echo {run} >> {log}"}},
            {"ask": "terminal/create", "id": lasting,
             "params": {"command": f"echo {lasting} >> {log}; {FAMILY}"}},
        ]  # fmt: skip

    def set_to_work(self, desk: Desk, number: int, random: Random, answers: dict[str, str]) -> list[asyncio.Task[None]]:
        """All five, and the person, who notes in ``answers`` what became of theirs. All end with the connection."""
        chats = [self._chat(desk, f"Chat{count}", number) for count in range(CHATS)]
        children = [self._prompts(desk, name, itertools.repeat("go on")) for name in CHILDREN]
        return [asyncio.create_task(work) for work in (*chats, *children, answer_all(desk, random, answers))]

    def _chat(self, desk: Desk, name: str, number: int) -> Any:
        tokens = tokens_of(name, number)

        def prompts() -> Iterator[str]:
            while True:
                yield (
                    f"create {(token := next(tokens))}.txt saying {token} "
                    f"and also run echo {next(tokens)} >> {name}.log "
                    f"and then run echo {next(tokens)} >> {name}.log && (sleep 300 & setsid sleep 300 &) "
                    f"and also run in background echo {next(tokens)} >> {name}.log; {FAMILY} "
                    f"and then create {(token := next(tokens))}/deep.txt saying {token}"
                )

        return self._prompts(desk, "Countersign", prompts())

    async def _prompts(self, desk: Desk, agent: str, texts: Iterator[str]) -> None:
        try:
            thread = await desk.thread(agentName=agent)
            for text in texts:
                await desk.prompt(thread, text)
        except ConnectionError:
            return  # the server was killed, which is what this is about


def tokens_of(agent: str, number: int) -> Iterator[str]:
    """Words that occur once: agent, round, count."""
    return (f"tok-{agent}-{number}-{count}-end" for count in itertools.count())


async def answer_all(desk: Desk, random: Random, answers: dict[str, str]) -> None:
    """Answer each card as it comes, several at once, until the connection ends."""
    async with asyncio.TaskGroup() as answering:
        try:
            while True:
                card = await desk.peer.wait_for("tool/approvalRequest", bound=LONG)
                option = random.choice(ANSWERS)
                offered = {choice["optionId"] for choice in card["options"]}
                if option != "later":
                    chosen = option if option is None or option in offered else "allow_once"
                    answering.create_task(_answer(desk, card, chosen, answers))
        except ConnectionError:
            return


async def _answer(desk: Desk, card: Json, option: str | None, answers: dict[str, str]) -> None:
    try:
        answers[card["approvalId"]] = await desk.answer(card, option)
    except ConnectionError:
        return
    except RpcError as error:
        # A grant given on another card may have ended this one first.
        if error.kind != "alreadyResolved":
            raise
