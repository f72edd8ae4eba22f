"""What an editor is told of settings and policy files, at which place, and when it no longer is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from countersign.lsp.language.diagnostics import diagnose
from countersign.lsp.language.pages import PageName, page_at
from tests.lsp.language_support import Files, shown


@pytest.fixture
def files(tmp_path) -> Files:
    return Files(tmp_path)


CONFIRM = "; ignored until you confirm it on this machine"
ADVICE = "; change it or take it out"
CASES: Sequence[tuple[str, PageName, str, list[str]]] = [
    ("other settings", "workspace", '{"editor.tabSize": 2, "permissions": {"deny": ["("]}}', []),
    ("an empty text", "workspace", "", []),
    ("a good deny rule", "workspace", '{"countersign.permissions.deny": ["Bash(rm:*)"]}', []),
    ("a good allow rule of one's own", "rules", '{"permissions": {"allow": ["Bash(npm run test:*)"]}}', []),
    (
        "an allow rule of the workspace waits",
        "workspace",
        '{"countersign.permissions.allow": ["Bash(npm run test:*)"]}',
        [f"1:35-57 information unconfirmed calls that `Bash(npm run test:*)` covers would run without asking{CONFIRM}"],
    ),
    (
        "a broken allow rule grants nothing",
        "workspace",
        '{"countersign": {"permissions": {"allow": [\n  "Bash(ls"\n]}}}',
        [
            "2:2-11 error rule the rule `Bash(ls` cannot be read: it is not `Tool` or `Tool(specifier)`; it grants"
            " nothing; correct or remove it"
        ],
    ),
    (
        "a broken deny rule fails closed",
        "rules",
        '{"permissions": {"deny": ["Read(secret"]}}',
        [
            "1:26-39 error rule the rule `Read(secret` cannot be read: it is not `Tool` or `Tool(specifier)`; until it"
            " is corrected, this call asks; that is every `Read` call; correct or remove it"
        ],
    ),
    (
        "a deny rule that names no tool",
        "rules",
        '{"permissions.deny": ["(("]}',
        [
            "1:22-26 error rule the rule `((` cannot be read: it is not `Tool` or `Tool(specifier)`; until it is"
            " corrected, this call asks; that is every call that is no read; correct or remove it"
        ],
    ),
    (
        "a rule that fails its own example",
        "rules",
        '{"permissions": {"allow": [{"rule": "Bash(ls:*)", "match": ["cat x"]}]}}',
        [
            "1:27-69 error rule the rule `Bash(ls:*)` cannot be read: it does not match its own example `cat x`; it"
            " grants nothing; correct or remove it"
        ],
    ),
    (
        "an entry that is no rule",
        "rules",
        '{"permissions": {"allow": [7]}}',
        ["1:27-28 error rule the rule `7` has the wrong form and grants nothing; correct or remove it"],
    ),
    (
        "a list that is none",
        "rules",
        '{"permissions": {"allow": "Bash(ls)"}}',
        ["1:17-36 error rule `permissions.allow` is not a list and grants nothing; correct or remove it"],
    ),
    (
        "a list of another name",
        "rules",
        '{"permissions": {"denny": []}}',
        [
            "1:17-28 error rule `denny` is no setting of `permissions` and does not count (the nearest is `deny`);"
            " correct or remove it"
        ],
    ),
    (
        "a misspelled setting",
        "workspace",
        '{"editor.zzz": 1,\n"countersign.agnets": {"x": {"command": "x"}}}',
        [
            "2:0-45 warning setting `countersign.agnets` is no setting and does not count;"
            " the nearest is `countersign.agents`"
        ],
    ),
    (
        "a setting that there is not",
        "workspace",
        '{"countersign": {\n"zzz": 1}}',
        ["2:0-8 warning setting `countersign.zzz` is no setting and does not count; correct or remove it"],
    ),
    (
        "a misspelled setting of a store",
        "rules",
        '{"$schema": "x", "limits": {"writesPerTrun": 1}}',
        [
            "1:28-46 warning setting `countersign.limits.writesPerTrun` is no setting and does not count;"
            " the nearest is `countersign.limits.writesPerTurn`"
        ],
    ),
    (
        "a tool that is not known",
        "rules",
        '{"permissions": {"ask": ["Bsh"]}}',
        [f"1:25-30 warning lint `Bsh` names a tool that is not known here, so it may never match{ADVICE}"],
    ),
    (
        "a rule that can never match",
        "rules",
        '{"permissions": {"ask": ["Bash(a && b:*)"]}}',
        [
            "1:25-41 warning lint `Bash(a && b:*)` can never match: a rule is about one simple command, and `&&` joins"
            f" several{ADVICE}"
        ],
    ),
    (
        "a rule that is too wide",
        "rules",
        '{"permissions": {"allow": ["Bash(python:*)"]}}',
        [
            "1:27-43 warning lint `Bash(python:*)` is too wide: `python` runs whatever it is given; name what it may"
            f" run{ADVICE}"
        ],
    ),
    (
        "a pasted name",
        "rules",
        '{"permissions": {"ask": ["Write(src/**)"]}}',
        ["1:25-40 warning lint `Write` is read as `Edit`; it counts, but say `Edit` to be clear"],
    ),
    (
        "two keys of one name",
        "workspace",
        '{"countersign.mode": "plan",\n "countersign.mode": "ask"}',
        ["1:1-27 warning setting `countersign.mode` stands here more than once; the last one counts"],
    ),
    (
        "a value that cannot be meant",
        "rules",
        '{"approvals": {"timeout": "soon"}}',
        [
            "1:15-32 warning setting `countersign.approvals.timeout` is `soon` but must be seconds, 0 or more;"
            " 300.0 counts"
        ],
    ),
    (
        "bypass of the workspace waits",
        "workspace",
        '{"countersign.agents": {"Countersign": {\n"bypassPermissions": true}}}',
        [
            "2:0-25 information unconfirmed the agent `Countersign` would act in this workspace without asking; deny"
            f" and ask rules, protected files and keys in the home folder still stop it{CONFIRM}"
        ],
    ),
    (
        "over several lines the first is marked",
        "workspace",
        '{"countersign.models": {\n  "big": {\n    "provider": "demo"\n  }\n}}',
        [f'2:2-10 information unconfirmed the model `big` would be `{{"provider":"demo"}}`{CONFIRM}'],
    ),
    (
        "places behind what takes two units",
        "rules",
        '{"permissions": {"ask": [/* 😀 */ "Bsh"]}}',
        [f"1:34-39 warning lint `Bsh` names a tool that is not known here, so it may never match{ADVICE}"],
    ),
    (
        "a byte order mark",
        "rules",
        '\ufeff{"permissions": {"ask": ["Bsh"]}}',
        [f"1:25-30 warning lint `Bsh` names a tool that is not known here, so it may never match{ADVICE}"],
    ),
    (
        "a broken text",
        "workspace",
        '{"countersign.permissions.deny": [\n  "Bsh" "x"\n]}',
        [
            "2:8-11 error syntax cannot be read: a comma or `]` is missing; correct it; until then everything asks"
            " and nothing here allows"
        ],
    ),
    (
        "a broken store",
        "rules",
        "[]",
        [
            "1:0-2 error syntax cannot be read: the file does not hold an object; correct it before you save: a broken"
            " store is set aside and its rules no longer count"
        ],
    ),
]


@pytest.mark.parametrize(("page", "text", "expected"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_a_text_is_told_as_it_stands_in_the_editor(
    files: Files, page: PageName, text: str, expected: list[str]
) -> None:
    if page == "rules":
        files.path("rules").write_text("{}")
    assert files.told(text, page) == expected


@pytest.mark.parametrize("text", [case[2] for case in CASES if case[1] == "workspace" and '"x"' not in case[2]])
def test_a_file_on_disk_is_told_like_its_text(files: Files, text: str) -> None:
    files.path("workspace").write_text(text)
    assert [shown(one) for one in diagnose(files.overview({}))["workspace"]] == files.told(text)


def in_a_code_workspace(tmp_path) -> Files:
    file = tmp_path / "app.code-workspace"
    file.write_text('{"settings": {}}')
    return Files(tmp_path, files={"workspace": str(file)})


def lines_lower(told: list[str]) -> list[str]:
    return [re.sub(r"^(\d+)(.*?-)(\d+:)?", lambda m: f"{int(m[1]) + 1}{m[2]}{_next(m[3])}", one) for one in told]


def _next(line: str | None) -> str:
    return f"{int(line[:-1]) + 1}:" if line else ""


@pytest.mark.parametrize(
    "text",
    [
        case[2]
        for case in CASES
        if case[1] == "workspace"
        and case[2].strip()
        and "cannot be read:" not in "".join(case[3][:1]).partition(" syntax ")[2]
    ],
)
def test_the_settings_of_a_code_workspace_file_are_told_like_those_of_a_folder(tmp_path, text: str) -> None:
    told = in_a_code_workspace(tmp_path).told(f'{{"settings":\n{text}\n}}', "code_workspace")
    assert told == lines_lower(Files(tmp_path / "plain").told(text))


def test_a_broken_code_workspace_file_says_what_follows(tmp_path) -> None:
    (told,) = in_a_code_workspace(tmp_path).told('{"settings": {"countersign.mode" 1}}', "code_workspace")
    assert told.startswith("1:33-36 error syntax cannot be read: a colon is missing; correct it; until then everything")


def test_outside_its_settings_a_code_workspace_file_is_told_of_nothing(tmp_path) -> None:
    text = '{"countersign.permissions.allow": ["("], "folders": [{"countersign.mode": "x"}], "settings": []}'
    assert in_a_code_workspace(tmp_path).told(text, "code_workspace") == []


def test_a_workspace_without_such_a_file_has_no_page_of_it(files: Files) -> None:
    assert page_at(str(files.path("code_workspace")), files.desk.places) is None
    assert diagnose(files.overview({}))["code_workspace"] == ()


def test_a_broken_file_on_disk_is_told_by_its_line(files: Files) -> None:
    files.path("workspace").write_text('{\n"a" 1}')
    (only,) = diagnose(files.overview({}))["workspace"]
    assert shown(only).startswith("2:0-3:0 error syntax cannot be read: a colon is missing; correct it")


def test_a_file_that_is_not_there_is_told_of_nothing(files: Files) -> None:
    assert set(diagnose(files.overview({})).values()) == {()}


def test_what_a_person_confirmed_is_told_no_more_and_what_they_refused_stays_told(files: Files) -> None:
    text = '{"countersign.permissions.allow": ["Bash(ls)", "Bash(cat)"]}'
    files.path("workspace").write_text(text)
    first, second = files.desk.unconfirmed()
    files.desk.confirm(first.digest, accept=True)
    files.desk.confirm(second.digest, accept=False)
    assert files.told(text) == [
        "1:47-58 information refused calls that `Bash(cat)` covers would run without asking; ignored, because you chose"
        " so on this machine; take it out, or write it anew to be asked again"
    ]


def test_in_an_untrusted_workspace_what_loosens_is_told_to_be_ignored(tmp_path) -> None:
    files = Files(tmp_path, trusted=False)
    assert files.told('{"countersign.permissions.allow": ["Bash(ls)"]}') == [
        "1:35-45 information unconfirmed calls that `Bash(ls)` covers would run without asking; ignored, because the"
        " workspace is not trusted; trust it in the editor first"
    ]


def test_a_client_that_can_review_settings_is_told_where(tmp_path) -> None:
    files = Files(tmp_path, client={"confirm": True})
    (only,) = files.told('{"countersign.mode": "auto"}')
    assert only.endswith("on this machine, by `Countersign: Review Workspace Settings`")


def test_a_rule_is_shadowed_from_another_file(files: Files) -> None:
    files.path("rules").write_text('{"permissions": {\n"deny": ["Bash(git:*)"]}}')
    told = files.told('{"countersign.permissions.ask": ["Bash(git push:*)"]}')
    assert told == [
        f"1:33-51 warning lint `Bash(git push:*)` never counts: the deny rule `Bash(git:*)` in {files.path('rules')}:2"
        f" covers all of it{ADVICE}"
    ]


def test_a_rule_in_an_open_text_shadows_one_in_a_file(files: Files) -> None:
    files.path("rules").write_text('{"permissions": {"ask": ["Bash(git push:*)"]}}')
    told = diagnose(files.overview({"workspace": '{"countersign.permissions.deny": ["Bash(git:*)"]}'}))
    assert told["workspace"] == ()
    assert [one.code for one in told["rules"]] == ["lint"]


def test_a_managed_file_that_anybody_could_write_is_told_to_be_weak(files: Files) -> None:
    files.managed.write_text("{}")
    files.managed.chmod(0o666)
    told = files.told('{"permissions": {"allow": ["Bash(*)"], "deny": ["Bsh"]}}', "managed")
    assert [one.split(" ")[1:3] for one in told] == [["warning", "setting"], ["warning", "lint"]]
    assert "only its deny and ask rules count" in told[0]


def test_settings_that_an_editor_sent_are_judged_by_the_text_that_is_ahead_of_them(tmp_path) -> None:
    sent = {"workspace": {"permissions": {"deny": ["Bsh"]}}}
    files = Files(tmp_path, settings=sent)
    assert files.told('{"countersign.permissions.deny": []}') == []
    assert len(files.told('{"countersign.permissions.deny": ["Bsh"]}')) == 1


def test_an_editors_own_file_is_told_where_it_is_known(tmp_path) -> None:
    own = tmp_path / "storage" / "User"
    files = Files(tmp_path, settings={"user": {}}, client={"ownPaths": [str(own)]})
    own.mkdir()
    (own / "settings.json").write_text("{}")
    assert [one.split(" ")[1:3] for one in files.told('{"countersign.permissions.deny": ["Bsh"]}', "user")] == [
        ["warning", "lint"]
    ]
    assert files.told('{"countersign.permissions.deny": [', "user") == []


def test_names_of_tools_that_exist_are_no_problem(files: Files) -> None:
    overview = files.overview({"workspace": json.dumps({"countersign.permissions.ask": ["paint"]})})
    assert diagnose(overview, {"paint"})["workspace"] == ()


def test_our_files_are_known_by_any_spelling(files: Files, tmp_path) -> None:
    (tmp_path / "link").symlink_to(files.workspace)
    places = files.desk.places
    assert page_at(f"{tmp_path}/link/.vscode/settings.json", places) == "workspace"
    assert page_at(f"{files.workspace}/sub/../.vscode/settings.json", places) == "workspace"
    assert page_at(str(files.managed), places) == "managed"
    assert page_at(f"{files.workspace}/sub/.vscode/settings.json", places) is None
    assert page_at("", places) is None


def test_a_file_cannot_fill_the_editor(files: Files) -> None:
    files.path("rules").write_text("{}")
    rules = [f"Bsh{number}" for number in range(1500)] + ["B" * 10_000]
    told = diagnose(files.overview({"rules": json.dumps({"permissions": {"ask": rules[::-1]}})}))["rules"]
    assert len(told) == 1000
    assert max(len(one.message) for one in told) <= 2000
