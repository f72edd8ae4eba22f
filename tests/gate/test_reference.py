"""The engine beside a second reading of docs/gate.md, and beside bash itself; ``make soak`` counts both for longer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.reference.compare import agree, differences
from tests.reference.evaluate import Question, evaluate
from tests.reference.sandbox import sandbox
from tests.reference.traced import escapes, run_texts
from tests.reference.trees import Trees

SEED = 1
PAIRS, TEXTS = 1_000, 2_000

ANSWERS = [
    # command, lists, mode, what docs/gate.md says
    ("alpha", {}, "default", "ask"),
    ("alpha one", {"allow": ("Bash(alpha:*)",)}, "default", "allow"),
    ("alphabet", {"allow": ("Bash(alpha:*)",)}, "default", "ask"),
    ("alpha; beta", {"allow": ("Bash(alpha:*)",)}, "default", "ask"),
    ("alpha | beta", {"allow": ("Bash(alpha)", "Bash(beta)")}, "default", "allow"),
    ("alpha $(beta)", {"allow": ("Bash(alpha:*)",)}, "default", "ask"),
    ("alpha <<E\n$(beta)\nE", {"allow": ("Bash(alpha:*)",)}, "default", "ask"),
    ("alpha <<'E'\n$(beta)\nE", {"allow": ("Bash(alpha:*)",)}, "default", "allow"),
    ("[[ -n <(beta) ]]", {}, "default", "ask"),
    ("al'ph'a $'\\x6fne'", {"allow": ("Bash(alpha one)",)}, "default", "allow"),
    ("$x one", {"allow": ("Bash(alpha:*)",)}, "auto", "ask"),
    ("sudo -u root sh -c 'echo a; alpha'", {"deny": ("Bash(alpha:*)",)}, "default", "deny"),
    ("/usr/bin/alpha", {"deny": ("Bash(alpha)",)}, "default", "deny"),
    ("./alpha", {"allow": ("Bash(alpha)",)}, "default", "ask"),
    ("timeout 5 nice -n 3 alpha", {"allow": ("Bash(alpha)",)}, "default", "allow"),
    ("timeout 5 alpha", {"allow": ("Bash(timeout:*)",)}, "default", "ask"),
    ("npx alpha one", {"allow": ("Bash(npx:*)",)}, "default", "ask"),
    ("npx alpha one", {"allow": ("Bash(npx alpha:*)",)}, "default", "allow"),
    ("sudo alpha", {"allow": ("Bash(alpha)",)}, "default", "ask"),
    ("CI=1 alpha", {"allow": ("Bash(alpha)",)}, "default", "allow"),
    ("CI=$x alpha", {"allow": ("Bash(alpha)",)}, "default", "ask"),
    ("FOO=1 alpha", {"allow": ("Bash(alpha)",)}, "default", "ask"),
    ("FOO=1 alpha", {"allow": ("Bash(FOO=1 alpha)",)}, "default", "allow"),
    ("FOO=1 alpha", {"deny": ("Bash(alpha)",)}, "default", "deny"),
    ("alpha > out.txt", {"allow": ("Bash(alpha)",)}, "default", "ask"),
    ("alpha > out.txt", {"allow": ("Bash(alpha)", "Edit(out.txt)")}, "default", "allow"),
    ("alpha > .git/config", {"allow": ("Bash(alpha)", "Edit")}, "auto", "ask"),
    ("alpha > ../x", {"allow": ("Bash(alpha)", "Edit")}, "auto", "ask"),
    ("alpha 2>&1 > /dev/null", {"allow": ("Bash(alpha)",)}, "default", "allow"),
    ("cat $x", {"allow": ("Bash(cat:*)",)}, "default", "ask"),
    ("timeout 5 cat $x", {"allow": ("Bash(cat:*)",)}, "auto", "ask"),
    ("xargs cat", {"allow": ("Bash(cat:*)",)}, "auto", "ask"),
    ("cat *.py <(alpha)", {"allow": ("Bash(cat:*)", "Bash(alpha)")}, "default", "allow"),
    ("alpha < private/k", {"allow": ("Bash(alpha)",), "deny": ("Read(private/**)",)}, "default", "deny"),
    ("cd src && true && [ -f a ]", {}, "default", "allow"),
    ("cd ..", {}, "default", "ask"),
    ("f() { alpha; }; f", {"allow": ("Bash(alpha)", "Bash(f)")}, "default", "ask"),
    ("alpha", {"allow": ("Bash(alpha)",), "ask": ("Bash(alpha)",)}, "auto", "ask"),
    ("alpha", {"allow": ("Bash(alpha)",)}, "plan", "deny"),
    ("true", {}, "plan", "allow"),
    ("alpha", {}, "auto", "allow"),
    ("alpha", {}, "dontAsk", "deny"),
    ("true", {}, "ask", "allow"),
    ("alpha 'x", {"allow": ("Bash(alpha:*)",)}, "default", "unsure"),
    ("alpha $x", {"allow": ("Bash(alpha:*)",), "deny": ("Bash(alpha one)",)}, "default", "unsure"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "rules", "mode", "expected"), ANSWERS)
def test_the_reference_reads_the_rules_by_itself(command: str, rules: dict, mode: str, expected: str) -> None:
    assert evaluate([Question(command, mode=mode, **rules)], Trees()) == [expected]


@pytest.mark.parametrize(
    ("engine", "reference", "expected"),
    [("allow", "allow", True), ("allow", "ask", False), ("allow", "unsure", False), ("ask", "unsure", True),
     ("ask", "deny", False), ("deny", "unsure", True), ("deny", "ask", False)],
)  # fmt: skip
def test_only_a_reference_that_is_unsure_bears_another_word(engine: str, reference: str, expected: bool) -> None:
    assert agree(engine, reference) is expected


def test_engine_and_reference_agree_about_made_up_commands_and_rules() -> None:
    assert [str(difference) for difference in differences(SEED, range(PAIRS))] == []


NO_SANDBOX = sandbox()
sandboxed = pytest.mark.skipif(NO_SANDBOX is not None, reason=str(NO_SANDBOX))


@sandboxed
def test_the_sandbox_tells_all_that_a_text_starts() -> None:
    text = 'alpha "a b" | beta $(gamma) & timeout 5 cat <(nope); /usr/bin/touch x; eval "omega 1"'
    [told] = run_texts([text])
    assert sorted(told["started"]) == [
        ["alpha", "a b"], ["beta", "one"], ["cat", "/dev/fd/63"], ["gamma"], ["nope"], ["omega", "1"],
    ]  # fmt: skip
    assert "\2eval 'omega 1'" in told["traced"]
    assert not told["late"]


@sandboxed
def test_bash_starts_nothing_that_the_engine_had_not_found_when_it_allowed_a_text() -> None:
    halves = (range(TEXTS // 2), range(TEXTS // 2, TEXTS))
    with ThreadPoolExecutor(len(halves)) as pool:
        found = [escape for half in pool.map(lambda numbers: list(escapes(SEED, numbers)), halves) for escape in half]
    assert [str(escape) for escape in found] == []
