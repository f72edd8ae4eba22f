"""Which files a git command shows, writes or deletes, as far as its words name them (docs/gate.md S10 and "Secrets").

An operand may be a revision as well as a file, and a path may stand behind a colon; whatever could be one counts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from countersign.gate.shell.files.address_operands import repository_touches, written_for_address
from countersign.gate.shell.files.file_use import FileUse, Operation, unknown
from countersign.gate.shell.files.git_config_operands import config_touches
from countersign.gate.shell.files.git_contents import (
    FROM_TREES,
    end_of_revisions,
    leaves_files_out,
    may_be_files,
    may_name_objects,
    names_objects,
    prints_lines,
    prints_unnamed,
    revisions,
    spec_words,
    tells_commits,
)
from countersign.gate.shell.files.pathspec_names import met_names
from countersign.gate.shell.languages.git import Git, named_words, names_other_file, paths_in
from countersign.gate.shell.languages.git_options import SHOWS_FILES
from countersign.gate.shell.languages.git_pathspec import fixed_texts, has_wildcard, is_path, read_pathspec
from countersign.gate.shell.programs.argv import is_one_of
from countersign.gate.shell.syntax.tree import Text, Word
from countersign.gate.shell.syntax.words import constant, pattern_text, with_pieces


def git_touches(words: Sequence[Word], git: Git) -> Iterator[FileUse]:
    """All that this git command touches by name, counted from the folders of its ``-C``."""
    unnamed = prints_unnamed(words, git)
    # It prints from the top of the repository, wherever it works in it.
    everything = FileUse("read", constant("."), shown=True, top=True, start=git.folders, unfollowed=True)
    if unnamed is not None:
        yield everything._replace(unless=unnamed)
    if unnamed != ():
        yield from _unless_it_is_sure(everything, words, git)
    for each in _touches(words, git):
        yield from (_placed(found, git) for found in _by_pathspec(each, git))


def _unless_it_is_sure(everything: FileUse, words: Sequence[Word], git: Git) -> Iterator[FileUse]:
    """What it prints or takes if its words do not name commits, or where the repository is set up in other ways."""
    prints = prints_lines(git)
    if prints or git.subcommand in FROM_TREES or names_objects(git):
        # A tag may name the contents of a file, or a folder in which paths count from there. Where no word names
        # anything, it is what is checked out, and its objects may stand for others.
        named = revisions(words, git) or (constant("HEAD"),)
        yield everything._replace(commits=named, or_files=may_be_files(words, git))
        # Without a work tree paths count from the top, wherever git runs.
        yield everything._replace(without_tree=True)
    if git.subcommand in _OF_STAGES:
        yield everything._replace(unmerged=True)
    for setting in _PRINTS_BY_SETTING.get(git.subcommand or "", ()):
        if prints or git.subcommand not in SHOWS_FILES:
            yield everything._replace(setting=setting)


_OF_STAGES = frozenset({"diff", "diff-files", "diff-index"})
"""Subcommands that print what the index holds of a file that was not merged."""

_PRINTS_BY_SETTING = {
    **dict.fromkeys(("commit", "cherry-pick", "revert", "merge", "rebase", "pull", "am"), ("commit.verbose",)),
    **dict.fromkeys(("log", "whatchanged"), ("log.follow", "log.diffmerges")),
    "show": ("log.diffmerges",),
}
"""Settings with which subcommands print what is in files that their words do not name."""


def _placed(each: FileUse, git: Git) -> FileUse:
    """The touch as git makes it in the folders of its ``-C``, above which the top of the repository may lie."""
    file_use = each._replace(unfollowed=_is_unfollowed(each, git), opened=not each.top and _follows(git), by_git=True)
    # In a folder of git's own, paths count from the work tree.
    inside = file_use.shown and any(".git" in (folder.value or "").split("/") for folder in git.folders)
    if file_use.top or inside:
        return file_use._replace(top=True, start=git.folders)
    word = file_use.word
    for folder in reversed(git.folders):
        if word.value is None or folder.value is None or word.value.startswith("/") or word.tilde:
            break
        path = f"{folder.value}/{word.value}"
        word = Word(path, (), "constant", path, path, path, tilde=folder.tilde)
    return file_use if word is file_use.word else file_use._replace(word=word)


_TAKES_PATHSPECS = frozenset({"rm", "restore", "checkout", "clean", "add", "stage", "stash"})
"""Subcommands that change or take up what pathspecs name, which may hold wildcards and count from the top."""


def _by_pathspec(file_use: FileUse, git: Git) -> Iterator[FileUse]:
    """The touches of what a word names as a pathspec, if it is one."""
    spec = file_use.word.value
    if (
        spec is None
        or file_use.shown
        or git.subcommand not in _TAKES_PATHSPECS
        or git.before.has("--literal-pathspecs")
    ):
        yield file_use
        return
    found = read_pathspec(spec)
    if found is None:
        yield file_use
    elif found.whole:
        yield file_use._replace(word=constant("."), top=True)
    else:
        # Which names a pattern stands for is looked up in the index (`rewritten_folders.py`).
        if not found.wild:
            yield file_use._replace(word=constant(found.path), top=found.top)
            return
        yield file_use
        if file_use.operation in ("write", "delete"):
            folder = fixed_texts(found.pattern)[0].rpartition("/")[0] or "."
            yield file_use._replace(operation="write", word=constant(folder), top=found.top, holder=True)
        for name in met_names(found.pattern, file_use.operation, any_case=found.any_case):
            yield file_use._replace(word=constant(name), top=found.top)


_MOVING_FILES = frozenset({"subtree", "find-renames", "rename-threshold"})
"""Options of strategies for merging by which one file's changes go to another."""
_IGNORE_FILE = re.compile(r"\.\w+ignore")

