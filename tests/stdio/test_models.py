"""The built-in agent on every wire format through the real server: tools, a switch of models, compacting, figures."""

from __future__ import annotations

from pathlib import Path

from tests.agents.models.providers import scripted
from tests.stdio.desk import Desk, Json, open_desk

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
    usage = [event for event in events if event["type"] == "usage"]
    assert {event["model"] for event in usage} == set(MODELS)
    assert next(event["cost"] for event in usage if event["model"] == "claude") == 20 / 1_000_000
    told = [event["message"] for event in events if event["type"] == "notice"]
    assert len([message for message in told if "AGENTS.md" in message]) == 1
    assert {model["name"] for model in listed["models"]} == {*MODELS, "demo"}


async def compacted(desk: Desk, thread: str) -> int:
    return (await desk.peer.request("thread/compact", {"threadId": thread}))["dropped"]
