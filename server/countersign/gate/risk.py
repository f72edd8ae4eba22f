"""Risks as a card shows them: an id, the words, and how severe; and where in a command line its parts stand.

``danger`` is kept for what can destroy, leak, escape the workspace, run unseen code or touch protected paths.
Network access is a danger: whatever reaches out can leak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from countersign.wire.approvals import CommandPart, CommandPreview, Preview, Risk

_IDS = {
    "deletes files": "deletes",
    "network": "network",
    "runs with elevated rights": "elevated",
    "its name mixes letters of several scripts": "mixedScripts",
    "runs code that its arguments do not show": "unseenCode",
    "changes settings": "settings",
    "changes the settings in `.git/config`": "gitSettings",
    "outside the workspace": "outside",
    "goes through a link": "link",
    "files may change before this runs": "opensLater",
}
GIT_SETTINGS = next(text for text, risk_id in _IDS.items() if risk_id == "gitSettings")
"""Of a form of git that does something else, too, so that this path is not judged as one that it writes."""
_WITH_DETAIL = frozenset({"secret", "protected", "withheld", "processTracking", "sandbox"})
_CAUTIONS = frozenset({"link", "settings", "gitSettings", "opensLater", "withheld", "processTracking", "sandbox"})


def risk_of(text: str) -> Risk:
    """The risk with these words. Words that are not in the table are a danger."""
    kind, colon, _ = text.partition(": ")
    risk_id = kind if colon and kind in _WITH_DETAIL else _IDS.get(text, "other")
    return Risk(id=risk_id, text=text, severity="caution" if risk_id in _CAUTIONS else "danger")


def is_danger(text: str) -> bool:
    """Return true if a card draws these words as a risk, and not as a note."""
    return risk_of(text).severity == "danger"


def with_parts(preview: Preview, parts: Iterable[CommandPart]) -> Preview:
    """The preview of a command with its parts in their places; any other preview as it is."""
    if not isinstance(preview, CommandPreview):
        return preview
    return preview.model_copy(update={"parts": list(placed(parts, preview.command))})


def placed(parts: Iterable[CommandPart], command: str) -> Iterator[CommandPart]:
    """The parts with their places in the command, in UTF-16 code units, each looked for behind the one before.

    A part that does not stand there word for word, such as one inside a quoted script, has no place.
    """
    at = units = 0
    for part in parts:
        start = command.find(part.text, at) if part.text else -1
        if start < 0:
            yield part
            continue
        units += utf16_length(command[at:start])
        end = units + utf16_length(part.text)
        yield part.model_copy(update={"start": units, "end": end})
        at, units = start + len(part.text), end


def utf16_length(text: str) -> int:
    """The length of a text as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
