"""Settings files on disk and what the language service makes of a text, for its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from lsprotocol import types

from countersign.gate.decisions.decide import decide
from countersign.lsp.language.completion import Surroundings, complete
from countersign.lsp.language.diagnostics import diagnose
from countersign.lsp.language.hover import hover
from countersign.lsp.language.pages import Overview, PageName, known_of, overview_of
from countersign.lsp.language.positions import Positions
from countersign.settings.live_settings import LiveSettings
from countersign.wire.history import HistoryEntry
from countersign.wire.settings import InitializationOptions
from countersign.wire.verdicts import Evidence, Verdict

JUDGE = partial(decide, check_syntax=lambda _text: None)
"""The gate's judgement, with a bash that accepts everything."""
CURSOR = "|"
"""Where the cursor stands in a test's text."""


class Files:
    """A workspace, a storage and a managed file, and a settings desk over them."""

    def __init__(self, folder: Path, *, trusted: bool = True, **options: object) -> None:
        self.workspace = folder / "work"
        self.storage = folder / "storage"
        self.managed = folder / "etc" / "settings.json"
        for made in (self.workspace / ".vscode", self.storage, self.managed.parent):
            made.mkdir(parents=True)
        self.warnings: list[str] = []
        self._options = InitializationOptions.model_validate({"trusted": trusted, **options})
        self._desk: LiveSettings | None = None

    def path(self, page: PageName) -> Path:
        return {
            "workspace": self.workspace / ".vscode" / "settings.json",
            "code_workspace": self.workspace.parent / "app.code-workspace",
            "rules": self.storage / "rules.json",
            "managed": self.managed,
            "user": self.storage / "User" / "settings.json",
        }[page]

    @property
    def desk(self) -> LiveSettings:
        """The desk as it was made at first use; it reads the files once."""
        if self._desk is None:
            self._desk = LiveSettings(
                self._options,
                workspace=self.workspace,
                storage=self.storage,
                warn=self.warnings.append,
                home="/home/me",
                managed=self.managed,
                environ={},
            )
        return self._desk

    def overview(self, texts: Mapping[PageName, str]) -> Overview:
        return overview_of(known_of(self.desk), texts)

    def told(self, text: str, page: PageName = "workspace") -> list[str]:
        """The diagnostics of an open text, each as ``line:from-to severity code message``, lines from 1."""
        return [shown(one) for one in diagnose(self.overview({page: text}))[page]]

    def hover(self, text: str, page: PageName = "workspace", past: Sequence[HistoryEntry] = ()) -> str | None:
        """What hovering at the cursor's mark says, as paragraphs with one line between them."""
        text, position = marked(text)
        overview = self.overview({page: text})
        found = hover(page, position, overview, diagnose(overview)[page], past, JUDGE)
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value


def marked(text: str) -> tuple[str, types.Position]:
    """The text without its mark, and where that stood."""
    offset = text.index(CURSOR)
    text = text.replace(CURSOR, "", 1)
    return text, Positions.of(text).position(offset)


def shown(one: types.Diagnostic) -> str:
    start, end = one.range.start, one.range.end
    assert one.severity is not None
    lines = "" if end.line == start.line else f"{end.line + 1}:"
    place = f"{start.line + 1}:{start.character}-{lines}{end.character}"
    return f"{place} {one.severity.name.lower()} {one.code} {one.message}"


def completed(text: str, around: Surroundings, page: PageName = "workspace") -> dict[str, str]:
    """By label, the text after the item was taken; for snippets with their holes."""
    text, position = marked(text)
    positions = Positions.of(text)
    found: dict[str, str] = {}
    for item in complete(page, positions, position, around).items:
        edit = item.text_edit
        assert isinstance(edit, types.TextEdit)
        assert edit.range.start.line == edit.range.end.line == position.line
        assert edit.range.start.character <= position.character <= edit.range.end.character
        start, end = positions.offset(edit.range.start), positions.offset(edit.range.end)
        found[item.label] = text[:start] + edit.new_text + text[end:]
    return found


def decision(
    command: str, *, by: str = "user", verdict: Verdict = "allow", rule: str | None = None, file: Path | None = None
) -> HistoryEntry:
    """One row of the past; of the same call, where the command is the same."""
    where = str(file) if file else None
    return HistoryEntry.model_validate(
        {
            "receipt_id": command,
            "seq": 1,
            "at": "2026-01-01T00:00:00Z",
            "phase": "decided",
            "thread_id": "t",
            "agent_name": "Countersign",
            "tool_call_id": "c",
            "tool": "shell",
            "input": {"command": command},
            "verdict": verdict,
            "by": by,
            "evidence": [Evidence(source="rule", rule=rule, file=where, line=1, reason="a rule")] if rule else [],
            "digest": "d",
        }
    )
