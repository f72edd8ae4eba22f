"""Whether a listing that is fed to commands reaches one of them whole.

Commands in a loop or a group share their input: ``find d -type f | { head -c 1; xargs cat; }`` gives xargs ``/etc/x``
where find printed ``d/etc/x``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def takes_all(stage: Node) -> bool:
    """Whether all that is fed to a stage of a pipeline comes to one command in it, or line by line to the ``read`` of a
    loop beside which nothing reads it."""
    match stage:
        case Simple():
            return not any(_scripts(stage))  # what stands in a substitution reads the same input before
        case Compound():
            return loop_takes_all(stage)
        case _:
            return False


def loop_takes_all(node: Compound) -> bool:
    """Whether a compound command is a loop over ``read`` that takes its input line by line, and nothing else in it
    reads that."""
    if node.kind != "loop" or node.keyword != "while" or len(node.bodies) != len(("condition", "body")):
        return False
    condition, body = node.bodies
    first = condition.statements[0] if len(condition.statements) == 1 else None
    if not isinstance(first, Simple) or not first.words or first.words[0].value != "read" or first.redirects:
        return False
    values = [word.value for word in first.words[1:]]
    names = [value for value in values if value is not None and value.isidentifier()]
    if len(names) != 1 or any(value is None for value in values):
        return False
    return _script_leaves(body, names[0])


def _script_leaves(script: Script, name: str) -> bool:
    return all(_leaves(node, name) for node in script.statements)


def _leaves(node: Node, name: str) -> bool:
    """Whether no command in it reads the input that it shares with ``read``."""
    match node:
        case Simple():
            return _simple_leaves(node, name)
        case Pipeline(stages=stages):
            return _leaves(stages[0], name)  # the others read what this one writes
        case Chain(first=first, links=links):
            return _leaves(first, name) and all(_leaves(each, name) for _, each in links)
        case Not(body=body):
            return _leaves(body, name)
        case Compound(kind="group" | "if" | "subshell"):
            if node.scripts or any(_scripts_in(node.redirects)):
                return False
            return _feeds(node.redirects) or all(_script_leaves(body, name) for body in node.bodies)
        case _:
            return False


def _simple_leaves(command: Simple, name: str) -> bool:
    """Whether a command reads no input, or another: one that is given the name is supposed to read that file."""
    if not all(_script_leaves(script, name) for script in _scripts(command)):
        return False
    if command.kind != "command" or not command.words or _feeds(command.redirects):
        return True
    if command.words[0].value in _READ_NOTHING:
        return True
    given = any(_is_variable(word, name) for word in command.words[1:])
    return given and not any(_is_input(word.value or word.prefix) for word in command.words[1:])


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


def _is_input(text: str) -> bool:
    return text == "-" or text.startswith(("/dev/", "/proc/"))


def _feeds(redirects: Sequence[Redirect]) -> bool:
    """Whether a redirection gives a command an input of its own."""
    return any(each.operator in {"<", "<<", "<<<"} and each.descriptor in {"", "0"} for each in redirects)


_READ_NOTHING = frozenset("echo printf test [ : true false continue break".split())
