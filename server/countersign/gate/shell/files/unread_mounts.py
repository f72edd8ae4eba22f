"""Commands that start containers or machines by a file whose mounts are not read (decisions/012).

`docker compose up` mounts what its file says, from this machine, and so do `podman kube play`, programs that run a
project's CI jobs or its development environment in containers, and machines that share folders with this one. Manifests
that are sent to a cluster mount folders of its nodes, which is why `kubectl apply` is no such command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from countersign.gate.shell.programs.tables import field_of, names_with_field
from countersign.gate.shell.syntax.tree import Word

_ENGINES = names_with_field("unread_mounts", "engine")
"""Engines, and programs that pass their words on to one."""
_COMPOSES = names_with_field("unread_mounts", "compose")
_GLOBAL = frozenset({
    "-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory", "--ansi", "--progress",
    "--parallel",
})  # fmt: skip
"""Options of Compose in front of its command that take the word behind them."""
_MOUNTS_NOTHING = frozenset({
    "attach", "down", "events", "exec", "help", "images", "kill", "logs", "ls", "pause", "port", "ps", "rm", "stats",
    "stop", "top", "unpause", "version", "volumes", "wait",
})  # fmt: skip
_STARTED: Mapping[str, Sequence[tuple[str, ...]]] = {
    key[0]: tuple(tuple(words.split()) for words in started.split(","))
    for key, started in field_of("unread_mounts", "started").items()
}
"""Words of which all stand among those of a command that starts something by a file."""
_RUNS_JOBS = names_with_field("unread_mounts", "runs_jobs")
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
