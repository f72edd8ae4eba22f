"""Rules, lists, modes and settings in words a person can check: what a rule matches, and what it does not.

The words follow the patterns' own readings: the narrow one for allow, the wide one for deny and ask. All foreign text
is set as code, so that a repository cannot write into a hover.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from countersign.gate import (
    WILD,
    CommandPattern,
    HostPattern,
    NamePattern,
    ParamPattern,
    PathPattern,
    Rule,
    command_specifier,
    visible,
)
from countersign.wire.verdicts import Mode

LONGEST = 1000
"""Characters of foreign text that are shown in one piece."""

LISTS: Mapping[str, str] = {
    "allow": "What it covers runs without asking.",
    "ask": "What it matches asks, in every mode and under bypass too.",
    "deny": "What it matches is refused, whatever else allows it.",
}

MODES: Mapping[Mode, str] = {
    "plan": "Reads and proposes; changes nothing.",
    "default": "Reads in the workspace; asks before anything else.",
    "acceptEdits": "Edits files in the workspace; asks before commands and network.",
    "auto": "Does everything your rules do not stop.",
    "ask": "Asks before every call, reading too.",
    "dontAsk": "Never asks: what is not allowed is denied.",
}

AGENT_KEYS: Mapping[str, str] = {
    "type": "What it is: `builtin` or `acp`. Taken from whether there is a `command`, if left out.",
    "command": "Program of an agent that speaks the Agent Client Protocol.",
    "args": "The program's arguments.",
    "env": "Environment variables for it, beside the filtered ones it gets. `${env:NAME}` stands for the editor's.",
    "cwd": "Folder it is started in; the workspace if left out.",
    "model": "Name of an entry in `countersign.models`, for a builtin agent.",
    "bypassPermissions": "It acts without asking. Deny and ask rules and protected files still stop it.",
    "recipe": "Name of the launch recipe that makes it ask for every call, where the program does not tell.",
}


def code(text: str) -> str:
    """Foreign text as Markdown code: nothing in it is hidden, and nothing in it is Markdown."""
    shown = visible(text, limit=LONGEST)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or shown != shown.strip() or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def escaped(text: str) -> str:
    """A message of ours, which may quote foreign text, as Markdown that reads the same."""
    return re.sub(r"([\\`*_\[\]<>!#&|~@]|:(?=//)|(?<=www)\.)", r"\\\1", visible(text, limit=2 * LONGEST))


def rule_in_words(rule: Rule) -> str:
    """What a rule that was read matches, as a phrase."""
    wide = rule.list in ("deny", "ask")
    match rule.specifier:
        case None:
            return _whole_tool(rule.tool, wide)
        case CommandPattern() as pattern:
            return _command(pattern, wide)
        case PathPattern() as pattern:
            return f"{_doing(rule)} {_path(pattern, wide)}"
        case HostPattern(host=host):
            return f"fetching from {_host(host)}"
        case NamePattern(name=name):
            return f"starting {_named('the agent', 'any agent', name)}"
        case ParamPattern(param=param, value=value):
            said = f"is {code(value)}" if "*" not in value else f"has the form {code(value)}, `*` being any text"
            return f"any call of the tool {code(rule.tool)} whose argument {code(param)} {said}"


def fine_print(rule: Rule) -> str | None:
    """What a person might not expect of such a rule."""
    wide = rule.list in ("deny", "ask")
    match rule.tool:
        case "Bash" if wide:
            return "One match anywhere in a command line is enough, behind `sudo`, `sh -c` and other wrappers too."
        case "Bash":
            return (
                "In a line of several commands each must be covered. Options that run another program or write a file"
                " are covered only where the rule names them, and writing into a file takes an `Edit` rule."
            )
        case "Read" if wide:
            return "Case does not count, and any spelling of a path is enough."
        case "Read":
            return "Secrets such as `.env` still ask, unless the rule names them."
        case "Edit" if wide:
            return "Case does not count, and any spelling of a path is enough. A redirection into a file is a write."
        case "Edit":
            return "Protected places such as `.git` and `.vscode` still ask."
    return None


def _whole_tool(tool: str, wide: bool) -> str:
    where = "anywhere" if wide else "in the workspace"
    known = {
        "Bash": "any command",
        "Read": f"reading any file {where}",
        "Edit": f"writing any file {where}",
        "WebFetch": "fetching from any address",
        "Agent": "starting any agent",
        "*": "any call of any tool",
    }
    if tool in known:
        return known[tool]
    server, _, name = tool.removeprefix("mcp__").partition("__")
    if tool.startswith("mcp__") and "*" not in server:
        of_server = f"tool{f' {code(name)}' if name and '*' not in name else ''} of the MCP server {code(server)}"
        if not name:
            return f"any {of_server}"
        return f"the {of_server}" if "*" not in name else _named("", f"any {of_server}", name)
    return f"any call of {_named('the tool', 'any tool', tool)}"


def _named(one: str, several: str, name: str) -> str:
    if "*" not in name:
        return f"{one} {code(name)}"
    return f"{several} whose name has the form {code(name)}, `*` being any text"


def _command(pattern: CommandPattern, wide: bool) -> str:
    read = pattern.loose_words if wide else pattern.words
    words, is_form = code(" ".join(map(_word, read))), any(WILD in word for word in read)
    if read == (WILD,) and pattern.prefix:
        return "any command" if wide else f"nearly any command: {_NO_WRAPPERS}"
    if not is_form and not pattern.prefix:
        return f"the command {words}, word for word"
    if not is_form:
        return f"any command that begins with the words {words}, alone or followed by anything"
    ending = ", alone or followed by anything" if pattern.prefix else ""
    phrase = f"any command of the form {words}, `*` being any text{ending}"
    return phrase if wide or pattern.first_word is not None else f"{phrase}: {_NO_WRAPPERS}"


_NO_WRAPPERS = "all but shells, interpreters with code on the command line, and programs that run others"


def _word(word: str) -> str:
    if WILD in word:
        return word.replace(WILD, "*")
    return command_specifier([word]) or word


def _doing(rule: Rule) -> str:
    if rule.tool == "Edit":
        return "writing"
    return "reading or writing" if rule.list == "deny" else "reading"


def _path(pattern: PathPattern, wide: bool) -> str:
    phrase = _anywhere(pattern, wide) if pattern.root == "anywhere" else _anchored(pattern, wide)
    return f"{phrase}, with whatever its braces spell" if wide and len(pattern.variants) > 1 else phrase


def _anchored(pattern: PathPattern, wide: bool) -> str:
    *leading, last = pattern.segments
    base = {"workspace": "", "home": "~/", "root": "/"}[pattern.root]
    if pattern.segments == ("**",):
        return {
            "workspace": "any file in the workspace",
            "home": "any file in your home folder",
            "root": "any file on this machine",
        }[pattern.root]
    place = "" if base else " in the workspace"
    if last == "**" or pattern.folder:
        folder = "/".join(leading if last == "**" else pattern.segments)
        return f"any file below {_path_code(f'{base}{folder}/')}{place}{_forms(folder)}"
    whole = "/".join(pattern.segments)
    if not _is_form(whole):
        return f"{_path_code(base + whole)}{place}, and anything below it if it is a folder"
    below = ", or anything below such a folder" if wide or not _is_form(last) else ""
    return f"any file of the form {_path_code(base + whole)}{place}{_forms(whole)}{below}"


def _anywhere(pattern: PathPattern, wide: bool) -> str:
    """A name without a slash, at any depth; the pattern has `**` put in front."""
    name = "/".join(pattern.segments[1:]) or "**"
    where = "at any depth" if wide else "at any depth in the workspace"
    if name == "**":
        return f"any file, {where}"
    if pattern.folder:
        return f"any file below a folder named {_path_code(name)}, {where}{_forms(name)}"
    if not _is_form(name):
        return f"any file named {_path_code(name)}, and anything below a folder of that name, {where}"
    below = ", and anything below a folder of such a name" if wide else ""
    return f"any file whose name has the form {code(name)}{below}, {where}{_forms(name)}"


def _path_code(path: str) -> str:
    """A path as a person writes it: escapes are left only where there are wildcards they must be told from."""
    return code(path if _is_form(path) else re.sub(r"\\(.)", r"\1", path))


def _is_form(path: str) -> bool:
    return re.search(r"(?<!\\)(?:\\\\)*[*?\[]", path) is not None


def _forms(path: str) -> str:
    """What the wildcards in a path stand for."""
    if not _is_form(path):
        return ""
    said = ["`**` being any folders"] if "**" in path else []
    if "*" in path.replace("**", ""):
        said.append("`*` any part of one name")
    return f" ({', '.join(said)})" if said else ""


def _host(host: str) -> str:
    if host == "*":
        return "any address"
    if host.startswith("*.") and "*" not in host[2:]:
        return f"any host below {code(host[2:])}, but not from {code(host[2:])} itself"
    if "*" in host:
        first = ", the first any number of names" if host.startswith("*.") else ""
        return f"any host of the form {code(host)}, `*` being any text without a dot{first}"
    return f"{code(host)} and no other host"
