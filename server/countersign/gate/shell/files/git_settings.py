"""Where the settings of a repository lead into its work tree (docs/gate.md S9).

The settings in ``.git`` and in a person's home are protected. What they name may lie in the work tree, where an agent
may write: another file of settings, a folder of hooks, a program that reading runs. Then reading is no mere reading.
The repository may as well have come as it is, in an archive, with commands of a stranger in its own settings. git
looks into the submodules that are checked out as well, each with settings of its own. More than 500 lines, because
all that settings can lead to stands here.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_folders import Repository, repository_at
from countersign.gate.shell.files.git_index import folders_in_index, gitlinks, tracked_links
from countersign.gate.shell.files.git_links import holds_link
from countersign.gate.shell.files.git_objects import objects_lie_elsewhere
from countersign.gate.shell.files.setting_commands import (
    UNCERTAIN,
    expanded,
    holds_command,
    in_work_tree,
    is_offline,
    starts_while_reading,
    why_not_harmless,
)
from countersign.gate.shell.languages.git import PLAIN_MERGES, VERIFYING
from countersign.gate.shell.programs.tables import field_of

MOST_SETTINGS = 100_000
"""Bytes of a file of settings that is read."""
_MOST_FILES = 20
_MOST_REPOSITORIES = 40
"""Files of settings of one repository, and repositories within another, that are read."""
_HOOKS = ("post-index-change",)
"""`git status`, `diff` and `describe --dirty` write what they saw into the index, and then run this hook."""
_FETCHING_HOOKS = ("reference-transaction", "pre-auto-gc")
"""Where what is missing is fetched, git writes refs, and tidies up behind it."""
_FETCHING_FILES = frozenset({
    ("http", "savecookies"), ("http", "cookiefile"), ("http", "sslkey"), ("http", "sslcert"),
    ("http", "proxysslkey"), ("http", "proxysslcert"),
    ("gc", "recentobjectshook"), ("gc", "repackfilterto"), ("fetch", "bundleuri"),
    ("promisor", "acceptfromserver"), ("promisor", "acceptfromserverurl"),
})  # fmt: skip
"""Settings of programs, files and addresses that are run, read or written then."""
_SYSTEM = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")


class _Setting(NamedTuple):
    """One entry: its section and key in small letters, no section for a line that is not understood, and the name of a
    part of the section (``[remote "name"]``). ``own``: the repository's own settings hold it, which whoever made the
    folder may have written."""

    section: str
    name: str
    key: str
    value: str
    file: str
    own: bool


def leads_into_work_tree(top: Repository, paths: PathJudge, *, activated: bool = False) -> str | None:
    """Why reading in this work tree depends on a file in it that settings name, or None. ``activated``: folders of the
    workspace stand in front of the path, so each program that settings start by its name may lie there."""
    for name in (".mailmap", ".gitattributes", ".gitignore"):  # git prints what stands there
        standing = disk.path_stat(f"{top.folder}/{name}")
        if not isinstance(standing, int) and standing.names > 1:
            return f"its `{name}` has other names, and one of them may be a secret's"
        if not isinstance(standing, int) and standing.kind == stat.S_IFLNK:
            return f"its `{name}` is a link, which git before 2.32 follows"
    linked = _reads_through_link(top, paths)
    if linked is not None:
        return f"git may read `{linked}`, to which a link leads"
    waiting, found = [top], 0
    while waiting:
        repository = waiting.pop()
        found += 1
        if found > _MOST_REPOSITORIES:
            return UNCERTAIN
        modules = disk.path_stat(f"{repository.folder}/.gitmodules")
        if not isinstance(modules, int) and (modules.kind == stat.S_IFLNK or modules.names > 1):
            return "a `.gitmodules` is a link, which git follows"
        reason = _leads(repository, top, paths, activated=activated)
        if reason is not None:
            return reason
        index = f"{repository.own}/index"
        inner, sparse = gitlinks(index), folders_in_index(index)
        if inner is None or sparse is None:
            return UNCERTAIN
        # What such a folder holds in the work tree, git compares with the tree's submodules.
        if any(disk.is_there(f"{repository.folder}/{name}") for name in sparse):
            return UNCERTAIN
        for name in inner:
            below = _checked_out(f"{repository.folder}/{name}", top, paths)
            if isinstance(below, str):
                return below
            if below is not None:
                waiting.append(below)
    return None


def _reads_through_link(top: Repository, paths: PathJudge) -> str | None:
    """A file of attributes behind a link of the work tree that leads to what may not be read: git looks for one beside
    each path, also of a folder that stood there before. Git before 2.32 follows a link that is such a file itself."""
    names = tracked_links(f"{top.own}/index")
    if names is None:
        return None  # an index that cannot be read asks below
    above = [name for name, is_folder in disk.entries_in(top.folder) or () if is_folder is None]
    for name in dict.fromkeys((*names, *above)):
        path = f"{top.folder}/{name}"
        if name.rsplit("/", 1)[-1] in {".gitattributes", ".gitignore"}:
            return path
        if disk.is_there(f"{path}/.gitattributes"):
            found = paths.judge_read(f"{path}/.gitattributes", cwd="/")
            if found.deny or found.ask or found.requires_ask or found.floors:
                return f"{path}/.gitattributes"
    return None


def may_fetch(repository: Repository, paths: PathJudge) -> bool:
    """Whether the repository may lack objects, which git then fetches from a remote when they are read."""
    settings = _settings(repository, paths)
    return settings is None or any(map(_promises, settings))


def may_be_on(setting: str, repository: Repository, paths: PathJudge) -> bool:
    """Whether a setting (``section.key``, in small letters) may be on where git runs in this repository."""
    settings, (section, key) = _settings(repository, paths), setting.split(".")
    return settings is None or any(
        (each.section, each.key) == (section, key) and not _is_off(each.value) for each in settings
    )


def compares_dates_alone(repository: Repository, paths: PathJudge) -> bool:
    """Whether settings make git take a file for unchanged that has the date and size of another one."""
    settings = _settings(repository, paths)
    return settings is None or any(
        (each.section, each.key) in {("core", "checkstat"), ("core", "trustctime")} for each in settings
    )


def is_surely_taken(repository: Repository, paths: PathJudge) -> bool:
    """Whether every git takes this for a repository with a work tree, whichever version and whoever runs it."""
    settings = _settings(repository, paths)
    if settings is None or not all(map(disk.is_own, (repository.folder, f"{repository.folder}/.git", repository.own))):
        return False
    return not any(
        (each.section == "extensions" and each.key not in _EXTENSIONS_OF_OLD)
        or ((each.section, each.key) == ("core", "repositoryformatversion") and each.value not in {"0", "1"})
        or ((each.section, each.key) == ("core", "bare") and not _is_off(each.value))
        for each in settings
    )


_EXTENSIONS_OF_OLD = frozenset({"noop", "preciousobjects", "partialclone", "worktreeconfig"})
_EXTENSIONS = _EXTENSIONS_OF_OLD | {
    "noop-v1", "objectformat", "compatobjectformat", "refstorage", "relativeworktrees", "submodulepathconfig",
}  # fmt: skip
"""Extensions that git knows; one with any other makes it refuse a repository (`repository-version`)."""


def _is_off(value: str) -> bool:
    return value.lower() in {"false", "no", "off", "0"}


def _promises(setting: _Setting) -> bool:
    return setting.key in _PROMISING


_PROMISING = frozenset({"promisor", "partialclone", "partialclonefilter"})
"""Any of these makes a remote one from which git fetches what it lacks (`promisor-remote.c`)."""


_ADDRESS = re.compile(r"(?:https?|ssh|git)://[^\0]*|[\w.-]+(?:@[\w.-]+)?:(?!:|//)[^\0]*")
"""An address on another machine for which git starts a program of its own; any other ``x::`` or ``x://`` stands for
``git-remote-x``, and a path for a repository of this machine, whose settings git obeys."""
_REMOTE = re.compile(r"\w[\w./-]*")


def _may_fetch_from_anywhere(settings: Sequence[_Setting], git_dir: str) -> bool:
    """Whether what a partial clone lacks may come from another address than those of its remotes. A remote without one
    is an address by its name, files of old may hold them, and others may be put in the place of the first."""
    if any(disk.names_in(f"{git_dir}/{folder}") for folder in ("remotes", "branches")):
        return True
    wanted: set[str] = set()
    addressed: set[str] = set()
    for section, name, key, value, _, own in settings:
        match section, key:
            case "remote", "promisor" | "partialclonefilter":
                wanted.add(name)
            case "extensions", "partialclone":
                wanted.add(value)
            case "remote", "url":
                addressed.add(name)
                if not _ADDRESS.fullmatch(value):
                    return True
            case "url", "insteadof":
                if own or not _ADDRESS.fullmatch(name):
                    return True
            case _:
                if section.startswith(("remote.", "url.")):
                    return True  # the old spelling of a name
    return not all(name in addressed and _REMOTE.fullmatch(name) for name in wanted)


def _checked_out(folder: str, top: Repository, paths: PathJudge) -> Repository | str | None:
    """The repository that stands in the place of a submodule, if any, or why it is not known."""
    if disk.path_stat(f"{folder}/.git") in disk.MISSING:
        return None
    if paths.resolve(folder, cwd="/").resolved != folder:
        return UNCERTAIN
    found = repository_at(folder, paths)
    if not isinstance(found, Repository):
        return UNCERTAIN
    known = found.own == f"{folder}/.git" or found.own.startswith(f"{top.own}/modules/")
    return found if known else UNCERTAIN


def _leads(repository: Repository, top: Repository, paths: PathJudge, *, activated: bool) -> str | None:
    settings = _settings(repository, paths)
    if settings is None:
        return UNCERTAIN
    if disk.variable("XDG_CONFIG_HOME")[:1] not in {"", "/"}:  # seen from the folder where git runs
        return "its settings include a file of the workspace"
    of_person = _of_person(paths.home)
    attributes = [f"{os.path.dirname(file)}/attributes" for file in of_person[1:]]
    if any(_may_be_written(file, paths) for file in (*of_person, *attributes, *_SYSTEM)):
        return "its settings include a file of the workspace"
    folder, own_dir, shared = repository
    if own_dir == shared and disk.is_there(f"{shared}/commondir"):
        return UNCERTAIN  # the settings stand in another folder
    if any(holds_link(each, paths) for each in {own_dir, shared}):
        return "its `.git` folder holds a symlink, which git does not make there"
    if any(_has_strange_worktrees(each) for each in {own_dir, shared}):
        return UNCERTAIN
    if objects_lie_elsewhere(f"{shared}/objects", top.shared, paths):
        return "it takes what it shows from a repository outside the workspace"
    fetches = any(map(_promises, settings))
    if fetches and _may_fetch_from_anywhere(settings, shared):
        return "it is not certain from where it fetches what it lacks"
    if _smudges_for_display(settings):
        return UNCERTAIN
    home, hooks = paths.home, _hooks(fetches=fetches)
    for section, name, key, value, file, own in settings:
        if section.startswith("include") and key == "path":
            named = expanded(value, home, os.path.dirname(file))
            if named is None:
                return UNCERTAIN
            if paths.resolve(named, cwd="/").unclear is not None:
                return UNCERTAIN
            if in_work_tree(named, folder, paths):
                return "its settings include a file of the workspace"
            if own and not _stays_below(named, (own_dir, shared), paths):
                return UNCERTAIN  # git prints what stands in it
        elif (section, key) == ("core", "hookspath"):
            named = expanded(value, home, folder)
            if named is None or paths.resolve(named, cwd="/").unclear is not None:
                return UNCERTAIN
            hook = next((each for each in hooks if disk.can_run(f"{named}/{each}")), None)
            if hook is not None:
                return f"it runs the hook `{hook}`"
        elif (setting := _told_by(section, key, own=own)) is not None and value:
            named = expanded(value, home, folder)
            if named is None or paths.resolve(named, cwd="/").unclear is not None:
                return UNCERTAIN
            ruled = paths.judge_read(named, cwd="/")
            told = paths.is_secret(named, cwd="/") or not _is_own_file(named, paths, own=own)
            told = told or ruled.deny is not None or ruled.ask is not None
            if told or (not own and _may_be_written(named, paths)):
                return f"its setting `{setting}` names a file that git may print"
        elif _enters_submodules(section, key, value):
            setting = f"{section}.{key}"
            return f"its setting `{setting}` makes git run in folders that only a commit may name"
        elif (
            section == ""
            or (own and not _is_ordinary(section, key))
            or ((section, key) == ("extensions", "refstorage") and not value.isalnum())  # an address
            or ((section, key) == ("extensions", "objectformat") and value != "sha1")  # its index is not read here
            or (section == "extensions" and key not in _EXTENSIONS)
            # What the environment says of it reaches no submodule.
            or (own and repository != top and (section, key) == ("core", "fsmonitor") and not _is_off(value))
            or ((section, key) == ("core", "repositoryformatversion") and value not in {"0", "1"})
            or (section, key) == ("fsmonitor", "socketdir")
            or _is_other_command(section, name, key)
            or (own and fetches and (section.partition(".")[0], key) in _FETCHING_FILES)
            or ((own or activated) and _shows_more(section, key, value))
            or ((section, key) in _READ_BY_LINES and _may_be_written(expanded(value, home, folder) or "/", paths))
            or ((section, key) == ("log", "diffmerges") and value not in PLAIN_MERGES)
            # It writes to a ref, which may stand for a branch.
            or (key == "cachetextconv" and not _is_off(value))
        ):
            return UNCERTAIN
        elif (section, key) == ("core", "worktree"):
            if expanded(value, home, own_dir) != folder:
                return UNCERTAIN
        else:
            first = section.partition(".")[0]
            if holds_command(first, key, value, fetches=fetches):
                if activated and starts_while_reading(first, key, value):
                    setting = f"{first}.{key}"
                    return f"its setting `{setting}` may run a program of the activated environment"
                reason = why_not_harmless(first, key, value, folder, paths, own=own)
                if reason is not None:
                    return reason
                if (first, key) in _GET_NAMES and any(name.startswith("-") for name in disk.names_in(folder)):
                    return UNCERTAIN
    hook = next((each for each in hooks if disk.can_run(f"{shared}/hooks/{each}")), None)
    return f"it runs the hook `{hook}`" if hook is not None else None


def _stays_below(path: str, folders: Sequence[str], paths: PathJudge) -> bool:
    """Whether a path lies below one of these resolved folders, wherever links lead."""
    return paths.resolve(path, cwd="/").resolved == path and path.startswith(tuple(f"{each}/" for each in folders))


def _has_strange_worktrees(git_dir: str) -> bool:
    """Whether the folder of a linked worktree names another one for what they share than git writes: git reads the refs
    of every worktree from there, and prints lines that are none."""
    names = disk.names_in(f"{git_dir}/worktrees")
    shared = (f"{git_dir}/worktrees/{name}/commondir" for name in names)
    return len(names) > _MOST_REPOSITORIES or any(disk.beginning(file, 10) not in {None, b"../..\n"} for file in shared)


def _hooks(*, fetches: bool) -> Sequence[str]:
    """The hooks that git may run while it only reads."""
    return (*_HOOKS, *(_FETCHING_HOOKS if fetches else ()))


def _smudges_for_display(settings: Sequence[_Setting]) -> bool:
    """Whether git may check out a file to show it: for a program that makes a text of it, it runs the filters first,
    and those of Git LFS fetch from wherever the repository says."""
    given = any((each.section, each.key) in _GET_NAMES and each.value != "" for each in settings)
    return given and any(
        each.section == "filter" and each.key in {"smudge", "process"} and not is_offline(each.value)
        for each in settings
    )


def _is_ordinary(section: str, key: str) -> bool:
    """Whether it is a setting of git's own, all of which stand in `git_settings.toml` of the tests, or one by which no
    program that git starts does more: those have settings there as well (``lfs.storage``)."""
    first = section.partition(".")[0]
    return first in _SECTIONS or f"{first}.{key}" in _OF_OTHERS or first == _NO_SECTION


_NO_SECTION = "-"
"""In front of the first section. No setting has such a name."""
_SECTIONS = frozenset(" ".join(field_of("settings", "sections").values()).split())
_OF_OTHERS = frozenset(" ".join(field_of("settings", "of_others").values()).split())

_TOLD_FILES = {
    ("blame", "ignorerevsfile"): "blame.ignoreRevsFile",
    ("core", "excludesfile"): "core.excludesFile",
    ("diff", "orderfile"): "diff.orderFile",
}
"""Settings of a file whose lines git prints, or tells by what it leaves out and what it shows first."""

_TOLD_OF_REPOSITORY = {
    "allowedsignersfile": "gpg.ssh.allowedSignersFile",
    "revocationfile": "gpg.ssh.revocationFile",
}
"""Settings, by key, of a file that git reads only to verify a signature. They count in a repository's own settings;
where a person's settings make git verify one, that asks by itself."""


