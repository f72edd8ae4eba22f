"""Files that are named after an address, by an address or inside a form: what clones, pushes, downloads and ``curl -F``
touch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.file_use import FileUse, Operation, unknown
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant


def written_for_address(words: Sequence[Word]) -> Iterator[FileUse]:
    """The folder that an address and a folder name: the second, or the last name of the first. What it then holds is
    not known."""
    if len(words) > 1:
        yield FileUse("write", words[1], unknown_names=True)
        return
    for word in words[:1]:
        if word.value is None:
            yield FileUse("write", unknown())
            continue
        names = [name for name in re.split(r"[/:]", re.sub(r"[?#].*", "", word.value)) if name]
        if len(names) > 1 and names[-1] == ".git":
            names.pop()
        if names:
            name = unquote(names[-1])
            bare = name.removesuffix(".git").removesuffix(".bundle")
            yield FileUse("write", constant(bare or name), unknown_names=True)


_ELSEWHERE = re.compile(r"(?!(?i:file):)(?:[\w+.-]+://|[\w+.-]+::|[^/]+:)")
"""How an address of another machine, or of a remote helper, begins."""

_FILE_URL = re.compile(r"(?i)file://[^/]*")

_BOTH: tuple[Operation, ...] = ("read", "write")
_SUBMODULE_ADDRESS = {"add": 0, "set-url": 1}


def repository_touches(git: Git) -> Iterator[FileUse]:
    """Yield the repositories on this machine that a git command takes from, or pushes to, by their path. A remote that
    is added by its path counts as pushed to, since a later push names it only."""
    pushes, addresses = _addresses(git)
    for word in addresses:
        operation: Operation = "write" if pushes else "read"
        if word.value is None:
            if not _ELSEWHERE.match(word.prefix):
                yield FileUse(operation, word)
            continue
        if git.subcommand == "clone" and "://" not in word.value and _ELSEWHERE.match(word.value):
            # What is there by this name is cloned, although it looks like `host:path`, and its settings obeyed.
            yield from (FileUse(each, word, below=True, if_there=True) for each in _BOTH)
        for path in repository_paths(word):
            spelled = Word(path, (), "constant", path, path, path, tilde=word.tilde)
            yield FileUse(operation, spelled, shown=True, below=not pushes)


def repository_paths(word: Word) -> tuple[str, ...]:
    """Return the paths that a constant address may name on this machine; none if it names another machine."""
    value = word.value or ""
    if not value or _ELSEWHERE.match(value):
        return ()
    path = _FILE_URL.sub("", value)
    return tuple(dict.fromkeys((path, unquote(path)))) if path != value else (value,)


def local_repositories(git: Git) -> tuple[Word, ...]:
    """Return the words that may name a repository on this machine, whose settings and hooks git then obeys."""
    return tuple(word for word in _addresses(git)[1] if word.value is None or repository_paths(word))


def pushes_to_a_repository(git: Git) -> bool:
    """Whether a command runs the hooks of the repositories that it names."""
    return git.subcommand in _PUSHING


_PUSHING = frozenset({"push", "send-pack", "http-push"})


def _addresses(git: Git) -> tuple[bool, list[Word]]:
    """Whether a command writes to the repositories that it names, and the words that name them."""
    found = git.arguments
    operands = [word for _, word in found.operands]
    match git.subcommand:
        case subcommand if subcommand in _PUSHING:
            return True, [*operands[:1], *found.valued("--repo")]
        case "fetch" | "fetch-pack":
            return False, operands if found.has("--multiple") else operands[:1]
        case "pull" | "ls-remote" | "clone":
            return False, operands[:1]
        case "archive":
            return False, list(found.valued("--remote"))
        case "remote" if operands and operands[0].value in {"add", "set-url"}:
            return True, operands[2:3]
        case "submodule" if operands and operands[0].value in _SUBMODULE_ADDRESS:
            at = 1 + _SUBMODULE_ADDRESS[operands[0].value]
            return False, operands[at : at + 1]
        case _:
            return False, []


def cloned_touches(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """``hg clone``, ``svn checkout``: without a folder they name one after the address."""
    if {word.value for word in words[1:4]} & {"clone", "checkout", "co", "export"}:
        yield from written_for_address([word for _, word in known.arguments.operands][1:])


def gh_touches(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Folders and files that it names after a repository, or that somebody else names."""
    named = [word for word in words[1:] if word.value is None or not word.value.startswith("-")]
    for start in range(3):
        # In front may stand the values of options.
        match [word.value for word in named[start : start + 2]]:
            case ["repo", "clone" | "fork" | "create"] | ["gist", "clone"]:
                yield from written_for_address(named[start + 2 : start + 4])
                return
            case ["release" | "run", "download"]:
                yield FileUse("write", constant("."), unknown_names=True)
                return


