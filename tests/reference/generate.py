"""Makes up command texts and the rules that they meet: plain ones, nasty ones, from small pools so that rules hit.

All comes from one ``random.Random``, so a seed and a number name a pair for ever. ``CommandMaker`` writes a text by a
small grammar of bash: lists, pipes, groups, loops, substitutions, redirections, wrappers, assignments, quoting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from .evaluate import Question

SIDE = 4
"""A block is so many policies beside so many commands: a pair costs less, because both are read once."""

PROGRAMS: tuple[tuple[str, ...], ...] = (
    ("alpha", "one"), ("alpha", "two"), ("alpha",), ("beta", "one", "two"), ("beta",), ("gamma", "run", "x"),
    ("omega",), ("npm", "run", "test"), ("npm", "run", "build"), ("npm", "outdated"), ("npm", "test"),
    ("cargo", "test"), ("cargo", "build"), ("make", "lint"), ("make", "deploy"), ("terraform", "plan"),
    ("terraform", "apply"), ("shutdown", "now"), ("kubectl", "get"), ("mypy", "src"), ("ls", "src"),
    ("ls",), ("cat", "a.txt"), ("echo", "hi"), ("printf", "x"), ("wc", "a.txt"), ("grep", "x", "a.txt"),
    ("docker", "ps"), ("pytest", "tests"), ("head", "a.txt"), ("go", "vet"), ("yarn", "lint"), ("ruff", "check"),
)  # fmt: skip
NEUTRAL: tuple[tuple[str, ...], ...] = (
    ("true",), ("false",), (":",), ("[", "-d", "src", "]"), ("test", "-f", "a.txt"), ("set", "-e"), ("cd", "src"),
    ("set", "-euo", "pipefail"), ("exit", "1"), ("wait",), ("read", "-r", "line"),
)  # fmt: skip
ARGUMENTS = ("one", "two", "three", "a.txt", "src", "x y", "é", "it's", "a=b", "7", "#x", "now", "build", "--", "")
CLEAR = (("timeout", "5"), ("nohup",), ("nice",), ("nice", "-n", "5"), ("command",), ("stdbuf", "-oL"),
         ("timeout", "-k", "3", "9"), ("time",))  # fmt: skip
CLOSED = (("sudo",), ("sudo", "-u", "root"), ("env",), ("env", "A=1"), ("exec",), ("setsid",), ("nohup", "--"),
          ("sudo", "env", "B=2"), ("doas",), ("chroot", "d"), ("builtin",))  # fmt: skip
RUNNERS = (("npx",), ("uv", "run"), ("poetry", "run"), ("bundle", "exec"), ("pnpm", "exec"), ("python", "-m"))
SAFE = ("CI=1", "NODE_ENV=test", "LC_ALL=C", "DEBUG=x", "TZ=UTC")
UNSAFE = ("FOO=1", "PATH=.", "LD_PRELOAD=./x.so", "NODE_OPTIONS=-r./x", "BASH_ENV=x", "IFS=x")
TARGETS = ("/dev/null", "/dev/stderr", "out.txt", "build/list.txt", "build/deep/x", "src/a.py", ".git/config",
           "../up.txt", "/etc/x", ".vscode/tasks.json", "a.log", "~/x", ".npmrc", "logs/.envrc")  # fmt: skip
SOURCES = ("a.txt", "private/k", "/dev/null", "src/x", ".env", "/etc/passwd")
HIDDEN = ("\r", "\u200b", "\u202e", "\x1b", "\u2066")
EDITS = ("Edit(build/**)", "Edit(./out.txt)", "Edit(*.log)", "Edit(/src/**)", "Edit(out.txt)", "Edit")
READS = ("Read(private/**)", "Read(./secret.txt)")
MODES = ("default",) * 8 + ("plan", "ask", "acceptEdits", "auto", "dontAsk")


@dataclass(frozen=True)
class Pools:
    """What texts are made from. ``finds``: ``find -exec`` is among the wrappers. ``parts`` and ``words`` are further
    shapes; in them ``§`` stands for a list of commands and ``¤`` for an argument."""

    programs: Sequence[tuple[str, ...]] = PROGRAMS
    neutral: Sequence[tuple[str, ...]] = NEUTRAL
    arguments: Sequence[str] = ARGUMENTS
    clear: Sequence[tuple[str, ...]] = CLEAR
    closed: Sequence[tuple[str, ...]] = CLOSED
    runners: Sequence[tuple[str, ...]] = RUNNERS
    targets: Sequence[str] = TARGETS
    sources: Sequence[str] = SOURCES
    finds: bool = True
    parts: Sequence[str] = ()
    words: Sequence[str] = ()


NO_READERS = Pools(tuple(each for each in PROGRAMS if each[0] not in {"ls", "cat", "wc", "grep", "head"}), finds=False)


class CommandMaker:
    """Writes texts. Keeps only its source of chance, its pools and the here-documents still to be written out."""

    def __init__(self, random: Random, pools: Pools | None = None) -> None:
        self._random = random
        self._pools = pools or Pools()
        self._pending: list[str] = []

    def text(self) -> str:
        """One whole text, now and then broken, hidden or stretched."""
        made = self._lines(self._random.choice((0, 1, 1, 2, 2, 3)))
        # What is broken inside `(( ))` bash finds out only when it runs; inside `$''` it is another character.
        if self._chance(0.03) and "((" not in made and "$'" not in made:
            at = self._random.randrange(len(made) + 1)
            made = made[:at] + self._random.choice((*HIDDEN, ")", "'", '"', "`", "\\", "&&", "fi", "<<E")) + made[at:]
        if self._chance(0.05):
            made = self._random.choice((" ", "\n", "# note\n", "\t")) + made
        if self._chance(0.05):
            made += self._random.choice((" ", "\n", " # note", ";", " &", "\n\n"))
        return made

    # --- structure ---

    def _lines(self, depth: int) -> str:
        made = self._list(depth)
        for body in self._pending:
            made += body
        self._pending = []
        return made

    def _list(self, depth: int) -> str:
        made = self._pipe(depth)
        for _ in range(self._random.choice((0, 0, 0, 1, 1, 2) if depth else (0, 0, 0, 0, 1))):
            if self._pending:
                made += "".join(self._pending)
                self._pending = []
                made += "\n" + self._pipe(depth)
            else:
                made += self._random.choice(
                    (" && ", " || ", "; ", "&&", ";", " & ", "\n", " &&\n", " ;\t")
                ) + self._pipe(depth)
        return made

    def _pipe(self, depth: int) -> str:
        made = ("! " if self._chance(0.03) else "") + self._part(depth)
        while self._chance(0.15):
            # Behind `|` bash takes `time` for a program, shfmt for the keyword.
            made += self._random.choice((" | ", "|", " |& ")) + re.sub(r"^time(?=\s|\\)", "", self._part(depth))
        return made

    def _part(self, depth: int) -> str:
        if not depth or self._chance(0.6):
            return self._simple(depth)
        if self._pools.parts and self._chance(0.5):
            return self._filled(self._random.choice(self._pools.parts), depth - 1)
        shapes: tuple[Callable[[int], str], ...] = (
            lambda d: f"( {self._body(d)})",
            lambda d: f"{{ {self._body(d)}; }}",
            lambda d: f"if {self._body(d)}; then {self._body(d)}; fi",
            lambda d: f"if {self._body(d)}; then {self._body(d)}; else {self._body(d)}; fi",
            lambda d: f"for i in {self._word_list(d)}; do {self._body(d)}; done",
            lambda d: f"while {self._body(d)}; do {self._body(d)}; done",
            lambda d: f"until {self._body(d)}; do {self._body(d)}; done",
            lambda d: f"case {self._argument(d)} in a|b) {self._body(d)};; *) {self._body(d)};; esac",
            lambda d: f"f() {{ {self._body(d)}; }}",
            lambda d: f"f() {{ {self._body(d)}; }}; f {self._argument(d)}",
            lambda d: f"alpha() ( {self._body(d)} )",
            lambda d: f"[[ -n {self._argument(d)} ]]",
            lambda d: f"time {self._simple(d)}",
            lambda d: f"x={self._argument(d)}",
            lambda d: "((1 + 2))",
            lambda d: f"export {self._random.choice(UNSAFE)}",
        )
        made = self._random.choice(shapes)(depth - 1)
        return made + self._redirect(depth - 1) if self._chance(0.08) and made[-1] in ")}i" else made

    def _filled(self, shape: str, depth: int) -> str:
        fillers = {"§": self._body, "¤": self._argument}
        return "".join(fillers[char](depth) if char in fillers else char for char in shape)

    def _body(self, depth: int) -> str:
        before, self._pending = self._pending, []
        made = self._lines(depth)
        self._pending = before
        return made + "\n:" if "<<" in made else made

    def _word_list(self, depth: int) -> str:
        return " ".join(self._argument(depth) for _ in range(self._random.randint(1, 3)))

    # --- simple commands ---

    def _simple(self, depth: int) -> str:
        words = [self._quoted(word) for word in self._random.choice(self._pools.programs)]
        if self._chance(0.12):
            words = [
                self._quoted(word) if word not in ("[", "]") else word
                for word in self._random.choice(self._pools.neutral)
            ]
        else:
            while self._chance(0.35):
                words.append(self._argument(depth))
            if self._chance(0.15):
                words = self._wrapped(words, depth)
            if self._chance(0.03):
                words[0] = self._random.choice(("/usr/bin/", "./", "/bin/")) + words[0]
        if self._chance(0.02):
            words[0] = self._random.choice(("$x", '"$x"', "$(beta)", "a*", "{alpha,one}", "`beta`"))
        while self._chance(0.1):
            if words[0] != "time":
                words.insert(
                    0, self._random.choice(SAFE if self._chance(0.7) else (*UNSAFE, "CI=$x", "CI=$(beta)", "x=1"))
                )
        made = self._random.choice((" ", " ", " ", "  ", " \\\n")).join(words)
        while self._chance(0.12):
            first = self._chance(0.1) and words[0] != "time"
            made = self._redirect(depth).lstrip() + " " + made if first else made + self._redirect(depth)
        return made

    def _wrapped(self, words: list[str], depth: int) -> list[str]:
        plain = " ".join(words)
        match self._random.randrange(8):
            case 0 | 1 | 2:
                return [*self._random.choice(self._pools.clear), *words]
            case 3:
                return [*self._random.choice(self._pools.closed), *words]
            case 4:
                return [*self._random.choice(self._pools.runners), *words]
            case 5:
                return ["xargs", *words]
            case 6:
                shell = self._random.choice(("sh -c", "bash -c", "eval", "bash -lc", "sudo sh -c"))
                return [shell, self._enclosed(plain)]
            case 7 if not self._pools.finds:
                return words
            case _:
                return [
                    "find",
                    "src",
                    self._random.choice(("-exec", "-ok")),
                    *words,
                    "{}",
                    self._random.choice(("\\;", "+")),
                ]

    def _redirect(self, depth: int) -> str:
        match self._random.randrange(9):
            case 0 | 1 | 2 | 3:
                target = (
                    self._quoted(self._random.choice(self._pools.targets))
                    if self._chance(0.9)
                    else self._argument(depth)
                )
                return self._random.choice((" > ", " >> ", ">", " 2>", " &> ", " >| ")) + (target or "out.txt")
            case 4 | 5:
                return self._random.choice((" 2>&1", " >&2", " 2>/dev/null", " <&-"))
            case 6:
                return " < " + self._random.choice(self._pools.sources)
            case 7:
                return " <<< " + self._argument(depth)
            case _:
                mark, inside = self._random.choice(("E", "'E'", '"E"', "\\E")), self._inner(depth)
                body = self._random.choice(
                    ("text", f"$({inside})", f"a `{inside}` b" if "`" not in inside else "b", "$x")
                )
                self._pending.append(f"\n{body}\nE")
                return f" <<{mark}"

    def _inner(self, depth: int) -> str:
        return self._body(depth - 1) if depth else "beta one"

    # --- words ---

    def _argument(self, depth: int) -> str:
        if self._chance(0.72):
            return self._quoted(self._random.choice(self._pools.arguments))
        if depth and self._pools.words and self._chance(0.4):
            return self._filled(self._random.choice(self._pools.words), depth - 1)
        inner = self._inner(depth)
        ticks = f"`{inner}`" if not set("`\\\n") & set(inner) else "`beta`"
        return self._random.choice((
            "$x", '"$x"', '"a$x"', "a$x", "${x}", '"${x:-one}"', f"${{x:-$({inner})}}", f"$({inner})", f'"$({inner})"',
            ticks, f"<({inner})", "*", "*.py", "a*", "$((1+2))", '"$(cat <<\'Z\'\ntext $x\nZ\n)"',
            "$1", '"$@"', "${#x}", "[ab].txt", "?",
        ))  # fmt: skip

    def _quoted(self, text: str) -> str:
        """The same word, written in one of bash's ways."""
        way = self._random.randrange(12)
        if way == 0 or not text or not all(char.isalnum() or char in "._-/" for char in text):
            return self._enclosed(text)
        if way == 1 and len(text) > 1:
            at = self._random.randrange(1, len(text))
            return text[:at] + self._enclosed(text[at:])
        if way == 2:
            at = self._random.randrange(len(text))
            return text if text[at] == "~" else text[:at] + "\\" + text[at:]
        if way == 3 and self._chance(0.5):
            at = self._random.randrange(len(text))
            return text[:at] + f"$'\\x{ord(text[at]):02x}'" + text[at + 1 :] if text[at].isascii() else text
        if way == 4 and self._chance(0.5):
            at = self._random.randrange(len(text))
            return text[:at] + self._random.choice(("''", '""', "\\\n")) + text[at:]
        return text

    def _enclosed(self, text: str) -> str:
        if self._chance(0.5) and not set('$`\\"!') & set(text):
            return f'"{text}"'
        return "'" + text.replace("'", "'\\''") + "'"

    def _chance(self, part: float) -> bool:
        return self._random.random() < part


