"""Places that ask before writing (P4) and files that ask before reading (P8), each with its reason. Data, not code.

Names are compared folded (composed, any case) at any depth below the workspace; the lists for the home hold only
there. ``path_judge.py`` looks them up; nothing here knows the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from countersign.gate.paths.kept_by_git import KEPT_BY_GIT, kept_by_git
from countersign.gate.patterns import fold, folded_segments

_EDITOR = "the editor runs tasks and extensions by what stands there"
_AGENT = "it configures an agent: its rules, hooks or servers"
_MISE = "mise runs commands and programs named there"
_BINARY = "programs there run under the names of trusted ones"
_HELPER = "it names programs that hand out keys, and others run them"
_LOGIN = "every new shell or session runs it"

PROTECTED: Mapping[tuple[str, ...], str] = {
    (".git",): "git runs hooks and programs named there",
    (".vscode",): _EDITOR,
    (".idea",): _EDITOR,
    (".zed",): _EDITOR,
    (".cursor",): _EDITOR,
    (".husky",): "git runs the hooks that stand there",
    (".devcontainer",): "opening the folder builds and runs what stands there",
    (".devcontainer.json",): "opening the folder builds and runs what stands there",
    (".countersign",): "it configures this gate",
    (".envrc",): "direnv runs it on entering the folder",
    (".mcp.json",): "agents start the servers named there",
    (".npmrc",): "it decides where packages come from and what installing runs",
    (".yarnrc.yml",): "it names the program that runs as yarn",
    (".yarnrc",): "it names the program that runs as yarn",
    (".gitmodules",): "git fetches and checks out what it names",
    (".hg", "hgrc"): "Mercurial runs hooks and programs named there",
    (".hg", "hgrc-not-shared"): "Mercurial runs hooks and programs named there",
    (".hg", "sharedpath"): "Mercurial runs hooks and programs named there",
    ("mise.toml",): _MISE,
    (".mise.toml",): _MISE,
    ("mise.local.toml",): _MISE,
    (".mise.local.toml",): _MISE,
    (".mise",): _MISE,
    (".config", "mise"): _MISE,
    (".config", "mise.toml"): _MISE,
    (".cargo", "config.toml"): "cargo runs the compilers, linkers and aliases named there",
    (".cargo", "config"): "cargo runs the compilers, linkers and aliases named there",
    (".venv", "bin"): _BINARY,
    ("venv", "bin"): _BINARY,
    (".venv", "scripts"): _BINARY,
    ("venv", "scripts"): _BINARY,
    ("node_modules", ".bin"): _BINARY,
    ("env", "bin"): _BINARY,
    ("env", "scripts"): _BINARY,
    ("site-packages",): _BINARY,
    ("pyvenv.cfg",): _BINARY,
    (".yarn", "releases"): "yarn runs what stands there",
    (".yarn", "plugins"): "yarn runs what stands there",
    (".pnp.cjs",): "every program of the packages loads it",
    ("tools", "bazel"): "bazel runs it in its own place",
    (".pre-commit-config.yaml",): "git hooks run the commands named there",
    ("lefthook.yml",): "git hooks run the commands named there",
    (".lefthook.yml",): "git hooks run the commands named there",
    ("lefthook-local.yml",): "git hooks run the commands named there",
    ("mise", "config.toml"): _MISE,
    (".helix",): _EDITOR,
    (".claude",): _AGENT,
    (".codex",): _AGENT,
    (".gemini",): _AGENT,
    (".qwen",): _AGENT,
    (".opencode",): _AGENT,
    ("opencode.json",): _AGENT,
    ("opencode.jsonc",): _AGENT,
    (".cline",): _AGENT,
    (".clinerules",): _AGENT,
    (".copilot",): _AGENT,
    (".windsurf",): _AGENT,
    (".kiro",): _AGENT,
    (".roo",): _AGENT,
    (".github", "hooks"): _AGENT,
    (".github", "copilot"): _AGENT,
    (".aider.conf.yml",): _AGENT,
    (".amazonq",): _AGENT,
    (".augment",): _AGENT,
    (".continue",): _AGENT,
    ("crush.json",): _AGENT,
    (".crush.json",): _AGENT,
    (".factory",): _AGENT,
    (".junie",): _AGENT,
    (".kilocode",): _AGENT,
    (".opencode.json",): _AGENT,
    (".pi",): _AGENT,
}
"""Consecutive names anywhere in a path: the place itself and all below it."""

_MADE_BY_TOOLS = frozenset({
    "site-packages", "pyvenv.cfg", ".pnp.cjs", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
    "lefthook-local.yml", ".aider.conf.yml", "crush.json", ".crush.json", ".opencode.json",
})  # fmt: skip
"""Protected names that a program may make, or for which no folder may stand in while it runs."""

PROTECTED_ENDINGS: Mapping[str, str] = {".code-workspace": _EDITOR}
"""How a name anywhere in a path may end."""

_FIRST_PROTECTED = frozenset(names[0] for names in PROTECTED)
_ENDINGS = tuple(PROTECTED_ENDINGS)

SECOND_PROTECTED = tuple(
    dict.fromkeys(names[1] for names in PROTECTED if len(names) == 2 and names[1:] not in PROTECTED)
)
"""What is protected below a folder that has no such name by itself (`.venv`, `.config`)."""

HOLDING_PROTECTED = {names[0]: names[1] for names in PROTECTED if len(names) > 1}
"""By the name of a folder one that is protected there (`hooks` in `.github`)."""

PROTECTED_IN_HOME: Mapping[tuple[str, ...], str] = {
    (".bashrc",): _LOGIN,
    (".bash_profile",): _LOGIN,
    (".bash_login",): _LOGIN,
    (".bash_logout",): _LOGIN,
    (".bash_aliases",): _LOGIN,
    (".profile",): _LOGIN,
    (".zshrc",): _LOGIN,
    (".zshenv",): _LOGIN,
    (".zprofile",): _LOGIN,
    (".zlogin",): _LOGIN,
    (".zlogout",): _LOGIN,
    (".xinitrc",): _LOGIN,
    (".xprofile",): _LOGIN,
    (".xsession",): _LOGIN,
    (".xsessionrc",): _LOGIN,
    (".pam_environment",): _LOGIN,
    (".gitconfig",): "git runs programs named there, in every repository",
    (".config", "git"): "git runs programs named there, in every repository",
    (".ssh",): "it decides who may log in, and what a connection runs",
    (".config", "autostart"): _LOGIN,
    (".config", "environment.d"): _LOGIN,
    (".config", "plasma-workspace"): _LOGIN,
    (".config", "fish"): _LOGIN,
    (".config", "systemd"): _LOGIN,
    ("library", "launchagents"): _LOGIN,
    (".local", "bin"): _BINARY,
    (".aws",): _HELPER,
    (".kube",): _HELPER,
    (".docker", "config.json"): _HELPER,
}
"""Names counted from the home: the place itself and all below it."""

_LIKELY = frozenset(name for names in (*PROTECTED, *PROTECTED_IN_HOME) for name in names) | {
    "head", "config", "config.worktree", "commondir", "hooks",
}  # fmt: skip
"""Parts of protected places, and names that ``bare_repositories.py`` knows."""

_KEY = "it is a private key or a certificate that may hold one"
_TOKEN = "it holds access tokens"

SECRET: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"\.env(?:\.(?!(?:.*\.)?(?:example|sample|template)$).*)?", re.DOTALL), "it holds a program's secrets"),
    (re.compile(r".*\.pem", re.DOTALL), _KEY),
    (re.compile(r"id_(?:rsa|ed25519|ecdsa).*", re.DOTALL), _KEY),
    (re.compile(r"\.npmrc|\.pypirc"), _TOKEN),
)
"""Names anywhere in a path, folded. A copy of such a file is one too (``_originals``)."""

_COPIES = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"(.+?)(?:~.*|\.~[0-9]{1,9}~|\.(?:bak|backup|old|orig|rej|save|sw[a-p]))",
        r"\.(.+)\.sw[a-p]",
        r"\.?#([^#]+)#?",
        r"(.*)_(?:backup|local|remote|base)_\d+(\..+)?",
    )
)
"""How ``mv -b``, ``patch`` and editors call a copy of a file, and git one version of it (``.env~HEAD``)."""

SECRET_SAMPLES = (
    *(".env", ".env.local", ".env.production", ".env.prod", ".env.staging", ".env.development"),
    *(".npmrc", ".pypirc", "id_rsa", "id_ed25519", "id_ecdsa", "\x00.pem", ".env~", ".npmrc~", "\x00.pem~"),
)
"""Names that ``SECRET`` matches, to be compared with a shell pattern; NUL stands for any text."""

_SWAPPED = tuple(f".sw{letter}" for letter in "abcdefghijklmnop")
_COPY_ENDINGS = ("~\x00", ".bak", ".backup", ".old", ".orig", ".rej", ".save", *_SWAPPED)
_COPIED = (".env", ".npmrc", ".pypirc", "\x00.pem")

SECRET_FORMS: Sequence[tuple[str, str, bool]] = (
    (".env", ".\x00", False),
    *((core, "\x00", False) for core in ("id_rsa", "id_ed25519", "id_ecdsa")),
    *((core, end, True) for core in _COPIED for end in _COPY_ENDINGS),
    *((f"#{core}", "#", True) for core in _COPIED),
    *((f".#{core}", "", True) for core in _COPIED[:3]),
    *((f".{core}", end, True) for core in _COPIED[:3] for end in _SWAPPED),
    *((core, f"_{kind}_\x00", True) for core in _COPIED for kind in ("backup", "local", "remote", "base")),
)
"""What ``SECRET`` matches beside its samples, and the copies of it: how each name begins, how it ends, and whether it
is that of a copy. NUL stands for any text."""

SECRET_IN_HOME: Mapping[tuple[str, ...], str] = {
    (".ssh",): "it holds keys for other machines",
    (".gnupg",): _KEY,
    (".aws",): _TOKEN,
    (".kube",): _TOKEN,
    (".config", "gcloud"): _TOKEN,
    (".config", "gh"): _TOKEN,
    (".netrc",): "it holds passwords",
    (".git-credentials",): "it holds passwords",
    (".docker", "config.json"): _TOKEN,
}
"""Names counted from the home: what lies below them, and they themselves where they are files."""

HOMES = re.compile(r"/root|/(?:home|users)(?:/[^/]+)?|/var/root")
"""Folded paths that are somebody's home, or hold them all."""

