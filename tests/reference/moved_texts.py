"""What the earlier commands of a text do to its later ones: moves, copies, links, folders and what then opens them.

Each number stands for one text. Of three, one has two to five commands of ``moved_texts.toml`` whose names prefer those
that stood before; one puts a folder with traps in the place of another one, and then looks there; and one finds names
in folders where it put some, by patterns and by walking, and gives them to folders where they do harm. Under rules
for ``mv``, ``cp``, ``ln``, ``mkdir``, ``rm`` and ``touch``, or for files, nothing may be read, written or started that
the policy keeps from an agent, wherever the earlier commands put it.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .option_texts import SEARCH
from .trespass import DENY, SECRETS, Ground, Rights, let_loose

_WORDS = tomllib.loads(Path(__file__).with_name("moved_texts.toml").read_text(encoding="utf-8"))
_AIMED = _WORDS["aimed"]
_GATHERED = _WORDS["gathered"]
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
    "outside/.env": SECRETS["OUTSIDE"], "outside/w": "one\n",
}  # fmt: skip
_LINKS = {
    "ws/link": "a.txt", "ws/dot": ".env", "ws/keys": "held", "ws/out": "../outside", "ws/lost": "../outside/new",
    "ws/src/up": "..", "ws/lib/out": "../../outside", "ws/lib/in/up": "../..", "ws/conf/sub": "../src/sub",
}  # fmt: skip
_KEPT = ("ws/.git", "!ws/.git/index", "!ws/.git/objects", "ws/.vscode", "home", "outside")
_MOVERS = ("mv", "ln", "mkdir", "rm", "rmdir", "touch")
_RULED = [f"Bash({name}:*)" for name in (*_MOVERS, "pa", "./run.sh", "src/tool")]
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
_AIMED_TREE = {
    "ws/.env": SECRETS["ENV"], "ws/.vscode/settings.json": "{}\n", "ws/.gitignore": "log\n",
    **{f"ws/{front}{name}": "h\n" for front in ("", "s/", "real/", "real/deep/") for name in "fwvh"},
    **{f"ws/{front}f2": "h\n" for front in ("", "s/", "real/")},
    **_AROUND, "outside/dir/f": SECRETS["OUTSIDE"],
}  # fmt: skip
_PREPARE = r"""
git init -q . && git add f && git -c user.name=a -c user.email=a@b commit -qm i
for d in . s; do
  (cd $d && mkdir -p Bl Bh Br/objects Br/refs/heads Bp/objects/o Bp/refs/heads Ba tg/n te real/deep &&
  ln -s "$OLDPWD/../outside/f" Bl/f && ln -s "$OLDPWD/../outside/w" Bl/w && ln -s "$OLDPWD/../outside/dir" Bl/n &&
  ln "$OLDPWD/.env" Bh/f && ln "$OLDPWD/.vscode/settings.json" Bh/w &&
  echo x > Bp/objects/x && echo x > Bp/refs/x &&
  echo 'ref: refs/heads/m' > Br/HEAD && cp Br/HEAD Ba/ && cp f w tg && cp f tg/n &&
  printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n' > Br/config &&
  printf '\tfsmonitor = "omega;false"\n' >> Br/config &&
  cp Br/config Ba/ && ln -s real tl && ln -s tm kd &&
  ln -s real/deep td && cp f real/f4 && cp f real/w4 &&
  ln -s "$OLDPWD/../outside/f" f4 && ln -s "$OLDPWD/../outside/w" w4 &&
  for t in tg te tm tl td; do
    ln -s $t/f k_$t; ln -s $t/../f2 u_$t; ln -s $t/../f4 v_$t; ln -s $t/w kw_$t
  done) || exit 1
