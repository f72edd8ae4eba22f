"""The edit of one key: a settings text in, the same text with one value changed out, every other byte as it was.

Works on offsets that ``jsonc.py`` gives, so comments, blanks, line ends, trailing commas and the order of keys stay.
Every edit is read again and compared with what it should mean before it is handed back; what cannot be done so is
refused. Files are ``files.py``'s business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from countersign.settings.jsonc import BrokenJson, Document, Element, Node, parse_jsonc
from countersign.settings.tree import (
    PREFIX,
    Path,
    Spot,
    Tree,
    setting_name,
    setting_path,
    settings_tree,
    with_value,
    without_value,
)
from countersign.wire.base import Json
from countersign.wire.errors import WorldError

NAMED_MAPS = frozenset({"agents", "models", "mcpServers", "hooks"})
"""Settings whose value is a map of a person's own names; a new one is written as one object, not as dotted keys."""


class EditRefused(WorldError):
    """The text cannot be changed honestly; it is left as it was."""


def set_value(text: str, path: Path, value: Json) -> str:
    """The text with this value at a path, e.g. ``("agents", "NAME", "bypassPermissions")``.

    Raises:
        EditRefused: the text is broken, or something that is no object stands in the way.
    """
    path = _checked(path)
    tree = _read(text)
    expected = with_value(tree.root.value, path, value)
    return _first_that_means(expected, _ways_to_set(tree, path, value), path)


def remove_value(text: str, path: Path) -> str:
    """The text without anything at a path, duplicates of it neither; unchanged where there is nothing.

    Raises:
        EditRefused: the text is broken, or the value is made up of several keys.
    """
    path = _checked(path)
    tree = _read(text)
    expected = without_value(tree.root.value, path)
    while (spot := tree.find(path)) is not None:
        holder = _holder(tree, spot)
        if holder is None or spot.element is None:
            raise EditRefused(f"`{setting_name(path)}` is made up of several keys, change it by hand")
        text = _cut(tree.document, holder, spot.element)
        tree = _read(text)
    return _first_that_means(expected, iter([text]), path)


def append_item(text: str, path: Path, item: Json) -> str:
    """The text with one more item at the end of the list at a path; the list is made where it is missing.

    Raises:
        EditRefused: the text is broken, or what stands there is no list.
    """
    path = _checked(path)
    tree = _read(text)
    spot = tree.find(path)
    if spot is None or spot.value is None:
        return set_value(text, path, [item])
    if not isinstance(spot.value, list) or spot.node is None:
        raise EditRefused(f"`{setting_name(path)}` is not a list; correct it by hand first")
    expected = with_value(tree.root.value, path, [*spot.value, item])
    layout = _layout(tree.document)
    return _first_that_means(expected, iter([_add(tree.document, spot.node, None, item, layout)]), path)


def remove_items(text: str, path: Path, is_gone: Callable[[Json], bool]) -> str:
    """The text without those items of the list at a path that ``is_gone`` names; unchanged where there is none.

    Raises:
        EditRefused: the text is broken, or what stands there is no list.
    """
    path = _checked(path)
    tree = _read(text)
    spot = tree.find(path)
    if spot is None:
        return text
    if not isinstance(spot.value, list) or spot.node is None:
        raise EditRefused(f"`{setting_name(path)}` is not a list; correct it by hand first")
    expected = with_value(tree.root.value, path, [item for item in spot.value if not is_gone(item)])
    while spot is not None and spot.node is not None:
        gone = next((element for element in spot.node.elements if is_gone(element.node.value)), None)
        if gone is None:
            break
        text = _cut(tree.document, spot.node, gone)
        tree = _read(text)
        spot = tree.find(path)
    return _first_that_means(expected, iter([text]), path)


def edit_list(text: str, path: Path, insert: Sequence[Json], remove: Sequence[Json]) -> str:
    """The text with these items taken out of the list at a path, and those put in at its end that it lacks.

    Raises:
        EditRefused: the text is broken, or what stands there is no list.
    """
    text = remove_items(text, path, lambda item: any(_same(item, gone) for gone in remove))
    for item in insert:
        spot = _read(text).find(_checked(path))
        known = spot.value if spot is not None and isinstance(spot.value, list) else []
        if not any(_same(item, one) for one in known):
            text = append_item(text, path, item)
    return text


def dropped_rules(before: str, after: str) -> list[Json]:
    """Return the deny and ask rules of one text that another one lacks."""
    return [
        entry
        for path in (("permissions", "deny"), ("permissions", "ask"))
        for entry in _entries(before, path)
        if not any(_same(entry, one) for one in _entries(after, path))
    ]


