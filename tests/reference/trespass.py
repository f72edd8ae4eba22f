"""What is allowed beside what it does: texts under real bash with real programs, in a workspace that sets traps.

Each number stands for one text: of bash's full grammar, of Plain Bash with files and programs in its words, or a piece
of a script, all of them mutated. The gate decides under one of a few policies; whatever it allows runs in a sandbox
without network, as the text that would run. Nothing may then have been started, changed or printed that the policy
forbids or leaves to a person. ``trespass_cell.py`` runs the texts and looks at what they left.

``COUNTERSIGN_SCRIPTS`` names a folder of further shell scripts to take pieces from, such as bash's own tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from countersign.advice.explain import explain, policy_of
from tests.gate.shell.replay import PlainTexts
from tests.gate.shell.tracing import Texts
from tests.patience import PATIENCE

from .sandbox import run_in_sandbox

TIME_LIMIT = 1_800.0
"""Seconds for the texts of one range."""

FORBIDDEN = ("omega", "evil")
STUBS = ("alpha", "beta", "pa", "pb", "pc", "pd", "pe", "pf", *FORBIDDEN)
WORDS = tomllib.loads(Path(__file__).with_name("trespass.toml").read_text(encoding="utf-8"))
_NAMES = (*STUBS, *WORDS["commands"])
SECRETS = {"ENV": "token-of-env", "HELD": "token-of-held", "HOME": "token-of-home", "OUTSIDE": "token-of-outside"}
"""What stands in files that the policies keep from an agent, by where."""

TREE: Mapping[str, str] = {
    "ws/a.txt": "one\ntwo\n", "ws/b c.txt": "one\n", "ws/src/x": "one\ntwo\n", "ws/src/a.py": "x = 1\n",
    "ws/src/sub/c.py": "x = 2\n", "ws/.hidden": "one\n", "ws/-v": "one\n", "ws/-x": "one\n", "ws/-rf": "one\n",
    "ws/-i": "one\n", "ws/-exec": "one\n", "ws/--": "one\n", "ws/*": "one\n", "ws/~": "one\n", "ws/{a,b}": "one\n",
    "ws/a[$(omega)]": "one\n", "ws/x;omega": "one\n", "ws/new\nline": "one\n", "ws/omega": "PROGRAM",
    "ws/src/evil": "PROGRAM", "ws/build/n.log": "one\n", "ws/list": ".env\nheld/key\n../outside/f\n",
    "ws/.env": SECRETS["ENV"], "ws/.env.local": SECRETS["ENV"], "ws/held/key": SECRETS["HELD"],
    "ws/held/deep/key": SECRETS["HELD"], "ws/fixed/f": "one\n", "ws/fixed/deep/g": "one\n",
    "ws/.git/HEAD": "ref: refs/heads/main\n", "ws/.git/config": "[core]\n", "ws/.git/hooks/x": "one\n",
    "ws/.git/objects/x": "", "ws/.git/refs/x": "", "ws/.vscode/tasks.json": "{}\n", "ws/.envrc": "x\n",
    "home/.bashrc": "x=1\n", "home/.ssh/id_rsa": SECRETS["HOME"], "home/x/y": "one\n",
    "outside/f": SECRETS["OUTSIDE"], "outside/deep/f": SECRETS["OUTSIDE"],
}  # fmt: skip
LINKS: Mapping[str, str] = {
    "ws/link": "a.txt", "ws/out": "../outside", "ws/dot": ".env", "ws/src/up": "..", "ws/lost": "../outside/new",
    "ws/keys": "held",
}  # fmt: skip


@dataclass(frozen=True)
class Rights:
    """One policy: the question's fields, and what must then stay as it is (but for places behind a ``!``) or unseen."""

    fields: Mapping[str, Any]
    kept: tuple[str, ...]
    unseen: tuple[str, ...]


@dataclass(frozen=True)
class Ground:
    """Where texts run: the files, what a shell does in the workspace before, and the programs that are there."""

    tree: Mapping[str, str] = field(default_factory=lambda: TREE)
    links: Mapping[str, str] = field(default_factory=lambda: LINKS)
    prepare: str = ""
    real: Mapping[str, str] = field(default_factory=dict[str, str])
    path: str = ""
    seconds: float = 2.0
    counts_links: bool = True
    """Whether a new hard link of a file is a change of it."""


DENY = ("Bash(omega:*)", "Bash(evil:*)", "Read(held/**)", "Edit(fixed/**)")
_PROTECTED = ("ws/.git", "ws/.vscode", "home", "outside")


def _but(where: str) -> tuple[str, ...]:
    return tuple(secret for name, secret in SECRETS.items() if name != where)


