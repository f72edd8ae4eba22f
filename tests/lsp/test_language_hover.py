"""What hovering over a rule or over bypass says: what it means, and whether it counts."""

from __future__ import annotations

import pytest

from tests.lsp.language_support import Files, decision


@pytest.fixture
def files(tmp_path) -> Files:
    return Files(tmp_path)


DENIED = (
    "**Deny** `Bash(rm:*)`\n\n"
    "Matches any command that begins with the words `rm`, alone or followed by anything."
    " What it matches is refused, whatever else allows it.\n\n"
    "One match anywhere in a command line is enough, behind `sudo`, `sh -c` and other wrappers too.\n\n"
    "It counts, whether or not the workspace is trusted."
)
UNSAVED = "_This is of the text as it stands here; it is not saved yet._"


@pytest.mark.parametrize(
    "text",
    [
        '{"countersign.permissions.deny": ["Bash(|rm:*)"]}',
        '{"countersign.permissions": {"deny": ["|Bash(rm:*)"]}}',
        '{"countersign": {"permissions": {"deny": ["ls", "Bash(rm:*)|"]}}}',
        '{"countersign.permissions.deny": [{"rule": "Bash(|rm:*)"}]}',
    ],
)
def test_a_rule_is_said_in_words_however_its_key_is_spelled(files: Files, text: str) -> None:
    files.path("workspace").write_text(text.replace("|", ""))
    assert files.hover(text) == DENIED


def test_a_text_that_is_not_saved_is_said_to_be_none(files: Files) -> None:
    files.path("workspace").write_text("{}")
    assert files.hover('{"countersign.permissions.deny": ["Bash(|rm:*)"]}') == f"{DENIED}\n\n{UNSAVED}"


NOTHING = [
    '{"editor.font": "Bash(|rm:*)"}',
    '{"countersign.permissions.deny|": ["Bash(rm:*)"]}',
    '{"countersign.permissions.deny": [{"agent": "C|"}]}',
    '{"countersign.permissions.additionalDirectories": ["Bash|"]}',
    '{"countersign.permissions.deny": [1|]}',
    '{"countersign.permissions.deny": ["Bash(rm:*)"] /* B| */}',
    '{"permissions.deny": ["Bash(|rm:*)"]}',
]


@pytest.mark.parametrize("text", NOTHING)
def test_other_places_say_nothing(files: Files, text: str) -> None:
    assert files.hover(text) is None


def counting(said: str | None) -> str:
    """The paragraph on whether it counts."""
    assert said is not None
    return next(part for part in said.split("\n\n") if "count" in part and part.startswith(("It ", "Whether ")))


ALLOWED = '{"countersign.permissions.allow": ["Bash(|ls:*)"]}'


def test_an_allow_rule_of_the_workspace_counts_once_it_is_confirmed(files: Files) -> None:
    files.path("workspace").write_text(ALLOWED.replace("|", ""))
    waits = "It does not count: ignored until you confirm it on this machine."
    assert counting(files.hover(ALLOWED)) == waits
    (item,) = files.desk.unconfirmed()
    files.desk.confirm(item.digest, accept=True)
    assert counting(files.hover(ALLOWED)) == "It counts."
    files.desk.confirm(item.digest, accept=False)
    assert counting(files.hover(ALLOWED)).startswith("It does not count: ignored, because you chose so")


def test_an_allow_rule_of_a_code_workspace_file_counts_once_it_is_confirmed(tmp_path) -> None:
    text = f'{{"folders": [], "settings": {ALLOWED}}}'
    file = tmp_path / "app.code-workspace"
    file.write_text(text.replace("|", ""))
    files = Files(tmp_path, files={"workspace": str(file)})
    waits = "It does not count: ignored until you confirm it on this machine."
    assert counting(files.hover(text, "code_workspace")) == waits
    (item,) = files.desk.unconfirmed()
    assert item.file == str(file)
    files.desk.confirm(item.digest, accept=True)
    assert counting(files.hover(text, "code_workspace")) == "It counts."
    assert files.hover('{"countersign.permissions.deny": ["Bash(|rm:*)"]}', "code_workspace") is None


