"""What a wrapper changes for the command or text that it runs: the folder, the root, and variables that change a text's
meaning.

``env -C DIR HOME=x bash -c '…'`` runs its text in another folder, with another home. The wrapper's own words are read
here, those in front of what it runs; whatever in them may name such a folder or variable counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from countersign.gate.shell.programs.argv import Arguments
from countersign.gate.shell.programs.tables import field_of, names_with_field, words_of
from countersign.gate.shell.programs.wrapper_row import RIGHTS, Wrapper
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.inherited import is_usual_path, mentioned, set_in


class Carried(NamedTuple):
    """``folders`` lead one after the other from where the wrapper runs to where its command does, None if that is not
    known. ``variables`` are set to something unusual. ``other_home``: another person's home may count. ``other_root``:
    an absolute path may name another file than it does here."""

    folders: tuple[Word, ...] | None = ()
    variables: frozenset[str] = frozenset()
    other_home: bool = False
    other_root: bool = False

    def then(self, inner: Carried) -> Carried:
        """What this wrapper and one that it runs change together."""
        folders = None if self.folders is None or inner.folders is None else (*self.folders, *inner.folders)
        return Carried(
            folders,
            self.variables | inner.variables,
            self.other_home or inner.other_home,
            self.other_root or inner.other_root,
        )


UNCHANGED = Carried()
ANYWHERE = Carried(folders=None)


def together(all_carried: Iterable[Carried]) -> Carried:
    """What several wrappers of one command change for a text, whichever of them runs it."""
    found = [carried for carried in all_carried if carried != UNCHANGED]
    moving = [carried.folders for carried in found if carried.folders != ()]
    return Carried(
        () if not moving else moving[0] if len(moving) == 1 else None,
        frozenset[str]().union(*(carried.variables for carried in found)),
        any(carried.other_home for carried in found),
        any(carried.other_root for carried in found),
    )


def carried_by(name: str, own: Sequence[Word], row: Wrapper | None, found: Arguments | None) -> Carried:
    """What this wrapper changes; ``own`` are its words in front of what it runs, ``found`` how its row sorts them.
    Without a row they are all words."""
    if row is not None and row.kind == "clear":
        return UNCHANGED
    texts = {id(word) for word in found.values(*row.texts)} if found is not None and row is not None else set[int]()
    variables = set[str]()
    for word in own:
        if id(word) in texts or is_usual_path(word.source):
            continue
        # Where it is not known which words are the text, one that only uses a variable changes none.
        said = word.value if word.value is not None else word.prefix
        variables |= mentioned(said) if found is not None else set_in(said)
    if found is not None and row is not None and row.assigns:
        stop = len(own)
        # `env "$x" command`: a word that is not known may be any assignment.
        unknown = [word for index, word in found.operands if index <= stop and word.value is None and not word.prefix]
        variables.update(f"what `{word.source}` names" for word in unknown)
    if name in _WITH_FILES or any(word.prefix.startswith(_FILE_OPTIONS) for word in own):
        variables.add("what an environment file names")
    other = row is not None and row.why == RIGHTS
    return Carried(
        _folders(name, own, found),
        frozenset(variables),
        other_home=other or _is_clean(name, own),
        other_root=_changes_root(name, own),
    )


def _is_clean(name: str, own: Sequence[Word]) -> bool:
    """Whether `env -i` takes `HOME` away as well."""
    return name in _MAY_CLEAR and any(word.value == "-" or (word.value or "").startswith(("-i", "--i")) for word in own)


_MAY_CLEAR = names_with_field("carries", "may_clear")
"""Wrappers that can take the whole environment away."""

_WITH_FILES = names_with_field("carries", "environment_files")
"""Wrappers that set variables from files or stores."""

_FILE_OPTIONS = ("--env-file", "--environment-file", "--envfile", "--dotenv")

_ELSEWHERE = names_with_field("carries", "elsewhere")
"""Wrappers that run their command in a folder, or under a root, which their words do not tell."""

_ROOTS = names_with_field("carries", "other_root")
"""Wrappers that exist to give a command another root, or other folders in place of some."""

_ROOT_OPTIONS = {key[0]: tuple(words.split()) for key, words in field_of("carries", "root_options").items()}
"""Options of others by which they do so."""


def _changes_root(name: str, own: Sequence[Word]) -> bool:
    """Whether the command may see another root. A word that is not known, or an option that begins like one of these,
    counts as one."""
    if name in _ROOTS:
        return True
    options = _ROOT_OPTIONS.get(name, ())
    return bool(options) and any(_could_be_one_of(word, options) for word in own)


def _could_be_one_of(word: Word, options: Sequence[str]) -> bool:
    said = word.prefix
    if word.value is None and len(said) < 2:
        return True
    if said.startswith("--"):
        given = said.partition("=")[0]
        return len(given) > 2 and any(option.startswith(given) for option in options)
    return said[:1] == "-" and any(option[1] in said[1:] for option in options if option[1] != "-")


_SHORT = words_of("carries", "folder_options")
"""Short options (and subcommands) by which these run their command in another folder."""

_LONG = (
    "--chdir", "--directory", "--wd", "--wdns", "--workdir", "--work-dir", "--working-directory", "--working-dir",
    "--cwd", "--pwd", "--dir", "--base-directory", "--root", "--rootfs", "--login", "--recursive", "--filter",
    "--workspaces", "--workspace", "--same-dir",
)  # fmt: skip
"""Long options that do so, with any wrapper; a beginning of one counts as well."""

_KNOWN_FOLDER = {key[0]: tuple(words.split()) for key, words in field_of("carries", "folder").items()}
"""Options whose value is the folder, and nothing else changes it."""


def _folders(name: str, own: Sequence[Word], found: Arguments | None) -> tuple[Word, ...] | None:
    """Where this wrapper's command runs, seen from where the wrapper does."""
    if name in _ELSEWHERE:
        return None
    if found is None:
        return None if any(_moves(name, word.prefix) for word in own) else ()
    moving = [option for option in found.options if _moves(name, option.name)]
    # Subcommands, and options in front of one, are none of these options.
    options = {option.index for option in found.options}
    others = [word for index, word in enumerate(own, 1) if index not in options and _moves(name, word.prefix)]
    if not moving and not others:
        return ()
    known = [option.value for option in moving if option.name in _KNOWN_FOLDER.get(name, ())]
    if others or len(moving) != 1 or len(known) != 1 or known[0] is None or known[0].value is None:
        return None
    return (known[0],)


def _moves(name: str, word: str) -> bool:
    """Whether a word is an option by which the command runs elsewhere."""
    short = _SHORT.get(name, frozenset())
    if word in short:
        return True
    if word.startswith("--"):
        option = word.partition("=")[0]
        return len(option) > 2 and any(long.startswith(option) for long in _LONG)
    # Letters stand together: `sudo -iu bob`, `env -iC sub`.
    return len(word) > 2 and word[0] == "-" and any(len(option) == 2 and option[1] in word for option in short)
