"""Texts that take the gate long: one program, and its options, names and values again and again; commands that bring,
move and match many files again and again; or many commands that share one long value or input.

The former are made from what the records of programs list, so that each option which some reader looks for is met
often. What a decision takes is counted in calls of functions, which are about the same on any machine.
"""

from __future__ import annotations

import random
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from countersign.gate.shell import programs
from tests.gate.shell.asked import HOME, WS, decide

RECORDS = Path(programs.__file__ or "").parent / "records"
SIZES = (3_000, 30_000)
MOST_CALLS = 1_200_000
"""Calls of one decision, those of functions written in C with them: some 150 ms on the machine of the benchmarks."""
MOST_CALLS_OF_MOVES = 1_000_000
"""The same for texts whose commands bring and match files: the last command that is judged may match some hundred."""

VALUES = (
    "a.b", "a", "x=y", ".e#", "a:b", "@a", "a,b,c.d", "./a", "../a", "'a b -c d'", "'rm x'", "1", "$x", '"$x"',
    '"$x.a"', "a{b,c}", "*.a", "a*", "", "a/b/c", "-", "+a", "%a", "key=.e#", ".e#,b/c.d", "http://a/b", "--", "exec",
    "run", "a.so", "file:.e#", "/a#", "~/a", "s/a/b/w f#", '"a(b"', "!a",
)  # fmt: skip
FRONTS = ("", "", "", "x=a; ", "x=-ofile; ", "x=$1; ", "for x in a b c d; do ")
WRAPPERS = ("", "", "", "", "xargs ", "env ", "timeout 1 ", "find . -exec ")
FORMS = ("{o} {v}", "{o}={v}", "{o}{v}", "{v}", "{o}", "{v} {o} {v}", "{o} {v} {v}")


STEPS = (
    "cp -r {p} {n}", "cp -r {p} l#", "cp {p} {n}", "mv {p} {n}", "mv m# n#", "rm -r {p}", "ln -s . k#", "ln {p} k#",
    "cat {p}", "cat {n}/{p}", "cat {p} > {n}", "tar xf a# -C {n}", "git checkout b# -- {p}", "mkdir -p {n}/a", "cd {n}",
    "sed -i s/a/b/ {p}", "find {p} -exec cat {{}} +", "grep -r a {p}", "x={p}; cat $x", "rsync -a {p} {n}", "touch {p}",
)  # fmt: skip
"""Commands that bring files and those that name them; `#` stands for a number."""
PATTERNS = ("*", "*/*", "*/*/*", "src/*", "src/*/*", "src/*/f1*", "{src,docs}/*", "l*/*", "m#", "m#/*", "k#/*/*")
PLACES = ("l#", "m#", "k#/a", "src/a", "src", "m#/b", "*/a", "o#")
JOINTS = ("; ", "; ", " && ", " | ", " & ")
LOOPS = (("", ""), ("", ""), ("for y in 1 2; do ", "; done"), ("for y in */*; do ", "; done"))
FOLDERS, FILES = ("src/a", "src/b", "docs/c", "lib"), 30


class Repeated(NamedTuple):
    """A text, and the program that it repeats words of."""

    text: str
    program: str


def overworked(seed: int, numbers: range) -> Iterator[str]:
    """Yield the texts of these numbers that take the gate more calls than ``MOST_CALLS``."""
    for number in numbers:
        for size in SIZES:
            made = repeated(seed, number, size)
            if (count := calls(made)) > MOST_CALLS:
                yield f"{number}, {size}: {count} calls for `{made.text[:100]}…`"


def overworked_by_moves(seed: int, numbers: range, workspace: Path) -> Iterator[str]:
    """Yield the texts of these numbers that take the gate more calls than ``MOST_CALLS_OF_MOVES`` in a workspace of
    ``lay_files``."""
    for number in numbers:
        text = moving(seed, number)
        if (count := calls(Repeated(text, "cp"), MOVERS, str(workspace))) > MOST_CALLS_OF_MOVES:
            yield f"{number}: {count} calls for `{text}`"


def overworked_by_sharing(seed: int, numbers: range) -> Iterator[str]:
    """Yield the texts of these numbers, in which commands share one long value, that take the gate more calls than
    ``MOST_CALLS``."""
    for number in numbers:
        for size in SIZES:
            made = shared(seed, number, size)
            if (count := calls(made)) > MOST_CALLS:
                yield f"{number}, {size}: {count} calls for `{made.text[:60]}…{made.text[-60:]}`"


UNITS = (
    "x",
    "a/",
    "*/",
    "{a,b}",
    "a b ",
    "x,",
    ".env,",
    "a=b:",
    "%41",
    ".git/",
    "é",
    ".shell a#\n",
    "a# x\n",
    "\\! a#\n",
)
SHARED = (
    ("v='{v}'; {c}", ("{p} $v #", '{p} "$v" #', '{p} "a/$v" #', "{p} < $v #", "x=$v#", "a# $v", "> a#$v", "cd $v#")),
    ("{{ {c}; }} <<'E'\n{v}\nE", ("{p} #", "a#", "{p} - a#", "{p}", "cat | {p} #")),
    ("cat > s <<'E'\n{v}\nE\n{c}", ("cp s s#; ./s#", "cp s# s#1", "sh s", "{p} s #", "cat s > a#")),
    ("{p} <<'E'\n{v}\nE\n{c}", ("ls",)),
    ("{p} '{v}'; {c}", ("ls",)),
)
"""What is shared, and the commands that share it; `#` stands for a number."""
SHARERS = (
    "cp", "mv", "git -C", "git show", "git apply", "node", "python3", "sudo", "psql", "sqlite3", "ssh", "sh", "xargs",
    "awk", "sed", "find", "tar xf", "unset", "read", "export", "jq", "x",
)  # fmt: skip


