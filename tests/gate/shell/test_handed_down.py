"""What makes a program ask is not lost in its subcommands, under other names, or for programs that are like it."""

from __future__ import annotations

import pytest

from countersign.gate.shell.programs.tables import FACETS, TABLES

from .asked import decide
from .test_paths_outside import PROGRAMS

IN_FRONT = {key[0] for key in FACETS["options_in_front"]}
OTHERWISE = frozenset(
    {"go list -u", "go fmt -asmflags", "go fmt -fix", "go fmt -ldflags", "go fmt -pkgdir"}
    | {f"{name} plan -destroy" for name in ("terraform", "tofu", "terragrunt")}
    | {f"{name} --rules" for name in ("dprint fmt", "sqlfluff fix", "sqlfluff format", "taplo fmt", "taplo format")}
)
"""Options that mean something else for this subcommand, or that it refuses."""


def test_no_subcommand_is_allowed_what_the_program_is_asked_about() -> None:
    found: list[str] = []
    for key, row in TABLES.items():
        above = TABLES.get(key[:1])
        if len(key) < 2 or above is None or row.closed or key[0] in IN_FRONT:
            continue
        rule = [f"Bash({key[0]}:*)"]
        for option in above.escapes.keys() - row.reads - row.safe:
            text = f"{option}=./evil" if option[:2] == "--" else f"{option} ./evil"
            whole, plain = f"{' '.join(key)} a {text}", f"{key[0]} zzz a {text}"
            if decide(whole, allow=rule) == "allow" != decide(plain, allow=rule):
                found.append(f"{' '.join(key)} {option}")
    assert sorted(set(found) - OTHERWISE) == []


@pytest.mark.parametrize(
    "text",
    [
        "podman logs x --runtime=./evil", "kubectl cp a:b c --kubeconfig ./evil", "kubectl logs p --kubeconfig=./evil",
        "nerdctl cp a:b c --cni-path ./evil", "cargo vendor --config ./evil", "terraform fmt -chdir=../x",
        "pnpm i ../x", "npm in ../x", "rye --project ../x sync", "javaw @args", "kscript -Xplugin=x",
    ],
)  # fmt: skip
def test_what_is_handed_down_asks(text: str) -> None:
    assert decide(text, allow=[f"Bash({text.split(maxsplit=1)[0]}:*)"]) == "ask"


@pytest.mark.parametrize(
    "text",
    [
        "podman logs -f web", "kubectl logs -f pod", "kubectl cp a:b c -c app", "cargo new x --lib",
        "docker logs -f web", 'docker logs "$(docker ps -lq)"',
        "terraform plan -destroy", "pip show -f x", "deno fmt --check", "npm i x",
        "playwright test --browser chromium", "pytest --browser=firefox", "jest --browser",
        "gh completion --shell bash",
        "dart format -o none lib", "oc logs -f dc/x", "gh co 12", "tofu fmt -check",
    ],
)  # fmt: skip
def test_what_it_says_of_itself_counts(text: str) -> None:
    assert decide(text, allow=[f"Bash({text.split(maxsplit=1)[0]}:*)"]) == "allow"


@pytest.mark.parametrize(
    "option", ["--exec", "--pager", "--shell", "--plugin", "--editor", "--hook", "--eval", "--pre-command"]
)
def test_an_option_that_sounds_like_a_program_asks(option: str) -> None:
    allowed = [
        name
        for name in PROGRAMS
        for text in (f"{name} {option} ./evil", f"{name} a {option}=./evil")
        if decide(text, allow=[f"Bash({name}:*)"]) == "allow"
    ]
    assert allowed == []
