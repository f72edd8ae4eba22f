"""A boundary out of the policy that decides, and of a look at the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from countersign.gate import LEDGER_FILE, PathJudge, RuleSet, judge_for
from countersign.settings.policy import Policy
from countersign.settings.regular_file import read_regular
from countersign.tools.sandbox.boundary import Additions, Boundary, Mount, Network, SandboxRoot
from countersign.tools.sandbox.linked_repositories import blocking_repositories, blocking_writable
from countersign.tools.sandbox.survey import Survey, lies_below
from countersign.tools.sandbox.system_paths import TOOLCHAINS

_WILD = re.compile(r"[*?\[{]")
_USER = re.compile(r"^\s*\[\s*user\s*\]\s*$(?P<body>.*?)(?=^\s*\[|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_MOST_GIT_SETTINGS = 1 << 20


class NoBoundary(Exception):
    """No sandbox can be made for this policy; the message says why."""


NOTHING_MORE = Additions()


def blocking_boundary(
    policy: Policy, *, writable: bool = True, most: int | None = None, additions: Additions = NOTHING_MORE
) -> Boundary:
    """Work out the boundary; ``writable`` False: no folder can be changed. ``most`` bounds the names looked at;
    ``additions`` are what this program has beside what the policy says.

    Raises:
        NoBoundary: a folder is too broad to be shown.
        TooLarge: the folders hold too much to be looked at.
        OSError: a folder cannot be looked at.
    """
    home = os.path.realpath(policy.home)
    folders = blocking_folders(policy, home)
    # A rule for one agent counts for all: several may run in one sandbox.
    rules = RuleSet(
        replace(rule, agent=None) for rule in policy.rules if rule.list != "allow" or _allows(rule.scope, policy)
    )
    granted = replace(policy, additional_directories=tuple(folders), additional_resolved=tuple(folders))
    judge = judge_for(granted, rules, "")
    survey = Survey(judge, rules, policy.workspace, home, most)
    own, control = _own_paths(policy)
    roots: tuple[SandboxRoot, ...] = survey.blocking_roots(folders, own, control)
    if not writable:
        roots = tuple(
            replace(root, writable=False, missing_folders=(), missing_files=(), blank_files=()) for root in roots
        )
    roots = tuple(_masked(root, additions) for root in roots)
    repositories = blocking_repositories(folders, judge)
    if writable:
        roots += blocking_writable(repositories, judge)
    private = not any(home == root.path or lies_below(home, root.path) for root in roots)
    return Boundary(
        roots=roots,
        home=home,
        private_home=private,
        tools=_tools(home, roots) if private else (),
        repositories=tuple(dict.fromkeys(each.shared for each in repositories)),
        network=_network(policy, additions) if writable else "none",
        mounts=tuple(mount for mount in additions.mounts if _is_shown(mount, judge, policy.workspace)),
        scratch=tuple(path for path in additions.scratch if not _in_roots(path, roots)),
        copies=additions.copies,
        gaps=blocking_gaps(policy) if writable else (),
        git_user=blocking_git_user(home),
    )


def _network(policy: Policy, additions: Additions) -> Network:
    return "hosts" if additions.proxied and policy.sandbox_network == "none" else policy.sandbox_network


def _is_shown(mount: Mount, judge: PathJudge, cwd: str) -> bool:
    """Whether no rule of a person denies reading it, under either of its names."""
    names = {mount.source, mount.place}
    return os.path.lexists(mount.source) and all(judge.judge_read(name, cwd=cwd).deny is None for name in names)


def _in_roots(path: str, roots: Sequence[SandboxRoot]) -> bool:
    return any(path == root.path or lies_below(path, root.path) for root in roots)


def _masked(root: SandboxRoot, additions: Additions) -> SandboxRoot:
    """The root with what is masked in it hidden or blank, and what links of these names lead to.

    A blank name of a file that is missing and must not be made stands there as a blank file, not as an empty folder.
    """
    masked = [path for path in additions.masked if lies_below(path, root.path)]
    there = [(path, os.path.realpath(path)) for path in masked if os.path.lexists(path)]
    found = [(path, real) for path, real in there if lies_below(real, root.path) and os.path.exists(real)]
    blank = {real for path, real in found if path in additions.blanked} - {*root.hidden_files, *root.hidden_folders}
    hidden = dict.fromkeys(real for _path, real in found if real not in blank)
    unmade = {path for path in additions.blanked if path in root.missing_folders and os.path.splitext(path)[1]}
    return replace(
        root,
        hidden_files=tuple(dict.fromkeys((*root.hidden_files, *(path for path in hidden if not os.path.isdir(path))))),
        hidden_folders=tuple(dict.fromkeys((*root.hidden_folders, *(path for path in hidden if os.path.isdir(path))))),
        blank_files=tuple(
            sorted({*root.blank_files, *(path for path in blank if not os.path.isdir(path)), *unmade} - {*hidden})
        ),
        blank_folders=tuple(sorted(path for path in blank if os.path.isdir(path))),
        missing_folders=tuple(path for path in root.missing_folders if path not in unmade),
        missing_files=(*root.missing_files, *((path, "") for path in sorted(unmade))),
    )


def _allows(scope: str, policy: Policy) -> bool:
    return policy.trusted or scope != "workspace"


def blocking_folders(policy: Policy, home: str) -> list[str]:
    """The workspace and what was granted beside it, resolved, none inside another.

    Raises:
        NoBoundary: one of them is too broad to be shown.
    """
    granted = [
        resolved
        for asked, resolved in zip(policy.additional_directories, policy.additional_resolved, strict=False)
        if os.path.realpath(asked) == resolved
    ]
    named = [os.path.realpath(folder) for folder in (policy.workspace, *granted, *policy.sandbox_writable)]
    found = [folder for folder in dict.fromkeys(named) if os.path.isdir(folder)]
    for folder in found:
        if folder in ("/", "/home", "/usr", "/etc", "/proc", "/dev", "/sys", "/tmp") or folder == os.path.dirname(home):
            raise NoBoundary(f"`{folder}` is too broad to be shown in a sandbox; open a folder below it")
    return [folder for folder in found if not any(lies_below(folder, other) for other in found)]


def _own_paths(policy: Policy) -> tuple[list[str], list[str]]:
    """Paths to hide, and paths to lock: the store, and what else is ours or decides what the gate does."""
    own = [os.path.realpath(path) for path in policy.own_paths]
    hidden = [path for path in own if os.path.exists(os.path.join(path, LEDGER_FILE))]
    control = [os.path.realpath(path) for path in (*policy.control_paths, *policy.workspace_control_paths)]
    return hidden, [path for path in (*own, *control) if path not in hidden]


def _tools(home: str, roots: Sequence[SandboxRoot]) -> tuple[str, ...]:
    found = [os.path.join(home, name) for name in TOOLCHAINS]
    # Behind a link could lie anything.
    present = [path for path in found if os.path.exists(path) and os.path.realpath(path) == path]
    return tuple(path for path in present if not any(path == root.path for root in roots))


def blocking_gaps(policy: Policy) -> tuple[str, ...]:
    """Rules about changing files that also speak of names which a command could still make."""
    gaps: list[str] = []
    for rule in policy.rules:
        match = re.fullmatch(r"\s*Edit\((.*)\)\s*", rule.text, re.DOTALL)
        if rule.list == "allow" or match is None:
            continue
        fixed = match[1].removesuffix("/**").removesuffix("/*")
        there = os.path.lexists(os.path.join(policy.workspace, os.path.expanduser(fixed).lstrip("./")))
        if _WILD.search(fixed) or not (there or os.path.isabs(fixed)):
            gaps.append(f"`{rule.text}` holds for files that are there when the command starts, not for new ones")
    return tuple(gaps)


def blocking_git_user(home: str) -> tuple[str, str] | None:
    """The name and address of this person's commits; no other setting of theirs is shown in the sandbox."""
    for name in (".gitconfig", ".config/git/config"):
        try:
            text = read_regular(os.path.join(home, name), _MOST_GIT_SETTINGS).decode("utf-8", "replace")
        except OSError:
            continue
        said: dict[str, str] = {}
        for section in _USER.finditer(text):
            for key, value in re.findall(r"^\s*(name|email)\s*=\s*\"?([^\"\n]*?)\"?\s*$", section["body"], re.I | re.M):
                said[key.lower()] = value
        if said.get("name") and said.get("email"):
            return said["name"], said["email"]
    return None
