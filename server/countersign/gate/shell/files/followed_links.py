"""Symlinks below a folder that a command reads wholly while it follows links (``grep -R``, ``cp -rL``, ``tar -h``).

Where each leads is judged like a path that the words name, as the disk is now, and what lies behind a link to a folder
as well. Where there are too many names, a rule for reading asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from countersign.gate.finding import Finding
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
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
