"""The keeper: writes into settings what a person chose to have kept (bypass, rules), and confirms exactly that.

Through the editor where it can update settings, because the file may be open there; else with ``edit.py``. What cannot
be written is refused with its reason and nothing is changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal

from countersign.settings.agents import is_agent_name
from countersign.settings.bypass import bypass_digest, bypass_path, refused_at
from countersign.settings.confirmations import ConfirmationsUnavailable, canonical, value_digest
from countersign.settings.edit import (
    EditRefused,
    append_item,
    dropped_rules,
    edit_list,
    remove_items,
    remove_value,
    set_value,
)
from countersign.settings.edit_leftovers import blocking_settle_edit
from countersign.settings.escape_text import shown
from countersign.settings.files import edit_file, planned_edit
from countersign.settings.live_settings import LiveSettings
from countersign.settings.policy import RuleText
from countersign.settings.rules import is_entry_of, rule_entry
from countersign.settings.tree import Path, nested, setting_name, with_value, without_value
from countersign.settings.workspace_restrictions import subject_of
from countersign.wire.base import Json
from countersign.wire.errors import InvalidAnswer, NotTrusted, WorldError
from countersign.wire.rules import RuleList
from countersign.wire.settings import SettingsLayers, SettingsUpdateParams, SettingsUpdateResult, TextEdit
from countersign.wire.verdicts import Scope

log = logging.getLogger(__name__)

WrittenLayer = Literal["user", "workspace"]
ClientUpdate = Callable[[SettingsUpdateParams], Awaitable[SettingsUpdateResult]]

EDITOR_WAIT = 10.0
"""Seconds that an editor may take for an update; saving takes it milliseconds, and a card waits meanwhile."""


class SettingsWriter:
    """Writes one thing at a time, so that two cards answered together cannot undo each other."""

    def __init__(self, desk: LiveSettings, update: ClientUpdate | None = None) -> None:
        """``update`` sends ``settings/update`` to the client; it is used only if the client said that it can."""
        self._desk = desk
        self._update = update if desk.abilities.settings_update else None
        self._lock = asyncio.Lock()

    async def set_session_bypass(self, agent: str) -> None:
        """Set bypass for this agent until this server ends; nothing is written.

        Raises:
            NotTrusted: bypass never counts in a workspace that is not trusted.
            InvalidAnswer: it would not count.
        """
        async with self._lock:
            await self._desk.look()
            self._check_bypass(agent)
            if agent not in self._desk.policy.agents:
                raise InvalidAnswer(f"there is no agent {shown(agent)} in the settings")
            if (place := refused_at(agent, self._desk.layers())) is not None:
                where = f" in {shown(place.file)}" if place.file else ""
                raise InvalidAnswer(f"bypass is switched off for this agent{where}; take `bypassPermissions` out there")
            self._desk.session_bypass.set(agent, self._desk.workspace, self._desk.built.entries.get(agent))
            self._desk.rebuild()

    def end_session_bypass(self, agent: str) -> None:
        """End what ``set_session_bypass`` set, at once; what settings say stays."""
        self._desk.session_bypass.end(agent)
        self._desk.rebuild()

    def _check_bypass(self, agent: str) -> None:
        self._check_certain()
        if not self._desk.policy.trusted:
            raise NotTrusted("bypass needs a trusted workspace; trust it in the editor first")
        if self._desk.policy.disable_bypass:
            raise InvalidAnswer("bypass is switched off by `countersign.permissions.disableBypass`")
        if not is_agent_name(agent):
            raise InvalidAnswer("this agent's name cannot stand in settings")

    async def set_bypass(self, agent: str) -> None:
        """Set ``bypassPermissions: true`` for this agent in the workspace, confirmed as it is now.

        Cancelled: what was not written is not confirmed either.

        Raises:
            NotTrusted: bypass never counts in a workspace that is not trusted.
            InvalidAnswer: it could not be written, or would not count.
        """
        async with self._lock:
            await self._desk.look()
            self._check_bypass(agent)
            path = bypass_path(agent)
            entry = self._desk.built.entries.get(agent)
            digest = bypass_digest(self._desk.workspace, self._desk.workspace_file, agent, entry)
            async with self._confirmed(digest, path):
                await self._written("workspace", path, True)

    async def end_bypass(self, agent: str) -> None:
        """Set ``bypassPermissions: false`` for this agent in the workspace, which beats what the user's settings say.

        Raises:
            InvalidAnswer: it could not be written.
        """
        async with self._lock:
            await self._desk.look()
            await self._written("workspace", bypass_path(agent), False)

    async def pass_variable(self, name: str) -> None:
        """Add a variable to the workspace's ``shell.env.pass``, confirmed as the whole list then stands.

        The list of the workspace replaces that of the user, so it begins with the names that pass already. Entries
        that nobody confirmed yet are never confirmed along with this one.

        Raises:
            NotTrusted: what widens never counts in a workspace that is not trusted.
            InvalidAnswer: it could not be written, or would not count.
        """
        path: Path = ("shell", "env", "pass")
        async with self._lock:
            await self._desk.look()
            self._check_certain()
            if not self._desk.policy.trusted:
                raise NotTrusted("passing a variable needs a trusted workspace; trust it in the editor first")
            passed = list(self._desk.policy.shell_env_pass)
            known = self._list_in("workspace", path)
            if any(entry not in passed for entry in known):
                where = f"`{setting_name(path)}` of the workspace"
                raise InvalidAnswer(f"{where} holds entries that do not count; confirm them or take them out first")
            if name in passed:
                return
            log.info("a person passes the variable %r to commands in this workspace", name)
            wanted: list[Json] = [*known, *(entry for entry in passed if entry not in known), name]
            digest = value_digest(self._desk.workspace, self._desk.workspace_file, path, wanted)
            async with self._confirmed(digest, path, wanted):
                if self._update is not None:
                    new = [entry for entry in wanted if entry not in known]
                    params = SettingsUpdateParams(layer="workspace", path=list(path), value=wanted, insert=new)
                    await self._list_written(params)
                else:
                    await self._written("workspace", path, wanted)
            if name not in self._desk.policy.shell_env_pass:
                raise InvalidAnswer(f"it was written, but `{setting_name(path)}` has no effect at present")

    async def save_rule(self, rule_list: RuleList, rule: str, scope: Scope, agent: str) -> None:
        """Keep a rule for the workspace or the user. It speaks of every agent, as its text does; ``agent`` asked.

        Raises:
            NotTrusted: an allow rule of a workspace that is not trusted would not count.
            InvalidAnswer: it could not be written.
        """
        log.info("a person keeps the %s rule %r (%s), asked for by %r", rule_list, rule, scope, agent)
        await self._save(rule_list, rule_entry(rule), scope)

    async def save_rule_for(self, agent: str, rule_list: RuleList, rule: str, scope: Scope) -> None:
        """Keep a rule that speaks of one agent only. Raises as ``save_rule``."""
        await self._save(rule_list, rule_entry(rule, agent), scope)

    async def remove_rule(self, rule: RuleText) -> None:
        """Take a rule of the workspace or the user out of its file, wherever it stands in its list.

        Raises:
            InvalidAnswer: it is not ours to remove, or could not be.
        """
        path = ("permissions", rule.list)
        async with self._lock:
            await self._desk.look()
            if rule.scope == "user" and rule.file == self._desk.places.rules:
                await self._edit_rules(lambda text: remove_items(text, path, _is(rule)))
            elif rule.scope in ("user", "workspace"):
                await self._remove("user" if rule.scope == "user" else "workspace", path, rule)
            else:
                raise InvalidAnswer(f"a rule of the {rule.scope} settings cannot be removed from here")
            self._desk.refresh()

    async def write(self, layer: WrittenLayer, path: Path, value: Json) -> SettingsUpdateResult:
        """Set one value, or remove it with None; confirms nothing. Says why if it was not applied."""
        async with self._lock:
            await self._desk.look()
            return await self._write(layer, path, value)

    async def settle(self) -> list[str]:
        """Clean up after edits that a killed server left half done; return what a person must know."""
        said: list[str] = []
        async with self._lock:
            files = [self._desk.places.rules]
            with contextlib.suppress(InvalidAnswer):  # beside another place's file nothing is touched
                await self._check_stays_inside()
                files.append(self._desk.places.workspace)
            for file in files:
                try:
                    left = await asyncio.to_thread(blocking_settle_edit, file)
                except OSError as error:  # what was left stays for the next start
                    log.warning("beside `%s` nothing could be settled: %s", file, error)
                else:
                    said += [left] if left is not None else []
        return said

    async def _save(self, rule_list: RuleList, entry: Json, scope: Scope) -> None:
        path = ("permissions", rule_list)
        async with self._lock:
            await self._desk.look()
            if scope == "user":
                await self._append("user", path, entry)
            elif scope != "workspace":
                raise InvalidAnswer("only rules for the workspace or the user are kept in settings")
            elif rule_list != "allow":
                await self._append("workspace", path, entry)
            else:
                self._check_certain()
                if not self._desk.policy.trusted:
                    raise NotTrusted("a rule for the workspace needs a trusted one; trust it in the editor first")
                digest = value_digest(self._desk.workspace, self._desk.workspace_file, path, entry)
                async with self._confirmed(digest, path):
                    await self._append("workspace", path, entry)

    @asynccontextmanager
    async def _confirmed(self, digest: str, path: Path, value: Json = True) -> AsyncIterator[None]:
        """Confirm a value while it is being written, so that it never stands there unconfirmed; undone if it fails."""
        desk = self._desk
        store, subject = desk.confirmations, subject_of(path, value)
        before = store.answers(desk.workspace).get(digest)
        desk.writing.add(digest)
        try:
            store.answer(desk.workspace, digest, subject, accepted=True)
            try:
                yield
            except BaseException:
                if before is None:
                    store.withdraw(desk.workspace, digest)
                else:
                    store.answer(desk.workspace, digest, subject, accepted=before)
                raise
        except ConfirmationsUnavailable as error:
            raise InvalidAnswer(str(error)) from error
        finally:
            desk.writing.discard(digest)
            desk.rebuild()

    async def _append(self, layer: WrittenLayer, path: Path, entry: Json) -> None:
        if layer == "user" and not self._edits_user():
            await self._edit_rules(lambda text: append_item(text, path, entry))
            self._desk.refresh()
            return
        known = self._list_in(layer, path)
        if any(canonical(one) == canonical(entry) for one in known):
            return
        if self._update is not None:
            await self._list_written(
                SettingsUpdateParams(layer=layer, path=list(path), value=[*known, entry], insert=[entry])
            )
        else:
            await self._edit_workspace(lambda text: append_item(text, path, entry))
            self._patch(layer, path, [*known, entry])

    async def _remove(self, layer: WrittenLayer, path: Path, rule: RuleText) -> None:
        if layer == "user" and not self._edits_user():
            raise InvalidAnswer("this editor's user settings cannot be changed from here; change them by hand")
        known = self._list_in(layer, path)
        left = [entry for entry in known if not _is(rule)(entry)]
        if self._update is not None:
            gone = [entry for entry in known if _is(rule)(entry)]
            await self._list_written(SettingsUpdateParams(layer=layer, path=list(path), value=left, remove=gone))
        else:
            await self._edit_workspace(lambda text: remove_items(text, path, _is(rule)))
            self._patch(layer, path, left)

    def _edits_user(self) -> bool:
        """Whether the editor keeps the user's settings; without its own list of them ours would replace it."""
        return self._update is not None and self._desk.sent is not None and self._desk.sent.user is not None

    def _list_in(self, layer: WrittenLayer, path: Path) -> list[Json]:
        """The list as it stands. The editor may be a moment behind its file: a deny or ask rule that either holds
        is kept."""
        value = self._said(layer, path)
        sources = self._desk.sources
        tree = (self._desk.workspace_source if layer == "workspace" else sources.user).tree
        spot = tree.find(path) if tree is not None and path[-1] in ("deny", "ask") else None
        in_file = spot.value if spot is not None else None
        for one in (value, in_file):
            if one is not None and not isinstance(one, list):
                raise InvalidAnswer(f"`{setting_name(path)}` is not a list; correct it by hand first")
        known = list(value) if isinstance(value, list) else []
        missing = in_file if isinstance(in_file, list) else []
        told = {canonical(entry) for entry in known}
        return [*known, *(entry for entry in missing if canonical(entry) not in told)]

    def _said(self, layer: WrittenLayer, path: Path) -> Json:
        sent = self._desk.sent
        values: Json = None
        if sent is not None and (told := sent.user if layer == "user" else sent.workspace) is not None:
            values = nested(told)
        elif layer == "workspace" and (tree := self._desk.workspace_source.tree):
            values = tree.root.value
        for name in path:
            values = values.get(name) if isinstance(values, dict) else None
        return values

    async def _written(self, layer: WrittenLayer, path: Path, value: Json) -> None:
        result = await self._write(layer, path, value)
        if not result.applied:
            raise InvalidAnswer(result.reason or "the setting could not be written")

    async def _list_written(self, params: SettingsUpdateParams) -> None:
        """Have the editor edit a list as it stands there, which may hold entries that were not told yet."""
        assert self._update is not None
        try:
            self._check_readable()
            if params.layer == "workspace":
                insert, remove = params.insert or [], params.remove or []
                path = tuple(params.path)
                params = await self._with_edit(params, lambda text: edit_list(text, path, insert, remove))
        except WorldError as error:
            raise InvalidAnswer(str(error)) from error
        result = await self._ask_editor(self._update, params)
        if not result.applied:
            raise InvalidAnswer(result.reason or "the setting could not be written")
        # The editor may have told the list meanwhile: the edit is made on what is known now.
        path = tuple(params.path)
        insert, gone = params.insert or [], [canonical(entry) for entry in params.remove or []]
        left = [entry for entry in self._list_in(params.layer, path) if canonical(entry) not in gone]
        known = {canonical(entry) for entry in left}
        self._patch(params.layer, path, [*left, *(entry for entry in insert if canonical(entry) not in known)])

    async def _write(self, layer: WrittenLayer, path: Path, value: Json) -> SettingsUpdateResult:
        try:
            if self._update is not None:
                self._check_readable()
                params = SettingsUpdateParams(layer=layer, path=list(path), value=value)
                if layer == "workspace":
                    params = await self._with_edit(params, lambda text: _changed(text, path, value))
                result = await self._ask_editor(self._update, params)
                if not result.applied:
                    return result
            elif layer == "workspace":
                await self._edit_workspace(lambda text: _changed(text, path, value))
            else:
                raise InvalidAnswer("this editor's user settings cannot be changed from here; change them by hand")
        except (InvalidAnswer, WorldError) as error:
            return SettingsUpdateResult(applied=False, reason=str(error))
        self._patch(layer, path, value)
        return SettingsUpdateResult(applied=True)

    async def _ask_editor(self, update: ClientUpdate, params: SettingsUpdateParams) -> SettingsUpdateResult:
        try:
            async with asyncio.timeout(EDITOR_WAIT):
                return await update(params)
        except TimeoutError:
            return SettingsUpdateResult(applied=False, reason="the editor did not answer; try again")
        except Exception:
            # The boundary to the client: whatever it answers wrongly, nothing was confirmed and the card stays.
            log.exception("settings/update failed")
            return SettingsUpdateResult(applied=False, reason="the editor could not change the setting")

    async def _edit_workspace(self, change: Callable[[str], str]) -> None:
        if self._desk.places.code_workspace is not None:
            raise InvalidAnswer("the settings of a workspace file can only be changed in the editor")
        await self._check_stays_inside()
        await _edited(self._desk.places.workspace, change, held_settings=self._held_settings())

    async def _with_edit(self, params: SettingsUpdateParams, change: Callable[[str], str]) -> SettingsUpdateParams:
        """Add the edit of the workspace's settings file, which the client applies in the editor.

        The settings of a `.code-workspace` file are the editor's own to change.

        Raises:
            InvalidAnswer: the file is another place's.
            EditRefused: the text cannot be changed, or a deny or ask rule would be gone that is not named.
        """
        await self._check_stays_inside()
        if self._desk.places.code_workspace is not None:
            return params
        file, held = self._desk.places.workspace, self._held_settings()
        before, after = await asyncio.to_thread(planned_edit, file, change, held_settings=held)
        named = [canonical(entry) for entry in params.remove or []]
        if any(canonical(entry) not in named for entry in dropped_rules(before, after)):
            raise EditRefused("the edit would drop a deny or ask rule that it does not name")
        digest = hashlib.sha256(_as_edited(before).encode()).hexdigest()
        return params.model_copy(update={"edit": TextEdit(replaces=digest, text=_as_edited(after))})

    def _held_settings(self) -> bool:
        before = self._desk.sources.workspace
        return before.problem is not None or (before.tree is not None and bool(before.tree.root.value))

    async def _check_stays_inside(self) -> None:
        """Refuse a settings file that is a symlink out of the workspace: it is some other place's file."""
        file = self._desk.workspace_file
        target = await asyncio.to_thread(os.path.realpath, file)
        if file != self._desk.places.workspace and (not file or os.path.basename(target) == os.path.basename(file)):
            return  # a `.code-workspace` file may lie anywhere
        if not target.startswith(self._desk.workspace.rstrip(os.sep) + os.sep):
            message = "the workspace's settings file is a symlink that leads out of the workspace"
            raise InvalidAnswer(f"{message}, to {shown(target)}; change it there by hand")

    async def _edit_rules(self, change: Callable[[str], str]) -> None:
        await asyncio.to_thread(os.makedirs, os.path.dirname(self._desk.places.rules), 0o700, exist_ok=True)
        await _edited(self._desk.places.rules, change, new_mode=0o600)

    def _patch(self, layer: WrittenLayer, path: Path, value: Json) -> None:
        """What was written counts at once, though the editor may tell of it later or, if it only sent layers, never."""
        desk = self._desk
        if desk.sent is not None:
            desk.sent = _patched(desk.sent, layer, path, value, told_twice=desk.places.code_workspace is None)
        desk.refresh()
        desk.rebuild()

    def _check_readable(self) -> None:
        problem = self._desk.workspace_source.problem
        if problem is not None:
            raise InvalidAnswer(f"the workspace's settings file {problem.message}; correct it first")

    def _check_certain(self) -> None:
        self._check_readable()
        if self._desk.uncertain:
            raise InvalidAnswer("some settings are not known, so nothing can be kept; correct them or wait for them")


