"""Symlinks below a folder that a command reads wholly while it follows links (``grep -R``, ``cp -rL``, ``tar -h``).

Where each leads is judged like a path that the words name, as the disk is now, and what lies behind a link to a folder
as well. Where there are too many names, a rule for reading asks.

Programs of which no record says that they leave links alone (linters, test runners, packers) may follow them, too
(``led_to_below``).
"""

from __future__ import annotations

from collections.abc import Iterator

from countersign.gate.finding import Finding
from countersign.gate.paths.hard_links import SHARED
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.sensitive_paths import secret_at
from countersign.gate.probes import disk
from countersign.gate.shell.files.bounded_walk import TooMuchError, walk
from countersign.gate.shell.files.word_values import join
from countersign.wire.verdicts import Evidence

_MOST_NAMES = 10_000
_MOST_LINKS = 500
"""Names below one folder, and links that are followed, before the rest is no longer looked at."""


def behind_links(judge: PathJudge, path: str, cwd: str) -> Iterator[Finding]:
    """Yield what asks, or is forbidden, of where the links below this folder lead."""
    waiting = [join(cwd, path, judge.home)]
    seen: set[str] = set()
    followed = 0
    while waiting:
        folder = waiting.pop()
        there = judge.resolve(folder, cwd="/").resolved or folder
        if there in seen or not disk.is_folder(there):
            continue
        seen.add(there)
        found = disk.unusual_below(there, _MOST_NAMES)
        links = [f"{folder}/{name}" for name, is_link in found or () if is_link]
        followed += len(links)
        if found is None or followed > _MOST_LINKS:
            ruled = judge.may_hold_ruled("/", cwd="/")
            if ruled is not None:
                yield _too_many(path, ruled)
            return
        for link in links:
            below = disk.is_folder(link)
            finding = judge.judge_read(link, cwd="/", below=below)
            if finding.floors or finding.deny or finding.ask or finding.requires_ask:
                yield finding
            elif below:
                waiting.append(link)


def _too_many(path: str, ruled: Evidence) -> Finding:
    said = ruled.model_copy(update={"reason": f"`{ruled.rule}` could match what links below `{path}` lead to"})
    return Finding(kind="read", resource=path, category="read", ask=said, in_workspace=False)


PACKAGE_FOLDERS = frozenset({"node_modules", ".venv", "venv"})
"""Folders in which package managers put files and links; what lies there is looked at after the rest."""

_MOST_PACKAGE_LINKS, _MOST_PACKAGE_FOLDERS = 100, 20


def led_to_below(judge: PathJudge, path: str, cwd: str, *, named: bool) -> Iterator[Finding]:
    """Yield what asks of where the links below this folder lead, for a program that may follow them: files of which a
    rule for reading speaks, secrets, and what only a process itself may open. Where there are too many names or links,
    the rest is not looked at. A link with the name of a secret (``app/.env``) that stays in the workspace counts like
    such a file, which is no question of the folder: for rules only where the folder is ``named``. In a folder outside,
    whose links nobody made for this, rules alone count."""
    waiting, seen = [(join(cwd, path, judge.home), False)], set[str]()
    followed = {False: _MOST_LINKS, True: _MOST_PACKAGE_LINKS}
    while waiting:
        folder, of_packages = waiting.pop()
        there = judge.resolve(folder, cwd="/").resolved or folder
        if there in seen or not disk.is_folder(there):
            continue
        seen.add(there)
        inside = judge.zone(judge.resolve(there, cwd="/")) != "outside"
        if not inside and judge.may_hold_ruled("/", cwd="/") is None:
            continue
        links, packages = disk.combined(_links_and_packages, (there, of_packages))
        followed[of_packages] -= len(links)
        waiting[:0] = [(f"{folder}/{name}", True) for name in packages[:_MOST_PACKAGE_FOLDERS] if inside]
        for name in links if followed[of_packages] >= 0 else ():
            link = f"{folder}/{name}"
            below = disk.is_folder(link)
            finding = judge.judge_read(link, cwd="/", below=below)
            kept = (of_packages or finding.in_workspace) and secret_at(link.rsplit("/", 1)[-1:]) is not None
            ruled = finding.deny is not None or finding.ask is not None
            if (ruled or inside) and not (kept and not named) and _speaks(judge, finding, link, below=below, kept=kept):
                yield finding
            elif below and judge.resolve(link, cwd="/").resolved not in seen:
                waiting.append((link, of_packages))


def _speaks(judge: PathJudge, finding: Finding, link: str, *, below: bool, kept: bool) -> bool:
    """Whether what a link leads to asks: by a rule, as a secret, or as a file of a device's or a process's."""
    if finding.deny or finding.ask:
        return True
    if finding.floors:
        return judge.resolve(link, cwd="/").resolved is not None  # a loop leads nowhere
    if finding.requires_ask is None or finding.auto_lifts or kept:
        return False
    return judge.is_secret(link, cwd="/") not in {None, SHARED} or (below and judge.holds_secret(link, cwd="/"))


def _links_and_packages(asked: tuple[str, bool]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The links below a folder and the folders of packages there, which are not entered; of one of these all links.
    Nothing where there is too much to look at."""
    top, of_packages = asked
    packages: list[str] = []

    def is_left_out(path: str) -> bool:
        name = path.rpartition("/")[2]
        if name in PACKAGE_FOLDERS and not of_packages:
            packages.append(path)
            return not disk.is_link(f"{top}/{path}")
        return name == ".git"

    try:
        below = list(walk(top, lambda folder: disk.entries_in(folder) or (), _MOST_NAMES, leaves_out=is_left_out))
    except TooMuchError:
        return (), tuple(packages)
    return tuple(sorted(path for path, is_folder in below if is_folder is None)), tuple(packages)
