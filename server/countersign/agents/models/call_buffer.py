"""The arguments of a tool call while they stream: a call is complete when its top-level object closes.

Some servers say that a call is complete only when the stream ends. The brackets of the arguments say it at once.
"""

from __future__ import annotations

import re
import secrets

from countersign.agents.models.base import WantedCall
from countersign.tools.visible import as_title
from countersign.wire.base import Json
from countersign.wire.errors import ModelError
from countersign.wire.strict_json import BadJson, parse_json

LONGEST_ID = 256
"""Characters of the id of a call."""
LONGEST_ARGUMENTS = 16 << 20
"""Characters of the arguments of one call."""

_MARKS = re.compile(r'[{}\[\]"]')
_STRING_END = re.compile(r'["\\]')


class CallBuffer:
    """Collects one call. A class because its arguments come in pieces; ``feed`` and ``finish`` give the call once."""

    def __init__(self, call_id: Json, name: Json) -> None:
        self._id = call_id
        self._name = name
        self._parts: list[str] = []
        self._size = 0
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._given = False

    def name(self, name: str) -> None:
        """Add to the name; some servers send it in pieces."""
        self._name = (self._name if isinstance(self._name, str) else "") + name

    def feed(self, text: str) -> WantedCall | None:
        """Add a piece of the arguments; the call, if this piece closes them. What comes after is ignored.

        Raises:
            ModelError: the arguments are too long.
        """
        if self._given:
            return None
        self._size += len(text)
        if self._size > LONGEST_ARGUMENTS:
            raise ModelError(f"the arguments of a call are longer than {LONGEST_ARGUMENTS >> 20} Mi characters")
        end = self._close(text)
        self._parts.append(text if end is None else text[:end])
        return None if end is None else self._call()

    def finish(self, whole: Json = None) -> WantedCall | None:
        """Return the call now that the server says that it is complete, unless it was given before.

        ``whole`` are the arguments where the server repeats them.
        """
        if self._given:
            return None
        if isinstance(whole, str) and whole:
            self._parts = [whole]
        return self._call()

    def _call(self) -> WantedCall:
        self._given = True
        text = "".join(self._parts)
        return wanted_call(self._id, self._name, text if text.strip() else {})

    def _close(self, text: str) -> int | None:
        """Return the index after the bracket that closes the arguments; None while they are open."""
        position = 0
        while position < len(text):
            if self._in_string:
                position = self._skip_string(text, position)
                continue
            mark = _MARKS.search(text, position)
            if mark is None:
                return None
            position = mark.end()
            if mark[0] == '"':
                self._in_string = True
            elif mark[0] in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    return position
        return None

    def _skip_string(self, text: str, position: int) -> int:
        while position < len(text):
            if self._escaped:
                self._escaped = False
                position += 1
                continue
            mark = _STRING_END.search(text, position)
            if mark is None:
                return len(text)
            position = mark.end()
            if mark[0] == '"':
                self._in_string = False
                return position
            self._escaped = True
        return position


def wanted_call(call_id: Json, name: Json, arguments: Json) -> WantedCall:
    """Return a call from a server's values. Arguments are an object, or JSON text of one; else the call is broken."""
    broken = None
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except BadJson as error:
            broken = f"the arguments cannot be read: {error}"
    if not isinstance(arguments, dict):
        broken = broken or "the arguments are not a JSON object"
    usable = isinstance(call_id, str) and 0 < len(call_id) <= LONGEST_ID
    return WantedCall(
        call_id=str(call_id) if usable else f"call_{secrets.token_hex(8)}",
        tool=as_title(name) if isinstance(name, str) else "",
        arguments=arguments if isinstance(arguments, dict) and broken is None else {},
        broken=broken,
    )