_APPLIES_ALIKE = frozenset({"-v", "--verbose", "--index", "--whitespace", "-p"})
"""Options with which the names in a patch are those of the files that are changed."""

_OPENS_FOUND = frozenset({"-O", "--open-files-in-pager"})

_STAYS_WITHIN = frozenset({"checkout", "restore", "rm", "clean", "apply", "am", "checkout-index", "read-tree"})
"""Subcommands that write or delete nothing beyond a symlink of the work tree."""

_TAKES_UP = frozenset({"add", "stage", "update-index"})
"""Subcommands that take a symlink up as what it is."""


def _follows(git: Git) -> bool:
    """Whether it may open a file of the work tree without a look at the folders above: ``git blame`` always, and ``git
    diff`` of two files, which is another program wherever git finds no repository that it likes."""
    if git.subcommand in {"blame", "annotate"}:
        return True
    two = git.subcommand == "diff" and (len(git.arguments.operands) == 2 or may_name_objects(git))
    return two or git.arguments.may_have("--no-index")


def _is_unfollowed(file_use: FileUse, git: Git) -> bool:
    """Whether git refuses to go through a link where this is touched, or looks at the link itself."""
    if git.subcommand == "mv":
        # It renames, and takes no symlink for a folder; only one in front of the last name leads elsewhere.
        return file_use.word.value is not None and "/" not in file_use.word.value
    if file_use.operation in ("read", "list"):
        return (file_use.shown and not _follows(git)) or git.subcommand in _TAKES_UP
    return git.subcommand in _STAYS_WITHIN


def _as_specs(words: Sequence[Word]) -> list[Word]:
    """Return these words, and for each of bash's patterns its own text: where it matches nothing, git takes that for a
    pathspec."""
    texts = [constant(pattern_text(word)) for word in words if word.value is None and word.form == "pattern"]
    return [*words, *texts]


