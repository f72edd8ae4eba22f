"""INVARIANT (same bytes): a script that a command names voids the permit whenever it changed before the start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from countersign.gate.approvals.file_binding import OPENS_LATER
from countersign.wire.errors import StaleAnswer
from tests.agents.conftest import place
from tests.agents.desk import BOUND, Place
from tests.agents.scripted_agent_fixture import Player, ask, done
from tests.agents.test_acp_client_methods import APPROVE, run
from tests.races.race_fixture import CHANGES, linked, rewritten, script, submit

__all__ = ["place"]

FORMS = [
    "./x", "./x a b", "'./x'", "./sub/../x", "bash x", "bash ./x", "bash -x x", "bash --norc x", "bash -o pipefail x",
    "bash -e -- x", "sh ./x", "dash x", "zsh x", "ksh x", "fish x", "busybox sh x", "source x", ". ./x", ". x",
    "builtin source x", "command . x", "python x", "python -u x", "python3.11 x", "python -W ignore x",
    "/usr/bin/env python x", "env A=1 ./x", "env -S './x'", "A=1 ./x", "pypy x", "node x", "nodejs x",
    "node --enable-source-maps x", "perl -w x", "ruby x", "php x", "lua x", "Rscript x", "tclsh x", "pwsh -File x",
    "ts-node x", "npx tsx x", "uv run python x", "poetry run python x", "make -f x", "make -fx", "make --file=x",
    "make --makefile x", "gmake -f x", "awk -f x a", "sed -f x a", "sed -fx a", "jq -f x a", "exec ./x", "nohup ./x &",
    "timeout 5 ./x", "timeout 5 bash x", "time ./x", "nice -n 5 ./x", "command ./x", "xargs ./x", "xargs -n1 bash x",
    "find . -exec ./x {} ';'", "find . -exec bash x {} +", "sh -c ./x", "sh -c '. ./x'", "bash -c 'bash x'", "eval ./x",
    "eval 'source x'", "trap ./x EXIT", "echo $(./x)", "cat <(./x)", "[[ $(./x) ]]", "if ./x; then :; fi",
    "f() { ./x; }; f", "true && ./x", "ls | ./x", "(cd sub && ../x)", "cd sub; bash ../x", "make -C sub -f ../x",
    "env -C sub bash ../x", "./x > out", "sudo -u me bash x", "strace ./x", "watch ./x", "git bisect run ./x",
    "tar cf a --checkpoint-action=exec=./x b", "sort --compress-program=./x a", "rg --pre ./x a",
    # Forms that the shell's reader has no row for; the text is enough.
    "node --require ./x y", "node -r ./x y", "node -r./x y", "node --import=./x y", "ruby -r ./x y", "php -f x",
    "deno run x", "bun x", "bun run x", "go run x", "expect x", "java x", "java -jar x", "cmake -P x", "ninja -f x",
    "just -f x", "just --justfile=x", "bc x", "psql -f x", "vim -S x", "gdb -x x", "gdb --args ./x", "uv run x",
    "bash < x", "sh <x", "python - < x", "node - < x", "bash -s a < x", "cat x | bash", "cat < x | sh",
    "bash <(cat x)", ". <(cat x)", "source /dev/stdin < x", "p=./x; $p", "$PWD/x", '"$PWD"/x', "${PWD}/x", "`pwd`/x",
    "GIT_PAGER=./x git log -p a b", "BASH_ENV=x bash -c ls", "env BASH_ENV=x bash -c ls", "PYTHONSTARTUP=x python",
    "make SHELL=./x", "make --eval='include x'", "git -c core.pager=./x log", "python -c 'exec(open(\"x\").read())'",
    "perl -e 'do \"./x\"'", "bats x", "pytest x", "rlwrap ./x", "docker run -v ./x:/x i /x", "frobnicate @x",
]  # fmt: skip
"""Every way to name the workspace's ``x`` as a program or a script."""


@pytest.mark.parametrize("form", FORMS)
async def test_a_script_that_changed_since_the_card_voids_its_answer(place: Place, form: str) -> None:
    path = script(place.workspace / "x")
    (place.workspace / "sub").mkdir()
    running = submit(place, "shell", command=form)
    card = await place.person.card()
    rewritten(path)
    await is_asked_again(place, card)
    assert (await running).refused
    assert place.shells.list() == []
    assert not (place.workspace / "ran").exists()


@pytest.mark.parametrize(
    ("form", "name"),
    [("python -m pack.tool", "pack/tool.py"), ("python -m pack", "pack/__main__.py"), ("sh 'a b.sh'", "a b.sh"),
     ("ts-node-dev src/a.ts --watch", "src/a.ts"), ("sh ./link", "link"), ("node -r ./link y", "link")],
)  # fmt: skip
async def test_a_script_by_another_name_is_bound_too(place: Place, form: str, name: str) -> None:
    path = place.workspace / name
    if name == "link":
        script(place.workspace / "real")
        script(place.workspace / "evil", "bad")
        path.symlink_to("real")
    else:
        script(path)
    running = submit(place, "shell", command=form)
    card = await place.person.card()
    path.unlink()
    path.symlink_to(place.workspace / "evil")
    await is_asked_again(place, card)
    assert (await running).refused


async def test_a_log_that_grows_voids_no_answer(place: Place) -> None:
    log = place.workspace / "server.log"
    log.write_text("one\n")
    running = submit(place, "shell", command="wc -l server.log >> count.txt")
    card = await place.person.card()
    log.write_text("one\ntwo\n")
    await place.person.answer(card)
    assert (await running).success