done
ln -s ../../outside/f s/f3; rm -f real/f2; ln -s ../../outside/f real/f2; tar cf parts.tar -C Bp .
"""
_AIMED_RIGHTS = Rights(
    {"mode": "default", "rules": {"allow": [*_RULED, *_MORE, "Bash(tee:*)", "Bash(sed:*)", "Edit(./**)"]}},
    _KEPT,
    _OUTSIDE,
)
_AIMED_AUTO = Rights({"mode": "auto", "rules": {}}, _KEPT, (SECRETS["ENV"],))


_GATHERED_TREE = {
    **{f"ws/g/{name}": "one\n" for name in ("a/keep", "b/keep", "c/keep", "e/b/keep", "n/b/keep", "n/c/keep", "keep")},
    **{f"ws/g/{name}": "evil\n" for name in ("a/lnk", "a/config.toml", "n/lnk", "n/a/lnk")},
    "ws/fixed/lnk": "one\n", "ws/fixed/config.toml": "one\n", "ws/.gitignore": "log\n", "outside/w": "one\n",
}  # fmt: skip
_GATHERED_LINKS = {
    "ws/g/c/lnk": "../../../outside/w", "ws/g/e/b/lnk": "../../../../outside/w", "ws/l": "g/b",
    "ws/g/n/c/lnk": "../../../../outside/w",
}  # fmt: skip
_GATHERED_PREPARE = "git init -q . && git add g && git -c user.name=a -c user.email=a@b commit -qm i"
_GATHERED_KEPT = ("ws/fixed", "ws/.cargo/config.toml", "outside")
_GATHERED_RULES = [
    f"Bash({name}:*)"
    for name in ("cp", "mv", "ln", "mkdir", "rm", "touch", "install", "git", "tar", "find", "xargs", "gzip", "gunzip")
]
_GATHERED_RIGHTS = (
    Rights(
        {"mode": "default", "rules": {"allow": [*_GATHERED_RULES, "Edit(g/**)"], "deny": ["Edit(fixed/**)"]}},
        _GATHERED_KEPT,
        (),
    ),
    Rights(
        {"mode": "default", "rules": {"allow": ["Bash(cp:*)", "Edit(g/**)"]}}, ("ws/.cargo/config.toml", "outside"), ()
    ),
    Rights({"mode": "auto", "rules": {"deny": ["Edit(fixed/**)"]}}, _GATHERED_KEPT, ()),
    Rights({"mode": "auto", "rules": {}}, ("ws/.cargo/config.toml", "outside"), ()),
)


def moved_trespasses(seed: int, numbers: range) -> Iterator[str]:
    """Every text of these numbers that was allowed and did what its policy keeps from it."""
    real = {name: found for name in ("rg", "jq", "tree") if (found := shutil.which(name, path=SEARCH))}
    tree = {**{f"ws/{name}": text for name, text in _TREE.items()}, **_AROUND}
    archive = "mkdir t; echo one > t/o; ln -s ../outside t/l; tar cf t.tar -C t o l; rm -r t"
    grounds = (
        (Ground(tree=tree, links=_LINKS, prepare=archive, real=real, path=SEARCH), RIGHTS),
        (
            Ground(tree=_AIMED_TREE, links={}, prepare=_PREPARE, path=SEARCH, counts_links=False),
            (_AIMED_RIGHTS, _AIMED_RIGHTS, _AIMED_AUTO),
        ),
        (
            Ground(_GATHERED_TREE, _GATHERED_LINKS, _GATHERED_PREPARE, path=SEARCH, counts_links=False),
            _GATHERED_RIGHTS,
        ),
    )
    for kind, (ground, rights) in enumerate(grounds):
        own = [number for number in numbers if number % len(grounds) == kind]
        texts = [(made(seed, number), rights[number // len(grounds) % len(rights)]) for number in own]
        yield from let_loose(texts, ground)


def made(seed: int, number: int) -> str:
    """The text of that number."""
    random = Random(f"moved {seed}/{number}")
    return (lambda random: _Steps(random).text(), _aimed, _gathered)[number % 3](random)


def _gathered(random: Random) -> str:
    filled: dict[str, str] = {}
    target = random.choice(_GATHERED["targets"])
    for letter in "abcd":
        source = target if random.random() < 0.5 else random.choice(_GATHERED["sources"])
        target = random.choice(_GATHERED["targets"])
        form = random.choice(_GATHERED["gather"])
        form = re.sub(r"(?<!-)\bS\b", source, re.sub(r"(?<!-)\bT\b", target, form))
        near = {"s": source.removeprefix("g/"), "t": target.removeprefix("g/")}
        filled[letter] = form.format(**near) if "{{" in form or "{s}" in form else form
    return random.choice(_GATHERED["around"]).format(**filled)


def _aimed(random: Random) -> str:
    trap, place = random.choice(_AIMED["traps"]), random.choice(_AIMED["places"])
    mover, use = random.choice(_AIMED["movers"]), random.choice(_AIMED["uses"])
    if trap in {"Br", "Bp"} and random.random() < 0.7:
        use = random.choice([each for each in _AIMED["uses"] if "git" in each])
    if place.endswith("td") and random.random() < 0.6:
        use = random.choice([each for each in _AIMED["uses"] if "f4" in each or "v_" in each or "w4" in each])
    if trap == "Bp":
        place = random.choice((place, "Ba"))

    def filled(form: str) -> str:
        form = re.sub(r"_T\b", f"_{place.removeprefix('s/')}", form)
        return re.sub(r"\bT\b", place, re.sub(r"\bB(?=\b|2)", trap, form))

    return random.choice(_AIMED["around"]).format(m=filled(mover), u=filled(use))


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