def test_an_allow_rule_of_an_untrusted_workspace_does_not_count(tmp_path) -> None:
    said = counting(Files(tmp_path, trusted=False).hover(ALLOWED))
    assert said == "It does not count: ignored, because the workspace is not trusted; trust it in the editor first."


def test_an_allow_rule_of_ones_own_counts(files: Files) -> None:
    files.path("rules").write_text("{}")
    assert counting(files.hover('{"permissions": {"allow": ["Bash(|ls:*)"]}}', "rules")) == "It counts."


def test_an_allow_rule_in_a_managed_file_that_anybody_could_write_does_not_count(files: Files) -> None:
    files.managed.write_text("{}")
    files.managed.chmod(0o666)
    assert counting(files.hover('{"permissions": {"allow": ["Bash(|ls:*)"]}}', "managed")).startswith(
        "It does not count"
    )
    said = files.hover('{"permissions": {"deny": ["Bash(|ls:*)"]}}', "managed")
    assert counting(said) == "It counts, whether or not the workspace is trusted."


def test_nothing_that_allows_counts_while_another_file_cannot_be_read(files: Files) -> None:
    files.managed.write_text("{")
    files.path("rules").write_text("{}")
    said = counting(files.hover('{"permissions": {"allow": ["Bash(|ls:*)"]}}', "rules"))
    assert said == "It does not count now: some settings cannot be read, so everything asks."


def test_a_rule_in_a_broken_text_is_said_in_words_all_the_same(files: Files) -> None:
    said = files.hover('{"countersign.permissions.deny": ["Bash(|rm:*)" "x"')
    assert said is not None
    assert "begins with the words `rm`" in said
    assert counting(said) == "It is unknown whether it counts, because the file cannot be read."


def test_a_rule_under_a_key_that_stands_twice_does_not_count(files: Files) -> None:
    text = '{"countersign.permissions.deny": ["Bash(|rm:*)"], "countersign.permissions.deny": []}'
    assert counting(files.hover(text)).startswith("It does not count: the key")


def test_lint_and_the_reason_of_a_rule_come_along(files: Files) -> None:
    files.path("rules").write_text("{}")
    text = '{"permissions": {"allow": [{"rule": "Bash(|python:*)", "agent": "A`*", "reason": "![x](y)"}]}}'
    said = files.hover(text, "rules")
    assert said is not None
    assert "Only calls of the agent `` A`* ``." in said
    assert "Its reason: `![x](y)`" in said
    assert r"⚠ \`Bash(python:\*)\` is too wide" in said


def test_a_rule_that_cannot_be_read_says_why(files: Files) -> None:
    said = files.hover('{"countersign.permissions.deny": ["Read(|secret"]}')
    assert said is not None
    assert said.startswith("**Deny** `Read(secret`\n\n⚠ the rule \\`Read(secret\\` cannot be read")


def test_the_calls_that_a_rule_decided_lately_are_counted(files: Files) -> None:
    text = '{"countersign.permissions.deny": ["Bash(|rm:*)"]}'
    here = files.path("workspace")
    past = [
        decision("rm x", by="rule", verdict="deny", rule="Bash(rm:*)", file=here),
        decision("rm x", by="rule", verdict="deny", rule="Bash(rm:*)", file=here),
        decision("ls", by="rule", rule="Bash(ls)", file=here),
        decision("rm y", by="rule", verdict="deny", rule="Bash(rm:*)", file=files.path("rules")),
    ]
    assert "It decided 1 of the last 3 calls." in (files.hover(text, past=past) or "")
    assert "It decided no recent call." in (files.hover(text, past=past[2:]) or "")


PAST = [decision("npm test"), decision("npm test -- a"), decision("npm test && curl x"), decision("ls")]
WOULD_HAVE = [
    ("deny", "Bash(npm:*)", PAST, "It would have matched 3 of them."),
    ("deny", "Bash(rm:*)", PAST, "It would have matched none of them."),
    ("allow", "Bash(npm test:*)", PAST, "It would have matched 3 of them and, alone, let 2 through."),
    (
        "ask",
        "Bash(npm test)",
        [*PAST, decision("npm test --token=[redacted]")],
        "It would have matched 2 of the 4 of them that history holds whole."
        " Not judged again: calls of hosted agents, and what held a secret, which history hides.",
    ),
]