async def is_asked_again(place: Place, card) -> None:
    """The answer to this card is refused as stale, a new card follows, and the person says no."""
    with pytest.raises(StaleAnswer):
        await place.person.answer(card)
    again = await place.person.card(2)
    assert again.digest != card.digest
    assert place.person.states() == [("interrupted", "change")]
    await place.person.answer(again, "reject_once")


CARDS = pytest.mark.parametrize("change", CHANGES)
PLACES = ["x", "sub/x"]


@CARDS
async def test_however_a_script_changed_its_answer_is_void(place: Place, change: Callable[[Path], None]) -> None:
    path = script(place.workspace / "sub/x")
    running = submit(place, "shell", command="sh ./sub/x")
    card = await place.person.card()
    change(path)
    await is_asked_again(place, card)
    assert (await running).refused
    assert place.shells.list() == []


def just_before_the_start(place: Place, monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]) -> None:
    """Held mid-flight: the answer was taken and looked at, and the command is about to be started."""
    environment, changed = place.shells.environment, []

    def change_and_go_on(*, only_reads: bool = False) -> dict[str, str]:
        if not changed:
            changed.append(True)
            change()
        return environment(only_reads=only_reads)

    monkeypatch.setattr(place.shells, "environment", change_and_go_on)


@CARDS
async def test_a_script_that_changes_after_the_answer_is_not_run_without_another(
    place: Place, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path = script(place.workspace / "sub/x")
    just_before_the_start(place, monkeypatch, lambda: change(path))
    running = submit(place, "shell", command="sh ./sub/x")
    await place.person.answer(await place.person.card())
    await place.person.answer(await place.person.card(2), "reject_once")
    assert (await running).refused
    assert place.shells.list() == []


async def test_a_script_that_appears_after_the_card_voids_its_answer(place: Place) -> None:
    running = submit(place, "shell", command="sh ./x")
    card = await place.person.card()
    script(place.workspace / "x", "bad")
    await is_asked_again(place, card)
    assert (await running).refused


async def test_a_folder_that_becomes_a_link_after_the_answer_is_not_run_in(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.workspace / "sub").mkdir()

    def swap() -> None:
        (place.workspace / "sub").rename(place.workspace / "away")
        (place.workspace / "sub").symlink_to("away")

    just_before_the_start(place, monkeypatch, swap)
    running = submit(place, "shell", command="touch made", cwd="sub")
    await place.person.answer(await place.person.card())
    await place.person.answer(await place.person.card(2), "reject_once")
    assert (await running).refused
    assert list((place.workspace / "away").iterdir()) == []


async def test_a_script_that_stays_runs_once(place: Place) -> None:
    script(place.workspace / "x")
    running = submit(place, "shell", command="./x")
    card = await place.person.card()
    assert OPENS_LATER in (card.notes or ())
    await place.person.answer(card)
    async with asyncio.timeout(BOUND):
        assert (await running).success
    assert (place.workspace / "ran").read_text() == "good\n"


@pytest.mark.parametrize(
    ("command", "told"), [("cp a b", True), ("echo a > b", True), ("sh ./x", True), ("make", False), ("frob", False)]
)
async def test_a_card_says_where_binding_does_not_reach(place: Place, command: str, told: bool) -> None:
    running = submit(place, "shell", command=command)
    card = await place.person.card()
    assert (OPENS_LATER in (card.notes or ())) is told
    assert OPENS_LATER not in card.risks
    await place.person.answer(card, "reject_once")
    await running


# Hosted agents: a terminal of theirs is bound as a command of ours is, and so is the credit of an approval.

WAIT = {"ask": "terminal/wait_for_exit", "id": 9, "params": {"terminalId": "shell-1"}}


@pytest.mark.parametrize("change", [rewritten, linked])
async def test_a_terminals_script_that_changed_since_the_card_voids_its_answer(
    place: Place, change: Callable[[Path], None]
) -> None:
    path = script(place.workspace / "x")
    player = Player(place, [run("./x")])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card()
    change(path)
    await is_asked_again(place, card)
    await playing
    assert player.answer("t")["code"] == -32000
    assert place.shells.list() == []


@CARDS
async def test_a_terminals_script_that_changes_after_the_answer_is_not_run_without_another(
    place: Place, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path = script(place.workspace / "sub/x")
    just_before_the_start(place, monkeypatch, lambda: change(path))
    player = Player(place, [run("sh ./sub/x")])
    playing = asyncio.ensure_future(player.play())
    await place.person.answer(await place.person.card())
    await place.person.answer(await place.person.card(2), "reject_once")
    await playing
    assert player.answer("t")["code"] == -32000
    assert place.shells.list() == []


async def test_an_approval_covers_no_terminal_whose_script_changed_since(place: Place) -> None:
    path = script(place.workspace / "x")
    place.person.decide = lambda card: APPROVE if card.tool_call.agent_tool_call_id else None
    edited = {"write": [str(path), "echo bad >> ran\n"]}
    player = Player(place, [ask("a", kind="execute", rawInput={"command": "./x"}), edited, run("./x"), done("a")])
    playing = asyncio.ensure_future(player.play())
    card = await place.person.card(2)
    assert card.tool_call.agent_tool_call_id is None
    await place.person.answer(card, "reject_once")
    await playing
    assert place.shells.list() == []


async def test_an_approval_covers_a_terminal_whose_script_stayed(place: Place) -> None:
    script(place.workspace / "x")
    place.person.decide = lambda card: APPROVE
    await Player(place, [ask("a", kind="execute", rawInput={"command": "./x"}), run("./x"), WAIT, done("a")]).play()
    assert len(place.person.shown) == 1
    assert (place.workspace / "ran").read_text() == "good\n"
