"""Makes a shell exit where a move that was judged to succeed fails.

A ``cd`` into a folder that is there is judged to succeed. Somebody may remove the folder before the shell gets there,
and what follows would run in the folder before it. So such a ``cd sub`` is printed as ``{ cd 'sub' || exit; }``: it
leads where it was judged to lead, or ends the shell whose place was at stake.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import Chain, Compound, Node, Not, Pipeline, Script, Simple, Timed, Word

_MOVERS = names_with("may_move_shell")
_EXIT = read("exit").script.statements[0]


def with_guards(script: Script, words: Collection[Word]) -> Script:
    """Return the tree with a guard round each move that holds one of these words. Texts in substitutions stay as
    they are, since no move in them is judged to succeed."""
    return replace(script, statements=tuple([_guarded(node, words) for node in script.statements]))


def _guarded(node: Node, words: Collection[Word]) -> Node:
    match node:
        case Simple():
            if not any(word in words for word in node.words) or _MOVERS.isdisjoint(word.value for word in node.words):
                return node
            chain = Chain(node, (("||", _EXIT),))
            return Compound("group", node.source, (Script((chain,)),))
        case Not(body=body) | Timed(body=body):
            return replace(node, body=_guarded(body, words))
        case Pipeline():
            return node._replace(stages=tuple([_guarded(stage, words) for stage in node.stages]))
        case Chain():
            rest = node._replace(first=_guarded(node.first, words))
            return rest._replace(links=tuple([(link[0], _guarded(link[1], words)) for link in node.links]))
        case Compound():
            return replace(node, bodies=tuple([with_guards(body, words) for body in node.bodies]))
