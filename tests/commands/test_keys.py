"""Keys in the system's keyring: given to what they were entered for alone, and never told to anything else."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from countersign.cli import main
from countersign.lsp.model_keys import ModelKeys
from countersign.settings.policy import AgentConfig, ModelConfig, SecretText
from countersign.settings.stored_keys import blocking_stored_key
from countersign.settings.system_keyring import KeyringError
from countersign.wire.errors import ModelError
from tests.commands import keyring_double

KEY = "sk-test-0123456789"
OWN = "https://api.anthropic.com"
CLAUDE = ModelConfig("claude", "anthropic", "m")
LAUNCH = "codex-acp 'a b' with K · 0123"
CODEX = AgentConfig("Codex", "acp", command="codex-acp", secret_env={"K": SecretText(("", ""), ("KEY",))})


@pytest.fixture(params=keyring_double.PROGRAMS)
def keyring(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return keyring_double.install(request.param, tmp_path, monkeypatch)


def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str, typed: str = "") -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    status = main(["keys", *words])
    out, problems = capsys.readouterr()
    return f"{status} {out}{problems}".strip()


def keys(**environment: str) -> ModelKeys:
    """Of a client without a secret storage."""
    return ModelKeys(ask=pytest.fail, can_ask=lambda: False, environment=environment)  # type: ignore[arg-type]


async def test_a_key_is_entered_given_and_removed(keyring: Path, capsys, monkeypatch):
    kept = said(capsys, monkeypatch, "set", "models.claude", OWN, typed=f"{KEY}\n")
    assert kept == f"0 the key of models.claude is kept in the system's keyring, for {OWN} only"
    mine = keys(ANTHROPIC_API_KEY="from the environment")
    assert await mine.key(CLAUDE, OWN) == KEY
    assert mine.values() == {KEY}  # For redaction.
    assert said(capsys, monkeypatch, "remove", "models.claude") == "0 the key of models.claude is removed"
    assert said(capsys, monkeypatch, "remove", "models.claude") == "0 there is no key of models.claude"
    assert os.listdir(keyring) == []
    assert await mine.key(CLAUDE, OWN) == "from the environment"


async def test_a_key_goes_to_nothing_else_and_no_variable_stands_in(keyring: Path, capsys, monkeypatch):
    said(capsys, monkeypatch, "set", "models.claude", "https://gateway.example", typed=KEY)
    with pytest.raises(ModelError, match="was entered for something else; enter it again with `countersign keys set"):
        await keys(ANTHROPIC_API_KEY="from the environment").key(CLAUDE, OWN)


async def test_an_agents_key_is_bound_to_its_command_line(keyring: Path, capsys, monkeypatch):
    with pytest.raises(ModelError, match="has no value yet") as missing:
        await keys().agent_variables(CODEX, LAUNCH)
    command = """countersign keys set agents.Codex/KEY 'codex-acp '"'"'a b'"'"' with K · 0123'"""
    assert f"enter it with `{command}` in a terminal" in str(missing.value)
    said(capsys, monkeypatch, "set", "agents.Codex/KEY", LAUNCH, typed=KEY)
    assert await keys().agent_variables(CODEX, LAUNCH) == {"K": KEY}
    with pytest.raises(ModelError, match="was entered for something else"):
        await keys().agent_variables(CODEX, "/tmp/evil")


async def test_a_missing_key_names_both_ways_to_give_it(keyring: Path):
    with pytest.raises(ModelError, match="set `ANTHROPIC_API_KEY`, or enter the key with `countersign keys set models"):
        await keys().key(CLAUDE, OWN)


async def test_a_compatible_server_may_need_no_key(keyring: Path):
    lab = ModelConfig("lab", "openai", "m", base_url="https://lab.example/v1")
    assert await keys(OPENAI_API_KEY="not for it").key(lab, "https://lab.example/v1") is None


async def test_without_a_keyring_variables_count_as_before(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await keys(ANTHROPIC_API_KEY="from the environment").key(CLAUDE, OWN) == "from the environment"
    with pytest.raises(ModelError, match=r"set `ANTHROPIC_API_KEY`.*is not on PATH"):
        await keys().key(CLAUDE, OWN)
    with pytest.raises(ModelError, match="is not on PATH"):
        await keys().agent_variables(CODEX, LAUNCH)


def test_an_entry_that_is_no_key_is_not_given(keyring: Path):
    (keyring / "key_models.claude").write_text("0123.%%%")
    with pytest.raises(KeyringError, match="is no key; enter it again"):
        blocking_stored_key("models.claude", OWN)


@pytest.mark.parametrize("typed", ["", "\n", "x" * 1025], ids=["nothing", "a newline", "too long"])
def test_what_is_no_key_is_not_kept(keyring: Path, capsys, monkeypatch, typed: str):
    assert said(capsys, monkeypatch, "set", "models.claude", OWN, typed=typed) == "2 a key has 1 to 1024 bytes"
    assert list(keyring.iterdir()) == []


@pytest.mark.parametrize("name", ["models.a b", 'models.x" -w y', "agents.ü/K", "models.a\nb", "models.--help"])
def test_any_name_of_an_entry_stays_one_word(keyring: Path, capsys, monkeypatch, name: str):
    said(capsys, monkeypatch, "set", name, OWN, typed=KEY)
    assert blocking_stored_key(name, OWN) == KEY
    assert len(list(keyring.iterdir())) == 1
