"""Deny and ask rules for what words or a text may run, where it is not known whether it runs at all."""

from __future__ import annotations

from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.effects.unwrap import could_run, program, unwrap
from countersign.gate.shell.flow.control_flow import Step
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.match import touching
from countersign.gate.shell.syntax.rough_scan import pieces
from countersign.gate.shell.syntax.tree import Simple, Word
from countersign.gate.shell.variables.bindings import Facts
from countersign.wire.verdicts import Evidence

MAX_ROUGH = 2
"""How deep texts that such a text runs in turn are scanned."""

_MOST_LOOKED_INTO = 2_000
"""How many of the pieces that may run others are looked into."""


def rough_rules(text: str, rules: RuleSet, agent: str, depth: int = 0) -> tuple[Evidence | None, Evidence | None]:
    """The first deny and the first ask rule for a piece of a text, or of the texts that it runs in turn."""
    deny = ask = None
    looked_into = 0
    for words in pieces(text):
        name = program(words[0].value or "")
        if looked_into > _MOST_LOOKED_INTO or not could_run(name, words):
            named = rules.commands_by_list((name, *[word.shape for word in words]), agent)
            if "deny" not in named and "ask" not in named:
                continue
        looked_into += 1
        denied, asked = rules_for_words(text, words, rules, agent, depth)
        deny, ask = deny or denied, ask or asked
        if deny is not None:
            break
    return deny, ask


def rules_for_words(
    text: str, words: tuple[Word, ...], rules: RuleSet, agent: str, depth: int = 0
) -> tuple[Evidence | None, Evidence | None]:
    """The same for one command of this text."""
    analyzed = AnalyzedCommand(Step(Simple(text[:200], words), unwrap(words), None), Facts())
    deny, ask = touching(analyzed, rules, agent)
    inside = [*analyzed.step.unwrapped.texts, *[use.text for use in analyzed.uses if use.text is not None]]
    # Of a command that is not understood, which asks, each text may hold nearly all of the others.
    for inner in inside if depth < MAX_ROUGH and not analyzed.step.unwrapped.deep else ():
        if inner != text and deny is None:
            denied, asked = rough_rules(inner, rules, agent, depth + 1)
            deny, ask = deny or denied, ask or asked
    return deny, ask
