"""Commands with which git only looks, in a repository whose index, commits and stash hold secrets.

Each number stands for one text: a subcommand with options, commits and paths of ``history_texts.toml``. Without a rule
it may print no secret, and with rules nothing that they keep from an agent.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .option_texts import SEARCH
from .trespass import SECRETS, Ground, Rights, let_loose

_WORDS = tomllib.loads(Path(__file__).with_name("history_texts.toml").read_text(encoding="utf-8"))
_SECRET = ("ws/.env", "ws/src/.env", "ws/src/sub/key.pem", "ws/a b/id_rsa")
_PLAIN = ("ws/a.txt", "ws/src/x.py", "ws/src/sub/y.py", "ws/docs/r.md", "ws/a b/z")
_STRANGE = ("ws/docs/[a]/x", "ws/docs/a..b", "ws/docs/:!x", "ws/:(top)x", "ws/HEAD^!", "ws/x:y", "ws/other")
"""Names of files that are also revisions, ranges and pathspecs with magic."""
_CHANGE = 'for f in .env src/.env src/sub/key.pem "a b/id_rsa" a.txt src/x.py docs/r.md; do echo {} >> "$f"; done; '
GROUND = Ground(
    tree={
        **dict.fromkeys(_SECRET, SECRETS["ENV"] + "\n"),
        **dict.fromkeys((*_PLAIN, *_STRANGE), "hello\n"),
        "home/x": "",
        "outside/x": "",
    },
    prepare=(
        "export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z; "  # so numbers are known
        "git config --global user.email a@b; git config --global user.name a; git init -q -b main; "
        "git add -A -f; git commit -qm one; "
        + _CHANGE.format(2)
        + "git commit -qam two; git tag v1; git tag -a -m x v2; git tag v3 HEAD:.env; git tag 7b624 v3; "
        + "git branch other; "
        + _CHANGE.format(3)
        + "echo token-of-env > new.pem; git stash -q -u; "
        + _CHANGE.format(4)
        + "git add a.txt src/.env; "
        + _CHANGE.format(5)
    ),
    path=SEARCH,
    seconds=4.0,
)
_KEPT = ("ws", "home", "outside", "!ws/.git/index")
_UNSEEN = (SECRETS["ENV"],)
RIGHTS = (
    Rights({"mode": "default", "rules": {"allow": []}}, _KEPT, _UNSEEN),
    Rights(
        {
            "mode": "default",
            "rules": {
                "allow": ["Bash(git:*)"],
                "deny": ["Read(**/.env)", "Read(**/*.pem)", "Read(**/id_rsa)"],
            },
        },
        ("home", "outside"),
        _UNSEEN,
    ),
)


def history_trespasses(seed: int, numbers: range) -> Iterator[str]:
    """Every text of these numbers that was allowed and did what its policy keeps from it."""
    yield from let_loose([(made(seed, number), RIGHTS[number % len(RIGHTS)]) for number in numbers], GROUND)


def made(seed: int, number: int) -> str:
    """The text of that number."""
    random = Random(f"history {seed}/{number}")
    words = ["git", random.choice(_WORDS["in_front"]), random.choice(_WORDS["subcommands"])]
    words += random.choices(_WORDS["options"], k=random.choice((0, 0, 1, 1, 2, 3)))
    words += [_spelled(random, "revisions") for _ in range(random.choice((0, 0, 1, 1, 1, 2)))]
    if random.random() < 0.5:
        words += [random.choice(("", "--", "--")), _spelled(random, "paths")]
    return random.choice(_WORDS["folders"]) + " ".join(filter(None, words))


def _spelled(random: Random, kind: str) -> str:
    """One of these words, or one that is put together at random."""
    if random.random() < 0.7:
        return random.choice(_WORDS[kind])
    return shlex.quote("".join(random.choices(_WORDS["pieces"], k=random.randint(1, 4))))