def _told_by(section: str, key: str, *, own: bool) -> str | None:
    """The name of a setting whose value is a file that git may print or give away; None if it is no such setting.
    ``own``: it stands in the repository's own settings."""
    return _TOLD_FILES.get((section, key)) or (_TOLD_OF_REPOSITORY.get(key) if own else None)


_READ_BY_LINES = frozenset({("core", "attributesfile"), ("mailmap", "file"), ("mailmap", "blob")})
"""Settings that name a file of which git prints what it does not understand, or takes for a name."""


_GET_NAMES = frozenset({("diff", "textconv"), ("diff", "command"), ("diff", "external")})
"""Settings of commands that git gives the names of files, which may be options of theirs."""


def _shows_more(section: str, key: str, value: str) -> bool:
    """Whether git prints parts of a file for this setting, tells which files are like it, or verifies signatures by a
    program that may fetch keys."""
    if (
        (section, key) == ("log", "showsignature")
        or VERIFYING.search(value)
        or (key == "sort" and "signature" in value)
        or (key == "renames" and value.lower() in {"copy", "copies"})
        or ((section, key) == ("log", "follow") and not _is_off(value))
    ):
        return True
    return (section, key) in _READ_BY_LINES and value != ""


def _enters_submodules(section: str, key: str, value: str) -> bool:
    """Whether git runs in the folders of submodules for this setting. Those that commits name need not be in the index,
    and what then lies in such a folder may be a repository with any settings."""
    if (section, key) == ("diff", "submodule"):
        return value != "short"
    return (section, key) == ("status", "submodulesummary") and not _is_off(value)


