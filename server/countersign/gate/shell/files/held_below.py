"""Protected places (docs/gate.md P4) that a command touches without naming them: below a folder whose content it
changes (``chmod -R``), or below one that it copies or moves, by the names that they get where it goes. A copy also
writes through the links that stand where it puts a file.

The folder is walked as the disk is now, within a bound. Only names that may be protected are looked at more closely.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

from countersign.gate.finding import Finding
from countersign.gate.paths.path_evidence import ask_floor
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.resolve import Resolved
from countersign.gate.paths.sensitive_paths import SECOND_PROTECTED, may_be_protected, secret_name
from countersign.gate.probes import disk
from countersign.gate.shell.files.bounded_walk import TooMuchError, walk
from countersign.gate.shell.files.word_values import join
from countersign.wire.verdicts import Evidence

MOST_BELOW = 20_000
"""Names below one folder that are looked at."""
_MOST_FOUND = 5
"""Protected places of one folder that are named."""
_MOST_LINKS = 500
"""Links below a target that are looked at more closely."""
_NOT_ENTERED = frozenset({".git"})
"""Folders that are protected as a whole, however many files lie there."""


_PASSED_OVER = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})
"""Folders that formatters pass over."""


def protected_below(judge: PathJudge, folder: str, *, cwd: str, follows: bool) -> Iterator[Finding]:
    """Yield a finding that asks for each protected place below a folder whose content is changed."""
    resolved = judge.resolve(folder, cwd=cwd)
    if judge.is_root(resolved):
        yield _asked(judge, folder, cwd, "the workspace itself holds protected places")
        return
    if resolved.kind != "folder":
        return
    yield from _protected_in(judge, folder, resolved, cwd, follows=follows)


def rewritten_below(judge: PathJudge, folder: str, *, cwd: str) -> Iterator[Finding]:
    """Yield a finding that asks for each protected place below a folder whose files a formatter rewrites. Below the
    workspace as a whole there always are some, which no formatter knows."""
    resolved = judge.resolve(folder, cwd=cwd)
    if resolved.kind == "folder" and not judge.is_root(resolved):
        yield from _protected_in(judge, folder, resolved, cwd, passed_over=_PASSED_OVER)


def left_out_below(judge: PathJudge, folder: str, *, cwd: str) -> Iterator[Finding]:
    """Yield a finding that asks for a folder that formatters pass over, below one in which options take it in."""
    resolved = judge.resolve(folder, cwd=cwd)
    if resolved.kind != "folder":
        return
    names = disk.combined(_left_out, resolved.resolved or resolved.lexical)
    if names is None:
        yield _asked(judge, folder, cwd, f"more than {MOST_BELOW} names of files are too many to check")
    elif names:
        yield _asked(judge, folder, cwd, f"its options also choose files in `{names[0]}`")


def _left_out(top: str) -> tuple[str, ...] | None:
    """The name of the first such folder; None if there is too much to look at."""
    try:
        below = (path.rpartition("/")[2] for path, _ in walk(top, disk.entries_in, MOST_BELOW))
        return tuple(itertools.islice((name for name in below if name in _PASSED_OVER), 1))
    except TooMuchError:
        return None


def secrets_below(judge: PathJudge, folder: str, cwd: str) -> Iterator[Finding]:
    """Yield what asks of the first secrets below a folder. Where there is too much to look at, nothing does."""
    resolved = judge.resolve(folder, cwd=cwd)
    if resolved.kind == "folder":
        for name in disk.combined(_secrets, resolved.resolved or resolved.lexical):
            yield judge.judge_read(f"{folder.rstrip('/')}/{name}", cwd=cwd)


def _secrets(top: str) -> tuple[str, ...]:
    try:
        below = [path for path, _ in walk(top, disk.entries_in, MOST_BELOW, leaves_out=_NOT_ENTERED.__contains__)]
    except TooMuchError:
        return ()
    return tuple(sorted(path for path in below if secret_name(path.rpartition("/")[2]) is not None))[:_MOST_FOUND]


def _protected_in(
    judge: PathJudge,
    folder: str,
    resolved: Resolved,
    cwd: str,
    *,
    follows: bool = False,
    passed_over: frozenset[str] = frozenset(),
) -> Iterator[Finding]:
    below = _names_below(resolved.resolved or resolved.lexical, follows=follows, passed_over=passed_over)
    if below is None:
        yield _asked(judge, folder, cwd, f"more than {MOST_BELOW} names of files are too many to check")
        return
    yield from _protected(judge, [f"{folder.rstrip('/') or '/'}/{name}" for name in below], cwd)


def brought_below(judge: PathJudge, source: str, target: str, *, cwd: str, follows: bool) -> Iterator[Finding]:
    """Yield a finding that asks for each protected place that a copy or a move of a folder makes below its target."""
    resolved = judge.resolve(source, cwd=cwd)
    if resolved.kind not in ("folder", "missing"):
        return
    # Where nothing is yet, an earlier command of the text may make any name that is protected in such a place.
    below = SECOND_PROTECTED
    if resolved.kind == "folder":
        if judge.is_root(resolved) and judge.resolve(target, cwd=cwd).kind != "file":
            yield _asked(judge, target, cwd, "the workspace itself holds protected places")
            return
        below = _names_below(resolved.resolved or resolved.lexical, follows=follows)
    if below is None:
        yield _asked(judge, target, cwd, f"more than {MOST_BELOW} names of files are too many to check")
        return
    front = source.rstrip("/") or "/"
    below += tuple(name for name in SECOND_PROTECTED if judge.may_be_made(judge.resolve(f"{front}/{name}", cwd=cwd)))
    base = os.path.basename(os.path.normpath(join(cwd, source, judge.home)))
    there = target.rstrip("/") or "/"
    yield from _protected(judge, [f"{front}/{name}" for front in (there, f"{there}/{base}") for name in below], cwd)


def copied_over_links(judge: PathJudge, source: str, target: str, *, cwd: str) -> Iterator[Finding]:
    """Yield what asks, or is forbidden, of the links, hard ones too, through which a copy of a folder may write below
    its target: those that stand where the source has something, or all of them where earlier commands of the text may
    have put more into the source."""
    resolved = judge.resolve(source, cwd=cwd)
    if resolved.kind not in ("folder", "missing"):
        return
    known = resolved.kind == "folder" and not judge.expects_changes
    base = os.path.basename(os.path.normpath(join(cwd, source, judge.home)))
    front = target.rstrip("/") or "/"
    for folder in (front, f"{front}/{base}"):
        yield from _met_links(judge, resolved.resolved or resolved.lexical if known else None, folder, cwd)


def through_links_below(judge: PathJudge, found: Finding, target: str, *, cwd: str) -> Finding:
    """What was found of a folder, or the strictest of the links below it, hard ones too, through which files of unknown
    names may be written there. The workspace as a whole asks in any case."""
    folder = target.rstrip("/") or "/"
    there = judge.resolve(folder, cwd=cwd)
    if there.kind != "folder" or judge.is_root(there):
        return found
    met = disk.combined(_links_met, (None, there.resolved or there.lexical))
    if met is None or len(met) > _MOST_LINKS:
        reason = f"more than {_MOST_LINKS} links there are too many to check"
        if met is None:
            reason = f"more than {MOST_BELOW} names of files are too many to check"
        return found._replace(requires_ask=found.requires_ask or Evidence(source="default", reason=reason))
    for name in met:
        if found.floors or found.deny or found.ask:
            break
        each = judge.judge_write(f"{folder}/{name}", cwd=cwd)
        if not (each.deny or each.ask) and judge.resolve(f"{folder}/{name}", cwd=cwd).kind == "folder":
            each = each._replace(ask=judge.may_hold_edited(f"{folder}/{name}", None, cwd=cwd))
        if each.floors or each.deny or each.ask or each.asks_beyond(found):
            found = each
    return found


def _met_links(judge: PathJudge, source: str | None, target: str, cwd: str) -> Iterator[Finding]:
    there = judge.resolve(target, cwd=cwd)
    if there.kind != "folder":
        return
    met = disk.combined(_links_met, (source, there.resolved or there.lexical))
    if met is None:
        yield _asked(judge, target, cwd, f"more than {MOST_BELOW} names of files are too many to check")
    elif len(met) > _MOST_LINKS:
        yield _asked(judge, target, cwd, f"more than {_MOST_LINKS} links there are too many to check")
    for name in (met or ())[:_MOST_LINKS]:
        found = judge.judge_write(f"{target}/{name}", cwd=cwd)
        if found.floors or found.deny or found.ask or found.requires_ask:
            yield found


def _links_met(asked: tuple[str | None, str]) -> tuple[str, ...] | None:
    source, target = asked

    def is_left_out(path: str) -> bool:
        name = path.rpartition("/")[2]
        return name in _NOT_ENTERED or (source is not None and not disk.is_there(f"{source}/{path}"))

    try:
        below = list(walk(target, disk.single_entries_in, MOST_BELOW, leaves_out=is_left_out))
    except TooMuchError:
        return None
    return tuple(sorted(path for path, is_folder in below if is_folder is None))


def covered_below(judge: PathJudge, found: Finding, folder: str, *, cwd: str) -> Finding:
    """What was found of a folder in which files are rewritten, with the rule or grant that covers all that lies in it
    (``Edit(src/**)``), unless something there is protected or leads elsewhere."""
    resolved = judge.resolve(folder, cwd=cwd)
    if found.allow or found.floors or found.deny or found.ask or found.requires_ask or resolved.kind != "folder":
        return found
    inside = [judge.judge_write(f"{folder.rstrip('/')}/{name}", cwd=cwd) for name in _ANY_NAMES]
    if not all(each.allow and not (each.floors or each.deny or each.ask) for each in inside):
        return found
    if judge.is_root(resolved) or next(rewritten_below(judge, folder, cwd=cwd), None) is not None:
        return found
    unusual = disk.unusual_below(resolved.resolved or resolved.lexical, MOST_BELOW)
    if unusual is None or any(is_link and _PASSED_OVER.isdisjoint(path.split("/")) for path, is_link in unusual):
        return found
    return found._replace(allow=inside[0].allow, near_miss_reason=None)


_ANY_NAMES = ("zzz", "zzz/zzz.zzz", ".zzz/zzz")
"""Names for which only a rule stands that covers all below a folder."""


def _protected(judge: PathJudge, paths: list[str], cwd: str) -> Iterator[Finding]:
    left = _MOST_FOUND
    for path in paths:
        if judge.is_protected(path, cwd=cwd) is not None:
            yield judge.judge_write(path, cwd=cwd)
            left -= 1
            if not left:
                return


def _asked(judge: PathJudge, path: str, cwd: str, reason: str) -> Finding:
    found = judge.judge_write(path, cwd=cwd)
    return found._replace(floors=(*found.floors, ask_floor(reason)))


def _names_below(folder: str, *, follows: bool, passed_over: frozenset[str] = frozenset()) -> tuple[str, ...] | None:
    """The paths below a folder whose last name may be protected; None if not all of them can be looked at."""
    return disk.combined(_walked, (folder, follows, passed_over))


def _walked(asked: tuple[str, bool, frozenset[str]]) -> tuple[str, ...] | None:
    top, follows, passed_over = asked
    found: list[str] = []
    waiting, left = [""], MOST_BELOW
    while waiting:
        front = waiting.pop()
        entries = disk.entries_in(f"{top}/{front}" if front else top)
        if entries is None:
            return None
        left -= len(entries)
        if left < 0:
            return None
        for name, is_folder in entries:
            path = f"{front}/{name}" if front else name
            if name in passed_over:
                continue
            if may_be_protected(name):
                found.append(path)
            entered = is_folder or (is_folder is None and follows and disk.is_folder(f"{top}/{path}"))
            if entered and name not in _NOT_ENTERED:
                waiting.append(path)
    return tuple(sorted(found))
