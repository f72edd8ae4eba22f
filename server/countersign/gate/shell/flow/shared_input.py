"""Whether what is fed to commands reaches one of them whole.

Commands in a loop or a group share their input: ``find d -type f | { head -c 1; xargs cat; }`` gives xargs ``/etc/x``
where find printed ``d/etc/x``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.flow.command_input import CommandInput
from countersign.gate.shell.syntax.tree import (
    Chain,
    Compound,
    Node,
    Not,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Text,
    Variable,
    Word,
)


def shared_by(node: Simple | Compound, read: CommandInput) -> CommandInput:
    """What is known of the input ``read`` to each command of a node: only parts of it, unless one of them takes it
    whole. A loop over bash's `read` takes a listing line by line."""
    part = read.in_part()
    if part is read:
        return read
    if isinstance(node, Simple):
        if sum(word.value in _STARTS for word in node.words) > 1:
            return part  # find runs one after the other on it
        others: list[Simple] = []
        return read if all(_leave(script, others) for script in _scripts(node)) and not others else part
    return part._replace(
        exact=read.exact and _has_one_reader(node), listing=read.listing if _loop_takes_all(node) else None
    )


def _has_one_reader(node: Compound) -> bool:
    """Whether at most one command in it may read the input that its commands share, so that none gets a part of it."""
    others: list[Simple] = []
    return all(_leave(body, others) for body in node.bodies) and len(others) <= 1


def _loop_takes_all(node: Compound) -> bool:
    """Whether a compound command is a loop over ``read`` that takes its input line by line, and nothing else in it
    reads that. One program may be given the name: it opens that file, or reads the input and opens none."""
    if node.kind != "loop" or node.keyword != "while":
        return False
    condition, body = node.bodies
    first = condition.statements[0] if len(condition.statements) == 1 else None
    if not isinstance(first, Simple) or not first.words or first.words[0].value != "read" or first.redirects:
        return False
    values = [word.value for word in first.words[1:]]
    names = [value for value in values if value is not None and value.isidentifier()]
    if len(names) != 1 or any(value is None for value in values):
        return False
    others: list[Simple] = []
    return _leave(body, others) and all(_is_given(each, names[0]) for each in others) and len(others) <= 1


def _leave(script: Script, others: list[Simple]) -> bool:
    """Whether nothing in it reads the input that it shares with ``read``, but for ``others``, which may."""
    return all(_leaves(node, others) for node in script.statements)


def _leaves(node: Node, others: list[Simple]) -> bool:
    match node:
        case Simple():
            if not all(_leave(script, others) for script in _scripts(node)):
                return False
            alone = node.kind != "command" or not node.words or node.words[0].value in _READ_NOTHING
            if not alone and not _feeds(node.redirects):
                others.append(node)
            return True
        case Pipeline(stages=stages):
            return _leaves(stages[0], others)  # the others read what this one writes
        case Chain(first=first, links=links):
            return _leaves(first, others) and all(_leaves(each, others) for _, each in links)
        case Not(body=body):
            return _leaves(body, others)
        case Compound(kind="group" | "if" | "subshell"):
            if node.scripts or any(_scripts_in(node.redirects)):
                return False
            return _feeds(node.redirects) or all(_leave(body, others) for body in node.bodies)
        case _:
            return False


def _is_given(command: Simple, name: str) -> bool:
    """Whether one word of a command is the name, and none names the input."""
    words = command.words[1:]
    return [_is_variable(word, name) for word in words].count(True) == 1 and not any(
        _MAY_BE_INPUT.search(word.value if word.value is not None else word.prefix) for word in words
    )


_MAY_BE_INPUT = re.compile(r"\A-\Z|['\"]-['\"]|/dev/|/proc/")


def _scripts(command: Simple) -> Iterator[Script]:
    """What stands in substitutions of a command, whose input is the command's."""
    yield from command.scripts
    for word in command.words:
        yield from word.scripts
    for assignment in command.assignments:
        yield from assignment.scripts
    yield from _scripts_in(command.redirects)


def _scripts_in(redirects: Sequence[Redirect]) -> Iterator[Script]:
    for redirect in redirects:
        yield from redirect.target.scripts
        yield from redirect.heredoc.scripts if redirect.heredoc is not None else ()


def _is_variable(word: Word, name: str) -> bool:
    pieces = [piece for piece in word.pieces if not isinstance(piece, Text) or piece.text]
    return len(pieces) == 1 and isinstance(pieces[0], Variable) and pieces[0].plain and pieces[0].name == name


def _feeds(redirects: Sequence[Redirect]) -> bool:
    """Whether a redirection gives a command an input of its own, and none leads back to the one that is shared."""
    inputs = [each for each in redirects if "<" in each.operator]
    return bool(inputs) and all(map(_is_own, inputs))


def _is_own(redirect: Redirect) -> bool:
    if redirect.descriptor not in {"", "0"} or redirect.variable is not None:
        return False
    if redirect.operator in {"<<", "<<-", "<<<"}:
        return True
    value = redirect.target.value
    return redirect.operator == "<" and value is not None and (value == "/dev/null" or not _MAY_BE_INPUT.search(value))


_STARTS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
"""Words behind each of which find runs a command."""

_READ_NOTHING = frozenset("echo printf test [ : true false continue break".split())
