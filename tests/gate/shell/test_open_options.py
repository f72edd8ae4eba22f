"""Options whose value is only known at run time: it may be empty, so that the option takes the next word, and without
quotes it may bring further words."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide, judge

RULES = ["Bash(evil:*)", "Edit(./kept)"]


@pytest.mark.parametrize(
    "text",
    [
        # Further words become files, options or code.
        "sort -t$(cat f) a.txt", "read -r x < f; sort -t$x a.txt", "shuf -n$(cat f) a.txt", "grep -e$(cat f) a.txt",
        "awk -F$(cat f) '{print}' a.txt", "head --lines=$(cat f) a.txt", "cut -d$(cat f) -f1 a.txt",
        "git log -n$(cat f)", "cat -$x", "fold --width=$x a.txt", "rg -e$x a.txt",
        # So does a wildcard beside a quoted value.
        "grep .*\"$x\"", "rg ./*\"$x\"", "awk -F a*\"$x\" '{print}' b.txt", "sort -t x*\"$x\"", "head -n ./*\"$x\"",
        # An empty value moves the words behind it.
        "awk -F\"$x\" '{print}' 'BEGIN{system(\"evil\")}'", "awk -F* '{print}' 'BEGIN{system(\"evil\")}'",
        "shuf -n\"$x\" -- -okept", "grep -e\"$x\" -- -f.env a.txt", "awk -v\"$1\" '{print}' 'BEGIN{system(\"evil\")}'",
    ],
)  # fmt: skip
def test_it_asks_without_a_rule(text: str) -> None:
    assert decide(text) == "ask"


@pytest.mark.parametrize(
    "text",
    ['env -u"$x" cat evil', "uniq -f\"$x\" 1 a.txt .envrc", "xxd -l\"$x\" 5 a.txt .envrc", 'nice -n"$x" cat evil y'],
)  # fmt: skip
def test_it_asks_or_is_denied_in_a_mode_that_allows_commands(text: str) -> None:
    assert decide(text.replace("cat evil", "1 evil"), deny=RULES, mode="auto") in {"ask", "deny"}


@pytest.mark.parametrize(
    "text",
    [
        "n=5; head -n$n a.txt", "n=5; head -n\"$n\" a.txt", "for n in 1 2; do tail -n$n a.txt; done",
        "head -n $((2 + 3)) a.txt", "grep -A\"$n\" word a.txt", "head --lines=\"$n\" a.txt",
    ],
)  # fmt: skip
def test_a_value_that_changes_nothing_needs_no_rule(text: str) -> None:
    assert decide(text) == "allow"


def test_a_program_that_prints_a_number_adds_no_words() -> None:
    assert decide("make -j$(nproc) all", allow=["Bash(make:*)", "Bash(nproc)"]) == "allow"
    assert decide("make -j$(nproc --help) all", allow=["Bash(make:*)", "Bash(nproc:*)"]) == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "rustc --print cfg=.envrc a.rs", "gcc -c -fopt-info-vec=.envrc a.c", "webpack --cache-cache-directory .vscode",
        "java -XX:LogFile:=.envrc A", "7z u a.7z -u- '-u!.envrc' f", "clang-tidy -export-fixes=.envrc a.c",
        "rustc --emit=dep-info=.envrc,metadata a.rs", "java -Xlog:gc:.envrc:time A",
    ],
)  # fmt: skip
def test_an_option_without_a_record_that_names_a_protected_place_asks(text: str) -> None:
    program = text.split(maxsplit=1)[0]
    assert decide(text, allow=[f"Bash({program}:*)"]) == "ask"
    assert decide(text, mode="auto") == "ask"
    assert decide(text.replace(".envrc", "kept").replace(".vscode", "kept"), deny=RULES, mode="auto") == "ask"


@pytest.mark.parametrize(
    "text", ["tar --exclude .git -cf a.tar src", "eslint --ignore-pattern .vscode src", "tree -I .git"]
)
def test_an_option_that_selects_files_does_not(text: str) -> None:
    assert decide(text, allow=[f"Bash({text.split(maxsplit=1)[0]}:*)"]) == "allow"


def test_a_folder_is_left_by_no_wildcard_of_a_rule() -> None:
    rules = ["Bash(./scripts/*)"]
    assert decide("./scripts/ok.sh a", allow=rules) == "allow"
    assert decide("./scripts/../../evil", allow=rules) == "ask"


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    """A workspace with links to folders, as a clone can bring them, in a home with keys."""
    made = tmp_path / "home/ws"
    for folder in ("a/b", "sub", "q", "deep/dd", "o", "held"):
        (made / folder).mkdir(parents=True)
    (made / "a/b/up").symlink_to("../../sub")
    (made / "o/m").symlink_to("../deep/dd")
    return str(made)


@pytest.mark.parametrize(
    "text",
    [
        "cd a/b/up && cd ../q && cat ../../.aws/credentials", "cd a/b/up/../q && cat ../../.aws/credentials",
        "pushd a/b/up && cd ../q && cat ../../x", "bash -c 'cd a/b/up && cd ../q && cat ../../x'",
        "cd a/b/up; cd -P ..; cat ../.aws/credentials", "cd a/b/up; cd -P ../q; cat ../../x",
    ],
)  # fmt: skip
def test_a_way_that_a_link_turns_elsewhere_asks(text: str, workspace: str) -> None:
    assert decide(text, workspace=workspace, home=str(Path(workspace).parent)) == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "cd a/b/up && cd ../q && echo x > ../held/k", "env -C a/b/up/.. touch ../held/k",
        "env -C o/m bash -c 'cd .. && echo y > k'", "cd o/m && env -i bash -c 'cd .. && echo z > k'",
    ],
)  # fmt: skip
def test_so_does_a_write_that_a_rule_could_deny(text: str, workspace: str) -> None:
    home = str(Path(workspace).parent)
    assert decide(text, deny=["Edit(deep/k)"], mode="auto", workspace=workspace, home=home) == "ask"
    assert decide(text, deny=["Edit(deep/k)", "Edit(held/**)"], bypass=True, workspace=workspace, home=home) == "ask"


def test_a_way_without_links_is_followed(workspace: str) -> None:
    for text in ("cd a/b && cd .. && ls", "cd -P a && ls ..", "cd a && bash -c 'cd b && ls ..'"):
        assert decide(text, workspace=workspace) == "allow", text
    assert decide("env -C a/b touch ../x", mode="auto", workspace=workspace) == "allow"


def test_only_moves_are_guarded(workspace: str) -> None:
    printed = judge("cd sub; grep sub ../a.txt; echo done", workspace=workspace).printed
    assert printed is not None
    assert printed.count("exit") == 1
