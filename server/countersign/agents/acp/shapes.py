"""Shapes of tool input that we know: an input is understood only when all of its keys belong to exactly one of them.

Agents name the same things differently, so each meaning is a set of names. An input with a key that is left over, or
that fits two shapes, is not understood; ``effects.py`` then takes everything that it hints at.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from countersign.gate import Effect, FetchUrl, ReadPath, RunCommand, UseTool, WritePath, check_cancelled
from countersign.tools.places import PATH_LENGTH
from countersign.wire.base import Json


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PATH = _names(
    "path file_path filePath filepath abs_path absolute_path absolutePath target_file targetFile file filename fileName"
)
FOLDER = _names("directory dir dir_path dirPath folder")
COMMAND = _names("command cmd")
CWD = _names("cwd workdir working_directory workingDirectory directory dir_path")
CONTENT = _names("content contents text file_text fileText")
OLD = _names("old_string oldString old_str oldStr old_text oldText")
NEW = _names("new_string newString new_str newStr new_text newText")
FROM = _names("path source src from old_path oldPath")
TO = _names("destination dest dst to new_path newPath")
PATTERN = _names("pattern query regex")
URL = _names("url uri")
MANY = _names("paths files file_paths filePaths")

WORDS = _names("description explanation instruction")
COMMAND_EXTRAS = WORDS | _names("timeout timeout_ms timeoutMs run_in_background is_background background")
EDIT_EXTRAS = WORDS | _names("replace_all replaceAll")
READ_EXTRAS = WORDS | _names("offset limit line start_line end_line startLine endLine pages")
FETCH_EXTRAS = WORDS | _names("prompt format timeout max_length")
SEARCH_EXTRAS = READ_EXTRAS | _names("output_mode head_limit multiline type context case_sensitive -i -n -A -B -C")

DOES_MORE = re.compile(r"write|edit|delete|remove|move|rename|create|patch|exec|run|bash|shell|terminal", re.IGNORECASE)
"""Words in a tool's name that speak against its being a reader."""
PATCH_MARKS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ")
"""What a line begins with that names a file in a patch."""
MOVES_SHELL = re.compile(
    r"""(?:^|[;&|(){\n]|\b(?:then|do|else|builtin|command)\b)[^\S\n]*(?:
        (?:cd|pushd|popd|chdir|source|eval|alias|unalias|export|declare|typeset|readonly|unset|set|shopt|function|exec|hash
            |trap|enable|read|printf\s+-v)(?![\w-])
        | \.\s                                 # source by its other name
        | [\w\[\]]+\+?=[^\s;&|(){"'\\$`]*(?:[^\S\n]*(?:$|[;&|\n])|["'\\$`(){])  # not plainly a command's own
        | \w+[^\S\n]*\([^\S\n]*\)                        # a function
        | [\w./-]*["'\\$`]                      # a name that is not written plainly
    )""",
    re.VERBOSE,
)
"""What changes the shell that it runs in, for agents which keep one shell for all their commands.

Nothing in it runs over a character that begins a command, so that a search takes time linear in the text.
"""
MOST_WORDS = 10_000
"""Words of a command that came as a list."""
MOST_HINTS = 256
"""Hints looked for in an input that is not understood; it asks anyway."""