def _entries(text: str, path: Path) -> list[Json]:
    spot = _read(text).find(path)
    return list(spot.value) if spot is not None and isinstance(spot.value, list) else []


def _checked(path: Path) -> Path:
    path = setting_path(path)
    if not path:
        raise EditRefused("there is no setting of this name")
    return path


def _read(text: str) -> Tree:
    try:
        document = parse_jsonc(text)
    except BrokenJson as error:
        message = f"the settings file is broken in line {error.line}, column {error.column}: {error.message}"
        raise EditRefused(f"{message}; correct it first") from None
    if document.root is not None and not isinstance(document.root.value, dict):
        raise EditRefused("the settings file does not hold an object; correct it first")
    return settings_tree(document)


def _first_that_means(expected: Json, candidates: Iterator[str], path: Path) -> str:
    for candidate in candidates:
        if _same(_read(candidate).root.value, expected):
            return candidate
    raise EditRefused(f"`{setting_name(path)}` cannot be changed without touching other keys, change it by hand")


def _same(one: Json, other: Json) -> bool:
    """Equal as JSON texts are: true is not 1, and 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _ways_to_set(tree: Tree, path: Path, value: Json) -> Iterator[str]:
    """Texts that may say it, the most natural first: where the object stands already, dotted or nested."""
    document, layout = tree.document, _layout(tree.document)
    if document.root is None:
        member = {_new_key(path)[0]: _chain(_new_key(path)[1], value)}
        gap = layout.newline if document.text and not document.text.endswith(("\n", "\r", "\ufeff")) else ""
        yield document.text + gap + _render(member, "", layout) + layout.newline
        return
    depth, spot = _deepest(tree, path)
    if spot.members is None and spot.value is not None and depth < len(path):
        raise EditRefused(f"`{setting_name(path[:depth])}` is not an object; correct it by hand first")
    if depth == len(path) or spot.value is None:
        if spot.node is not None:
            yield _replace(document, spot.node, _chain(path[depth:], value), layout)
        return
    if spot.node is not None:
        yield _add(document, spot.node, path[depth], _chain(path[depth + 1 :], value), layout)
    key, rest = _new_key(path) if depth == 0 else _dotted_key(path)
    yield _add(document, document.root, key, _chain(rest, value), layout)
    if depth:
        # A name with a dot cannot be a dotted key; an object in front of the dotted ones is overlaid by them.
        key = setting_name(path[:depth])
        yield _add_first(document, document.root, key, _chain(path[depth:], value), layout)


def _deepest(tree: Tree, path: Path) -> tuple[int, Spot]:
    """The longest beginning of the path that exists."""
    depth, spot = 0, tree.root
    for name in path:
        below = spot.members.get(name) if spot.members is not None else None
        if below is None:
            break
        depth, spot = depth + 1, below
    return depth, spot


def _new_key(path: Path) -> tuple[str, Path]:
    """The key a new setting gets at the top, and the names that are nested under it."""
    return (setting_name(path[:1]), path[1:]) if path[0] in NAMED_MAPS else _dotted_key(path)


def _dotted_key(path: Path) -> tuple[str, Path]:
    plain = next((index for index, name in enumerate(path) if "." in name), len(path))
    return ".".join((PREFIX, *path[:plain])), path[plain:]


def _chain(path: Path, value: Json) -> Json:
    for name in reversed(path):
        value = {name: value}
    return value


def _holder(tree: Tree, spot: Spot) -> Node | None:
    """The object that the spot's member stands in."""
    pending = [tree.document.root] if tree.document.root else []
    while pending:
        node = pending.pop()
        for element in node.elements:
            if element is spot.element:
                return node
            pending.append(element.node)
    return None


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the text is laid out: its line end, one step of indentation, and whether it is all on one line."""

    newline: str
    unit: str
    one_line: bool


_INDENT = re.compile(r"[\r\n]([ \t]+)")


def _layout(document: Document) -> _Layout:
    text = document.text
    newline = next((end for end in ("\r\n", "\n", "\r") if end in text), "\n")
    first = document.root.elements[0] if document.root and document.root.elements else None
    unit = _indent_of(text, first.start) if first else ""
    if not unit or (first and not _opens_its_line(text, first.start)):
        found = _INDENT.search(text)
        unit = found.group(1) if found else "    "
    inner = text[document.root.start : document.root.end] if document.root else ""
    return _Layout(newline, unit, bool(first) and "\n" not in inner and "\r" not in inner)


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _indent_of(text: str, offset: int) -> str:
    """The blanks that the line of this offset begins with."""
    start = _line_start(text, offset)
    line = text[start:offset].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _opens_its_line(text: str, offset: int) -> bool:
    return offset > 0 and not text[_line_start(text, offset) : offset].strip(" \t") and _line_start(text, offset) > 0


def _render(value: Json, indent: str, layout: _Layout) -> str:
    """JSON text in the file's own style; its further lines begin with ``indent``."""
    if layout.one_line or not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + layout.unit
    if isinstance(value, Mapping):
        rows = [f"{_quoted(key)}: {_render(child, inner, layout)}" for key, child in value.items()]
        opening, closing = "{", "}"
    else:
        rows = [_render(child, inner, layout) for child in value]
        opening, closing = "[", "]"
    body = f",{layout.newline}{inner}".join(rows)
    return f"{opening}{layout.newline}{inner}{body}{layout.newline}{indent}{closing}"


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)


