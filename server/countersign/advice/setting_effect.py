"""What a value of the workspace's settings would allow, in one sentence for the dialog that asks a person about it.

Rules are read by the gate's own grammar and modes by its own table, so that the sentence says what the gate would do.
Whether the value counts is decided in ``settings``.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from countersign.gate import BadRule, CommandPattern, HostPattern, NamePattern, PathPattern, Rule, parse_rule
from countersign.settings.escape_text import shown
from countersign.settings.modes import CELLS, as_mode
from countersign.settings.policy import RuleText
from countersign.settings.workspace_restrictions import FOLDERS, Claim
from countersign.wire.base import Json
from countersign.wire.verdicts import Category

_STOPS = "deny and ask rules, protected files and keys in the home folder still stop it"
_CATEGORIES: Mapping[Category, str] = {
    "read": "reads in the workspace",
    "write": "file changes in the workspace",
    "execute": "commands",
    "external": "calls to other services",
}


def allows(claim: Claim) -> str | None:
    """Return the sentence, or None for a setting that allows no call by itself."""
    path = claim.path
    if path == ("permissions", "allow"):
        return _of_rule(claim.value)
    if path == FOLDERS:
        folder = shown(claim.resolved or str(claim.value))
        return f"Agents could read every file in {folder}; changes there would be decided as in the workspace."
    if path == ("mode",):
        return _of_mode(claim.value)
    if len(path) == 3 and path[0] == "agents" and path[2] == "bypassPermissions":
        who = f"the agent {shown(path[1])}{_started(claim.agent)}"
        return f"Every call of {who} would run in this workspace without asking; {_STOPS}."
    if len(path) == 2 and path[0] == "agents" and (started := _started(claim.value)):
        return f"Starting a chat with {shown(path[1])} would run a program with your rights{started}."
    return None


def _of_rule(entry: Json) -> str:
    fields = entry if isinstance(entry, dict) else {"rule": entry}
    text, agent = str(fields.get("rule")), fields.get("agent")
    try:
        rule = parse_rule(RuleText("allow", text))
    except BadRule as error:
        return f"Nothing: the rule {shown(text)} cannot be read, because {error}."
    whose = f" of the agent {shown(agent)}" if isinstance(agent, str) else ""
    return f"{_calls(rule)}{whose} would run without asking, unless something stricter applies."


def _calls(rule: Rule) -> str:
    match rule.specifier:
        case None:
            whole = {"Bash": "command", "Read": "read of a file", "Edit": "creation, change or deletion of a file"}
            noun = whole.get(rule.tool, "request to a web address" if rule.tool == "WebFetch" else None)
            return f"Every {noun}" if noun else f"Every call of the tool {shown(rule.tool)}"
        case CommandPattern() as pattern:
            if pattern.exact:
                return f"The command {shown(shlex.join(pattern.words))}"
            if pattern.literal:
                return f"Every {shown(shlex.join(pattern.words) + ' …')} command"
            return f"Every command that {shown(pattern.text)} matches"
        case PathPattern() as pattern:
            what = "read" if rule.tool == "Read" else "creation, change or deletion"
            return f"Every {what} of a file that {shown(pattern.text)} matches"
        case HostPattern() as pattern:
            return f"Every request to {shown(pattern.host)}"
        case NamePattern() as pattern:
            return f"Every call of {shown(rule.tool)} for {shown(pattern.name)}"
        case pattern:
            return f"Every call of {shown(rule.tool)} with {shown(f'{pattern.param}: {pattern.value}')}"


def _of_mode(value: Json) -> str | None:
    mode = as_mode(value)
    if mode is None:
        return None
    allowed = [noun for category, noun in _CATEGORIES.items() if CELLS[mode][category] == "allow"]
    if not allowed:
        return f"New chats would start in the mode `{mode}`, which allows nothing by itself."
    which = allowed[0] if len(allowed) == 1 else f"{', '.join(allowed[:-1])} and {allowed[-1]}"
    return f"In new chats {which} would run without asking (mode `{mode}`)."


def _started(entry: Json) -> str:
    """The command line that starts the agent, in parentheses; empty for the built-in one."""
    command = entry.get("command") if isinstance(entry, dict) else None
    if not isinstance(command, str) or not isinstance(entry, dict):
        return ""
    args = entry.get("args")
    words = [command, *map(str, args if isinstance(args, list) else ())]
    return f" ({shown(shlex.join(words))})"
