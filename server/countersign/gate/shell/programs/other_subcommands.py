"""Other names of subcommands, under which deny and ask rules mean them: ``npm i`` for ``npm install``.

The records hold them, from each program's own list of aliases: npm 11 (``cmd-list.js``), pnpm 10, cargo 1.91,
Docker 28, Podman 5, Helm 4, Homebrew 5, Subversion 1.14, Mercurial 7, Composer 2, GitHub CLI 2, git 2.52.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from countersign.gate.shell.programs.subcommand_depth import VALUED
from countersign.gate.shell.programs.tables import FACETS


def _by_words(groups: Sequence[str]) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for group in groups:
        first, *others = (tuple(name.split()) for name in group.split(" = "))
        found |= dict.fromkeys(others, first)
    return found


_FIRST_NAMES = {key[0]: _by_words(groups) for key, groups in FACETS["subcommand_names"].items()}
"""By each program the first of the names of a subcommand, by the others."""


_ABBREVIATED = {
    program: {
        name: names.get((name,), (name,))[0] for name in (*_all.split(), *(each[0] for each in names if len(each) == 1))
    }
    for program, _all in {
        "npm": "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor "
        "edit exec explain explore find-dupes fund get help help-search init install install-ci-test "
        "install-test link ll login logout ls org outdated owner pack ping pkg prefix profile prune "
        "publish query rebuild repo restart root run sbom search set shrinkwrap star stars start stop "
        "team test token undeprecate uninstall unpublish unstar update version view whoami",
        "hg": "add addremove annotate archive backout bisect bookmarks branch branches bundle cat clone commit "
        "config copy diff export files forget graft grep heads help identify import incoming init locate "
        "log manifest merge outgoing parents paths phase pull push recover remove rename resolve revert "
        "root serve status summary tag tags unbundle update verify version",
        "composer": "about archive audit browse bump check-platform-reqs clear-cache completion config create-project "
        "depends diagnose dump-autoload exec fund global help home init install licenses list outdated prohibits "
        "reinstall remove repository require run-script search self-update show status suggests update validate",
        "bundle": "add binstubs cache check clean config console doctor exec fund gem help info init inject install "
        "issue licenses list lock open outdated platform plugin pristine remove show update version viz",
    }.items()
    for names in (_FIRST_NAMES[program],)
}
"""All names of subcommands of programs that take a beginning for one, each with the first of its names."""


def is_whole_name(program: str, word: str) -> bool:
    """Whether this is the whole name of a subcommand, or another name of one."""
    return word in _ABBREVIATED.get(program, ()) or (word,) in _FIRST_NAMES.get(program, ())


def _whole(program: str, word: str) -> str:
    """The subcommand that a program takes this word for, where it begins the names of one alone."""
    known = _ABBREVIATED.get(program)
    if known is None or word in known:
        return word
    meant = {first for name, first in known.items() if name.startswith(word)} if word else set[str]()
    return meant.pop() if len(meant) == 1 else word


_OF_GIT = "-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --list-cmds --shallow-file"
_VALUED = {**VALUED, "git": frozenset(_OF_GIT.split())}


def with_first_name(program: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command with its subcommand in front, by its first name, and the options at the end.

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
