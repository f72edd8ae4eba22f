"""Reads shell texts with shfmt, many to a process: a text becomes its statements as shfmt's JSON, or None.

``read_word`` brings a word of that JSON into the normal form of docs/gate.md S4.

Texts are joined by marker statements. A text counts as read only if every marker stands at the top level exactly where
it was put, so that none of them can swallow or complete another; what does not fit is read again in smaller heaps.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHFMT = Path(sys.executable).parent / "shfmt"
HEAP = 200
LIMIT = 20.0
"""Seconds for one heap; it takes some tens of milliseconds."""

HOLE = "\0"
"""In a word: text that is not known before it runs."""

Statements = list[dict[str, Any]]


class Trees:
    """Remembers what it has read, so that a text is read once."""

    def __init__(self) -> None:
        self._known: dict[str, Statements | None] = {}

    def __getitem__(self, text: str) -> Statements | None:
        return self._known[text]

    def __contains__(self, text: str) -> bool:
        return text in self._known

    def unread(self, command: str) -> bool:
        """Whether this text, or one that stands in it, was given to shfmt and not understood."""
        return any(statements is None and text in command for text, statements in self._known.items())

    def load(self, texts: Iterable[str]) -> None:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(fresh), HEAP):
            self._load(fresh[start : start + HEAP])

    def _load(self, heap: Sequence[str]) -> None:
        found = _read(heap)
        if found is not None:
            self._known.update(zip(heap, found, strict=True))
        elif len(heap) == 1:
            self._known[heap[0]] = None
        else:
            self._load(heap[: len(heap) // 2])
            self._load(heap[len(heap) // 2 :])


def _read(heap: Sequence[str]) -> list[Statements] | None:
    joined, places = b"", []
    for number, text in enumerate(heap):
        joined += text.encode("utf-8", "surrogatepass") + b"\n"
        places.append((len(joined), f"__end_of_{number}__"))
        joined += b": " + places[-1][1].encode() + b"\n"
    done = subprocess.run(
        [SHFMT, "-ln", "bash", "--to-json"], input=joined, capture_output=True, timeout=LIMIT, check=False
    )
    if done.returncode != 0:
        return None
    trees: list[Statements] = [[]]
    tree = json.loads(done.stdout)
    if b"FuncDecl" in done.stdout:
        _mend(tree)
    for statement in tree.get("Stmts", []):
        if len(trees) <= len(places) and _is_marker(statement, *places[len(trees) - 1]):
            trees.append([])
        else:
            trees[-1].append(statement)
    return trees[:-1] if len(trees) == len(places) + 1 and not trees[-1] else None


def _mend(tree: Any) -> None:
    """Give back what shfmt takes into a function's body: ``f() { a; } && b`` runs ``b`` now."""
    for child in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(child, dict | list):
            _mend(child)
    if isinstance(tree, dict) and tree.get("Cmd", {}).get("Type") == "FuncDecl":
        function, body = tree["Cmd"], tree["Cmd"]["Body"]
        if body["Cmd"]["Type"] == "BinaryCmd":
            left = {**tree, "Cmd": {**function, "Body": body["Cmd"]["X"]}}
            tree["Cmd"] = {**body["Cmd"], "X": left}
            _mend(left)


def _is_marker(statement: dict[str, Any], offset: int, name: str) -> bool:
    command = statement.get("Cmd", {})
    if command.get("Type") != "CallExpr" or statement["Pos"].get("Offset", 0) != offset or "Redirs" in statement:
        return False
    words = [[part.get("Value") for part in word["Parts"]] for word in command.get("Args", [])]
    return words == [[":"], [name]]


# --- words -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """``loose``: it could turn out to be an option, or several words. ``expands``: it holds an expansion that only bash
    knows, other than a glob or a process substitution."""

    text: str
    loose: bool = False
    expands: bool = False


_ANSI = re.compile(r"\\(?:[xuU]([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.S)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def _ansi(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2], 8) if found[2] else None
    return _LETTERS.get(found[3], found[3]) if code is None else chr(code)


def read_word(node: Mapping[str, Any] | None) -> Word:
    text, splits, shape, expands = "", False, "", False
    for part in node.get("Parts", []) if node else []:
        expands = expands or _expands(part)
        match part["Type"], part.get("Value", ""):
            case "Lit", raw:
                shape += re.sub(r"\\.", "_", raw, flags=re.S)
                globbed = re.sub(r"(?<!\\)\[[^/]*?\]", HOLE, raw, flags=re.S)
                text += re.sub(r"\\(\n)|\\(.)|[*?]", lambda m: "" if m[1] else m[2] or HOLE, globbed, flags=re.S)
            case "SglQuoted", raw:
                text += _ANSI.sub(_ansi, raw) if part.get("Dollar") else raw
            case "DblQuoted", _:
                text += "".join(_inside_quotes(inner) for inner in part.get("Parts", []))
            case "ProcSubst", _:
                text += "/dev/fd/" + HOLE
            case ("ArithmExp", _) | ("ParamExp", _) if part["Type"] == "ArithmExp" or part.get("Length"):
                text += "0" + HOLE
            case _:
                text, splits = text + _constant(part), True
    if shape.startswith("~") and node and node["Parts"][0]["Type"] == "Lit":
        return Word(HOLE + text, expands=expands)
    loose = splits or text[:1] in (HOLE, "-")
    if re.search(r"\{.*(,|\.\.).*\}", shape, re.S):
        text = text[: text.index("{")] + HOLE
        loose = splits or text[:1] == "-" or re.search(r"[{,]\s*-", shape) is not None
    return Word(text, HOLE in text and loose, HOLE in text and expands)


def _expands(part: Mapping[str, Any]) -> bool:
    inner = part.get("Parts", []) if part["Type"] == "DblQuoted" else [part]
    return any(each["Type"] in ("ParamExp", "CmdSubst", "ArithmExp") for each in inner)


def _inside_quotes(part: Mapping[str, Any]) -> str:
    if part["Type"] != "Lit":
        return _constant(part)
    return re.sub(r"\\(\n)|\\([$`\"\\])", lambda m: "" if m[1] else m[2], part["Value"])


def _constant(part: Mapping[str, Any]) -> str:
    """The text of ``$(cat <<'END' …)``, which is known; any other expansion is a hole."""
    match part.get("Stmts"):
        case [{"Cmd": {"Args": [word], **command}, "Redirs": [{"Op": "<<", "Word": mark, "Hdoc": body}]}]:
            quoted = any(each["Type"] != "Lit" or "\\" in each["Value"] for each in mark["Parts"])
            if quoted and read_word(word).text == "cat" and "Assigns" not in command and part["Type"] == "CmdSubst":
                return "".join(each["Value"] for each in body["Parts"]).rstrip("\n")
    return HOLE