def _member(key: str | None, value: Json, indent: str, layout: _Layout) -> str:
    body = _render(value, indent, layout)
    return body if key is None else f"{_quoted(key)}: {body}"


def _replace(document: Document, node: Node, value: Json, layout: _Layout) -> str:
    text = document.text
    return text[: node.start] + _render(value, _indent_of(text, node.start), layout) + text[node.end :]


def _add(document: Document, node: Node, key: str | None, value: Json, layout: _Layout) -> str:
    """One more element at the end of an object or array, after whatever comments stand there."""
    text, inside_end = document.text, node.end - 1
    last = node.elements[-1] if node.elements else None
    body_start = node.start + 1 if last is None else (last.node.end if last.comma is None else last.comma + 1)
    at = max((end for start, end in document.comments if body_start <= start < inside_end), default=body_start)
    inline = layout.one_line or (last is not None and not _has_break(text, node.start, inside_end))
    trailing = "," if last is not None and last.comma is not None else ""
    comma = "," if last is not None and last.comma is None else ""
    between = comma + text[body_start:at]
    if inline:
        addition = (" " if last is not None else "") + _member(key, value, "", _flat(layout)) + trailing
        return text[:body_start] + between + addition + text[at:]
    outer = _indent_of(text, node.start)
    in_line = last is not None and _opens_its_line(text, last.start)
    indent = _indent_of(text, last.start) if last is not None and in_line else outer + layout.unit
    addition = layout.newline + indent + _member(key, value, indent, layout) + trailing
    closing = "" if _has_break(text, at, inside_end) else layout.newline + outer
    return text[:body_start] + between + addition + closing + text[at:]


def _add_first(document: Document, node: Node, key: str, value: Json, layout: _Layout) -> str:
    """One more member in front of the others; there is at least one."""
    text, first = document.text, node.elements[0]
    indent = _indent_of(text, first.start)
    broken = _opens_its_line(text, first.start)
    member = _member(key, value, indent, layout if broken else _flat(layout))
    gap = layout.newline + indent if broken else " "
    return text[: first.start] + member + "," + gap + text[first.start :]


def _flat(layout: _Layout) -> _Layout:
    return _Layout(layout.newline, layout.unit, one_line=True)


def _has_break(text: str, start: int, end: int) -> bool:
    return "\n" in text[start:end] or "\r" in text[start:end]


def _cut(document: Document, node: Node, element: Element) -> str:
    """The text without one element and one comma; its line goes too where nothing else stands on it."""
    text = document.text
    index = next(index for index, one in enumerate(node.elements) if one is element)
    start, end = element.start, element.node.end
    if element.comma is not None:
        spans = [(start, end), (element.comma, element.comma + 1)]
    elif index:
        comma = node.elements[index - 1].comma
        assert comma is not None
        spans = [(comma, comma + 1), (start, end)]
    else:
        spans = [(start, end)]
    if spans[-1][0] - spans[0][1] <= 0 or not text[spans[0][1] : spans[-1][0]].strip(" \t"):
        spans = [(spans[0][0], spans[-1][1])]
    for begin, stop in reversed([_widened(text, begin, stop) for begin, stop in spans]):
        text = text[:begin] + text[stop:]
    return text


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with the blanks around it, and with its line where it has that to itself."""
    line = _line_start(text, start)
    rest = re.compile(r"[ \t]*(\r\n|\n|\r)?").match(text, end)
    assert rest is not None
    if line > 0 and not text[line:start].strip(" \t") and rest.group(1):
        return line, rest.end()
    return start, end