@dataclass(frozen=True, slots=True)
class AgentContext:
    """Where an agent stands: absolute ``workspace`` and ``home``.

    ``shell_moved``: the agent keeps one shell for all commands, and one that ran there may have left it in another
    folder or with other names; what a command does there can no longer be told from its text. ``runs_bash``: its shell
    is known to be bash; what another shell makes of a text is not known.
    """

    workspace: str
    home: str
    shell_moved: bool = False
    runs_bash: bool = False

    def absolute(self, path: str) -> tuple[str, ...]:
        """Every absolute path that an agent may open when it says this one.

        It may expand ``~`` or not, may take ``..`` away as text or leave that to the system, and opens what a link
        leads to; so a path can stand for several, and all of them count. None is longer than a path can be: no file
        is there. Reads the disk.
        """
        check_cancelled()
        spelled = [os.path.join(self.workspace, path)]
        if path == "~" or path.startswith("~/"):
            spelled.insert(0, os.path.join(self.home, path[2:]))
        if "\0" in path:
            return tuple(_possible(spelled))  # leads nowhere; the gate refuses it
        asked = [os.path.normpath(spelling) for spelling in spelled]
        real = [os.path.realpath(spelling) for spelling in _possible((*asked, *spelled))]
        return tuple(dict.fromkeys(_possible((*asked, *real))))


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What is to happen to one file: whole new ``content``, or ``replacements`` (old, new, everywhere), in order."""

    path: str
    content: str | None = None
    replacements: tuple[tuple[str, str, bool], ...] = ()

    def apply(self, text: str | None) -> str | None:
        """The text of the file afterwards, or None where that cannot be told; ``text`` None is a file not there."""
        if self.content is not None:
            return self.content
        for old, new, everywhere in self.replacements:
            if old == "":
                text = new if not text else None
            elif text is not None:
                count = text.count(old)
                text = text.replace(old, new) if count == 1 or (count > 1 and everywhere) else None
            if text is None:
                return None
        return text


@dataclass(frozen=True, slots=True)
class Reading:
    """What an understood input would touch."""

    effects: tuple[Effect, ...]
    edit: FileEdit | None = None


Given = Mapping[str, Json]


def read_input(raw: Json, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """What the input would touch, or None where it is not understood as a whole."""
    if not isinstance(raw, dict):
        return None
    given = {key: value for key, value in raw.items() if value is not None}
    readings = [reading for shape in SHAPES if (reading := shape(given, kind, names, ground)) is not None]
    return readings[0] if len(readings) == 1 else None


def hints(raw: Json, ground: AgentContext) -> tuple[Effect, ...]:
    """Everything that an input which is not understood hints at, so that deny and ask rules see it."""
    found: list[Effect] = []
    for key, text in _strings(raw):
        if key in COMMAND:
            found.append(RunCommand(text, ground.workspace, understood=False))
        elif key in PATH | FOLDER | FROM | TO | MANY:
            found += either_way(text, ground)
        elif text.startswith(("http://", "https://")):
            found.append(FetchUrl(text))
        for path in islice(patched_files(text), MOST_HINTS):
            found += either_way(path, ground)
        if len(found) >= MOST_HINTS:
            break
    return tuple(found)


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


def either_way(path: str, ground: AgentContext) -> tuple[Effect, ...]:
    """The effects of a path of which it is not known what happens to it."""
    return tuple(effect for full in ground.absolute(path) for effect in (ReadPath(full), WritePath(full)))


def write_effects(path: str, ground: AgentContext) -> tuple[Effect, ...]:
    """A file is created or changed."""
    return tuple(
        WritePath(full, "edit" if os.path.lexists(_no_nul(full)) else "create") for full in ground.absolute(path)
    )


def _fit(given: Given, groups: Sequence[frozenset[str]], extras: frozenset[str]) -> list[str] | None:
    """One string for each group, if those keys and plain extras are all that is given."""
    used: dict[str, str] = {}
    for group in groups:
        keys = [key for key in given if key in group and key not in used]
        value = given[keys[0]] if len(keys) == 1 else None
        if not isinstance(value, str):
            return None
        used[keys[0]] = value
    rest = given.keys() - used.keys()
    plain = all(isinstance(given[key], str | int | float | bool) for key in rest)
    return list(used.values()) if rest <= extras and plain else None


def _command(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    given = {key: _joined(value) if key in COMMAND else value for key, value in given.items()}
    fitted = _fit(given, [COMMAND], COMMAND_EXTRAS | CWD)
    folders = [value for key, value in given.items() if key in CWD]
    if fitted is None or len(folders) > 1 or not all(isinstance(folder, str) for folder in folders):
        return None
    cwd = os.path.join(ground.workspace, str(folders[0])) if folders else ground.workspace
    if len(cwd) > PATH_LENGTH:
        return None
    understood = ground.runs_bash and not ground.shell_moved and "~" not in cwd
    return Reading((RunCommand(fitted[0], cwd, understood=understood, own_text=True),))


def _joined(value: Json) -> Json:
    """A command that came as a list of words, as the text that bash would take for it."""
    if isinstance(value, list) and 0 < len(value) <= MOST_WORDS and all(isinstance(word, str) for word in value):
        return shlex.join(str(word) for word in value)
    return value


def _write(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    fitted = _fit(given, [PATH, CONTENT], WORDS)
    if fitted is None:
        return None
    return Reading(write_effects(fitted[0], ground), FileEdit(fitted[0], content=fitted[1]))


def _edit(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    fitted = _fit(given, [PATH, OLD, NEW], EDIT_EXTRAS)
    if fitted is None:
        return None
    path, old, new = fitted
    return Reading(write_effects(path, ground), FileEdit(path, replacements=((old, new, _everywhere(given)),)))


def _edits(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    edits = given.get("edits")
    fitted = _fit({key: value for key, value in given.items() if key != "edits"}, [PATH], WORDS)
    if fitted is None or not isinstance(edits, list) or not edits:
        return None
    replacements = []
    for entry in edits:
        texts = _fit(entry, [OLD, NEW], EDIT_EXTRAS) if isinstance(entry, dict) else None
        if texts is None:
            return None
        replacements.append((texts[0], texts[1], isinstance(entry, dict) and _everywhere(entry)))
    return Reading(write_effects(fitted[0], ground), FileEdit(fitted[0], replacements=tuple(replacements)))


def _everywhere(given: Given) -> bool:
    return given.get("replace_all") is True or given.get("replaceAll") is True


def _move(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    fitted = _fit(given, [FROM, TO], WORDS)
    if fitted is None:
        return None
    ends = [ground.absolute(path) for path in fitted]
    return Reading(tuple(WritePath(full, "move") for paths in ends for full in paths)) if all(ends) else None


def _look(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """A path and nothing else says what is touched, not how: the kind must say it, and no name may speak against it."""
    fitted = _fit(given, [PATH | FOLDER], READ_EXTRAS)
    if fitted is None:
        return None
    paths = ground.absolute(fitted[0])
    if kind == "delete":
        return Reading(tuple(WritePath(full, "delete") for full in paths))
    if kind not in ("read", "search") or any(DOES_MORE.search(name) for name in names):
        return None
    below = kind == "search" or any(os.path.isdir(_no_nul(full)) for full in paths)
    return Reading(tuple(ReadPath(full, below=below) for full in paths))


def _search(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    """A search below a folder. Nobody says whether it goes into hidden files with keys and passwords, so it asks."""
    folder = next((value for key, value in given.items() if key in PATH | FOLDER), ".")
    rest = {key: value for key, value in given.items() if key not in PATH | FOLDER}
    fitted = _fit(rest, [PATTERN], SEARCH_EXTRAS | _names("glob include exclude"))
    if fitted is None or kind not in ("read", "search") or not isinstance(folder, str) or len(given) - len(rest) > 1:
        return None
    reads = tuple(ReadPath(full, below=True) for full in ground.absolute(folder))
    return Reading((*reads, UseTool("acp:search")))


def _fetch(given: Given, kind: str | None, names: Sequence[str], ground: AgentContext) -> Reading | None:
    method = given.get("method", "GET")
    fitted = _fit(given, [URL], FETCH_EXTRAS | {"method"})
    if fitted is None or not isinstance(method, str) or not fitted[0].lower().startswith(("http://", "https://")):
        return None
    return Reading((FetchUrl(fitted[0], method.upper()),))


Shape = Callable[[Given, "str | None", Sequence[str], AgentContext], Reading | None]
SHAPES: tuple[Shape, ...] = (_command, _write, _edit, _edits, _move, _look, _search, _fetch)


def _possible(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if len(path) <= PATH_LENGTH]


def _no_nul(path: str) -> str:
    """The path for a look at the disk; one with a NUL leads nowhere."""
    return path.replace("\0", "\ufffd")


def _strings(raw: Json) -> Iterator[tuple[str, str]]:
    """Every string in the value with the key that it stands under; a name that looks like a path counts as one."""
    ahead: list[tuple[str, Json]] = [("", raw)]
    while ahead:
        key, value = ahead.pop()
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, list):
            ahead += [(key, entry) for entry in reversed(value)]
        elif isinstance(value, dict):
            ahead += reversed(value.items())
            for name in value:
                if key == "changes" or "/" in name:
                    yield "path", name