def _touches(words: Sequence[Word], git: Git) -> Iterator[FileUse]:
    found = git.arguments
    operands = [word for _, word in found.operands]
    if git.subcommand in SHOWS_FILES or git.program.known:
        yield from _shown(words, git)
    yield from (FileUse("read", value) for value in found.valued(*git.program.reads))
    if any(_IGNORE_FILE.fullmatch(value.value or "") is None for value in found.valued("--exclude-per-directory")):
        yield FileUse("read", unknown())  # git puts the value behind every folder
    for setting in git.before.values("-c"):
        # `include.path`, `core.excludesFile`, `commit.template` and their like name files.
        path = (setting.value or "").partition("=")[2]
        if path:
            yield FileUse("read", constant(path)._replace(tilde=path.startswith("~/")), shown=True)
            if _WRITTEN_SETTING.match(setting.value or ""):
                yield FileUse("write", constant(path)._replace(tilde=path.startswith("~/")))
    for value in found.valued("-X", "--strategy-option"):
        name, _, folder = value.prefix.partition("=")
        if name == "subtree":
            yield FileUse("write", constant(folder) if folder and value.value else unknown(), unknown_names=True)
        if name in _MOVING_FILES or value.value is None:
            # What lies elsewhere in the commit comes under other names.
            yield FileUse("read", constant("."), shown=True, top=True, start=git.folders)
    yield from repository_touches(git)
    yield from _written_by_option(words, git)
    yield from _copied_from_template(git)
    match git.subcommand:
        case "rm":
            yield from (FileUse("delete", word) for word in operands if not found.keeps("--cached"))
        case "mv":
            # As for `mv`: no rule and no list of secrets names the file by its new name.
            for word in operands[:-1]:
                yield FileUse("move", word, below=True)
                yield FileUse("read", word)
            yield from (FileUse("write", word) for word in operands[-1:])
            for word in operands[:-1]:
                name = None if word.value is None else word.value.rstrip("/").rsplit("/", 1)[-1]
                unnamed = word if word.value is None else None
                yield FileUse("write", operands[-1], into=name or "*", sources=unnamed)
                yield FileUse("write", operands[-1], brought=word)
        case "format-patch" if any("/" in (word.value or "/") for word in found.valued("--suffix")):
            yield FileUse("write", unknown())  # a name that the subject of a commit begins
        case "format-patch" if not found.keeps("-o", "--output-directory", "--stdout", "--output"):
            yield FileUse("write", constant("0001-subject.patch"))
        case "send-email":
            yield from (FileUse("read", word, below=True, shown=True) for word in operands)
        case "mailinfo":
            yield from (FileUse("write", word) for word in operands)
        case "subtree":
            following = [word for before, word in pairwise(words) if _FOLDER_OPTION.fullmatch(before.value or "")]
            letters = [re.match("-[a-z]*P(.+)", word.value or "", re.DOTALL) for word in words]
            joined = [constant(found[1]) for found in letters if found is not None]
            for word in (*following, *joined, *found.valued("--prefix")):
                yield FileUse("write", word, unknown_names=True)
        case "stash":
            # What was changed there is put back.
            first = operands[0].value if operands else None
            named = operands[1:] if first in {"push", "save"} else () if first not in {None} else operands
            behind = [word for index, word in found.operands if _behind_dashes(words, index, git)]
            for word in dict.fromkeys((*named, *behind)):
                yield FileUse("write", word, shown=is_path(word.value or "stash"))
        case "restore":
            if found.may_have("--worktree", "-W") or not found.keeps("--staged", "-S"):
                yield from (FileUse("write", word, holder=True) for word in _as_specs(operands))
        case "checkout":
            # The first may be a commit, behind which stand paths.
            first = found.operands[:1]
            surely = [word for index, word in first if _behind_dashes(words, index, git) or word.prefix.startswith(":")]
            yield from (FileUse("write", word, holder=True) for word in _as_specs([*surely, *operands[1:]]))
            for word in () if surely else operands[:1]:
                # git takes `HEAD` for the commit, and refuses to guess where a file has that name.
                if word.value != "HEAD":
                    # `feature/tools` is a branch, but `tools` may be a folder that the index has.
                    one_part = "/" not in word.shape.removeprefix("./").rstrip("/")
                    yield FileUse("write", word, shown=True, holder=one_part)
                if has_wildcard(pattern_text(word)) and "^{" not in word.shape and "@{" not in word.shape:
                    # No branch or commit is spelled like this, so it is a pathspec.
                    spec = word if word.value is not None else constant(pattern_text(word))
                    yield FileUse("write", spec, holder=True)
        case "clone":
            yield from written_for_address(operands)
        case "init":
            yield from (FileUse("write", word) for word in operands[:1] or [constant(".")])
        case "worktree":
            if operands and operands[0].value in {"add", "move", "remove"}:
                named = operands[1 : 3 if operands[0].value == "move" else 2]
                fills = operands[0].value != "remove"
                yield from (FileUse("write", word, unknown_names=fills) for word in named)
            elif operands and operands[0].value == "repair":
                yield from (FileUse("write", word) for word in operands[1:])
        case "clean":
            if not found.keeps("-n", "--dry-run"):
                for word in operands or [constant(".")]:
                    yield FileUse("write", word, unknown_names=True)
        case "sparse-checkout":
            if not operands or operands[0].value != "list":
                yield FileUse("write", constant("."), unknown_names=True)
        case "apply" | "am":
            yield from (FileUse("read", word) for word in operands)
            # What is only put into the index (`--cached`) comes into the work tree by a later `git restore .`.
            spares = ("--check", "--stat", "--numstat", "--summary", "--abort", "--quit")
            if not found.keeps(*spares) or found.may_have("--apply"):
                alike = not (operands or git.before.options) and {each.name for each in found.options} <= _APPLIES_ALIKE
                for word in list(found.valued("--directory")) or [constant(".")]:
                    yield FileUse("write", word, unknown_names=True, patched=alike and git.subcommand == "apply")
                    if not alike:
                        yield FileUse("read", word, below=True)  # the patch may copy any file to another name
        case "merge-file":
            if not found.keeps("-p", "--stdout"):
                yield from (FileUse("write", word) for word in operands[:1])
        case "submodule":
            if operands and operands[0].value == "add":
                yield from written_for_address(operands[1:])
        case "symbolic-ref" | "update-ref" if names_other_file(git):
            for name, folder in itertools.product([word.value for word in operands[:2]], (".git", ".git/logs")):
                yield FileUse("write", unknown() if name is None else constant(f"{folder}/{name}"), top=True)
        case "bisect":
            replayed = operands[1:] if operands and _may_be(operands[0], "replay") else ()
            yield from (FileUse("read", word) for word in replayed)
        case "checkout-index":
            yield from (FileUse("write", word) for word in operands)
            if found.may_have("--temp", "--stage"):
                yield from (FileUse("read", word, shown=True) for word in operands)
            if found.may_have("-a", "--all", "--stdin", "--prefix"):
                yield FileUse("write", constant("."), unknown_names=True)
        case "read-tree":
            # Without `-u` it fills the index alone, from which a later `git restore .` takes it.
            if not found.keeps("-n", "--dry-run"):
                for word in list(found.valued("--prefix")) or [constant(".")]:
                    yield FileUse("write", word, unknown_names=True)
        case "bundle":
            if operands and operands[0].value == "create":
                yield from (FileUse("write", word) for word in operands[1:2])
                yield FileUse("read", constant("."), below=True)
            elif operands and operands[0].value != "create":
                yield from (FileUse("read", word) for word in operands[1:2])
        case "index-pack" | "verify-pack" | "show-index" | "mailsplit" | "quiltimport":
            yield from (FileUse("read", word) for word in (*operands, *found.valued("--patches")))
        case "grep" if any(option.name in _OPENS_FOUND and option.value is None for option in found.options):
            # Whatever pager is set gets the names of what is found.
            yield FileUse("write", constant("."), unknown_names=True)
        case "interpret-trailers":
            if found.may_have("--in-place"):
                yield from (FileUse("write", word) for word in operands)
        case "cat-file" | "unpack-file" if not found.keeps("-t", "-s", "-e"):
            # An object that is named by its number may be what any file holds.
            if any(word.value is None or ":" not in word.value for word in operands):
                yield FileUse("read", constant("."), below=True)
            if any(word.form == "pattern" for word in operands):
                yield FileUse("read", unknown())  # a file may be called `HEAD:.env`
        case "fast-export":
            # Without the names of files it writes out what all of them hold.
            yield FileUse("read", constant("."), below=True)
        case "add" | "stage" | "update-index":
            # Of a folder what is ignored stays out; a file by its name is taken up, and can be shown from there.
            forced = found.may_have("-f", "--force")
            yield from (FileUse("read", word, below=forced, shown=word.value is None) for word in operands)
            if git.subcommand == "update-index":
                yield from _put_into_index(words, git)
        case "commit":
            yield from (FileUse("read", word, shown=word.value is None) for word in operands)
        case "hash-object":
            yield from (FileUse("read", word) for word in operands)
        case "config":
            yield from config_touches(git)
            for value in found.valued("--blob"):
                # `revision:path`, or the number of an object, which may be what any file holds.
                blob = value.value or ""
                paths = list(paths_in(blob)) if blob.count(":") <= _MOST_COLONS else []
                yield from (FileUse("read", constant(path), shown=True, top=True, below=True) for path in paths)
                if not paths:
                    yield FileUse("read", constant("."), below=True)


