"""What a rule or a grant could say of a whole text: cover it to the letter, or be offered for "always"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from countersign.gate.finding import FILE_KINDS, Finding
from countersign.gate.patterns import CommandPattern
from countersign.gate.rules.rule import compile_rule
from countersign.gate.rules.rule_set import Rule, evidence
from countersign.gate.shell.flow.parse_cache import Followed, follow
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.proposals import propose
from countersign.settings.policy import RuleText

MAX_RULE = 2000
"""Characters up to which a command is said in full as a rule; nobody reads a longer one."""

MOST_OFFERED = 50
"""Rules that are offered for one text. A card shows the first few, and making thousands takes seconds."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A text with its findings. ``cases`` are the commands that nothing lets pass, by the index of their finding;
    ``named`` are the findings of files that the text names literally, ``redirected`` those that only an Edit rule
    covers; ``escaped`` are those of what an option runs, which a rule for the whole command covers as well.
    ``started`` is the finding of the folder that the text starts in, where that asks."""

    text: str
    findings: tuple[Finding, ...]
    cases: Mapping[int, AnalyzedCommand]
    named: frozenset[int]
    redirected: frozenset[int]
    escaped: frozenset[int] = frozenset()
    started: int | None = None


def exact_rules(text: str, context: JudgingContext) -> tuple[Rule | None, Rule | None]:
    """The allow rule and the grant that hold exactly this text, byte for byte."""
    wanted = f"Bash({text})"
    return _by_text("allow", context).get(wanted), _by_text("grant", context).get(wanted) if context.granting else None


def forbidding(
    texts: Mapping[str, Callable[[], str]], commands: Iterable[str], context: JudgingContext
) -> tuple[Rule | None, Rule | None]:
    """The deny and the ask rule that hold one of these texts, or one of the simple ``commands`` in them, letter by
    letter or however it is spaced and quoted: ``Bash(make && ls)`` and ``Bash(make > out)`` are about no words alone.
    ``texts`` come with how to print them."""
    tables = [(_by_letters(listed, context), _by_print(listed, context)) for listed in _FORBIDDING]
    if not any(written for written, _ in tables):
        return None, None
    written = {text.strip(): None for text in (*texts, *commands)}
    printed: dict[str, None] = {}
    if any(prints for _, prints in tables):
        printed = {_on_one_line(make()): None for make in texts.values()}
        printed |= {_on_one_line(print_anew(text)): None for text in written if _MORE_THAN_WORDS.search(text)}
    deny, ask = (
        next(
            (
                rules[text]
                for rules, found in zip(pair, (written, printed), strict=True)
                for text in found
                if text in rules
            ),
            None,
        )
        for pair in tables
    )
    return deny, ask


_FORBIDDING: tuple[Literal["deny", "ask"], ...] = ("deny", "ask")


def _by_letters(listed: Literal["deny", "ask"], context: JudgingContext) -> Mapping[str, Rule]:
    """The rules of this list that say one text, by this text."""

    def make() -> Mapping[str, Rule]:
        rules = reversed(context.rules.commands_of(listed, None, context.agent))
        return {
            rule.specifier.text.strip(): rule
            for rule in rules
            if isinstance(rule.specifier, CommandPattern) and rule.specifier.exact
        }

    return context.rules.derived((_by_letters, listed, context.agent), make)


def _by_print(listed: Literal["deny", "ask"], context: JudgingContext) -> Mapping[str, Rule]:
    """Those of them that bash may read otherwise than as words, by what is printed of them."""

    def make() -> Mapping[str, Rule]:
        rules = _by_letters(listed, context)
        return {_on_one_line(print_anew(text)): rule for text, rule in rules.items() if _MORE_THAN_WORDS.search(text)}

    return context.rules.derived((_by_print, listed, context.agent), make)


_MORE_THAN_WORDS = re.compile(r"[^\w\s./,:@%+='\"-]|^\s*(?:time|coproc)\s|^\s*[A-Za-z_]\w*=")
"""Operators, expansions, patterns, assignments, and keywords in front of a command."""


def _on_one_line(printed: str) -> str:
    """A printed text with its lines joined, for a newline ends a command as a semicolon does."""
    return printed.replace("&\n", "& ").replace("\n", "; ")


def print_anew(text: str) -> str:
    """The text as it is printed from its tree, whatever its blanks and quotes; itself where it has no such form."""
    found = follow(text)
    printed = found.printed if isinstance(found, Followed) else None
    return printed if isinstance(printed, str) else text.strip()


def with_forbidding(findings: Sequence[Finding], deny: Rule | None, ask: Rule | None) -> list[Finding]:
    """The findings with what such rules say of the commands, or of all findings if no command is among them."""
    commands = any(finding.kind == "command" for finding in findings)
    said = tuple(None if rule is None else evidence(rule) for rule in (deny, ask))
    return [
        finding._replace(deny=finding.deny or said[0], ask=finding.ask or said[1])
        if finding.kind == "command" or not commands
        else finding
        for finding in findings
    ]


def _by_text(listed: Literal["allow", "grant"], context: JudgingContext) -> Mapping[str, Rule]:
    """The rules of this list that hold exactly one text, by how they are written; of two alike the first."""

    def make() -> Mapping[str, Rule]:
        rules = reversed(context.rules.commands_of(listed, None, context.agent))
        return {rule.text: rule for rule in rules if _says_one_text(rule)}

    return context.rules.derived((_by_text, listed, context.agent), make)


OTHER_FILES = "it was allowed on a card for other files or in another folder"


def means_what_it_meant(
    grant: Rule, resources: Iterable[str], scripts: Iterable[str], places: Sequence[str] | None
) -> bool:
    """Whether a text that a grant says means what it meant on the grant's card: it names the same files, runs the same
    scripts, in the same folder. A grant whose rule covers further texts is like any other rule."""
    files, folder = grant.source.files, grant.source.folder
    if not _says_one_text(grant) or files is None:
        return True
    same_place = folder is None or (places is not None and set(places) == {folder})
    return same_place and set(files).issuperset((*resources, *scripts))


def with_exact(whole: Whole, allow: Rule | None, grant: Rule | None) -> tuple[Finding, ...]:
    """The findings, covered by a rule or a grant of exactly this text where there is one.

    Both cover commands that only lack a rule; a grant also covers the files that the text names, if its card showed
    them. Neither covers floors or ask rules.
    """
    findings = whole.findings
    if allow is not None:
        said = evidence(allow)
        findings = tuple(
            finding._replace(allow=said)
            if finding.kind == "command" and finding.allow is None and _grantable(whole, index)
            else finding
            for index, finding in enumerate(findings)
        )
    if grant is not None:
        said = evidence(grant)
        findings = tuple(
            finding._replace(grant=said)
            if finding.grant is None and _grantable(whole, index) and _was_shown(finding, grant)
            else finding
            for index, finding in enumerate(findings)
        )
    return findings


def _was_shown(finding: Finding, grant: Rule) -> bool:
    """Whether the card that this grant was given on showed the file. The same name may mean another file by now: in
    another folder, or behind a link."""
    return finding.kind not in FILE_KINDS or finding.resource in (grant.source.files or ())


def exact_rule(whole: Whole, context: JudgingContext) -> str | None:
    """The rule that says this text and no other, if as a grant it would cover all that asks; else None."""
    if len(whole.text) > MAX_RULE:
        return None
    text = f"Bash({whole.text})"
    rule, problem = compile_rule(RuleText("allow", text, scope="grant", agent=context.agent))
    if rule is None or problem is not None or rule.text != text or not _says_one_text(rule):
        return None
    for index, finding in enumerate(whole.findings):
        if finding.floors or finding.deny or finding.ask:
            return None
        if not (finding.allow or finding.grant or finding.neutral or _grantable(whole, index)):
            return None
    return text


def proposals(whole: Whole, context: JudgingContext) -> tuple[str, ...]:
    """Rules for each part that nothing covers yet, narrowest first.

    Offered only where choosing one for each such part would allow the text: of a part that no rule can cover, of a
    text of several lines, and of one that needs more rules than anybody would read, nothing is offered at all.
    """
    if "\n" in whole.text or any(finding.not_plain for finding in whole.findings):
        return ()
    offered: dict[str, None] = {}
    written: set[str] = set()
    for index, finding in enumerate(whole.findings):
        if finding.allow or finding.grant or finding.neutral or (finding.known_read and not finding.requires_ask):
            continue
        if finding.deny or finding.ask or finding.floors:
            return ()
        if finding.kind == "write" and index in whole.redirected and finding.requires_ask is None:
            if finding.resource in written:
                continue  # what was said of it the first time covers it
            written.add(finding.resource)
        found = _proposals_for(whole, context, index)
        if found is None:
            return ()
        offered.update(dict.fromkeys(found))
        if len(offered) > MOST_OFFERED:
            return ()
    return tuple(offered)


def _proposals_for(whole: Whole, context: JudgingContext, index: int) -> list[str] | None:
    """Rules that cover one finding; none where a rule for its command does so too, None where no rule can."""
    finding = whole.findings[index]
    analyzed = whole.cases.get(index)
    if index == whole.started:
        return None
    if index in whole.escaped and finding.kind == "command":
        return None if finding.requires_ask else []
    if analyzed is not None:
        return None if finding.requires_ask else (list(propose(analyzed)) or None)
    if finding.kind == "write" and index in whole.redirected and finding.requires_ask is None:
        exact = context.paths.exact_rule("Edit", finding.resource, cwd=context.start)
        wider = context.paths.wider_rules("Edit", finding.resource, cwd=context.start)
        return [exact, *wider] if exact is not None else None
    lifted = finding.auto_lifts and not finding.replaced
    if finding.requires_ask is None or (lifted and index not in whole.redirected):
        return []
    return None


def _says_one_text(rule: Rule) -> bool:
    return isinstance(rule.specifier, CommandPattern) and rule.specifier.exact


def _grantable(whole: Whole, index: int) -> bool:
    """Whether a grant of this text covers this finding."""
    finding = whole.findings[index]
    if index == whole.started:
        return False
    if finding.kind != "command":
        return finding.requires_ask is None or index in whole.named
    analyzed = whole.cases.get(index)
    return finding.requires_ask is None and (
        analyzed is None or (analyzed.evaluates is None and analyzed.unnamed is None)
    )