_WGET_NAMES = (
    "--recursive", "--mirror", "--force-directories", "--content-disposition", "--trust-server-names", "--input-file",
    "--input-metalink", "--page-requisites", "--execute", "--metalink-over-http",
)  # fmt: skip
"""Options, also abbreviated, by which wget takes addresses or names from elsewhere."""


def wget_touches(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """Yield the files that are named after the addresses, or by whoever answers."""
    found = known.arguments
    yield from (FileUse("read", value) for value in found.valued("--input-metalink"))
    if found.may_have("-e", "--execute"):
        # A line of its settings, any of them.
        yield from (FileUse("read", unknown()), FileUse("write", unknown()))
    if found.keeps("-O", "--output-document", "--spider"):
        return
    pages = [value.value for value in found.valued("--default-page")]
    elsewhere = found.has("-r", "-m", "-x", "-i", "-p")
    for _, word in found.operands:
        name = re.sub(r"[?#].*", "", word.prefix).rsplit("://", 1)[-1].rstrip("/")
        # Of an FTP address the name ends in front of its parameters (`;type=a`), and `host:path` is such an address.
        spelled = (name, name.partition(";")[0].rstrip("/"), name.rpartition(":")[2].partition(";")[0])
        names = dict.fromkeys(unquote(each.rsplit("/", 1)[-1]) for each in spelled)
        for each in names:
            yield FileUse("write", constant(each) if word.value is not None and each else unknown())
        yield from (FileUse("write", constant(page) if page else unknown()) for page in pages)
        # Over FTP it asks the server for all names that match.
        elsewhere = elsewhere or (
            word.prefix.lower().startswith("ftp") and re.search(r"[*?\[]", word.prefix) is not None
        )
    if elsewhere or any(
        len(option.name) > _SHORTEST and name.startswith(option.name)
        for option in found.options
        for name in _WGET_NAMES
    ):
        yield FileUse("write", constant("."), unknown_names=True)


_SHORTEST = len("--r")


def form_touches(value: Word) -> Iterator[FileUse]:
    """What ``name=@file`` sends: files in a list, in quotes, and what ``headers=@file`` names behind a semicolon."""
    _, equals, content = value.prefix.partition("=")
    if value.value is None:
        if not equals or content.strip()[:1] in {"", "@", "<", '"', "("} or ";" in content:
            yield FileUse("read", unknown())
        return
    sends = content.lstrip()[:1] in {"@", "<"}
    for part in re.split("[;,]", content) if sends else content.split(";"):
        behind = part.strip()
        if behind.lower().startswith("headers"):
            behind = behind.partition("=")[2].strip()
            if behind[:1] not in {"@", "<"}:
                continue
        elif not sends:
            continue
        name = behind.lstrip("@<").strip()
        plain = re.sub(r"\\(.)", r"\1", name).strip('"')
        if "\\" in name or name.count('"') % 2:
            yield FileUse("read", unknown())  # a quoted name may hold a comma or semicolon
        yield from (FileUse("read", constant(text)) for text in dict.fromkeys((name, name.strip('"'), plain)) if text)
