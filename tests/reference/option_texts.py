"""Commands made of the options that the programs of this machine name in their own help.

Each program that has a record and is installed is asked for its help, once for itself and once for each subcommand in
the records. A text is such a program with some of its options, values that matter (``trespass.TREE``) and operands.
What the records do not know of a program is met here, if its help speaks of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random

from countersign.gate.shell.programs.tables import FACETS, TABLES
from tests.patience import PATIENCE

from .sandbox import run_in_sandbox
from .trespass import DENY, SECRETS, TREE, WORDS, Ground, Rights, let_loose

CACHE = Path(__file__).resolve().parents[2] / ".cache/help.json"
TIME_LIMIT = 3_600.0
"""Seconds for the help of all programs."""

SEARCH = ":".join(dict.fromkeys((*os.environ.get("PATH", "").split(":"), "/usr/bin", "/bin")))
"""Where programs are looked for."""

_LEFT_OUT = frozenset(WORDS["not_for_their_options"])
_VALUES, _OPERANDS = WORDS["values"], WORDS["operands"]
_CODE = {
    "ws/evil.js": "try { require('fs').writeSync(9, 'evil\\0\\1\\0') } catch (error) {}\n",
    "ws/evil.py": "import os\nos.write(9, b'evil\\0\\1\\0')\n",
    "ws/evil.sh": "PROGRAM",
}
GROUND = Ground(
    tree={**{name: text for name, text in TREE.items() if not name.startswith("ws/.git/")}, **_CODE},
    prepare="git init -q && git add a.txt src && git -c user.name=a -c user.email=a@b commit -qm x",
    path=SEARCH,
    seconds=4.0,
)
_OF_GIT = ("ws/.git/hooks", "ws/.git/info/attributes")
_KEPT = ("ws/.vscode", "ws/fixed", "outside", "home/.bashrc", "home/.ssh", *_OF_GIT)
_SET = ("= omega", "= ./omega", "= evil")
"""What stands in git's settings where they name a program; git itself writes others there."""
_UNASKED = tuple(SECRETS[name] for name in ("ENV", "HOME", "OUTSIDE"))
_UNSEEN = (*(SECRETS[name] for name in ("ENV", "HELD", "HOME")), *_SET)


def option_trespasses(seed: int, numbers: range, names: Sequence[str] | None = None) -> Iterator[str]:
    """Every text of these numbers that was allowed and did what its policy keeps from it. With names, of these
    programs alone."""
    known = options_of(tuple(names) if names is not None else None)
    programs = sorted({form.split()[0] for form in known})
    rules = {"allow": [*(f"Bash({name}:*)" for name in programs), "Edit(./**)"], "deny": [*DENY]}
    rights = (
        Rights({"mode": "default", "rules": {"allow": []}}, ("ws", "home", "outside", "!ws/.git/index"), _UNASKED),
        Rights({"mode": "default", "rules": rules}, _KEPT, _UNSEEN),
        Rights({"mode": "auto", "rules": {"deny": [*DENY]}}, _KEPT, _UNSEEN),
    )
    yield from let_loose([(made(seed, number, known), rights[number % 3]) for number in numbers], GROUND)


@lru_cache(2)
def options_of(names: tuple[str, ...] | None = None) -> Mapping[str, Sequence[str]]:
    """The options that each installed program and subcommand names, by its words."""
    forms = _forms(names)
    if names is not None:
        return _read(forms)
    CACHE.parent.mkdir(exist_ok=True)
    stamp = [[form, os.stat(found).st_mtime_ns] for form in forms if (found := _found(form))]
    with open(CACHE.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes begin at the same time
        try:
            kept = json.loads(CACHE.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {}
        if kept.get("of") != stamp:
            kept = {"of": stamp, "options": _read(forms)}
            CACHE.write_text(json.dumps(kept), encoding="utf-8")
    return kept["options"]


def _forms(names: Sequence[str] | None) -> list[str]:
    """The programs that are installed, and the subcommands that the records or git itself name."""
    keys = {key[:length] for table in (TABLES, FACETS["readers"]) for key in table for length in range(1, len(key) + 1)}
    words = {" ".join(key) for key in keys} | {"git", *(f"git {name}" for name in _subcommands_of_git())}
    kept = (form for form in sorted(words) if re.fullmatch(r"[\w.+ -]+", form) and _chosen(form, names))
    return [form for form in kept if _found(form)]


def _chosen(form: str, names: Sequence[str] | None) -> bool:
    program = form.split(maxsplit=1)[0]
    return not {program, form} & _LEFT_OUT and (names is None or program in names)


def _subcommands_of_git() -> list[str]:
    found = _found("git")
    command = [found or "false", "--list-cmds=main,nohelpers"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE).stdout.split()


@lru_cache(4096)
def _found(form: str) -> str | None:
    return shutil.which(form.split(maxsplit=1)[0], path=SEARCH)


def _read(forms: Sequence[str]) -> dict[str, list[str]]:
    script = Path(__file__).with_name("help_cell.py")
    orders = [SEARCH, *(form.split() for form in forms)]
    told = run_in_sandbox(script, orders, results=len(forms), time_limit=TIME_LIMIT)
    named = {form: _named(each["help"]) for form, each in zip(forms, told, strict=True)}
    return {form: options for form, options in named.items() if options}


def _named(text: str) -> list[str]:
    """Options in a help, long ones that take a value behind `=` with it."""
    text = text.replace("--[no-]", "--").replace("[=", "=")
    return sorted(set(re.findall(r"(?<![\w-])(--[A-Za-z][\w-]*=?|-[A-Za-z0-9@]\b)", text)))


# --- texts -----------------------------------------------------------------------------------------------------------


def made(seed: int, number: int, known: Mapping[str, Sequence[str]]) -> str:
    """The text of that number."""
    random = Random(f"{seed}/{number}")
    forms = sorted(known)
    if random.random() < 0.5:  # else git's many subcommands leave little room
        chosen = random.choice(sorted({form.split()[0] for form in forms}))
        forms = [form for form in forms if form.split()[0] == chosen]
    program, *subcommand = (form := random.choice(forms)).split()
    early = subcommand and program in known and random.random() < 0.25
    before = _option(random, known[program]) if early else []
    options = [word for _ in range(random.choice((1, 1, 1, 1, 2, 2, 3))) for word in _option(random, known[form])]
    operands = random.choices(_OPERANDS, k=random.choice((0, 0, 1, 1, 1, 2)))
    behind = [*options, *operands] if random.random() < 0.8 else [*operands, *options]
    return " ".join([program, *before, *subcommand, *behind])


def _option(random: Random, options: Sequence[str]) -> list[str]:
    """One option, with a value or without, in one of the ways that programs read it."""
    option, value, chance = random.choice(options), random.choice(_VALUES), random.random()
    if re.search(r"[ |;{}]", value):
        value = shlex.quote(value)
    if option.endswith("="):
        return [option + value] if chance < 0.7 else [option[:-1], value]
    if not option.startswith("--"):
        return [option, value] if chance < 0.45 else [option + value] if chance < 0.75 else [option]
    if chance < 0.9:
        return [f"{option}={value}"] if chance < 0.4 else [option, value] if chance < 0.75 else [option]
    return [f"{option[: max(4, len(option) - random.randint(1, 5))]}={value}"]
