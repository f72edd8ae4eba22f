"""Deny and ask rules that say one simple command with its redirections (``Bash(make > out)``): the command however it
is spelled, with at least these redirections. Whole texts of other shapes are ``whole_text.py``'s."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from countersign.gate.patterns import CommandPattern, command_specifier, parse_command
from countersign.gate.rules.rule_set import Rule, RuleSet
from countersign.gate.shell.flow.parse_cache import Followed, follow
from countersign.gate.shell.syntax.tree import Redirect, Simple

_Key = tuple[str, str, str]
"""Descriptor, operator and target."""

_STANDARD = {"<": "0", "<<<": "0", "<>": "0", ">": "1", ">>": "1", ">|": "1"}
"""The descriptor that an operator means by itself."""


class RedirectedRule(NamedTuple):
    """A rule with what it says: the words of a command and its redirections."""

    rule: Rule
    pattern: CommandPattern
    redirects: frozenset[_Key]


def redirected_rules(rules: RuleSet, redirects: Sequence[Redirect]) -> Iterable[RedirectedRule]:
    """The deny and ask rules whose redirections are all among these."""
    if not redirects:
        return ()
    found = rules.derived((redirected_rules,), lambda: tuple(_all_of(rules)))
    if not found:
        return ()
    given = {key for each in redirects if (key := _key(each)) is not None}
    return [each for each in found if each.redirects <= given]


def _all_of(rules: RuleSet) -> Iterable[RedirectedRule]:
    for rule in rules.rules():
        pattern = rule.specifier
        if rule.list not in ("deny", "ask") or not isinstance(pattern, CommandPattern) or not pattern.exact:
            continue
        if "<" in pattern.text or ">" in pattern.text:
            command = _only_command(pattern.text)
            said = _words_of(command) if command is not None else None
            redirects = [_key(each) for each in command.redirects] if command is not None else []
            if said is not None and redirects and None not in redirects:
                yield RedirectedRule(rule, said, frozenset(key for key in redirects if key is not None))


def _only_command(text: str) -> Simple | None:
    """The simple command that the whole text is, or None."""
    found = follow(text.strip())
    if not isinstance(found, Followed) or len(found.course.steps) != 1:
        return None
    command = found.course.steps[0].command
    return command if command.kind == "command" and command.source == text.strip() else None


def _words_of(command: Simple) -> CommandPattern | None:
    """A pattern for its words and what is assigned in front, where all of these are constants."""
    words = [word.value for word in command.words if word.value is not None]
    assigned = [(each.name, each.plain) for each in command.assignments if each.plain is not None]
    if len(words) < len(command.words) or len(assigned) < len(command.assignments):
        return None
    specifier = command_specifier(words, assigned)
    return None if specifier is None else parse_command(specifier)


def _key(redirect: Redirect) -> _Key | None:
    target = redirect.target.value
    if target is None or redirect.heredoc is not None or redirect.variable is not None:
        return None
    path = target if redirect.operator == "<<<" or not target else posixpath.normpath(target)
    return redirect.descriptor or _STANDARD.get(redirect.operator, ""), redirect.operator, path
