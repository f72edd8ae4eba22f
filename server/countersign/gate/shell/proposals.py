"""Rules that a person may choose for "always": two or three widths, as a person would write them.

Never for shells, interpreters, wrappers, a bare git, heredocs or texts of several lines; and each is tried on the
command it came from before it is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.settings.policy import RuleText

from ..pattern import command_specifier
from ..rule import RuleSet
from .case import Case
from .cover import covering
from .git import read_git
from .names import is_safe_prefix
from .table_wrappers import INTERPRETERS, SHELLS

_DEPTH = {
    "npm": 2, "pnpm": 2, "yarn": 1, "bun": 2, "deno": 2, "cargo": 1, "go": 1, "docker": 1, "podman": 1, "kubectl": 1,
    "gh": 2, "glab": 2, "pip": 1, "pip3": 1, "uv": 1, "poetry": 1, "pdm": 1, "hatch": 1, "terraform": 1, "tofu": 1,
    "make": 1, "ninja": 1, "just": 1, "task": 1, "rake": 1, "bundle": 1, "mvn": 1, "gradle": 1, "gradlew": 1,
    "dotnet": 1, "helm": 1, "brew": 1, "apt": 1, "apt-get": 1, "systemctl": 1, "aws": 2, "gcloud": 2, "az": 2,
    "ruff": 1, "swift": 1, "mix": 1, "composer": 1, "turbo": 1, "nx": 1, "lerna": 1, "conda": 1, "rustup": 1,
    "nvm": 1, "heroku": 1, "flutter": 1, "dart": 1, "zig": 1, "bazel": 1, "jj": 1, "hg": 1, "svn": 1, "vercel": 1,
    "netlify": 1, "fly": 1, "wrangler": 1, "prisma": 1, "alembic": 1, "pre-commit": 1, "coverage": 1, "nox": 0,
    "tox": 0,
}  # fmt: skip
"""How many words behind a program's name say what it does."""

_SHORT = {"npm": {"test", "t", "start", "ci", "install", "i", "ls", "outdated", "audit", "view"}}
"""Subcommands after which nothing more belongs to the name."""

_RUNS_SCRIPTS = frozenset({"run", "run-script"})
_TWO_DEEP = {
    ("docker", "compose"),
    ("git", "stash"),
    ("git", "remote"),
    ("git", "worktree"),
    ("git", "submodule"),
    ("uv", "pip"),
    ("go", "run"),
    ("go", "mod"),
    ("go", "tool"),
    ("docker", "image"),
    ("docker", "container"),
    ("docker", "volume"),
    ("docker", "network"),
    ("kubectl", "config"),
    ("kubectl", "rollout"),
    ("terraform", "state"),
    ("terraform", "workspace"),
}
_NEVER = frozenset({
    "sudo", "doas", "su", "pkexec", "env", "xargs", "eval", "exec", "source", ".", "trap", "builtin", "coproc", "ssh",
    "rm", "dd", "mkfs", "export", "alias", "unset", "declare", "set", "shopt", "hash", "enable", "cd", "pushd", "popd",
    "vim", "vi", "view", "less", "more", "most", "top", "htop",
})  # fmt: skip
"""Wrappers, what deletes or changes the shell, and what takes commands from the keyboard."""

_ONLY_EXACT = {
    ("kill",), ("pkill",), ("killall",), ("chmod",), ("chown",), ("scp",), ("rsync",), ("wget",), ("coverage", "run"),
    ("docker", "run"), ("podman", "run"), ("kubectl", "delete"), ("kubectl", "apply"), ("terraform", "apply"),
    ("terraform", "destroy"), ("history",), ("printenv",),
}  # fmt: skip
"""Commands whose other words say what is hit, sent, or run: a person would not allow them all for having seen one."""

_LOADS = re.compile(
    r".*PATH|LD_.*|DYLD_.*|GIT_.*|.*_OPTIONS|.*_OPTS|BASH_ENV|ENV|IFS|SHELL|.*PAGER|.*EDITOR|PYTHON.*|.*FLAGS"
)
"""Variables that may choose what is loaded or run."""

