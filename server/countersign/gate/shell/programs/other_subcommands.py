"""Other names of subcommands, under which deny and ask rules mean them: ``npm i`` for ``npm install``. Data.

From each program's own list of aliases: npm 11 (``cmd-list.js``), pnpm 10, cargo 1.91, Docker 28, Podman 5, Helm 4,
Homebrew 5, Subversion 1.14, Mercurial 7, Composer 2, GitHub CLI 2, git 2.52.
"""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.rows_git import GLOBAL
from countersign.gate.shell.programs.subcommand_depth import VALUED

_CONTAINER = "attach commit cp create diff exec export kill logs pause port rename restart rm run start stats stop top"
_IMAGE = "build history import load pull push save tag"
_DOCKER = " | ".join(
    (
        *(f"{name} = container {name}" for name in f"{_CONTAINER} unpause update wait".split()),
        *(f"{name} = image {name}" for name in _IMAGE.split()),
        "rm = container remove | rmi = image rm = image remove | inspect = container inspect = image inspect",
        "ps = container ls = container list = container ps | images = image ls = image list | info = system info",
        "build = builder build = buildx build = buildx b | events = system events | volume rm = volume remove",
        "network rm = network remove",
    )
)
_NAMES: Mapping[str, str] = {
    "npm": "install = i = add = in = ins = inst = insta = instal = isnt = isnta = isntal = isntall"
    " | uninstall = un = unlink = remove = rm = r | update = up = upgrade = udpate | run = run-script = rum = urn"
    " | exec = x | ci = clean-install = ic = install-clean = isntall-clean | test = t = tst"
    " | install-test = it | install-ci-test = cit = clean-install-test = sit | config = c | init = create = innit"
    " | link = ln | ls = list = la = ll | rebuild = rb | view = v = info = show | adduser = add-user"
    " | owner = author | search = s = se = find | explain = why | dedupe = ddp | dist-tag = dist-tags",
    "pnpm": "install = i | remove = rm = uninstall = un | update = up = upgrade | link = ln | list = ls"
    " | run = run-script | test = t = tst | rebuild = rb | config = c | create = init",
    "yarn": "install = i | remove = rm",
    "cargo": "build = b | check = c | doc = d | run = r | test = t | remove = rm",
    "docker": _DOCKER,
    "podman": _DOCKER,
    "nerdctl": _DOCKER,
    "helm": "uninstall = del = delete = un | list = ls | template = tmpl",
    "brew": "uninstall = rm = remove | install = instal | update = up | list = ls | info = abv | link = ln",
    "svn": "commit = ci | checkout = co | delete = del = remove = rm | update = up | copy = cp"
    " | move = mv = rename = ren | switch = sw | propset = pset = ps | propdel = pdel = pd | propedit = pedit = pe",
    "hg": "commit = ci | update = up = checkout = co | remove = rm | rename = move = mv | copy = cp | forget = drop",
    "composer": "install = i | require = r | remove = rm = uninstall | update = u = upgrade | run-script = run",
    "bundle": "exec = e = ex | install = i",
    "gh": "pr create = pr new | issue create = issue new | release create = release new | repo create = repo new"
    " | pr checkout = co | codespace = cs",
    "conda": "remove = uninstall | update = upgrade",
    "mamba": "remove = uninstall | update = upgrade",
    "git": "add = stage | init = init-db",
}
"""By each program groups of names, the first of which stands for all."""


def _by_words(text: str) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for group in text.split(" | "):
        first, *others = (tuple(name.split()) for name in group.split(" = "))
        found |= dict.fromkeys(others, first)
    return found


_FIRST_NAMES = {program: _by_words(text) for program, text in _NAMES.items()}


_ABBREVIATED = {
    program: {
        name: names.get((name,), (name,))[0] for name in (*_all.split(), *(each[0] for each in names if len(each) == 1))
    }
    for program, _all in {
        "npm": "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec "
        "explain explore find-dupes fund get help help-search init install install-ci-test install-test link ll login "
        "logout ls org outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run sbom "
        "search set shrinkwrap star stars start stop team test token undeprecate uninstall unpublish unstar update "
        "version view whoami",
        "hg": "add addremove annotate archive backout bisect bookmarks branch branches bundle cat clone commit config "
        "copy diff export files forget graft grep heads help identify import incoming init locate log manifest merge "
        "outgoing parents paths phase pull push recover remove rename resolve revert root serve status summary tag tags "
        "unbundle update verify version",
    }.items()
    for names in (_FIRST_NAMES[program],)
}
"""All names of subcommands of programs that take a beginning for one, each with the first of its names."""


def _whole(program: str, word: str) -> str:
    """The subcommand that a program takes this word for, where it begins the names of one alone."""
    known = _ABBREVIATED.get(program)
    if known is None or word in known:
        return word
    meant = {first for name, first in known.items() if name.startswith(word)} if word else set[str]()
    return meant.pop() if len(meant) == 1 else word


_VALUED = {**VALUED, "git": frozenset({"-C", "-c", *(f"--{name}" for name in GLOBAL.long if name != "exec-path")})}


def with_first_name(program: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command with its subcommand in front, by the first of its names, and the options before it at the end.

    The same object if nothing changes. ``program`` is its name without a folder, by which the tables know it.
    """
    names, valued = _FIRST_NAMES.get(program), _VALUED.get(program)
    if names is None and valued is None:
        return words
    start = 1
    while start < len(words) and words[start].startswith("-"):
        start += 2 if words[start] in (valued or ()) else 1
    spelled = (words[start : start + length] for length in (2, 1))
    old, first = next(((each, names[each]) for each in spelled if names and each in names), ((), ()))
    if not old and start < len(words):
        old, first = words[start : start + 1], (_whole(program, words[start]),)
    if old == first and (start == 1 or start >= len(words)):
        return words
    return (words[0], *first, *words[start + len(old) :], *words[1:start])
