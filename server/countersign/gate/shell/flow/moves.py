"""Where a shell may be after its commands: what ``cd`` words lead to, and which statements may move it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from countersign.gate.shell.effects.unwrap import program
from countersign.gate.shell.languages.git import TOP_LEVEL
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.syntax.tree import (
    Chain,
    Compound,
    Node,
    Not,
    Pipeline,
    Script,
    Simple,
    Substitution,
    Text,
    Timed,
    Word,
)
from countersign.gate.shell.syntax.words import constant

HOME = constant("~")._replace(tilde=True)
"""Where `cd` goes by itself. A text that sets ``HOME`` is outside Plain Bash."""


class Move(NamedTuple):
    """One command that moves the shell. ``way`` is what it does: ``cd``, ``cd -P`` (``physical``) or ``pushd`` to
    ``word``, ``popd``, ``cd -`` (``back``), ``cd "$(git rev-parse --show-toplevel)"`` (``top``), or anything else
    (``lost``).

    ``end`` is how it ended, where that matters: of a move that finds the disk as it was when it was judged, ``failed``
    cannot be where its folder exists, and ``tried`` is both ends in one.
    """

    way: Literal["cd", "physical", "pushd", "popd", "back", "top", "lost"]
    word: Word | None = None
    end: Literal["done", "failed", "tried"] = "done"


Place = tuple[Move, ...]
"""The moves that lead from where the text starts to where a command runs."""

Places = frozenset[Place] | None
"""All places where a command may run; None where that is not known."""

MAX_PLACES = 8
MAX_MOVES = 32
"""How many places, and how many moves to one of them, are followed."""

HERE: Places = frozenset({()})

MOVERS = names_with("may_move_shell") | {"."}

LEAVE_FOLDERS = names_with("leaves_folders") | {":", "[", "[["}
"""Programs that remove and rename no folder, whatever their words."""

_ACTIVATES = re.compile(r"(?:\./)?(?:(?!\.\.?/)[\w.-]+/)*(?:\.venv|venv|env)/bin/activate")


def activated(words: Sequence[Word]) -> str | None:
    """The folder of programs that ``source .venv/bin/activate`` puts in front of the path; None for anything else. The
    place is protected (docs/gate.md P4), and what stands there moves the shell nowhere."""
    if len(words) != _SOURCED or words[0].value not in {"source", "."} or words[1].value is None:
        return None
    return words[1].value.removesuffix("/activate") if _ACTIVATES.fullmatch(words[1].value) else None


_SOURCED = 2

_LOST = Move("lost")


def union(*places: Places) -> Places:
    if all(some is HERE for some in places):
        return HERE
    found: set[Place] = set()
    for some in places:
        if some is None:
            return None
        found |= some
    if len(found) > 1:
        found = _both_ends(found)
    return frozenset(found) if len(found) <= MAX_PLACES else None


def _both_ends(places: set[Place]) -> set[Place]:
    """Places with both ends of one last move said as one."""
    found = set(places)
    for place in places:
        if place and place[-1].end == "failed":
            done, tried = ((*place[:-1], place[-1]._replace(end=end)) for end in ("done", "tried"))
            if done in found or tried in found:
                found -= {place, done}
                found.add(tried)
    for place in places:
        if place and place[-1].end == "done" and (*place[:-1], place[-1]._replace(end="tried")) in found:
            found.discard(place)
    return found


def followed(
    places: Places, words: Sequence[Word], *, steady: bool, variables: Collection[str] = ()
) -> tuple[Places, Places]:
    """Where a command that moves leads from each of these places, if it succeeds and if it fails. ``steady``: it is
    run, and nothing in the text can have removed a folder before it; ``variables`` are those that the text sets."""
    move = _move(words, variables)
    if move is None:
        return None, places
    word = move.word
    if places is None or (len(places) > 1 and word is not None and word.prefix.startswith("/")):
        # From wherever: an absolute path leads to one place, but not back.
        if word is None or not word.prefix.startswith(("/", "~")):
            return None, places
        return frozenset({(_LOST, move)}), places
    if any(len(place) >= MAX_MOVES for place in places):
        return None, places
    noted = steady and word is not None
    failed = frozenset((*place, move._replace(end="failed")) for place in places) if noted else places
    return frozenset((*place, move) for place in places), failed


def _move(words: Sequence[Word], variables: Collection[str]) -> Move | None:
    """What a mover does; None if that is not known."""
    name = program(words[0].value or "")
    if name == "popd":
        return Move("popd") if len(words) == 1 else None
    target = cd_target(words)
    if target is not None:
        return Move("pushd" if name == "pushd" else "physical" if _is_physical(words) else "cd", target)
    if name == "cd" and not _operands(words):
        return Move("cd", HOME)
    if name == "cd" and len(words) == 2:
        if words[1].value == "-":
            return Move("back")
        if _is_top_level(words[1]) and not any(variable.startswith("GIT_") for variable in variables):
            return Move("top")
    return None


def _operands(words: Sequence[Word]) -> Sequence[Word]:
    """The words behind the options that bash knows: ``pushd`` has none of these."""
    at = 1
    if program(words[0].value or "") == "cd":
        while at < len(words) and words[at].bare and words[at].value in {"-L", "-P"}:
            at += 1
    return words[at + 1 :] if at < len(words) and words[at].value == "--" else words[at:]


def _is_physical(words: Sequence[Word]) -> bool:
    return [word.value for word in words[1 : len(words) - len(_operands(words))] if word.value != "--"][-1:] == ["-P"]


def _is_top_level(word: Word) -> bool:
    """Whether it is `"$(git rev-parse --show-toplevel)"`, of which errors may be dropped."""
    pieces = [piece for piece in word.pieces if not isinstance(piece, Text) or piece.text]
    if len(pieces) != 1 or not isinstance(pieces[0], Substitution) or not pieces[0].quoted:
        return False
    script = pieces[0].script
    if len(script.statements) != 1 or script.background or not isinstance(command := script.statements[0], Simple):
        return False
    dropped = [(redirect.operator, redirect.target.value) for redirect in command.redirects]
    return (
        not command.assignments
        and tuple(each.value for each in command.words) == TOP_LEVEL
        and all(operator == ">" and target == "/dev/null" for operator, target in dropped)
    )


def cd_target(words: Sequence[Word]) -> Word | None:
    """The constant word that ``cd`` or ``pushd`` goes to by the text; None if it is not known."""
    rest = _operands(words)
    if len(rest) != 1 or rest[0].value is None or rest[0].value == "" or rest[0].value.startswith(("-", "+")):
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
