"""What a model learns from the editor: nothing of a file that it may not read, nothing unbounded, nothing hidden."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from countersign.gate import BadArguments, Stale, decide
from countersign.gate.call import ToolCall
from countersign.settings.policy import RuleText
from countersign.tools.editor import asking, new_problems
from countersign.tools.editor.asking import EDITOR_SERVICE
from countersign.tools.editor.new_problems import MAY_DIAGNOSE_SERVICE
from countersign.tools.editor.screened import MARK, MOST_ENTRIES
from countersign.tools.registry import ALWAYS, BY_NAME, EDITOR_TOOLS
from countersign.wire.base import Json, WireModel
from countersign.wire.editor import EditorDiagnosticsParams
from countersign.wire.errors import ClientError
from countersign.wire.methods import BY_NAME as METHODS
from tests.patience import PATIENCE

from .workbench import Workbench

Answer = dict[str, Any]


class FakeEditor:
    """A client that answers each method as the test says, in the wire's own form."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.asked: list[tuple[str, WireModel]] = []
        self.answers: dict[str, Answer | ClientError | Callable[[], Awaitable[Answer]]] = {}
        service = {EDITOR_SERVICE: lambda: self.ask}
        bench.bench = replace(bench.bench, services={**bench.bench.services, **service})

    async def ask(self, method: str, params: WireModel) -> WireModel:
        self.asked.append((method, params))
        answer = self.answers[method]
        if isinstance(answer, ClientError):
            raise answer
        result = METHODS[method].result
        assert result is not None
        return result.model_validate(await answer() if callable(answer) else answer)

    def files(self, *paths: str, **more: Any) -> None:
        self.answers["editor/openFiles"] = {"files": [{"path": path} for path in paths], **more}


@pytest.fixture
def editor(bench: Workbench) -> FakeEditor:
    return FakeEditor(bench)


def at(path: object, line: int = 1, **more: Any) -> dict[str, Any]:
    return {"path": str(path), "line": line, "character": 5, **more}


async def test_open_files_are_named_as_the_model_names_them(bench: Workbench, editor: FakeEditor) -> None:
    one, two = bench.file("src/a.py"), bench.file("b\u202e.py")
    editor.answers["editor/openFiles"] = {
        "files": [{"path": str(one), "active": True, "dirty": True}, {"path": str(two)}],
    }
    outcome = await bench.do("list_open_files")
    assert (
        outcome.output
        == f"{MARK}\nsrc/a.py (active, not saved)" + "\n[1 left out, of files that are secret or held back by a rule]"
    )


ENTRIES: list[tuple[str, str, Answer, Answer]] = [
    ("list_open_files", "editor/openFiles", {"files": []}, {}),
    ("get_diagnostics", "editor/diagnostics", {"diagnostics": []}, {"severity": "error", "message": "told"}),
    ("find_symbols", "editor/symbols", {"symbols": []}, {"name": "told", "kind": "class"}),
    ("find_references", "editor/references", {"references": []}, {}),
]
ARGUMENTS: dict[str, dict[str, Json]] = {
    "find_symbols": {"query": "told"},
    "find_references": {"path": "a.py", "line": 1, "name": "told"},
    "rename_symbol": {"path": "a.py", "line": 1, "name": "told", "new_name": "said"},
}


@pytest.mark.parametrize(("tool", "method", "empty", "fields"), ENTRIES)
async def test_what_may_not_be_read_is_left_out_and_counted(
    bench: Workbench, editor: FakeEditor, tool: str, method: str, empty: Answer, fields: Answer
) -> None:
    bench.file("a.py")
    (bench.outside / "far.py").write_text("x")
    (bench.workspace / "lead.py").symlink_to(bench.outside / "far.py")
    for name in (".env", "private/p.py", "asked.py"):
        bench.file(name)
    bench.set(rules=(RuleText("deny", "Read(private/**)"), RuleText("ask", "Read(asked.py)")))
    paths = [
        bench.workspace / "a.py", bench.workspace / ".env", bench.workspace / "private/p.py",
        bench.workspace / "asked.py", bench.outside / "far.py", bench.workspace / "lead.py", bench.home / ".ssh/id_rsa",
        "relative.py", "/nul\0.py", "", bench.workspace / "x/../private/p.py",
    ]  # fmt: skip
    (key,) = empty
    editor.answers[method] = {key: [at(path, **fields) for path in paths], "leftOut": 4}
    outcome = await bench.do(tool, **ARGUMENTS.get(tool, {}))
    lines = outcome.output.splitlines()
    assert outcome.success
    assert lines[0] == MARK
    assert lines[1].startswith("a.py")
    assert lines[2:] == [
        "[4 left out, of files that are secret or held back by a rule]",
        "[6 left out, of files outside the workspace]",
        "[4 more were not looked at]",
    ]