def _is_other_command(section: str, name: str, key: str) -> bool:
    """Whether an alias takes the name of a command that only reads: newer versions of git let it, where they would
    rather be rid of the command."""
    return section.partition(".")[0] == "alias" and not _DEPRECATED.isdisjoint(
        {key, name.lower(), section.partition(".")[2]}
    )


_DEPRECATED = frozenset(" ".join(field_of("settings", "deprecated").values()).split())


def _is_own_file(named: str, paths: PathJudge, *, own: bool) -> bool:
    """Whether a setting names a file of the workspace itself, or a person's one that lies elsewhere."""
    lexically_inside = f"{named}/".startswith(f"{paths.workspace}/")
    return paths.inside_workspace(named, cwd="/") or not (own or lexically_inside)


def excludes_files(home: str) -> Iterator[str]:
    """The ignore files that a person's settings name for all repositories."""
    xdg = disk.variable("XDG_CONFIG_HOME") or f"{home}/.config"
    yield from {f"{home}/.config/git/ignore", f"{xdg}/git/ignore"}
    for file in dict.fromkeys(_of_person(home)):
        text = disk.beginning(file, MOST_SETTINGS + 1)
        for section, _, key, value in entries_of(text) if text is not None else ():
            if (section, key) == ("core", "excludesfile"):
                named = expanded(value, home, home)
                if named is not None:
                    yield named