def _may_be(word: Word, text: str) -> bool:
    return word.value == text or (word.value is None and text.startswith(word.prefix))


_FOLDER_OPTION = re.compile("-[a-z]*P|--p(?:r(?:e(?:f(?:i(?:x)?)?)?)?)?")
"""The option of `git subtree` whose value may be the next word."""


def _put_into_index(words: Sequence[Word], git: Git) -> Iterator[FileUse]:
    """Names that get any content in the index, from where `git checkout .` writes them."""
    behind = words[git.start :]
    if any(is_one_of(word.prefix, ("--index-info",)) for word in behind):
        yield FileUse("write", constant("."), unknown_names=True)
    for at, word in enumerate(behind):
        if is_one_of(word.prefix, ("--cacheinfo",)):
            # MODE,OBJECT,PATH in one word, or in three.
            for each in behind[at + 1 : at + 4]:
                path = (each.value or "").rpartition(",")[2] if each.value is not None else None
                yield FileUse("write", each if path is None else constant(path))
        elif "=" in word.prefix and is_one_of(word.prefix.partition("=")[0], ("--cacheinfo",)):
            named = word.prefix.rpartition(",")[2]
            yield FileUse("write", unknown() if word.value is None else constant(named))


def _copied_from_template(git: Git) -> Iterator[FileUse]:
    """Hooks and settings that a new repository, or an old one made anew, takes from a folder."""
    named = any(word.prefix.lower().startswith("init.templatedir=") for word in git.before.values("-c"))
    if git.subcommand in {"init", "clone"} and (named or list(git.arguments.valued("--template"))):
        target = [word for _, word in git.arguments.operands][git.subcommand == "clone" :][:1]
        folder = target[0].value if target else "."
        yield FileUse("write", constant(f"{folder or '.'}/.git/hooks"))


