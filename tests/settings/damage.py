"""Settings files with random cuts and flips, and whether any of them ever widens a right.

A damaged file is either not readable any more, or it says something else, as if a person had edited it. In the first
case nothing may be wider than before: neither while the server runs, which keeps the last good deny and ask rules, nor
at a start on the broken file, which knows none and asks. In the second, only what the text no longer forbids, or newly
says in a layer that needs nobody's confirmation, may be wider; and both ways to come to it must agree. Which of the two
it is, and what a text says, is found by the reader of JSON; what follows from it is compared by deciding a table of
calls.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Literal

from countersign.advice.explain import explain
from countersign.gate.decision import STRICTNESS
from countersign.settings.files import load_file
from countersign.settings.live_settings import LiveSettings
from countersign.settings.policy import Policy
from countersign.settings.tree import policy_tree, settings_tree
from countersign.wire.settings import InitializationOptions
from countersign.wire.verdicts import Mode, Verdict

FileName = Literal["workspace", "rules", "managed"]

TEXTS: Mapping[FileName, tuple[str, ...]] = {
    "workspace": (
        '// how we work here\n{\n  "editor.tabSize": 2, // two\n  "countersign.permissions.deny": [\n'
        '    "Bash(rm *)",\n    "Read(./secret/**)", // never\n    {"rule": "Edit(./src/gen/**)", "reason": "made"},\n'
        '  ],\n  "countersign.permissions.ask": ["Bash(git push *)", "Read(./docs/**)"],\n'
        '  "countersign.permissions.allow": ["Bash(npm test)", "Edit(./src/**)"],\n'
        '  "countersign.agents": {"Countersign": {"bypassPermissions": true}},\n'
        '  "countersign.limits.writesPerTurn": 5,\n}\n',
        '\ufeff{\r\n\t"countersign": {\r\n\t\t"mode": "ask",\r\n\t\t"permissions": {\r\n'
        '\t\t\t"deny": ["Bash(rm *)", "Read(./docs/**)"],\r\n\t\t\t"additionalDirectories": ["/nowhere/more"],\r\n'
        '\t\t\t/* ours */ "allow": ["Bash(ls *)"]\r\n\t\t}\r\n\t}\r\n}\r\n',
        '{"countersign.permissions": {"deny": ["Bash(npm *)"], "ask": ["Edit"], "disableBypass": true}, '
        '"countersign.mode": "plan", "countersign.permissions": {"deny": ["Bash(rm *)", "Edit(./src/**)"]}, "é": "ü"}',
    ),
    "rules": (
        '{\n    "countersign.permissions.deny": [\n        "Bash(rm *)",\n        "Read(./docs/**)"\n    ],\n'
        '    "countersign.permissions.ask": [\n        "Edit(./src/**)"\n    ],\n'
        '    "countersign.permissions.allow": [\n        "Bash(npm test)"\n    ]\n}\n',
    ),
    "managed": (
        '{"permissions": {"deny": ["Bash(git push *)", "Read(./docs/**)"], "ask": ["Bash(npm *)"], '
        '"allow": ["Bash(make)"], "disableBypass": true}}\n',
        '// from IT\n{"permissions": {"deny": ["Bash(rm *)"], "ask": ["Edit(./src/gen/**)"]}, "mode": "default"}\n',
    ),
}
COMMANDS = ("ls -l src", "rm -rf src", "npm test", "git push origin", "make", "cat docs/a")
PATHS = ("a.txt", "src/b.py", "docs/d.md", "secret/e", "/nowhere/more/f")
QUESTIONS: tuple[dict[str, Any], ...] = (
    *({"tool": "bash", "args": {"command": command}} for command in COMMANDS),
    *({"tool": tool, "args": {"path": path}} for tool in ("read", "edit") for path in PATHS),
)
CHATS: tuple[Mode | None, ...] = ("default", "auto", None)
"""Modes that a person gave to chats before the damage; None is the mode of the settings, which starts new chats."""
Table = tuple[Verdict, ...]


@dataclass(frozen=True)
class Damage:
    """One file, what it was and what it became."""

    name: FileName
    before: bytes
    after: bytes


def make_damage(seed: int, number: int) -> Damage:
    """The damage of this number: one to three cuts and flips."""
    random = Random(f"damage {seed}/{number}")
    name = random.choices(("workspace", "rules", "managed"), (3, 1, 1))[0]
    before = random.choice(TEXTS[name]).encode()
    after = bytearray(before)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(after) or 1)
        match random.choice(("end", "piece", "flip", "flip")):
            case "end":
                del after[at:]
            case "piece":
                del after[at : at + random.randint(1, 40)]
            case "flip" if after:
                after[at] ^= 1 << random.randrange(8)
    return Damage(name, before, bytes(after))


def wider(seed: int, numbers: range) -> Iterator[str]:
    """Where damage of these numbers widened a right, or was not told; one sentence each."""
    for number in numbers:
        damage = make_damage(seed, number)
        with Damaged(damage) as damaged:
            for fault in damaged.faults():
                yield f"{seed}/{number}: {fault} ({damage.name}: {damage.after!r})"


class Damaged:
    """A workspace with all three files; one of them is damaged beneath a running server, and a second one starts.

    A class because it owns a folder on disk.
    """

    def __init__(self, damage: Damage) -> None:
        self.damage = damage
        self.root = Path(tempfile.mkdtemp(prefix="countersign-damage-")).resolve()
        self.places: dict[FileName, Path] = {
            "workspace": self.root / "workspace/.vscode/settings.json",
            "rules": self.root / "storage/rules.json",
            "managed": self.root / "etc/settings.json",
        }
        self.warnings: list[str] = []
        self.tables: dict[int, tuple[Policy, Table]] = {}
        for name, place in self.places.items():
            place.parent.mkdir(parents=True)
            place.write_bytes(damage.before if name == damage.name else TEXTS[name][0].encode())

    def __enter__(self) -> Damaged:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root)

    def faults(self) -> Iterator[str]:
        running = self._desk()
        while waiting := running.unconfirmed():
            running.confirm(waiting[0].digest, accept=True)
        before, said_before = running.policy, self._said()
        place = self.places[self.damage.name]
        place.write_bytes(self.damage.after)
        said = self._said()
        running.refresh()
        after = running.policy
        store_gone = said is None and self.damage.name == "rules"
        fresh = self._desk().policy
        emptied = said == {} and not _holds_object(place) and bool(said_before)
        if said is None or emptied:
            yield from (f"while running, {fault}" for fault in self._widenings(before, after))
            yield from self._untold(after, store_gone=store_gone or (emptied and self.damage.name == "rules"))
            if said is None and not store_gone:
                # No last good rules there: what was denied may be asked, but nothing more is allowed.
                yield from (f"at a start, {fault}" for fault in self._widenings(before, fresh, only_allowed=True))
                yield from (f"at a start, {fault}" for fault in self._untold(fresh, store_gone=False))
            return
        permitted = _as_said(before, after, said_before or {}, said, by_person=self.damage.name != "workspace")
        yield from (f"as it says now, {fault}" for fault in self._widenings(permitted, after))
        yield from (f"at a start, {fault}" for fault in self._widenings(after, fresh))
        yield from (f"while running, {fault}" for fault in self._widenings(fresh, after))

    def _desk(self) -> LiveSettings:
        return LiveSettings(
            InitializationOptions(trusted=True),
            workspace=self.root / "workspace",
            storage=self.root / "storage",
            warn=self.warnings.append,
            home=self.root / "home",
            managed=self.places["managed"],
            environ={},
            interpreter=[],
        )

    def _said(self) -> dict[str, Any] | None:
        """What the damaged file says, None if it cannot be read."""
        tree_of = settings_tree if self.damage.name == "workspace" else policy_tree
        loaded = load_file(self.places[self.damage.name], tree_of)
        value = loaded.tree.root.value if loaded.tree else None
        return value if isinstance(value, dict) else None

    def _untold(self, policy: Policy, *, store_gone: bool) -> Iterator[str]:
        if store_gone:
            if len(self.warnings) != 1 or not list((self.root / "storage").glob("rules.json.corrupt-*")):
                yield "a corrupt store was not kept aside and told once"
            return
        place = str(self.places[self.damage.name])
        lines = self.damage.after.count(b"\n") + 1
        told = [problem for problem in policy.problems if problem.file == place and problem.severity == "error"]
        if not any(problem.line and 1 <= problem.line <= lines for problem in told):
            yield "it was not told on its line"
        if policy.mode != "ask" or "ask" not in policy.tightening:
            yield "the mode is not `ask`"

    def _table(self, policy: Policy) -> Table:
        if id(policy) not in self.tables:
            table: Table = tuple(
                explain(question, policy, chat or policy.mode).verdict for question in QUESTIONS for chat in CHATS
            )
            self.tables[id(policy)] = (policy, table)
        return self.tables[id(policy)][1]

    def _widenings(self, before: Policy, after: Policy, *, only_allowed: bool = False) -> Iterator[str]:
        """Where the second policy lets through more than the first one."""
        cells = [(question["args"], chat) for question in QUESTIONS for chat in CHATS]
        for (asked, chat), was, now in zip(cells, self._table(before), self._table(after), strict=True):
            if STRICTNESS[now] < STRICTNESS[was] and (now == "allow" or not only_allowed):
                yield f"{asked} went from {was} to {now} in mode {chat or 'of the settings'}"
        yield from _wider_fields(before, after, only_allowed=only_allowed)


def _holds_object(place: Path) -> bool:
    loaded = load_file(place, settings_tree)
    return loaded.tree is not None and loaded.tree.document.root is not None


def _wider_fields(before: Policy, after: Policy, *, only_allowed: bool) -> Iterator[str]:
    for agent in after.agents:
        if after.bypasses(agent) and not before.bypasses(agent):
            yield f"bypass came to count for {agent}"
    if not only_allowed and before.disable_bypass and not after.disable_bypass:
        yield "bypass is no longer switched off"
    if set(after.additional_directories) - set(before.additional_directories):
        yield "a folder came to count"
    if set(before.own_paths) - set(after.own_paths):
        yield "a path of our own is no longer denied"
    if not only_allowed and after.writes_per_turn > before.writes_per_turn:
        yield "more writes are let through in a turn"


def _as_said(before: Policy, after: Policy, was: dict[str, Any], now: dict[str, Any], *, by_person: bool) -> Policy:
    """The widest policy that a readable text may bring about: the one before, without what the text no longer says,
    and with what a person's own file newly says. What it says of anything but rules is taken from the policy after."""
    lost = {(kind, text) for kind in ("deny", "ask") for text in _entries(was, kind) - _entries(now, kind)}
    scope = {"workspace"} if not by_person else {"user", "managed"}
    rules = tuple(rule for rule in before.rules if rule.scope not in scope or (rule.list, rule.text) not in lost)
    new = tuple(
        rule for rule in after.rules if by_person and rule.list == "allow" and rule.text in _entries(now, "allow")
    )
    changed: dict[str, Any] = {}
    if was.get("mode") != now.get("mode"):
        changed |= {"mode": after.mode, "tightening": after.tightening}
    if _of(was, "disableBypass") != _of(now, "disableBypass"):
        changed |= {"disable_bypass": after.disable_bypass, "agents": before.agents}
    if was.get("limits") != now.get("limits"):
        changed["writes_per_turn"] = after.writes_per_turn
    return replace(before, rules=(*rules, *new), **changed)


def _of(said: dict[str, Any], key: str) -> Any:
    permissions = said.get("permissions")
    return permissions.get(key) if isinstance(permissions, dict) else None


def _entries(said: dict[str, Any], kind: str) -> set[str]:
    listed = _of(said, kind)
    entries = listed if isinstance(listed, list) else []
    return {str(entry["rule"]) if isinstance(entry, dict) and "rule" in entry else str(entry) for entry in entries}
