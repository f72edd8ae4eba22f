"""The label of one configured agent in one workspace: found out anew, lowered by a fall, reset by a person.

``label.py`` decides and words it, ``label_store.py`` keeps what outlasts the server.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from countersign.agents.acp.identity import identify
from countersign.agents.acp.label import Claim, Findings, Seen, blocking_hidden, files_in, is_measured, label_of
from countersign.agents.acp.label_store import LabelStore
from countersign.agents.acp.recipe import Recipe
from countersign.wire.agents import AgentLabel
from countersign.wire.errors import Conflict

log = logging.getLogger(__name__)


class LabelState:
    """A class because a fall stands from the moment it is seen, before it is on disk and whatever is found out then.

    ``changed`` is called whenever ``label`` or ``detail`` is another than before. Without a store falls end with it.
    ``folder`` is the one that the agent is started in, the workspace unless given.
    """

    def __init__(
        self,
        agent: str,
        recipe: Recipe,
        workspace: str,
        store: LabelStore | None,
        changed: Callable[[], None],
        folder: str | None = None,
    ) -> None:
        self.recipe = recipe
        self.findings = Findings()
        self._agent = agent
        self._workspace = workspace
        self._folder = folder or workspace
        self._store = store
        self._changed = changed
        self._falls = 0
        self._suspicions: dict[str, str] = {}
        self._claim: Claim | None = None
        self._holds: tuple[str, ...] = ()
        self._hidden: frozenset[Seen] = frozenset()
        self._lock = asyncio.Lock()
        self.label: AgentLabel
        self.label, self.detail = label_of(recipe, self.findings)

    async def find_out(
        self, command: Sequence[str], environment: Mapping[str, str], claim: Claim | None = None
    ) -> None:
        """Look again at what is installed, what lies in the workspace and what is on record."""
        async with self._lock:
            self._claim = claim or self._claim
            falls = self._falls
            found = await asyncio.to_thread(self._blocking_find_out, command, environment)
            if falls == self._falls:
                self.findings = found
            else:
                self.findings = replace(found, fallen=self.findings.fallen)
        self._tell()

    def confine(self, holds: Sequence[str], hidden: frozenset[Seen] = frozenset()) -> None:
        """Its process runs in the sandbox, of which ``holds`` says what holds; empty: it does not, or has ended.
        ``hidden`` are the files that lay there when the sandbox was made (``blocking_hostile_now``); ``find_out``
        looks which of them still do."""
        self._holds, self._hidden = tuple(holds), hidden
        if not hidden:
            self.findings = replace(self.findings, hidden=())
        self._tell()

    @property
    def announces_calls(self) -> bool:
        """Whether this agent is known to report or ask for every call before it runs it. Only what was measured counts,
        and only while nothing in the workspace silences the agent and no fall is on record."""
        found = self.findings
        silenced = any(name in found.files for name in self.recipe.hostile)
        return self.recipe.announces_calls and is_measured(self.recipe, found) and not silenced and not found.fallen

    def fall(self, why: str) -> None:
        """Lower the label now; ``keep_fall`` puts it on record."""
        self._falls += 1
        self.findings = replace(self.findings, fallen=self.findings.fallen or why)
        self._tell()

    def suspect(self, call_id: str, why: str) -> None:
        """Lower the label for as long as this call is not asked about."""
        self._suspicions[call_id] = why
        self._tell()

    def clear(self, call_id: str) -> None:
        """Take a suspicion back."""
        if self._suspicions.pop(call_id, None) is not None:
            self._tell()

    async def keep_fall(self) -> None:
        """Store the fall, so that it outlasts the server."""
        why, store = self.findings.fallen, self._store
        if why is None or store is None:
            return
        identity = self.findings.identity
        try:
            await asyncio.to_thread(store.blocking_fall, self._agent, identity, self._workspace, why)
        except OSError:
            # The label has fallen all the same, for as long as this server runs.
            log.exception("the fall of %s could not be stored", self._agent)

    async def reset(self) -> None:
        """Clear the fall: a person says that it shall no longer count.

        Raises:
            Conflict: the disk keeps it; it still counts.
        """
        async with self._lock:
            if self._store is not None:
                try:
                    await asyncio.to_thread(
                        self._store.blocking_reset, self._agent, self.findings.identity, self._workspace
                    )
                except OSError as error:
                    what = f"`falls/{os.path.basename(error.filename or '')}`"
                    raise Conflict(
                        f"the label cannot be reset: {what} in the folder `agents` of the storage folder cannot be "
                        f"removed ({(error.strerror or type(error).__name__).lower()}); remove it by hand and try again"
                    ) from error
            self.findings = replace(self.findings, fallen=None)
            self._suspicions.clear()
        self._tell()

    def _tell(self) -> None:
        before = self.label, self.detail
        suspicion = next(iter(self._suspicions.values()), None)
        found = self.findings
        found = replace(found, fallen=found.fallen or suspicion, holds=self._holds)
        self.label, self.detail = label_of(self.recipe, found)
        if before != (self.label, self.detail):
            self._changed()

    def _blocking_find_out(self, command: Sequence[str], environment: Mapping[str, str]) -> Findings:
        identity = identify(self.recipe, command, environment, self._workspace, self._folder)
        stored = self._store
        return Findings(
            identity=identity,
            claim=self._claim,
            probed=stored.blocking_probed(identity, self.recipe.name) if stored is not None else None,
            fallen=stored.blocking_fallen(self._agent, identity, self._workspace)
            if stored is not None
            else self.findings.fallen,
            files=files_in(self.recipe, self._workspace, self._folder),
            hidden=blocking_hidden(self.recipe, self._hidden, self._workspace, self._folder),
        )
