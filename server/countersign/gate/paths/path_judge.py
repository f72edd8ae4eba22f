"""What floors and rules say of reading or writing one path (docs/gate.md "Paths").
More than 500 lines, because one class keeps what is known of each path while a call is judged.

Makes Findings; folding them into a verdict is ``decisions/decide.py``'s business, resolving a path ``resolve.py``'s,
and which names are protected or secret stands as data in ``sensitive_paths.py``. Reads the disk, opens and changes
nothing.

INVARIANT (both spellings): deny, ask, protected and secret hold when any spelling of the path matches, in any case;
an allow rule and every "inside" hold only when the lexical and the resolved spelling both do (P1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from countersign.gate.finding import Finding, Floor
from countersign.gate.paths.bare_repositories import repository_reason
from countersign.gate.paths.control_files import is_control
from countersign.gate.paths.hard_links import SHARED, is_shared, names_one_file
from countersign.gate.paths.kept_by_git import KEPT_BY_GIT, keeps_text, kept_in_other_folder
from countersign.gate.paths.linked_rules import heads_of, where_links_lead
from countersign.gate.paths.named_by_git import NAMED_BY_GIT, named_by_git
from countersign.gate.paths.ordinary_names import is_ordinary
from countersign.gate.paths.other_mounts import other_paths
from countersign.gate.paths.path_evidence import (
    OWN,
    SETTINGS_READ,
    Operation,
    PathTool,
    Zone,
    ask_floor,
    below_reason,
    evidence_for,
    refusal,
    risks_of_path,
    rule_text,
    unclear_floors,
)
from countersign.gate.paths.resolve import Resolved, Walk, resolve, resolve_ordinary
from countersign.gate.paths.roots import Segments, as_other_systems, is_within, place_of, roots_at, segments_of
from countersign.gate.paths.ruled_files import ruled_below
from countersign.gate.paths.sensitive_paths import (
    DRIVE,
    HOMES,
    SECRET_IN_HOME,
    SYSTEM_PREFIXES,
    innocent_names,
    protected_in_home,
    protected_reason,
    secret_at,
    secret_in_home,
    secret_name,
)
from countersign.gate.paths.spent import Spent, weight_of
from countersign.gate.patterns import NamePattern, PathPattern, Root, escape_path, fold, glob_segment
from countersign.gate.probes.hidden_characters import hidden_character
from countersign.gate.rules.rule_set import ListName, Rule, RuleSet, evidence
from countersign.gate.rules.subtree_index import Place
from countersign.wire.verdicts import Evidence

_MOST_RESOLVED = 4096
_BROUGHT = "an earlier command of the same text brings a link there"
MOVED = "an earlier command of the text moves, copies or links what it names"
_FILLED = "an earlier command of the same text brings files of unknown names, and one of them may be a link there"


class PathJudge:
    """Judges paths for one call: keeps where the roots and the paths really lie while the call is looked at, so that a
    path that a text names a hundred times is one thing throughout.

    ``workspace`` and ``home`` are absolute, and ``homes`` are all spellings of the latter. A workspace opened by a link
    counts in both spellings (docs/gate.md "Both spellings").
    """

    __slots__ = (
        "_above_expected", "_above_firm", "_above_moved", "_additional", "_agent", "_carried", "_control",
        "_expected", "_filled", "_folders", "_home", "_linked", "_made", "_mounts", "_moved", "_named_by_git",
        "_own", "_quiet", "_read", "_read_now", "_read_ruled", "_reads_named", "_replaced", "_resolved",
        "_ruled", "_rules", "_seen_as", "_straight", "_walked", "_ways_to", "_workspace", "_workspace_control",
        "_written", "_written_now", "descriptors_moved", "home", "homes", "spent", "workspace",
    )  # fmt: skip

    def __init__(
        self,
        workspace: str,
        home: str,
        additional: Sequence[str],
        own_paths: Sequence[str],
        rules: RuleSet,
        agent: str,
        control: Sequence[str] = (),
        workspace_control: Sequence[str] = (),
        additional_resolved: Sequence[str] = (),
    ) -> None:
        roots = roots_at(workspace, home, additional, own_paths, additional_resolved)
        self.workspace, self.home = roots.workspace.spellings[0], roots.home.spellings[0]
        self.homes = roots.home.spellings
        self._rules, self._agent = rules, agent
        self._workspace, self._home = roots.workspace, roots.home
        self._additional, self._own = roots.additional, roots.own
        self._control, self._workspace_control = tuple(control), tuple(workspace_control)
        self._straight = roots.straight
        self._quiet = roots.quiet and not rules.limits("Read")
        self._resolved: dict[tuple[str, str], Resolved] = {}
        self._walked: dict[str, Walk] = {}
        self._ways_to: dict[tuple[object, ...], tuple[tuple[str, ...], frozenset[str]]] = {}
        self._folders: set[str] = set()
        self._mounts: dict[str, tuple[str, ...]] = {}
        self._named_by_git: tuple[str, ...] | None = None
        self._seen_as: dict[tuple[object, ...], tuple[Segments, ...]] = {}
        self._reads_named = rules.speaks_of("Read", "allow") or rules.speaks_of("Read", "grant")
        self._read: dict[tuple[str, str, bool], Finding] = {}
        self._written: dict[tuple[str, str, Operation], Finding] = {}
        self._read_now: dict[tuple[str, str, bool, bool], Finding] = {}
        self._written_now: dict[tuple[str, str, Operation, bool], Finding] = {}
        self._linked: dict[tuple[PathTool, ListName], tuple[Rule, ...]] = {}
        self._read_ruled = rules.limits("Read")
        self._ruled = self._read_ruled or rules.limits("Edit")
        self._expected: frozenset[str] = frozenset()
        self._filled: frozenset[str] = frozenset()
        self._made: frozenset[str] = frozenset()
        self._replaced: frozenset[str] = frozenset()
        self._moved: frozenset[str] = frozenset()
        self._above_expected = self._above_moved = self._above_firm = frozenset[str]()
        self._carried: frozenset[str] = frozenset()
        self.spent = Spent()
        self.descriptors_moved = False
        """Whether the commands that are judged may have their input open for writing, or their output for reading."""

    def expect_links(
        self,
        links: Collection[str],
        filled: Collection[str],
        replaced: Collection[str] = (),
        made: frozenset[str] = frozenset(),
        moved: frozenset[str] = frozenset(),
        carried: frozenset[str] = frozenset(),
    ) -> bool:
        """From now on, take these absolute paths for symlinks that lead to an unknown place, and what lies below each
        of ``filled``, and each of ``replaced`` as well, for what may be reached by one: an earlier command of the same
        text brings them. It may also make folders of ``made`` (folded). At and below each of ``moved`` and ``carried``
        (folded), something else may stand than the disk shows; all links of the latter are among ``links``. Return
        whether that changes anything."""
        before, now = (self._made, self._moved, self._carried), (made, moved | carried, carried - moved)
        unchanged = not self.expects_changes
        self._made, self._moved, self._carried = now
        if now != before:
            self._read_now.clear()
            self._written_now.clear()
        if now[1:] != before[1:]:
            self._above_moved = _with_folders_above(self._moved)
            self._above_firm = _with_folders_above(self._moved - self._carried)
        if unchanged and any((links, filled, replaced, *now)):
            self._forget()  # what the disk shows does not count any more
        instead = frozenset(map(fold, replaced))
        expected, below = frozenset(map(fold, links)), frozenset(map(fold, filled)) | instead
        if (expected, below, instead) == (self._expected, self._filled, self._replaced):
            return now != before
        self._expected, self._filled, self._replaced = expected, below, instead
        self._above_expected = _with_folders_above((*expected, *below))
        self._forget()
        return True

    def expects_links(self, resolved: Resolved, *, exactly: bool = False) -> bool:
        """Whether a path may be reached by such a link: one that is known, or, unless ``exactly``, any."""
        if _reached_by(self._expected, resolved, itself=True):
            return True
        return not exactly and self._may_be_linked(resolved)

    def _may_be_linked(self, resolved: Resolved, *, last: bool = True) -> bool:
        """Whether a path may be reached by a link of unknown name. Without ``last``, a link that it is itself does not
        count."""
        if not self._filled:
            return False
        if self._replaced:
            # A name directly in one that may itself be a link is reached by it, and so is what `..` leaves it for.
            left = any(fold(passed) in self._replaced for passed in resolved.passed)
            if left or _reached_by(self._replaced, resolved, itself=last):
                return True
        return _reached_by(self._filled, resolved, itself=False, last=last)

    def is_moved(self, resolved: Resolved, *, below: bool = False) -> bool:
        """Whether an earlier command of the same text may have put something else there, or on the way there, or
        ``below`` it."""
        if not self._moved:
            return False
        ways, with_above = self._ways(resolved)
        if not self._moved.isdisjoint(with_above):
            return True
        return below and any(way.rstrip("/") in self._above_moved for way in ways)

    def _ways(self, resolved: Resolved) -> tuple[tuple[str, ...], frozenset[str]]:
        """The folded ways to a path, and these with all folders above them."""
        key = resolved.lexical, resolved.resolved, resolved.between, resolved.passed
        found = self._ways_to.get(key)
        if found is None:
            ways = tuple(fold(each) for each in (*resolved.spellings(), *resolved.passed))
            found = self._ways_to[key] = ways, frozenset(ways).union(*map(_folders_above, ways))
        return found

    @property
    def expects_changes(self) -> bool:
        """Whether an earlier command of the same text may have put anything anywhere."""
        return bool(self._expected or self._filled or self._made or self._moved)

    @property
    def moved(self) -> frozenset[str]:
        """The folded paths at and below which something else may stand than the disk shows."""
        return self._moved

    def _is_only_carried(self, resolved: Resolved) -> bool:
        """Whether what may stand there instead is surely no link, and is not reached by one."""
        ways = [fold(each) for each in resolved.spellings()]
        left = [fold(each) for each in resolved.passed]
        firm = self._moved - self._carried
        return not any(
            way.rstrip("/") in self._above_firm or not firm.isdisjoint(_folders_above(way)) for way in ways
        ) and not any(way in self._moved or not self._moved.isdisjoint(_folders_above(way)) for way in left)

    def may_be_filled(self, resolved: Resolved) -> bool:
        """Whether an earlier command of the same text may have put files of unknown names there."""
        return bool(self._filled) and _reached_by(self._filled, resolved, itself=True)

    def may_be_made(self, resolved: Resolved) -> bool:
        """Whether an earlier command of the same text may make a folder of a path that is none yet."""
        made = bool(self._made) and any(fold(spelling) in self._made for spelling in resolved.spellings())
        return made or self.is_moved(resolved)

    def may_hold_links(self, resolved: Resolved) -> bool:
        """Whether a path may be a folder with such links in it: one that is known lies below it, or it lies where files
        of unknown names do."""
        return bool(self._expected or self._filled) and (
            self.holds_expected_links(resolved) or self.expects_links(resolved)
        )

    def holds_expected_links(self, resolved: Resolved) -> bool:
        """Whether such a link may lie below a path, or be it."""
        return any(fold(spelling).rstrip("/") in self._above_expected for spelling in resolved.spellings())

    def with_met_links(self, found: Finding, folder: str, parts: Sequence[str], *, cwd: str, follows: bool) -> Finding:
        """What was found of a pattern, with these parts below a folder, that may match a name which leads through such
        a link. ``follows``: the last name is followed as well."""
        if not (self._expected or self._filled or self._moved):
            return found
        self.spent.compared += len(self._expected) + len(self._filled) + len(self._moved)
        resolved = self.resolve(folder, cwd=cwd)
        spellings = [fold(spelling).rstrip("/") for spelling in resolved.spellings()]
        met = {top for top in self._moved if self._meets(top, spellings, parts, 0)}
        if met or self.is_moved(resolved):
            found = self._asking(found, MOVED, lifted=met <= self._carried and self._is_only_carried(resolved))
        if any(self._meets(top, spellings, parts, 0 if follows else 1) for top in self._expected):
            found = found._replace(floors=(*found.floors, ask_floor(_BROUGHT)), known_read=False)
        counts = found.kind == "write" or self._read_ruled
        if counts and self._meets_filled(spellings, parts, follows=follows):
            found = self._through_link(found)
        return found

    def _meets_filled(self, spellings: Sequence[str], parts: Sequence[str], *, follows: bool) -> bool:
        """Whether a pattern may match a name which leads through a link of unknown name, or lies behind one."""
        behind = any(
            spelling.startswith(f"{top.rstrip('/')}/") or (spelling == top and top in self._replaced)
            for spelling in spellings
            for top in self._filled
        )
        more = 1 if follows else 2
        return (
            behind
            or any(self._meets(top, spellings, parts, more) for top in self._filled)
            or any(self._meets(top, spellings, parts, more - 1) for top in self._replaced)
        )

    def with_spilled(self, found: Finding, folder: str, *, cwd: str) -> Finding:
        """What was found of writing unknown names below a folder, which may lead through links that were brought."""
        resolved = self.resolve(folder, cwd=cwd)
        return self._through_link(found) if self.may_hold_links(resolved) else found

    def _through_link(self, found: Finding) -> Finding:
        """The finding of a path which may lead through a link of unknown name: it asks, where rules for files exist
        even under bypass."""
        return self._asking(found, _FILLED)

    def _asking(self, found: Finding, reason: str, *, lifted: bool = False) -> Finding:
        """The finding of a path that may be another than the disk shows: it asks, where rules for files exist even
        under bypass. ``lifted``: surely none outside, so mode `auto` allows it where there are no such rules."""
        lifts = found.bypassable and not (self._ruled if found.kind == "write" else self._read_ruled)
        return found._replace(
            requires_ask=evidence_for("default", reason),
            bypassable=lifts,
            auto_lifts=lifted and lifts and (found.requires_ask is None or found.auto_lifts),
            replaced=True,
            allow=None,
            grant=None,
            known_read=False,
        )

    @staticmethod
    def _meets(top: str, spellings: Sequence[str], parts: Sequence[str], more: int) -> bool:
        """Whether a pattern's parts below a folder may match a path and at least so many names below it."""
        for spelling in spellings:
            if top == (spelling or "/"):
                names: list[str] = []
            elif top.startswith(f"{spelling}/"):
                names = top[len(spelling) + 1 :].split("/")
            else:
                continue
            if {".", ".."}.intersection(parts):
                return True
            pairs = zip(parts, names, strict=False)
            if len(parts) >= len(names) + more and all(
                glob_segment(part).may_match_any_case(name) for part, name in pairs
            ):
                return True
        return False

    def judge_read(self, path: str, *, cwd: str, below: bool = False, follows: bool = True) -> Finding:
        """What is to be said of reading this path; with ``below``, of everything under it without exception. Without
        ``follows`` whoever reads it refuses to go through a link.

        ``path`` is literal: only a leading ``~/`` is expanded. ``known_read`` is True exactly where no rule is needed.
        """
        self.spent.names += weight_of(path)
        key = path, cwd, below, follows
        found = self._read_now.get(key)
        if found is None:
            found = self._read_now[key] = self._read_behind(path, cwd, below=below, follows=follows)
        return found

    def _read_behind(self, path: str, cwd: str, *, below: bool, follows: bool) -> Finding:
        """What is to be said of reading this path behind the commands that were judged before."""
        found = self._read.get((path, cwd, below))
        if found is None:
            found = self._read[path, cwd, below] = self._judge_read(path, cwd, below=below)
        if self._moved and self.is_moved(self.resolve(path, cwd=cwd), below=below):
            found = self._asking(found, MOVED, lifted=self._is_only_carried(self.resolve(path, cwd=cwd)))
        counts = follows and self._filled and self._read_ruled
        linked = counts and self._may_be_linked(self.resolve(path, cwd=cwd))
        if counts and below and not linked:
            linked = self.holds_expected_links(self.resolve(path, cwd=cwd))
        return self._through_link(found) if linked else found

    def _judge_read(self, path: str, cwd: str, *, below: bool) -> Finding:
        ordinary = is_ordinary(path)
        resolved = self._resolved.get((path, cwd)) or self._resolve(path, cwd, ordinary=ordinary)
        if not below and not self._reads_named and ordinary and self._is_quiet(resolved, cwd):
            return Finding("read", resolved.lexical, "read", in_workspace=True, known_read=True)
        if resolved.refused is not None:
            return refusal("read", resolved)
        views = self._views(resolved)
        floors = [*unclear_floors(resolved), *self._own_read_floor(resolved)]
        zone, secret = self.zone(resolved), self._secret(resolved, below=below)
        holds = self._holds_secrets(resolved) if below else None
        deny = self._touching("Read", "deny", views)
        ask = self._touching("Read", "ask", views)
        ruled_below = below and deny is None and ask is None
        if ruled_below:
            ask = self._below(resolved, ("Read",))
        allow, grant = (
            None if holds else self._covering("Read", listed, resolved, secret=secret, below=below)
            for listed in ("allow", "grant")
        )
        requires_ask, secret = None, secret or holds
        if secret is not None:
            requires_ask = evidence_for("default", f"reading it asks in every mode: {secret}")
        elif zone == "outside":
            requires_ask = evidence_for("default", "it lies outside the workspace")
        return Finding(
            kind="read",
            resource=resolved.resolved or resolved.lexical,
            category="read",
            floors=tuple(floors),
            deny=evidence(deny) if deny else None,
            ask=evidence(ask, below_reason(ask) if below else None) if ask else None,
            ask_below=ruled_below and ask is not None,
            ask_idle=ruled_below and ask is not None and not self._holds_ruled(resolved, None),
            requires_ask=requires_ask,
            bypassable=secret is None or zone == "workspace",
            auto_lifts=secret is None and zone == "outside",
            in_workspace=zone == "workspace",
            allow=evidence(allow) if allow else None,
            grant=evidence(grant) if grant else None,
            known_read=requires_ask is None and not floors,
            near_miss_reason=self._uncovered("Read", views, allow or grant, secret),
            risks=risks_of_path(zone, resolved, secret=secret),
        )

    def judge_mention(self, path: str, *, cwd: str, below: bool = False, loose: bool = False) -> Finding | None:
        """What counts of a path that a tool of another server is given, which may read or change it; None if nothing.

        A Read rule and a secret count as for a read. What an Edit rule denies and what is protected asks: the tool may
        only read it. That it lies outside the workspace does not count. With ``loose`` the tool only may be given it,
        so that nothing is denied.
        """
        read = self.judge_read(path, cwd=cwd, below=below)
        resolved = self.resolve(path, cwd=cwd)
        if resolved.refused is not None:
            # What is empty or too long is no file; the rest is rather a text of several lines than a file's name.
            floor = ask_floor(f"the path may not be used: {resolved.refused}")
            return None if loose or hidden_character(path) is None else read._replace(floors=(floor,))
        if read.deny is not None and not loose:
            return read
        own = [*self._own_write_floor(resolved, "edit"), *self._own_read_floor(resolved)]
        protected = OWN if own else self._protected(resolved, "edit")
        written = self.judge_write(path, cwd=cwd)
        ruled = read.deny or written.deny or written.ask
        if ruled is not None:
            may = "the input may name that file" if loose else "the tool may change it"
            ruled = ruled.model_copy(update={"reason": f"{may}, and there is a rule `{ruled.rule}`"})
        floors = () if loose else tuple(floor for floor in read.floors if floor.verdict == "deny" or resolved.unclear)
        if protected:
            floors = (*floors, ask_floor(f"the tool may write there, which always asks: {protected}"))
        found = read._replace(
            floors=floors,
            deny=None,
            ask=read.ask or ruled,
            requires_ask=None if read.auto_lifts else read.requires_ask,
        )
        return found if found.floors or found.ask or found.requires_ask else None

    def judge_write(self, path: str, *, cwd: str, operation: Operation = "edit", follows: bool = True) -> Finding:
        """What is to be said of creating, changing, deleting or moving this path. Without ``follows`` whoever does so
        refuses to go through a link."""
        self.spent.names += weight_of(path)
        key = path, cwd, operation, follows
        found = self._written_now.get(key)
        if found is None:
            found = self._written_now[key] = self._write_behind(path, cwd, operation, follows=follows)
        return found

    def _write_behind(self, path: str, cwd: str, operation: Operation, *, follows: bool) -> Finding:
        """What is to be said of changing this path behind the commands that were judged before."""
        found = self._written.get((path, cwd, operation))
        if found is None:
            found = self._written[path, cwd, operation] = self._judge_write(path, cwd, operation)
        if self._moved and self.is_moved(self.resolve(path, cwd=cwd)):
            found = self._asking(found, MOVED, lifted=self._is_only_carried(self.resolve(path, cwd=cwd)))
        # With a slash behind it, a link is followed whatever is done.
        last = operation not in ("delete", "move") or path.endswith(("/", "/."))
        linked = follows and self._filled and self._may_be_linked(self.resolve(path, cwd=cwd), last=last)
        return self._through_link(found) if linked else found

    def _judge_write(self, path: str, cwd: str, operation: Operation) -> Finding:
        resolved = self.resolve(path, cwd=cwd)
        if resolved.refused is not None:
            return refusal("write", resolved)
        views = self._views(resolved)
        protected = self._protected(resolved, operation)
        floors = [*unclear_floors(resolved), *self._own_write_floor(resolved, operation)]
        if protected is not None:
            floors.append(ask_floor(f"writing there always asks: {protected}"))
        if resolved.kind == "file" and resolved.links > 1 and operation != "delete":
            floors.append(ask_floor(f"the file has {resolved.links} names, and all of them would change"))
        if operation in ("delete", "move") and self.is_root(resolved):
            floors.append(ask_floor("it is a root, a home, the workspace or one of its parents"))
        zone = self.zone(resolved)
        deny = self._touching("Edit", "deny", views) or self._touching("Read", "deny", views)
        ask = self._touching("Edit", "ask", views) or self._broken_read_deny(views)
        if operation in ("delete", "move") and resolved.kind != "file" and deny is None and ask is None:
            ask = self._below(resolved, ("Edit", "Read"))
        allow, grant = (self._covering("Edit", listed, resolved) for listed in ("allow", "grant"))
        outside = evidence_for("default", "it lies outside the workspace") if zone == "outside" else None
        return Finding(
            kind="write",
            resource=resolved.resolved or resolved.lexical,
            category="write",
            floors=tuple(floors),
            deny=evidence(deny) if deny else None,
            ask=evidence(ask) if ask else None,
            requires_ask=outside,
            in_workspace=zone == "workspace",
            allow=evidence(allow) if allow else None,
            grant=evidence(grant) if grant else None,
            near_miss_reason=self._uncovered("Edit", views, allow or grant, None),
            risks=risks_of_path(zone, resolved, protected=protected, operation=operation),
        )

    def resolve(self, path: str, *, cwd: str) -> Resolved:
        """The path in all its spellings. A relative ``cwd`` counts from the workspace."""
        return self._resolved.get((path, cwd)) or self._resolve(path, cwd, ordinary=is_ordinary(path))

    def _resolve(self, path: str, cwd: str, *, ordinary: bool) -> Resolved:
        if len(self._resolved) >= _MOST_RESOLVED:
            # A search asks of every file of a workspace.
            self._forget()
        base = cwd if cwd.startswith("/") else f"{self.workspace}/{cwd}"
        found = resolve_ordinary(path, base, self._folders) if ordinary and base == self._straight else None
        if found is None:
            self.spent.places += 1
            found = resolve(
                path, cwd=base, home=self.home, straight=self._straight, opened=self.workspace, walked=self._walked
            )
            found = self._with_other_paths(found)
        if self._expected and found.unclear is None and _reached_by(self._expected, found, itself=True):
            found = found._replace(unclear=_BROUGHT)
        self._resolved[path, cwd] = found
        return found

    def _with_other_paths(self, found: Resolved) -> Resolved:
        """Outside the workspace a folder on the way may be one of those that rules know, by another name."""
        path = found.resolved
        if path is None or self._zone_of(path) == "workspace":
            return found
        folder = path if found.kind == "folder" else path.rpartition("/")[0] or "/"
        others = self._mounts.get(folder)
        if others is None:
            roots = self._workspace.spellings[-1], self._home.spellings[-1]
            others = self._mounts[folder] = other_paths(folder, roots)
        if not others:
            return found
        behind = path[len(folder) :]
        return found._replace(between=(*found.between, *(other + behind for other in others)))

    def _forget(self) -> None:
        self._resolved.clear()
        self._walked.clear()
        self._ways_to.clear()
        self._mounts.clear()
        self._named_by_git = None
        self._folders.clear()
        self._seen_as.clear()
        self._read.clear()
        self._written.clear()
        self._read_now.clear()
        self._written_now.clear()

    def is_unremarkable(self, path: str, *, cwd: str) -> bool:
        """Whether nothing here speaks of this path, so that reading it, and all below it, is nobody's question: an
        ordinary name in the workspace that no rule could mean, with no link on the way. Cheap; False may be said of
        any."""
        if not self._quiet or cwd != self._straight or self._moved:
            return False
        if not is_ordinary(path):
            return False
        return self._is_quiet(self._resolved.get((path, cwd)) or self._resolve(path, cwd, ordinary=True), cwd)

    def _is_quiet(self, found: Resolved, cwd: str) -> bool:
        """Whether no rule, root or link speaks of an ordinary path (``is_unremarkable``)."""
        if not self._quiet or cwd != self._straight:
            return False
        plain = found.resolved == found.lexical and found.unclear is None and not is_shared(found)
        return plain and kept_in_other_folder(found.lexical, cwd) is None

    def zone(self, resolved: Resolved) -> Zone:
        """Where it lies, by both spellings: the farther one counts; what cannot be resolved is outside."""
        if resolved.resolved is None or resolved.refused is not None:
            return "outside"
        zones = {self._zone_of(spelling) for spelling in {resolved.lexical, resolved.resolved}}
        return "outside" if "outside" in zones else "additional" if "additional" in zones else "workspace"

    def inside_workspace(self, path: str, *, cwd: str) -> bool:
        """Whether both spellings lie in the workspace itself, an additional directory not counted."""
        return self.zone(self.resolve(path, cwd=cwd)) == "workspace"

    def is_protected(self, path: str, *, cwd: str) -> str | None:
        """Why writing there always asks (P4) or is denied, or None."""
        resolved = self.resolve(path, cwd=cwd)
        reason = self._protected(resolved, "move")
        return reason or (OWN if self._is_control(resolved, self._control, "move") else None)

    def is_secret(self, path: str, *, cwd: str) -> str | None:
        """Why reading it asks in every mode (P8), or None."""
        return self._secret(self.resolve(path, cwd=cwd), below=False)

    def is_root(self, resolved: Resolved) -> bool:
        """Whether it is `/`, a drive's root, somebody's home, the workspace, or a parent of it or of our home."""
        return any(
            spelling == "/"
            or HOMES.fullmatch(fold(spelling)) is not None
            or DRIVE.fullmatch(fold(resolved.given)) is not None
            or any(is_within(root, spelling) for root in (*self._workspace.spellings, *self._home.spellings))
            for spelling in resolved.spellings()
        )

    def root_names(self) -> set[str]:
        return {part for root in (self._workspace, self._home) for segments in root.parts for part in segments}

    def may_hold_ruled(self, folder: str, *, cwd: str) -> Evidence | None:
        """The evidence of a Read deny or ask rule that could match something below this folder (S11), or None."""
        rule = self._below(self.resolve(folder, cwd=cwd), ("Read",))
        return evidence(rule, below_reason(rule)) if rule else None

    def may_hold_edited(self, folder: str, parts: Sequence[str] | None, *, cwd: str) -> Evidence | None:
        """The evidence of an Edit deny or ask rule that could match something below this folder, or None; ``parts``
        are the segments of a shell's pattern, if only what that may name there counts."""
        rule = self._below(self.resolve(folder, cwd=cwd), ("Edit",), parts)
        return evidence(rule, below_reason(rule)) if rule else None

    def ruled_of(self, pattern: str, folder: str, parts: Sequence[str], *, cwd: str) -> Evidence | None:
        """The evidence of a Read deny or ask rule that could match what a shell's pattern may turn into, or None;
        ``parts`` are its segments below ``folder``, the folder in front of its first wildcard."""
        if any(part in {"", ".", ".."} for part in parts):
            return self.may_hold_ruled(folder, cwd=cwd)
        rule = self._below(self.resolve(folder, cwd=cwd), ("Read",), parts)
        return evidence(rule, f"`{rule.text}` could match what `{pattern}` names") if rule else None

    def exact_rule(self, tool: PathTool, path: str, *, cwd: str) -> str | None:
        """The rule that covers this path and no other, or None where a link or the text makes that impossible."""
        return rule_text(tool, self._rule_base(self.resolve(path, cwd=cwd)))

    def holds_secret(self, path: str, *, cwd: str) -> bool:
        """Whether it is a folder, and a rule for it would also cover a secret below it."""
        resolved = self.resolve(path, cwd=cwd)
        if resolved.kind != "folder":
            return False
        return self._secret(resolved, below=True) is not None or self._holds_secrets(resolved) is not None

    def wider_rules(self, tool: PathTool, path: str, *, cwd: str) -> tuple[str, ...]:
        """Rules that cover this path and its like: its folder, and files of its kind in it; none for a secret."""
        resolved = self.resolve(path, cwd=cwd)
        base = self._rule_base(resolved)
        if base is None or self._secret(resolved, below=False) is not None:
            return ()
        anchor, segments = base
        if len(segments) < 2:
            return ()
        folder = rule_text(tool, (anchor, segments[:-1]))
        if folder is None:
            return ()
        stem, dot, ending = segments[-1].rpartition(".")
        kind = f"{folder[:-1]}/*.{escape_path(ending)})" if dot and stem and ending else None
        return tuple(rule for rule in (kind, f"{folder[:-1]}/**)") if rule is not None)

    # --- rules -------------------------------------------------------------------------------------------------------

    def _touching(self, tool: PathTool, listed: ListName, views: Sequence[Segments]) -> Rule | None:
        """The first rule that matches any spelling."""
        return next(self._all_touching(tool, listed, views), None)

    def _all_touching(self, tool: PathTool, listed: ListName, views: Sequence[Segments]) -> Iterator[Rule]:
        if not self._rules.speaks_of(tool, listed):
            return
        segments = {segment for view in views for segment in view}
        for rule in self._rules.paths(tool, listed, tuple(segments), self._agent):
            pattern = rule.specifier
            if not isinstance(pattern, PathPattern) or any(
                pattern.touches(place) for view in views for place in self._places(view, pattern.root)
            ):
                yield rule
        for rule in self._behind_links(tool, listed):
            if isinstance(rule.specifier, PathPattern) and any(map(rule.specifier.touches, views)):
                yield rule

    def _behind_links(self, tool: PathTool, listed: ListName) -> tuple[Rule, ...]:
        """Deny or ask rules whose patterns lead through a link, at the places where it leads."""
        found = self._linked.get((tool, listed))
        if found is None:
            found = ()
            if listed in ("deny", "ask"):
                rules = self._rules
                heads = rules.derived((heads_of, tool, listed), lambda: heads_of(rules.path_rules(tool, listed)))
                found = tuple(where_links_lead(heads, self._workspace, self._home))
            self._linked[tool, listed] = found
        return found

    def _covering(
        self, tool: PathTool, listed: ListName, resolved: Resolved, *, secret: str | None = None, below: bool = False
    ) -> Rule | None:
        """The first rule of allow or grant that covers both spellings and, for a secret, names it.

        With ``below`` it must cover whatever could lie below the path, not the path alone.
        """
        if resolved.resolved is None or not self._rules.speaks_of(tool, listed):
            return None
        lexical, real = segments_of(resolved.lexical), segments_of(resolved.resolved)
        deeper: tuple[Segments, ...] = (("zzz",), (".zzz", "zzz.zzz")) if below else ((),)
        for rule in self._rules.paths(tool, listed, real, self._agent):
            shown = rule.source.files
            if shown is not None and resolved.resolved not in shown:
                continue
            if all(self._covers(rule, (*spelling, *more)) for spelling in (lexical, real) for more in deeper) and (
                secret is None
                or (
                    self._names(rule, lexical)
                    and self._names(rule, real)
                    and (secret != SHARED or names_one_file(rule))
                )
            ):
                return rule
        return None

    def _covers(self, rule: Rule, segments: Segments) -> bool:
        """Whether an allow rule covers this spelling. One without a pattern or an anchor covers only inside."""
        inside = self._inside(segments)
        pattern = rule.specifier
        if not isinstance(pattern, PathPattern):
            return inside is not None
        if pattern.root == "anywhere":
            return inside is not None and pattern.covers(inside)
        if pattern.root == "root":
            return pattern.covers(segments)
        root = self._workspace if pattern.root == "workspace" else self._home
        return any(pattern.covers(place) for place in root.relative(segments))

    def _names(self, rule: Rule, segments: Segments) -> bool:
        """Whether it is the secret's own name that the rule matches, and not any name in its place.

        See docs/gate.md "Secrets".
        """
        found = self._secrets_of(segments)
        return not found or any(
            not any(
                self._covers(rule, (*segments[:index], other, *segments[index + 1 :]))
                for other in innocent_names(segments[index])
            )
            for index, _ in found
        )

    def _below(
        self,
        resolved: Resolved,
        tools: Sequence[PathTool],
        parts: Sequence[str] | None = None,
        *,
        is_idle: Callable[[Rule], bool] | None = None,
    ) -> Rule | None:
        """A deny or ask rule that might match something below this folder, or of that what a pattern with these parts
        may name, and that ``is_idle`` not."""
        for spelling in resolved.spellings():
            segments = segments_of(spelling)
            inside = self._inside_any_case(segments)
            places: dict[Root, Place] = {
                "root": segments,
                "anywhere": inside if inside is not None else segments,
                "workspace": place_of(self._workspace, segments),
                "home": place_of(self._home, segments),
            }
            for tool in tools:
                for listed in ("deny", "ask"):
                    rule = self._rules.below(tool, listed, places, self._agent, parts, is_idle=is_idle)
                    if rule is not None:
                        return rule
                    for rule in self._behind_links(tool, listed):
                        pattern = rule.specifier
                        if isinstance(pattern, PathPattern) and (
                            pattern.may_touch_below(segments)
                            if parts is None
                            else pattern.may_touch((*segments, *parts))
                        ):
                            return rule
        return None

    def holds_ruled(self, folder: str, parts: Sequence[str] | None = None, *, cwd: str) -> bool:
        """Whether a rule against reading may be about something that is below a folder now, or that a shell's pattern
        with these parts matches there. Of what git keeps it says nothing."""
        return self._holds_ruled(self.resolve(folder, cwd=cwd), parts)

    def _holds_ruled(self, folder: Resolved, parts: Sequence[str] | None) -> bool:
        found = self._below(folder, ("Read",), parts, is_idle=lambda rule: self._is_idle(rule, folder, parts))
        return found is not None

    def _is_idle(self, rule: Rule, folder: Resolved, parts: Sequence[str] | None) -> bool:
        """Whether nothing that lies below a folder of the workspace now is what a rule is about; with ``parts``,
        nothing that such a pattern matches there."""
        pattern, place = rule.specifier, self._place_in_workspace(folder)
        if place is None or self.expects_changes or not isinstance(pattern, PathPattern):
            return False
        if pattern.root not in ("workspace", "anywhere"):
            return False
        found = ruled_below(pattern, folder.lexical, place)
        if found is None or parts is None:
            return found == ()
        return not any(
            all(glob_segment(part).may_match_any_case(name) for part, name in zip(parts, each.names, strict=False))
            for each in found
        )

    def _place_in_workspace(self, folder: Resolved) -> Segments | None:
        """Where a folder lies in the workspace, if it is there and no link leads to it; else None."""
        if folder.kind != "folder" or folder.resolved != folder.lexical or self.zone(folder) != "workspace":
            return None
        return next(iter(self._workspace.relative(segments_of(folder.lexical))), None)

    def patterns_against_reading(self) -> tuple[PathPattern, ...] | None:
        """The patterns, counted from the workspace, of all rules against reading that may be about something in it;
        None where that is not known: a rule has no pattern or is anchored elsewhere, or links or additional folders
        make it count in other places as well."""
        if self._additional or self._leads_through_link():
            return None
        if self._place_in_workspace(self.resolve(self.workspace, cwd="/")) is None:
            return None
        found: list[PathPattern] = []
        for rule in self._rules.rules():
            if rule.list not in ("deny", "ask") or not rule.serves(self._agent) or not _is_about_reading(rule):
                continue
            pattern = rule.specifier
            if not isinstance(pattern, PathPattern):
                return None
            if pattern.root in ("workspace", "anywhere"):
                found.append(pattern)
            elif self._may_lead_inside(pattern):
                return None
        return tuple(found)

    def ruled_secrets(self) -> tuple[str, ...] | None:
        """The files of the workspace that rules against reading are about, where each of these is a secret by its name;
        else None, also where that is not known."""
        patterns = None if self.expects_changes else self.patterns_against_reading()
        if patterns is None:
            return None
        found: dict[str, None] = {}
        for pattern in patterns:
            ruled = ruled_below(pattern, self.workspace, ())
            if ruled is None or any(each.is_folder for each in ruled):
                return None
            found |= dict.fromkeys("/".join((self.workspace, *each.names)) for each in ruled)
        # Only by its own name is it left out where files are searched, not by what surrounds it or leads to it as well.
        return tuple(found) if all(secret_name(path.rsplit("/", 1)[-1]) is not None for path in found) else None

    def _leads_through_link(self) -> bool:
        """Whether a link in the pattern of a rule against reading leads to something in the workspace, which is another
        place than the pattern says."""
        top = segments_of(self._workspace.spellings[-1])
        rules = [rule for listed in ("deny", "ask") for rule in self._behind_links("Read", listed)]
        return any(isinstance(rule.specifier, PathPattern) and rule.specifier.may_touch_below(top) for rule in rules)

    def _may_lead_inside(self, pattern: PathPattern) -> bool:
        """Whether a pattern that counts from the home or from `/` may be about something in the workspace."""
        segments = segments_of(self.workspace)
        if pattern.root == "root":
            return pattern.may_touch_below(segments)
        if place_of(self._home, segments) == "holds":
            return True
        return any(map(pattern.may_touch_below, self._home.relative_any_case(segments)))

    def _broken_read_deny(self, views: Sequence[Segments]) -> Rule | None:
        """A Read deny also denies writing; one that cannot be read therefore asks for writing too."""
        asking = self._all_touching("Read", "ask", views)
        return next((rule for rule in asking if rule.broken is not None and rule.source.list == "deny"), None)

    def _uncovered(
        self, tool: PathTool, views: Sequence[Segments], found: Rule | None, secret: str | None
    ) -> str | None:
        """Why a rule that looks as if it matched does not."""
        if found is not None:
            return None
        near = self._touching(tool, "allow", views)
        if near is None:
            return None
        if secret is not None:
            return f"`{near.text}` does not name this secret"
        return f"`{near.text}` does not cover every spelling of this path"

    # --- places ------------------------------------------------------------------------------------------------------

    def _views(self, resolved: Resolved) -> tuple[Segments, ...]:
        """Every spelling as deny rules see it, other systems' ways to write the same name among them."""
        key = (resolved.lexical, resolved.resolved, resolved.between)
        found = self._seen_as.get(key)
        if found is None:
            found = self._seen_as[key] = tuple(
                dict.fromkeys(variant for spelling in resolved.spellings() for variant in as_other_systems(spelling))
            )
        return found

    def _places(self, view: Segments, root: Root) -> Iterator[Segments]:
        """A spelling relative to what a pattern is anchored at; nothing if it does not lie there."""
        if root == "root":
            yield view
        elif root == "anywhere":
            inside = self._inside_any_case(view)
            yield inside if inside is not None else view
        else:
            yield from (self._workspace if root == "workspace" else self._home).relative_any_case(view)

    def _inside(self, segments: Segments) -> Segments | None:
        """The segments below the workspace or an additional directory, or None outside of all."""
        for root in (self._workspace, *self._additional):
            for place in root.relative(segments):
                return place
        return None

    def _inside_any_case(self, segments: Segments) -> Segments | None:
        """The same where case does not count: for deny and ask only."""
        for root in (self._workspace, *self._additional):
            for place in root.relative_any_case(segments):
                return place
        return None

    def _zone_of(self, path: str) -> Zone:
        segments = segments_of(path)
        if any(True for _ in self._workspace.relative(segments)):
            return "workspace"
        return "outside" if self._inside(segments) is None else "additional"

    def _own_read_floor(self, resolved: Resolved) -> Iterator[Floor]:
        # Not under bypass, nor where everybody's programs lie (docs/gate.md "Own files").
        if self._is_own(resolved, except_for=SYSTEM_PREFIXES):
            yield Floor("deny", evidence_for("floor", OWN), bypassable=True)

    def _own_write_floor(self, resolved: Resolved, operation: Operation) -> Iterator[Floor]:
        if self._is_own(resolved) or self._is_control(resolved, self._control, operation):
            yield Floor("deny", evidence_for("floor", OWN))

    def _is_control(self, resolved: Resolved, paths: Sequence[str], operation: Operation) -> bool:
        """Whether writing this path changes a control file, under whichever name, or decides where one is found."""

        def replaces() -> bool:
            kept = resolved.kind == "folder" and resolved.resolved == resolved.lexical
            stays = kept and operation in ("create", "edit")
            return not self.is_root(resolved) and (not stays or self.zone(resolved) == "workspace")

        return is_control(resolved, self._views(resolved), paths, replaces=replaces)

    def own_places(self) -> tuple[str, ...]:
        """Our own places in every spelling, which a walk below a folder may meet, folded."""
        return tuple(sorted({fold(own) for root in self._own for own in root.spellings if own not in SYSTEM_PREFIXES}))

    def _is_own(self, resolved: Resolved, except_for: Collection[str] = ()) -> bool:
        """Whether a spelling lies in our own places. A workspace that lies in one of them is still the person's."""
        owned = [own for root in self._own for own in root.spellings if own not in except_for]
        for spelling, own in ((spelling, own) for spelling in resolved.spellings() for own in owned):
            around = any(is_within(part, own) for part in self._workspace.spellings)
            if is_within(fold(spelling), fold(own)) and not (around and self._zone_of(spelling) == "workspace"):
                return True
        return False

    def _protected(self, resolved: Resolved, operation: Operation) -> str | None:
        for view in self._views(resolved):
            inside = self._inside_any_case(view)
            reason = protected_reason(inside if inside is not None else view)
            for place in self._home.relative_any_case(view):
                reason = reason or protected_in_home(place)
            if reason is not None:
                return reason
        if operation != "delete" and (reason := repository_reason(resolved)) is not None:
            return reason
        if self._is_control(resolved, self._workspace_control, operation):
            return SETTINGS_READ
        if self._named_by_git is None:
            self._named_by_git = named_by_git(self.workspace)
        return NAMED_BY_GIT if self._is_control(resolved, self._named_by_git, operation) else None

    def _secret(self, resolved: Resolved, *, below: bool) -> str | None:
        for view in self._views(resolved):
            for index, reason in self._secrets_of(view):
                folder_itself = index == len(view) - 1 and secret_name(view[index]) is None
                if below or not folder_itself or resolved.kind != "folder":
                    return reason
        return SHARED if is_shared(resolved) else None

    def _holds_secrets(self, resolved: Resolved) -> str | None:
        """Why reading all that lies below this folder would read the home's secrets, or those that git keeps."""
        for spelling in resolved.spellings():
            segments = segments_of(spelling)
            if resolved.kind == "folder" and (
                (segments and fold(segments[-1]) == ".git")
                or any(keeps_text(f"{spelling.rstrip('/')}{part}") for part in ("", "/.git"))
            ):
                return KEPT_BY_GIT
            below_home = next(self._home.relative_any_case(segments), None)
            ahead = below_home is not None and any(
                len(below_home) < len(names) and names[: len(below_home)] == tuple(map(fold, below_home))
                for names in SECRET_IN_HOME
            )
            if ahead or place_of(self._home, segments) == "holds":
                return "keys and tokens of the home lie below it"
        return None

    def _secrets_of(self, segments: Segments) -> list[tuple[int, str]]:
        """Which segments make this path a secret, and why."""
        inside = self._inside_any_case(segments)
        counted = inside if inside is not None else segments
        found = [(index + len(segments) - len(counted), reason) for index, reason in filter(None, [secret_at(counted)])]
        top = "/".join(segments[: len(segments) - len(counted)])  # of the workspace, or of all
        if not found and (kept := kept_in_other_folder("/".join(segments), top)) is not None:
            found.append((kept, KEPT_BY_GIT))
        for place in self._home.relative_any_case(segments):
            at = secret_in_home(place)
            if at is not None:
                found.append((at[0] + len(segments) - len(place), at[1]))
        return found

    def _rule_base(self, resolved: Resolved) -> tuple[str, Segments] | None:
        """How a rule would spell this path: its anchor and segments; None if no one rule covers both spellings."""
        if resolved.resolved is None or resolved.refused is not None:
            return None
        lexical, real = segments_of(resolved.lexical), segments_of(resolved.resolved)
        for anchor, root in (("./", self._workspace), ("~/", self._home)):
            places = set(root.relative(lexical)) & set(root.relative(real))
            if places:
                return anchor, min(places, key=len)
        return ("//", real) if lexical == real else None


