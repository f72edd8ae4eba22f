"""From the words that name files to findings about them: where a word leads, from each place where it may count.

Patterns are looked up on the disk as it is now, and compared with the names that are protected or secret, so that no
spelling of one goes by. What is not known before it runs is never taken for harmless. More than 500 lines, because each
way to touch a file is one more case of the same look.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from countersign.gate.finding import Finding, Floor
from countersign.gate.paths.path_evidence import ask_floor
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.resolve import MOST_PARTS
from countersign.gate.paths.sensitive_paths import (
    HOLDING_PROTECTED,
    PROTECTED,
    SECOND_PROTECTED,
    SECRET_IN_HOME,
    SECRET_SAMPLES,
    protected_reason,
)
from countersign.gate.paths.socket_places import holds_sockets
from countersign.gate.patterns import escape_glob, fold, glob_segment, is_exact, unescape_glob
from countersign.gate.probes import disk
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.files.followed_links import behind_links
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.files.git_index import holds_unmerged
from countersign.gate.shell.files.git_refs import all_name_commits, names_file, takes_for_paths
from countersign.gate.shell.files.git_repository import may_be_refused, may_be_set
from countersign.gate.shell.files.held_below import (
    brought_below,
    copied_over_links,
    covered_below,
    left_out_below,
    protected_below,
    rewritten_below,
    secrets_below,
    through_links_below,
)
from countersign.gate.shell.files.listed_names import ListedNames
from countersign.gate.shell.files.program_globs import has_groups, without_groups
from countersign.gate.shell.files.spelled_names import (
    any_name_matches,
    first_spelled,
    may_be_protected,
    may_be_secret,
    secret_form,
    segments_match,
)
from countersign.gate.shell.files.unfinished_names import reason_to_ask, rules_for_folders
from countersign.gate.shell.files.word_values import (
    join,
    kernel_path,
    literal,
    made_below,
    matching_paths,
    meaning,
    plain_path,
)
from countersign.gate.shell.languages.git_pathspec import has_wildcard
from countersign.gate.shell.syntax.tree import Process, Text, Variable, Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.bindings import Facts
from countersign.wire.verdicts import Evidence

_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
"""Names of streams with their descriptors."""
_DESCRIPTOR = re.compile(r"/dev/fd/(\d+)")

MAX_MATCHES = 500
"""How many names a pattern may make before its matches are no longer looked at one by one, but asked for."""

_HOME_SECRETS = tuple("/".join(names) for names in SECRET_IN_HOME) + tuple(
    "/".join((*names, "\x00")) for names in SECRET_IN_HOME
)
_PROTECTED_NAMES = tuple(
    "/".join((*names, *below))
    for names in PROTECTED
    for below in ((), ("\x00",))
    if not names[0].startswith(("opencode", "mise."))  # too ordinary to suspect behind every `*.json`; the disk tells
)


_SECONDS = frozenset(SECOND_PROTECTED)


def _asking(found: Finding, reason: str) -> Finding:
    """The finding of what may be a secret: no mode and no rule for a command answers for it."""
    said = Evidence(source="default", reason=reason)
    return found._replace(requires_ask=said, auto_lifts=False, bypassable=False, known_read=False)


def moved_places(places: Sequence[str] | None, by: Sequence[Word] | None, judge: PathJudge) -> list[str] | None:
    """Where what a wrapper runs would run, from where the wrapper does; None if that is not known, or if a link on the
    way leads elsewhere than the name says."""
    if places is None or by is None:
        return None
    found = list(places)
    for word in by:
        path = literal(word)
        moved = [join(place, path, judge.home) for place in found]
        if any(kernel_path(place, path, judge) != there for place, there in zip(found, moved, strict=True)):
            return None
        found = moved
    return found


# --- findings --------------------------------------------------------------------------------------------------------


def folders_above(folder: str, workspace: str) -> list[str]:
    """The folders from this one up to the workspace: the top of a repository is one of them. Of too many only this one,
    below which no path may be used."""
    found = [folder]
    if folder.count("/") > MOST_PARTS:
        return found
    while found[-1] != workspace and f"{found[-1]}/".startswith(f"{workspace}/"):
        found.append(os.path.dirname(found[-1]))
    return found


class PathFinder:
    """Makes findings of touches for one command in one place (or in no known one)."""

    def __init__(self, judge: PathJudge, facts: Facts, folder: str | None) -> None:
        self.judge, self.facts, self.folder = judge, facts, folder

    def look(self, file_use: FileUse) -> Iterator[Finding]:
        """The findings of one touch. The first of each stands for the word as a whole."""
        found = self._look(file_use)
        if file_use.listing is not None:
            found = iter((*found, *ListedNames(self.judge, self.folder).look(file_use.word, file_use.listing)))
        if file_use.found:
            # A folder outside may hold a secret that the listing chooses, so nothing lifts what asks there.
            found = (finding._replace(known_read=False, auto_lifts=False) for finding in found)
        return (finding for finding in found if not _is_harmless(finding)) if file_use.doubtful else found

    def _look(self, file_use: FileUse) -> Iterator[Finding]:
        if file_use.word.value == "-" and file_use.operation in ("read", "list"):
            yield from self._named_by_dash(file_use)
            return
        if file_use.start:
            yield from self._gone_into(file_use.start)._look(file_use._replace(start=()))
            return
        if file_use.shown:
            yield from self._shown(file_use)
            return
        if file_use.top and self.folder is not None:
            for place in folders_above(self.folder, self.judge.workspace):
                yield from PathFinder(self.judge, self.facts, place)._look(file_use._replace(top=False))
            return
        if len(file_use.word.pieces) == 1 and isinstance(file_use.word.pieces[0], Process):
            return  # a pipe; what stands in it is a command of its own
        found = meaning(file_use.word, self.facts, self.judge.home, self.folder)
        for value in found.values:
            for path in self._and_folder_tilde(value):
                yield from self._value(file_use, path)
        for pattern in found.patterns:
            for path in self._and_folder_tilde(pattern):
                yield from self._pattern(file_use, path)
        if not found.complete and not file_use.listed:
            yield self._unknown(file_use)

    def _and_folder_tilde(self, path: str) -> tuple[str, ...]:
        """A path in the home, and where a folder here is named ``~``, also that one: the tilde may be quoted, or in
        a word that bash does not expand (``@~/x``)."""
        if (
            not path.startswith("~/")
            or self.judge.resolve("./~", cwd=self.folder or self.judge.workspace).kind == "missing"
        ):
            return (path,)
        return path, f"./{path}"

    def _value(self, file_use: FileUse, value: str) -> Iterator[Finding]:
        if self._is_stream(file_use, value):
            return
        if value == "" and file_use.operation not in ("read", "list"):
            yield self._unknown(file_use, "''")
            return
        if value == "":
            value = "."
        if self.folder is None and not value.startswith(("/", "~/")):
            judge = self.judge
            nearby = [
                self._one(file_use, value, judge.workspace),
                self._one(file_use._replace(below=False), value, judge.home),
            ]
            # If `cd` fails, the text goes on where it started: only there a deny rule surely matches.
            nearby[1] = nearby[1]._replace(deny=None, ask=nearby[1].deny or nearby[1].ask)
            yield self._somewhere(file_use, value, nearby)
            return
        cwd = self.folder or self.judge.workspace
        if file_use.if_there:
            there = self.judge.resolve(value, cwd=cwd)
            if there.kind == "missing" and not there.between:  # behind a link, a new file may lie anywhere
                return
            if there.refused is not None and "/" not in value and disk.path_stat(f"{cwd}/{value}") in disk.MISSING:
                return  # a tab is what `cut -d` splits at
        yield self._one(file_use, value, cwd)
        if file_use.through and file_use.operation == "read":
            yield from behind_links(self.judge, value, cwd)
        if file_use.backed_up:
            yield from secrets_below(self.judge, value, cwd)
        yield from self._held_below(file_use, value, cwd)

    def _named_by_dash(self, file_use: FileUse) -> Iterator[Finding]:
        """The input for most programs, and for others a file of this name, where there may be one."""
        named = self.judge.resolve("./-", cwd=self.folder or self.judge.workspace)
        if named.kind != "missing" or self.judge.expects_links(named, exactly=True):
            yield from self._value(file_use, "./-")

    def _is_stream(self, file_use: FileUse, value: str) -> bool:
        """Whether a path stands for what is open already, and was judged as it was opened. Linux opens a file behind a
        descriptor anew, whatever it was opened for: the name of an input writes into it."""
        if value in {"/dev/null", "/dev/zero"}:
            return True
        found = _DESCRIPTOR.fullmatch(value)
        number = int(found[1]) if found else _STREAMS.get(value)
        if number is None or file_use.operation == "list":
            return number is not None
        reads = file_use.operation == "read"
        fits = number == 0 and not file_use.below if reads else number in {1, 2}
        return fits and not self.judge.descriptors_moved

    def _held_below(self, file_use: FileUse, value: str, cwd: str) -> Iterator[Finding]:
        """Protected places that are changed below a folder, or made there by a copy of another."""
        if file_use.whole:
            yield from protected_below(self.judge, value, cwd=cwd, follows=file_use.through)
        if file_use.content:
            yield from rewritten_below(self.judge, value, cwd=cwd)
        if file_use.content and file_use.whole:
            yield from left_out_below(self.judge, value, cwd=cwd)
        if file_use.brought is None:
            return
        meant = meaning(file_use.brought, self.facts, self.judge.home, self.folder)
        sources = [*meant.values]
        for pattern in meant.patterns:
            matches = self._matches(pattern, cwd)
            if matches is None:
                yield self._unknown(FileUse("write", file_use.brought))
            sources += matches or (plain_path(pattern),)
        if not meant.complete:
            yield self._unknown(FileUse("write", file_use.brought))
        if self.folder is None and not all(each.startswith(("/", "~/")) for each in (*meant.values, *meant.patterns)):
            # What lies there is not known, so neither is what is written by its names, or through its links later.
            yield self._unknown(FileUse("write", file_use.brought))
        for source in dict.fromkeys(sources):
            yield from self._written_from(file_use, source, value, cwd)
            yield from brought_below(self.judge, source, value, cwd=cwd, follows=file_use.through)
            if file_use.copied:
                yield from copied_over_links(self.judge, source, value, cwd=cwd)

    def _written_from(self, file_use: FileUse, source: str, value: str, cwd: str) -> Iterator[Finding]:
        """What asks, or is forbidden, below the place where a folder is copied or moved to: by rules, and where earlier
        commands may have put files into it, under names that are not known."""
        resolved, target = self.judge.resolve(source, cwd=cwd), self.judge.resolve(value, cwd=cwd)
        places = [] if target.kind == "folder" else [value]
        if self._may_be_folder(value, cwd):
            name = os.path.basename(os.path.normpath(join(cwd, source, self.judge.home)))
            places.append(f"{value.rstrip('/')}/{name}")
        unknown = self.judge.expects_changes and (resolved.kind == "missing" or self.judge.may_be_filled(resolved))
        for there in places if unknown else ():
            found = self.judge.judge_write(there, cwd=cwd, follows=not file_use.unfollowed)
            if file_use.copied and not found.floors:
                found = through_links_below(self.judge, found, there, cwd=cwd)
            found = self._with_unknown_names(found, there, cwd)
            if found.floors or found.deny or found.ask or found.requires_ask:
                yield found
        for there in places if resolved.kind == "folder" and not unknown else ():
            ruled = self.judge.may_hold_edited(there, None, cwd=cwd)
            if ruled is not None:
                yield self.judge.judge_write(there, cwd=cwd)._replace(ask=ruled)

    def _one(self, file_use: FileUse, value: str, cwd: str) -> Finding:
        return (
            self._read(file_use, value, cwd)
            if file_use.operation in ("read", "list")
            else self._write(file_use, value, cwd)
        )

    def _somewhere(self, file_use: FileUse, source: str, nearby: Sequence[Finding]) -> Finding:
        """A relative name in a folder that is not known: what is said of the name itself, in the workspace and in the
        home, counts wherever it lies; what would allow it does not."""
        found = self._unknown(file_use, source)
        if found.kind == "read":
            found = found._replace(requires_ask=None)  # its name is known, and no secret's if no name asks
        secret = None
        if file_use.operation == "read":
            secret = next((said.requires_ask for said in nearby if said.requires_ask and not said.auto_lifts), None)
        return found._replace(
            floors=tuple(dict.fromkeys(floor for said in nearby for floor in said.floors)),
            deny=next((said.deny for said in nearby if said.deny), None),
            ask=next((said.ask for said in nearby if said.ask), found.ask),
            requires_ask=found.requires_ask or secret,
            bypassable=found.bypassable and secret is None,
        )

    def _read(self, file_use: FileUse, value: str, cwd: str) -> Finding:
        if file_use.sockets and holds_sockets(self.judge.resolve(value, cwd=cwd), self.judge.home):
            return self.judge.judge_write(value, cwd=cwd)
        finding = self.judge.judge_read(value, cwd=cwd, below=file_use.below, follows=not file_use.unfollowed)
        moved = self.judge.is_moved(self.judge.resolve(value, cwd=cwd))
        if file_use.operation == "list" and finding.requires_ask is not None and finding.in_workspace and not moved:
            # Looking at a secret's name, size or date does not read it.
            finding = finding._replace(requires_ask=None, known_read=not finding.floors)
        return finding

    def _write(self, file_use: FileUse, value: str, cwd: str) -> Finding:
        operation = file_use.operation if file_use.operation in ("delete", "move") else "edit"
        if file_use.sources is not None:
            return self._into_by_sources(file_use, file_use.sources, value, cwd)
        if file_use.into is not None:
            return self._into(file_use, value, cwd)
        finding = self.judge.judge_write(value, cwd=cwd, operation=operation, follows=not file_use.unfollowed)
        if file_use.holder:
            named = self._named_like_a_holder(value, cwd)
            return finding if named is None else finding._replace(floors=(*finding.floors, ask_floor(named)))
        if file_use.content:
            finding = covered_below(self.judge, finding, value, cwd=cwd)
        if file_use.unknown_names and not file_use.unfollowed:
            finding = self.judge.with_spilled(finding, value, cwd=cwd)
            finding = through_links_below(self.judge, finding, value, cwd=cwd)
        if file_use.unknown_names:
            return self._with_unknown_names(finding, value, cwd)
        return self._with_rules_below(finding, value, cwd) if file_use.below and operation == "edit" else finding

    def _with_unknown_names(self, finding: Finding, value: str, cwd: str) -> Finding:
        """What is written below a folder under names that are not known."""
        if os.path.normpath(join(cwd, value, self.judge.home)) == os.path.normpath(self.judge.workspace):
            if not (finding.floors or (finding.requires_ask and not finding.auto_lifts)):
                reason = "unknown names are written there, and the workspace itself holds protected places"
                finding = finding._replace(requires_ask=Evidence(source="default", reason=reason), auto_lifts=False)
        elif not finding.floors and (held := self._holds_protected(value, cwd)) is not None:
            floor = ask_floor(f"unknown names are written there, and {held}")
            finding = finding._replace(floors=(*finding.floors, floor))
        return self._with_rules_below(finding, value, cwd)

    def _with_brought_names(self, finding: Finding, pattern: str, value: str, cwd: str) -> Finding:
        """What was found of a folder, or of a protected name there that a pattern may match by then."""
        for name in SECOND_PROTECTED:
            there = f"{value.rstrip('/')}/{name}"
            if glob_segment(pattern).may_match_any_case(name) and self.judge.is_protected(there, cwd=cwd) is not None:
                return self.judge.judge_write(there, cwd=cwd)
        return finding

    def _through_links_in(self, finding: Finding, value: str, cwd: str) -> Finding:
        """The strictest of what was found of a folder and of the links that lie in it, hard ones too: a file of unknown
        name may be copied over one, and is written through it then."""
        folder = self.judge.resolve(value, cwd=cwd)
        entries = disk.single_entries_in(folder.resolved or folder.lexical) if folder.kind == "folder" else ()
        if entries is None:
            return _too_many(finding)
        links = [name for name, is_folder in entries if is_folder is None]
        for name in links[:MAX_MATCHES] if not (finding.floors or finding.deny or finding.ask) else ():
            found = self.judge.judge_write(f"{value.rstrip('/')}/{name}", cwd=cwd)
            if found.floors or found.deny or found.ask:
                return found
            if found.asks_beyond(finding):
                finding = found
        return finding

    def _with_rules_below(self, finding: Finding, value: str, cwd: str) -> Finding:
        """With the rule for editing that could match what is written below a folder, under names that are not known."""
        if finding.deny or finding.ask:
            return finding
        return finding._replace(ask=self.judge.may_hold_edited(value, None, cwd=cwd))

    def _into_by_sources(self, file_use: FileUse, sources: Word, value: str, cwd: str) -> Finding:
        """What is copied into a folder under the names that a word has or matches: the strictest of their findings."""
        whole = self._into(file_use, value, cwd)
        meant = meaning(sources, self.facts, self.judge.home, self.folder)
        matched = [self._matches(pattern, cwd) for pattern in meant.patterns]
        if (not meant.complete or None in matched) and self._may_be_folder(value, cwd):
            whole = self._with_unknown_names(self._through_links_in(whole, value, cwd), value, cwd)
        unmatched = [pattern for pattern, some in zip(meant.patterns, matched, strict=True) if not some]
        for pattern in unmatched if self._may_be_folder(value, cwd) and not (whole.deny or whole.ask) else ():
            # An earlier command of the text may make what it matches.
            name = pattern.rstrip("/").rsplit("/", 1)[-1]
            whole = whole._replace(ask=whole.ask or self.judge.may_hold_edited(value, [name], cwd=cwd))
            if self.judge.expects_changes and not (whole.ask or whole.floors):
                whole = self._through_links_in(self._with_brought_names(whole, name, value, cwd), value, cwd)
        paths = (*meant.values, *(match for some in matched for match in some or ()))
        names = [made_below(path) if file_use.parents else path.rstrip("/").rsplit("/", 1)[-1] for path in paths]
        for name in dict.fromkeys(names):
            if whole.floors or whole.deny or whole.ask:
                return whole
            found = self._into(file_use._replace(into=name), value, cwd)
            if found.floors or found.deny or found.ask or found.asks_beyond(whole):
                whole = found
        return whole

    def _into(self, file_use: FileUse, value: str, cwd: str) -> Finding:
        """What is copied into a folder gets a name of its own there."""
        whole = self.judge.resolve(value, cwd=cwd)
        brought = not file_use.unfollowed and self.judge.may_hold_links(whole)
        if file_use.into in {None, "", "*", ".", ".."} or not (brought or self._may_be_folder(value, cwd)):
            target = self.judge.judge_write(value, cwd=cwd, follows=not file_use.unfollowed)
            return self.judge.with_met_links(target, value, ("*",), cwd=cwd, follows=True) if brought else target
        if whole.resolved != whole.lexical:
            # `ln -sfn` and `mv -T` replace a symlink to a folder instead of going into it.
            replaced = self.judge.judge_write(value, cwd=cwd)
            if replaced.floors:
                return replaced
        there = f"{value.rstrip('/') or '/'}/{file_use.into}"
        finding = self.judge.judge_write(there, cwd=cwd, follows=whole.kind == "folder" or not file_use.unfollowed)
        # A folder that is copied into one of its name changes files below that.
        if brought:
            finding = self.judge.with_met_links(finding, there, ("*",), cwd=cwd, follows=True)
        if whole.kind != "folder" and not (finding.floors or finding.deny or finding.ask):
            # It may become a file of this name as well.
            itself = self.judge.judge_write(value, cwd=cwd, follows=not file_use.unfollowed)
            stricter = itself.floors or itself.deny or itself.ask or itself.asks_beyond(finding)
            if finding.requires_ask is None or stricter:
                finding = itself
        merged = self.judge.resolve(there, cwd=cwd).kind == "folder"
        return self._with_rules_below(finding, there, cwd) if merged else finding

    def _may_be_folder(self, value: str, cwd: str) -> bool:
        """Whether a path is a folder, is spelled as one, or may be made one by an earlier command of the text."""
        if value.endswith("/") or value.rstrip("/").rsplit("/", 1)[-1] in {".", "..", "~"}:
            return True
        resolved = self.judge.resolve(value, cwd=cwd)
        return resolved.kind == "folder" or self.judge.may_be_made(resolved)

    def _holds_protected(self, value: str, cwd: str) -> str | None:
        """Why nothing may be written into a folder under unknown names, if it may not."""
        resolved = self.judge.resolve(value, cwd=cwd)
        for name in disk.names_in(resolved.resolved or resolved.lexical):
            reason = self.judge.is_protected(f"{value.rstrip('/')}/{name}", cwd=cwd)
            if reason is not None:
                return f"`{name}` there is protected"
        return self._named_like_a_holder(value, cwd)

    def _named_like_a_holder(self, value: str, cwd: str) -> str | None:
        """Why unknown names may not be written into a folder called so, whatever lies there now, if they may not."""
        resolved = self.judge.resolve(value, cwd=cwd)
        named = [
            HOLDING_PROTECTED.get(fold(os.path.basename(spelling.rstrip("/")))) for spelling in resolved.spellings()
        ]
        held = next(filter(None, named), None)
        return None if held is None else f"`{held}` there would be protected"

    def _pattern(self, file_use: FileUse, pattern: str) -> Iterator[Finding]:
        """A pathname pattern: the folder that it surely lies in, what it matches now, and what it could match."""
        fixed = _fixed_folder(pattern)
        if self.folder is None and not pattern.startswith(("/", "~/")):
            there = PathFinder(self.judge, self.facts, self.judge.workspace)
            found = self._somewhere(file_use, pattern, list(there._pattern(file_use, pattern)))
            if file_use.operation == "read" and may_be_secret(pattern):
                found = _asking(found, f"`{pattern}` could match a secret, in a folder that is not known")
            yield found
            return
        cwd = self.folder or self.judge.workspace
        reading = file_use.operation in ("read", "list")
        if reading:
            whole = self.judge.judge_read(fixed, cwd=cwd, below=file_use.operation == "read")
            if whole.ask is not None and file_use.operation == "read" and not file_use.below:
                # Not all that lies there counts, but what the pattern may turn into.
                whole = self._of_pattern(whole, pattern, fixed, cwd)
            if file_use.operation == "list" and whole.in_workspace:
                whole = whole._replace(requires_ask=None, known_read=not whole.floors)
        elif _takes_all(pattern):
            whole = self.judge.judge_write(
                fixed, cwd=cwd, operation="delete" if file_use.operation == "delete" else "edit"
            )
        else:
            whole = self.judge.judge_write(f"{fixed.rstrip('/')}/zzz", cwd=cwd)
            whole = whole._replace(resource=os.path.dirname(whole.resource))
        whole = whole._replace(resource=f"{whole.resource} ({pattern})")
        risky = self._could_be(pattern, cwd, reading=reading, standing=file_use.standing)
        lifted = whole.requires_ask is None or whole.auto_lifts
        if risky is not None and lifted and not (reading and file_use.operation == "list"):
            whole = whole._replace(
                requires_ask=Evidence(source="default", reason=risky), known_read=False, auto_lifts=False
            )
        parts = [part for part in _below_fixed(pattern) if part]
        follows = file_use.operation not in ("delete", "move") or pattern.endswith("/")
        yield self.judge.with_met_links(whole, fixed, parts, cwd=cwd, follows=follows)
        matches = self._matches(pattern, cwd)
        if matches is None:
            yield _too_many(whole)
            return
        brought = file_use.operation == "read" and self.judge.may_be_filled(self.judge.resolve(fixed, cwd=cwd))
        if brought and not file_use.standing and may_be_secret(pattern):
            yield _asking(whole, f"`{pattern}` could match a secret that an earlier command brings")
        varies = not reading and any(isinstance(piece, Variable) for piece in file_use.word.pieces)
        may_be_new = self.judge.expects_changes and not _SECONDS.isdisjoint(map(fold, pattern.split("/")))
        anew = varies and (may_be_new or self._names_anew(file_use.word))
        if anew and may_be_protected(pattern):
            floor = Floor("ask", Evidence(source="floor", reason=f"`{pattern}` could match a protected name"))
            yield whole._replace(floors=(*whole.floors, floor))
        if varies:
            made = self._made_behind(pattern, cwd)
            if made is None:
                yield _too_many(whole)
                return
            matches = tuple(dict.fromkeys((*matches, *made)))
            ruled = self.judge.may_hold_edited(fixed, parts, cwd=cwd)
            if ruled is not None:
                yield whole._replace(ask=whole.ask or ruled)
        # What matches nothing stays as it is written, which may well be a name (`app/[slug]/page.tsx`).
        if file_use.operation == "list" and glob_segment(pattern.rsplit("/", 1)[-1]).literal is None:
            # Only bash before 5.2 takes `.*` for these as well, and then shows no more than names.
            matches = tuple(match for match in matches if match.rsplit("/", 1)[-1] not in {".", ".."})
        spelled = () if matches and is_exact(pattern) else (plain_path(pattern),)
        for match in (*matches, *spelled):
            found = self._read(file_use, match, cwd) if reading else self._write(file_use, match, cwd)
            if found.floors or found.deny or found.ask or found.requires_ask:
                yield found
            if file_use.through and reading:
                yield from behind_links(self.judge, match, cwd)
            yield from self._held_below(file_use, match, cwd)

    def _names_anew(self, word: Word) -> bool:
        """Whether a word may name what no pattern matches here: its variables hold names that were matched elsewhere,
        or it makes other names of them."""
        pieces = [piece for piece in word.pieces if not isinstance(piece, Text) or piece.text]
        variables = [index for index, piece in enumerate(pieces) if isinstance(piece, Variable)]
        if not variables:
            return False
        behind = pieces[1] if len(pieces) > 1 else None
        keeps = behind is None or (isinstance(behind, Text) and behind.text.startswith("/"))
        return not (variables == [0] and keeps and self.facts.in_one_place)

    def _made_behind(self, pattern: str, cwd: str) -> tuple[str, ...] | None:
        """Names that are made anew where a variable holds one that a pattern matches: bash matches that alone, and what
        stands behind it need not be there (``for d in s*; do touch "$d/new"``). None if these are too many."""
        made: list[str] = []
        segments = pattern.split("/")
        for end in range(1, len(segments) + 1):
            if glob_segment(segments[end - 1]).literal is None:
                found = self._matches("/".join(segments[:end]), cwd)
                if found is None:
                    return None
                rest = [unescape_glob(segment) for segment in segments[end:]]
                made += ["/".join((folder, *rest)) for folder in found]
        return tuple(made)

    def _matches(self, pattern: str, cwd: str) -> tuple[str, ...] | None:
        """What the pattern matches now; None if that is more than is looked at."""
        if pattern.startswith("~/"):
            pattern = f"{escape_glob(self.judge.home)}{pattern[1:]}"
        return matching_paths(pattern, cwd, MAX_MATCHES, self.judge.spent)

    def _could_be(self, pattern: str, cwd: str, *, reading: bool, standing: bool = False) -> str | None:
        """Whether a pattern that spells something out could spell a secret or a protected name."""
        name = first_spelled(pattern, SECRET_SAMPLES if reading else _PROTECTED_NAMES)
        if name is None and reading and not standing:
            name = secret_form(pattern.rstrip("/").rsplit("/", 1)[-1], dots=False, copies=False)
        if name is not None:
            shown = name.replace(chr(0), "…")
            if reading:
                return f"`{pattern}` could be a secret: `{shown}`"
            return f"`{pattern}` could be a protected place: `{shown}`"
        folder = escape_glob(join(cwd, _fixed_folder(pattern), self.judge.home)).rstrip("/")
        absolute = "/".join((folder, *_below_fixed(pattern)))
        samples = (f"{home}/{name}" for home in self.judge.homes for name in _HOME_SECRETS)
        if reading and any(segments_match(absolute, sample) for sample in samples):
            return f"`{pattern}` could be a secret of the home"
        return None

    def _unknown(self, file_use: FileUse, shown: str | None = None) -> Finding:
        """A file whose name is not known before it runs."""
        source = shown or file_use.word.source or "…"
        if file_use.operation in ("read", "list"):
            ruled = self.judge.may_hold_ruled("/", cwd="/") if file_use.operation == "read" else None
            ask = None
            if ruled is not None:
                ask = ruled.model_copy(update={"reason": f"`{ruled.rule}` could match what `{source}` names"})
            said = None
            if file_use.operation == "read":
                reason = f"the file `{source}` is only known at run time and could be a secret"
                said = Evidence(source="default", reason=reason)
            return Finding(
                kind="read", resource=source, category="read", ask=ask, requires_ask=said, in_workspace=False
            )
        reason = f"the path `{source}` is only known at run time and could be anywhere"
        anything = self.judge.judge_write("/", cwd="/", operation="delete")
        ruled = anything.deny or anything.ask
        if ruled is not None:
            ruled = ruled.model_copy(update={"reason": f"`{ruled.rule}` could match what `{source}` names"})
        said = Evidence(source="default", reason=reason)
        floors: tuple[Floor, ...] = ()
        if file_use.operation in ("delete", "move") and file_use.below and self._could_be_root(file_use.word):
            root = Evidence(source="floor", reason=f"the path `{source}` is not known and could be a root")
            floors = (Floor("ask", root),)
        return Finding(kind="write", resource=source, category="write", floors=floors, ask=ruled, requires_ask=said)

    def _could_be_root(self, word: Word) -> bool:
        """Whether a word that is not known could name a root, or what is protected. One that surely ends in names of
        its own (``"$out/build"``) could not, unless a root or a protected place has such a name."""
        text = ""
        for piece in reversed(word.pieces):
            if not isinstance(piece, Text):
                break
            text = piece.text + text
        names = text.rstrip("/").split("/")[1:]
        if word.form != "quoted" or not names or {"", ".", ".."} & set(names):
            return True
        known = {fold(part) for part in self.judge.root_names()}
        return fold(names[-1]) in known | {"root"} or protected_reason(names) is not None

    def _shown(self, file_use: FileUse) -> Iterator[Finding]:
        """An operand of git: a revision or a file. Only what is secret or ruled makes a finding."""
        if file_use.word.value is None:
            yield from self._shown_meanings(file_use)
            return
        spelled = literal(file_use.word)
        cwd = self.folder or self.judge.workspace
        strange = spelled.startswith("-") or "\n" in spelled
        if spelled in {"", "-", "/dev/null"} or (strange and (file_use.free or not file_use.by_git)):
            return
        if takes_for_paths(cwd, self.judge) and any(
            names_file(word.value or "", cwd, self.judge) for word in file_use.unless
        ):
            return
        if file_use.commits:
            found = list(self._shown_path(file_use._replace(commits=()), spelled, cwd, opened_as_spelled=False))
            if found and not all_name_commits(file_use.commits, cwd, self.judge, or_files=file_use.or_files):
                yield from found
            return
        if file_use.setting and not may_be_set(file_use.setting, cwd, self.judge):
            return
        if file_use.without_tree and takes_for_paths(cwd, self.judge):
            return
        if file_use.unmerged and not _holds_unmerged(cwd, self.judge):
            return
        if file_use.refused and not may_be_refused(cwd, self.judge):
            return
        # git takes `x/../` out of a path without a look at `x`, whatever that is called.
        straight = os.path.normpath(spelled) if file_use.by_git and ".." in spelled.split("/") else spelled
        if straight != spelled:
            yield from self._shown_path(file_use, spelled, cwd, opened_as_spelled=False)
        yield from self._shown_path(file_use, straight, cwd, opened_as_spelled=file_use.by_git and not file_use.free)

    def _shown_path(self, file_use: FileUse, value: str, cwd: str, *, opened_as_spelled: bool) -> Iterator[Finding]:
        """What speaks of one spelling of a shown operand. Where git opens it by this spelling, a path that nothing may
        use counts; elsewhere it is no path. A program may expand braces and groups in it."""
        if not file_use.by_git and file_use.operation == "read" and has_groups(value):
            spelled = without_groups(value)
            for each in spelled if spelled != (value,) else ():
                for finding in self._shown_path(file_use, each, cwd, opened_as_spelled=opened_as_spelled):
                    # That the program expands the word is a guess.
                    yield finding._replace(deny=None, ask=finding.ask or finding.deny)
        if file_use.operation != "write" and not file_use.top and self.judge.is_unremarkable(value, cwd=cwd):
            return
        if file_use.operation == "write":
            written = self._write(file_use, value, cwd)
            strange = self.judge.resolve(value, cwd=cwd).refused is not None
            if file_use.opened:
                # It is opened for writing although nothing is to be written.
                if self._leads_out(value, written, followed=True):
                    yield written
            elif strange and not opened_as_spelled:
                return
            elif strange or written.floors or written.deny or written.ask or self._leads_out(value, written):
                yield written
            return
        # In a folder of git's own, paths count from the work tree.
        top = file_use.top or ".git" in cwd.split("/")
        for place in folders_above(cwd, self.judge.workspace) if top else [cwd]:
            if has_wildcard(value):
                yield from self._pathspec(value, place, file_use)
                if not file_use.by_git:
                    continue
            resolved = self.judge.resolve(value, cwd=place)
            if resolved.refused is not None:
                if opened_as_spelled:
                    yield self.judge.judge_read(value, cwd=place, follows=not file_use.unfollowed)
                continue
            # What is not there now may have been a folder once.
            below = file_use.operation == "read" and (
                resolved.kind == "folder" or (file_use.below and resolved.kind != "file")
            )
            finding = self.judge.judge_read(value, cwd=place, below=below, follows=not file_use.unfollowed)
            secret = self.judge.is_secret(value, cwd=place) is not None
            if secret and file_use.operation == "list":
                # Only its name is looked at: a rule for the command covers that, the read-only set does not.
                yield finding._replace(requires_ask=None, known_read=False)
            elif finding.deny or finding.ask or secret or self._leads_out(value, finding, followed=file_use.opened):
                yield finding

    def _shown_meanings(self, file_use: FileUse) -> Iterator[Finding]:
        """An operand that holds a variable of the text's own or a pathname pattern of bash's."""
        found = meaning(file_use.word, self.facts, self.judge.home, self.folder)
        for value in found.values:
            word = constant(value)._replace(tilde=value.startswith("~/"))
            yield from self._shown(file_use._replace(word=word))
        for pattern in found.patterns:
            for finding in self._pattern(file_use, pattern):
                asked = finding.requires_ask is not None and not finding.auto_lifts
                if finding.floors or finding.deny or finding.ask or asked or self._leads_out(pattern, finding):
                    yield finding
        if not found.complete:
            yield from self._begins_like(file_use)

    def _begins_like(self, file_use: FileUse) -> Iterator[Finding]:
        """A word of which only the beginning is known, where that could be a name which counts."""
        reason = reason_to_ask(file_use.word, self.facts, self.judge, self.folder or self.judge.workspace)
        if reason is not None:
            said = Evidence(source="default", reason=reason)
            yield self._unknown(file_use)._replace(requires_ask=said, known_read=False, auto_lifts=False)
        else:
            for ruled in rules_for_folders(file_use.word, self.facts, self.judge, self.folder or self.judge.workspace):
                yield self._unknown(file_use)._replace(ask=ruled)

    def _gone_into(self, folders: Sequence[Word]) -> PathFinder:
        """What is found from where a program goes first, nowhere known if these folders are not."""
        place = self.folder
        for word in folders:
            known = word.value is not None and (place is not None or word.value.startswith(("/", "~/")))
            place = os.path.normpath(join(place or "/", literal(word), self.judge.home)) if known else None
        return PathFinder(self.judge, self.facts, place)

    @staticmethod
    def _leads_out(value: str, finding: Finding, *, followed: bool = False) -> bool:
        """Whether it is spelled as a path out of the workspace, or a link may lead there: ``git diff`` compares any two
        files."""
        spelled = value.startswith(("/", "~/")) or ".." in value.split("/")
        return (spelled or followed) and finding.requires_ask is not None

    def _of_pattern(self, whole: Finding, pattern: str, fixed: str, cwd: str) -> Finding:
        """What was found of a folder, where only what this pattern matches in it is read."""
        if not whole.ask_below:
            return whole
        parts = _below_fixed(pattern)
        ruled = self.judge.ruled_of(pattern, fixed, parts, cwd=cwd)
        named = None if {"", ".", ".."} & set(parts) else parts
        idle = ruled is not None and not self.judge.holds_ruled(fixed, named, cwd=cwd)
        return whole._replace(ask=ruled, ask_below=ruled is not None, ask_idle=idle)

    def _pathspec(self, value: str, cwd: str, file_use: FileUse) -> Iterator[Finding]:
        """A pattern of git's own, whose wildcards take leading dots and slashes; a ``free`` one that ends in ``.*`` is
        taken for an expression, in which that is anything."""
        last, follows = value.rsplit("/", 1)[-1], not file_use.unfollowed
        named = any(char not in "*?" for char in last) and not (file_use.free and last == ".*")
        folder = _SPECIAL.split(value, maxsplit=1)[0].rpartition("/")[0] or ("/" if value.startswith("/") else ".")
        ruled = self.judge.may_hold_ruled(folder, cwd=cwd)
        if ruled is not None and (file_use.by_git or not file_use.free or not self._names_none_ruled(value)):
            said = ruled.model_copy(update={"reason": f"`{ruled.rule}` could match what `{value}` names"})
            found = self.judge.judge_read(folder, cwd=cwd, follows=follows)
            idle = found.ask is None and not self.judge.holds_ruled(folder, cwd=cwd)
            yield found._replace(ask=found.ask or said, ask_below=found.ask is None, ask_idle=idle)
        strange = not file_use.free and file_use.operation == "read" and _STRANGE_BRACKET.search(value) is not None
        matched = (name for name in SECRET_SAMPLES if any_name_matches(last, name) and last != "*.*")
        name = SECRET_SAMPLES[0] if strange else None
        if named and name is None:
            name = next(matched, None) or secret_form(last, dots=True, copies=True)
        if name is not None:
            reason = f"`{value}` could be a secret: `{name.replace(chr(0), '…')}`"
            finding = self.judge.judge_read(folder, cwd=cwd, follows=follows)
            said = Evidence(source="default", reason=reason)
            yield finding._replace(requires_ask=said, known_read=False, auto_lifts=False)

    def _names_none_ruled(self, pattern: str) -> bool:
        """Whether a program's own pattern ends in a text in which no file ends that a rule for reading is about; in
        whatever way the program reads what stands in front."""
        end = fold(_SPECIAL.split(pattern)[-1].rpartition("/")[2].rpartition("]")[2])
        ruled = self.judge.ruled_secrets() if end else None
        return ruled is not None and not any(fold(path).endswith(end) for path in ruled)


_SPECIAL = re.compile(r"[*?\[\\]")
_STRANGE_BRACKET = re.compile(r"\[(?![!^]?[^\]\[!^/\\]+\])")
"""A bracket that is no plain list of characters: it may hold a slash, or end elsewhere than it looks."""


def _too_many(whole: Finding) -> Finding:
    said = Evidence(source="default", reason="the pattern matches too many names to check")
    return whole._replace(requires_ask=said, known_read=False, auto_lifts=False)


def _is_harmless(finding: Finding) -> bool:
    ordinary = finding.known_read or (finding.kind == "write" and finding.in_workspace)
    return ordinary and not (finding.floors or finding.deny or finding.ask or finding.requires_ask)


def _fixed_folder(pattern: str) -> str:
    """The folder in front of the first segment with a wildcard, as a path for ``PathJudge``."""
    below = _below_fixed(pattern)
    front = pattern[: len(pattern) - len("/".join(below))]
    return plain_path(front) if front else "."


def _below_fixed(pattern: str) -> list[str]:
    """The segments from the first one with a wildcard on."""
    segments = pattern.split("/")
    at = next((at for at, text in enumerate(segments) if glob_segment(text).literal is None), len(segments) - 1)
    return segments[at:]


def _takes_all(pattern: str) -> bool:
    """Whether a pattern's last part is nothing but stars: all that lies in the folder."""
    last = pattern.rstrip("/").rsplit("/", 1)[-1]
    # Nearly all names begin with a letter and hold no blank; those that a pattern leaves out save nothing.
    return not glob_segment(last).says_something or last in {".*", ".[!.]*", ".[^.]*", "..?*"}


def _holds_unmerged(place: str, paths: PathJudge) -> bool:
    """Whether files were not merged in the repository of this folder."""
    repository = repository_above(place, paths)
    return repository is not None and holds_unmerged(f"{repository.own}/index")
