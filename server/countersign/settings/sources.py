"""Sources: the files that settings come from beside the editor, read and told apart.

The workspace's ``.vscode/settings.json``, a ``.code-workspace`` file if one is open, the managed file, and
``rules.json`` in storage, which holds a user's rules where no editor keeps them. An editor's own user file is read for
nothing but the lines of what the editor sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from countersign.settings.files import Loaded, load_file, set_aside, signature_of
from countersign.settings.layers import Layer, Layers, file_layer, only_forbidding, sent_layer
from countersign.settings.policy import Problem
from countersign.settings.tree import code_workspace_tree, policy_tree, settings_tree
from countersign.wire.settings import SettingsLayers

RULES = "rules.json"
RELINKED = "a symlink on the way to this file changed; deny and ask rules that it held before count until a restart"
NO_FILE = Loaded("")
ONLY_FORBIDS = "somebody other than the administrator could write this file, so only its deny and ask rules count"


@dataclass(frozen=True, slots=True)
class Sources:
    """What was found on disk. ``user`` is the editor's own file, if it told us where that is.

    ``warnings`` are what a person must be told of this very reading. ``corrupted`` are stores of rules as they were
    before they were put aside beneath us: what they forbade is forbidden as long as this server runs. ``relinked`` are
    files as they were before a symlink on the way to them changed: what they forbade is forbidden until it is turned
    back, or this server ends.
    """

    workspace: Loaded
    managed: Loaded
    rules: Loaded
    user: Loaded
    code_workspace: Loaded = NO_FILE
    warnings: tuple[str, ...] = ()
    corrupted: tuple[Loaded, ...] = ()
    relinked: tuple[Loaded, ...] = ()

    def unreadable(self) -> bool:
        """Whether a file that may forbid something is there and cannot be read. The editor's own user file counts only
        where a symlink hides it: the editor then sends no user settings, and says nothing of it."""
        broken = any(loaded.problem is not None for loaded in (*self.of_workspace(), self.managed, self.rules))
        return broken or (self.user.problem is not None and bool(self.user.links))

    def of_workspace(self) -> tuple[Loaded, ...]:
        """The files that hold a workspace's own settings, the weaker first."""
        return (self.code_workspace, self.workspace) if self.code_workspace.path else (self.workspace,)

    def problems(self) -> Iterator[Problem]:
        """Broken files, and keys in good ones that do not count."""
        for loaded in (*self.of_workspace(), self.managed, self.rules, *((self.user,) if self.user.links else ())):
            if loaded.problem:
                yield loaded.problem
            if loaded.tree:
                for offset, message in loaded.tree.ignored:
                    yield Problem(loaded.path, *loaded.tree.document.position(offset), message)
        for loaded in self.relinked:
            yield Problem(loaded.path, 1, 1, RELINKED)
        if self.managed.tree and not self.managed.administered:
            yield Problem(self.managed.path, 1, 1, ONLY_FORBIDS)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the sources are; ``user`` is empty where it is not known.

    ``code_workspace`` is the file that the editor keeps the workspace layer in: empty where that is no file on disk,
    None where it is ``workspace``.
    """

    workspace: str
    managed: str
    rules: str
    user: str = ""
    code_workspace: str | None = None

    def load(self, before: Sources | None = None) -> Sources:
        """Read again if anything changed since ``before``, else give that back. Blocks for a few small files."""
        same_files = before is not None and before.code_workspace.path == (self.code_workspace or "")
        if before and same_files and all(signature_of(one.path) == one.signature for one in _each(before)):
            return before
        rules = _followed(load_file(self.rules, policy_tree), before and before.rules)
        if before and rules.unopened:
            rules = replace(rules, tree=before.rules.tree)
        warnings: tuple[str, ...] = ()
        corrupted = before.corrupted if before else ()
        if rules.problem and not rules.unopened:
            rules, warnings = _put_aside(rules)
            if before and before.rules.tree:
                corrupted = (*corrupted, before.rules)
        workspace = _followed(load_file(self.workspace, settings_tree), before and before.workspace)
        managed = _followed(load_file(self.managed, policy_tree), before and before.managed)
        user = _followed(load_file(self.user, settings_tree), before and before.user) if self.user else Loaded("")
        code_workspace = NO_FILE
        if self.code_workspace:
            known = before.code_workspace if before and same_files else None
            code_workspace = _followed(load_file(self.code_workspace, code_workspace_tree), known)
        found = Sources(workspace, managed, rules, user, code_workspace, warnings, corrupted)
        return replace(found, relinked=_relinked(found, before)) if before else found


def _followed(loaded: Loaded, before: Loaded | None) -> Loaded:
    return loaded.unless_emptied(before).unless_lost(before)


def _relinked(now: Sources, before: Sources) -> tuple[Loaded, ...]:
    """What was reached another way before, the first of each way only."""
    known = {loaded.path: loaded for loaded in _each(now)}
    found: dict[tuple[str, object], Loaded] = {}
    for loaded in (*before.relinked, *_each(before)):
        forbids = loaded.tree is not None and loaded.tree.find(("permissions",)) is not None
        if forbids and loaded.path in known and loaded.links != known[loaded.path].links:
            found.setdefault((loaded.path, loaded.links), loaded)
    return tuple(found.values())


def editors_user_file(own_paths: Iterable[str]) -> str:
    """The editor's user settings among what it said is its own; empty if they are not there."""
    candidates = [path for own in own_paths for path in (own, os.path.join(own, "settings.json"))]
    found = (path for path in candidates if os.path.basename(path) == "settings.json" and _is_file_or_link(path))
    return next(found, "")