def _of_person(home: str) -> tuple[str, ...]:
    """The files of a person's settings for all repositories."""
    xdg = disk.variable("XDG_CONFIG_HOME") or f"{home}/.config"
    return f"{home}/.gitconfig", f"{home}/.config/git/config", f"{xdg}/git/config"


def _may_be_written(file: str, paths: PathJudge) -> bool:
    """Whether a file of a person's settings is there and lies in the workspace, in a place that is not protected."""
    there = disk.path_stat(file)
    if isinstance(there, int):
        return False
    if there.kind == stat.S_IFREG and there.names > 1:
        return True  # another name of it may lie in the workspace
    found = paths.resolve(file, cwd="/")
    return any(
        each is None or (paths.inside_workspace(each, cwd="/") and paths.is_protected(each, cwd="/") is None)
        for each in (found.lexical, found.resolved)
    )


def _settings(repository: Repository, paths: PathJudge) -> Sequence[_Setting] | None:
    """All entries that count in a repository; None if they are not known for certain."""
    home = paths.home
    waiting = [(file, False) for file in (*_of_person(home), *_SYSTEM)]
    waiting += [(f"{repository.own}/config.worktree", True), (f"{repository.shared}/config", True)]
    read: set[str] = set()
    found: list[_Setting] = []
    while waiting:
        file, own = waiting.pop()
        if file in read:
            continue
        read.add(file)
        if len(read) > _MOST_FILES:
            return None
        text = disk.beginning(file, MOST_SETTINGS + 1)
        for section, name, key, value in entries_of(text) if text is not None else ():
            first, _, rest = section.partition(".")  # an older way to write `[diff "x"]`
            found.append(_Setting(first, name or rest, key, value, file, own))
            if section.startswith("include") and key == "path":
                named = expanded(value, home, os.path.dirname(file))
                # One in the work tree asks whatever it holds.
                if named is not None and not in_work_tree(named, repository.folder, paths):
                    waiting.append((named, own))
    return found


