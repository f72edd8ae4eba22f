"""What the keys of a settings file mean: the one nested tree under ``countersign``.

VS Code's own rules, so that its view and ours never differ: a dotted key at the top is a path, keys further in are
names as they stand; keys are taken in order of their first appearance with the value of their last; a later key
replaces what an earlier one set at the same place, and one that leads through something that is no object is ignored.
One exception: a ``"countersign"`` that is no object does not hide the dotted keys, since deny rules may be among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from countersign.settings.jsonc import Document, Element, Node
from countersign.wire.base import Json

PREFIX = "countersign"
PERMISSIONS = "permissions"
"""A later null in a file does not take away the rules that stand before it, unlike with other settings."""

Path = tuple[str, ...]
"""Names under ``countersign``, e.g. ``("agents", "Countersign", "bypassPermissions")``."""


@dataclass(slots=True)
class Spot:
    """A place in the tree: a value as it is written (``node``), or one that only dotted keys add up to.

    ``members`` is None for what is no object. ``element`` is the member that holds the node.
    """

    node: Node | None = None
    element: Element | None = None
    members: dict[str, Spot] | None = None

    @property
    def value(self) -> Json:
        if self.members is not None:
            return {key: spot.value for key, spot in self.members.items()}
        return self.node.value if self.node else None


@dataclass(frozen=True, slots=True)
class Tree:
    """A file's settings. ``ignored`` are keys that do not count, with their offset and why."""

    document: Document
    root: Spot
    ignored: tuple[tuple[int, str], ...] = field(default=())

    def find(self, path: Path) -> Spot | None:
        """The spot at a path, or None."""
        spot: Spot | None = self.root
        for name in path:
            spot = spot.members.get(name) if spot is not None and spot.members is not None else None
        return spot


def settings_tree(document: Document) -> Tree:
    """The tree of an editor's settings file: keys that begin with ``countersign``."""
    return _tree(document, document.root, _editor_path)


def code_workspace_tree(document: Document) -> Tree:
    """The tree of a ``.code-workspace`` file: the keys of its ``settings`` that begin with ``countersign``."""
    members = document.root.elements if document.root is not None and isinstance(document.root.value, dict) else ()
    found = [element for element in members if element.key == "settings"]
    return _tree(document, found[-1].node if found else None, _editor_path)


def policy_tree(document: Document) -> Tree:
    """The tree of a file that is ours alone (managed settings, ``rules.json``): the prefix may be left out."""
    return _tree(document, document.root, _any_path)


def nested(values: Mapping[str, Json]) -> dict[str, Json]:
    """A layer as a client sent it, with dotted or prefixed top keys (which the wire does not ask for) put in place."""
    tree: Json = {}
    for key, value in values.items():
        path = _any_path(key)
        tree = deep_merge(tree, with_value({}, path, value) if path else value)
    return tree if isinstance(tree, dict) else {}


def deep_merge(lower: Json, upper: Json) -> Json:
    """Objects key by key, of everything else the upper; null says nothing."""
    if upper is None:
        return lower
    if not isinstance(lower, dict) or not isinstance(upper, dict):
        return upper
    return {**lower, **{key: deep_merge(lower.get(key), value) for key, value in upper.items()}}


def with_value(tree: Json, path: Path, value: Json) -> dict[str, Json]:
    """The tree with this value at a path; what is no object on the way gives way."""
    name, *rest = path
    members = tree if isinstance(tree, dict) else {}
    return {**members, name: with_value(members.get(name), tuple(rest), value) if rest else value}


def without_value(tree: Json, path: Path) -> Json:
    """The tree with nothing at a path."""
    name, *rest = path
    if not isinstance(tree, dict) or name not in tree:
        return tree
    if rest:
        return {**tree, name: without_value(tree[name], tuple(rest))}
    return {key: value for key, value in tree.items() if key != name}


def setting_path(path: Iterable[str]) -> Path:
    """A path as a client or a caller may spell it, e.g. ``["countersign.agents", "X"]``, as names under the prefix."""
    names = tuple(path)
    if names and (names[0] == PREFIX or names[0].startswith(PREFIX + ".")):
        return (*names[0].split(".")[1:], *names[1:])
    return names


def setting_name(path: Iterable[str]) -> str:
    """The path as a person knows it: ``countersign.agents.Countersign.bypassPermissions``."""
    return ".".join((PREFIX, *path))


def _editor_path(key: str) -> Path | None:
    names = key.split(".")
    return tuple(names[1:]) if names[0] == PREFIX else None


def _any_path(key: str) -> Path:
    path = _editor_path(key)
    return tuple(key.split(".")) if path is None else path


def _tree(document: Document, node: Node | None, path_of: Callable[[str], Path | None]) -> Tree:
    root = Spot(members={})
    ignored: list[tuple[int, str]] = []
    if node is not None and isinstance(node.value, dict):
        ours = tuple(element for element in node.elements if path_of(element.key or "") is not None)
        for element in _last_of_each(ours, ignored):
            path = path_of(element.key or "") or ()
            trouble = _place(root, path, _spot(element, ignored))
            if trouble:
                ignored.append((element.start, trouble))
    return Tree(document, root, tuple(ignored))


def _last_of_each(elements: Iterable[Element], ignored: list[tuple[int, str]]) -> Iterable[Element]:
    """In the order in which the keys first appear, as JavaScript objects keep it."""
    last: dict[str, Element] = {}
    for element in elements:
        key = element.key or ""
        if key in last and element.node.value is None and PERMISSIONS in key.split("."):
            ignored.append((element.start, f"`{key}` is null, which removes nothing; delete the earlier value instead"))
            continue
        if key in last:
            ignored.append((last[key].start, f"`{key}` stands here more than once; the last one counts"))
        last[key] = element
    return last.values()


def _spot(element: Element, ignored: list[tuple[int, str]]) -> Spot:
    node = element.node
    if not isinstance(node.value, dict):
        return Spot(node, element)
    return Spot(
        node, element, {child.key or "": _spot(child, ignored) for child in _last_of_each(node.elements, ignored)}
    )


def _place(root: Spot, path: Path, spot: Spot) -> str | None:
    """Set the spot; says why it does not count if it does not."""
    if not path:
        if spot.members is None:
            return f"`{PREFIX}` is not an object"
        root.node, root.element, root.members = spot.node, spot.element, spot.members
        return None
    branch = root
    for depth, name in enumerate(path[:-1]):
        assert branch.members is not None
        branch = branch.members.setdefault(name, Spot(members={}))
        if branch.members is None:
            return f"`{setting_name(path)}` does not count, because `{setting_name(path[: depth + 1])}` is no object"
    assert branch.members is not None
    if spot.value is None and path[0] == PERMISSIONS and path[-1] in branch.members:
        return f"`{setting_name(path)}` is null, which removes nothing; delete the earlier value instead"
    branch.members[path[-1]] = spot
    return None
