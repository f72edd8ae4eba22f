"""``countersign check`` at the terminal's edge: lines from standard input, answers to standard output."""

from __future__ import annotations

import argparse
import os
import sys

from countersign.advice.explain import check_lines
from countersign.gate import BashSyntax


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none: everything stands in the lines."""
    parser.epilog = 'a line is like {"tool": "bash", "args": {"command": "make"}, "rules": {"allow": ["Bash(make)"]}}'


def run(_arguments: argparse.Namespace) -> int:
    """Answer until the input ends. 0, whatever the lines hold; also when nobody reads the answers any more."""
    try:
        check_lines(sys.stdin.buffer, lambda answer: print(answer, flush=True), check_syntax=BashSyntax())
    except BrokenPipeError:
        # Whoever asked has gone. Python would complain at exit when it flushes, so it is given another place to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
