"""What a text says of a command's standard input, as one value.

Wherever something else may read from the same input first, less is known (``in_part``): without its first characters
the input is another text (``{ head -c 5; sh; } <<< 'echo evil'``) and lists other names (``find src -type f |
{ head -c 1; xargs cat; }``).
"""

from __future__ import annotations

from typing import NamedTuple

from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.listings import Listing


class CommandInput(NamedTuple):
    """``comes``: the input comes from this text at all. ``texts`` are texts that may be read from it, and ``exact``
    says that those are all of it, to the letter. ``words`` are words that it may consist of and that are not constant.
    ``listing`` are the commands whose output is all that comes in, if they list names of files."""

    comes: bool = False
    texts: tuple[str, ...] = ()
    exact: bool = True
    listing: Listing | None = None
    words: tuple[Word, ...] = ()

    def in_part(self) -> CommandInput:
        """What one command reads of an input that others may read too: some of it, perhaps not from its start."""
        if not self.comes or (not self.exact and self.listing is None):
            return self
        return self._replace(exact=False, listing=None)

    def replaced_by(self, text: str, *, exact: bool, word: Word | None = None) -> CommandInput:
        """Behind a here-document or a here-string, perhaps beside another. ``exact``: bash expands nothing in the text;
        otherwise it may be anything that ``word`` becomes."""
        words = self.words if word is None else (*self.words, word)
        return CommandInput(True, (*self.texts, text), self.exact and exact, None, words)

    def opened(self, listing: Listing | None) -> CommandInput:
        """Behind ``<``: a file, or a process that makes this listing."""
        return self._replace(comes=True, exact=False, listing=listing)

    def inside(self, outer: CommandInput, *, alone: bool) -> CommandInput:
        """What a command of a text reads, where another command runs the text and itself reads ``outer``. ``alone``: it
        runs no further text, and the text holds no further command."""
        if not self.comes and outer.comes:
            return CommandInput(True, outer.texts, outer.exact and alone, None, outer.words)
        unread = self.comes and not self.texts and not self.exact
        return self._replace(texts=outer.texts) if unread else self  # a filter may hand it on


NO_INPUT = CommandInput()

ANY_INPUT = CommandInput(comes=True, exact=False)
"""An input that the text says nothing of."""
