"""Other names of a script under which its interpreter finds it, as far as a deny or ask rule may say them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import cycle, islice
from typing import NamedTuple

from countersign.gate.patterns import WILD, CommandPattern
from countersign.gate.patterns.wildcard import wildcard_match
from countersign.gate.rules.rule_set import ListName, RuleSet
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.tree import Text, Variable, Word

_LISTS: Sequence[ListName] = ("deny", "ask")


class RuledPaths(NamedTuple):
    """What the deny and ask rules say of paths: how many parts theirs have, how those with a wildcard begin (the
    ``starts``, and the ``beginnings`` at which an end of a path is looked for), their folders and last names, and how a
    last name ends behind a wildcard. With this no other end of a path need be looked at, however many it has."""

    counts: frozenset[int]
    beginnings: frozenset[str]
    folders: frozenset[str]
    names: frozenset[str]
    name_ends: tuple[str, ...]
    starts: tuple[str, ...]

    def may_name(self, path: str) -> bool:
        """Whether a rule may say this path, by how it begins and its last name. A blank may part two of its words."""
        name = path.rpartition("/")[2]
        if name in self.names or " " in path:
            return True
        return name.endswith(self.name_ends) and path.startswith(self.starts)

    def ends(self, path: str) -> Iterator[str]:
        """The ends of a path that a rule may name. Of those that begin like a rule with a wildcard the longest counts
        for all."""
        parts = path.split("/")
        yield from ("/".join(parts[-count:]) for count in self.counts if count < len(parts))
        for beginning in self.beginnings:
            at = path.find(f"/{beginning}")
            if at >= 0:
                yield path[at + 1 :]


def ruled_paths(rules: RuleSet) -> RuledPaths:
    """What these rules say of paths."""

    def make() -> RuledPaths:
        counts, starts, folders, names = {1}, set[str](), set[str](), {"", ".", ".."}
        for listed in _LISTS:
            for rule in rules.commands_of(listed, None, ""):
                words = rule.specifier.loose_words if isinstance(rule.specifier, CommandPattern) else ()
                for word in words:
                    names.add(os.path.normpath(word).rpartition("/")[2])
                    known = word.partition(WILD)[0].removeprefix("./")
                    folders.add(os.path.dirname(os.path.normpath(known or ".")))
                    if WILD in word:
                        starts.add(known)
                    else:
                        count = len(os.path.normpath(word).split("/"))
                        counts |= {count, max(1, count - 1), word.count(".") + 1}
        return RuledPaths(
            frozenset(counts),
            frozenset(each.lstrip("/") for each in starts) - {""},
            frozenset(folders - {""}),
            frozenset(name for name in names if WILD not in name),
            tuple({name.rpartition(WILD)[2] for name in names if WILD in name}),
            tuple(starts),
        )

    return rules.derived((ruled_paths,), make)


def paths_to(path: str, ruled: RuledPaths, endings: Iterable[str] = (), *, less: bool = False) -> list[str]:
    """The ways to write a path that a rule may say, with these endings and, with ``less``, without them; of one that
    leads to the workspace from elsewhere any part at its end, since it is not known where that begins."""
    straight = _straight(path)
    elsewhere = _is_elsewhere(straight)
    named = [straight, *(ruled.ends(straight) if elsewhere else ())]
    for each in named[:]:
        named += [os.path.normpath(each + ending) for ending in endings if not each.endswith(ending)]
        if less:
            named += [each.removesuffix(ending) for ending in endings if each.endswith(ending)]
    if elsewhere:
        # It may be the workspace itself.
        named += [ending[1:] for ending in endings if ending.startswith("/")]
    elif less and any(ending == f"/{straight}" for ending in endings):
        named += [".", "./"]
    named = [each for each in dict.fromkeys(named) if each and ruled.may_name(each)]
    return [each for one in named for each in ((one,) if one.startswith("/") else (one, f"./{one}"))]


def paths_to_each(
    paths: Iterable[str], ruled: RuledPaths, endings: Iterable[str], *, less: bool = False
) -> Iterator[str]:
    """``paths_to`` of all these."""
    return iter(dict.fromkeys(found for path in paths for found in paths_to(path, ruled, endings, less=less)))


def _straight(path: str) -> str:
    straight = os.path.normpath(path)
    return f"/{straight.lstrip('/')}" if straight.startswith("/") else straight


def _is_elsewhere(straight: str) -> bool:
    return straight == ".." or straight.startswith(("/", "../", "~"))


def modules_of(path: str, ruled: RuledPaths) -> Iterable[str]:
    """The modules that a file of this path may be."""
    straight = _straight(path)
    return dict.fromkeys(map(_module, (straight, *(ruled.ends(straight) if _is_elsewhere(straight) else ()))))


def _module(path: str) -> str:
    ending = next((each for each in reversed(_MODULE_ENDINGS) if path.endswith(each)), "")
    return os.path.normpath(path.removesuffix(ending) or path).replace("/", ".")


def files_of_module(module: str, ruled: RuledPaths) -> Iterator[str]:
    """The files that running a module may run: its own, and those of the packages that it lies in, which are loaded
    first."""
    parts = module.split(".")
    yield from ("/".join(parts) + ending for ending in _MODULE_ENDINGS)
    counts = {*ruled.counts, *(range(1, _MOST_PARENTS) if ruled.beginnings else ())}
    for count in sorted(each for each in counts if each < len(parts)):
        yield from ("/".join(parts[:count]) + ending for ending in _PACKAGE_ENDINGS)


_MODULE_ENDINGS = (".py", "/__main__.py", "/__init__.py")
_PACKAGE_ENDINGS = (".py", "/__init__.py")

_MOST_PARENTS = 9
"""Packages around a module that are compared with rules which have a wildcard."""


def searched(words: Iterable[Word], analyzed: AnalyzedCommand) -> list[str]:
    """The folders that these words list, with `WILD` for parts that are not known."""
    return _folders_in(text for word in words for text in _texts(word, analyzed))


def _folders_in(texts: Iterable[str]) -> list[str]:
    each = (folder for text in texts for folder in text.split(":") if folder not in {"", "."})
    found = list(islice(dict.fromkeys(each), _MOST_FOLDERS + 1))
    return found if len(found) <= _MOST_FOLDERS else [*found[:-1], WILD]


def _texts(word: Word, analyzed: AnalyzedCommand) -> Iterator[str]:
    """What a word may be, with the values of its variables."""
    if word.value is not None:
        yield word.value
        return
    choices: list[Collection[str]] = []
    for piece in word.pieces:
        if isinstance(piece, Text):
            choices.append((piece.text,))
        elif isinstance(piece, Variable) and piece.name == SEARCHED:
            choices.append(("",))
        else:
            held = analyzed.facts.values.get(piece.held or "") if isinstance(piece, Variable) else None
            choices.append([WILD if each is None else each for each in held or (None,)])
    most = max(map(len, choices), default=0)
    endless = [cycle(each) for each in choices]
    yield from ("".join(map(next, endless)) for _ in range(min(most, _MOST_FOLDERS)))


def search_path(analyzed: AnalyzedCommand) -> list[str]:
    """The folders in which a shell looks for a script without a slash, as far as the text itself says them."""
    facts = analyzed.facts
    given = [each.value for each in analyzed.step.command.assignments if each.name == SEARCHED and each.value]
    wrapped = [word for layer in analyzed.layers[:-1] for word in layer.words[1:] if word.prefix.startswith(_ASSIGNED)]
    if not (given or wrapped or SEARCHED in facts.values):
        return []
    known = [each for each in facts.values.get(SEARCHED, ()) if each is not None]
    texts = [each.removeprefix(_ASSIGNED) for word in wrapped for each in _texts(word, analyzed)]
    spelled = [text for word in (*given, *facts.words.get(SEARCHED, ())) for text in _texts(word, analyzed)]
    return _folders_in((*known, *texts, *spelled))


def found_in(name: str, folders: Iterable[str], ruled: RuledPaths) -> tuple[list[str], list[str]]:
    """The paths of a script of this name in these folders, and those that it may have by a rule where a folder is not
    known."""
    surely, perhaps = list[str](), list[str]()
    for folder in folders if "/" not in name else ():
        pieces = folder.split(WILD)
        if len(pieces) > 1:
            perhaps += [f"{each}/{name}" for each in ruled.folders if wildcard_match(pieces, each)]
        if pieces[-1]:
            surely.append(f"{folder.replace(WILD, '/.')}/{name}" if len(pieces) > 1 else f"{folder}/{name}")
    return surely, perhaps


SEARCHED = "PATH"
"""The variable that lists these folders."""
_ASSIGNED = f"{SEARCHED}="

ANYWHERE = (WILD,)
"""A list of folders of which nothing is known."""

_MOST_FOLDERS = 40
"""Folders of a search path that are looked at."""
