"""Our reading against another's grammar: every command that tree-sitter sees is one that we see."""

from __future__ import annotations

import tree_sitter
import tree_sitter_bash

from countersign.gate.shell.flow.control_flow import course
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import NotUnderstood

from .tracing import STUBS, Texts

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
COUNT = 400


def commands_of(text: str) -> set[str] | None:
    """The bare names of all commands, or None where the grammar fails."""
    root = PARSER.parse(text.encode()).root_node
    if root.has_error:
        return None
    found: set[str] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        todo += node.children
        if node.type == "command_name" and node.children[0].type == "word" and node.text is not None:
            found.add(node.text.decode())
    return found


def test_every_command_of_the_other_grammar_is_one_of_ours() -> None:
    compared = 0
    for seed in range(COUNT):
        text = Texts(seed).text(mutations=0).replace("\\\n", "")  # it splits words there
        theirs = commands_of(text)
        try:
            steps = course(read(text)).steps
        except NotUnderstood:
            continue
        if theirs is None or "<<" in text:
            continue  # it reads here-documents badly
        compared += 1
        ours = {layer.words[0].value for step in steps for layer in step.unwrapped.layers}
        # Reserved words it sometimes takes for commands, so only the programs count.
        assert theirs & set(STUBS) <= ours, text
    assert compared > COUNT / 4