_TARGETS = frozenset({"make", "ninja", "just", "task", "rake", "tox", "nox"})
"""Programs that take options before or behind what they build: the first word that is none of them is the target."""
_MAX_RULE = 300


def propose(case: Case) -> Iterator[str]:
    """The rules for one simple command, narrowest first."""
    command = case.step.command
    if not _sayable(case):
        return
    layer = case.layers[-1] if all(layer.way in ("self", "clear") for layer in case.layers) else case.layers[0]
    words = [word.value for word in layer.words]
    constant = [word for word in words if word is not None]
    offers: list[str] = []
    stem = _stem(case, words)
    if not stem:
        return
    assigned = [f"{each.name}={each.plain}" for each in command.assignments if not is_safe_prefix(each)]
    if len(constant) == len(words):
        exact = command_specifier([*assigned, *constant])
        if exact is not None:
            offers.append(f"Bash({exact})")
    spelled = command_specifier([*assigned, *stem])
    if spelled is not None and not _names_one(case, stem):
        offers.append(f"Bash({spelled}:*)")
    for text in offers:
        if len(text) <= _MAX_RULE and _covers(text, case):
            yield text


def _names_one(case: Case, stem: Sequence[str]) -> bool:
    """Whether only exactly this call is to be offered."""
    if any(tuple(stem[: len(words)]) == words for words in _ONLY_EXACT):
        return True
    if any(_LOADS.fullmatch(assignment.name) for assignment in case.step.command.assignments):
        return True
    return any(known.git is not None and known.git.before.options for known in case.known)


def _sayable(case: Case) -> bool:
    command = case.step.command
    if not case.layers or command.kind != "command" or "\n" in command.source:
        return False
    if any(redirect.heredoc is not None for redirect in command.redirects):
        return False
    if any(assignment.plain is None for assignment in command.assignments):
        return False
    if any(name in _NEVER or name in SHELLS for name in case.names):
        return False
    if any(layer.way == "closed" for layer in case.layers) or case.step.unwrapped.texts:
        return False
    if any(known.git is not None and known.git.folders for known in case.known):
        return False  # no rule covers git in a folder that it may not work in
    inner = case.names[-1]
    return inner not in INTERPRETERS or case.layers[-1].way == "runner"


def _stem(case: Case, words: Sequence[str | None]) -> list[str]:
    """The words that say what the command does; empty if they are not known."""
    layer = case.layers[-1]
    runner = next((index for index, each in enumerate(case.layers) if each.way == "runner"), None)
    lead = 0
    if runner is not None:
        if layer.start is None:
            return []
        above = case.layers[0].start or 0
        lead = layer.start - above
        words = tuple(word.value for word in case.layers[0].words)
    name = case.names[-1]
    if name == "git" and runner is None:
        git = read_git(layer.words)
        if git.subcommand is None:
            return []
        if git.start != 2:
            return [word for word in words if word is not None] if None not in words else []
        depth = 2 if ("git", git.subcommand) in _TWO_DEEP else 1
    else:
        depth = _DEPTH.get(name, 0)
    inner = words[lead:]
    if depth == 2 and len(inner) > 1 and inner[1] in _SHORT.get(name, set()):
        depth = 1
    if depth == 1 and len(inner) > 1 and (name, inner[1]) in _TWO_DEEP:
        depth = 2
    if depth == 1 and len(inner) > 1 and inner[1] in _RUNS_SCRIPTS and name in {"yarn", "deno", "bun"}:
        depth = 2
    stem = [*words[:lead], *inner[:1]]
    told = 0
    for word in inner[1:]:
        if told == depth or word is None:
            break
        option = word.startswith("-") or "=" in word
        if option and (told or name in _TARGETS):
            break
        stem.append(word)
        told += not option
    if depth and not told and name not in _TARGETS:
        # Options alone: no word says what it does, so that these are all that is offered.
        alone = None not in inner and len(stem) == lead + len(inner)
        return [word for word in stem if word is not None] if alone else []
    if any(word is None for word in stem) or (depth and len(stem) == lead + 1 and name in {"git", "npm", "docker"}):
        return []
    return [word for word in stem if word is not None]


def _covers(text: str, case: Case) -> bool:
    return covering(case, "allow", RuleSet([RuleText("allow", text)]), "").evidence is not None
