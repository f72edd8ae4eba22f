"""A rename is read from the editor and offered as one edit for each file; or nothing of it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from countersign.gate import BadArguments
from countersign.settings.policy import RuleText
from countersign.tools.editor import rename_edits
from countersign.tools.editor.rename_edits import as_replacements
from countersign.tools.editor.rename_symbol import MOST_FILES
from countersign.tools.files.text import Replacing, edited
from countersign.wire.editor import EditorRenameParams, EditorTextEdit

from .test_editor_tools import FakeEditor
from .workbench import Workbench

ASKED: dict[str, Any] = {"path": "a.py", "line": 1, "name": "door", "new_name": "gate"}


@pytest.fixture
def editor(bench: Workbench) -> FakeEditor:
    return FakeEditor(bench)


def change(path: object, line: int = 1, character: int = 1, **more: Any) -> dict[str, Any]:
    edit = {
        "line": line, "character": character, "endLine": line, "endCharacter": character + 4,
        "oldText": "door", "newText": "gate",
    }  # fmt: skip
    return {"path": str(path), "edits": [edit], **more}


async def test_each_file_is_an_edit_of_its_own(bench: Workbench, editor: FakeEditor) -> None:
    one, two = bench.file("a.py", "door = 1\n"), bench.file("b.py", "import a\r\na.door()\r\n")
    editor.answers["editor/rename"] = {"files": [change(two, 2, 3), change(one)]}
    outcome = await bench.do("rename_symbol", **ASKED)
    assert outcome.success
    assert [offer.arguments["path"] for offer in outcome.offers] == [str(one), str(two)]
    assert outcome.output == "the editor would change 2 places in 2 files; each file is an edit of its own"
    assert editor.asked[0][1] == EditorRenameParams(path=str(one), line=1, name="door", new_name="gate")
    assert all(offer.wanted for offer in outcome.offers)
    for offer in outcome.offers:
        assert (await bench.do(offer.tool, **offer.arguments)).success
    assert (one.read_bytes(), two.read_bytes()) == (b"gate = 1\n", b"import a\r\na.gate()\r\n")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([], "would change nothing"),
        ([change("{w}/a.py"), change("{w}/a.py")], "a file twice"),
        ([change("a.py")], "without its whole path"),
        ([change("{w}/a.py"), change("{o}/far.py")], "outside the workspace"),
        ([change("{w}/a.py"), change("{w}/lead.py")], "outside the workspace"),
        ([change("{w}/a.py"), change("{w}/.env")], "secret or held back"),
        ([change("{w}/a.py"), change("{w}/private/p.py")], "secret or held back"),
        ([change("{w}/a.py", dirty=True)], "not saved"),
        ([change("{w}/a.py", 2)], "not what the editor has"),
        ([change("{w}/a.py", 1, 2)], "not what the editor has"),
        ([change("{w}/a.py", 10**9)], "not what the editor has"),
        ([change("{w}/gone.py")], "is not there"),
        ([change("{w}/nul.py")], "binary"),
        ([{"path": "{w}/a.py", "edits": []}], "would change nothing in"),
        ([{"path": "{w}/a.py", "edits": change("")["edits"] * 2}], "overlap"),
        ([change(f"{{w}}/{number}.py") for number in range(MOST_FILES + 1)], "more than 100 files"),
    ],
)
async def test_what_cannot_be_made_whole_is_not_offered(
    bench: Workbench, editor: FakeEditor, files: list[dict[str, Any]], says: str
) -> None:
    for name in ("a.py", ".env", "private/p.py"):
        bench.file(name, "door = 1\n")
    bench.file("nul.py", b"door\0")
    (bench.outside / "far.py").write_text("door = 1\n")
    (bench.workspace / "lead.py").symlink_to(bench.outside / "far.py")
    bench.set(rules=(RuleText("deny", "Read(private/**)"),))
    folders = {"w": str(bench.workspace), "o": str(bench.outside)}
    placed = [{**file, "path": file["path"].format(**folders)} for file in files]
    editor.answers["editor/rename"] = {"files": placed}
    before = bench.tree()
    outcome = await bench.do("rename_symbol", **ASKED)
    assert not outcome.success
    assert says in outcome.output
    assert outcome.output.endswith("; nothing was changed")
    assert "private" not in outcome.output
    assert outcome.offers == ()
    assert bench.tree() == before


async def test_files_that_the_client_left_out_end_it(bench: Workbench, editor: FakeEditor) -> None:
    path = bench.file("a.py", "door\n")
    editor.answers["editor/rename"] = {"files": [change(path)], "leftOut": 1}
    assert "no files of this machine" in (await bench.do("rename_symbol", **ASKED)).output
    editor.answers["editor/rename"] = {"files": [], "reason": "keyword\u202e"}
    assert (await bench.do("rename_symbol", **ASKED)).output == r"the editor says: keyword\u202e; nothing was changed"


NEW_NAMES = st.sampled_from(["", "x", "door\nx", "😀"])
PIECES = st.lists(st.sampled_from(["door", "a", " ", "\n", "\r\n", "\r", "é", "😀", "door\n"]), min_size=1, max_size=30)


@given(PIECES, st.randoms(use_true_random=False), st.sampled_from([1, 200]), NEW_NAMES)
def test_the_edits_make_the_file_that_the_editor_means(
    pieces: list[str], random: Any, most: int, new_text: str
) -> None:
    text = "".join(pieces)
    assume("\r\r\n" not in text)  # its two line ends would look like one in `plain`
    plain = text.replace("\r\n", "\n") if text.count("\n") == text.count("\r\n") else text
    edits: list[EditorTextEdit] = []
    expected, at = "", 0
    while (found := plain.find("door", at)) >= 0:
        expected += plain[at:found]
        at = found + len("door")
        if random.random() < 0.7:
            edits.append(editor_edit(plain, found, at, new_text))
            expected += new_text
        else:
            expected += "door"
    expected += plain[at:]
    random.shuffle(edits)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rename_edits, "MOST_PLACES", most)
        if not edits:
            with pytest.raises(BadArguments):
                as_replacements(text, edits, "a")
            return
        pairs = as_replacements(text, edits, "a")
    made = edited(text, [Replacing(old, new) for old, new in pairs])
    assert made.replace("\r\n", "\n") == expected.replace("\r\n", "\n")


def editor_edit(text: str, start: int, end: int, new_text: str) -> EditorTextEdit:
    line, character = place(text, start)
    end_line, end_character = place(text, end)
    return EditorTextEdit(
        line=line, character=character, end_line=end_line, end_character=end_character,
        old_text=text[start:end], new_text=new_text,
    )  # fmt: skip


def place(text: str, at: int) -> tuple[int, int]:
    """Where a character stands as the editor counts: lines by any line end, characters in UTF-16 code units."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(before), len(before[-1].encode("utf-16-le")) // 2 + 1