DRIVE = re.compile(r"/?[a-z]:[/\\]?")
"""A folded path that is a drive's root, as it is written on Windows."""

SYSTEM_PREFIXES = frozenset({"/", "/usr", "/usr/local", "/opt", "/opt/homebrew", "/opt/local"})
"""Where a system's own interpreter lives among everybody's programs: our own for writing, nobody's for reading."""

DEVICE_TREES = ("/proc", "/dev", "/.vol")
"""Trees of the kernel: what a name there stands for differs for each reader and moment (P6), or on macOS is any file
by its number."""

DEVICE_EXEMPT = ("/dev/shm",)
"""Ordinary files in memory."""


def protected_reason(segments: Sequence[str]) -> str | None:
    """Why writing to a path with these segments, counted from the workspace, always asks; or None."""
    names = folded_segments(tuple(segments))
    if _FIRST_PROTECTED.isdisjoint(names) and not any(name.endswith(_ENDINGS) for name in names):
        return None
    for index, name in enumerate(names):
        reason = PROTECTED.get((name,)) or PROTECTED.get(names[index : index + 2])
        if reason:
            return reason
        for ending, reason in PROTECTED_ENDINGS.items():
            if name.endswith(ending):
                return reason
    return None


def protected_names() -> tuple[str, ...]:
    """Every name that is protected by itself, wherever it lies, and that nothing needs to make."""
    return tuple(names[0] for names in PROTECTED if len(names) == 1 and names[0] not in _MADE_BY_TOOLS)


