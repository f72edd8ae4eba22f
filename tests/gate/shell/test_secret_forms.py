"""Patterns that spell a part of what makes a name a secret, whatever stands behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from countersign.gate.paths import sensitive_paths
from countersign.gate.paths.sensitive_paths import SECRET_FORMS, TELLING, secret_name
from countersign.gate.shell.files.git_index import names_secret
from countersign.gate.shell.files.program_globs import may_be_secret_glob
from countersign.gate.shell.files.spelled_names import secret_form

from .asked import decide
from .listed_places import with_files

EVERYDAY = """
*.json *.js *.ts *.py *.md **/*.ts *.d.ts *.{js,ts} *.test.ts test_*.py *_test.go *.tsx *.html *.y*ml *.toml
i*.py index*.ts *.en.json en*.json *.e2e.ts *.sql *.swift *.sh *.rs *.rb *.so *.s *.lock *.csv package*.json *.[ch]
*.[jt]s *.?s [a-z]*.py [A-Z]*.md *_*.py *-*.md *.log *.svg d*.py *.tf *.proto *.*.ts *s*.py *.spec.ts
"""


@pytest.mark.parametrize(("core", "end", "of_copy"), SECRET_FORMS)
def test_each_form_is_that_of_a_secret(core: str, end: str, of_copy: bool) -> None:
    assert secret_name((core + end).replace("\x00", "7")) is not None


@pytest.mark.parametrize(("core", "end", "of_copy"), SECRET_FORMS)
def test_a_pattern_that_spells_two_characters_of_it_is_seen(core: str, end: str, of_copy: bool) -> None:
    told = core + end if end[-1:] != "\x00" else core
    at = told.index("\x00") + 1 if "\x00" in told else 0
    pattern = f"{'*' if at else ''}{told[at : at + 2]}*{end[-1:]}".replace("\x00", ".json")
    assert may_be_secret_glob(pattern)


@pytest.mark.parametrize("pattern", EVERYDAY.split())
def test_everyday_patterns_are_none(pattern: str) -> None:
    assert not may_be_secret_glob(pattern)
    assert secret_form(pattern.rsplit("/", 1)[-1], dots=False, copies=False) is None


@pytest.mark.parametrize("pattern", [".env*.example", ".env.*.template", ".*.sample"])
def test_examples_of_settings_are_none(pattern: str) -> None:
    assert secret_form(pattern, dots=True, copies=False) is None


def test_a_long_pattern_may_be_any_name() -> None:
    assert secret_form("*a" * 200, dots=True, copies=False) is not None


RULES = ["Bash(prettier:*)", "Bash(eslint:*)", "Bash(tar:*)", "Edit(./**)"]


COULD = """
prettier '.env*.json'
prettier '.e*.json'
prettier '**/.*.json'
prettier 'src/{.e*,x}.json'
prettier '*.bak'
eslint '.env*.json'
tar xf a.tar -C out && cat out/.e*.json
tar xf a.tar -C out && cat out/*.bak
tar xf a.tar -C out && cat out/*.orig
cat .e*.json
cat .[e]nv*.json
"""
COULD_NOT = """
prettier '**/*.json'
prettier --check 'src/**/*.{ts,tsx,json}'
eslint 'src/**/*.json'
tar xf a.tar -C out && cat out/*.json
cat *.json
cat *.bak
cat *.d.ts
"""


@pytest.mark.parametrize(("commands", "expected"), [(COULD, "ask"), (COULD_NOT, "allow")])
def test_a_pattern_that_could_match_a_secret_asks(commands: str, expected: str) -> None:
    for command in commands.strip().splitlines():
        assert decide(command, allow=RULES, workspace="/nowhere") == expected, command


PIECES = st.lists(
    st.sampled_from([*".#~_", ".env", ".npmrc", ".pypirc", ".pem", "id_rsa", "id_ed25519", "k", "_BASE_31", "_local_2",
                     ".bak", ".swp", ".orig", ".~1~", ".env.x"]), max_size=5)  # fmt: skip


@given(PIECES.map("".join))
@example("_BASE_31079.env")
@example("#_REMOTE_1.npmrc")
def test_what_is_looked_for_first_is_in_every_name_of_a_secret(name: str) -> None:
    assert sensitive_paths._secret_name(name) is None or TELLING.search(name) is not None
    assert names_secret(name.encode()) == (secret_name(name) is not None)


def test_letters_that_a_disk_without_case_takes_for_others_count() -> None:
    for name in ("id_r\u017fa", "ID_ECD\u017fA"):
        assert secret_name(name) is not None
        assert names_secret(name.encode())


@pytest.mark.parametrize("command", ["rg x", "grep -rn x .", "find . -type f -name '_*' | xargs cat", "cat kk/*"])
def test_what_a_merge_tool_leaves_beside_a_secret_is_one(command: str, tmp_path: Path) -> None:
    where = with_files(tmp_path, "ws/kk/_BASE_31079.env ws/kk/a.py home/x")
    assert decide(command, **where) == "ask"
