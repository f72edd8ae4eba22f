"""Whether a variable that a text sets is in force wherever the text names it, so that its values are known there."""

from __future__ import annotations

import re

from countersign.gate.shell.syntax.tree import (
    Assignment,
    Chain,
    Compound,
    Node,
    Not,
    Pipeline,
    Reading,
    Script,
    Simple,
    Timed,
)
from countersign.gate.shell.variables.listings import substituted_listing


def surely_set(name: str, reading: Reading) -> bool:
    """Whether a variable is in force wherever it stands: the text first names it in an assignment, or a ``for``, that
    is a statement of its own, and never outside the list that this stands in. Behind `&&`, in a pipeline, a subshell
    or a branch it may not have happened, and before its assignment it is whatever the environment says."""
    # `[ -d x ]` does not name `d`, nor `find -type f` `f`; in arithmetic they would.
    option = "" if "((" in reading.text else r"(?<!\s-)(?<!\s-type )"
    named = re.compile(rf"(?<![A-Za-z0-9_]){option}{re.escape(name)}(?![A-Za-z0-9_])")
    return _set_in(reading.script, name, named, len(named.findall(reading.text)))


def _set_in(script: Script, name: str, named: re.Pattern[str], total: int) -> bool:
    """The same of one list of statements, which must hold all places that name the variable."""
    for number, node in enumerate(script.statements):
        here = _mentions(node, named)
        if not here:
            continue
        rest = sum(_mentions(later, named) for later in script.statements[number:])
        if rest == total and number not in script.background and _sets(node, name, named):
            return True
        return here == total and _set_inside(node, name, named, total)
    return False


def _sets(node: Node, name: str, named: re.Pattern[str]) -> bool:
    """Whether this statement sets the variable before it does anything else, and surely."""
    match node:
        case Simple(words=(), redirects=(), kind="command"):
            # Bash expands and assigns one after the other.
            for assignment in node.assignments:
                plain = assignment.plain is not None or _is_output_of_constants(assignment)
                used = 0 if plain else len(named.findall(assignment.source))
                if assignment.name == name or used:
                    return assignment.name == name and used <= 1
            return False
        case Compound(kind="loop"):
            # Redirections come first, and where one fails the loop never runs.
            return node.name == name and not node.redirects
        case Chain(first=first):
            return isinstance(first, Simple) and _sets(first, name, named)
        case _:
            return False


def _is_output_of_constants(assignment: Assignment) -> bool:
    """Whether a value is the output of commands without a variable: `base=$(git merge-base main HEAD)` uses no
    `base`."""
    return assignment.value is not None and substituted_listing(assignment.value) is not None


def _reads(condition: Script, name: str) -> bool:
    """Whether the condition of a loop is ``read`` of this variable alone: the body runs only if it read something."""
    node = condition.statements[0] if len(condition.statements) == 1 and not condition.background else None
    if not isinstance(node, Simple) or node.redirects or not node.words or node.words[0].value != "read":
        return False
    values = [word.value for word in node.words[1:]]
    return [value for value in values if value not in {"-r", "-d", ""}] == [name]


def _set_inside(node: Node, name: str, named: re.Pattern[str], total: int) -> bool:
    """The same of a statement that holds all places that name the variable."""
    match node:
        case Compound(kind="loop", name=variable, redirects=redirects) if variable == name:
            return not any(named.search(redirect.source) for redirect in redirects)
        case Compound(kind="loop", name=None, bodies=[condition, _], redirects=redirects) if _reads(condition, name):
            return not any(named.search(redirect.source) for redirect in redirects)
        case Compound(bodies=bodies):
            return any(_set_in(body, name, named, total) for body in bodies)
        case Not(body=body) | Timed(body=body):
            return _set_inside(body, name, named, total)
        case Pipeline(stages=stages):
            return any(_set_inside(stage, name, named, total) for stage in stages if _mentions(stage, named) == total)
        case Chain(first=first, links=links):
            nodes = (first, *(link for _, link in links))
            for number, each in enumerate(nodes):
                if not _mentions(each, named):
                    continue
                # Behind `||` it may be skipped although what follows it runs.
                only_if = all(operator == "&&" for operator, _ in links[max(number - 1, 0) :])
                return (only_if and _sets(each, name, named)) or (
                    _mentions(each, named) == total and _set_inside(each, name, named, total)
                )
            return False
        case Simple():
            return False


def _mentions(node: Node, named: re.Pattern[str]) -> int:
    """How often a statement names the variable, in whatever way."""
    match node:
        case Simple(source=source) | Compound(source=source):
            return len(named.findall(source))
        case Not(body=body) | Timed(body=body):
            return _mentions(body, named)
        case Pipeline(stages=nodes):
            return sum(_mentions(each, named) for each in nodes)
        case Chain(first=first, links=links):
            return _mentions(first, named) + sum(_mentions(each, named) for _, each in links)
