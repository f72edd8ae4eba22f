"""What is found of one file that a command touches, for the modules that look for such files."""

from __future__ import annotations

from typing import NamedTuple

from countersign.gate.finding import Finding


class FileFindings(NamedTuple):
    """The findings of one file. ``by_command``: a rule for the command covers them as far as it may; ``named``: the
    text names the file literally, so a grant of this very text names it too. ``written``: it is only written to."""

    findings: tuple[Finding, ...]
    by_command: bool
    named: bool
    written: bool = False
