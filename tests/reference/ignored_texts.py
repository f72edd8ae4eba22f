"""Searches by ``rg`` in folders whose ignore files leave some secrets out and others not.

Some twenty texts share a workspace that is made at random. What is allowed without a rule must not print a secret,
whatever this version of ``rg`` makes of the ignore files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from random import Random

from .option_texts import SEARCH
from .trespass import SECRETS, Ground, Rights, let_loose

_WORDS = tomllib.loads(Path(__file__).with_name("ignored_texts.toml").read_text(encoding="utf-8"))
_TOGETHER = 20
"""Texts in one workspace."""

_RIGHTS = Rights({"mode": "default", "rules": {"allow": []}}, ("ws", "home"), (SECRETS["ENV"],))


def ignored_trespasses(seed: int, numbers: range) -> Iterator[str]:
    """Every text of these numbers that was allowed and printed a secret, with the ignore files there."""
    for workspace, some in groupby(numbers, key=lambda number: number // _TOGETHER):
        tree = _tree(Random(f"ignored {seed}/{workspace}"))
        lists = {name: text for name, text in tree.items() if name in _WORDS["lists"]}
        for found in let_loose([(made(seed, number), _RIGHTS) for number in some], Ground(tree, path=SEARCH)):
            yield f"{found}, with {lists}"


def _tree(random: Random) -> dict[str, str]:
    tree = {"home/x": "", "outside/x": ""}
    if random.random() < 0.8:
        tree["ws/.git/HEAD"] = "ref: refs/heads/main\n"
    if random.random() < 0.3:
        tree["ws/vendor/.git/HEAD"] = "ref: refs/heads/main\n"
    for folder in _WORDS["folders"]:
        tree[f"ws/{folder}/kept.txt".replace("//", "/")] = "one\n"
    for _ in range(random.randint(1, 3)):
        tree[_inside(random, "secrets")] = SECRETS["ENV"] + "\n"
    for _ in range(4):
        tree[_inside(random, "ordinary")] = "other of\n"
    if random.random() < 0.2:
        tree[f"ws/{random.choice(_WORDS['secret_folders'])}/f.txt"] = SECRETS["ENV"] + "\n"
    for _ in range(random.randint(1, 3)):
        lines = random.choices(_WORDS["lines"], k=random.randint(1, 4))
        tree[random.choice(_WORDS["lists"])] = "\n".join(lines) + "\n"
    return tree


def _inside(random: Random, kind: str) -> str:
    folder = random.choice(_WORDS["folders"])
    return f"ws/{folder}/{random.choice(_WORDS[kind])}".replace("//", "/")


def made(seed: int, number: int) -> str:
    """The text of that number."""
    random = Random(f"ignored {seed}/{number}")
    options = random.choices(_WORDS["options"], k=random.choice((0, 0, 1, 1, 2, 3)))
    words = ["rg", *options, "token.of", random.choice(_WORDS["places"])]
    return random.choice(_WORDS["cd"]) + " ".join(filter(None, words))