def _is_file_or_link(path: str) -> bool:
    return os.path.isfile(path) or os.path.islink(path)


def layers_of(sources: Sources, sent: SettingsLayers | None, places: Places) -> Layers:
    """All layers: those an editor sent, and those that only files say.

    An editor that tells no workspace layer leaves that to the file.

    Raises:
        TooDeep: what was sent cannot be settings.
    """
    managed = file_layer("managed", sources.managed.path, sources.managed.tree)
    if not sources.managed.administered:
        managed = only_forbidding(managed)
    of_workspace = [loaded.path for loaded in sources.of_workspace()]
    rules = (
        file_layer("user", sources.rules.path, sources.rules.tree),
        *(only_forbidding(file_layer("user", store.path, store.tree)) for store in sources.corrupted),
        *(
            only_forbidding(file_layer("user", file.path, file.tree))
            for file in sources.relinked
            if file.path not in of_workspace
        ),
    )
    relinked = tuple(
        only_forbidding(file_layer("workspace", file.path, file.tree))
        for file in sources.relinked
        if file.path in of_workspace
    )
    in_file = _in_files(sources)
    if sent is None:
        return Layers(user=rules, workspace=(*in_file, *relinked), managed=managed)
    where = (sources.workspace.path, sources.workspace.tree)
    where_workspace = where
    if places.code_workspace is not None:
        where_workspace = (places.code_workspace or None, sources.code_workspace.tree)
    told = tuple(
        sent_layer("workspace", values, *kept)
        for values, kept in ((sent.workspace, where_workspace), (sent.folder, where))
        if values is not None
    )
    return Layers(
        default=sent_layer("default", sent.default),
        user=(sent_layer("user", sent.user, sources.user.path or None, sources.user.tree), *rules),
        workspace=(*(told or in_file), *relinked),
        managed=managed,
    )


def layers_in_files(sources: Sources, layers: Layers) -> Layers:
    """The same, with the workspace as its files have it on disk."""
    return Layers(layers.default, layers.user, _in_files(sources), layers.managed)


def _in_files(sources: Sources) -> tuple[Layer, ...]:
    return tuple(file_layer("workspace", loaded.path, loaded.tree) for loaded in sources.of_workspace())


def _each(sources: Sources) -> tuple[Loaded, ...]:
    known = (*sources.of_workspace(), sources.managed, sources.rules)
    return (*known, sources.user) if sources.user.path else known


def _put_aside(rules: Loaded) -> tuple[Loaded, tuple[str, ...]]:
    try:
        aside = set_aside(Path(rules.path))
    except OSError:
        return rules, ()  # it stays as it is and grants nothing; like any file that cannot be read it asks
    warning = f"the store of your rules was corrupt; it is kept as `{aside.name}` and counts as empty"
    return Loaded(rules.path), (warning,)
