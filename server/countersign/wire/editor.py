"""What the built-in agent's editor tools ask the client for: open files, selection, diagnostics, symbols, references,
what renaming a symbol would change.

Requests from the server to a client that says ``editor`` in its ``client`` abilities. Paths are absolute; lines and
characters count from 1, characters in UTF-16 code units. ``left_out`` is how many entries the client did not send:
those that are no files on this machine, and those beyond its own bound. ``reason`` says in one sentence why there is
nothing.
"""

from __future__ import annotations

from typing import Literal

from countersign.wire.base import WireModel

EditorSeverity = Literal["error", "warning", "information", "hint"]


class EditorFile(WireModel):
    """A file that is open in an editor. ``dirty``: it has changes that are not saved."""

    path: str
    active: bool = False
    dirty: bool = False


class EditorOpenFilesResult(WireModel):
    """``editor/openFiles``: the files that are open in editors."""

    files: list[EditorFile]
    left_out: int = 0


class EditorSelection(WireModel):
    """What the person selected last; ``text`` is empty where that is only the place of the cursor."""

    path: str
    line: int
    character: int
    end_line: int
    end_character: int
    text: str
    dirty: bool = False
    cut: bool = False


class EditorSelectionResult(WireModel):
    """``editor/selection``: absent where no file is open in the active editor."""

    selection: EditorSelection | None = None


class EditorDiagnosticsParams(WireModel):
    """``editor/diagnostics``: what the editor shows under Problems, of one file or of all. ``changed``: the file was
    just changed on disk; the client waits, 3 seconds at most, until the editor has checked it anew."""

    path: str | None = None
    changed: bool = False


class EditorDiagnostic(WireModel):
    """``source`` and ``code`` name the checker and its rule."""

    path: str
    line: int
    character: int
    severity: EditorSeverity
    message: str
    source: str | None = None
    code: str | None = None


class EditorDiagnosticsResult(WireModel):
    diagnostics: list[EditorDiagnostic]
    left_out: int = 0
    reason: str | None = None


class EditorSymbolsParams(WireModel):
    """``editor/symbols``: the symbols of the file ``path``, else those of the workspace that fit ``query``."""

    path: str | None = None
    query: str | None = None


class EditorSymbol(WireModel):
    """``kind`` is the editor's word, such as ``class``; ``container`` the symbol that this one stands in."""

    path: str
    line: int
    character: int
    name: str
    kind: str
    container: str | None = None


class EditorSymbolsResult(WireModel):
    symbols: list[EditorSymbol]
    left_out: int = 0
    reason: str | None = None


class EditorReferencesParams(WireModel):
    """``editor/references``: where the symbol is used whose ``name`` stands in this line."""

    path: str
    line: int
    name: str


class EditorReference(WireModel):
    path: str
    line: int
    character: int


class EditorReferencesResult(WireModel):
    references: list[EditorReference]
    left_out: int = 0
    reason: str | None = None


class EditorRenameParams(WireModel):
    """``editor/rename``: what would change if the symbol whose ``name`` stands in this line were named ``new_name``.
    The client changes nothing."""

    path: str
    line: int
    name: str
    new_name: str


class EditorTextEdit(WireModel):
    """One place of a file, from its first character to before its last, and what would stand there instead.
    ``old_text`` stands there in the editor now."""

    line: int
    character: int
    end_line: int
    end_character: int
    old_text: str
    new_text: str


class EditorFileEdits(WireModel):
    """The edits of one file, in the order of the file; they do not overlap. ``dirty``: the editor has changes of it
    that are not saved."""

    path: str
    edits: list[EditorTextEdit]
    dirty: bool = False


class EditorRenameResult(WireModel):
    """``left_out``: entries that are not files on this machine, or beyond the client's bound."""

    files: list[EditorFileEdits]
    left_out: int = 0
    reason: str | None = None
