"""A FileUse: one file that a command names, and what it would do to it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Word

Operation = Literal["read", "list", "write", "delete", "move"]


class Listed(NamedTuple):
    """How the files below a folder are listed. ``names`` are patterns of which each listed name matches one, none where
    it may be any. ``tracked``: git lists them, out of its index. ``split``: the printed names are split into words, or
    unquoted. ``past``: names that are no longer there may be listed. ``flat``: only what lies in the folder itself.
    ``top``: names count from the top of the repository. ``expanded``: bash takes each for a pattern.
    ``finds``: the words behind find's name, which say more of what is listed (``languages/find_tests.py``)."""

    names: tuple[str, ...] = ()
    tracked: bool = False
    split: bool = True
    past: bool = False
    flat: bool = False
    finds: tuple[str, ...] = ()
    top: bool = False
    expanded: bool = False


class FileUse(NamedTuple):
    """``word`` names the file; ``below`` counts everything under it. ``into``: if it is a folder, the file is
    written into it under this name (``cp x folder``). ``unknown_names``: what lands there has names that are not known.
    ``shown`` marks an operand of git, which may be a revision as well as a file, ``top`` one that counts from the
    top of its repository. ``start`` are folders that the program goes into first, at or above which that top lies.
    ``free`` marks one that may as well be an expression of the program's own. ``doubtful``: it is
    a file only if the table is wrong. ``unless``: nothing is touched if one of these words names what is there.
    ``runs``: what lies there is run or built, which a rule for the command covers in the workspace only. ``found``:
    a listing may name it, which the read-only set does not cover. ``listed``: of a word that is only known at run time
    other touches say what it may name. ``sockets``: a program may connect to sockets below it.
    ``listing``: of what lies below only that is touched. ``unfollowed``: it is refused if a link is on the way.
    ``through``: links below it are followed. ``sources``: what is written into a folder has the names that this word
    may match, with the folders in front if these are made as well (``parents``).
    ``if_there``: it may be an option instead, so nothing is touched where no file has this name.
    ``content``: of a folder, only files that lie in it are written. ``whole``: all that lies below is changed as well.
    ``brought``: what lies below this other word arrives there, and if it is ``copied``, in what links there lead to.
    ``patched``: the patch on the input says which.
    ``opened``: a shown operand may be opened as a file, wherever a link leads; to write, only that counts. ``removes``:
    what lies there may be deleted, or not.
    ``holder``: git puts there what a commit has under this name, a file or a whole folder. ``by_git``: git reads the
    word, which straightens ``x/../y`` by its text. ``commits``: nothing is touched if all these words surely name
    commits, or (``or_files``) what is there. ``setting``: nothing is touched unless this setting of git's may be on,
    ``without_tree``: unless it may have another work tree than it seems, or none, ``unmerged``: unless its index holds
    files that were not merged, ``refused``: unless git may not take the repository. ``standing``: of a pattern only
    what it matches now is touched. ``backed_up``: any file below may get another name, so that a secret there
    counts."""

    operation: Operation
    word: Word
    below: bool = False
    into: str | None = None
    unknown_names: bool = False
    shown: bool = False
    top: bool = False
    start: tuple[Word, ...] = ()
    free: bool = False
    doubtful: bool = False
    runs: bool = False
    found: bool = False
    listed: bool = False
    sockets: bool = False
    listing: Listed | None = None
    unless: tuple[Word, ...] = ()
    unfollowed: bool = False
    through: bool = False
    sources: Word | None = None
    parents: bool = False
    if_there: bool = False
    content: bool = False
    whole: bool = False
    brought: Word | None = None
    copied: bool = False
    patched: bool = False
    opened: bool = False
    removes: bool = False
    holder: bool = False
    by_git: bool = False
    commits: tuple[Word, ...] = ()
    or_files: bool = False
    setting: str = ""
    without_tree: bool = False
    unmerged: bool = False
    refused: bool = False
    standing: bool = False
    backed_up: bool = False


def unknown() -> Word:
    """A file whose name is not known before it runs."""
    return Word("…", (), "quoted", None, "", UNKNOWN_TEXT + "…", bare=False)
