"""Completion in settings files: rules, modes, agents and their keys, as far as they are known here. Pure.

What is offered is only text for a person to take; nothing of it counts before it stands in the file and passes there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from countersign.advice.lint import lint_rules
from countersign.gate import compile_rule, escape_path, hidden_character, protected_reason
from countersign.lsp.language.cursor import Cursor, Step, cursor_at, rule_list
from countersign.lsp.language.pages import PageName, path_in
from countersign.lsp.language.positions import Positions
from countersign.lsp.language.rule_descriptions import AGENT_KEYS, MODES, rule_in_words
from countersign.settings.policy import Policy, RuleText
from countersign.settings.rules import ListName
from countersign.wire.history import HistoryEntry

MOST_COMMANDS = 5
"""Commands of the past that are offered: more would bury the rest."""
LONGEST_COMMAND = 80

Folders = Callable[[str], Sequence[str]]
"""The names of the folders in a folder of the workspace, which is given relative to it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What completion knows beside the text: the live policy, the newest decisions, tools' names, folders."""

    policy: Policy
    past: Sequence[HistoryEntry] = ()
    tools: Sequence[str] = ()
    folders: Folders = lambda _folder: ()
    snippets: bool = False


def complete(
    page: PageName, positions: Positions, position: types.Position, surroundings: Surroundings
) -> types.CompletionList:
    """Return what could stand at a position of a page."""
    offset = positions.offset(position)
    cursor = cursor_at(positions.text, offset)
    path = path_in(page, cursor.path) if cursor else None
    if cursor is None or path is None:
        return types.CompletionList(is_incomplete=False, items=[])
    typed = _typed(positions.text, cursor, offset)
    offers = [*_offers(path, cursor, typed, surroundings)]
    edit = _Edit(positions, cursor, offset, surroundings.snippets)
    items = [edit.item(offer, number) for number, offer in enumerate(offers)]
    # Folders are listed one level at a time, so what was offered holds only until the next slash.
    return types.CompletionList(is_incomplete=_FOLDER.match(typed) is not None, items=items)


@dataclass(frozen=True, slots=True)
class _Offer:
    """One thing to take. In ``text`` a ``<name>`` is to be filled in; ``bare`` is no string but a JSON word.

    ``follows`` is what the editor writes behind it, such as the colon after a key.
    """

    text: str
    detail: str
    kind: types.CompletionItemKind = types.CompletionItemKind.Value
    bare: bool = False
    follows: str = ""
    holes: bool = False


def _offers(path: tuple[Step, ...], cursor: Cursor, typed: str, around: Surroundings) -> Iterator[_Offer]:
    listed = rule_list(path) if cursor.place == "value" else None
    if listed is not None:
        yield from _rules(listed, typed, around)
        return
    match cursor.place, path:
        case "value", ("mode",):
            yield from (_Offer(mode, words, _ENUM) for mode, words in MODES.items())
        case "value", ("defaultAgent",):
            yield from (_Offer(name, "an agent that is known here") for name in around.policy.agents)
        case "key", ("agents", str()):
            for key, words in AGENT_KEYS.items():
                if key not in cursor.keys:
                    yield _Offer(key, words, types.CompletionItemKind.Property, follows=": ")
        case "value", ("agents", str(), "bypassPermissions") if cursor.token is None or not cursor.token.quoted:
            yield _Offer("false", "It asks, as rules and mode say.", _ENUM, bare=True)
            yield _Offer("true", AGENT_KEYS["bypassPermissions"], _ENUM, bare=True)
        case "value", ("agents", str(), "type"):
            yield _Offer("builtin", "Runs on the built-in loop with a model.", _ENUM)
            yield _Offer("acp", "A program that speaks the Agent Client Protocol; needs a `command`.", _ENUM)
        case "value", ("agents", str(), "model"):
            yield from (_Offer(name, "a model that is known here") for name in around.policy.models)


_ENUM = types.CompletionItemKind.EnumMember
_FOLDER = re.compile(r"(Read|Edit)\(((?:\./|/(?!/))?)((?:[^/]+/)*)[^/]*$")


def _rules(listed: ListName, typed: str, around: Surroundings) -> Iterator[_Offer]:
    if found := _FOLDER.match(typed):
        yield from _folders(listed, found[1], found[2], found[3], around)
        return
    yield from _forms(listed)
    yield from _commands(listed, around.past)
    for name in around.policy.agents:
        yield from _rule(listed, f"Agent({name})")
    servers = around.policy.raw.get("mcpServers")
    for server in servers if isinstance(servers, dict) else ():
        if re.fullmatch(r"[\w.-]+", server) is None:
            continue
        yield from _rule(listed, f"mcp__{server}")
        yield _Offer(f"mcp__{server}__<tool>", "one tool of this MCP server", _FORM, holes=True)
    for tool in around.tools:
        yield from _rule(listed, tool)


_FORM = types.CompletionItemKind.Snippet


