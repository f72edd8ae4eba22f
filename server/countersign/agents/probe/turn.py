"""One request to the scripted model in one shape for all wire formats: what was said, and which tools are offered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MARK = re.compile(r"\[\[([A-Za-z0-9_.-]+)\]\]")


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool that an agent offers its model. ``freeform``: its input is plain text and has no ``schema``."""

    name: str
    schema: Mapping[str, Any]
    description: str = ""
    freeform: bool = False
    namespace: str | None = None


class Turn:
    """What a request says, in one shape for all formats. ``events`` are {"t": user | call | result, …} in order."""

    def __init__(self, api: str, model: str | None, *, stream: bool) -> None:
        self.api = api
        self.model = model
        self.stream = stream
        self.tools: list[str] = []
        self.offered: list[Offered] = []
        self.events: list[dict[str, Any]] = []
        self.schema: dict | None = None
        self.system = ""

    def offer(self, tool: dict, schema: Any, namespace: str | None = None) -> None:
        """Note a tool; one without a name goes by its type."""
        name = tool.get("name") or tool.get("type") or ""
        self.tools.append(name)
        freeform = tool.get("type") == "custom"
        known = schema if isinstance(schema, dict) else {}
        self.offered.append(Offered(name, known, str(tool.get("description") or ""), freeform, namespace))

    def image(self, mime_type: str | None, data: str | None) -> None:
        self.events.append({"t": "image", "mime": mime_type, "size": len(data or "")})

    def user(self, text: str) -> None:
        self.events.append({"t": "user", "text": text})

    def call(self, call_id: str | None, name: str | None) -> None:
        self.events.append({"t": "call", "id": call_id, "name": name})

    def result(self, call_id: str | None, name: str | None, text: str, is_error: bool | None) -> None:
        self.events.append({"t": "result", "id": call_id, "name": name, "text": text, "is_error": is_error})

    def since_prompt(self) -> tuple[str | None, int, list[dict[str, Any]]]:
        """Scenario, step and tool results since the last words of the person that carry a marker."""
        start, scenario = -1, None
        for number, event in enumerate(self.events):
            if event["t"] == "user" and (found := MARK.findall(event["text"])):
                start, scenario = number, found[-1]
        if scenario is None:
            start = max((number for number, event in enumerate(self.events) if event["t"] == "user"), default=-1)
        step, last, names = 0, None, {}
        tail = self.events[start + 1 :]
        for event in tail:
            if event["t"] == "call":
                names[event["id"]] = event["name"]
                step += last != "call"
            if event["t"] in ("call", "result"):
                last = event["t"]
        results = [
            dict(event, name=event["name"] or names.get(event["id"])) for event in tail if event["t"] == "result"
        ]
        return scenario, step, results


def flat(value: Any) -> str:
    """Every text in a content value, whatever its shape."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text for text in map(flat, value) if text)
    if isinstance(value, dict):
        for key in ("text", "content", "output", "result"):
            if isinstance(value.get(key), str | list | dict):
                return flat(value[key])
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value)


def smallest(schema: Any, depth: int = 0) -> Any:
    """The smallest value that a JSON schema takes (no $ref)."""
    if not isinstance(schema, dict) or depth > 8:
        return None
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return smallest(schema[key][0], depth + 1)
    kind = schema.get("type")
    kind = (kind[0] if isinstance(kind, list) else kind or "object").lower()
    if kind == "object":
        return {name: smallest(value, depth + 1) for name, value in (schema.get("properties") or {}).items()}
    return {"array": [], "string": "ok", "integer": 1, "number": 1, "boolean": False}.get(kind)
