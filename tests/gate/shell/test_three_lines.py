"""Plain Bash, printing anew and the second parser are independent lines: each is measured by itself.

The texts are the known ways to make our parser read a text otherwise than bash does; each of them starts ``evil`` when
bash runs it as written. Set ``COUNTERSIGN_SEED`` for another slice of the evasion rows.
"""

from __future__ import annotations

import os

import pytest

from countersign.gate.shell import judge
from countersign.gate.shell.printing import second_opinion
from countersign.gate.shell.printing.print_tree import reprint
from countersign.gate.shell.printing.second_opinion import disagreement
from countersign.gate.shell.syntax.parser import read
from tests.reference.sandbox import sandbox

from . import lines
from .asked import decide
from .examples import evasions
from .replay import names_in, run_texts

SEED = int(os.environ.get("COUNTERSIGN_SEED", "1"))
NO_SANDBOX = sandbox()
EVASIONS = [row for row in evasions() if "command" in row]
MODES = ("ask", "default", "acceptEdits", "auto", "plan", "dontAsk")

ROOTS = {
    "a bare =~ opens a regular expression": ("[[ =~ ]] && evil ]]", "[[ =~ ]] || evil ]]", "[[ =~ ]]; evil; : ]]"),
    "comments inside [[ ]]": (
        "[[ a == b #'\n]] || evil; [[ x == y #'\n]]",
        '[[ a #"\n]] && evil; [[ b #"\n]]',
        "[[ -n a && #'\n b ]] && evil; [[ -n a && #'\n b ]]",
    ),
    "lines joined before << is formed": (
        'cat <\\\n<"EOF"\nevil\nEOF\n',
        "cat <\\\n<E\n$(evil)\nE\n",
        "cat <<\\\n'E'\na\nE\nevil\nE\n",
        "cat <<E\\\nF\na\nE\nF\nevil\nEF\n",
    ),
    "escaped quotes in backquotes in heredocs": (
        'cat <<E\n`echo \\"$(evil)\\"`\nE\n',
        'echo "${x:-`echo \\"; evil; \\"`}"',
        "cat <<E\n${x:-`echo \\\"'$(evil)'\\\"`}\nE\n",
    ),
    "array keys are arithmetic": (
        "x='b[$'; x+='(evil)]'; a=([x]=1)",
        "x='b[$(evil)]'; a=([x]=1)",
        "x='b[$(evil)]'; a[x]=1",
        "x='b[$(evil)]'; a=([0+x]=1)",
    ),
    "braces expand before parameters": (
        "x='$(evil)'; echo {$,}{x@P}",
        "x='$(evil)'; echo ${,}{x@P}",
        "echo {$,}(evil)",
    ),
}
TEXTS = [(root, text) for root, texts in ROOTS.items() for text in texts]