@pytest.mark.parametrize(("listed", "rule", "past", "said"), WOULD_HAVE)
def test_the_calls_that_a_rule_would_have_matched_are_counted(files: Files, listed, rule, past, said) -> None:
    text = f'{{"countersign.permissions.{listed}": ["|{rule}"]}}'
    assert (files.hover(text, past=past) or "").split("\n\n")[-2].endswith(said)


BYPASS = '{"countersign.agents": {"Countersign": {"bypassPermissions|": true}}}'


def test_bypass_says_what_it_means_on_its_key_and_on_its_value(files: Files) -> None:
    files.path("workspace").write_text(BYPASS.replace("|", ""))
    said = files.hover(BYPASS)
    assert said == (
        "The agent `Countersign` acts without asking.\n\n"
        "Still stopped by deny and ask rules, by protected places such as `.git` and `.vscode`, by secrets outside the"
        " workspace, and by what cannot be understood or shown honestly.\n\n"
        "It does not count: ignored until you confirm it on this machine."
    )
    assert files.hover(BYPASS.replace("|", "").replace("true", "tr|ue")) == said


def test_bypass_counts_once_it_is_confirmed(files: Files) -> None:
    files.path("workspace").write_text(BYPASS.replace("|", ""))
    (item,) = files.desk.unconfirmed()
    files.desk.confirm(item.digest, accept=True)
    assert counting(files.hover(BYPASS)) == "It counts."


def test_bypass_that_was_confirmed_before_its_agent_says_so(files: Files) -> None:
    text = '{"countersign.agents": {"X": {"command": "x", "bypassPermissions|": true}}}'
    files.path("workspace").write_text(text.replace("|", ""))
    item = next(item for item in files.desk.unconfirmed() if item.key.endswith("bypassPermissions"))
    files.desk.confirm(item.digest, accept=True)
    assert counting(files.hover(text)).startswith("It does not count yet: you confirmed it")
    (agent,) = files.desk.unconfirmed()
    files.desk.confirm(agent.digest, accept=True)
    assert counting(files.hover(text)) == "It counts."


WHETHER_BYPASS_COUNTS = [
    ("untrusted", {"trusted": False}, "{}", "the workspace is not trusted"),
    (
        "disabled",
        {},
        '{"permissions": {"disableBypass": true}}',
        "`permissions.disableBypass` forbids it for all agents",
    ),
]


@pytest.mark.parametrize(
    ("options", "rules", "why"), [pytest.param(*case[1:], id=case[0]) for case in WHETHER_BYPASS_COUNTS]
)
def test_bypass_says_why_it_does_not_count(tmp_path, options, rules, why) -> None:
    files = Files(tmp_path, **options)
    files.path("rules").write_text(rules)
    assert counting(files.hover(BYPASS)) == f"It does not count: {why}."


def test_bypass_of_ones_own_counts_unless_the_workspace_says_no(files: Files) -> None:
    files.path("rules").write_text("{}")
    own = '{"agents": {"Countersign": {"bypassPermissions|": true}}}'
    assert counting(files.hover(own, "rules")) == "It counts."


def test_a_no_in_the_workspace_beats_bypass_of_ones_own(tmp_path) -> None:
    files = Files(tmp_path)
    files.path("rules").write_text("{}")
    files.path("workspace").write_text(BYPASS.replace("|", "").replace("true", "false"))
    own = '{"agents": {"Countersign": {"bypassPermissions|": true}}}'
    assert counting(files.hover(own, "rules")).startswith("It does not count: another file says `false`")
    said = files.hover(BYPASS.replace("true", "false"))
    assert said == (
        "The agent `Countersign` asks, as rules and mode say."
        " In a workspace this beats `true` of the user, trusted or not."
    )
