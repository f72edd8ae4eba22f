"""The engine beside bash itself: whatever a text really starts must be among what the engine found when it allowed it.

Texts are made up from names of stub programs, and those that the engine allows run in a sandbox (``sandboxed_bash.py``)
where no other program can be found. Two names have no allow rule and are never to be started.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from countersign.advice.explain import explain, policy_of
from countersign.gate.decision import Decision
from countersign.gate.shell.judge import SyntaxChecker
from countersign.gate.shell.syntax.bash_check import BashSyntax

from .evaluate import look_inside
from .generate import CommandMaker, Pools
from .sandbox import run_in_sandbox
from .trees import HOLE, Trees, Word, read_word

FORBIDDEN = ("omega", "shutdown")
GOOD = ("alpha", "beta", "gamma", "nope", "echo", "printf", "cat", "ls")
STARTERS = ("timeout", "nohup", "nice", "stdbuf", "xargs", "env", "setsid", "find")
TRIES = 30
TIME_LIMIT = 600.0
"""Seconds for one heap of texts."""

POOLS = Pools(
    programs=(
        ("alpha", "one"), ("alpha",), ("alpha", "two"), ("beta",), ("beta", "one", "two"), ("gamma", "x"), ("nope",),
        ("echo", "hi"), ("printf", "x"), ("cat", "a.txt"), ("ls", "src"), ("alpha", "-x"), ("omega", "one"), ("f",),
    ),
    targets=("/dev/null", "out.txt", "build/x", "a.log", "/dev/stderr", "src/a.py"),
    sources=("a.txt", "src/x", "/dev/null"),
    closed=(("env",), ("env", "A=1"), ("sudo",), ("exec",), ("builtin",)),
    runners=(("npx",), ("python", "-m")),
    parts=(
        "[[ -n ¤ ]] && §", "[[ ¤ == ¤ ]]", "[[ ¤ =~ a ]]", "[[ -f ¤ || -d ¤ ]]", "[ -n ¤ ]", "(( 1 + 1 )) && §",
        "(( $(§) ))", "(( x[$(§)] ))", "for ((i=0;i<2;i++)); do §; done", "for i in ¤ ¤; do §; break; done",
        "while §; do §; break; done", "case ¤ in ¤) §;& *) §;; esac", "case x in $(§)) §;; esac",
        "case x in x) §;;& *) §\nesac", "select i in one; do §; break; done", "x=¤", "x=(¤ ¤)", "x[$(§)]=1",
        "x[0]=¤; §", "local x=¤", "y='a[$(omega)]'; (( y ))", "y='a[$(omega)]'; [[ y -eq 1 ]]",
        "y='$(omega)'; echo ${y@P}", "[[ -v 'a[$(omega)]' ]]", "test -v 'a[$(omega)]'", "printf -v 'a[$(omega)]' x",
        "read 'a[$(omega)]' <<< 1", "unset 'a[$(omega)]'", "let 'a[$(omega)]=1'", "declare -i 'y=a[$(omega)]'",
        "trap 'omega' EXIT", "eval '§'", "eval omega", "PS4='$(omega)'; set -x; §", "alias alpha=omega; alpha",
        "alpha() { omega; }; alpha", "f() { §; }; f ¤", "function f { §; }; f", "f() ( § ); f",
        "f() { §; } > out.txt; f", "coproc §", "coproc { §; }", "time §", "time -p §", "! §", "{ §; } 2>&1 | §",
        "§ <<< ¤", "cat <<E\n¤ $(§) `beta`\nE\n§", "cat <<'E'\n$(omega) `omega`\nE\n§", "cat <<-E\n\t$(§)\n\tE\n§",
        "cat <<A <<'B'\n$(beta)\nA\n$(omega)\nB\n§", "cat <<\"E\" && §\n$(omega)\nE\n",
        "alpha <<E | beta\n${x:-$(§)}\nE\n", "§ # omega $(omega)\n§", "§ > >(§)", "§ < <(§)", "alpha <(§) >(§)",
        "exec 3>out.txt; §", "cd src && §", "read -r x < a.txt; §", "set -e; §", "$'\\x6f'mega", "om\\\nega",
        "(§) & §; wait", "§ |& §", "if §; then §; elif §; then §; else §; fi", "until §; do §; break; done",
        "BASH_ENV=x §", "CI=1 §", "CI=$(§) alpha", "IFS=x; §", "x=omega; $x", "x=omega; \"${x}\" one", "${x:-omega}",
        "`echo omega`", "command omega", "command -v omega", "builtin echo x", "source a.txt", ". ./a.txt",
        "alpha 2>&1 >/dev/null <&-", "alpha &>out.txt", "&>out.txt alpha", ">out.txt alpha", "alpha {a,b}{c,$(§)}",
        "alpha $((1+$(§)))", "alpha \"$((x[$(§)]))\"", "alpha 'a\nb' \"$(§)\n\" c", "alpha \\\n  one",
        "xargs omega < a.txt", "xargs -I{} alpha {} < a.txt", "xargs alpha one",
    ),
    words=(
        "\"${x:-$(§)}\"", "${x:+$(§)}", "${x:-`beta`}", "${x:-<(§)}", "\"${x/a/$(§)}\"", "${x#$(§)}",
        "${x:$(( 1 + $(§) ))}", "${x[$(§)]}", "$\"a $(§)\"", "\"a `beta` b\"", "a$(§)b", "$(§)$(§)", "<(§)", ">(§)",
        "$((1+2))", "$(( $(§) ))", "\"$(cat <<'Z'\n$(omega)\nZ\n)\"", "\"$(cat <<Z\n$(§)\nZ\n)\"", "$(< a.txt)", "~",
        "~/x", "'$(omega)'", "\\$(echo)", "\"\\$(omega)\"", "'a'\\''$(omega)'", "#x", "a#b", "{a,$(§)}", "src/{a,b}",
        "{a,b}",
        "$'$(omega)'", "$'a\\'b'", "\"'$(§)'\"", "'\"$(omega)\"'", "!x", "$[1+1]", "$[ $(§) ]", "\"${x@Q}\"", "${!x}",
        "${#x}", "\"$(§; §)\"", "\"$( (§) )\"", "$( ( § ) )", "``", "$()", "é\u00a0",
    ),
)  # fmt: skip
"""Every construct that can hold a command, and every place where a text only looks as if it held one."""

BUILTINS = frozenset(
    [
        "eval",
        "source",
        ".",
        "exec",
        "export",
        "declare",
        "typeset",
        "readonly",
        "trap",
        "alias",
        "unset",
        "let",
        "coproc",
    ]
)
"""Builtins that the engine must have found when bash's trace tells of them."""


