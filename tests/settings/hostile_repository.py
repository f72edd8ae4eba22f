"""Histories of a hostile repository: what it writes and links, what agents then do in every mode, what a person says.

Each history is drawn from a seed and a number. After every step, what counts is compared with a small model: the items
that a person accepted and that still stand where they were accepted. The model knows what each text means because it
wrote the text; it asks the settings' own reader nothing. What the gate allows an agent without a person is done on disk
at once, what it asks about only if the person of the history approves it.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from countersign.advice.explain import explain
from countersign.advice.setting_effect import allows
from countersign.settings.live_settings import LiveSettings
from countersign.wire.settings import InitializationOptions, SettingsChanged, SettingsLayers, UnconfirmedItem
from countersign.wire.verdicts import Mode

STEPS = 14
Values = Mapping[str, Any]

VALUES: tuple[Values, ...] = (
    {},
    {"permissions.allow": ["Bash"]},
    {"permissions.allow": ["Bash(make)", "Edit(./src/**)"]},
    {"permissions.allow": ["Bash(make)"], "permissions.deny": ["Bash(rm *)"]},
    {"permissions.additionalDirectories": ["libs"]},
    {"permissions.additionalDirectories": ["libs", "../out"]},
    {"mode": "auto"},
    {"mode": "acceptEdits", "permissions.allow": ["Read(//**)"]},
    {"agents": {"Countersign": {"bypassPermissions": True}}},
    {"agents": {"Guest": {"command": "./guest"}}},
    {"agents": {"Guest": {"command": "./other", "bypassPermissions": True}}},
)
FORMS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "plain": json.dumps,
    "marked": lambda keys: "\ufeff// ours\n" + json.dumps(keys, indent=2),
    "repeated": lambda keys: json.dumps({"editor.tabSize": 2})[:-1] + ', "editor.tabSize": 3, ' + json.dumps(keys)[1:],
    "trailing": lambda keys: json.dumps(keys)[:-1] + (",}" if keys else "}"),
}
HIDDEN: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "array": lambda keys: json.dumps([keys]),
    "comment": lambda keys: "{/*" + json.dumps(keys) + "*/}",
    "language": lambda keys: json.dumps({"[python]": keys}),
    "other": lambda keys: json.dumps({"settings2": keys, "x.countersign": keys}),
}
BROKEN: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "unclosed": lambda keys: json.dumps(keys)[:-1],
    "headed": lambda keys: "}" + json.dumps(keys),
    "empty": lambda _: "",
    "open comment": lambda keys: "/*" + json.dumps(keys),
}
MODES: tuple[Mode, ...] = ("default", "acceptEdits", "auto")
FILES = (
    "ws/.vscode/settings.json", "ws/conf/settings.json", "ws/vscode/settings.json", "ws/sub/.vscode/settings.json",
    "ws/app.code-workspace", "user/settings.json", "storage/rules.json", "storage/confirmations.sqlite",
    "etc/settings.json",
)  # fmt: skip
"""What agents try to write; a repository itself writes only in its own folder."""
LINKS = (
    ("ws/.vscode/settings.json", "../conf/settings.json"),
    ("ws/.vscode", "conf"),
    ("ws/conf/settings.json", "../vscode/settings.json"),
    ("ws/libs", "../out"),
    ("ws/libs", "../out2"),
    ("ws/libs", "nowhere"),
    ("ws/sub", "../user"),
    ("ws/app.code-workspace", "conf/settings.json"),
)
ASKED = (
    {"tool": "bash", "args": {"command": "make"}},
    {"tool": "read", "args": {"path": "../out/x"}},
    {"tool": "edit", "args": {"path": "src/a.py"}},
)
"""What asks in the default mode as long as a person accepted nothing."""


class History:
    """One history, with the folders that it plays in."""

    def __init__(self, top: Path, random: Random) -> None:
        self.top, self.random = top, random
        for folder in ("ws/.vscode", "ws/conf", "ws/vscode", "ws/sub/.vscode", "ws/src", "user", "etc", "out", "out2"):
            (top / folder).mkdir(parents=True)
        self.means: dict[str, Values | None] = {}
        self.mode: Mode = random.choice(MODES)
        self.sends, self.trusted = random.random() < 0.7, random.random() < 0.8
        self.code_workspace = self.sends and random.random() < 0.4
        self.accepted: dict[str, UnconfirmedItem] = {}
        self.log: list[str] = []
        self.values = [*random.sample(VALUES[1:], 2), VALUES[0]]  # few, so that some leave and return
        (top / "user/settings.json").write_text("{}")
        self.means["{}"] = {}
        if random.random() < 0.4:  # a dotfiles repository
            (top / "ws/vscode/settings.json").write_text("{}")
            (top / "user/settings.json").unlink()
            (top / "user/settings.json").symlink_to(top / "ws/vscode/settings.json")
        self.desk = self._started()

    def play(self) -> Iterator[str]:
        """Take the steps; yield what counts without a person's word."""
        actions = (self._pull, self._pull, self._link, self._act, self._act, self._confirm, self._confirm, self._trust)
        for _ in range(STEPS):
            action = self.random.choice((*actions, self._restart))
            self.log.append(f"{action.__name__[1:]} {action()}")
            self._tell()
            self._let_go()
            yield from (f"{wrong}, after {self.log}" for wrong in self._too_wide())

    def _started(self) -> LiveSettings:
        files = {"files": {"workspace": str(self.top / "ws/app.code-workspace")}} if self.code_workspace else {}
        sent = {"settings": self._layers().model_dump()} if self.sends else {}
        client = {"ownPaths": [str(self.top / "user")], "settingsUpdate": self.sends}
        return LiveSettings(
            InitializationOptions.model_validate({"trusted": self.trusted, "client": client, **files, **sent}),
            workspace=self.top / "ws",
            storage=self.top / "storage",
            warn=lambda _: None,
            home=self.top / "home",
            managed=self.top / "etc/settings.json",
            environ={},
            interpreter=[],
            describe=allows,
        )

    # What is on disk, by the model.

    def _text(self, name: str) -> str | None:
        try:
            return (self.top / name).read_text()
        except (OSError, UnicodeDecodeError):
            return None

    def _meaning(self, name: str) -> Values | None:
        """What a file says; None for one that is broken, and nothing for one that is not there."""
        text = self._text(name)
        return {} if text is None else self.means.get(text)

    def _layers(self) -> SettingsLayers:
        """What an editor sends: of a broken file nothing."""
        folder = dict(self._meaning("ws/.vscode/settings.json") or {})
        user = dict(self._meaning("user/settings.json") or {})
        if not self.code_workspace:
            return SettingsLayers(user=user, workspace=folder)
        return SettingsLayers(user=user, workspace=dict(self._meaning("ws/app.code-workspace") or {}), folder=folder)

    def _generated(self, name: str) -> str:
        values = self.random.choice(self.values)
        kind, forms = self.random.choice((("means", FORMS), ("means", FORMS), ("hidden", HIDDEN), ("broken", BROKEN)))
        form = self.random.choice(sorted(forms))
        keys = {f"countersign.{key}": value for key, value in values.items()}
        in_workspace_file = name.endswith(".code-workspace")
        text = forms[form]({"folders": [], "settings": keys} if in_workspace_file and kind != "hidden" else keys)
        meaning = values if kind == "means" else {} if kind == "hidden" and form != "array" else None
        # Read as another kind of file the text means nothing; the model allows it its wider meaning there too.
        self.means[text] = meaning
        return text

    # What can happen.

    def _pull(self) -> str:
        name = self.random.choice((*FILES[:2], *FILES[:5], FILES[4], FILES[0]))
        path = self.top / name
        if not self._is_inside(path) or self._is_persons(path):
            return f"leaves {name}"  # it cannot write there, and a person's own dotfiles are no hostile repository
        if self.random.random() < 0.15:
            path.unlink(missing_ok=True)
            return f"removes {name}"
        return self._write(path, self._generated(name))

    def _link(self) -> str:
        name, to = self.random.choice(LINKS)
        path = self.top / name
        if not self._is_inside(path.parent):
            return f"leaves {name}"
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.is_symlink() or path.exists():
            path.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(to)
        return f"{name} to {to}"

    def _act(self) -> str:
        """An agent edits or removes a file, by a tool or by a command."""
        self.mode = self.random.choice(MODES)
        name = self.random.choice(FILES)
        path = self.top / name
        removes = self.random.random() < 0.3
        question = self.random.choice((
            {"tool": "delete" if removes else "edit", "args": {"path": str(path)}},
            {"tool": "bash", "args": {"command": f"rm {path}" if removes else f"cp src/x {path}"}},
        ))  # fmt: skip
        if question["tool"] == "delete":
            question = {"tool": "bash", "args": {"command": f"rm -f {path}"}}
        verdict = explain(question, self.desk.policy, self.mode).verdict
        approved = (
            verdict == "ask" and self._is_inside(path) and not self._is_persons(path) and self.random.random() < 0.4
        )
        if verdict != "allow" and not approved:
            return f"{question} in {self.mode}: {verdict}"
        if removes:
            path.unlink(missing_ok=True)
            return f"{question} in {self.mode}: removed"
        return f"{question} in {self.mode}: {self._write(path, self._generated(name))}"

    def _is_inside(self, path: Path) -> bool:
        return os.path.realpath(path).startswith(str(self.top / "ws") + os.sep)

    def _is_persons(self, path: Path) -> bool:
        return os.path.realpath(path) == os.path.realpath(self.top / "user/settings.json")

    def _write(self, path: Path, text: str) -> str:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        except OSError as error:
            return f"could not write {path.name}: {error.strerror}"
        return f"writes {text!r} to {path}"

    def _confirm(self) -> str:
        waiting = self.desk.unconfirmed()
        if not waiting or not self.trusted:
            return "nothing"
        item = self.random.choice(waiting)
        accept = self.random.random() < 0.8
        self.desk.confirm(item.digest, accept=accept)
        if accept:
            self.accepted[item.digest] = item
        return f"{item.key} = {item.value}: {accept}"

    def _trust(self) -> str:
        self.trusted = self.random.random() < 0.7
        return str(self.trusted)

    def _restart(self) -> str:
        self.desk = self._started()
        return ""

    def _tell(self) -> None:
        if self.sends:
            self.desk.changed(SettingsChanged(settings=self._layers(), trusted=self.trusted))
        elif self.desk.policy.trusted != self.trusted:
            self.desk = self._started()
        self.desk.refresh()

    # What may count.

    def _let_go(self) -> None:
        """Drop what was accepted and no longer stands."""
        self.accepted = {digest: item for digest, item in self.accepted.items() if self._stands(item)}

    def _stands(self, item: UnconfirmedItem) -> bool:
        assert item.file is not None
        name = os.path.relpath(item.file, self.top)
        meaning = self._meaning(name)
        if meaning is None:
            text = self._text(name) or ""
            return all(part in text for part in _strings(item.value))
        if item.resolved is not None and os.path.realpath(self.top / "ws" / str(item.value)) != item.resolved:
            return False
        path = item.key.removeprefix("countersign.")
        said = meaning.get(path)
        if path.startswith("agents."):
            entry = (meaning.get("agents") or {}).get(path.split(".")[1], {})
            return entry.get("bypassPermissions") is True if path.endswith("bypassPermissions") else bool(entry)
        return item.value in said if isinstance(said, list) else said == item.value

    def _too_wide(self) -> Iterator[str]:
        policy = self.desk.policy
        accepted = [(item.file, item.key.removeprefix("countersign."), item) for item in self.accepted.values()]
        if not self.trusted:
            accepted = []
        for rule in policy.rules:
            known = [item for file, key, item in accepted if (file, key) == (rule.file, "permissions.allow")]
            if rule.list == "allow" and rule.text not in [item.value for item in known]:
                yield f"the allow rule {rule.text} of {rule.file} counts"
        resolved = {item.resolved or item.value for _, key, item in accepted if key.endswith("additionalDirectories")}
        for folder in policy.additional_resolved:
            if folder not in resolved:
                yield f"the folder {folder} counts"
        if policy.mode in ("auto", "acceptEdits") and policy.mode not in [item.value for _, _, item in accepted]:
            yield f"the mode {policy.mode} counts"
        for name, agent in policy.agents.items():
            if policy.bypasses(name) and f"agents.{name}.bypassPermissions" not in [key for _, key, _ in accepted]:
                yield f"bypass counts for {name}"
            entries = [item.value for _, key, item in accepted if key == f"agents.{name}"]
            commands = [entry.get("command") for entry in entries if isinstance(entry, dict)]
            if agent.command is not None and agent.command not in commands:
                yield f"the agent {name} is started as {agent.command}"
        if not accepted:
            for question in ASKED:
                if explain(question, policy, "default").verdict == "allow":
                    yield f"{question} is allowed though nothing was accepted"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(child)


def widenings(seed: int, numbers: range, history: type[History] = History) -> Iterator[str]:
    """Play these histories; yield each moment at which more counted than a person had accepted."""
    for number in numbers:
        folder = Path(tempfile.mkdtemp(prefix="countersign-hostile-")).resolve()
        try:
            for wrong in history(folder, Random(f"{seed}/{number}")).play():
                yield f"history {number}: {wrong}"
                break
        finally:
            shutil.rmtree(folder, ignore_errors=True)
