"""The language service of settings and policy files: what of it an editor asks for, and what it is told unasked.

Reads texts that the editor has open, files that the settings desk has read, and the ledger; changes nothing. What is
said of a text is decided by the plain functions beside it, in another thread, so that no large file holds up an
approval.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lsprotocol import types

from countersign.gate import CANONICAL, EFFECT_TOOLS, NARROWER_THAN_READ, decide
from countersign.lsp.language.diagnostics import diagnose
from countersign.lsp.language.pages import PAGES, Known, PageName, known_of, overview_of, page_at
from countersign.lsp.language.positions import Positions, Units, units_of
from countersign.lsp.pygls_server import Server
from countersign.settings.files import MAX_BYTES
from countersign.wire.errors import LedgerUnavailable
from countersign.wire.history import HistoryEntry, HistoryFilter

if TYPE_CHECKING:
    from countersign.lsp.workspace import WorkspaceServer

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0
"""Seconds until a file is noticed that changed without changing what counts, such as by a line in front of a rule."""
RECENT = 300
"""Decisions of the ledger that hover and completion look at."""
MOST_FOLDERS = 200
SCHEMES = frozenset({"file", "vscode-userdata"})
"""Of the documents that can be our files; the second is how VS Code names a person's own settings."""


@dataclass(frozen=True, slots=True)
class _Document:
    uri: str
    text: str
    version: int | None


@dataclass(frozen=True, slots=True)
class _Told:
    """What was last published for a document."""

    version: int | None
    diagnostics: tuple[types.Diagnostic, ...]


class LanguageService:
    """Diagnostics, hover and completion of one server. A class because it keeps what the editor was last told.

    Belongs to the event loop. ``watch`` is a task of the caller's, who cancels it.
    """

    def __init__(self, server: Server, house: Callable[[], WorkspaceServer]) -> None:
        """``house`` is asked only once the server is initialized."""
        self._server = server
        self._house = house
        self._stale = asyncio.Event()
        self._told: dict[str, _Told] = {}
        self._seen: object = None
        self._hovering = asyncio.Lock()

    def changed(self) -> None:
        """Settings, trust, confirmations or an open text are others now; what was told is looked at again."""
        self._stale.set()

    async def watch(self) -> None:
        """Publish diagnostics whenever a text, a file or what counts has changed, for ever."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stale.wait(), LOOK_EVERY)
            sources = self._house().settings.sources
            if not self._stale.is_set() and sources is self._seen:
                continue
            self._stale.clear()
            self._seen = sources
            try:
                await self._publish()
            except Exception:
                # Only what an editor shows of the files is lost; what counts does not come from here.
                log.exception("the problems of the settings files could not be told")

    async def _publish(self) -> None:
        known, documents, units = known_of(self._house().settings), self._documents(), self._units()
        found = await asyncio.to_thread(_blocking_diagnose, known, documents, self._folder_uri(), units)
        for uri in [*found, *(uri for uri in self._told if uri not in found)]:
            now = found.get(uri, _Told(None, ()))
            before = self._told.get(uri)
            if now == before or (before is None and now.version is None and not now.diagnostics):
                continue
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, now.diagnostics, version=now.version)
            )
            self._told[uri] = now
        self._told = {uri: told for uri, told in self._told.items() if uri in found}

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What a hover says at the pointer; None in a text that is not ours."""
        document = self._document(params.text_document.uri)
        if document is None:
            return None
        house, known, units = self._house(), known_of(self._house().settings), self._units()

        def blocking_hover() -> types.Hover | None:
            from countersign.lsp.language.hover import hover  # noqa: PLC0415 no start needs it

            page = page_at(_path_of(document.uri) or "", known.places)
            if page is None:
                return None
            overview = overview_of(known, {page: document.text})
            told = diagnose(overview, _tools(), units=units)[page]
            judge = partial(decide, check_syntax=house.check_syntax)
            return hover(page, params.position, overview, told, _blocking_past(house), judge, units=units)

        async with self._hovering:  # it judges many past calls again, and threads are few
            return await asyncio.to_thread(blocking_hover)

    async def complete(self, params: types.CompletionParams) -> types.CompletionList | None:
        """What may stand at the cursor; None in a text that is not ours."""
        document = self._document(params.text_document.uri)
        if document is None:
            return None
        house, known, units = self._house(), known_of(self._house().settings), self._units()
        policy, snippets = house.settings.policy, self._takes_snippets()

        def blocking_complete() -> types.CompletionList | None:
            from countersign.lsp.language.completion import Surroundings, complete  # noqa: PLC0415 no start needs it

            page = page_at(_path_of(document.uri) or "", known.places)
            if page is None:
                return None
            around = Surroundings(
                policy=policy,
                past=_blocking_past(house),
                tools=_other_tools(),
                folders=lambda folder: _blocking_folders(policy.workspace, folder),
                snippets=snippets,
            )
            return complete(page, Positions.of(document.text, units), params.position, around)

        return await asyncio.to_thread(blocking_complete)

    def _documents(self) -> Sequence[_Document]:
        """What is open; a text that is larger than a file could be is left to what is on disk."""
        documents = self._server.workspace.text_documents.values()
        return [_Document(one.uri, one.source, one.version) for one in documents if len(one.source) <= MAX_BYTES]

    def _document(self, uri: str) -> _Document | None:
        return next((one for one in self._documents() if unquote(one.uri) == unquote(uri)), None)

    def _units(self) -> Units:
        return units_of(self._server.workspace.position_encoding)

    def _takes_snippets(self) -> bool:
        document = self._server.client_capabilities.text_document
        completion = document.completion if document else None
        item = completion.completion_item if completion else None
        return bool(item and item.snippet_support)

    def _folder_uri(self) -> str | None:
        """The workspace's folder as the editor spells it, which need not be as it is resolved."""
        workspace = self._server.workspace
        first = next(iter(workspace.folders.values()), None)
        return first.uri if first else workspace.root_uri


