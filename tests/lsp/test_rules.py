"""When rules were first seen, and which of them have decided nothing for long."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from countersign.gate.ledger.entry import Entry
from countersign.gate.ledger.writer import Ledger
from countersign.lsp import first_seen
from countersign.lsp.first_seen import blocking_first_seen
from countersign.lsp.rules import list_rules, rule_id
from countersign.settings.policy import Policy, RuleText
from countersign.wire.rules import RuleIdle
from countersign.wire.verdicts import Evidence

LONG_AGO, NOW = "2026-01-01T00:00:00.000000Z", "2026-11-20T00:00:00.000000Z"


def seen(storage: Path, *rules: str, at: str = NOW, warnings: list[str] | None = None) -> dict[str, str]:
    return dict(blocking_first_seen(storage, set(rules), at, (warnings if warnings is not None else []).append))


def test_a_rule_is_remembered_from_when_it_was_first_seen(tmp_path: Path) -> None:
    assert seen(tmp_path, "a", at=LONG_AGO) == {"a": LONG_AGO}
    assert seen(tmp_path, "a", "b") == {"a": LONG_AGO, "b": NOW}
    assert seen(tmp_path, "b", at="later") == {"a": LONG_AGO, "b": NOW}
    assert (tmp_path / first_seen.FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', "\udcff", "[" * 100_000])
def test_a_corrupt_store_is_kept_aside_and_told(tmp_path: Path, text: str) -> None:
    (tmp_path / first_seen.FILE).write_bytes(text.encode(errors="surrogateescape"))
    warnings: list[str] = []
    assert seen(tmp_path, "a", warnings=warnings) == {"a": NOW}
    (aside,) = tmp_path.glob(f"{first_seen.FILE}.corrupt-*")
    assert [aside.name in warning for warning in warnings] == [True]
    assert seen(tmp_path, "a", at="later") == {"a": NOW}


def test_a_store_that_cannot_be_read_or_written_makes_rules_look_new(tmp_path: Path) -> None:
    (tmp_path / first_seen.FILE).mkdir()
    assert seen(tmp_path, "a") == {"a": NOW}


def test_a_pipe_in_the_place_of_the_store_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / first_seen.FILE)
    assert seen(tmp_path, "a") == {"a": NOW}


def test_what_is_no_longer_there_goes_first_where_there_is_too_much(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(first_seen, "MOST", 2)
    seen(tmp_path, "old", "a", at=LONG_AGO)
    seen(tmp_path, "a", "b")
    assert json.loads((tmp_path / first_seen.FILE).read_text()) == {"a": LONG_AGO, "b": NOW}


@dataclass
class Around:
    """What the list of rules is made from."""

    storage: Path
    ledger: Ledger
    settings: Any
    server: Any = field(default_factory=SimpleNamespace)


def around(tmp_path: Path, *rules: RuleText) -> Around:
    policy = Policy(workspace="/srv/app", home="/home/me", trusted=True, rules=rules)
    return Around(tmp_path, Ledger(None), SimpleNamespace(policy=policy))


def ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def row(number: int, days: int, *rules: RuleText) -> Entry:
    said = tuple(Evidence(source="rule", rule=rule.text, file=rule.file, line=rule.line, reason="r") for rule in rules)
    return Entry(f"r{number}", "decided", "/srv/app", "o", "t", "A", "c", "shell", "d", evidence=said, at=ago(days))


async def test_rules_are_listed_with_what_they_did_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    used = RuleText("allow", "Bash(ls:*)", "user", "s.json", 1)
    idle = RuleText("ask", "Bash(cp:*)", "user", "s.json", 2)
    new = RuleText("allow", "Bash(rm a:*)", "user", "s.json", 3)
    strict = RuleText("deny", "Bash(rm:*)", "user", "s.json", 4)
    house = around(tmp_path, used, idle, new, strict)
    blocking_first_seen(tmp_path, [rule_id(rule) for rule in (used, idle, strict)], ago(30), print)
    await house.ledger.append(row(1, 60, used), row(2, 20, used), row(3, 10, used, strict), row(4, 5))
    listed = await list_rules(house)  # type: ignore[arg-type]
    assert [(view.rule, view.hits, view.idle) for view in listed.rules] == [
        ("Bash(ls:*)", 3, None),
        ("Bash(cp:*)", 0, RuleIdle(days=30, calls=3)),
        ("Bash(rm a:*)", 0, None),
        ("Bash(rm:*)", 1, None),
    ]
    assert [view.problem for view in listed.rules] == [
        None,
        None,
        "`Bash(rm a:*)` never counts: the deny rule `Bash(rm:*)` in s.json:4 covers all of it",
        None,
    ]
    assert (listed.calls, listed.since) == (4, ago(60)[:10])
    house.ledger.close()
