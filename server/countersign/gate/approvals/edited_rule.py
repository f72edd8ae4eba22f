"""Rules that a person edited on a card: whether one is wider than those offered, and the digest that confirms it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable

from countersign.gate.approvals.rule_examples import matches, samples
from countersign.gate.call import RunCommand, ToolCall
from countersign.gate.rules.rule import compile_rule
from countersign.settings.policy import RuleText
from countersign.wire.approvals import ApprovalOption

_PLAIN_WORDS = re.compile(r"[\w./:=@,+ -]*", re.ASCII)
"""Words in which no operator, expansion, quote or wildcard can stand."""


def parses(rule: str) -> bool:
    """Whether the text is a rule of our grammar, as an answer may keep it."""
    compiled, problem = compile_rule(RuleText("allow", rule, scope="grant"))
    return compiled is not None and compiled.broken is None and problem is None


def is_wider(rule: str, options: Iterable[ApprovalOption]) -> bool:
    """Whether the rule may match more than the widest rule offered for "always".

    False only for a rule that was offered, or that adds plain words to the prefix of one which covers a command of
    these words as well; all others count as wider. A rule that names an option covers what the option runs.
    """
    offered = {option.rule for option in options if option.kind == "allow_always" and option.rule is not None}
    return rule not in offered and not any(_narrows(rule, wide) for wide in offered)


def _narrows(rule: str, wide: str) -> bool:
    if not (wide.startswith("Bash(") and wide.endswith(":*)") and rule.startswith("Bash(") and rule.endswith(")")):
        return False
    stem = wide.removeprefix("Bash(").removesuffix(":*)")
    words = rule.removeprefix("Bash(").removesuffix(")").removesuffix(":*")
    added = words.removeprefix(f"{stem} ")
    plain = "*" not in stem and added != words and _PLAIN_WORDS.fullmatch(added) is not None
    return plain and matches(wide, words)


def rule_digest(request_digest: str, rule: str) -> str:
    """The digest of this rule on this card, which a confirmation names."""
    return f"sha256:{hashlib.sha256(json.dumps([request_digest, rule]).encode()).hexdigest()}"


def examples(call: ToolCall, rule: str) -> list[str]:
    """What else the rule would match, as for the rules that the gate offers."""
    return list(samples(rule, [effect.command for effect in call.effects if isinstance(effect, RunCommand)]))