def _is_about_reading(rule: Rule) -> bool:
    return rule.tool == "Read" or ("*" in rule.tool and NamePattern(rule.tool).matches("Read"))


def _reached_by(tops: Collection[str], resolved: Resolved, *, itself: bool, last: bool = True) -> bool:
    """Whether a spelling of a path lies below one of these, or, with ``itself``, is one, or the way to it passes such a
    place. Without ``last``, a name that lies in one of these does not count: deleting a link does not follow it."""
    for passed in resolved.passed:
        folded = fold(passed)
        if (itself and folded in tops) or any((above or "/") in tops for above in _folders_above(folded)):
            return True
    for spelling in resolved.spellings():
        folded = fold(spelling)
        if itself and folded in tops:
            return True
        for above in _folders_above(folded):
            if (above or "/") in tops and (last or "/" in folded[len(above) :].strip("/")):
                return True
    return False


def _folders_above(path: str) -> Iterator[str]:
    """The folders above a path, the nearest first; the last one is empty."""
    at = path.rfind("/")
    while at >= 0:
        yield path[:at]
        at = path.rfind("/", 0, at)


def _with_folders_above(paths: Iterable[str]) -> frozenset[str]:
    """These paths and all folders above them, the top of all as an empty text."""
    bare = {path.rstrip("/") for path in paths}
    return frozenset(bare.union(*map(_folders_above, bare)))