@pytest.fixture
def recognizer_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch Plain Bash off, so that everything is decided as if the text were inside it."""
    monkeypatch.setattr(judge, "outside", lambda _: None)
    monkeypatch.setattr(judge, "_outside", lambda _: None)


@pytest.mark.parametrize(("root", "text"), TEXTS)
def test_a_root_is_allowed_in_no_mode(root: str, text: str) -> None:
    for mode in MODES:
        assert decide(text, ["Bash(cat:*)", "Bash(echo:*)"], mode=mode) != "allow", mode


@pytest.mark.skipif(NO_SANDBOX is not None, reason=NO_SANDBOX or "")
@pytest.mark.usefixtures("recognizer_off")
def test_printing_anew_alone_runs_nothing_of_the_roots() -> None:
    printed = [(text, found) for _, text in TEXTS if isinstance(found := reprint(text), str)]
    told = run_texts([found for _, found in printed], ["evil", "cat"])
    started = [text for (text, _), each in zip(printed, told, strict=True) if ["evil", "<"] in each["started"]]
    assert started == [text for text, _ in printed if "evil" in names_in(text)]
    for text in started:  # these are judged as running it
        assert decide(text, mode="default") != "allow", text


@pytest.mark.skipif(NO_SANDBOX is not None, reason=NO_SANDBOX or "")
@pytest.mark.usefixtures("recognizer_off")
def test_what_is_printed_of_the_evasions_starts_nothing_that_was_not_judged() -> None:
    texts = list(dict.fromkeys(row["command"] for row in EVASIONS))[SEED % 11 :: 11]
    printed = [
        (text, found)
        for text in texts
        if isinstance(found := reprint(text), str) and decide(text, mode="auto") == "allow"
    ]
    assert len(printed) > len(texts) / 20
    stubs = {"evil", *(name for text, _ in printed for name in names_in(text))}
    for (text, found), told in zip(printed, run_texts([found for _, found in printed], sorted(stubs)), strict=True):
        started = {words[0] for words in told["started"]} - names_in(text)
        # What a script runs that the text itself writes is judged with it, and is no name in the text.
        assert not started or decide(text, deny=["Bash(evil:*)"], mode="auto") == "deny", (text, found)
        assert started <= {"evil"}, (text, found)


MISREAD = {
    "[[ =~ ]] && evil ]]": "[[ -n 'a && evil' ]]",
    "[[ =~ ]] || evil ]]": "[[ -n 'a || evil' ]]",
    "[[ =~ ]]; evil; : ]]": "[[ -n 'a; evil; :' ]]",
    "[[ a == b #'\n]] || evil; [[ x == y #'\n]]": "[[ a == b#'\n]] || evil; [[ x == y #' ]]",
    '[[ a #"\n]] && evil; [[ b #"\n]]': '[[ -n a#"\n]] && evil; [[ b #" ]]',
    "[[ -n a && #'\n b ]] && evil; [[ -n a && #'\n b ]]": "[[ -n a && -n #'\n b ]] && evil; [[ -n a && #'b ]]",
    'cat <\\\n<"EOF"\nevil\nEOF\n': 'cat <<"EOF"\nevil\nEOF\n',
    "cat <\\\n<E\n$(evil)\nE\n": "cat <<'E'\n$(evil)\nE\n",
    "cat <<\\\n'E'\na\nE\nevil\nE\n": "cat <<'E'\na\n\\E\nevil\nE\n",
    "cat <<E\\\nF\na\nE\nF\nevil\nEF\n": "cat <<'EF'\na\nE\nF\nevil\nEF\n",
    'cat <<E\n`echo \\"$(evil)\\"`\nE\n': "cat <<'E'\n`echo \\\"$(evil)\\\"`\nE\n",
    'echo "${x:-`echo \\"; evil; \\"`}"': "echo '${x:-; evil; }'",
    "cat <<E\n${x:-`echo \\\"'$(evil)'\\\"`}\nE\n": "cat <<'E'\n${x:-`echo \\\"'$(evil)'\\\"`}\nE\n",
    "x='b[$'; x+='(evil)]'; a=([x]=1)": "x='b[$'; x+='(evil)]'; a=1",
    "x='b[$(evil)]'; a=([x]=1)": "x='b[$(evil)]'; a=1",
    "x='b[$(evil)]'; a[x]=1": "x='b[$(evil)]'; a=1",
    "x='b[$(evil)]'; a=([0+x]=1)": "x='b[$(evil)]'; a=1",
    "x='$(evil)'; echo {$,}{x@P}": "x='$(evil)'; echo '{$,}{x@P}'",
    "x='$(evil)'; echo ${,}{x@P}": "x='$(evil)'; echo '${,}{x@P}'",
    "echo {$,}(evil)": "echo '{$,}(evil)'",
}
"""What a parser that is taken in by each text would read: the same as in the harmless text beside it."""


def test_the_second_parser_does_not_agree_with_a_parser_that_is_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MISREAD.keys() == {text for _, text in TEXTS}
    agreed = set[str]()
    for root, text in TEXTS:
        reading = read(MISREAD[text])
        monkeypatch.setattr(second_opinion, "read", lambda _, reading=reading: reading)
        if disagreement(text) is None:
            agreed.add(root)
    # A here-document's body is text to the second parser, quoted or not.
    assert agreed <= {"escaped quotes in backquotes in heredocs"}


@pytest.mark.parametrize("text", [text for _, text in TEXTS])
def test_the_second_parser_does_not_agree_with_our_own_reading_of_a_root(text: str) -> None:
    assert disagreement(text) is not None


def test_no_evasion_is_allowed_without_the_printer_or_the_second_parser_and_few_without_the_recognizer() -> None:
    """A sample; ``make soak`` measures all rows."""
    for problem in lines.problems(lines.EVASIONS[SEED % 61 :: 61]):
        pytest.fail(problem)


AGREED = (
    "ls -la src | grep -v 'a b' > out 2>&1", 'git commit -m "fix: $x and ${y}" && git push',
    "for f in *.py {a,b}.txt; do cat \"$f\"; done", "if [ -f \"$x\" ]; then a; else b; fi",
    "[[ -n $x && a == b* ]] || c",
    "x=1 y=$z cmd a=b; export A=$x", "cat <<'E'\na $b\nE", "case $x in a|*.b) c;; *) d;; esac",
    "a <(b c) $((1 + 2)) '{}'",
    "while read -r a b; do echo \"$b $a\"; done < f", "echo ${x:-a b} \"$(git log -1)\" e\\ f",
    "( a; b ) & ! c", "a # c\nb",
)  # fmt: skip


@pytest.mark.parametrize("text", AGREED)
def test_the_second_parser_agrees_about_everyday_texts(text: str) -> None:
    assert disagreement(text) is None


def test_without_the_second_parser_nothing_is_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "_parser", lambda: None)
    assert disagreement("ls") == "the second parser is not installed"
