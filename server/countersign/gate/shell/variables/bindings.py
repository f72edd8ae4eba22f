"""What a whole text says of names: functions, aliases, and what its variables may hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from countersign.gate.patterns import is_glob, unescape_glob
from countersign.gate.shell.syntax.tree import Variable, Word
from countersign.gate.shell.variables.listings import Listing, is_one_line


@dataclass(slots=True)
class Facts:
    """What the whole text says of names. ``values`` holds for each variable the constants that it may have, and None
    among them where it may have others; ``numbers`` are variables that can only hold a number. ``patterns`` are the
    pathname patterns whose matches it may be, which also stand as None among its values; ``loose`` are variables that
    may be something else yet. ``listings`` are commands of whose output it may be a word or line, which stand as None
    among its values, too; ``whole`` are variables that may be all of its lines, ``read`` those that a loop reads from
    its input. ``in_one_place`` says that all commands of the text run in the same places, without a move between them.
    ``too_many`` are variables made of others that may have more values than are judged, ``words`` the words that such
    variables are given. ``descriptors_moved``: input may be open for writing, or output for reading (`2< a`).
    ``entered`` are the words to which the text moves its shell."""

    functions: set[str] = field(default_factory=set)
    aliases: bool = False
    values: dict[str, set[str | None]] = field(default_factory=dict)
    numbers: dict[str, bool] = field(default_factory=dict)
    patterns: dict[str, set[str]] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)
    listings: dict[str, set[Listing]] = field(default_factory=dict)
    in_one_place: bool = True
    whole: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    too_many: set[str] = field(default_factory=set)
    words: dict[str, list[Word]] = field(default_factory=dict)
    descriptors_moved: bool = False
    entered: list[Word] = field(default_factory=list)

    def bind(self, name: str, value: str | None, *, number: bool = False) -> None:
        self.values.setdefault(name, set()).add(value)
        if value is None:
            self.loose.add(name)
        is_number = number or (value is not None and value.lstrip("-").isdigit())
        self.numbers[name] = self.numbers.get(name, True) and is_number

    def bind_pattern(self, name: str, pattern: str) -> None:
        """A variable that may be any name that this pattern matches."""
        self.values.setdefault(name, set()).add(None)
        self.numbers[name] = False
        self.patterns.setdefault(name, set()).add(pattern)
        if name in self.listings:
            self.loose.add(name)  # what it holds is not known by either alone

    def bind_listing(self, name: str, listing: Listing, *, whole: bool = False) -> None:
        """A variable that may be any name which these commands list, or all that they print where ``whole``."""
        self.values.setdefault(name, set()).add(None)
        self.numbers[name] = False
        self.listings.setdefault(name, set()).add(listing)
        if name in self.patterns:
            self.loose.add(name)
        if whole and not is_one_line(listing):
            self.whole.add(name)

    def bind_spelled(self, name: str, pattern: str) -> None:
        """A variable that holds what a pathname pattern expands to, which is itself where it holds no wildcard."""
        if is_glob(pattern):
            self.bind_pattern(name, pattern)
        else:
            self.bind(name, unescape_glob(pattern))

    def bind_default(self, variable: Variable) -> None:
        """Keep what an expansion with a constant default may be: the default, or whatever its variable may hold. Comes
        last, when all variables of the text are bound."""
        name, held, default = variable.name, variable.held, variable.default
        if held is None or default is None:
            return
        self.values[held] = {*self.values.get(name, {None}), default}
        self.numbers[held] = self.numeric(name) and default.lstrip("-").isdigit()
        if name in self.patterns:
            self.patterns[held] = self.patterns[name]
        if name in self.listings:
            self.listings[held] = self.listings[name]
        if name in self.words:
            self.words[held] = self.words[name]
        for names in (self.loose, self.whole, self.read, self.too_many):
            if name in names:
                names.add(held)
        if name not in self.values:
            self.loose.add(held)

    def constants(self) -> dict[str, str]:
        """The variables that hold one text wherever they stand, but for those that hold a home: `x=~/a`."""
        return {
            name: value
            for name, values in self.values.items()
            if len(values) == 1 and (value := next(iter(values))) is not None and "~" not in value
        }

    def numeric(self, name: str) -> bool:
        return self.numbers.get(name, False)


_OWN = re.compile(r"[a-z_][a-z0-9_]*")
_NOT_OWN = re.compile(
    r".*_proxy|npm_config_.*|npm_package_.*|pnpm_config_.*|uv_.*|pip_.*|cargo_.*|histchars|auto_resume"
)


def is_own_name(name: str) -> bool:
    """Whether a name is one of the script's own, that no program looks at."""
    return _OWN.fullmatch(name) is not None and _NOT_OWN.fullmatch(name) is None
