"""Rules that a person may choose for "always": two or three widths, as a person would write them.

Never for shells, interpreters, wrappers, a bare git, heredocs or texts of several lines; never wider than up to where
it is said what is done (``rule_prefix.py``); and each is tried on the command it came from before it is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.patterns import command_specifier
from countersign.gate.rules.rule import compile_rule
from countersign.gate.shell.effects.unwrap import is_wrapper
from countersign.gate.shell.programs.subcommand_depth import ONLY_EXACT
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS, names_with
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.match import covering_alone
from countersign.gate.shell.rules.rule_prefix import Stem, git_stem, looks_like_subcommand, stem
from countersign.gate.shell.variables.assignments import is_safe_prefix
from countersign.settings.policy import RuleText

_NEVER = names_with("never_proposed") | {"."}
"""Wrappers, what deletes or changes the shell, and what takes commands from the keyboard."""

_LOADS = re.compile(
    r".*PATH|LD_.*|DYLD_.*|GIT_.*|.*_OPTIONS|.*_OPTS|BASH_ENV|ENV|IFS|SHELL|.*PAGER|.*EDITOR|PYTHON.*|.*FLAGS"
)
"""Variables that may choose what is loaded or run."""

_FILE = re.compile(r"[./]")
"""In an interpreter's operand: it is a script, and no word of the interpreter's own (``tsx watch x.ts``)."""

_MAX_RULE = 300


def propose(analyzed: AnalyzedCommand) -> Iterator[str]:
    """The rules for one simple command, narrowest first."""
    if not _sayable(analyzed):
        return
    clear = all(layer.way in ("self", "clear") for layer in analyzed.layers)
    layer = analyzed.layers[-1] if clear else analyzed.layers[0]
    words = [word.value for word in layer.words]
    homes = [index for index, word in enumerate(layer.words) if word.tilde]
    constant = [word for word in words if word is not None]
    assigned = [(each.name, each.plain or "") for each in analyzed.step.command.assignments if not is_safe_prefix(each)]
    offers: list[str] = []
    if len(constant) == len(words):
        exact = command_specifier(constant, assigned, homes)
        if exact is not None:
            offers.append(f"Bash({exact})")
    length = _width(analyzed)
    spelled = command_specifier(constant[:length], assigned, homes) if length else None
    if spelled is not None:
        offers.append(f"Bash({spelled}:*)")
    for text in offers:
        if len(text) <= _MAX_RULE and _covers(text, analyzed):
            yield text


def _sayable(analyzed: AnalyzedCommand) -> bool:
    command = analyzed.step.command
    if not analyzed.layers or command.kind != "command" or "\n" in command.source:
        return False
    if any(redirect.heredoc is not None for redirect in command.redirects):
        return False
    if any(assignment.plain is None for assignment in command.assignments):
        return False
    if any(name in _NEVER or name in SHELLS or name.startswith("-") for name in analyzed.names):
        return False
    if any(layer.way == "closed" for layer in analyzed.layers) or analyzed.step.unwrapped.texts:
        return False
    for known in analyzed.known:
        # No rule covers git in a folder that it may not work in, and git alone says nothing.
        if known.git is not None and (known.git.folders or known.git.subcommand is None):
            return False
    layer = analyzed.layers[-1]
    return layer.start is not None and (analyzed.names[-1] not in INTERPRETERS or layer.way == "runner")


def _width(analyzed: AnalyzedCommand) -> int:
    """How many words the wider rule has, 0 where only exactly this call is to be offered."""
    if any(_LOADS.fullmatch(assignment.name) for assignment in analyzed.step.command.assignments):
        return 0
    if any(known.git is not None and known.git.before.options for known in analyzed.known):
        return 0
    if _only_rehearses(analyzed):
        return 0
    layer, name = analyzed.layers[-1], analyzed.names[-1]
    if is_wrapper(name, layer.words):
        return 0  # with nothing to run
    words = [word.value for word in layer.words]
    runner = any(each.way == "runner" for each in analyzed.layers)
    lead = (layer.start or 0) - (analyzed.layers[0].start or 0) if runner else 0
    git = analyzed.known[-1].git
    if name in INTERPRETERS:
        found = _script(analyzed, words)
    elif git is not None:
        found = git_stem(name, git.subcommand or "", words)
    else:
        found = stem(name, words)
    if found.length == 0 or found.begins_with_any(ONLY_EXACT):
        return 0
    above = [word.value for word in analyzed.layers[0].words[:lead]]
    return lead + found.length if None not in above else 0


def _only_rehearses(analyzed: AnalyzedCommand) -> bool:
    """Whether an option keeps the command from doing what it does without it: a wider rule would not need it."""
    known = analyzed.known[-1]
    alike = known.program.alike if known.program is not None else {}
    return any(
        _REHEARSAL.fullmatch(spelled)
        for option in known.arguments.options
        for spelled in (option.name, *alike.get(option.name, ()))
    )


_REHEARSAL = re.compile(
    r"--?(?:dry-?run|dry|just-print|no-?op|simulate|pretend|preview|what-?if|recon|check|check-only|diff|snapshot|validate"
    r"|list-different|plan)",
    re.IGNORECASE,
)


def _script(analyzed: AnalyzedCommand, words: Sequence[str | None]) -> Stem:
    """An interpreter with the script that it runs, and what that is told to do; never the interpreter alone."""
    if any(use.kind == "code" for use in analyzed.uses):
        return Stem(0)
    for index, operand in analyzed.known[-1].arguments.operands:
        if operand.value is None:
            break
        if _FILE.search(operand.value):
            behind = words[index + 1] if index + 1 < len(words) else None
            length = index + 1 + looks_like_subcommand(behind)
            return Stem(0 if None in words[:length] else length)
    return Stem(0)


def _covers(text: str, analyzed: AnalyzedCommand) -> bool:
    rule, _ = compile_rule(RuleText("allow", text))
    if rule is None:
        return False
    found = covering_alone(analyzed, rule)
    return found.evidence is not None and not found.writes
