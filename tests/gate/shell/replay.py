"""A text and its printed form under real bash: both must start, print and write the same.

Texts run in a sandbox without network, where nothing but stub programs can be found and nothing but a temporary folder
can be written.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from countersign.gate.shell.flow.control_flow import course
from countersign.gate.shell.flow.parse_cache import Followed, follow
from countersign.gate.shell.programs.tables import SHELLS
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import NotUnderstood
from tests.reference.sandbox import run_in_sandbox

from .asked import BASH
from .tracing import STUBS, Texts

TIME_LIMIT = 900.0
"""Seconds for one heap of texts."""

MOST_NESTED = 3
"""How deep texts inside of texts are looked at for names."""

ATTEMPTS = 5
"""How often a text with concurrent processes is run before a difference counts."""

_UNSTABLE = re.compile(
    r"\$\$|\$\{?\$|\$!|\bkill\b|RANDOM|SECONDS|EPOCH|BASHPID|PPID|\$_|\bSRANDOM\b|\bcoproc\b|\btimes\b|jobs"
    r"|/s?bin/"
)
"""What tells of the process and not of the text, or ends processes that are not its own."""
_CONCURRENT = re.compile(r"[|&]|<\(")
_LINE = re.compile(r"line \d+:")
_TEXT = re.compile(r"^(?:declare -- )?BASH_EXECUTION_STRING=.*$", re.MULTILINE)
"""What `set` and `declare -p` print of the text itself, on one line."""
_TIMES = re.compile(r"\d+m[\d.]+s")
_UNREAD = re.compile(r"^.*(?:I/O error|Broken pipe)\n", re.MULTILINE)
"""What a program complains of when the reader of its pipe ended first."""


def run_texts(texts: Sequence[str], stubs: Sequence[str]) -> list[dict[str, Any]]:
    """Everything that each text did."""
    bash = shutil.which("bash")
    orders = [{"bash": bash, "text": text, "stubs": sorted(stubs)} for text in texts]
    script = Path(__file__).with_name("replay_cell.py")
    return run_in_sandbox(script, orders, results=len(texts), time_limit=TIME_LIMIT)


def differences(texts: Sequence[str]) -> Iterator[str]:
    """For each text that can be printed and whose printed form does something else: both, and what they did."""
    pairs = list(pairs_of(texts))
    stubs = {name for text, _ in pairs for name in names_in(text)} | set(STUBS)
    seen: dict[tuple[str, str], tuple[set[str], set[str]]] = {pair: (set(), set()) for pair in pairs}
    for attempt in range(ATTEMPTS):
        told = run_texts([text for pair in pairs for text in pair], sorted(stubs))
        again: list[tuple[str, str]] = []
        for pair, before, after in zip(pairs, told[::2], told[1::2], strict=True):
            mixed = _CONCURRENT.search(pair[0]) is not None
            for each, did in zip(seen[pair], (before, after), strict=True):
                each.add(repr(_comparable(did, mixed=mixed)))
            if before["cut"] or after["cut"] or not seen[pair][0].isdisjoint(seen[pair][1]):
                continue
            # Processes that run at the same time may end in any order: what both did once is enough.
            if mixed and attempt < ATTEMPTS - 1:
                again.append(pair)
            else:
                yield f"{pair[0]!r} printed as {pair[1]!r}: {seen[pair]}"
        if not (pairs := again):
            return


def pairs_of(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Texts that can be printed and repeated, each with its printed form. Not those that start a shell: its text is
    printed anew as well, and the stub that stands for it tells of the one that it was given."""
    for text in texts:
        found = follow(text)
        printed = found.printed if isinstance(found, Followed) else None
        if not isinstance(printed, str) or _UNSTABLE.search(text) or BASH(text) is not None:
            continue
        if {name.lower() for name in names_in(text)}.isdisjoint(SHELLS):
            yield text, printed


