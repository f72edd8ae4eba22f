"""What is known of a word counts, whatever the rest of it is: ``git -c core.editor="evil $x" commit`` runs `evil`."""

from __future__ import annotations

import pytest

from .asked import decide

RUNS = [
    "git -c core.editor={} commit", "git rebase -x {} HEAD~1", "tar cf a -I {} b", "rsync -e {} a b",
    "GIT_SSH_COMMAND={} git fetch", "env PAGER={} git log", "make CC=gcc SHELL={}", "ssh -o ProxyCommand={} h",
    "xargs -I@ sh -c {}", "hg bisect -c {}", "go test -exec {}", "EDITOR={} crontab -e", "export PAGER={}; git log",
    "echo {} | sh", "ssh h {} < a", "watch {}", "timeout 5 bash -c {}", "docker exec c sh -c {}", "fzf --preview {}",
    "ssh h {}",
]  # fmt: skip
UNKNOWN = [
    '"evil $x"',
    '"evil $(date)"',
    "\"evil \"'a'*",
    '"evil ${x:-a}"',
    '"evil $1 b"',
    '"evil `ls` $x"',
    '"evil "$x',
]


@pytest.mark.parametrize("carrier", RUNS)
@pytest.mark.parametrize("how", [{"mode": "auto"}, {"bypass": True}, {"allow": ["Bash"]}])
def test_the_known_beginning_of_a_command_is_seen(carrier: str, how: dict[str, object]) -> None:
    for text in UNKNOWN:
        assert decide(carrier.format(text), deny=["Bash(evil:*)"], **how) != "allow", text


HELD = [
    '"$(pwd)/held/a"',
    '"$PWD/held/a"',
    '"$(pwd -P)"/held/a',
    '"${PWD}/held/$x"',
    '"$x/held/a"',
    '"$(git rev-parse --show-toplevel)/held/a"',
]


@pytest.mark.parametrize("path", HELD)
@pytest.mark.parametrize("rule", ["Read(held/**)", "Edit(held/**)"])
def test_the_known_end_of_a_path_is_seen(path: str, rule: str) -> None:
    reads = ["perl -ne print {}", "openssl base64 -in {}", "ffmpeg -i {} x.mp4", "jar cf x.jar {}", "convert {} x.png"]
    writes = ["strip {}", "ffmpeg -i a.mp4 {}", "convert a.png {}", "prog {}"]
    for command in reads if rule.startswith("Read") else writes:
        assert decide(command.format(path), deny=[rule], mode="auto") != "allow", command
        assert decide(command.format(path.replace("held", "open")), deny=[rule], mode="auto") == "allow", command


def test_a_folder_that_is_not_known_is_no_reason_to_deny() -> None:
    for command in ("cat", "perl -ne print", "rm", "cp a"):
        for deny in (["Read(held/**)"], ["Edit(held/**)"]):
            assert decide(f'{command} "$x/held/a"', deny=deny, mode="auto") != "deny"


@pytest.mark.parametrize(
    "text",
    [
        'git commit -m "fix $x"', 'git log --author="$x"', 'docker run -e "A=$x" img', 'curl "https://api.example/$x"',
        'npm run build -- --env="$x"', 'make "VERSION=$v"', 'psql -c "select $n"', 'kill "$pid"',
        'sed -n "${a},${b}p" f', 'awk "NR==$n" f',
        'gh pr create --title "$t" --body "$(cat <<E\nrm x\nE\n)"',
    ],
)  # fmt: skip
def test_ordinary_words_ask_nothing(text: str) -> None:
    assert decide(text, deny=["Bash(evil:*)", "Bash(rm:*)"], mode="auto") == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "for x in aa ev; do for y in il zz; do EDITOR=$x$y git commit; done; done",
        'for x in aa ev; do for y in il zz; do git -c core.editor="$x$y $z" commit; done; done',
        "for x in MANY evil; do EDITOR=$x git commit; done",
        'for x in MANY evil; do git -c core.editor="$x $y" commit; done',
        'for x in MANY evil; do echo "!$x $y" | ed; done',
        "{ ECHOES; echo '!evil'; } | ed",
        'a=ev; b="$a$c"; d="${b}il"; git -c core.editor="$d $x" commit',
    ],
)
def test_none_of_many_values_is_left_out(text: str) -> None:
    text = text.replace("MANY", " ".join(f"a{number}" for number in range(40)))
    text = text.replace("ECHOES", "; ".join(f"echo a{number}" for number in range(120)))
    assert decide(text, deny=["Bash(evil:*)"], mode="auto") == "deny"


def test_more_values_than_are_judged_ask() -> None:
    values = " ".join(f"a{number}" for number in range(15))
    text = f"for x in {values}; do for y in {values}; do EDITOR=$x$y git commit; done; done"
    assert decide(text, deny=["Bash(evil:*)"], mode="auto") == "ask"
