"""The built-in agent on every wire format through the real server: tools, a switch of models, compacting, figures."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.models.providers import scripted
from tests.patience import PATIENCE
from tests.stdio.desk import Desk, Json, open_desk
from tests.stdio.peer import RpcError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
READ = {"name": "read_file", "args": {"path": "a"}}
SCRIPT = {"scenarios": {"read": {"steps": [{"thinking": "hm", "text": "I read. ", "tools": [READ]}]}}}
MODELS = {
    "claude": {"provider": "anthropic", "model": "m", "options": {"prices": {"input": 1, "output": 1}}},
    "gpt": {"provider": "openai", "model": "m", "api": "responses"},
    "chat": {"provider": "openai", "model": "m"},
    "gemini": {"provider": "google", "model": "gemini-3-pro"},
    "local": {"provider": "ollama", "model": "m"},
}


def settings(url: str, model: str) -> Json:
    models = {
        name: {**entry, "baseUrl": f"{url}/v1" if entry["provider"] == "openai" else url}
        for name, entry in MODELS.items()
    }
    return {"user": {"models": models, "agents": {"Countersign": {"model": model}}}}


async def test_a_chat_goes_on_from_model_to_model_and_is_compacted(tmp_path: Path):
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "a").write_text("the text of a")
    (workspace / "AGENTS.md").write_text("Be brief.")
    with scripted(SCRIPT, tmp_path) as fake:
        async with open_desk(workspace, tmp_path / "s", settings=settings(fake.url, "claude")) as desk:
            thread = await desk.thread()
            for number, model in enumerate(MODELS, 1):
                desk.peer.notify("settings/changed", {"settings": settings(fake.url, model), "trusted": True})
                assert (await desk.prompt(thread, "[[read]] go"))["stopReason"] == "end_turn"
                asked = fake.rows()[-1]
                assert len(asked["user_texts"]) >= number, "the conversation was kept"
                assert "the text of a" in asked["tool_results"][-1]["text"]
                assert "Be brief." in str(asked["body"])
            assert (await compacted(desk, thread)) > 0
            events = await desk.events(thread)
            listed = await desk.peer.request("model/list", {})
    kinds = [event["type"] for event in events]
    assert kinds.count("compacted") == 1
    summary = next(event for event in events if event["type"] == "compacted")
    assert 1000 < summary["contextUsed"] < summary["contextTokens"], "the tools alone are more than the summary took"
    usage = [event for event in events if event["type"] == "usage"]
    assert {event["model"] for event in usage} == set(MODELS)
    assert next(event["cost"] for event in usage if event["model"] == "claude") == 20 / 1_000_000
    told = [event["message"] for event in events if event["type"] == "notice"]
    assert len([message for message in told if "AGENTS.md" in message]) == 1
    assert {model["name"] for model in listed["models"]} == {*MODELS, "demo"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("sighted", [True, False])
async def test_a_model_that_takes_images_gets_the_one_that_it_reads(tmp_path: Path, model: str, sighted: bool):
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "a").write_bytes(PNG)
    with scripted(SCRIPT, tmp_path) as fake:
        given = settings(fake.url, model)
        options = {**MODELS[model].get("options", {}), "images": sighted}
        given["user"]["models"][model]["options"] = options
        async with open_desk(workspace, tmp_path / "s", settings=given) as desk:
            thread = await desk.thread()
            assert (await desk.prompt(thread, "[[read]] go"))["stopReason"] == "end_turn"
            first = fake.rows()[-1]
            # A model that takes none goes on with the chat of one that does.
            options["images"] = False
            desk.peer.notify("settings/changed", {"settings": given, "trusted": True})
            assert (await desk.prompt(thread, "and now?"))["stopReason"] == "end_turn"
            second = fake.rows()[-1]
            events = await desk.events(thread)
    assert [image["size"] for image in first["images"]] == ([len(base64.b64encode(PNG))] if sighted else [])
    assert second["images"] == []
    assert "images" not in {*first["body"], *first["body"].get("options", {})}, "it is no field of the provider's"
    assert ("takes no images" in first["tool_results"][-1]["text"]) is not sighted
    shown = [event for event in events if event["type"] == "toolResult"]
    assert [event["output"] for event in shown] == [f"`a` is an image (image/png) of {len(PNG)} bytes"]


@pytest.mark.parametrize("model", MODELS)
async def test_an_attached_image_goes_to_a_model_that_takes_images_and_is_refused_for_another(
    tmp_path: Path, model: str
):
    workspace = tmp_path / "w"
    workspace.mkdir()
    image = {"kind": "image", "path": "a.png", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}
    with scripted(SCRIPT, tmp_path) as fake:
        given = settings(fake.url, model)
        options = {**MODELS[model].get("options", {}), "images": True}
        given["user"]["models"][model]["options"] = options
        async with open_desk(workspace, tmp_path / "s", settings=given) as desk:
            thread = await desk.thread()
            assert (await desk.prompt(thread, "look", attachments=[image]))["stopReason"] == "end_turn"
            first = fake.rows()[-1]
            listed = (await desk.peer.request("agent/list", {}))["agents"]
            options["images"] = False
            desk.peer.notify("settings/changed", {"settings": given, "trusted": True})
            # The chat goes on with a model that takes none, but nothing that was attached for it gets lost unsaid.
            assert (await desk.prompt(thread, "and now?"))["stopReason"] == "end_turn"
            second = fake.rows()[-1]
            count = len(fake.rows())
            with pytest.raises(RpcError, match=f"the model `{model}` takes no images"):
                await desk.prompt(thread, "look again", attachments=[image])
            assert len(fake.rows()) == count
            blind = (await desk.peer.request("agent/list", {}))["agents"]
    assert [each["size"] for each in first["images"]] == [len(image["data"])]
    assert "look\n\nAttached: the image a.png" in first["user_texts"][-1]
    assert second["images"] == []
    assert ([agent["images"] for agent in listed], [agent["images"] for agent in blind]) == ([True], [False])


async def test_a_chat_keeps_the_model_that_was_chosen_for_it(tmp_path: Path):
    workspace, storage = tmp_path / "w", tmp_path / "s"
    workspace.mkdir()
    (workspace / "a").write_text("the text of a")
    with scripted(SCRIPT, tmp_path) as fake:
        given = settings(fake.url, "claude")
        async with open_desk(workspace, storage, settings=given) as desk:
            thread, other = await desk.thread(), await desk.thread()
            assert await offered(desk, thread) == ("claude", ["demo", *MODELS])
            await desk.prompt(thread, "[[read]] go")
            result = await choose(desk, thread, "gemini")
            assert [(each["optionId"], each["value"]) for each in result["options"]] == [("model", "gemini")]
            told = await desk.peer.wait_for("thread/session", lambda each: model_of(each) == "gemini")
            assert told["threadId"] == thread
            await desk.prompt(thread, "and now?")
            assert (fake.rows()[-1]["api"], len(fake.rows()[-1]["user_texts"])) == ("gemini", 2)
            assert "the text of a" in str(fake.rows()[-1]["body"])
            await desk.prompt(other, "hello")
            assert fake.rows()[-1]["api"] == "anthropic"
            # Another model in the settings is for chats without a choice of their own, which hear of it.
            desk.peer.notify("settings/changed", {"settings": settings(fake.url, "local"), "trusted": True})
            told = await desk.peer.wait_for("thread/session", lambda each: model_of(each) == "local")
            assert told["threadId"] == other
            assert (await offered(desk, thread))[0] == "gemini"
            for option, value in (("model", "grok"), ("model", True), ("mode", "claude")):
                with pytest.raises(RpcError):
                    await desk.peer.request("thread/setOption", {"threadId": thread, "option": option, "value": value})
        async with open_desk(workspace, storage, settings=given) as desk:
            assert (await offered(desk, thread))[0] == "gemini"
            await desk.prompt(thread, "still there?")
            assert fake.rows()[-1]["api"] == "gemini"
            # One that is gone is not replaced by another server unsaid.
            del given["user"]["models"]["gemini"]
            desk.peer.notify("settings/changed", {"settings": given, "trusted": True})
            count = len(fake.rows())
            with pytest.raises(RpcError, match="there is no model `gemini` in the settings"):
                await desk.prompt(thread, "and now?")
            assert len(fake.rows()) == count
            await choose(desk, thread, "claude")
            await desk.prompt(thread, "and now?")
            assert fake.rows()[-1]["api"] == "anthropic"


async def test_a_chat_offers_no_choice_of_one_model(tmp_path: Path):
    workspace = tmp_path / "w"
    workspace.mkdir()
    async with open_desk(workspace, tmp_path / "s", settings={"user": {}}) as desk:
        opened = await desk.peer.request("thread/open", {"threadId": await desk.thread()})
    assert opened["options"] == []


async def choose(desk: Desk, thread: str, model: str) -> Json:
    return await desk.peer.request("thread/setOption", {"threadId": thread, "option": "model", "value": model})


async def offered(desk: Desk, thread: str) -> tuple[str, list[str]]:
    (option,) = (await desk.peer.request("thread/open", {"threadId": thread}))["options"]
    assert (option["optionId"], option["category"], option["type"]) == ("model", "model", "select")
    return option["value"], [each["value"] for each in option["choices"]]


def model_of(session: Json) -> str | None:
    return next((option["value"] for option in session["options"] if option["optionId"] == "model"), None)


def stats_of(storage: Path) -> str:
    command = [sys.executable, "-m", "countersign", "history", "--storage", str(storage), "--stats"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


async def compacted(desk: Desk, thread: str) -> int:
    return (await desk.peer.request("thread/compact", {"threadId": thread}))["dropped"]


async def test_figures_are_summed_by_agent_model_and_day_and_by_the_command_too(tmp_path: Path):
    workspace, storage = tmp_path / "w", tmp_path / "s"
    workspace.mkdir()
    (workspace / "a").write_text("the text of a")
    with scripted(SCRIPT, tmp_path) as fake:
        async with open_desk(workspace, storage, settings=settings(fake.url, "claude")) as desk:
            thread = await desk.thread()
            await desk.prompt(thread, "[[read]] go")
            desk.peer.notify("settings/changed", {"settings": settings(fake.url, "gpt"), "trusted": True})
            await desk.prompt(thread, "and now?")
            usage = [event for event in await desk.events(thread) if event["type"] == "usage"]
            figures = await desk.peer.request("history/stats", {})
            other = await desk.peer.request("history/stats", {"filter": {"threadId": "another"}})
            reads = await desk.peer.request("history/stats", {"filter": {"tool": "read_file"}})
            await desk.peer.request("thread/delete", {"threadId": thread})
            assert await desk.peer.request("history/stats", {}) == figures, "figures outlive their chat"
            with pytest.raises(RpcError):
                await desk.peer.request("history/stats", {"filter": {"since": "yesterday"}})
    days = {each["day"] for each in (*figures["calls"], *figures["models"])}
    assert len(days) <= 2, "midnight may have come"
    claude, gpt = figures["models"]
    assert [(each["agentName"], each["model"], each["requests"]) for each in (claude, gpt)] == [
        ("Countersign", "claude", 2), ("Countersign", "gpt", 1),
    ]  # fmt: skip
    assert claude["inputTokens"] == sum(event["inputTokens"] for event in usage if event["model"] == "claude")
    assert claude["cost"] == pytest.approx(sum(event["cost"] for event in usage if event["model"] == "claude"))
    assert gpt.get("cost") is None
    (call,) = figures["calls"]
    assert (call["verdict"], call["by"], call["calls"], call["waitedMs"]) == ("allow", "mode", 1, 0)
    assert call["model"] == "claude"
    assert (other["calls"], other["models"], other["activeHours"]) == ([], [], 0)
    assert (reads["calls"], reads["models"], reads["activeHours"]) == (figures["calls"], [], 1)
    assert sum(each["ran"] for each in reads["times"]) == 1
    told = await asyncio.to_thread(stats_of, storage)
    assert "Countersign, claude: 2 requests" in told
    assert "Countersign, gpt: 1 requests" in told
    assert "cost unknown" in told
    assert "Countersign, claude: 1 calls, tools" in told