def may_be_protected(name: str) -> bool:
    """Whether a path that ends in this name may be protected, wherever it lies; cheap, and true for some others."""
    folded = fold(name)
    return folded in _LIKELY or folded.endswith(_ENDINGS)


def is_package_binary(segments: Sequence[str]) -> bool:
    """Whether such a path is protected only because package managers put programs there."""
    return protected_reason(segments) == _BINARY


def protected_in_home(segments: Sequence[str]) -> str | None:
    """Why writing to a path with these segments, counted from the home, always asks; or None."""
    names = tuple(fold(segment) for segment in segments[:2])
    return PROTECTED_IN_HOME.get(names[:1]) or PROTECTED_IN_HOME.get(names)


def secret_at(segments: Sequence[str]) -> tuple[int, str] | None:
    """Which of these segments makes the path a secret, and why; or None."""
    for index, segment in enumerate(segments):
        reason = secret_name(segment)
        if reason:
            return index, reason
    at = kept_by_git(folded_segments(tuple(segments)))
    return None if at is None else (at, KEPT_BY_GIT)


def secret_name(name: str) -> str | None:
    """Why a file of this name is a secret wherever it lies, or None."""
    return None if name.isascii() and TELLING.search(name) is None else _secret_name(name)


TELLING = re.compile(r"\.env|\.npmrc|\.pypirc|\.pem|id_(?:rsa|ed25519|ecdsa)", re.IGNORECASE)
"""What each name of a secret, and of a copy of one, holds if it is ASCII."""


@lru_cache(maxsize=4096)
def _secret_name(name: str) -> str | None:
    originals = _originals(fold(name))
    return next((reason for pattern, reason in SECRET for each in originals if pattern.fullmatch(each)), None)


@lru_cache(maxsize=4096)
def _originals(name: str) -> Sequence[str]:
    """This name, and those of whose files it is the copy, or a copy of one: ``.env`` for ``.env~``."""
    names = dict.fromkeys([name])
    for _ in range(_MOST_COPIES):
        made = [
            "".join(filter(None, found.groups()))
            for each in names
            for pattern in _COPIES
            if (found := pattern.fullmatch(each))
        ]
        names.update(dict.fromkeys(made))
    return tuple(names)


_MOST_COPIES = 3


def innocent_names(name: str) -> Iterator[str]:
    """Names like this one that are no secrets: a rule that covers one of them does not name this one."""
    stem, _, ending = name.rpartition(".")
    other_ends = (f"{name[:-1]}z", f"{name[:-1]}zzz")
    for other in ("zzz", ".zzz", f"{stem}.zzz" if stem else "zzz.zzz", f"zzz.{ending}", *other_ends):
        if secret_name(other) is None:
            yield other


def secret_in_home(segments: Sequence[str]) -> tuple[int, str] | None:
    """The same for segments counted from the home. The index is that of the last name that the table spells."""
    names = tuple(fold(segment) for segment in segments[:2])
    for length in (1, 2):
        if len(names) < length:
            break
        for last in _originals(names[length - 1]):
            reason = SECRET_IN_HOME.get((*names[: length - 1], last))
            if reason:
                return length - 1, reason
    return None