@pytest.mark.parametrize("tool", [tool.name for tool in EDITOR_TOOLS])
def test_a_call_is_judged_as_the_read_that_it_is(bench: Workbench, tool: str) -> None:
    def verdict(mode: str = "default", **arguments: Json) -> tuple[str, str]:
        prepared = bench.prepare(tool, **{**ARGUMENTS.get(tool, {}), **arguments})
        own = BY_NAME[tool]
        call = ToolCall(
            tool_call_id="c", thread_id="t", turn_id="u", agent="Countersign", tool=tool, arguments=arguments,
            kind=own.kind, category=own.category, effects=prepared.effects, preview=prepared.preview, cwd=prepared.cwd,
        )  # fmt: skip
        decision = decide(call, bench.policy, (mode,))  # type: ignore[arg-type]
        return decision.verdict, decision.by

    assert verdict() == ("allow", "mode")
    assert verdict("plan") == ("allow", "mode")
    assert verdict("ask")[0] == "ask"
    bench.set(rules=(RuleText("deny", tool),))
    assert verdict() == ("deny", "rule")
    bench.set(rules=(RuleText("deny", "Read"),))
    assert verdict() == ("deny", "rule")
    bench.set(rules=(RuleText("deny", "Read(private/**)"),))
    if "path" in BY_NAME[tool].arguments.model_fields:
        assert verdict(path="private/p.py") == ("deny", "rule")
        assert verdict(path=".env")[0] == "ask"
        assert verdict(path="/etc/passwd")[0] == "ask"