_WRITTEN_SETTING = re.compile(
    r"(?:trace2\.(?:normal|perf|event)target|gc\.repackfilterto|format\.outputdirectory)=", re.IGNORECASE
)
"""Settings of files and folders that git writes."""

_WRITTEN_BY = {
    "bugreport": ("-o", "--output-directory"),
    "diagnose": ("-o", "--output-directory"),
    "mailsplit": ("-o",),
    "index-pack": ("-o",),
    "credential-store": ("--file",),
    "fast-import": ("--export-marks",),
    "fast-export": ("--export-marks",),
}
"""Options, in subcommands whose others are not known, that name what is written."""


def _written_by_option(words: Sequence[Word], git: Git) -> Iterator[FileUse]:
    names = _WRITTEN_BY.get(git.subcommand or "", ())
    if git.subcommand == "pack-objects":
        yield from (FileUse("write", word) for _, word in git.arguments.operands[:1])
    behind = words[git.start :] if names else ()
    for word, following in zip_longest(behind, behind[1:]):
        if word is None:
            continue
        value = word.value or ""
        option, equals, attached = value.partition("=")
        for name in names:
            if value == name or (not equals and is_one_of(option, (name,))):
                yield from (FileUse("write", each) for each in [following] if each is not None)
            elif equals and is_one_of(option, (name,)):
                yield FileUse("write", constant(attached))
            elif not name.startswith("--") and value.startswith(name):
                yield FileUse("write", constant(value[len(name) :]))


