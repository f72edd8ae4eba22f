"""A rule for a program covers nothing that the program may write or run outside of the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.shell.programs.tables import INTERPRETERS, TABLES

from .asked import decide

ONLY_READ = frozenset(key[0] for key, row in TABLES.items() if len(key) == 1 and row.known)
PROGRAMS = sorted({key[0] for key in TABLES} - ONLY_READ | {"unknown-program"})
OTHERWISE = frozenset({"install", "xargs"})
"""Their `-o` is the owner of what is written, or takes nothing."""
REVIEWED = Path(__file__).with_name("read_outside.txt")
"""Programs that a rule allows to be given a path outside: they read what their operands name, and write elsewhere."""


def allowed(behind: str) -> list[str]:
    return [name for name in PROGRAMS if decide(f"{name} {behind}", allow=[f"Bash({name}:*)"]) == "allow"]


@pytest.mark.parametrize(
    "behind",
    [
        "a --output-directory ../x", "a --output-dir=../x", "a -o ../x", "--report-file ../x", "a --dest=/etc/x",
        "a --log-file=src/../../x", "a -outdir ~/x", "a --cache-location /tmp/x", "--to=../x a", "-o/etc/x", "a -o../x",
    ],
)  # fmt: skip
def test_no_option_that_sounds_like_an_output_leads_outside(behind: str) -> None:
    assert [name for name in allowed(behind) if name not in OTHERWISE] == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("gcc:*", "gcc -I/usr/include -L/usr/lib x.c"),
        ("npm run:*", "npm run build -- --base=/app/"),
        ("helm upgrade:*", "helm upgrade a ./chart --set ingress.path=/api"),
        ("kubectl get:*", "kubectl get --raw /healthz"),
        ("gh api:*", "gh api /repos/o/r/pulls"),
        ("terraform import:*", "terraform import x /subscriptions/x"),
        ("uvicorn:*", "uvicorn a:app --root-path /api"),
        ("jest:*", "jest --testPathPattern=/x/"),
        ("jj log:*", "jj log -r '~main'"),
        ("protoc:*", "protoc -I ../proto --go_out=. x.proto"),
    ],
)
def test_what_is_no_path_or_only_read_is_covered(rule: str, text: str) -> None:
    assert decide(text, allow=[f"Bash({rule})"]) == "allow"


def test_programs_that_may_be_given_a_path_outside_were_reviewed() -> None:
    """A record of which this fails says too little: add ``[project_paths]``, or what the operands are. Add the name to
    the list if the program neither writes nor runs what its operands name."""
    found = [name for name in allowed("a ../x") if name not in INTERPRETERS]
    assert found == REVIEWED.read_text("utf-8").split()