async def test_the_file_that_a_person_let_it_read_is_told_of(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file(".env", "A=1")
    editor.answers["editor/diagnostics"] = {"diagnostics": [at(path, severity="error", message="bad key")]}
    outcome = await bench.do("get_diagnostics", path=".env")
    assert "error: bad key" in outcome.output
    assert editor.asked[0][1] == EditorDiagnosticsParams(path=str(path))


async def test_the_rules_of_the_moment_count(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file("a.py")

    async def tightened() -> Answer:
        bench.set(rules=(RuleText("deny", "Read(a.py)"),))
        return {"files": [{"path": str(path)}]}

    editor.answers["editor/openFiles"] = tightened
    assert "a.py" not in (await bench.do("list_open_files")).output


async def test_a_selection_is_told_with_its_place(bench: Workbench, editor: FakeEditor) -> None:
    selection = at(bench.file("a.py"), 3, endLine=4, endCharacter=2, text="one\r\ntwo", dirty=True)
    editor.answers["editor/selection"] = {"selection": selection}
    outcome = await bench.do("get_selection")
    assert outcome.output == "[`a.py`, lines 3 to 4; the file has changes that are not saved]\none\ntwo"
    editor.answers["editor/selection"] = {"selection": {**selection, "text": "x" * 100_000}}
    cut = (await bench.do("get_selection")).output
    assert "the beginning of the selection" in cut
    assert len(cut.encode()) <= 32 << 10
    editor.answers["editor/selection"] = {"selection": {**selection, "text": "", "endLine": 3}}
    assert "nothing is selected; the cursor is at character 5" in (await bench.do("get_selection")).output
    for path in (bench.workspace / ".env", bench.outside / "far.py"):
        editor.answers["editor/selection"] = {"selection": {**selection, "path": str(path)}}
        told = (await bench.do("get_selection")).output
        assert "left out" in told
        assert "one" not in told
        assert path.name not in told
    editor.answers["editor/selection"] = {}
    assert (await bench.do("get_selection")).output == "[no file is open in the active editor]"


async def test_texts_of_the_editor_are_visible_lines_of_bounded_length(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file("a.py")
    hostile = "x\n[not from the editor]\u202e\u200b" + "y" * 5000
    editor.answers["editor/diagnostics"] = {
        "diagnostics": [at(path, 10**30, severity="error", message=hostile, source=hostile, code="E\n1")]
    }
    editor.answers["editor/symbols"] = {"symbols": [at(path, -5, name=hostile, kind=hostile, container=hostile)]}
    for outcome in (await bench.do("get_diagnostics"), await bench.do("find_symbols", path="a.py")):
        assert len(outcome.output.splitlines()) == 2
        assert len(outcome.output) < 1500
        assert "\u202e" not in outcome.output
        assert "\u200b" not in outcome.output


async def test_an_answer_of_any_size_is_bounded(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file("a.py")
    editor.answers["editor/references"] = {"references": [at(path)] * (MOST_ENTRIES + 7), "leftOut": 10**40}
    outcome = await bench.do("find_references", path="a.py", line=1, name="x")
    assert len(outcome.output.encode()) <= 32 << 10
    assert "10000007 more were not looked at" in outcome.output
    editor.answers["editor/symbols"] = {"symbols": [at(path, name="n" * 200, kind="class")] * 1000}
    outcome = await bench.do("find_symbols", query="n")
    assert len(outcome.output.encode()) <= 32 << 10
    assert "cut here: " in outcome.output


async def test_symbols_of_a_file_can_be_sought_by_name(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file("a.py")
    editor.answers["editor/symbols"] = {
        "symbols": [at(path, 2, name="Door", kind="class"), at(path, 3, name="open", kind="method", container="Door")]
    }
    outcome = await bench.do("find_symbols", path="a.py", query="OPEN")
    assert outcome.output == f"{MARK}\na.py:3:5: method open in Door"
    with pytest.raises(BadArguments, match="a query, a path or both"):
        bench.prepare("find_symbols")


async def test_an_editor_that_fails_or_has_nothing_says_so(
    bench: Workbench, editor: FakeEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.file("a.py")
    editor.answers["editor/references"] = {"references": [], "reason": "no\nsupport"}
    asked: dict[str, Json] = {"path": "a.py", "line": 1, "name": "x"}
    outcome = await bench.do("find_references", **asked)
    assert (outcome.success, outcome.output) == (False, "the editor says: no support")
    editor.answers["editor/references"] = {"references": []}
    assert (await bench.do("find_references", **asked)).output == "[the editor knows no use of it]"
    editor.answers["editor/references"] = ClientError("broken\u202e")
    assert (await bench.do("find_references", **asked)).output == r"the editor could not answer: broken\u202e"

    async def never() -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    editor.answers["editor/references"] = never
    monkeypatch.setattr(asking, "SECONDS", 0)
    async with asyncio.timeout(PATIENCE):
        outcome = await bench.do("find_references", **asked)
    assert "did not answer within" in outcome.output
    bench.bench = replace(bench.bench, services={EDITOR_SERVICE: lambda: None})
    assert "does not answer such questions" in (await bench.do("find_references", **asked)).output


async def test_a_call_that_is_stopped_stops_asking(bench: Workbench, editor: FakeEditor) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def never() -> Answer:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        raise AssertionError

    editor.answers["editor/openFiles"] = never
    running = asyncio.ensure_future(bench.do("list_open_files"))
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert stopped.is_set()


def test_editor_tools_are_not_among_those_that_are_always_there() -> None:
    assert not {tool.name for tool in EDITOR_TOOLS} & ALWAYS.keys()


class Problems:
    """Answers with these problems before a change, and with those after it."""

    def __init__(self, editor: FakeEditor, before: list[Answer], after: list[Answer]) -> None:
        self.editor, self.before, self.after = editor, before, after
        self.may = True
        editor.answers["editor/diagnostics"] = self.answer
        bench = editor.bench
        service = {MAY_DIAGNOSE_SERVICE: lambda _: self.may}
        bench.bench = replace(bench.bench, services={**bench.bench.services, **service})

    async def answer(self) -> Answer:
        params = self.editor.asked[-1][1]
        assert isinstance(params, EditorDiagnosticsParams)
        return {"diagnostics": self.after if params.changed else self.before}


def problem(path: object, line: int, message: str, severity: str = "error") -> Answer:
    return at(path, line, message=message, severity=severity)


async def test_problems_that_a_change_brings_are_told_with_its_result(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file("a.py", "x = 1\n")
    other = bench.file("b.py")
    Problems(
        editor,
        [problem(path, 1, "old"), problem(path, 2, "twice")],
        [
            problem(path, 9, "old"), problem(path, 2, "twice"), problem(path, 3, "twice", "warning"),
            problem(path, 4, "new\u202e"), problem(path, 5, "only a hint", "hint"), problem(other, 1, "elsewhere"),
        ],
    )  # fmt: skip
    outcome = await bench.do("edit_file", path="a.py", edits=[{"old_text": "1", "new_text": "2"}])
    assert outcome.success
    assert outcome.record["newProblems"] == 2
    assert outcome.output.splitlines() == [
        "changed `a.py` (+1 -1 lines)",
        "the editor shows 2 problems in this file that it did not show before:",
        MARK,
        r"a.py:4:5: error: new\u202e",
        "a.py:3:5: warning: twice",
    ]
    outcome = await bench.do("write_file", path="a.py", content="y = 2\n")
    assert "did not show before" in outcome.output
    assert path.read_text() == "y = 2\n"


async def test_many_problems_of_a_change_are_bounded(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file("a.py", "x\n")
    Problems(editor, [], [problem(path, number, f"{number} " + "z" * 250) for number in range(5000)])
    output = (await bench.do("write_file", path="a.py", content="y\n")).output
    assert len(output.encode()) < 5000
    assert "2000 problems" in output
    assert "; the first " in output


async def test_a_change_tells_no_problems_that_may_not_be_read(bench: Workbench, editor: FakeEditor) -> None:
    secret = bench.file(".env", "A=1\n")
    problems = Problems(editor, [], [problem(secret, 1, "told")])
    outcome = await bench.do("write_file", path=".env", content="A=2\n")
    assert (outcome.success, "told" in outcome.output) == (True, False)
    path = bench.file("a.py", "x\n")
    problems.after = [problem(path, 1, "told")]
    problems.may = False
    editor.asked.clear()
    assert "told" not in (await bench.do("write_file", path="a.py", content="y\n")).output
    assert editor.asked == []


async def test_an_editor_that_fails_fails_no_change(
    bench: Workbench, editor: FakeEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench.file("a.py", "x\n")
    problems = Problems(editor, [], [])

    async def never() -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    async def broken() -> Answer:
        raise RuntimeError("a bug")

    for number, answer in enumerate((ClientError("gone"), broken, never)):
        editor.answers["editor/diagnostics"] = answer
        monkeypatch.setattr(new_problems, "SECONDS", 0 if answer is never else PATIENCE)
        async with asyncio.timeout(PATIENCE):
            outcome = await bench.do("write_file", path="a.py", content=f"{number}\n")
        assert (outcome.success, outcome.output) == (True, "changed `a.py` (+1 -1 lines)")
        assert path.read_text() == f"{number}\n"
    editor.answers["editor/diagnostics"] = problems.answer
    path.write_text("another\n")
    prepared = bench.prepare("write_file", path="a.py", content="stale\n")
    path.write_text("changed since\n")
    with pytest.raises(Stale):
        await bench.run("write_file", prepared)


async def test_stopping_while_the_editor_checks_says_that_the_change_was_made(
    bench: Workbench, editor: FakeEditor
) -> None:
    path = bench.file("a.py", "x\n")
    problems, waiting = Problems(editor, [], []), asyncio.Event()

    async def slow() -> Answer:
        params = editor.asked[-1][1]
        assert isinstance(params, EditorDiagnosticsParams)
        if params.changed:
            waiting.set()
            await asyncio.Event().wait()
        return await problems.answer()

    editor.answers["editor/diagnostics"] = slow
    running = asyncio.ensure_future(bench.do("write_file", path="a.py", content="y\n"))
    async with asyncio.timeout(PATIENCE):
        await waiting.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await running
    assert path.read_text() == "y\n"
    far: Any = cancelled.value
    assert far.outcome.success
