"""Folders in which a command rewrites files that it does not name: ``git checkout .``, ``git stash``, ``ruff format``.

Formatters rewrite files with their own endings, and git those of its index where no other revision is named, so that
only a rule for such files counts. Only rules that forbid or ask for editing are applied to what is found here. Commands
that move a branch (``git switch``, ``merge``, ``pull``) are left to rules for commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from countersign.gate.shell.effects.escape_use import Known
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.syntax.tree import Word

_MOST = 200


class Rewritten(NamedTuple):
    """A folder in which files are rewritten: any, or those with one of these ``endings``. ``tracked``: only what git's
    index names. ``top``: counted from the top of the workspace as well."""

    folder: str
    endings: tuple[str, ...] = ()
    tracked: bool = False
    top: bool = False


class _Formatter(NamedTuple):
    """``subcommand`` is the word that must stand in it, ``writes`` matches an option without which it only checks,
    ``checks`` one with which it does. ``whole``: without operands, or with them, it works on the whole project."""

    endings: str = ""
    subcommand: str = ""
    writes: str = ""
    checks: str = ""
    whole: bool = False


_PYTHON = ".py .pyi .pyw .pyx .pxd .ipynb"
_WEB = (
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .json .json5 .jsonc .css .scss .sass .less .html .htm .vue .svelte .astro "
    ".md .mdx .markdown .yaml .yml .graphql .gql .hbs .php .toml .xml .sql .java"
)
_WRITE = r"-w|--?w(?:r(?:i(?:te?)?)?)?(?:=.*)?|-\w*w\w*"
_FIX = r"--fix(?:=.*)?|--fix-only|--unsafe-fixes|--fi"

_FORMATTERS: Mapping[str, tuple[_Formatter, ...]] = {
    "ruff": (
        _Formatter(_PYTHON, "format", checks=r"--check|--diff"),
        _Formatter(_PYTHON, "check", writes=_FIX, checks=r"--diff"),
    ),
    "black": (_Formatter(_PYTHON, checks=r"--check|--diff"),),
    "isort": (_Formatter(_PYTHON, checks=r"-c|--check|--check-only|--diff"),),
    "autopep8": (_Formatter(_PYTHON, writes=r"--in-.*|-\w*i\w*"),),
    "yapf": (_Formatter(_PYTHON, writes=r"--in-.*|-\w*i\w*"),),
    "autoflake": (_Formatter(_PYTHON, writes=r"--in-.*|-\w*i\w*"),),
    "pyupgrade": (_Formatter(_PYTHON),),
    "prettier": (_Formatter(_WEB, writes=_WRITE),),
    "eslint": (_Formatter(_WEB, writes=_FIX),),
    "xo": (_Formatter(_WEB, writes=_FIX),),
    "standard": (_Formatter(_WEB, writes=_FIX),),
    "stylelint": (_Formatter(_WEB, writes=_FIX),),
    "biome": (_Formatter(_WEB, writes=r"--write|--fix|--apply(?:-unsafe)?"),),
    "gofmt": (_Formatter(".go", writes=_WRITE),),
    "goimports": (_Formatter(".go", writes=_WRITE),),
    "gofumpt": (_Formatter(".go", writes=_WRITE),),
    "golines": (_Formatter(".go", writes=_WRITE),),
    "go": (_Formatter(".go", "fmt", checks=r"-n"), _Formatter(".go", "fix")),
    "cargo": (
        _Formatter(".rs", "fmt", checks=r"--check", whole=True),
        _Formatter(".rs .toml", "fix", whole=True),
        _Formatter(".rs", "clippy", writes=_FIX, whole=True),
    ),
    "terraform": (_Formatter(".tf .tfvars .hcl .json", "fmt", checks=r"--?check|--?write=false"),),
    "dart": (_Formatter(".dart", "format"), _Formatter("", "fix", writes=r"--apply")),
    "deno": (_Formatter(_WEB, "fmt", checks=r"--check"), _Formatter(_WEB, "lint", writes=_FIX)),
    "dotnet": (_Formatter("", "format", checks=r"--verify-no-changes", whole=True),),
    "mix": (_Formatter(".ex .exs .eex .heex", "format", checks=r"--check-formatted", whole=True),),
    "zig": (_Formatter(".zig .zon", "fmt", checks=r"--check"),),
    "swiftformat": (_Formatter(".swift", checks=r"--lint|--dryrun"),),
    "rubocop": (_Formatter("", writes=r"-a|-A|-x|--auto.*|--fix.*"),),
    "stylua": (_Formatter(".lua", checks=r"--check"),),
    "taplo": (_Formatter(".toml", "fmt", checks=r"--check"), _Formatter(".toml", "format", checks=r"--check")),
    "buf": (_Formatter(".proto", "format", writes=_WRITE),),
    "shfmt": (_Formatter("", writes=_WRITE),),
}
"""Formatters and fixers by name."""


_CHANGE_MODES = frozenset({"chmod", "chown", "chgrp"})
_DEEP = re.compile(r"-[A-Za-z]*R[A-Za-z]*|--r(?:ec.*)?")


def rewritten_folders(name: str, words: Sequence[Word], known: Known) -> Iterator[Rewritten]:
    """Yield the folders in which this command rewrites what it does not name."""
    if known.git is not None:
        yield from _by_git(known.git)
        return
    texts = [word.value or "" for word in words[1 : _MOST + 1]]
    options = [text for text in texts[: texts.index("--") if "--" in texts else None] if text[:1] == "-"]
    if name in _CHANGE_MODES and any(_DEEP.fullmatch(option) for option in options):
        yield from (Rewritten(_fixed(text)) for text in texts if text and text[0] != "-")
    for each in _FORMATTERS.get(name, ()):
        if each.subcommand and each.subcommand not in texts:
            continue
        if each.checks and any(re.fullmatch(each.checks, option) for option in options):
            continue
        unknown = any(word.value is None for word in words)
        if each.writes and not unknown and not any(re.fullmatch(each.writes, option) for option in options):
            continue
        start = texts.index(each.subcommand) + 1 if each.subcommand else 0
        named = [text for text in texts[start:] if text and text[0] != "-"]
        # The word behind an option may be its value, and no operand.
        sure = any(
            text and text[0] != "-" and (before[:1] != "-" or (each.writes and re.fullmatch(each.writes, before)))
            for before, text in pairwise(["", *texts[start:]])
        )
        for folder in [*named, *(() if sure and not each.whole else (".",))]:
            yield Rewritten(_fixed(folder), tuple(each.endings.split()), top=each.whole)


_KEEPS_FILES = frozenset({"list", "show", "drop", "clear", "create", "store"})


def _by_git(git: Git) -> Iterator[Rewritten]:
    found = git.arguments
    operands = [word.value for _, word in found.operands if word.value]
    revisions = [word for word in operands if word not in {"HEAD", "@"}]
    match git.subcommand:
        case "checkout":
            if found.has("-f", "--force", "--pathspec-from-file", "-m", "--merge"):
                yield Rewritten(".", tracked=not revisions, top=True)
            for word in operands:
                yield Rewritten(_fixed(word), tracked=len(operands) == 1 or operands[0] in {"HEAD", "@"})
        case "switch" if found.has("-f", "--force", "--discard-changes", "-m", "--merge"):
            yield Rewritten(".", tracked=not revisions, top=True)
        case "restore":
            if found.has("--worktree", "-W") or not found.has("--staged", "-S"):
                for word in [*operands, *((".",) if found.has("--pathspec-from-file") else ())]:
                    yield Rewritten(_fixed(word), tracked=not found.has("-s", "--source"))
        case "reset":
            if found.has("--hard", "--merge", "--keep"):
                yield Rewritten(".", tracked=not revisions, top=True)
        case "stash":
            if not operands or operands[0] not in _KEEPS_FILES:
                gives_back = bool(operands) and operands[0] in {"pop", "apply", "branch"}
                every = found.has("-u", "--include-untracked", "-a", "--all") or gives_back
                yield Rewritten(".", tracked=not every, top=True)
        case "clean":
            if not found.has("-n", "--dry-run"):
                for word in operands or ["."]:
                    yield Rewritten(_fixed(word))
        case "checkout-index":
            if found.has("-a", "--all"):
                yield Rewritten(".", tracked=True, top=True)
        case "read-tree":
            if found.has("-u"):
                yield Rewritten(".", top=True)


_WILD = re.compile(r"[*?\[{]|\.\.\.")


def _fixed(text: str) -> str:
    """The folder in front of the first wildcard of an operand, which the program itself expands (``src/**/*.js``,
    ``./...``). A pathspec with its own meaning (``:/``) may name anything."""
    if text.startswith(":"):
        return "."
    found = _WILD.search(text)
    return (text[: found.start()].rpartition("/")[0] or ".") if found is not None else text
