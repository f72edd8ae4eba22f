"""Texts that a command hands to a shell in turn: printed anew, read alike by every shell, or asked about."""

from __future__ import annotations

import pytest

from countersign.gate.shell.effects.unwrap import unwrap
from countersign.gate.shell.printing.inner_texts import doubt
from countersign.gate.shell.printing.print_tree import reprint
from countersign.gate.shell.programs.tables import SHELLS, WRAPPERS
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import Simple

from .asked import decide, judge

ANY = [{"mode": "auto"}, {"mode": "auto", "deny": ["Bash(evil:*)"]}, {"bypass": True}, {"allow": ["Bash"]}]
OTHER_SHELLS = sorted(SHELLS.keys() - {"bash", "sh", "dash"})

SAME_WORDS_OTHER_MEANING = [
    "fish -c 'and evil'", "fish -c 'not evil'", "fish -C 'begin evil'", "zsh -c 'noglob evil'",
    "zsh -c 'repeat 2 evil'",
    "csh -c 'repeat 2 evil'", "tcsh -c 'foreach evil'", "nu -c 'do evil'", "pwsh -c 'iex evil'", "rc -c 'ls | evil'",
    "ssh host 'repeat 2 evil'", "tmux new 'noglob evil'", "su -c 'and evil'", "script -c 'nocorrect evil'",
    "flock f -c 'not evil'", "ssh host 'ls | wc'", "tmux new 'ls; wc f'", "watch 'a {b,c}'",
    "awk 'BEGIN{system(\"a <(b)\")}'",
    "sed '1e cat <<< x' f",
    "sh -c 'a <(b)'", "sh -c 'rm {a,b}'", "sh -c 'export A=$x; b'", "dash -c '[[ -n x ]]'", "sh -c 'a &> b'",
    "bash -kc 'a b=c'", "bash -O extglob -c 'a b'", "bash --posix -c 'a b'", "sh -o noglob -c 'a b'",
    "watch \"cat <<'E'\nx\nE\n\"",
    "sh -c 'time CI=a/b ls'", "dash -c 'a; ! time b'", "sh -c 'echo \"$(time A=b/c ls)\"'", "sh -c '(time A=b/c ls)'",
    "sh -c 'pushd sub && ls'", "sh -c 'if a; then popd; fi'", "sh -c 'command pushd sub'", "sh -c 'source ./x'",
    "sh -c 'x=$(pushd sub) make'", "sh -c 'a > \"$(popd)\"'", "watch 'pushd sub'", "watch 'time A=b/c ls'",
    "awk 'BEGIN{system(\"pushd sub; ls\")}'",
]  # fmt: skip


@pytest.mark.parametrize("text", SAME_WORDS_OTHER_MEANING)
def test_a_text_that_its_reader_may_understand_otherwise_is_not_allowed(text: str) -> None:
    for given in ANY:
        assert decide(text, **given) != "allow", given


@pytest.mark.parametrize("shell", OTHER_SHELLS)
def test_a_text_for_another_shell_runs_only_as_a_rule_says_it(shell: str) -> None:
    text = f"{shell} -c 'make all'"
    for given in ANY:
        assert decide(text, **given) != "allow", given
    assert "allow" not in (decide(f"timeout 5 {text}", **given) for given in ANY)
    assert decide(text, [f"Bash({text})"]) == "allow"
    assert judge(text, allow=[f"Bash({text})"]).printed is None


def test_the_reader_of_a_list_of_commands_is_known_or_the_list_asks() -> None:
    """Of all wrappers, with each of their options that take a text."""
    allowed = set[str]()
    for name, row in WRAPPERS.items():
        options = [*row.texts, *(["x " * row.skip] if row.tail == "text" else [])]
        if any(decide(f"{name} {option} 'make a; make b'", mode="auto") == "allow" for option in options):
            allowed.add(name)
    assert allowed == {"watch", "npx", "nodemon", "concurrently", "conc", "hyperfine"}


ALIKE = [
    "watch 'ls -la'", "ssh host 'git status'", "hyperfine 'python a.py' 'python b.py'", "npx -c 'eslint src'",
    "concurrently 'npm run a' 'npm run b'", "watch 'ls | wc -l'", "git -c alias.x='!make a; make b' x",
    "awk 'BEGIN{system(\"make a; make b\")}'", "sed '1e make a' f", "bash -c 'make a | cat'", "sh -ec 'make a b'",
    "bash -lc 'make a'", "timeout 5 bash -o pipefail -c 'make a'", "bash -euo pipefail -c 'make a'",
]  # fmt: skip


@pytest.mark.parametrize("text", ALIKE)
def test_a_text_that_its_reader_understands_as_we_do_is_allowed(text: str) -> None:
    assert decide(text, mode="auto") == "allow"


def test_a_text_that_the_second_parser_reads_otherwise_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    command = read("awk 'BEGIN{system(\"make a; make b\")}'").script.statements[0]
    assert isinstance(command, Simple)
    unwrapped = unwrap(command.words)
    assert doubt("make a; make b", unwrapped) is None
    monkeypatch.setattr("countersign.gate.shell.printing.inner_texts.disagreement", lambda _: "other words")
    assert doubt("make a; make b", unwrapped) == "other words"
    assert decide("watch 'make a; make b'", mode="auto") == "ask"


PRINTED = {
    "find ls -exec bash -c ls \\;": "'find' 'ls' '-exec' 'bash' '-c' ''\\''ls'\\''' ';'",
    "timeout -s c 5 bash -c c": "'timeout' '-s' 'c' '5' 'bash' '-c' ''\\''c'\\'''",
    "bash -c 'a; b'": "'bash' '-c' ''\\''a'\\''; '\\''b'\\'''",
    "watch 'a; b'": "'watch' 'a; b'",
    "echo bash -c a": "'echo' 'bash' '-c' 'a'",
    "zsh -c a": None,
    "zsh a": "'zsh' 'a'",
}


@pytest.mark.parametrize(("text", "printed"), PRINTED.items())
def test_only_the_text_of_a_shell_is_printed_anew(text: str, printed: str | None) -> None:
    found = reprint(text)
    assert (found if isinstance(found, str) else None) == printed
