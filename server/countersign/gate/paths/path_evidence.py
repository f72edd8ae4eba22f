"""What findings about paths say in words: refusals, floors, risks, and rules that name a path. Looks at nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from countersign.gate.finding import Finding, Floor
from countersign.gate.paths.resolve import Resolved
from countersign.gate.paths.roots import Segments
from countersign.gate.patterns import escape_path
from countersign.gate.rules.rule_set import Rule
from countersign.wire.verdicts import Evidence

Operation = Literal["create", "edit", "delete", "move"]
Zone = Literal["workspace", "additional", "outside"]
PathTool = Literal["Read", "Edit"]

OWN = "it is the gate's own or decides what the gate does"
SETTINGS_READ = "the workspace's settings are read from there"


def refusal(kind: Literal["read", "write"], resolved: Resolved) -> Finding:
    reason = evidence_for("floor", f"the path may not be used: {resolved.refused}")
    return Finding(kind=kind, resource=resolved.given, category=kind, floors=(Floor("deny", reason),))


def unclear_floors(resolved: Resolved) -> Iterator[Floor]:
    if resolved.unclear is not None:
        yield ask_floor(resolved.unclear)


def ask_floor(reason: str) -> Floor:
    return Floor("ask", evidence_for("floor", reason))


@lru_cache(maxsize=1024)
def evidence_for(source: Literal["floor", "default"], reason: str) -> Evidence:
    return Evidence(source=source, reason=reason)


def below_reason(rule: Rule) -> str:
    return f"`{rule.text}` could match something below this folder"


def rule_text(tool: PathTool, base: tuple[str, Segments] | None) -> str | None:
    """The rule's text; None for a folder that is the root itself, where a pattern would say everything."""
    if base is None or not base[1]:
        return None
    return f"{tool}({base[0]}{'/'.join(escape_path(segment) for segment in base[1])})"


def risks_of_path(
    zone: Zone,
    resolved: Resolved,
    *,
    secret: str | None = None,
    protected: str | None = None,
    operation: Operation | None = None,
) -> tuple[str, ...]:
    """What a card warns of, most telling first."""
    found = [
        f"secret: {secret}" if secret else None,
        f"protected: {protected}" if protected else None,
        "outside the workspace" if zone == "outside" else None,
        "deletes files" if operation == "delete" else None,
        "goes through a link" if resolved.resolved not in (None, resolved.lexical) else None,
    ]
    return tuple(risk for risk in found if risk is not None)
