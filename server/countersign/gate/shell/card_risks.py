"""What a card warns of beside the paths: short words, from the tables and the words of a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.risk import GIT_SETTINGS
from countersign.gate.shell.files.git_upstreams import sets_upstream
from countersign.gate.shell.languages.git import Git
from countersign.gate.shell.programs.tables import FACETS, field_of
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.syntax.displayable import mixes_scripts

DELETES = "deletes files"
NETWORK = "network"
RIGHTS = "runs with elevated rights"
MIXED = "its name mixes letters of several scripts"
UNSEEN = "runs code that its arguments do not show"
SETTINGS = "changes settings"


def _at_risk(word: str) -> frozenset[str]:
    return frozenset(key[0] for key, words in FACETS["risks"].items() if word in words.split())


_RIGHTS = _at_risk("rights")
_DELETING = _at_risk("deletes")
_NETWORK = _at_risk("network")
_INSTALLING = _at_risk("installs")
_INSTALLS = frozenset({
    "install", "i", "ci", "add", "update", "upgrade", "publish", "get", "fetch", "download", "sync", "dlx", "exec",
    "x", "outdated", "view", "audit",
})  # fmt: skip
_REMOTE_GIT = frozenset({"clone", "fetch", "pull", "push", "ls-remote", "submodule"})
_SETTINGS = _at_risk("settings")


def risks_of(analyzed: AnalyzedCommand, places: Sequence[str] | None, paths: PathJudge) -> tuple[str, ...]:
    """Return the risks of one command, which runs in one of these folders."""
    found = tuple(_by_words(analyzed, places or (), paths))
    for redirect in analyzed.step.command.redirects:
        if redirect.target.prefix.startswith(("/dev/tcp/", "/dev/udp/")):
            found = (*found, NETWORK)
    if analyzed.step.unwrapped.reads_stdin or analyzed.step.unwrapped.unknown is not None:
        found = (*found, UNSEEN)
    return found


_SETTING_FORMS: Mapping[str, frozenset[str]] = {
    subcommand: frozenset(words for form in forms for words in form.split()[1:] if form.split()[0] == subcommand)
    for forms in field_of("settings", "writes").values()
    for subcommand in {form.split()[0] for form in forms}
}
"""For each subcommand of git that keeps settings of the repository, the options and first operands with which it does;
empty where it does without an operand."""


def _writes_settings(git: Git) -> bool:
    forms = _SETTING_FORMS.get(git.subcommand or "")
    if forms is None:
        return False
    operands = git.arguments.operands
    if not forms:
        return not operands
    return git.arguments.may_have(*forms) or (bool(operands) and operands[0][1].value in forms)


def _by_words(analyzed: AnalyzedCommand, places: Sequence[str], paths: PathJudge) -> Iterator[str]:
    for name, layer, known in zip(analyzed.names, analyzed.layers, analyzed.known, strict=True):
        if name in _RIGHTS:
            yield RIGHTS
        if name in _DELETING or (known.uses and any("-delete" in names for use in known.uses for names in use.names)):
            yield DELETES
        if name in _NETWORK or (
            name in _INSTALLING and not _INSTALLS.isdisjoint([word.value for word in layer.words[1:4]])
        ):
            yield NETWORK
        if known.git is not None:
            git = known.git
            if git.subcommand in _REMOTE_GIT:
                yield NETWORK
            if git.subcommand in {"clean", "rm"} or (git.subcommand == "reset" and git.arguments.may_have("--hard")):
                yield DELETES
            if git.subcommand == "config":
                yield SETTINGS
            elif _writes_settings(git) or any(sets_upstream(layer.words, git, place, paths) for place in places):
                yield GIT_SETTINGS
        if name in _SETTINGS:
            yield SETTINGS
        if mixes_scripts(layer.words[0].value or ""):
            yield MIXED
