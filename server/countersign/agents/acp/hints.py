"""What an input that is not understood could mean: every path, address and command that it may hold.

The effects found here are judged for deny and ask rules; nothing is allowed by them, because a call with hints is an
unknown tool as well. A string counts as a possible command wherever it stands, unless the claimed kind and the name of
its key both say that it is something else, or no program could be given it.

INVARIANT (strictest): more strings than are judged make the whole call ``too_much``, which is refused.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import unquote

from countersign.agents.acp.key_names import (
    COMMAND,
    CONTENT,
    CWD,
    FOLDER,
    FROM,
    MANY,
    NEW,
    OLD,
    PATH,
    PATTERN,
    TO,
    URL,
    WORDS,
)
from countersign.agents.acp.patches import OTHER_LINE_ENDS
from countersign.agents.acp.reading import MOST_WORDS, AgentContext, either_way, without_nul
from countersign.gate import Effect, FetchUrl, ReadPath, RunCommand, check_cancelled
from countersign.wire.base import Json

MOST_COMMANDS = 256
"""Texts of one call that are judged as commands."""
MOST_COMMAND_TEXT = 256 << 10
"""Characters of all of them; judging so much takes seconds."""
MOST_HINTS = 1024
"""Effects of one call that are judged."""
LONGEST_COMMAND = (128 << 10) - 1
"""Characters of a command: Linux passes no longer argument to a program, so bash could not be given it."""
DEEPEST_JSON = 4
"""How often a text in a text is read as JSON."""
PATCH_MARKS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ")
"""What a line begins with that names a file in a patch."""
PATHS = PATH | FOLDER | FROM | TO | MANY
PROGRAM = COMMAND | {"program", "executable", "exe", "bin", "tool", "name"}
ARGUMENTS = {"args", "arguments", "argv", "parameters", "params"}
NO_COMMAND = {
    "read": PATTERN | WORDS,
    "search": PATTERN | WORDS,
    "edit": CONTENT | OLD | NEW | WORDS,
    "fetch": URL | WORDS | {"prompt"},
    "think": WORDS | {"thought", "text"},
    "switch_mode": WORDS | {"plan"},
}
"""Keys of text that is no command, by what the call claims to be. A kind that is not here claims nothing."""


@dataclass(slots=True)
class Hints:
    """What was found, in order and once each. A class because it keeps count."""

    effects: dict[Effect, None] = field(default_factory=dict)
    commands: int = 0
    text: int = 0
    too_much: bool = False

    def add(self, *effects: Effect) -> None:
        for effect in effects:
            if effect in self.effects:
                continue
            if isinstance(effect, RunCommand):
                self.commands += 1
                self.text += len(effect.command)
            if max(self.commands / MOST_COMMANDS, self.text / MOST_COMMAND_TEXT, len(self.effects) / MOST_HINTS) > 1:
                self.too_much = True
                return
            self.effects[effect] = None


def find_hints(raw: Json, kind: str | None, ground: AgentContext) -> Hints:
    """Return everything that an input which is not understood hints at."""
    found = Hints()
    no_command = NO_COMMAND.get(kind or "", frozenset())
    for key, text in _strings(raw):
        if found.too_much:
            break
        if key in PATHS:
            found.add(*either_way(text, ground))
        if text and _may_name_a_file(key, text):
            found.add(*mentioned_reads(text, ground))
        if key in PATHS:
            pass
        elif text.strip()[:8].lower().startswith(("http://", "https://")):
            found.add(FetchUrl(text.strip()))
        elif key in URL and text.strip():
            found.add(FetchUrl(text.strip() if "://" in text else f"https://{text.strip()}"))
        for path in patched_files(OTHER_LINE_ENDS.sub("\n", text)):
            found.add(*either_way(path, ground))
            if found.too_much:
                break
        plain_path = key in PATHS and not re.search(r"\s", text)
        if key in COMMAND or not (key in no_command or plain_path or len(text) > LONGEST_COMMAND or not text.strip()):
            found.add(RunCommand(text, ground.folder, understood=False))
    return found


def reads_mentioned(raw: Json, ground: AgentContext) -> tuple[list[ReadPath], bool]:
    """Return the files that a tool may open when it is given this input, and whether there are more than are judged."""
    texts = dict.fromkeys(text for key, text in _strings(raw) if text and _may_name_a_file(key, text))
    reads = (read for text in texts for read in mentioned_reads(text, ground))
    found = list(dict.fromkeys(islice(reads, _MOST_READINGS)))
    loose = (read for name in dict.fromkeys(loose_names(raw)) for read in _loose_reads(name, ground))
    more = dict.fromkeys(islice(loose, _MOST_READINGS))
    too_much = len(found) > MOST_HINTS or any(next(left, None) for left in (reads, loose))
    return [*found[:MOST_HINTS], *more], too_much


_MOST_READINGS = 4 * MOST_HINTS
"""Readings of all names of one call, of which several may be the same file."""
_BEGINS = re.compile(
    r"(?i)\s*[\"'<]?(?:\.{0,2}[/\\]|~[/\\]|~\Z|\$\{?[a-z]|%7e|%[a-z]+%|file:|(?!https?:)[a-z][\w+.-]*://)"
)
_OPTION = re.compile(r"\s*(?:-{1,2}[\w-]+=|[\w-]+=(?=[./\\~$%@]))")
_NAMES_A_FILE = re.compile(r"[/\\]|\A[\"'`<@]?\.[^.\s]")
"""A word that names a file under any key: one with a slash, or a hidden file."""
_FILE_WORDS = frozenset(
    " ".join(
        (
            "file files path paths pathname filename filenames filepath dir dirs directory directories folder folders",
            "uri uris document documents doc docs attachment attachments location locations target targets",
            "source sources src origin destination dest dst output out from to script scripts",
        )
    ).split()
)
"""Words of a key under which any one word may be a file's name."""
_LONGEST_NAME = 4096
"""Characters of a path (``PATH_MAX``)."""
_TEXTS = frozenset(name.lower() for name in CONTENT | OLD | NEW | WORDS | PATTERN)
_KEY_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


