"""Pages: the settings and policy files as they would count with the texts that stand in the editor.

A Page is one file; an Overview is what all of them come to, worked out by the same functions as the live policy, so
that what the editor shows of a text is what that text will mean. Nothing here changes what counts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from countersign.lsp.language.cursor import Step, setting_path
from countersign.settings.files import Loaded
from countersign.settings.jsonc import BOM, BrokenJson, Document, parse_jsonc
from countersign.settings.layers import Layers, TooDeep, file_layer
from countersign.settings.live_settings import LiveSettings
from countersign.settings.merge import Built, build_policy
from countersign.settings.policy import Problem, RuleText
from countersign.settings.rules import rules_of
from countersign.settings.sources import Places, Sources, layers_in_files, layers_of
from countersign.settings.tree import Tree, code_workspace_tree, policy_tree, settings_tree
from countersign.wire.settings import SettingsLayers

PageName = Literal["workspace", "code_workspace", "user", "rules", "managed"]
PAGES: tuple[PageName, ...] = get_args(PageName)
OURS: frozenset[PageName] = frozenset({"rules", "managed"})
"""Files that hold nothing but our settings, so that the prefix may be left out there."""
OF_WORKSPACE: frozenset[PageName] = frozenset({"workspace", "code_workspace"})
"""Files that come with a workspace, so that what loosens in them waits for a person."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the settings desk knows: the files, the editor's layers, trust and a person's answers by digest.

    ``uncertain`` says that something of it is not known, so that what allows does not count now.
    """

    places: Places
    sources: Sources
    sent: SettingsLayers | None
    workspace: str
    home: str
    trusted: bool
    answers: Mapping[str, bool]
    uncertain: bool = False
    can_review: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One file as it is looked at. ``text`` is what stands in the editor, None where it is not open there."""

    name: PageName
    loaded: Loaded
    text: str | None = None
    saved: bool = True


@dataclass(frozen=True, slots=True)
class Overview:
    """What all pages come to. ``rules`` is every rule that is written, whether it counts or waits.

    ``misshapen`` are the problems of rules and lists that have not even the form of one.
    """

    known: Known
    pages: Mapping[PageName, Page]
    built: Built
    rules: tuple[RuleText, ...]
    misshapen: frozenset[Problem]


def known_of(live_settings: LiveSettings) -> Known:
    """A snapshot, to be looked at in another thread."""
    return Known(
        places=live_settings.places,
        sources=live_settings.sources,
        sent=live_settings.sent,
        workspace=live_settings.workspace,
        home=live_settings.policy.home,
        trusted=live_settings.policy.trusted,
        answers=live_settings.confirmations.answers(live_settings.workspace),
        uncertain=live_settings.uncertain,
        can_review=live_settings.abilities.confirm,
    )


def page_at(path: str, places: Places) -> PageName | None:
    """Which of our files this path is, by any spelling; looks at the disk for links."""
    real = os.path.realpath(path)
    for name in PAGES:
        place = getattr(places, name)
        if place and os.path.realpath(place) == real:
            return name
    return None


def path_in(page: PageName, steps: tuple[Step, ...]) -> tuple[Step, ...] | None:
    """The path under ``countersign`` that these steps from the root of a page lead to, or None for another setting."""
    if page == "code_workspace":
        return setting_path(steps[1:], ours=False) if steps[:1] == ("settings",) else None
    return setting_path(steps, ours=page in OURS)


def overview_of(known: Known, texts: Mapping[PageName, str]) -> Overview:
    """What the files come to with these texts in place of what is on disk. A text that is broken changes nothing."""
    pages: dict[PageName, Page] = {}
    for name in PAGES:
        pages[name] = _page(name, getattr(known.sources, name), texts.get(name))
    read = {name: page.loaded for name, page in pages.items() if page.loaded.problem is None}
    sources = replace(known.sources, **read)
    layers = _layers(known, sources, texts)
    misshapen: list[Problem] = []
    rules = [rule for layer in layers.all() for rule in rules_of(layer, misshapen)]
    built = build_policy(
        layers,
        workspace=known.workspace,
        home=known.home,
        trusted=known.trusted,
        answers=known.answers,
        environ=os.environ,
        problems=tuple(sources.problems()),
    )
    return Overview(known, pages, built, tuple(dict.fromkeys(rules)), frozenset(misshapen))


def _page(name: PageName, loaded: Loaded, text: str | None) -> Page:
    if text is None:
        return Page(name, loaded)
    on_disk = loaded.tree.document.text.removeprefix(BOM) if loaded.tree else None
    plain = text.removeprefix(BOM)
    return Page(name, _as_loaded(name, loaded, plain), plain, saved=plain == on_disk)


def _as_loaded(name: PageName, loaded: Loaded, text: str) -> Loaded:
    """The text as if it had been read from the file."""
    try:
        document = parse_jsonc(text)
        if document.root is not None and not isinstance(document.root.value, dict):
            place = document.position(document.root.start)
            raise BrokenJson("the file does not hold an object", *place)
    except BrokenJson as error:
        problem = Problem(loaded.path, error.line, error.column, f"cannot be read: {error.message}", "error")
        return replace(loaded, tree=None, problem=problem)
    return replace(loaded, tree=_tree_of(name, document), problem=None)


def _tree_of(name: PageName, document: Document) -> Tree:
    if name == "code_workspace":
        return code_workspace_tree(document)
    return policy_tree(document) if name in OURS else settings_tree(document)


def _layers(known: Known, sources: Sources, texts: Mapping[PageName, str]) -> Layers:
    try:
        layers = layers_of(sources, known.sent, known.places)
    except TooDeep:  # the desk has said so, and counts nothing of them
        layers = layers_of(sources, None, known.places)
    # The workspace as its file has it, also where an editor has told of it: the text may be ahead of what was told.
    layers = layers_in_files(sources, layers)
    if "user" in texts and known.sent is not None and sources.user.tree is not None:
        told = file_layer("user", sources.user.path, sources.user.tree)
        layers = replace(layers, user=(told, *layers.user[1:]))
    return layers
