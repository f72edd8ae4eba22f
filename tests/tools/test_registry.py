"""The list of tools, and what a model may say to them."""

from __future__ import annotations

from typing import Any

import pytest

from countersign.gate.call import BadArguments
from countersign.tools.registry import BY_NAME, OFFERED, TOOLS, AnyTool, json_schema, parse_arguments
from countersign.tools.tool import Prepared
from countersign.wire.approvals import ToolPreview
from countersign.wire.errors import InternalError

from .workbench import Workbench

FIELDS = {
    "read_file": ("path", "offset?", "limit?"),
    "write_file": ("path", "content"),
    "edit_file": ("path", "edits"),
    "delete_file": ("path",),
    "move_file": ("path", "to"),
    "list_dir": ("path?",),
    "glob": ("pattern",),
    "search": ("pattern", "path?"),
    "shell": ("command", "timeout?", "cwd?", "shell?", "background?", "outside_sandbox?"),
    "shell_output": ("shell_id", "from?"),
    "shell_input": ("shell_id", "text"),
    "shell_kill": ("shell_id",),
    "todo_write": ("items",),
    "web_fetch": ("url",),
}


def test_names_and_arguments_are_those_of_the_contract() -> None:
    told: dict[str, tuple[str, ...]] = {}
    for tool in TOOLS:
        schema = json_schema(tool)
        required = schema.get("required", [])
        told[tool.name] = tuple(name if name in required else f"{name}?" for name in schema["properties"])
    assert told == FIELDS


def test_schemas_stand_alone() -> None:
    text = repr([json_schema(tool) for tool in TOOLS])
    assert "$ref" not in text
    assert "$defs" not in text
    assert "'title'" not in text


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("read_file", {}, "path: field required"),
        ("read_file", {"path": 1}, "path: input should be a valid string"),
        ("read_file", {"path": "a", "offset": 0}, "offset: input should be greater"),
        ("read_file", {"path": "a", "offset": "1"}, "offset: input should be a valid integer"),
        ("write_file", {"path": "a", "content": "x", "mode": "w"}, "mode: extra inputs"),
        ("edit_file", {"path": "a", "edits": []}, "edits: list should have at least 1"),
        ("edit_file", {"path": "a", "edits": [{"old_text": "x"}]}, "edits.0.new_text: field required"),
        ("shell", {"command": "x", "timeout": -1}, "timeout: input should be greater"),
        ("shell", {"command": "x", "background": "yes"}, "background: input should be a valid boolean"),
        ("todo_write", {"items": [{"text": "x", "status": "later"}]}, "items.0.status: input should be"),
    ],
)
def test_wrong_arguments_are_told_by_name(name: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadArguments) as caught:
        parse_arguments(BY_NAME[name], given)
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"`{name}` cannot be called so: ")


@pytest.mark.parametrize(
    ("name", "given"),
    [("shell", {"command": "echo \ud800"}), ("write_file", {"path": "a", "content": "\udfff"})],
)
def test_half_a_character_is_refused(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="half of a character"):
        parse_arguments(BY_NAME[name], given)


class Plan:
    """What some tool would do. Whoever calls any part of it has acted."""

    def __getattr__(self, name: str) -> Plan:
        return Plan()

    def __call__(self, *_: object, **__: object) -> None:
        raise AssertionError("a tool acted on a permit that was spent")


@pytest.mark.parametrize("tool", [*BY_NAME.values(), *OFFERED.values()], ids=lambda tool: tool.name)
async def test_no_tool_acts_on_a_permit_that_was_spent(tool: AnyTool, bench: Workbench) -> None:
    prepared = Prepared(effects=(), preview=ToolPreview(input={}), title="", cwd=str(bench.workspace), payload=Plan())
    permit = bench.permit("todo_write", prepared)
    permit.use()
    with pytest.raises(InternalError, match="a permit was used twice"):
        await tool.run(permit, prepared, bench.bench)
    assert list(bench.workspace.iterdir()) == []