def _forms(listed: ListName) -> Iterator[_Offer]:
    """Tools with what stands between their parentheses."""
    for text, detail in (
        ("Bash(<command> *)", "any command that begins with these words, alone or followed by anything"),
        ("Bash(<command>)", "this command, word for word"),
        ("Read(<folder>/**)", "reading any file below a folder"),
        ("Edit(<folder>/**)", "writing any file below a folder"),
        ("WebFetch(domain:<host>)", "fetching from this host"),
        ("Agent(<name>)", "starting this agent"),
        ("mcp__<server>__<tool>", "one tool of an MCP server"),
    ):
        yield _Offer(text, detail, _FORM, holes=True)
    if listed != "allow":
        for tool in ("Bash", "Read", "Edit", "WebFetch", "Agent"):
            yield from _rule(listed, tool)


def _rule(listed: ListName, text: str) -> Iterator[_Offer]:
    """A whole rule, if it can be read and nothing is wrong with it."""
    source = RuleText(listed, text)
    rule, _ = compile_rule(source)
    tool = rule.tool if rule else ""
    if rule is not None and not lint_rules([source], [tool]):
        yield _Offer(text, rule_in_words(rule).replace("`", ""))


def _folders(listed: ListName, tool: str, anchor: str, folder: str, around: Surroundings) -> Iterator[_Offer]:
    """The folders below what was typed so far, each as a rule for all that lies below it."""
    written = folder.removesuffix("/")
    plain = re.sub(r"\\(.)", r"\1", written)
    if any(part in ("", ".", "..") for part in plain.split("/")) and plain:
        return
    for name in sorted(around.folders(plain)):
        if hidden_character(name) or name == ".git":
            continue
        segments = [*filter(None, plain.split("/")), name]
        if listed == "allow" and tool == "Edit" and protected_reason(segments):
            continue
        yield from _rule(listed, f"{tool}({anchor}{folder}{escape_path(name)}/**)")
    if not plain and (listed, tool) != ("allow", "Edit"):
        yield from _rule(listed, f"{tool}({anchor or './'}**)")


_PLAIN_COMMAND = re.compile(r"[A-Za-z0-9_@%+:,./-]+(?: [A-Za-z0-9_@%+=:,./-]+)*")
"""Commands whose words are their text: nothing that a shell or a rule reads in another way."""


def _commands(listed: ListName, past: Iterable[HistoryEntry]) -> Iterator[_Offer]:
    """Commands that a person answered for lately, the most frequent first, as exact rules."""
    wanted = {"allow": ("allow",), "deny": ("deny",), "ask": ("allow", "deny")}[listed]
    times: Counter[str] = Counter()
    for entry in past:
        command = entry.input.get("command") if isinstance(entry.input, dict) else None
        if entry.by == "user" and entry.verdict in wanted and isinstance(command, str):
            times[command] += 1
    fit = [text for text, _ in times.most_common() if len(text) <= LONGEST_COMMAND and _PLAIN_COMMAND.fullmatch(text)]
    for text in fit[:MOST_COMMANDS]:
        answered = "allowed" if listed == "allow" else "denied" if listed == "deny" else "answered"
        for offer in _rule(listed, f"Bash({text})"):
            yield _Offer(offer.text, f"{offer.detail}; you {answered} it {_times(times[text])} lately")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _typed(text: str, cursor: Cursor, offset: int) -> str:
    """The string as far as it stands before the cursor."""
    if cursor.token is None or not cursor.token.quoted:
        return ""
    said = text[cursor.token.start : offset]
    try:
        return json.loads(said + '"', strict=False)
    except ValueError:
        return said[1:]


class _Edit:
    """Makes items that replace what the cursor is in, quotes where they are missing. A class for what they share."""

    def __init__(self, positions: Positions, cursor: Cursor, offset: int, snippets: bool) -> None:
        token = cursor.token
        self._snippets = snippets
        self._is_string = token is not None and token.quoted
        self._closing = '"' if token is not None and token.quoted and not token.closed else ""
        start, end = (offset, offset) if token is None else token.inside
        if token is not None and token.quoted and not token.closed:
            end = offset  # what follows on the line may belong to something else
        self._range = positions.range(start, end)
        self._colon_follows = re.match(r'"?\s*:', positions.text[end:]) is not None

    def item(self, offer: _Offer, number: int) -> types.CompletionItem:
        as_snippet = offer.holes and self._snippets
        opening, closing = ("", self._closing) if self._is_string else ('"', '"')
        if offer.bare:
            opening = closing = ""
        text = _as_json(offer.text if not offer.holes or as_snippet else offer.text.partition("<")[0])
        if as_snippet:
            text = _as_snippet(text)
        # Behind the closing quote of a string nothing can be added, for it lies outside of what is replaced.
        follows = "" if self._colon_follows or (self._is_string and not self._closing) else offer.follows
        label = re.sub(r"[<>]", "", offer.text) if offer.holes else offer.text
        new_text = f"{opening}{text}{closing}{follows}"
        return types.CompletionItem(
            label=label,
            kind=offer.kind,
            detail=offer.detail,
            sort_text=f"{number:04}",
            filter_text=label,
            insert_text_format=types.InsertTextFormat.Snippet if as_snippet else types.InsertTextFormat.PlainText,
            text_edit=types.TextEdit(self._range, new_text),
        )


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _as_snippet(text: str) -> str:
    literal = re.sub(r"([\\$}])", r"\\\1", text)
    numbers = iter(range(1, 100))
    return re.sub(r"<(\w+)>", lambda hole: f"${{{next(numbers)}:{hole[1]}}}", literal)
