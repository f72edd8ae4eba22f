"""What only bash reads as we do: where a text that `sh` or `dash` runs holds such a thing, something else runs.

`sh -c 'time A=x/y ls'` starts a program `A=x/y` where `sh` knows no reserved word `time`, and `pushd` is a program of
that name there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import (
    Assignment,
    Chain,
    Compound,
    Node,
    Not,
    NotUnderstood,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Timed,
    Word,
)

_MARKS = re.compile(r"<<|&>|\[\[|<\(|\bexport\b.*\$|(?<!\$)\{(?![\s}])", re.DOTALL)
"""What other shells than bash read otherwise, or do not know; `dash` splits the expansions in `export A=$x`."""

_BUILTINS = frozenset(
    "source pushd popd dirs builtin declare typeset local let mapfile readarray shopt enable caller disown suspend "
    "logout help history compgen complete compopt bind".split()
)
"""Builtins of bash that are programs elsewhere, or are builtins there with other rules."""
_IN_FRONT = frozenset({"command", "builtin"})


def needs_bash(text: str) -> bool:
    """Whether another shell than bash may run anything else than bash does."""
    if _MARKS.search(text):
        return True
    try:
        return _script(read(text).script)
    except (NotUnderstood, UnicodeError, RecursionError):
        return True


def _script(script: Script) -> bool:
    return any(map(_node, script.statements))


def _scripts(scripts: Iterable[Script]) -> bool:
    return any(map(_script, scripts))


def _node(node: Node) -> bool:
    match node:
        case Timed():
            return True
        case Not(body=body):
            return _node(body)
        case Pipeline(stages=stages):
            return any(map(_node, stages))
        case Chain(first=first, links=links):
            return _node(first) or any(_node(link) for _, link in links)
        case Compound():
            return _scripts((*node.bodies, *node.scripts)) or _words(node.words) or _redirects(node.redirects)
        case Simple():
            return (
                node.kind != "command"
                or _is_builtin(node.words)
                or _words(node.words)
                or any(map(_assigns, (*node.assignments, *node.declared)))
                or _redirects(node.redirects)
                or _scripts(node.scripts)
            )


def _is_builtin(words: Iterable[Word]) -> bool:
    """Whether a builtin of bash alone is run, also behind ``command``."""
    return next((word.value for word in words if word.value not in _IN_FRONT), None) in _BUILTINS


def _words(words: Iterable[Word]) -> bool:
    return any(_scripts(word.scripts) for word in words)


def _assigns(assignment: Assignment) -> bool:
    return _scripts(assignment.scripts)


def _redirects(redirects: Iterable[Redirect]) -> bool:
    return any(_scripts(redirect.target.scripts) for redirect in redirects)