_MOST_COLONS = 20
"""Behind each colon of a word a path may begin; a word with more of them may name anything."""


def _shown(words: Sequence[Word], git: Git) -> Iterator[FileUse]:
    """Every word of git's that may name a file whose content, or whose name at least, it prints."""
    found = git.arguments
    operation: Operation = "read" if git.subcommand in SHOWS_FILES and not tells_commits(words, git) else "list"
    # The first operand. Its place counts, as equal words may be one object.
    first_is_expression = (
        git.subcommand == "grep" and found.operands and not found.unrecognized_options and not found.has("-e", "-f")
    )
    specs = tuple(spec_words(words, git))
    for at, word in enumerate(named_words(git)):
        # A constant only: what splits may hold names behind it.
        if word.value is not None and ((at == 0 and first_is_expression) or _leaves_out(at, word, git)):
            continue
        if word.value is None:
            if operation == "read":
                yield FileUse("read", word, below=True)
                for path in _behind_colons(word):
                    yield FileUse("read", path, shown=True, top=True, below=True)
            continue
        if word.value.count(":") > _MOST_COLONS:
            yield FileUse(operation, unknown())
            continue
        free = at >= len(found.operands) or "^{" in word.value  # an option's value may be a format, and an expression
        yield FileUse(operation, word, shown=True, below=any(word is spec for spec in specs), free=free)
        yield from _named_in(word.value, operation, free=at >= len(found.operands))
    for word in found.valued("-L"):
        yield from _named_in(word.value or "", operation, free=False)
        behind = (word.value or "").split(":")[1:]
        yield from (FileUse(operation, constant(path), shown=True) for path in behind if path.startswith("/"))
    # Without an option for it the first operand is the pattern, behind `--` as well.
    limiting = found.operands if found.has("-e", "-f") else found.operands[1:]
    behind = [word for index, word in limiting if _behind_dashes(words, index, git)]
    # `:!src` alone leaves out, and `:/` means more than what lies below.
    magic = any(word.prefix.startswith(":") for _, word in limiting)
    if git.subcommand == "grep" and (not behind or magic):
        yield FileUse("read", constant("."), shown=True, top=magic)
    compared = found.operands if found.may_have("--no-index") else ()
    yield from (FileUse("read", word, below=True) for _, word in compared)
    # In a repository whose form it does not know, git goes to the top before it gives up, and counts from there.
    compared = compared or (found.operands if git.subcommand == "diff" and len(found.operands) > 1 else ())
    yield from (FileUse("read", word, below=True, shown=True, top=True, refused=True) for _, word in compared)


def _leaves_out(at: int, word: Word, git: Git) -> bool:
    """Whether the word at this place among those that may name files surely leaves some out, and names none."""
    takes_specs = at < len(git.arguments.operands) and git.subcommand not in {"blame", "annotate"}
    return takes_specs and leaves_files_out(word, git)


def _named_in(text: str, operation: Operation, *, free: bool) -> Iterator[FileUse]:
    for path in paths_in(text):
        yield FileUse(operation, constant(path), shown=True, top=True, below=True, free=free)


def _behind_colons(word: Word) -> Iterator[Word]:
    """What stands behind each colon of a word that is not constant: ``HEAD:$f``, ``1,9:.$f``."""
    for at, piece in enumerate(word.pieces):
        if not isinstance(piece, Text):
            continue
        for colon in re.finditer(":", piece.text):
            rest = piece._replace(text=piece.text[colon.end() :])
            pieces = (rest, *word.pieces[at + 1 :]) if rest.text else word.pieces[at + 1 :]
            if pieces:
                yield with_pieces(word, pieces)._replace(prefix=rest.text)


def _behind_dashes(words: Sequence[Word], index: int, git: Git) -> bool:
    return end_of_revisions(words, git) < index