async def _edited(
    file: str, change: Callable[[str], str], new_mode: int = 0o666, *, held_settings: bool = False
) -> None:
    try:
        await asyncio.to_thread(edit_file, file, change, new_mode=new_mode, held_settings=held_settings)
    except EditRefused as error:
        raise InvalidAnswer(str(error)) from error


def _changed(text: str, path: Path, value: Json) -> str:
    return remove_value(text, path) if value is None else set_value(text, path, value)


def _as_edited(text: str) -> str:
    """A text as an editor has it: without byte order mark, its line ends alike."""
    return re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))


def _is(rule: RuleText) -> Callable[[Json], bool]:
    return lambda entry: is_entry_of(entry, rule.text, rule.agent)


def _set(tree: dict[str, Json], path: Path, value: Json) -> Json:
    return without_value(tree, path) if value is None else with_value(tree, path, value)


def _patched(sent: SettingsLayers, layer: WrittenLayer, path: Path, value: Json, *, told_twice: bool) -> SettingsLayers:
    """The layers with one value written. ``told_twice``: an editor sends a single folder's settings as workspace's and
    folder's."""
    if layer == "user":
        return sent.model_copy(update={"user": _set(nested(sent.user or {}), path, value)})
    if sent.workspace is None:
        return sent  # the file is read for it
    patch: dict[str, Json] = {"workspace": _set(nested(sent.workspace), path, value)}
    if told_twice and sent.folder is not None and canonical(sent.folder) == canonical(sent.workspace):
        patch["folder"] = patch["workspace"]
    return sent.model_copy(update=patch)