def make_rules(random: Random, pools: Pools | None = None) -> dict[str, tuple[str, ...]]:
    """Lists of rules that meet the pools' commands often, and nearly as often just miss them."""
    programs = (pools or Pools()).programs

    def command() -> str:
        words = list(random.choice(programs))
        match random.randrange(14):
            case 0 | 1 | 2 | 3:
                return f"Bash({words[0]}:*)"
            case 4 | 5:
                return f"Bash({' '.join(words)}:*)"
            case 6:
                return f"Bash({' '.join(words)} *)"
            case 7 | 8:
                return f"Bash({' '.join(words)})"
            case 9:
                return f"Bash({words[0]} * {random.choice(('one', 'two', 'a.txt'))})"
            case 10:
                wrapped = " ".join((*random.choice((*RUNNERS, *CLOSED, *CLEAR)), *words))
                return (
                    f"Bash({wrapped}:*)"
                    if wrapped.startswith(tuple(" ".join(r) for r in RUNNERS))
                    else f"Bash({wrapped})"
                )
            case 11:
                return f"Bash({random.choice((*SAFE, *UNSAFE))} {' '.join(words)}:*)"
            case 12:
                return f"Bash({random.choice((*RUNNERS, *CLOSED, *CLEAR))[0]}:*)"
            case _:
                return f"Bash({words[0][:-1]}*)" if random.random() < 0.3 else f"Bash({words[0]}*)"

    allow = [command() for _ in range(random.choice((0, 2, 6, 20)))]
    if random.random() < 0.6:
        allow += [f"Bash({words[0]}:*)" for words in programs if random.random() < 0.7]
    allow += [rule for rule in EDITS if random.random() < 0.15]
    ask = [command() for _ in range(random.choice((0, 0, 0, 0, 1, 2)))] + [
        r for r in EDITS[:-1] if random.random() < 0.02
    ]
    deny = [command() for _ in range(random.choice((0, 0, 0, 1, 2)))] + [
        r for r in EDITS[:-1] if random.random() < 0.02
    ]
    deny += [rule for rule in READS if random.random() < 0.05]
    return {"allow": tuple(allow), "ask": tuple(ask), "deny": tuple(deny)}


