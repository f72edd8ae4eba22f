"""Keys of model servers: where they come from, where they go, and where they never stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from countersign.lsp.model_keys import ModelKeys, agent_secrets, list_models
from countersign.settings.policy import AgentConfig, ModelConfig, Policy, SecretText
from countersign.settings.system_keyring import KeyringError
from countersign.wire.errors import ClientError, ModelError
from countersign.wire.providers import SecretReadParams, SecretReadResult

KEY = "sk-test-0123456789"
OWN = "https://api.anthropic.com"
ENVIRONMENT = {"ANTHROPIC_API_KEY": "from the environment", "MY_KEY": "named"}


class Client:
    """A client with a secret storage."""

    def __init__(self, *answers: SecretReadResult | ClientError) -> None:
        self.answers = list(answers)
        self.asked: list[SecretReadParams] = []

    async def ask(self, method: str, params: SecretReadParams) -> SecretReadResult:
        assert method == "secret/read"
        self.asked.append(params)
        answer = self.answers.pop(0)
        if isinstance(answer, ClientError):
            raise answer
        return answer


def keys(client: Client | None) -> ModelKeys:
    ask = client.ask if client is not None else pytest.fail
    return ModelKeys(ask=ask, can_ask=lambda: client is not None, environment=ENVIRONMENT)  # type: ignore[arg-type]


def claude(**more) -> ModelConfig:
    return ModelConfig("claude", "anthropic", "m", **more)


async def test_a_named_variable_counts_alone():
    assert await keys(None).key(claude(api_key_env="MY_KEY"), OWN) == "named"
    assert await keys(None).key(claude(api_key_env="NOT_SET"), OWN) is None


async def test_the_client_is_asked_with_the_origin_and_the_key_is_known_for_redaction():
    client = Client(SecretReadResult(value=KEY))
    mine = keys(client)
    assert (
        await mine.key(
            claude(base_url="https://gateway.example:8443/anthropic"), "https://gateway.example:8443/anthropic"
        )
        == KEY
    )
    assert client.asked == [SecretReadParams(name="models.claude", origin="https://gateway.example:8443")]
    assert mine.values() == {KEY}


async def test_a_key_for_another_server_is_an_error_and_no_variable_stands_in():
    client = Client(SecretReadResult(reason="the key of `claude` was entered for another server; enter it again"))
    with pytest.raises(ModelError, match="enter it again"):
        await keys(client).key(claude(), OWN)


async def test_a_client_that_does_not_answer_is_an_error():
    with pytest.raises(ModelError, match="the editor did not give the key of `claude`"):
        await keys(Client(ClientError("it is gone"))).key(claude(), OWN)


async def test_the_providers_variable_counts_for_the_providers_own_server_alone():
    assert await keys(None).key(claude(), OWN) == "from the environment"
    assert await keys(Client(SecretReadResult())).key(claude(), OWN) == "from the environment"
    assert await keys(None).key(claude(base_url="https://evil.example"), "https://evil.example") is None


LOCAL_URL = "http://127.0.0.1:8000/v1"
LOCAL = ModelConfig("m", "openai", "m", base_url=LOCAL_URL)


async def test_a_server_on_this_machine_gets_the_key_that_was_entered_for_its_origin():
    client = Client(SecretReadResult(value=KEY))
    assert await keys(client).key(LOCAL, LOCAL_URL) == KEY
    assert client.asked == [SecretReadParams(name="models.m", origin="http://127.0.0.1:8000")]


@pytest.mark.parametrize(
    "answer", [SecretReadResult(), SecretReadResult(reason="it was entered for another server"), ClientError("gone")]
)
async def test_a_server_on_this_machine_is_asked_without_a_key_where_none_is_for_it(answer):
    assert await keys(Client(answer)).key(LOCAL, LOCAL_URL) is None


async def test_a_server_on_this_machine_needs_no_keyring(monkeypatch):
    def locked(name: str, origin: str) -> str:
        raise KeyringError("the keyring is locked")

    monkeypatch.setattr("countersign.lsp.model_keys.blocking_stored_key", locked)
    assert await keys(None).key(LOCAL, LOCAL_URL) is None


async def test_nobody_is_asked_for_a_key_that_no_form_offers():
    url = "http://127.0.0.1:11434"
    assert await keys(Client()).key(ModelConfig("m", "ollama", "m"), url) is None


def test_the_list_says_where_each_key_goes():
    models = {
        "demo": ModelConfig("demo", "demo"),
        "claude": claude(),
        "named": ModelConfig("named", "openai", "m", api_key_env="MY_KEY"),
        "router": ModelConfig("router", "openai", "m", base_url="https://me:secret@openrouter.ai/api/v1?k=secret"),
        "local": ModelConfig("local", "ollama", "m"),
    }
    views = list_models(Policy(workspace="/w", home="/h", models=models)).models
    assert [(view.name, view.origin, view.secret) for view in views] == [
        ("demo", None, None),
        ("claude", "https://api.anthropic.com", "models.claude"),
        ("named", "https://api.openai.com", None),
        ("router", "https://openrouter.ai", "models.router"),
        ("local", None, None),
    ]


LAUNCH = "codex-acp with KEY · 0123"
CODEX = AgentConfig(
    "Codex",
    "acp",
    command="codex-acp",
    args=("--quiet", "a b"),
    secret_env={"OPENAI_API_KEY": SecretText(("", ""), ("KEY",)), "HEADER": SecretText(("Bearer ", "!"), ("KEY",))},
)


async def test_an_agents_secrets_are_asked_with_its_command_line_and_known_for_redaction():
    client = Client(SecretReadResult(value=KEY))
    mine = keys(client)
    assert await mine.agent_variables(CODEX, LAUNCH) == {"OPENAI_API_KEY": KEY, "HEADER": f"Bearer {KEY}!"}
    assert client.asked == [SecretReadParams(name="agents.Codex/KEY", origin=LAUNCH)]
    assert mine.values() == {KEY}


def test_no_two_agents_share_the_name_of_a_key():
    def name(agent: str, secret: str) -> str:
        return agent_secrets(CODEX.__class__(agent, secret_env={"K": SecretText(("", ""), (secret,))}), "/")[0].secret

    assert name("a", "b.c") != name("a.b", "c")


@pytest.mark.parametrize(
    ("client", "words"),
    [
        (Client(SecretReadResult()), "has no value yet; enter it with `Countersign: Set Key`"),
        (Client(SecretReadResult(reason="it was entered for another")), "it was entered for another"),
        (Client(ClientError("closed")), "the editor did not give the key of `Codex`"),
    ],
)
async def test_an_agent_is_not_started_without_its_secret(client, words):
    with pytest.raises(ModelError, match=words):
        await keys(client).agent_variables(CODEX, LAUNCH)


async def test_an_agent_without_secrets_asks_nobody():
    assert await keys(None).agent_variables(replace(CODEX, secret_env={}), LAUNCH) == {}