def _may_name_a_file(key: str, text: str) -> bool:
    """Whether the text stands where paths do, begins as only a path does, or is one word that may be a path."""
    if key.lower() in _PATHS_ANY_CASE or _BEGINS.match(text) or _OPTION.match(text):
        return True
    word = text[: _LONGEST_NAME + 2].strip()
    if key.lower() in _TEXTS or len(word) > _LONGEST_NAME or word[:8].lower().startswith(("http://", "https://")):
        return False
    words = {each.lower() for each in _KEY_WORDS.split(key)}
    return (bool(words & _FILE_WORDS) and word.isprintable()) or (
        bool(_NAMES_A_FILE.search(word)) and not re.search(r"\s", word)
    )


_PATHS_ANY_CASE = frozenset(name.lower() for name in PATHS)


def mentioned_reads(text: str, ground: AgentContext) -> Iterator[ReadPath]:
    """Yield each file that a tool may open when it is given this text; of these only rules and secrets count."""
    for path in spelled_paths(text):
        for full in ground.absolute(path):
            yield ReadPath(full, below=os.path.isdir(without_nul(full)), mentioned=True)
        wild = _WILD.search(path)
        if wild is not None:
            for full in ground.absolute(path[: path.rfind("/", 0, wild.start()) + 1] or "."):
                yield ReadPath(full, below=True, mentioned=True)


def spelled_paths(text: str) -> tuple[str, ...]:
    """Return every path that a tool may open when it is given this text: as it stands, and without the quotes, option
    (``--file=``), scheme, query, fragment or line number that it may take away, with the variables and percent signs
    that it may expand."""
    if len(text) > _LONGEST_SPELLED:
        return (text,)
    found: dict[str, None] = {text: None}
    for change in _CHANGES:
        found.update(dict.fromkeys(change(each) for each in tuple(found)))
    return tuple(each for each in found if each)