_BASH = BashSyntax()


@dataclass(frozen=True)
class Escape:
    """Something was started that the engine had not found when it allowed the text."""

    text: str
    started: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text!r} was allowed and started {list(self.started)}"


def escapes(seed: int, numbers: range) -> Iterator[Escape]:
    """Runs so many texts that the engine allows, and yields what it had not found in them."""
    allowed = [allowed_text(seed, number) for number in numbers]
    trees = Trees()
    resources = [view.resource for _, decision in allowed for view in decision.effects if view.kind == "command"]
    trees.load(text for resource in resources for text in _readable(resource))
    for (text, decision), told in zip(allowed, run_texts([text for text, _ in allowed]), strict=True):
        found = [
            pattern
            for view in decision.effects
            if view.kind == "command"
            for pattern in _patterns(view.resource, trees)
        ]
        for words in told["started"]:
            if words[0] in FORBIDDEN or not any(_fits(words, pattern) for pattern in found):
                yield Escape(text, tuple(words))
        named = {word.text for pattern in found for word in pattern[:1]} | _declared(decision)
        for line in told["traced"].split("\2")[1:]:
            name = line.split(None, 1)[0] if line.split() else ""
            if name in BUILTINS and name not in named:
                yield Escape(text, (name,))


def allowed_text(seed: int, number: int) -> tuple[str, Decision]:
    """The text of that number: the first of a few made ones that the engine allows."""
    for attempt in range(TRIES):
        text = CommandMaker(Random(f"{seed}/{number}/{attempt}"), POOLS).text()
        if judge(text, _no_word_against).verdict == "allow" and (decision := judge(text)).verdict == "allow":
            return text, decision
    return "alpha", judge("alpha")


