"""Where a shell may be after its commands: what ``cd`` words lead to, and which statements may move it."""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.syntax.tree import Chain, Compound, Node, Not, Pipeline, Script, Simple, Timed, Word

Place = tuple[Word, ...]
"""The ``cd`` targets that lead from where the text starts to where a command runs."""

Places = frozenset[Place] | None
"""All places where a command may run; None where that is not known."""

MAX_PLACES = 8
HERE: Places = frozenset({()})

MOVERS = frozenset(
    {"cd", "pushd", "popd", "source", ".", "eval", "trap", "dirs", "enable", "alias", "shopt", "builtin"}
)


def union(*places: Places) -> Places:
    found: set[Place] = set()
    for some in places:
        if some is None:
            return None
        found |= some
    return frozenset(found) if len(found) <= MAX_PLACES else None


def followed(places: Places, words: Sequence[Word]) -> Places:
    """Where ``cd`` with these words leads, from each of these places."""
    target = cd_target(words)
    if target is None or places is None:
        return frozenset({(target,)}) if target is not None and target.prefix.startswith(("/", "~")) else None
    return frozenset((*place, target) if not target.prefix.startswith("/") else (target,) for place in places)


def cd_target(words: Sequence[Word]) -> Word | None:
    """The constant word that ``cd`` goes to; None if it is not known."""
    rest = [word for word in words[1:] if word.value not in {"-P", "-L", "--"}]
    if len(rest) != 1 or rest[0].value is None or rest[0].value in {"", "-"} or rest[0].value.startswith("-"):
        return None
    return rest[0]


def moves(script: Script, *, everywhere: bool = False) -> bool:
    """Whether something in it may change the shell's own place; ``everywhere`` looks into functions too."""
    return any(node_moves(node, everywhere=everywhere) for node in script.statements)


def node_moves(node: Node, *, everywhere: bool) -> bool:
    match node:
        case Simple(words=words):
            named = [program(word.value) for word in words if word.value is not None]
            # `ls .` moves nothing: only behind these is a later word the command.
            return bool(named) and any(
                name in MOVERS for name in (named if named[0] in {"command", "builtin", "time"} else named[:1])
            )
        case Not(body=body) | Timed(body=body):
            return node_moves(body, everywhere=everywhere)
        case Chain(first=first, links=links):
            return node_moves(first, everywhere=everywhere) or any(
                node_moves(link, everywhere=everywhere) for _, link in links
            )
        case Pipeline(stages=stages):
            return everywhere and any(node_moves(stage, everywhere=everywhere) for stage in stages)
        case Compound(kind=kind, bodies=bodies):
            if kind in {"subshell", "coproc", "function"} and not everywhere:
                return False
            return any(moves(body, everywhere=everywhere) for body in bodies)