_RULED = [f"Bash({name}:*)" for name in STUBS[:-2]]
RIGHTS = (
    Rights({"mode": "default", "rules": {"allow": []}}, ("ws", "home", "outside"), _but("HELD")),
    Rights(
        {
            "mode": "default",
            "rules": {
                "allow": [*_RULED, *(f"Bash({name}:*)" for name in WORDS["programs"]), "Edit(./**)"],
                "deny": [*DENY],
            },
        },
        (*_PROTECTED, "ws/fixed"),
        _but("OUTSIDE"),
    ),
    Rights(
        {"mode": "acceptEdits", "rules": {"allow": _RULED, "deny": [*DENY]}},
        (*_PROTECTED, "ws/fixed"),
        _but("OUTSIDE"),
    ),
    Rights({"mode": "auto", "rules": {"deny": [*DENY]}}, (*_PROTECTED, "ws/fixed"), _but("OUTSIDE")),
    Rights({"mode": "default", "bypass": True, "rules": {"deny": [*DENY]}}, ("ws/fixed",), (SECRETS["HELD"],)),
)


def trespasses(seed: int, numbers: range) -> Iterator[str]:
    """Every text of these numbers that was allowed and did what its policy keeps from it."""
    real = {name: found for name in WORDS["programs"] if (found := shutil.which(name, path="/usr/bin:/bin"))}
    texts = [(made(seed, number), RIGHTS[number % len(RIGHTS)]) for number in numbers]
    yield from let_loose(texts, Ground(real=real))


def let_loose(texts: Sequence[tuple[str, Rights]], ground: Ground) -> Iterator[str]:
    """Decide each text under its policy, run what is allowed, and tell what did something that the policy forbids."""
    with tempfile.TemporaryDirectory(prefix="trespass-") as name:
        root = os.path.realpath(name)
        make_tree(root, ground)
        allowed = [found for text, rights in texts if (found := _allowed(root, text, rights))]
        for (asked, text, rights), told in zip(allowed, _run(root, allowed, ground), strict=True):
            if told["did"]:
                mode = rights.fields["mode"]
                yield f"{asked!r} was allowed in {mode} ({_rules(rights)}), ran as {text!r} and {told['did']}"


def _rules(rights: Rights) -> str:
    rules = rights.fields["rules"]
    said = [f"{len(rules[name])} {name} rules" for name in ("allow", "deny") if rules.get(name)]
    return ", ".join([*said, *(["bypass"] if rights.fields.get("bypass") else [])]) or "no rules"