@lru_cache(256)
def make_question(seed: int, number: int) -> Question:
    """A command and rules: number ``number`` of a seed."""
    random = Random(f"{seed}/{number}")
    rules = make_rules(random)
    mode, bypass = random.choice(MODES), random.random() < 0.03
    # What a Read rule means for the operands of readers (S11) is not the reference's business: a block has one of them.
    pools = Pools() if number // SIDE % 4 else NO_READERS
    if number // SIDE % 4:
        rules["deny"] = tuple(rule for rule in rules["deny"] if rule not in READS)
    maker = CommandMaker(random, pools)
    text = maker.text()
    while _is_beyond(text):
        text = maker.text()
    return Question(text, mode=mode, bypass=bypass, **rules)


def _is_beyond(text: str) -> bool:
    """Whether the two cannot be compared. The reference does not follow a ``cd`` through loops, functions and
    redirections, nor what may hold one; shfmt finds a here-document's body in the wrong place where its line goes on in
    the next, or holds ``[[`` or another one; it rejects ``[[`` in backquotes, and takes no half of one that bash drops
    without a word; and the engine does not understand a process substitution in ``[[``.
    """
    plain = re.sub(r"\$'\\x(..)'", lambda found: chr(int(found[1], 16)), text)
    plain = re.sub(r"\\\n|[\\'\"]", "", plain)
    wanders = re.search(r"\b(cd|eval|builtin)\b", plain) and re.search(r"\(\)|do\s|[<>]", plain)
    documents = len(re.findall("(?<!<)<<(?!<)", text))
    lost = documents > 1 or (documents > 0 and re.search(r"\\\n|&&\n|]]", text))
    return bool(wanders or lost) or ("]]" in text and re.search(r"<\(|`", text) is not None)
