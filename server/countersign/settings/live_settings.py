"""The settings desk: the live settings of one server, from what the editor sends and what lies on disk.

Keeps the one Policy up to date, tells its listeners, and takes a person's confirmations. Writing settings is
``writer.py``'s business; what layers come to is ``merge.py``'s.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from countersign.settings.confirmations import Confirmations, ConfirmationsUnavailable, LastConfirmed
from countersign.settings.files import Loaded, managed_file
from countersign.settings.layers import Layers, TooDeep
from countersign.settings.merge import Built, build_policy, fail_closed
from countersign.settings.policy import Policy, Problem
from countersign.settings.session_bypass import SessionBypass
from countersign.settings.sources import RULES, Places, Sources, editors_user_file, layers_in_files, layers_of
from countersign.settings.standing import BrokenText
from countersign.settings.tree import setting_name, setting_path
from countersign.settings.workspace_restrictions import Claim
from countersign.wire.errors import InvalidAnswer, NotTrusted
from countersign.wire.settings import ByPerson, InitializationOptions, SettingsChanged, SettingsFiles, UnconfirmedItem

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0
"""Seconds between two looks at the files; a change must count within two."""


class LiveSettings:
    """The live Policy and what waits for a person.

    INVARIANT (narrowing): at every moment the policy is no wider than layers, trust and confirmations say together;
    while any of them is not known it is ``fail_closed``. Only ``confirm``, ``changed`` with ``byPerson`` and the
    keeper, each a person's act, add a confirmation.

    Belongs to one event loop and is not safe to use from other threads.
    """

    def __init__(
        self,
        options: InitializationOptions,
        *,
        workspace: str | Path,
        storage: str | Path,
        warn: Callable[[str], None],
        home: str | Path | None = None,
        managed: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
        interpreter: Iterable[str | Path] = (sys.prefix, os.path.dirname(os.__file__)),
        describe: Callable[[Claim], str | None] = lambda _: None,
        temporary_base: str | None = None,
    ) -> None:
        """Reads the files once.

        Args:
            workspace: the folder, by any spelling; its resolved path is what counts.
            storage: our own folder; made when there is something to keep.
            warn: shows a warning to the person; each one is given once.
            temporary_base: what ``Policy`` says of it.
            describe: the gate's sentence on what a value would allow, None where it has none.
            managed, environ, interpreter: where tests look instead of at this machine.
        """
        self.workspace = os.path.realpath(workspace)
        self.abilities = options.client
        storage = os.path.abspath(storage)
        self._home = str(home) if home is not None else os.path.expanduser("~")
        self._environ = os.environ if environ is None else environ
        self._temporary_base = temporary_base
        self._told: set[str] = set()
        self._warn = warn
        self._listeners: list[Callable[[], None]] = []
        self.places = Places(
            workspace=os.path.join(self.workspace, ".vscode", "settings.json"),
            managed=str(managed or managed_file()),
            rules=os.path.join(storage, RULES),
            user=editors_user_file(self.abilities.own_paths),
        )
        self._place(options.files)
        self._own_paths, self._start_problems = own_paths(
            (storage, *interpreter, self.places.managed), self.abilities.own_paths
        )
        told = (os.path.normpath(path) for path in self.abilities.own_paths if os.path.isabs(path))
        self._control_paths = tuple(dict.fromkeys((storage, os.path.abspath(self.places.managed), *told)))
        self.confirmations = Confirmations(storage, self._tell_once)
        self.sent = options.settings
        self._trusted = options.trusted
        self._awaits = self.sent is None and announces_settings(options)
        self.writing: set[str] = set()
        self.session_bypass = SessionBypass()
        self._standing: dict[str, Claim] = {}
        self._describe = describe
        self.sources = self._known(self.places.load())
        self._in_files: Mapping[str, Claim] = {}
        self._were_in_files: set[str] = set()
        self._last_good: Policy | None = None
        self.uncertain, self.built = False, self._build(Layers(), trusted=False)
        self._policy, self._unconfirmed = self.built.policy, self.built.unconfirmed
        self.rebuild()

    @property
    def policy(self) -> Policy:
        """What counts now. A value: ask again rather than keeping it."""
        return self._policy

    def unconfirmed(self) -> tuple[UnconfirmedItem, ...]:
        """What of the workspace is ignored until a person confirms it; accepting takes a trusted workspace."""
        return self._unconfirmed

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after every change of the policy or of what is unconfirmed; gives the way to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def changed(self, params: SettingsChanged) -> None:
        """``settings/changed``: these layers, trust, and what a person typed and saved in this window."""
        self.sent, self._trusted, self._awaits = params.settings, params.trusted, False
        self._place(params.files)
        self.sources = self._known(self.places.load(self.sources))
        self.rebuild(params.by_person or ())

    def confirm(self, digest: str, *, accept: bool) -> None:
        """``settings/confirm``: a person's word on one value of the workspace.

        Raises:
            InvalidAnswer: no such value stands there (any more).
            NotTrusted: the workspace is not trusted, so nothing of it can be accepted.
            ConfirmationsUnavailable: it could not be kept.
        """
        claim = self.built.claims.get(digest)
        if claim is None or self.uncertain:
            raise InvalidAnswer("no value of this digest waits in the settings; look at them again")
        if accept and not self._trusted:
            raise NotTrusted("the workspace is not trusted; trust it in the editor first")
        self.confirmations.answer(self.workspace, digest, claim.subject, accepted=accept)
        self.rebuild()

    def refresh(self) -> None:
        """Read again what changed on disk; blocks for a few small files."""
        before = self.sources
        self.sources = self._known(self.places.load(before))
        if self.sources is not before or self._folders_moved():
            self.rebuild()

    async def look(self) -> None:
        """As ``refresh``, off the loop."""
        before = self.sources
        found = await asyncio.to_thread(self.places.load, before)
        moved = await asyncio.to_thread(self._folders_moved)
        if self.sources is before and (found is not before or moved):
            self.sources = self._known(found)
            self.rebuild()

    async def watch(self, seconds: float = LOOK_EVERY) -> None:
        """Look at the files for ever, for editors that tell nothing. Owned and cancelled by the caller."""
        while True:
            await asyncio.sleep(seconds)
            await self.look()

    def rebuild(self, by_person: Iterable[ByPerson] = ()) -> None:
        """Work the policy out anew, forget confirmations whose value is gone, and tell the listeners of a change."""
        before = (self._policy, self._unconfirmed)
        try:
            layers = self.layers()
        except TooDeep as error:
            self._tell_once(f"the editor's settings were not understood: {error}")
            layers, self._awaits = layers_of(self.sources, None, self.places), True
        self._look_into_files(layers)
        self.built = self._build(layers, trusted=self._trusted)
        self.uncertain = self._awaits or self.sources.unreadable()
        if self.uncertain:
            self._policy, self._unconfirmed = fail_closed(self.built.policy, self._last_good), ()
            if not self._awaits:
                self._forget_what_left(layers)
        else:
            if self._confirm_all(by_person):
                self.built = self._build(layers, trusted=self._trusted)
            self._forget_what_left(layers)
            self.session_bypass.end_where_unlike(self.built.policy, self.built.entries, layers)
            self._policy, self._unconfirmed = self.session_bypass.applied(self.built.policy), self._with_changes()
            self._last_good = self._policy
        if before != (self._policy, self._unconfirmed):
            self._tell_listeners()

    def _place(self, files: SettingsFiles | None) -> None:
        """Take over where the editor keeps the workspace layer; None leaves it as it is known."""
        if files is not None:
            file = files.workspace or ""
            self.places = replace(self.places, code_workspace=os.path.normpath(file) if os.path.isabs(file) else "")

    def _workspace_control_paths(self) -> tuple[str, ...]:
        ours = (os.path.join(self.workspace, name) for name in (".vscode", ".vscode/settings.json", ".countersign"))
        return (*ours, self.places.code_workspace) if self.places.code_workspace else tuple(ours)

    @property
    def workspace_file(self) -> str:
        """The file of the editor's workspace layer; empty where that is no file on disk."""
        return self.places.workspace if self.places.code_workspace is None else self.places.code_workspace

    @property
    def workspace_source(self) -> Loaded:
        """That file as it was read last."""
        return self.sources.workspace if self.places.code_workspace is None else self.sources.code_workspace

    def layers(self) -> Layers:
        """Return all that is said now. Raises TooDeep."""
        return layers_of(self.sources, self.sent, self.places)

    def _look_into_files(self, layers: Layers) -> None:
        """Find what stands in the workspace's files, where an editor tells of them: it does so some time after they
        changed, and what has left them meanwhile must not count."""
        if self.sent is not None:
            self._in_files = self._build(layers_in_files(self.sources, layers), trusted=True).claims
            self._were_in_files |= set(self._in_files)

    def _has_left(self, digest: str) -> bool:
        """Whether a value stood in a file of the workspace once, and does not now."""
        return digest in self._were_in_files and digest not in self._in_files

    def _build(self, layers: Layers, *, trusted: bool) -> Built:
        """What these layers come to; a value that has left its file is as if nobody had confirmed it, nor waits."""
        answers = self.confirmations.answers(self.workspace)
        standing = {digest: said for digest, said in answers.items() if not self._has_left(digest)}
        built = self._built(layers, standing, trusted=trusted)
        waiting = tuple(item for item in built.unconfirmed if not self._has_left(item.digest))
        return replace(built, unconfirmed=waiting)

    def _built(self, layers: Layers, answers: Mapping[str, bool], *, trusted: bool) -> Built:
        return build_policy(
            layers,
            workspace=self.workspace,
            home=self._home,
            trusted=trusted,
            answers=answers,
            own_paths=self._own_paths,
            control_paths=self._control_paths,
            workspace_control_paths=self._workspace_control_paths(),
            temporary_base=self._temporary_base,
            environ=self._environ,
            problems=(*self._start_problems, *self.sources.problems()),
        )

    def _confirm_all(self, by_person: Iterable[ByPerson]) -> bool:
        """What a person typed and saved counts as confirmed, if it is exactly what stands there."""
        confirmed = False
        for said in by_person if self._trusted else ():
            claim = self.built.claims.get(said.digest)
            if claim is None or setting_name(setting_path([said.key])) != setting_name(claim.path):
                continue
            try:
                self.confirmations.answer(self.workspace, said.digest, claim.subject, accepted=True)
                confirmed = True
            except ConfirmationsUnavailable as error:
                self._tell_once(str(error))  # it is asked instead, which is the narrow way on
        return confirmed

    def _forget_what_left(self, layers: Layers) -> None:
        """Drop every answer whose value no longer stands in its file, also while that file is broken."""
        broken = [loaded for loaded in self.sources.of_workspace() if loaded.problem is not None]
        if any(loaded.unopened for loaded in broken):
            return  # nothing is known of what stands there
        # What stands there does not depend on trust, though what an agent comes to does.
        standing = dict(self._build(layers, trusted=True).claims)
        if self.sent is not None:
            # An editor may tell of a file a moment after it changed; a value has left when neither has it.
            standing |= self._in_files
            tree = self.workspace_source.tree
            if tree is not None and tree.root.value:  # an empty file may be one that is about to be written
                standing = {digest: claim for digest, claim in standing.items() if not self._has_left(digest)}
        for loaded in broken:
            text = BrokenText(loaded.broken_text)
            of_file = ((digest, claim) for digest, claim in self._standing.items() if claim.place.file == loaded.path)
            standing |= {digest: claim for digest, claim in of_file if text.holds(claim)}
        self._standing = standing
        try:
            self.confirmations.retain(self.workspace, {*self.writing, *standing})
        except ConfirmationsUnavailable as error:
            self._tell_once(str(error))

    def _with_changes(self) -> tuple[UnconfirmedItem, ...]:
        """What waits, each with what it would allow and what it was when a person last confirmed it."""
        found: list[UnconfirmedItem] = []
        last = self.confirmations.last_confirmed(self.workspace) if self.built.unconfirmed else {}
        for item in self.built.unconfirmed:
            claim = self.built.claims[item.digest]
            update = {"changed": _changed(claim, last.get(claim.subject.name)), "allows": self._describe(claim)}
            found.append(item.model_copy(update=update))
        return tuple(found)

    def _folders_moved(self) -> bool:
        """Whether an additional directory leads elsewhere than when it was looked at, so that its confirmation ends."""
        return any(os.path.realpath(folder) != resolved for folder, resolved in self.built.folders.items())

    def _known(self, sources: Sources) -> Sources:
        for warning in sources.warnings:
            self._tell_once(warning)
        return sources

    def _tell_once(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            self._warn(message)

    def _tell_listeners(self) -> None:
        for listener in tuple(self._listeners):
            try:
                listener()
            except Exception:
                # One listener's fault must not keep the others from a tightening.
                log.exception("a listener of the settings failed")


def _changed(claim: Claim, last: LastConfirmed | None) -> str | None:
    if last is None or last.digest == claim.digest:
        return None
    if last.short == claim.subject.short:
        return "the same value was confirmed for another file, or for an agent that was started in another way"
    return f"was `{last.short}` when it was last confirmed"


def announces_settings(options: InitializationOptions) -> bool:
    """Whether the client said that it will send settings: by its word, or by an explicit null."""
    return options.client.settings or "settings" in options.model_fields_set


def own_paths(ours: Iterable[str | Path], told: Iterable[str]) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """What tools may never write, each as it is spelled and resolved; and what of the client's list is no path."""
    absolute = [os.path.abspath(path) for path in ours]
    problems: list[Problem] = []
    for path in told:
        if os.path.isabs(path):
            absolute.append(os.path.normpath(path))
        else:
            problems.append(Problem(None, None, None, f"`{path}` in ownPaths is not absolute and protects nothing"))
    spellings = dict.fromkeys(spelling for path in absolute for spelling in (path, os.path.realpath(path)))
    return tuple(spellings), tuple(problems)