def entries_of(data: bytes) -> Iterator[tuple[str, str, str, str]]:
    """Yield the section, its part's name, the key and the value of each entry as git reads them (`config.c`), no
    section where the rest is not understood."""
    if len(data) > MOST_SETTINGS or b"\0" in data:
        yield "", "", "", ""
        return
    text = os.fsdecode(data).removeprefix("\ufeff").replace("\r\n", "\n") + "\n"
    section, name, at = _NO_SECTION, "", 0
    while at < len(text):
        found = _NOTHING.match(text, at)
        if found is not None:
            at = found.end()
            continue
        head = _SECTION.match(text, at)
        if head is not None:
            section, name, at = head[1].lower(), re.sub(r"\\(.)", r"\1", head[2] or ""), head.end()
            continue
        entry = _ENTRY.match(text, at)
        value = _value(text, entry.end()) if entry is not None and entry[2] else ("", at)
        if entry is None or value is None:
            yield "", "", "", ""
            return
        yield section, name, entry[1].lower(), value[0]
        at = value[1] if entry[2] == "=" else entry.end()


def _value(text: str, at: int) -> tuple[str, int] | None:
    """Return the value that begins here, without quotes and comment, and where the next line begins."""
    kept: list[str] = []
    end, quoted = 0, False
    while True:
        found = (_QUOTED if quoted else _PART).match(text, at)
        if found is None:
            return None
        part, at = found[0], found.end()
        if not quoted and part[0] in "\n#;":
            return "".join(kept[:end]), at
        if part == '"':
            quoted = not quoted
        elif part == "\\\n":
            pass  # the line goes on, and blanks are left out as long as nothing of the value stands there
        elif part[0] == "\\":
            kept.append(_ESCAPED[part[1]])
        elif part[0] not in " \t\r" or quoted or kept:
            kept.append(part)
        if part[0] not in " \t\r" or quoted:
            end = len(kept)


_NOTHING = re.compile(r"[ \t\r\n]+|[#;][^\n]*\n")
_SECTION = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]')
_ENTRY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=\n))")
_PART = re.compile(r"""\n|[#;][^\n]*\n|"|\\[\ntbn\\"]|[ \t\r]|[^\n\\"#; \t\r]+""")
_QUOTED = re.compile(r"""[^\n\\"]+|"|\\[\ntbn\\"]""")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"'}
