"""Which git commands set the upstream of a new branch although no option asks for it, and so write `.git/config`.

git does where the branch starts at one of a remote (``git checkout -b x origin/x``), and where a command names a branch
that only a remote has (``git switch x``). For a warning on a card: what is not certain is taken for no.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.syntax.tree import Word

_MOST_PACKED = 8 << 20
_MOST_REMOTES = 50
"""Bytes of `packed-refs` that are read, and remotes that are compared."""

_NEW_BRANCH: Mapping[str, frozenset[str]] = {
    "branch": frozenset(),
    "checkout": frozenset({"-b", "-B"}),
    "switch": frozenset({"-c", "-C", "--create", "--force-create"}),
    "worktree": frozenset({"-b", "-B"}),
}
"""For each subcommand of git that makes a branch, the options whose value is its name; else its first operand is."""
_FOUND: Mapping[str, frozenset[str]] = {
    "checkout": frozenset({"-q", "--quiet", "-f", "--force", "-m", "--merge", "--guess", "--progress"}),
    "switch": frozenset({"-q", "--quiet", "-f", "--force", "--discard-changes", "-m", "--merge", "--guess"}),
    "worktree": frozenset({"-q", "--quiet", "-f", "--force", "--lock", "--reason", "--checkout", "--no-checkout"}),
}
"""For each that looks among the branches of remotes for a name which it does not find, the options beside which it
does."""
_NAME = re.compile(r"(?!-)[^\s~^:?*\[\\{\0]+")
_NO_NAME = re.compile(r"\.\.|//|(?:^|/)\.|[/.]$|^/|^[0-9a-fA-F]{4,64}$|^@$")
"""What git takes for no branch, or perhaps for the number of a commit."""


def sets_upstream(words: Sequence[Word], git: Git, folder: str, paths: PathJudge) -> bool:
    """Whether this command, run in this folder, sets an upstream unasked."""
    naming = _NEW_BRANCH.get(git.subcommand or "")
    if naming is None or git.arguments.keeps("--no-track"):
        return False
    operands = [word.value for _, word in git.arguments.operands]
    if git.subcommand == "worktree":
        if operands[:1] != ["add"] or len(operands) < 2:
            return False
        if git.arguments.may_have("--track"):
            return True
        operands = operands[2:]
    if naming and not git.arguments.has(*naming):
        return _finds_branch(words, git, operands, folder, paths)
    start = operands[0 if naming else 1 : 1 if naming else 2]
    return any(_is_remote_branch(name, folder, paths) for name in start if name is not None)


def _finds_branch(
    words: Sequence[Word], git: Git, operands: Sequence[str | None], folder: str, paths: PathJudge
) -> bool:
    beside = _FOUND.get(git.subcommand or "", frozenset())
    name = operands[0] if len(operands) == 1 else None
    if name is None or any(option.name not in beside for option in git.arguments.options):
        return False
    dashes = next((index for index in range(git.start, len(words)) if words[index].value == "--"), None)
    if git.subcommand == "checkout":
        if dashes is not None and dashes < git.arguments.operands[0][0]:
            return False  # a file
        if dashes is None and disk.path_stat(os.path.join(folder, name)) not in disk.MISSING:
            return False  # a file, or git does not know which
    if _NAME.fullmatch(name) is None or _NO_NAME.search(name) is not None:
        return False
    found = repository_above(folder, paths)
    return found is not None and disk.combined(_is_of_one_remote, (found.shared, name))


def _is_of_one_remote(at: tuple[str, str]) -> bool:
    """Whether a name is no ref of a repository, but that of a branch of exactly one of its remotes."""
    shared, name = at
    if name.isupper() and _is_file(f"{shared}/{name}"):
        return False
    packed = _packed(shared, name)
    remotes = disk.names_in(f"{shared}/refs/remotes")
    if packed is None or len(remotes) > _MOST_REMOTES:
        return False
    own = ("", "tags/", "heads/", "remotes/")
    if any(f"refs/{kind}{name}" in packed or _is_file(f"{shared}/refs/{kind}{name}") for kind in own):
        return False
    if f"refs/remotes/{name}/HEAD" in packed or _is_file(f"{shared}/refs/remotes/{name}/HEAD"):
        return False
    loose = {remote for remote in remotes if _is_file(f"{shared}/refs/remotes/{remote}/{name}")}
    listed = {ref.split("/")[2] for ref in packed if _OF_REMOTE.match(ref) and ref.split("/", 3)[3] == name}
    return len(loose | listed) == 1


_OF_REMOTE = re.compile(r"refs/remotes/[^/]+/.")


def _packed(shared: str, name: str) -> frozenset[str] | None:
    """The refs in `packed-refs` whose names end with this one, or with it and `HEAD`; None if it is too large."""
    text = disk.beginning(f"{shared}/packed-refs", _MOST_PACKED + 1) or b""
    if len(text) > _MOST_PACKED:
        return None
    ending = re.escape(os.fsencode(name))
    form = re.compile(rb"^[0-9a-f]{40,64} (refs/(?:[^\s]*/)?" + ending + rb"(?:/HEAD)?)$", re.MULTILINE)
    return frozenset(os.fsdecode(ref) for ref in form.findall(text))


def _is_file(path: str) -> bool:
    found = disk.path_stat(path)
    return not isinstance(found, int) and found.kind == stat.S_IFREG


def _is_remote_branch(name: str, folder: str, paths: PathJudge) -> bool:
    """Whether git run here takes this name for a branch of a remote: its first segment is a remote that was fetched."""
    remote, _, branch = name.removeprefix("refs/").removeprefix("remotes/").partition("/")
    if not remote or not branch or _NOT_IN_BRANCH.search(name) is not None:
        return False
    found = repository_above(folder, paths)
    return found is not None and disk.is_folder(f"{found.shared}/refs/remotes/{remote}")


_NOT_IN_BRANCH = re.compile(r"[~^:@\s]|\.\.|(?:^|/)\.")