def make_tree(root: str, ground: Ground | None = None) -> None:
    """The workspace as the gate sees it."""
    ground = ground or Ground()
    for name, text in ground.tree.items():
        path = Path(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text == "PROGRAM" or text.startswith("#!"):
            path.chmod(0o755)
    for name, target in ground.links.items():
        Path(root, name).symlink_to(target)
    if ground.prepare:
        environment = {"PATH": ground.path, "HOME": f"{root}/home"}
        subprocess.run(["sh", "-c", ground.prepare], cwd=f"{root}/ws", env=environment, check=True, timeout=PATIENCE)


def _allowed(root: str, text: str, rights: Rights) -> tuple[str, str, Rights] | None:
    """The text, what would run of it, and the policy, if that allows it."""
    question = {**rights.fields, "workspace": f"{root}/ws", "home": f"{root}/home"}
    policy, mode = policy_of(question)
    decision = explain({"tool": "bash", "args": {"command": text}}, policy, mode, check_syntax=_bash_agrees)
    if decision.verdict != "allow":
        return None
    return text, text if decision.runs is None else decision.runs, rights


def _bash_agrees(_text: str) -> str | None:
    """Bash itself is not asked whether it accepts a text: it runs it, which shows more."""
    return None


def _run(root: str, allowed: Sequence[tuple[str, str, Rights]], ground: Ground) -> list[dict[str, Any]]:
    order = {
        "root": root,
        "bash": shutil.which("bash"),
        "tree": dict(ground.tree),
        "links": dict(ground.links),
        "prepare": ground.prepare,
        "stubs": STUBS,
        "real": dict(ground.real),
        "path": ground.path,
        "forbidden": FORBIDDEN,
        "seconds": ground.seconds,
        "counts_links": ground.counts_links,
    }
    orders = [[text, list(rights.kept), list(rights.unseen)] for _, text, rights in allowed]
    script = Path(__file__).with_name("trespass_cell.py")
    return run_in_sandbox(script, (order, *orders), results=len(allowed), time_limit=TIME_LIMIT)


# --- texts -----------------------------------------------------------------------------------------------------------


def made(seed: int, number: int) -> str:
    """The text of that number."""
    random, chance = Random(f"{seed}/{number}"), seed * 1_000_003 + number
    kind = number // len(RIGHTS) % 16
    if kind == 0:
        return _renamed(random, Texts(chance).text(mutations=number % 3))
    if kind in {1, 2} and (scripts := _scripts()):
        return _piece(random, scripts)
    return TrapTexts(chance).text(mutations=(0, 0, 1, 2)[number // 80 % 4])


def _renamed(random: Random, text: str) -> str:
    """The text with some of its words replaced by programs and files that matter."""
    return re.sub(
        r"(?<![\w$\\'-])(?:p[a-f]|a|b|x)(?![\w'=])",
        lambda found: found[0] if random.random() < 0.6 else random.choice((*WORDS["traps"], *_NAMES)),
        text,
    )


def _piece(random: Random, scripts: tuple[tuple[str, ...], ...]) -> str:
    lines = random.choice(scripts)
    start = random.randrange(len(lines))
    text = "\n".join(lines[start : start + random.choice((1, 1, 2, 3, 5, 9))])
    text = re.sub(
        r"(?<=[\s;|&(`])(?:echo|recho|printf|cat|rm|ls|test|foo|bar|a|b|x|/tmp/\S*)(?=[\s;|&)`])",
        lambda found: found[0] if random.random() < 0.5 else random.choice((*WORDS["traps"], *_NAMES)),
        text,
    )
    mutant = Texts(random.randrange(1 << 30))
    mutant.script = lambda depth: text or ":"
    return mutant.text(mutations=random.choice((0, 1, 2)))


@lru_cache(1)
def _scripts() -> tuple[tuple[str, ...], ...]:
    folder = os.environ.get("COUNTERSIGN_SCRIPTS")
    if not folder:
        return ()
    paths = sorted(path for path in Path(folder).rglob("*") if path.suffix in {".tests", ".sub", ".sh", ".test"})
    read = (path.read_text(encoding="utf-8", errors="ignore").splitlines() for path in paths)
    kept = ([line for line in lines if line.strip() and not line.lstrip().startswith("#")] for lines in read)
    return tuple(tuple(lines) for lines in kept if lines)


class TrapTexts(PlainTexts):
    """Texts mostly in Plain Bash, whose words name the traps."""

    def script(self, depth: int) -> str:
        if self.random.random() < 0.15:
            return super().script(depth)
        joints = self.random.choices(
            ("; ", " && ", " || ", "\n", " | ", " & "), k=self.random.choice((0, 0, 0, 1, 1, 2))
        )
        return self._short() + "".join(joint + self._short() for joint in joints)

    def _short(self) -> str:
        """One command, or one inside something that bash runs in turn."""
        chance = self.random.random()
        if chance < 0.8:
            return self.simple(0)
        inner, other = self.simple(0), self.simple(0)
        return self.pick(
            f"( {inner} )", f"{{ {inner}; }}", f"if {inner}; then {other}; fi", f"! {inner}", f"x=$({inner})",
            f"for x in {self.word(0)} {self.word(0)}; do {inner} \"$x\"; done", f"cd {self.word(0)} && {inner}",
            f"cd {self.word(0)}; {inner}; cd ..; {other}", f"x={self.word(0)}; {inner} \"$x\"",
            f"[ -f {self.word(0)} ] && {inner}", f"case {self.word(0)} in {self.word(0)}) {inner};; *) {other};; esac",
            f"{inner} <<'E'\n{other}\nE\n", f"{inner} <<E\n$({other})\nE\n", f"echo \"$({inner})\"",
            f"bash -c '{inner}'", f"find {self.word(0)} -exec {inner} {{}} +", f"{inner} | xargs {other}",
            f"while read -r x; do {inner} \"$x\"; done < {self.word(0)}", f"timeout 1 {inner}", f"env {inner}",
            f"printf '%s\\n' {self.word(0)} | {inner}", f"{inner} &", f"{inner} {{}}", f"x={self.word(0)} {inner}",
        )  # fmt: skip

    def simple(self, depth: int) -> str:
        words = [self.name(), *(self.word(depth) for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 3))))]
        if self.random.random() < 0.05:
            words.insert(0, f"{self.pick('x', 'y', 'HOME', 'IFS', 'LC_ALL', 'CI')}={self.word(0)}")
        if self.random.random() < 0.2:
            words.insert(self.random.randint(1, len(words)), self.redirect(0))
        return " ".join(words)

    def name(self) -> str:
        name = self.pick(*_NAMES)
        return self.pick(name, name, name, name, name, name, f"\\{name}", f'"{name}"' if " " not in name else name)

    def piece(self, depth: int) -> str:
        chance = self.random.random()
        if chance < 0.45:
            return self.pick(*WORDS["harmless"])
        if chance < 0.5:
            return self.pick(*WORDS["options"])
        return self.pick(*WORDS["traps"]) if chance < 0.93 else super().piece(depth)

    def word(self, depth: int) -> str:
        return "".join(self.piece(depth) for _ in range(self.random.choice((1, 1, 1, 1, 1, 1, 1, 1, 1, 2))))

    def redirect(self, depth: int) -> str:
        if self.random.random() < 0.3:
            return super().redirect(depth)
        target = self.pick(*WORDS["traps"])
        return self.pick(f"> {target}", f">> {target}", f"< {target}", f"2> {target}", f"<<< {target}", f"&> {target}")
