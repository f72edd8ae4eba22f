"""What is known of the script in ``$(…)`` and ``<(…)``: what it prints, and whether bash runs it as it was written."""

from __future__ import annotations

from countersign.gate.shell.syntax.tree import Pipeline, Script, Simple
from countersign.gate.shell.syntax.words import encode


def is_put_together_again(script: Script) -> bool:
    """Whether bash surely runs what was written. It prints a substitution's script and reads it again when it runs it,
    and behind a here-document it forgets a `;`: `a <<E; b; c` runs `b c` (seen with 5.2)."""
    if len(script.statements) != 1 or script.background:
        return False
    statement = script.statements[0]
    stages = statement.stages if isinstance(statement, Pipeline) else (statement,)
    return all(isinstance(stage, Simple) for stage in stages)


def constant_output(script: Script) -> str | None:
    """What ``cat`` with a heredoc that holds no expansion prints, without the newlines at its end."""
    if len(script.statements) != 1 or script.background:
        return None
    command = script.statements[0]
    if not isinstance(command, Simple) or command.kind != "command" or command.assignments:
        return None
    if len(command.words) != 1 or command.words[0].value != "cat" or len(command.redirects) != 1:
        return None
    heredoc = command.redirects[0].heredoc
    if heredoc is None or heredoc.word is None or heredoc.word.value is None:
        return None
    return encode(heredoc.word.value.rstrip("\n"))
