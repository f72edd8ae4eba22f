"""No regular expression of the server uses a construct whose meaning differs between the supported Python versions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[2] / "server" / "countersign"
MODULES = sorted(SERVER.rglob("*.py"))
FUNCTIONS = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
POSSESSIVE_OR_ATOMIC = re.compile(r"[*+?}]\+|\(\?>")
"""Broken until Python 3.11.5, the first of them in the Python of Debian 12."""


def differs_between_versions(expression: str) -> bool:
    """True if the expression has a possessive quantifier or an atomic group."""
    without_escapes = re.sub(r"\\.", "e", expression, flags=re.DOTALL)
    without_classes = re.sub(r"\[\^?\]?[^\]]*\]", "c", without_escapes)
    return POSSESSIVE_OR_ATOMIC.search(without_classes) is not None


def expressions(source: str) -> Iterator[str]:
    """Every text that a call of ``re`` is given as its expression; module constants are followed by their names."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def text(node: ast.AST, depth: int = 0) -> str:
        match node:
            case ast.Constant(str(value)):
                return value
            case ast.JoinedStr(parts):
                return "".join(text(part, depth) for part in parts)
            case ast.FormattedValue(value):
                return text(value, depth)
            case ast.BinOp(left, ast.Add(), right):
                return text(left, depth) + text(right, depth)
            case ast.Name(name) if name in constants and depth < 9:
                return text(constants[name], depth + 1)
            case _:
                return "x"

    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"), name), [first, *_]) if name in FUNCTIONS:
                yield text(first)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SERVER).as_posix())
def test_no_expression_differs_between_python_versions(path: Path):
    assert [each for each in expressions(path.read_text()) if differs_between_versions(each)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('re.compile(r"a++b")', True),
        ('re.match("(?>a|b)c", x)', True),
        ('X = "a*+"\nY = rf"(?:{X})b"\nre.compile(Y)', True),
        ('re.search(r"a{2,3}+", x)', True),
        ('re.search("a" + "?+", x)', True),
        (r're.compile(r"a\++[*+]+(?:x)?")', False),
        ('re.compile(r"[^]*+]+")', False),
    ],
)
def test_possessive_quantifiers_and_atomic_groups_are_found(source: str, found: bool):
    assert any(map(differs_between_versions, expressions(source))) is found
