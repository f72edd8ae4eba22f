"""Commands that start containers or machines by a file whose mounts are not read (decisions/012).

`docker compose up` mounts what its file says, from this machine, and so do `podman kube play`, programs that run a
project's CI jobs or its development environment in containers, and machines that share folders with this one. Manifests
that are sent to a cluster mount folders of its nodes, which is why `kubectl apply` is no such command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from countersign.gate.shell.syntax.tree import Word

_ENGINES = frozenset({"docker", "podman", "podman-remote", "nerdctl", "nerdctl.lima", "finch", "colima", "lima"})
"""Engines, and programs that pass their words on to one."""
_COMPOSES = frozenset({"docker-compose", "podman-compose", "arion"})
_GLOBAL = frozenset({
    "-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory", "--ansi", "--progress",
    "--parallel",
})  # fmt: skip
"""Options of Compose in front of its command that take the word behind them."""
_MOUNTS_NOTHING = frozenset({
    "attach", "down", "events", "exec", "help", "images", "kill", "logs", "ls", "pause", "port", "ps", "rm", "stats",
    "stop", "top", "unpause", "version", "volumes", "wait",
})  # fmt: skip
_STACKS = tuple(("stack", verb) for verb in ("deploy", "up", "config"))
_BAKES = (("bake",), ("buildx", "f"), ("buildx", "debug"))
_STARTED: Mapping[str, Sequence[tuple[str, ...]]] = {
    **dict.fromkeys(_ENGINES, (("kube", "play"), ("play", "kube"), *_STACKS, *_BAKES)),
    "colima": (("start",), ("restart",), ("kube", "play"), ("play", "kube"), *_STACKS, *_BAKES),
    "kind": (("create", "cluster"),),
    "k3d": (("cluster", "create"), ("node", "create")),
    "minikube": (("start",), ("node", "add"), ("node", "start")),
    "limactl": (("start",), ("create",), ("restart",), ("edit",)),
    "vagrant": (
        *((verb,) for verb in ("up", "reload", "resume", "provision", "rsync", "rsync-auto", "push", "upload")),
        ("snapshot", "restore"),
        ("snapshot", "pop"),
    ),
    "devcontainer": (("up",), ("build",), ("run-user-commands",), ("exec",)),
    **dict.fromkeys(("devpod", "okteto", "fin", "sail"), tuple(
        (verb,) for verb in ("up", "dev", "start", "restart", "build", "deploy", "run", "compose")
    )),
    "wrkflw": (("run",),),
    "lando": tuple((verb,) for verb in ("start", "restart", "rebuild", "init")),
    "ddev": tuple((verb,) for verb in ("start", "restart", "config", "exec", "composer", "import-files")),
    "supabase": (("start",),),
    "localstack": (("start",),),
    "sam": (("local",),),
    "dagger": (("call",), ("run",), ("up",), ("shell",), ("-c",)),
    "nomad": (("run",), ("job", "run")),
    "multipass": (("launch",), ("mount",)),
    "circleci": (("local",),),
    "gitlab-runner": (("exec",),),
    **dict.fromkeys(("drone", "woodpecker-cli"), (("exec",),)),
}  # fmt: skip
"""Words of which all stand among those of a command that starts something by a file."""
_RUNS_JOBS = frozenset({"act", "gitlab-ci-local"})
"""Programs that run the jobs of a project's CI file in containers, with the project's folder in them."""
_SHOWS = frozenset({"-l", "--list", "-g", "--graph", "-h", "--help", "--version", "--bug-report"})


def unread_mounts(name: str, words: Sequence[Word]) -> str | None:
    """Return the name of the command if a file which is not read says what it mounts."""
    if name in _COMPOSES:
        return _composed(name, words[1:])
    values = [word.value for word in words[1:]]
    if name in _ENGINES and "compose" in values:
        found = _composed(f"{name} compose", words[values.index("compose") + 2 :])
        if found is not None:
            return found
    if name in _RUNS_JOBS:
        return None if not _SHOWS.isdisjoint(values) else name
    for started in _STARTED.get(name, ()):
        if all(each in values or (None in values and each is started[-1]) for each in started):
            return " ".join((name, *started))
    return None


def _composed(shown: str, words: Sequence[Word]) -> str | None:
    """The command of Compose, unless it surely starts nothing."""
    takes = False
    for word in words:
        if takes:
            takes = False
        elif word.value in _GLOBAL:
            takes = True
        elif word.value is None or not (word.value.startswith("-") and word.value.partition("=")[0] in _GLOBAL):
            return None if word.value in _MOUNTS_NOTHING else f"{shown} {word.source}"
    return None  # without a command it shows its help
