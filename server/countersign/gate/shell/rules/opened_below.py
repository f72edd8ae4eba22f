"""Whether a command opens a file below a folder that a rule against reading is about (docs/gate.md S11)."""

from __future__ import annotations

from collections.abc import Sequence

from countersign.gate.finding import Finding
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.git_folders_entered import entered
from countersign.gate.shell.rules.printed_secrets import prints_nothing_ruled
from countersign.gate.shell.rules.ruled_kinds import OWN_KINDS, only_secrets_are_ruled


def opens_none_below(
    context: JudgingContext,
    analyzed: AnalyzedCommand,
    finding: Finding,
    places: Sequence[str] | None,
    *,
    idle: bool,
) -> bool:
    """Return whether it surely opens none, as the disk is now. ``finding`` is the command's own; ``idle``: no such file
    is there.

    `cd` opens nothing. Linters and compilers open what is there, and no file that is called like a secret. Of a command
    that only reads it was looked up that it opens no secret. For a command of git's this holds where the others of the
    text only read, or change what git tells of.
    """
    name = analyzed.names[-1] if analyzed.names else ""
    if finding.neutral:
        return name == "cd"
    if places is None:
        return False
    if any(known.git is not None for known in analyzed.known):
        return finding.known_read and _git_prints_none(context, analyzed, places)
    if context.made or context.paths.expects_changes:
        return False
    if name in OWN_KINDS:
        return idle or only_secrets_are_ruled(context)
    return finding.known_read and (idle or context.paths.ruled_secrets() is not None)


def _git_prints_none(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str]) -> bool:
    """The same of a command of git's, where it goes with ``-C``: git prints what it keeps, wherever the files are."""
    git = analyzed.known[-1].git
    if git is None:
        return False
    if git.folders:
        there = entered(analyzed, places, context.paths)
        return there is not None and _git_prints_none(context, there.command, there.places)
    return prints_nothing_ruled(context, analyzed.layers[-1].words, git, places)