def judge(text: str, check_syntax: SyntaxChecker = _BASH) -> Decision:
    policy, mode = _policy()
    return explain({"tool": "bash", "args": {"command": text}}, policy, mode, check_syntax=check_syntax)


def run_texts(texts: Sequence[str]) -> list[dict[str, Any]]:
    """What each text started, told by ``sandboxed_bash.py`` in a sandbox without network and with nothing but stubs to
    start."""
    order = {
        "bash": shutil.which("bash"),
        "stubs": [*GOOD, *FORBIDDEN, "sudo", "npx", "python", "time"],
        "starters": [name for name in STARTERS if Path("/usr/bin", name).exists()],
        "no_builtins": ["echo", "printf", "pwd", "type", "kill"],
    }
    script = Path(__file__).with_name("sandboxed_bash.py")
    return run_in_sandbox(script, (order, *texts), results=len(texts), time_limit=TIME_LIMIT)


# --- reading what the engine found -----------------------------------------------------------------------------------


def _no_word_against(text: str) -> str | None:
    return None


@lru_cache(1)
def _policy():
    rules = {"allow": [*(f"Bash({name}:*)" for name in GOOD), "Edit(./**)"], "ask": [], "deny": []}
    return policy_of({"rules": rules, "workspace": "/nowhere/ws", "home": "/nowhere/home", "builtinReads": False})


def _readable(resource: str) -> tuple[str, ...]:
    """A part as the engine names it, as a text of its own: the bodies of here-documents stand elsewhere. The last is
    the part itself, where what looks like one is quoted; the two between are for shfmt, which rejects some of what may
    stand in backquotes and behind `${x:-`. What stands there does not count anyway."""
    resource = re.sub(r"\btime(?: -p)? !", "!", resource)  # shfmt takes this at the beginning of a text only
    text = re.sub(r"\d*(?<![<'\"])<<(?!<)-?\s*(?:'[^']*'|\"[^\"]*\"|\\?\w+)", " ", resource)
    unquoted = re.sub("`[^`]*`", "$x", text)
    return text, unquoted, re.sub(r"\$\{\w+:?[-=+?][<>]\(.*\)\}", "$x", unquoted, flags=re.DOTALL), resource


def _patterns(resource: str, trees: Trees) -> Iterator[tuple[Word, ...]]:
    """The command that stands at the top of a part, and what it runs in turn. What stands inside its words is not
    counted as found: the engine must name that by itself."""
    *readable, itself = (trees[text] for text in _readable(resource))
    read = next((tree for tree in readable if tree is not None), None)
    for statement in (*(read or [])[:1], *(itself or [])[:1]):
        command = statement.get("Cmd", {})
        while command.get("Type") == "TimeClause":
            command = command.get("Stmt", {}).get("Cmd", {})
        words = tuple(read_word(word) for word in command.get("Args", []) if "Parts" in word)
        while words:
            yield words
            inner = look_inside(words)
            words = inner.words if inner else ()


def _fits(words: Sequence[str], pattern: Sequence[Word]) -> bool:
    gap = "\1"
    text = gap.join(word.text for word in pattern).replace("0" + HOLE, HOLE).replace(HOLE + "~", HOLE)
    regex = re.escape(text).replace(gap + HOLE, f"(?:{gap}.*)?").replace(HOLE, ".*")
    return re.fullmatch(regex, gap.join(words), re.S) is not None


def _declared(decision: Decision) -> set[str]:
    return {
        view.resource.split(None, 1)[0] for view in decision.effects if view.kind == "command" and view.resource.split()
    }