def _blocking_diagnose(
    known: Known, documents: Sequence[_Document], folder: str | None, units: Units
) -> Mapping[str, _Told]:
    """By document, what is to be told of every page that is open or lies on disk."""
    opened: dict[PageName, _Document] = {}
    for document in documents:
        page = page_at(_path_of(document.uri) or "", known.places)
        if page is not None:
            opened.setdefault(page, document)
    overview = overview_of(known, {page: document.text for page, document in opened.items()})
    diagnostics = diagnose(overview, _tools(), units=units)
    found: dict[str, _Told] = {}
    for page in PAGES:
        if page in opened:
            found[opened[page].uri] = _Told(opened[page].version, diagnostics[page])
        elif page != "user" and (path := overview.pages[page].loaded.path):
            # How an editor names a person's own file is known only once it is open; a workspace may have no file.
            found[_uri_of(page, path, folder)] = _Told(None, diagnostics[page])
    return found


def _uri_of(page: PageName, path: str, folder: str | None) -> str:
    if page == "workspace" and folder is not None:
        uri = f"{folder.rstrip('/')}/.vscode/settings.json"
        if os.path.realpath(_path_of(uri) or "") == os.path.realpath(path):
            return uri
    return Path(path).absolute().as_uri()


def _path_of(uri: str) -> str | None:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme in SCHEMES and parts.path else None


def _blocking_past(house: WorkspaceServer) -> Sequence[HistoryEntry]:
    wanted = HistoryFilter(phase="decided")
    try:
        return house.ledger.query(wanted, workspace=house.settings.workspace, limit=RECENT)
    except LedgerUnavailable:
        log.warning("the ledger cannot be read, so settings files are shown without the past", exc_info=True)
        return ()


def _blocking_folders(workspace: str, folder: str) -> Sequence[str]:
    """Names of the folders in a folder of the workspace; nothing of what lies behind a link."""
    path = os.path.normpath(os.path.join(workspace, folder))
    if path != os.path.realpath(path) or not Path(path).is_relative_to(workspace):
        return ()
    names: list[str] = []
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
                if len(names) == MOST_FOLDERS:
                    break
    return names


@cache
def _tools() -> frozenset[str]:
    """Every tool's name."""
    from countersign.tools.registry import BY_NAME  # noqa: PLC0415 loaded after the start

    return frozenset(BY_NAME)


@cache
def _other_tools() -> Sequence[str]:
    """Tools that have no better name in rules."""
    return sorted(_tools() - CANONICAL.keys() - NARROWER_THAN_READ - EFFECT_TOOLS)