def shared(seed: int, number: int, size: int) -> Repeated:
    """The text of this number, whose commands share something of about ``size`` characters."""
    rng = random.Random(f"{seed} {number}")
    unit, (form, uses) = rng.choice(UNITS), rng.choice(SHARED)
    program = rng.choice((rng.choice(SHARERS), rng.choice(sorted(_options()))))
    value = "".join(unit.replace("#", str(count)) for count in range(size // len(unit)))
    use = rng.choice(uses).replace("{p}", program)
    commands = "; ".join(use.replace("#", str(count)) for count in range(rng.choice((30, 150, 300))))
    return Repeated(form.format(v=value, c=commands, p=program), program.split()[0])


def moving(seed: int, number: int) -> str:
    """The text of this number: a few kinds of commands, again and again with other names."""
    rng = random.Random(f"{seed} {number}")
    steps = [
        rng.choice(STEPS).format(p=rng.choice(PATTERNS), n=rng.choice(PLACES))
        for _ in range(rng.choice((1, 2, 2, 3, 5)))
    ]
    times = rng.choice((3, 10, 30, 100))
    commands = [step.replace("#", str(count)) for count in range(times) for step in steps]
    front, end = rng.choice(LOOPS)
    return f"{front}{rng.choice(JOINTS).join(commands)}{end}"


def lay_files(workspace: Path) -> None:
    """Make many files, and a few links, as ``moving`` names them."""
    for folder in FOLDERS:
        (workspace / folder).mkdir(parents=True)
        for number in range(FILES):
            (workspace / folder / f"f{number}").write_text("x")
    for name in ("top", "src/top", "docs/c/top"):
        (workspace / name).symlink_to("/etc")


MOVERS = [
    f"Bash({name}:*)" for name in ("cp", "mv", "rm", "ln", "git", "tar", "mkdir", "rsync", "touch", "sed", "find")
]


def calls(made: Repeated, allow: Sequence[str] = (), workspace: str = WS) -> int:
    """How many functions a decision on this text calls."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    rules = [*allow, f"Bash({made.program}:*)", "Edit(lib/**)"]
    deny = ["Bash(shred:*)", "Read(held/**)"]
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        decide(made.text, rules, deny, home=HOME, workspace=workspace)
    finally:
        sys.setprofile(before)
    return count


def repeated(seed: int, number: int, size: int) -> Repeated:
    """The text of this number, of about ``size`` characters."""
    rng = random.Random(f"{seed} {number}")
    program = rng.choice(sorted(_options()))
    subcommand, known = rng.choice(_options()[program])
    options = [rng.choice(known or ("-a",)) for _ in range(rng.choice((1, 1, 1, 2, 4)))]
    values = [rng.choice(VALUES) for _ in range(rng.choice((1, 1, 2)))]
    form, front, wrapper = rng.choice(FORMS), rng.choice(FRONTS), rng.choice(WRAPPERS)
    words: list[str] = []
    length = count = 0
    while length < size:
        value = values[count % len(values)].replace("#", str(count))
        words.append(form.format(o=options[count % len(options)], v=value))
        length, count = length + len(words[-1]) + 1, count + 1
    text = f"{front}{wrapper}{program} {subcommand} {' '.join(words)}"
    text += " {} +" if wrapper.startswith("find") else ""
    return Repeated(text + ("; done" if front.startswith("for") else ""), program)


@cache
def _options() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """By program its subcommands, the program itself as an empty one, with the options that their facts name."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for file in sorted(RECORDS.glob("[!_]*.toml")):
        record = tomllib.loads(file.read_text("utf-8"))
        subcommands = record.pop("subcommands", {})
        record.pop("examples", None)
        arguments = record.get("arguments", {})
        own = set(_spelled(record)) | {f"--{name}" for name in str(arguments.get("long", "")).split()}
        own |= {f"-{letter}" for letter in str(arguments.get("short", "")) if letter.isalnum()}
        found[file.stem] = [("", tuple(sorted(own)))]
        for names, facts in subcommands.items():
            options = tuple(sorted({*_spelled(facts), *own}))
            found[file.stem] += [(name.strip(), options) for name in names.split(",")[:2]]
    return found


def _spelled(facts: Any) -> list[str]:
    """The options in these facts, at any depth."""
    if isinstance(facts, str):
        return [word for word in facts.split() if word.startswith("-") and len(word) < 40]
    if isinstance(facts, dict):
        keys = [key for key in facts if key.startswith("-")]
        return keys + [option for value in facts.values() for option in _spelled(value)]
    return [option for value in facts for option in _spelled(value)] if isinstance(facts, list) else []