_WILD = re.compile(r"[*?\[{]")
_LONGEST_SPELLED = 20_000
_VARIABLE = re.compile(r"(?i)\s*(?:\$HOME\b|\$\{(?:env:)?HOME\}|\$\{userHome\}|%HOME%|%USERPROFILE%)")
_FOLDER = re.compile(r"(?i)\s*(?:\$PWD\b|\$\{(?:env:)?PWD\}|\$\{(?:workspaceFolder|workspaceRoot|cwd)\})")
_SCHEME = re.compile(r"(?i)(?!https?:)[a-z][\w+.-]*://[^/]*(?=/)")


def _unquoted(text: str) -> str:
    return text.strip().strip("\"'`<>").strip()


def _with_slashes(text: str) -> str:
    return text.replace("\\", "/")


def _without_scheme(text: str) -> str:
    """The path in an address of another scheme (``vscode://file/x``); ``file:`` has readings of its own."""
    return text if text[:5].lower() == "file:" else _SCHEME.sub("", text, count=1)


def _without_rest(text: str) -> str:
    return re.split(r"[?#]", text, maxsplit=1)[0]


def _without_line(text: str) -> str:
    return re.sub(r"(?::\d+(?:-\d+)?){1,2}\Z", "", text)


def _without_option(text: str) -> str:
    return _OPTION.sub("", text, count=1)


def _expanded(text: str) -> str:
    return _FOLDER.sub(".", _VARIABLE.sub("~", text, count=1), count=1)


_CHANGES = (
    _unquoted,
    _without_option,
    _unquoted,
    _with_slashes,
    _without_scheme,
    _without_rest,
    _without_line,
    _expanded,
    unquote,
    _expanded,
)


# --- names in other words ---------------------------------------------------------------------------------------------


def loose_names(raw: Json) -> Iterator[str]:
    """Yield words in an input that may be the name of a file, as parts of other texts or put together from several.

    No text that is content or meant for people is looked through. What is found can only make a call ask.
    """
    for key, text in _strings(raw):
        if key.lower() not in _PROSE and len(text) <= _LONGEST_LOOSE:
            for part in _BETWEEN_NAMES.split(_VARIABLES.sub("", text)):
                yield from (each for each in {part, unquote(unquote(part))} if _LOOSE.search(each))
    ahead: list[Json] = [raw]
    while ahead:
        value = ahead.pop()
        if isinstance(value, list):
            ahead += value
            names = [word for word in value if isinstance(word, str) and len(word) <= _LONGEST_PART]
            if 1 < len(names) == len(value) <= _MOST_PARTS:
                yield "/".join(names)
        elif isinstance(value, dict):
            ahead += value.values()
            yield from (name for name in value if _LOOSE.search(name) and len(name) <= _LONGEST_NAME)
            words = {key: word for key, word in value.items() if isinstance(word, str) and len(word) <= _LONGEST_PART}
            for folder in (words[key] for key in words if key in CWD | FOLDER or key.lower() in _BASES):
                yield from (f"{folder}/{word}" for word in words.values() if word and word != folder)


def _loose_reads(name: str, ground: AgentContext) -> Iterator[ReadPath]:
    bare = _IN_FRONT.sub("", name)
    spelled = {name, bare, name[2:] if name[:1] == "-" else name, f"{ground.home}/{bare}" if bare[:1] == "." else name}
    for path in filter(None, sorted(spelled)):
        for full in ground.absolute(path):
            yield ReadPath(full, mentioned=True, loose=True)


