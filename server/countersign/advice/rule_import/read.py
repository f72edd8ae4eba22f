"""Reads a permission file of another program and finds out which program's it is, by its name and keys."""

from __future__ import annotations

from pathlib import Path

from countersign.advice.rule_import.claude_code import claude_code_entries
from countersign.advice.rule_import.codex import codex_entries
from countersign.advice.rule_import.entries import BadImport, Entry, Format, Imported, carry_over
from countersign.advice.rule_import.gemini import gemini_entries
from countersign.advice.rule_import.vscode import PREFIX, vscode_entries
from countersign.settings.jsonc import BrokenJson, Node, decode_jsonc, parse_jsonc
from countersign.settings.regular_file import NotRegular, read_regular

MOST_BYTES = 1 << 20
"""The largest file that is read."""


def blocking_import(file: str, workspace: str | None) -> Imported:
    """What a file of permissions would mean as rules of ours.

    Raises:
        BadImport: it cannot be read, or is in no format that is known.
    """
    path = Path(file)
    in_project = workspace is not None and path.parent == Path(workspace, ".claude")
    return import_text(path.name, _blocking_bytes(file), in_project=in_project)


def import_text(name: str, data: bytes, *, in_project: bool = False) -> Imported:
    """The same of a file's bytes. ``in_project`` says that it is the workspace's own settings file.

    Raises:
        BadImport: it is in no format that is known.
    """
    try:
        text = decode_jsonc(data).removeprefix("\ufeff")
        if name.endswith(".rules"):
            return carry_over("codex", list(codex_entries(text)))
        if name.endswith(".toml"):
            return carry_over("gemini", list(gemini_entries(text)))
        source, entries = _json_entries(text, in_project=in_project)
    except BrokenJson as error:
        raise BadImport(f"line {error.line}: {error.message}") from None
    return carry_over(source, entries)


def _json_entries(text: str, *, in_project: bool) -> tuple[Format, list[Entry]]:
    document = parse_jsonc(text)
    root = document.root
    if root is not None and isinstance(root.value, dict):
        keys = [member.key or "" for member in root.elements]
        if _repeats_key(root):
            raise BadImport("it names a key twice, which programs read differently")
        if "permissions" in keys:
            return "claudeCode", list(claude_code_entries(document, root, in_project=in_project))
        if any(key.startswith(PREFIX) for key in keys):
            return "vscode", list(vscode_entries(document, root))
    raise BadImport(
        "it is not a file of permissions that is known: Claude Code's settings, Codex's `.rules`, Gemini's policies in"
        " `.toml`, or VS Code's settings with `chat.tools.terminal.autoApprove`"
    )


def _repeats_key(node: Node) -> bool:
    keys = [element.key for element in node.elements if element.key is not None]
    return len(set(keys)) < len(keys) or any(_repeats_key(element.node) for element in node.elements)


def _blocking_bytes(file: str) -> bytes:
    """The file's bytes. Never waits on a pipe or device."""
    try:
        data = read_regular(file, MOST_BYTES + 1)
    except NotRegular:
        raise BadImport("it is not a file") from None
    except (OSError, ValueError) as error:
        raise BadImport(f"it cannot be read: {getattr(error, 'strerror', None) or 'its name is no path'}") from None
    if len(data) > MOST_BYTES:
        raise BadImport(f"it is longer than {MOST_BYTES} bytes")
    return data