def names_in(text: str, *, depth: int = 0) -> set[str]:
    """Names of programs that a text starts, for which stubs are needed: those of texts that it evaluates, too."""
    try:
        steps = course(read(text)).steps
    except NotUnderstood:
        if not depth:
            raise
        return set()
    names = {layer.words[0].value for step in steps for layer in step.unwrapped.layers}
    found = {name for name in names if name and re.fullmatch(r"[A-Za-z0-9_.+-]+", name) and name.strip(".")}
    inner = {each for step in steps for each in step.unwrapped.texts} if depth < MOST_NESTED else set[str]()
    return found.union(*(names_in(each, depth=depth + 1) for each in inner))


def generated(seed: int, numbers: range) -> Iterator[str]:
    """Texts by number: of bash's grammar, of Plain Bash with many ways of quoting, and mutations of both."""
    for number in numbers:
        kind, chance = number % 12, seed * 1_000_003 + number
        if kind == 0:
            yield Texts(chance).text(mutations=number % 3)
        else:
            yield PlainTexts(chance).text(mutations=2 if kind > 6 else 0)


def failures(seed: int, numbers: range) -> Iterator[str]:
    """What ``make soak`` counts."""
    yield from differences(list(generated(seed, numbers)))


class PlainTexts(Texts):
    """Texts mostly inside the subset that can be printed, with every quoting, expansion and redirection of it."""

    def text(self, *, mutations: int) -> str:
        self.smallest = self.pick("0", "1", "1", "2")
        return super().text(mutations=mutations)

    def script(self, depth: int) -> str:
        return super().script(min(depth, int(self.smallest)))

    def word(self, depth: int) -> str:
        return "".join(self.piece(depth) for _ in range(self.random.choice((1, 1, 1, 2, 2, 3))))

    def piece(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.15:
            inner = self.script(depth - 1).rstrip("\n")
            return self.pick(f"$({inner})", f'"$({inner})"', f'"a $({inner})"')
        if self.random.random() < 0.02:
            return self.pick(
                "{a,b}.{c,d}", "a=~", ":~", "~", "[!a]*", "${x%a}", "(", "${#x}", "`pf`", "{a,$x}", "~root"
            )
        return self.pick(
            "a", "b c".replace(" ", "\\ "), "'d e'", '"f g"', "''", '""', "$TEXT", '"$TEXT"', "${TEXT}", '"${EMPTY}"',
            "$EMPTY", "$x", '"$x"', "${x:-a b}", '"${x:-a b}"', "${EMPTY:-c}", "*", "?", "src/*", "*.txt", "[ab].txt",
            "[a-z]*", "'*'", "\\*", "~/x", "HEAD~1", "{a,b}", "{1..3}", "{}", "src/{a,b}.py",
            "$((1+2))", "$(( 7 / 2 ))", "a=b", "x=", "-x", "+x", "-", "#", "a#b", "!", "2", "1", "if", "then", "time",
            "[", "]", "[[", "]]", "=", "$", '"$"', '"$ "', "\\$x", "'$x'", "\\\\",
            '"\\""', '"a\\b"', "'it'\\''s'", "$'a\\tb'", "\"it's\"", "é", "a:b", "$?", "$#",
            '"$@"', '"$*"', "$*",
            "..", "/", "%", "@", ",", "^", ".h*",
        )  # fmt: skip

    def argument(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.05:
            return f"<({self.script(depth - 1)})"
        return self.word(depth)

    def redirect(self, depth: int) -> str:
        target = self.pick(
            "out", "'o u t'", '"out"', "o\\ ut", '"$EMPTY"x', '"$TEXT"', "~/o", "2", "/dev/null", "src/o"
        )
        return self.pick(
            f">{target}", f"> {target}", f">>{target}", f"2>{target}", f"2>> {target}", f"&>{target}", f"&>>{target}",
            "2>&1", ">&2", "1>&2", "3>&1", "3>&1 2>&3", "<a.txt", "< 'b c.txt'", f"<<< {self.word(0)}", "<<<''",
            "< /dev/null", "<<<$TEXT", '<<<"$TEXT"', f"< <({self.name()} a; pb)", "2 >out", "0<a.txt",
        )  # fmt: skip

    def simple(self, depth: int) -> str:
        words = [self.name(), *(self.argument(depth) for _ in range(self.random.randint(0, 3)))]
        if self.random.random() < 0.1:
            words = [self.pick("export", "export"), f"{self.pick('x', 'y')}={self.value(depth)}"]
        elif self.random.random() < 0.1:
            words = [self.pick("echo", "printf '%s|'", "echo -n"), *words[1:]]
        elif self.random.random() < 0.1:
            words = [f"x={self.value(depth)}"] if self.random.random() < 0.5 else ["read", "-r", "x", "<<<", "a"]
        if self.random.random() < 0.15:
            words.insert(0, f"{self.pick('x', 'y')}={self.value(depth)}")
        for _ in range(self.random.choice((0, 0, 0, 1, 1, 2))):
            words.insert(self.random.randint(0, len(words)), self.redirect(depth))
        return self.pick(" ", "  ", " \\\n ", "\t").join(words)

    def value(self, depth: int) -> str:
        return "" if self.random.random() < 0.1 else self.word(depth)

    def statement(self, depth: int) -> str:
        if depth <= 0:
            return self.simple(0)
        body, other, inner = self.script(depth - 1), self.script(depth - 1), self.statement(depth - 1)
        nl = self.pick("; ", "\n", " ;\n")
        word = self.argument(0)
        return self.pick(
            self.simple(depth), self.simple(depth), self.simple(depth), self.simple(depth),
            f"( {body} )", f"{{ {body}{nl}}}", f"({body})", f"(({inner}) )", f"( {body} ) {self.redirect(0)}",
            f"if {inner}{nl}then {body}{nl}else {other}{nl}fi",
            f"if {inner}{nl}then {body}{nl}elif {self.simple(0)}{nl}then {other}{nl}fi {self.redirect(0)}",
            f"for i in {word} {self.word(0)}{nl}do {body}{nl}pa $i \"$i\"{nl}done",
            f"while {inner}{nl}do {body}{nl}break{nl}done", f"until {inner}{nl}do {body}{nl}break{nl}done",
            f"case {self.word(0)} in a|b*) {body};; (*) {other};; esac", f"case a in ([ab]|'*') {body}\nesac",
            f"case {self.word(0)} in {self.word(0)}) ;; *) {body} ;; esac",
            f"! {inner}", f"time {self.simple(depth - 1)}",
            f"[[ {self.word(0)} == {self.word(0)} && -n {self.word(0)} ]] && {inner}",
            f"[[ -f {self.word(0)} ]] || {inner}",
            f"[ {self.word(0)} = {self.word(0)} ] && {inner}", f"test -n {self.word(0)} && {inner}",
            f"{self.name()} <<'E'\na $x `pf` \\\n\nE\n", f"{self.name()} <<E\nplain 'text'\nE\n",
            f"{self.name()} <<-'E' | {self.name()}\n\tx\n\n\tE\n", f"{self.name()} <<E\nE\n",
            f"{self.name()} <<'A' && {self.name()} <<'B'\n1\nA\n\nB\n",
            f"{inner} # {self.pick('pa', 'pb; pc', chr(39))}\n", f"{{ {body}{nl}}} 2>&1",
            f"echo $((1/0)){self.pick(';', chr(10))} {inner}", f"({inner}){self.redirect(0)}",
        )  # fmt: skip


def _comparable(told: dict[str, Any], *, mixed: bool) -> tuple[Any, ...]:
    """What must be equal. Processes that run at the same time report and print in any order."""
    printed = _neutral(told["printed"])
    files = [(path, _neutral(text)) for path, text in told["files"]]
    started = [
        tuple(_neutral(re.sub(r"/dev/fd/\d+", "/dev/fd/N", word)) for word in words) for words in told["started"]
    ]
    if mixed:
        printed = _UNREAD.sub("", printed)
        return sorted(started), sorted(printed), [path for path, _ in files], told["status"]
    return started, printed, files, told["status"]


def _neutral(text: str) -> str:
    return _TEXT.sub("", _TIMES.sub("T", _LINE.sub("line N:", text)))