_PROSE = frozenset(name.lower() for name in CONTENT | OLD | NEW | WORDS) | frozenset(
    "body message messages title comment comments prompt summary reason note notes question answer subject".split()
)
_BETWEEN_NAMES = re.compile(r"[\s,;:|&\"'`<>(){}\[\]=]+")
_VARIABLES = re.compile(r"\$\{[^{}]{0,100}\}|\$\w{1,100}(?::\w{1,100})?|%\w{1,100}%(?=/)")
_IN_FRONT = re.compile(r"\A(?:~\w*(?=/)|[/@~+-])+")
_LOOSE = re.compile(
    r"(?i)/.|\A[-@]?\w?\.[^.\s/]|(?:\A|[._-])(?:env|pem|key|p12|pfx|jks|keystore|kdbx|rsa|dsa|ecdsa|ed25519|netrc"
    r"|npmrc|pypirc|pgpass|credentials?|htpasswd|tfstate)\Z"
)
_BASES = frozenset("root base basepath base_path parent prefix workspace repo repository repo_path repopath".split())
_LONGEST_LOOSE = 64 << 10
_LONGEST_PART = 512
_MOST_PARTS = 16


def patched_files(text: str) -> Iterator[str]:
    """Yield the files that a patch in the text names, by ``PATCH_MARKS``; in time linear in the text.

    Searched by ``str.find``: a regular expression holds up every thread while it looks through megabytes.
    """
    for mark in PATCH_MARKS:
        start = len(mark) if text.startswith(mark) else _after(text, f"\n{mark}", 0)
        while start >= 0:
            end = text.find("\n", start)
            path = text[start : end if end >= 0 else len(text)].partition("\t")[0]
            if mark in ("+++ ", "--- ") and path[:2] in ("a/", "b/") and len(path) > 2:
                path = path[2:]
            if path:
                yield path
            check_cancelled()
            start = _after(text, f"\n{mark}", end) if end >= 0 else -1


def _after(text: str, mark: str, start: int) -> int:
    """Return where the next mark ends; -1 where there is none."""
    found = text.find(mark, start)
    return found + len(mark) if found >= 0 else -1


def _strings(raw: Json) -> Iterator[tuple[str, str]]:
    """Every string in the value with the key that it stands under: names, words of a list as one line, a program with
    what stands beside it as one line, and the strings of JSON in a text."""
    ahead: list[tuple[str, Json, int]] = [("", raw, 0)]
    while ahead:
        key, value, depth = ahead.pop()
        if isinstance(value, str):
            yield key, value
            inner = _inner(value) if depth < DEEPEST_JSON else None
            if inner is not None:
                ahead.append((key, inner, depth + 1))
        elif isinstance(value, list):
            words = [word for word in value[: MOST_WORDS + 1] if isinstance(word, str)]
            if 1 < len(words) == len(value):
                yield "", shlex.join(words)
            ahead += [(key, entry, depth) for entry in reversed(value)]
        elif isinstance(value, dict):
            line = _line(value)
            if line is not None:
                yield "", line
            ahead += [(inner_key, entry, depth) for inner_key, entry in reversed(value.items())]
            for name in value:
                if key == "changes" or "/" in name:
                    yield "path", name
                if " " in name:
                    yield "", name


def _inner(text: str) -> Json:
    """The object or list that a text of JSON holds, else None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _line(given: dict[str, Json]) -> str | None:
    """A program and what stands beside it, as one command line; None where there is nothing beside it."""
    named = sorted(given.items(), key=lambda item: (item[0] not in PROGRAM, item[0] not in PATH))
    words: list[str] = []
    for _, value in named:
        if isinstance(value, str):
            words.append(value)
        elif isinstance(value, list) and len(value) <= MOST_WORDS:
            words += [shlex.quote(word) for word in value if isinstance(word, str)]
    # `{file, args}` is what Node's `execFile` takes.
    listed = any(key in ARGUMENTS and isinstance(value, list) for key, value in given.items())
    programs = [key for key in given if key in PROGRAM or (listed and key in PATH)]
    return " ".join(words) if programs and len(words) > 1 else None
