"""Write the list of every reason and error text that a person can meet, or with ``--check`` compare it.

The list is read from the source: texts of exceptions that are raised, of evidence, refusals and failed outcomes, and
the reasons in the records of programs. What
is known only at run time stands as the expression in braces. To review a change of wording, read the diff of the list.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "server" / "countersign"
RECORDS = SERVER / "gate" / "shell" / "programs" / "records"
TARGET = ROOT / "tests" / "messages.txt"

REASONS = {"reason", "message", "text", "caveat", "allows", "words"}
"""Keywords whose value is shown."""
RESULTS = {
    "ask_floor",
    "spoken",
    "Outcome",
    "Refused",
    "CannotSucceed",
    "Resolution",
    "SandboxState",
    "Note",
    "Risk",
    "Problem",
}
"""Calls whose texts are shown."""
INTERNAL = {"AssertionError", "NotImplementedError", "AttributeError", "KeyError", "TypeError", "StopIteration"}
SENTENCE = re.compile(
    r"(?!.*(?:\(\?|\[ \\t|\[\^))(?!(?:CREATE|SELECT|INSERT|PRAGMA|UPDATE|DELETE) )[a-zA-Z`{][^ ]* .*\S", re.DOTALL
)
"""Two words at least, since anything shorter is a name; neither a regular expression nor SQL."""


def messages(path: Path) -> list[str]:
    """Return the texts of one module, in order and once each."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = [text for node in ast.walk(tree) for value in _shown(node) for text in _texts(value, constants)]
    return sorted({" ".join(text.split()) for text in found if SENTENCE.fullmatch(text.strip())})


def _shown(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a node that a person may read."""
    match node:
        case ast.Raise(exc=ast.Call(func=function, args=[*arguments])) if _name(function) not in INTERNAL:
            yield from arguments
        case ast.Call(func=function, args=[*arguments], keywords=[*keywords]):
            if _name(function) in RESULTS:
                yield from arguments
            yield from (word.value for word in keywords if word.arg in REASONS)
        case ast.Assign(targets=[ast.Name(name)], value=value) if name in REASONS or re.fullmatch(r"_?[A-Z_]+", name):
            if isinstance(value, (ast.Constant, ast.JoinedStr, ast.BinOp)):
                yield value
        case ast.Return(value=ast.Constant() | ast.JoinedStr() as value):
            yield value


def _name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]


def _texts(value: ast.expr, constants: Mapping[str, ast.expr], depth: int = 0) -> Iterator[str]:
    match value:
        case ast.Constant(str() as text):
            yield text
        case ast.JoinedStr(values):
            parts = [
                part.value if isinstance(part, ast.Constant) else "{" + ast.unparse(part.value) + "}"  # type: ignore[attr-defined]
                for part in values
            ]
            yield "".join(map(str, parts))
        case ast.BinOp(left, ast.Add(), right):
            yield from (
                one + other for one in _texts(left, constants, depth) for other in _texts(right, constants, depth)
            )
        case ast.IfExp(_, body, orelse):
            yield from _texts(body, constants, depth)
            yield from _texts(orelse, constants, depth)
        case ast.Name(name) if name in constants and depth == 0:
            yield from _texts(constants[name], constants, 1)
        case _:
            pass


def rendered() -> str:
    """Return the whole list: modules in order, their texts below each."""
    blocks = []
    for path in sorted(SERVER.rglob("*.py")):
        if texts := messages(path):
            blocks.append("\n".join([path.relative_to(SERVER).as_posix(), *(f"    {text}" for text in texts)]))
    blocks.append("\n".join([RECORDS.relative_to(SERVER).as_posix(), *(f"    {text}" for text in reasons())]))
    return "\n\n".join(blocks) + "\n"


def reasons() -> list[str]:
    """Return the reasons of the records of programs, once each."""
    found: set[str] = set()
    for path in RECORDS.glob("*.toml"):
        facets = [tomllib.loads(path.read_text(encoding="utf-8"))]
        while facets:
            facet = facets.pop()
            facets += [value for value in facet.values() if isinstance(value, dict)]
            found.update(value for name, value in facet.items() if name == "why")
    return sorted(found)


def main() -> int:
    text = rendered()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET.name} is out of date; run `make messages` and read the diff", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
