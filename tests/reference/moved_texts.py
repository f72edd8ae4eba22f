"""What the earlier commands of a text do to its later ones: moves, copies, links, folders and what then opens them.

Each number stands for one text of two to five commands of ``moved_texts.toml``, in the workspace with traps of
``trespass.py``. Under rules for ``mv``, ``cp``, ``ln``, ``mkdir``, ``rm`` and ``touch``, or for files, nothing may be
read, written or started that this policy keeps from an agent, wherever the earlier commands put it.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .option_texts import SEARCH
from .trespass import DENY, SECRETS, Ground, Rights, let_loose

_WORDS = tomllib.loads(Path(__file__).with_name("moved_texts.toml").read_text(encoding="utf-8"))
_TREE = {
    **dict.fromkeys(("a.txt", "b.txt", "src/x", "src/sub/c.py", "lib/y", "lib/in/y", "conf/z", "run.txt"), "one\n"),
    **dict.fromkeys((".env", "conf/key.pem", "conf/deep/.env"), SECRETS["ENV"]),
    **dict.fromkeys(("held/key", "held/deep/key"), SECRETS["HELD"]),
    **dict.fromkeys(("src/evil", "omega"), "PROGRAM"),
    **dict.fromkeys(("run.sh", "src/tool"), "#!/bin/sh\n:\n"),
    "fixed/f": "one\n", "fixed/deep/g": "one\n", ".gitignore": "build\n", "build/n.log": "one\n",
    ".vscode/tasks.json": "{}\n",
    ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", ".git/hooks/x": "one\n", ".git/objects/x": "",
    ".git/refs/x": "",
}  # fmt: skip
_AROUND = {
    "home/.ssh/id_rsa": SECRETS["HOME"], "outside/f": SECRETS["OUTSIDE"], "outside/deep/f": SECRETS["OUTSIDE"],
    "outside/.env": SECRETS["OUTSIDE"],
}  # fmt: skip
_LINKS = {
    "ws/link": "a.txt", "ws/dot": ".env", "ws/keys": "held", "ws/out": "../outside", "ws/lost": "../outside/new",
    "ws/src/up": "..", "ws/lib/out": "../../outside", "ws/lib/in/up": "../..", "ws/conf/sub": "../src/sub",
}  # fmt: skip
_KEPT = ("ws/.git", "!ws/.git/index", "!ws/.git/objects", "ws/.vscode", "home", "outside")
_RULED = [f"Bash({name}:*)" for name in ("mv", "ln", "mkdir", "rm", "rmdir", "touch", "pa", "./run.sh", "src/tool")]
_MORE = [f"Bash({name}:*)" for name in ("cp", "install", "git mv", "tar", "find", "xargs", "dd", "chmod", "truncate")]
_SECRET = (SECRETS["ENV"], SECRETS["HOME"])
_OUTSIDE = (*_SECRET, SECRETS["OUTSIDE"])
_DENIED = (*_OUTSIDE, SECRETS["HELD"])
RIGHTS = (
    Rights({"mode": "default", "rules": {"allow": _RULED}}, _KEPT, _OUTSIDE),
    Rights({"mode": "default", "rules": {"allow": [*_RULED, *_MORE, "Edit(./**)"]}}, _KEPT, _SECRET),
    Rights(
        {"mode": "default", "rules": {"allow": [*_RULED, *_MORE, "Bash(tee:*)"], "deny": [*DENY]}},
        (*_KEPT, "ws/fixed"),
        (*_SECRET, SECRETS["HELD"]),
    ),
    Rights({"mode": "acceptEdits", "rules": {"deny": [*DENY]}}, (*_KEPT, "ws/fixed"), _DENIED),
    Rights({"mode": "auto", "rules": {"deny": [*DENY]}}, (*_KEPT, "ws/fixed"), (SECRETS["HELD"],)),
)


def moved_trespasses(seed: int, numbers: range) -> Iterator[str]:
    """Every text of these numbers that was allowed and did what its policy keeps from it."""
    yield from let_loose([(made(seed, number), RIGHTS[number % len(RIGHTS)]) for number in numbers], ground())


def ground() -> Ground:
    """The workspace with its traps."""
    real = {name: found for name in ("rg", "jq", "tree") if (found := shutil.which(name, path=SEARCH))}
    tree = {**{f"ws/{name}": text for name, text in _TREE.items()}, **_AROUND}
    archive = "mkdir t; echo one > t/o; ln -s ../outside t/l; tar cf t.tar -C t o l; rm -r t"
    return Ground(tree=tree, links=_LINKS, prepare=archive, real=real, path=SEARCH)


def made(seed: int, number: int) -> str:
    """The text of that number."""
    return _Steps(Random(f"moved {seed}/{number}")).text()


class _Steps:
    """One text, whose later commands prefer the names that its earlier ones took."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._taken: list[str] = []

    def text(self) -> str:
        pieces = [self._step(self._kind(first=True))]
        for _ in range(self._random.choice((1, 1, 1, 2, 2, 3))):
            pieces += [self._random.choice(_WORDS["joints"]), self._step(self._kind(first=False))]
        if self._random.random() < 0.25:
            one, two = "".join(pieces[:1]), "".join(pieces[2:])
            return self._filled(self._random.choice(_WORDS["around"]), one=one, two=two)
        return "".join(pieces)

    def _kind(self, *, first: bool) -> str:
        later = ("moves", "moves", "readers", "readers", "readers", "writers", "writers", "programs", "places")
        return self._random.choice(("moves", "moves", "moves", "places", "writers") if first else later)

    def _step(self, kind: str) -> str:
        return self._filled(self._random.choice(_WORDS[kind]))

    def _filled(self, form: str, **commands: str) -> str:
        names = {letter: self._name() for letter in "abc" if "{" + letter + "}" in form}
        self._taken += names.values()
        return form.format(**names, **commands)

    def _name(self) -> str:
        random = self._random
        if self._taken and random.random() < 0.5:
            return random.choice(self._taken) + random.choice(_WORDS["far" if random.random() < 0.2 else "endings"])
        kind = random.choices(("files", "folders", "new", "patterns", "traps"), (4, 5, 5, 1, 2))[0]
        name = random.choice(_WORDS[kind])
        return name + (random.choice(_WORDS["endings"]) if kind == "folders" and random.random() < 0.3 else "")
