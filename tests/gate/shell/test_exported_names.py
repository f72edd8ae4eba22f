"""A variable that the environment has, too, reaches each program that a text runs: it is no name of the text's own."""

from __future__ import annotations

import pytest

from .asked import decide

TEXTS = (
    "npm_tool=./evil.js; npm test",
    "npm_tool=./evil.js && npm test",
    "for npm_tool in ./evil.js; do npm test; done",
    "read -r npm_tool < a.txt; npm test",
    "bash -c 'npm_tool=./evil.js; npm test'",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_sets_a_variable_of_the_environment_asks(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = ["Bash(npm test)", "Bash(read:*)"]
    assert decide(text, allow=rules) == "allow"
    monkeypatch.setenv("npm_tool", "/usr/lib/npm.js")
    assert decide(text, allow=rules) == "ask"


def test_a_text_that_only_reads_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_tool", "/usr/lib/npm.js")
    assert decide("npm test", allow=["Bash(npm test)"]) == "allow"
    assert decide("echo $npm_tool", allow=["Bash(npm test)"]) == "allow"
