"""Prompt to receipt in memory. Each flow's transcript is kept as plain text beside this file; read its diff like code.

`pytest tests/flows --update` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.settings.policy import RuleText
from tests.flows.support import bypassed, close_flow, make_flow

HERE = Path(__file__).parent


def approve(_card):
    return {}


def deny(_card):
    return {"option": "reject_once", "reason": "use the makefile"}


def close(_card):
    return {"option": None}


def edit(_card):
    return {"editedInput": '{"command": "touch better.txt"}'}


FLOWS = {
    "approved": ("create hello.txt saying hi", approve, {}),
    "denied": ("create hello.txt saying hi", deny, {}),
    "closed": ("run touch made.txt", close, {}),
    "edited": ("run touch made.txt", edit, {}),
    "one-after-the-other": ("create a.txt saying one and then edit a.txt: replace one with two", approve, {}),
    "looking-around": ("list . and also search for greet and also read greet.py", deny, {}),
    "plan": ("run touch made.txt", approve, {"mode": "plan"}),
    "accept-edits": ("create hello.txt saying hi", deny, {"mode": "acceptEdits"}),
    "dont-ask": ("create hello.txt saying hi", approve, {"mode": "dontAsk"}),
    "allowed-by-rule": ("run touch made.txt", deny, {"rules": [RuleText("allow", "Bash(touch made.txt)")]}),
    "denied-by-rule": ("create secret.txt saying hi", approve, {"rules": [RuleText("deny", "Edit(secret.txt)")]}),
    "asked-under-bypass": (
        "run touch made.txt and also create free.txt saying hi",
        deny,
        {"rules": [RuleText("ask", "Bash(touch:*)")], "bypass": True},
    ),
    "protected-under-bypass": ("create .git/hooks/pre-commit saying boo", deny, {"bypass": True}),
    "no-such-text": ("edit greet.py: replace nowhere with there", approve, {}),
}


@pytest.mark.parametrize("name", FLOWS)
async def test_a_flow_goes_as_it_is_written(name, tmp_path, request):
    prompt, person, how = FLOWS[name]
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "greet.py").write_text('print("greet")\n')
    flow = make_flow(workspace, person, how.get("rules", ()))
    if how.get("bypass"):
        flow.policy = bypassed(flow.policy)
    told = await flow.say(prompt, how.get("mode", "default"))
    await close_flow(flow)
    file = HERE / f"{name}.txt"
    if request.config.getoption("--update"):
        file.write_text(told)
    assert told == file.read_text()
