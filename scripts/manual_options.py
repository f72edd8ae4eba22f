"""Lists the options of a program's manual of which a rule for the program covers a value outside of the workspace.

    tar --help | .venv/bin/python scripts/manual_options.py tar
    man rustdoc | .venv/bin/python scripts/manual_options.py rustdoc

Whoever writes a record reads what is listed: an option that only reads, or whose value is no file, may stay; one that
writes, loads or runs what its value names belongs in the record (docs/adding-a-program.md).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from countersign.advice.explain import check_line

OUTSIDE = "../outside"
SPELLED = re.compile(r"(?<![\w-])(--?[A-Za-z0-9][\w.-]*)(\[?=|[ ]?<|[ ]\[?(?=[A-Za-z_{\"'])|:)?")
"""An option, and what introduces the name of its value."""
MOST = 90
"""Characters of a line in which its options stand."""


class Option(NamedTuple):
    """An option as a manual has it, and the line that says what it does."""

    name: str
    said: str


def options(manual: str) -> Iterator[Option]:
    """Yield each option of a manual that takes a value."""
    lines = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", manual).splitlines()
    for index, line in enumerate(lines):
        found = re.match(r"\s{0,16}(-.*)", line)
        if found is None:
            continue
        head = re.split(r"\s{2,}", found[1])[0][:MOST]
        said = " ".join(part.strip() for part in lines[index : index + 2])
        spelled = [match.groups() for match in SPELLED.finditer(head)]
        if any(value for _, value in spelled):
            yield from (Option(name, said) for name, _ in spelled)


def uses(program: str, option: str) -> list[str]:
    """Return commands that give this option a value outside."""
    if option.startswith("--"):
        return [f"{program} {option}={OUTSIDE} a", f"{program} {option} {OUTSIDE} a", f"{program} a {option} {OUTSIDE}"]
    attached = [f"{program} {option}{OUTSIDE} a"] if len(option) == len("-x") else []
    return [f"{program} {option} {OUTSIDE} a", *attached]


def is_covered(program: str, command: str) -> bool:
    """Whether a rule for the program allows the command."""
    rules = {"allow": [f"Bash({program.split(maxsplit=1)[0]}:*)"], "deny": [], "ask": []}
    question = {"tool": "bash", "args": {"command": command}, "rules": rules}
    return (
        json.loads(check_line(json.dumps(question).encode(), check_syntax=lambda text: None)).get("decision") == "allow"
    )


def main() -> None:
    program = " ".join(sys.argv[1:])
    if not program:
        sys.exit("name the program, and its subcommand if the manual is that of one")
    for option in dict.fromkeys(options(sys.stdin.read())):
        covered = [each for each in uses(program, option.name) if is_covered(program, each)]
        if covered:
            print(f"{covered[0]:50} {option.said}")


if __name__ == "__main__":
    main()
