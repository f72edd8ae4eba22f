"""Texts made at random, and what bash really starts when it runs them: the measure for our reading.

Only stub programs stand on the path, each of which writes its name into a log. The texts hold nothing else but builtins
that touch nothing, name no path outside, and run in a folder of their own.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

STUBS = ("pa", "pb", "pc", "pd", "pe", "pf")
TIME_LIMIT = 3.0
"""Seconds for one text; what takes longer is killed and not counted."""


class Texts:
    """A grammar of texts, with every construct in which a command can stand."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def text(self, *, mutations: int) -> str:
        out = self.script(3)
        for _ in range(self.random.randint(0, mutations)):
            at = self.random.randrange(len(out) + 1)
            match self.random.randrange(4):
                case 0:
                    out = out[:at] + out[at + 1 :]
                case 1:
                    out = out[:at] + self.pick(*"'\"`$\\\n#;&|(){}<> =!*[]~-x") + out[at:]
                case 2:
                    other = self.random.randrange(len(out) + 1)
                    low, high = sorted((at, other))
                    out = out[:low] + out[high:] if high - low < 12 else out
                case _:
                    fragment = self.pick(
                        "<<E\n",
                        "$(",
                        "${",
                        "`",
                        "'",
                        '"',
                        "\\\n",
                        " pa ",
                        "; pb",
                        "}",
                        ")",
                        " fi ",
                        "esac",
                        "#",
                        "$'",
                        "((",
                    )
                    out = out[:at] + fragment + out[at:]
        return out

    def name(self) -> str:
        name = self.pick(*STUBS)
        match self.random.randrange(10):
            case 0:
                return name[0] + "''" + name[1:]
            case 1:
                return f'"{name}"'
            case 2:
                return f"\\{name}"
            case 3:
                return f"$'{name}'"
            case 4:
                return name[0] + "\\\n" + name[1:]
        return name

    def argument(self, depth: int) -> str:
        inner = "" if depth <= 0 else self.script(depth - 1)
        plain = [
            "a", "-x", "'b c'", '"d e"', "f#g", "\\ h", "$x", '"$x"', "${x}", "a=b", "{a,b}", "~", "$((1+2))", "=", "}",
            "if", "''", "!", "*", "$", "[", "a\\\nb", "$'c\\'d'", '"e\\"f"',
        ]  # fmt: skip
        number = self.pick("echo 1", "pa")
        nested = [
            f"$({inner})", f'"$({inner})"', f"${{x:-$({inner})}}", f'"${{x:-$({inner})}}"', f"<({inner})",
            f'"a$({inner})b"', f"${{x:+$({inner})}}", f"$(( 1 + $({number}) ))", f"x$({inner})y", f"$'a'$({inner})",
        ]  # fmt: skip
        if "`" not in inner and "\\" not in inner:
            nested += [f"`{inner}`", f'"`{inner}`"']
        return self.pick(*nested) if depth > 0 and self.random.random() < 0.3 else self.pick(*plain)

    def simple(self, depth: int) -> str:
        words = [self.name(), *(self.argument(depth) for _ in range(self.random.randint(0, 3)))]
        if self.random.random() < 0.15:
            words.insert(0, self.pick("CI=1", "y=2", "y=", "y=$(pb)", "y='a b'"))
        if self.random.random() < 0.15:
            words.insert(
                self.random.randint(0, len(words)), self.pick(">/dev/null", "2>&1", "</dev/null", ">&2", "2>/dev/null")
            )
        return self.pick(" ", "  ", " \\\n ", "\t").join(words)

    def statement(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(self.simple(0), self.simple(0), "true", ":", "x=1", "[ a = a ]", "echo hi")
        body, other = self.script(depth - 1), self.script(depth - 1)
        inner = self.statement(depth - 1)
        nl = self.pick("; ", "\n", " ;\n")
        forms = [
            self.simple(depth), self.simple(depth), self.simple(depth),
            f"( {body} )", f"{{ {body}{nl}}}", f"({body})",
            f"if {inner}{nl}then {body}{nl}else {other}{nl}fi",
            f"if {inner}{nl}then {body}{nl}elif {self.simple(0)}{nl}then {other}{nl}fi",
            f"for i in 1 {self.argument(depth - 1)}{nl}do {body}{nl}done",
            f"for ((i=0;i<2;i++)){nl}do {body}{nl}done",
            f"while {inner}{nl}do {body}{nl}break{nl}done",
            f"until {inner}{nl}do {body}{nl}break{nl}done",
            f"case {self.argument(depth - 1)} in a|b) {body};; (*) {other};; esac",
            f"case x in x) {body};& y) {other}\nesac",
            f"fn() {{ {body}{nl}}}{nl}fn",
            f"function fn {{ {body}{nl}}}{nl}fn a",
            f"! {inner}", f"time {self.simple(depth - 1)}",
            f"[[ a == a && -n {self.argument(0)} ]] && {inner}",
            f"(( 1 + 1 )) && {inner}",
            f"{inner} <<E\na $({self.simple(0)}) b\nE\n", f"{inner} <<'E'\na $(pf) `pf`\nE\n",
            f"{inner} <<-E\n\tx\n\tE\n",
            f"{inner} <<A <<'B'\n$(pc)\nA\n`pd`\nB\n", f"{inner} <<E && {self.simple(0)}\n`pe` ${{x:-$(pd)}}\nE\n",
            f"{inner} <<< \"{self.pick('a', '$x', '$(pa)')}\"",
            f"a=({self.argument(depth)} {self.argument(0)}); {inner}", f"a[0]={self.argument(0)}; {inner}",
            f"{inner} # {self.pick('pa', 'pb; pc', '$(pd)', chr(39))}\n", f"{body} > /dev/null",
            f"{{ {body}{nl}}} 2>&1",
            f"( {body} ) | {inner}", f"coproc {self.simple(0)}",
        ]  # fmt: skip
        return self.pick(*forms)

    def script(self, depth: int) -> str:
        out = self.statement(depth)
        for _ in range(self.random.randint(0, 2)):
            joint = self.pick("; ", " && ", " || ", "\n", " | ", " & ", "\n\n", ";", "&&", " |& ")
            out += (
                "" if out.endswith("\n") and joint.strip() in {";", "&", "&&", "||", "|", "|&"} else joint
            ) + self.statement(depth - 1)
        return out


@dataclass(frozen=True)
class ToolContext:
    """A folder with the stubs, and a way to run a text in it."""

    folder: Path
    bash: str

    @classmethod
    def make(cls, folder: Path) -> ToolContext:
        programs = folder / "programs"
        programs.mkdir()
        for name in STUBS:
            stub = programs / name
            stub.write_text(f"#!/bin/sh\necho {name} >> {folder}/log\n")
            stub.chmod(0o755)
        (folder / "work").mkdir()
        bash = shutil.which("bash")
        assert bash is not None
        return cls(folder, bash)

    def run(self, text: str) -> set[str] | None:
        """The stubs that were started; None if it took too long."""
        log = self.folder / "log"
        log.write_text("")
        process = subprocess.Popen(
            [self.bash, "--norc", "--noprofile", "-c", text],
            cwd=self.folder / "work",
            env={"PATH": str(self.folder / "programs"), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(TIME_LIMIT)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return set(log.read_text().split())
