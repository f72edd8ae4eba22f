"""Other names of programs, under which the tables know them, and under which deny and ask rules mean them. Data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

_PREFIXED = """
arch awk b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd dir
dircolors dirname du echo egrep env expand expr factor false fgrep find fmt fold grep groups head hostid id install join
kill link ln locate logname ls make md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste patch
pathchk pinky printenv printf ptx pwd readlink realpath rm rmdir runcon sed seq sha1sum sha224sum sha256sum sha384sum
sha512sum shred shuf sleep sort split stdbuf stty sum sync tac tail tar tee time timeout touch tr true truncate tsort
tty uname unexpand uniq unlink uptime users vdir wc which whoami xargs yes
"""
"""GNU programs that Homebrew and the BSDs install with a ``g`` in front."""
OTHER_NAMES: Mapping[str, str] = {f"g{name}": name for name in _PREFIXED.split()} | {
    "python3": "python", "python2": "python", "pypy3": "pypy", "nodejs": "node", "bsdtar": "tar", "mawk": "awk",
    "nawk": "awk", "original-awk": "awk", "fdfind": "fd", "batcat": "bat", "egrep": "grep", "fgrep": "grep",
    "gegrep": "grep", "gfgrep": "grep", "nvim": "vim", "vi": "vim", "view": "vim", "vimdiff": "vim", "gvim": "vim",
    "ex": "vim", "rvim": "vim", "rview": "vim", "py": "python", "exa": "ls", "eza": "ls", "rscript": "Rscript",
    "texlua": "lua", "vim.basic": "vim", "7zz": "7z", "7zzs": "7z", "vim.tiny": "vim", "vimx": "vim",
}  # fmt: skip
"""Other names of the same programs, as far as their options agree."""


# --- for deny and ask rules only -------------------------------------------------------------------------------------

Likeness = Literal["same", "akin"]
"""Whether a name surely stands for the program that a rule names, or only may."""

_AKIN: Mapping[str, frozenset[str]] = {
    "rm": frozenset({"unlink"}),
    "gradle": frozenset({"gradlew"}),
    "mvn": frozenset({"mvnw"}),
    "nc": frozenset({"ncat", "netcat", "nc.openbsd", "nc.traditional"}),
    "wget": frozenset({"wget2"}),
    "sudo": frozenset({"sudo-rs", "doas"}),
}
"""Programs that do what another does, or a part of it."""

_FAMILY = {name: family for family, names in _AKIN.items() for name in names}
_VERSION = re.compile(r"(.*?[a-z+])-?(\d[\d.]*)")


def family(name: str) -> str:
    """The name under which rules for a program, and for all that is called otherwise, are kept."""
    found = _VERSION.fullmatch(name)
    base = found[1] if found is not None and found[1] in _VERSIONED_NAMES else name
    base = OTHER_NAMES.get(base, base)
    return _FAMILY.get(base, base)


_VERSIONED_NAMES = frozenset(
    "python pypy perl ruby php lua node nodejs tclsh wish guile bash gcc clang clang++ g++ pip gem go java javac make "
    "erl npm".split()
)


def likeness(wanted: str, name: str) -> Likeness | None:
    """How surely a program of this name is the one that a rule names, both without folders; None if it is not."""
    if wanted == name:
        return "same"
    if family(wanted) != family(name):
        return None
    if name in _FAMILY or wanted in _FAMILY:
        return None if name not in _AKIN.get(wanted, ()) else "akin"
    theirs, ours = _version(name), _version(wanted)
    if not ours or theirs == ours or (theirs and theirs.startswith(f"{ours}.")):
        return "same"
    return "akin" if not theirs or ours.startswith(f"{theirs}.") else None


def _version(name: str) -> str:
    found = _VERSION.fullmatch(name)
    return found[2] if found is not None and found[1] in _VERSIONED_NAMES else ""


_AS_WORDS: Mapping[str, tuple[str, ...]] = {
    "docker-compose": ("docker", "compose"),
    "podman-compose": ("podman", "compose"),
    "cargo-clippy": ("cargo", "clippy"),
}


def as_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command whose program's name stands for a program and its subcommand (``git-push``)."""
    folder, slash, name = words[0].rpartition("/")
    spelled = _AS_WORDS.get(name)
    if spelled is None and re.fullmatch(r"git-[a-z-]+", name):
        spelled = ("git", name.removeprefix("git-"))
    return words if spelled is None else (f"{folder}{slash}{spelled[0]}", *spelled[1:], *words[1:])
