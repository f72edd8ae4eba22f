"""``for f in *.py; do wc -l $f; done``: a name that needs no quotes counts as it would with quotes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .asked import decide, judge


@pytest.fixture
def workspace(tmp_path: Path) -> str:
    (tmp_path / "ws" / "src").mkdir(parents=True)
    for name in ("a.py", "b-2.py", "src/c.py", "src/d.ts", ".env", "notes.md"):
        (tmp_path / "ws" / name).write_text("x\n")
    return str(tmp_path / "ws")


PLAIN = [
    "for f in *.py; do wc -l $f; done",
    "for f in src/*; do echo $f; head -5 $f; done",
    "for f in *.py src/*.ts; do grep -n foo $f && cat $f; done",
    "for f in *.py notes.md; do cat ./$f; done",
    "for f in {a,src/c}*.py; do cat $f | head -3; done",
    "cd src && for f in *.py; do wc -l ${f}; done",
    "for f in *.py; do n=$(grep -c foo $f); echo $f $n; done",
    "for f in *.py; do if grep -q foo $f; then tail -n 3 $f; fi; done",
    "for f in *.py; do for g in src/*.ts; do cmp $f $g; done; done",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_names_need_no_quotes(text: str, workspace: str) -> None:
    assert decide(text, workspace=workspace) == "allow"


@pytest.mark.parametrize("text", PLAIN)
def test_what_runs_has_the_quotes(text: str, workspace: str) -> None:
    printed = judge(text, workspace=workspace).printed
    assert printed is not None
    assert all(printed[place - 1] == '"' for place in range(len(printed)) if printed.startswith("${f}", place))


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("name", ["x .env.py", "x\t.py", "x\n.env y.py", "[ab].py", "*.py", "\\.py", "~.py"])
def test_one_other_name_is_not_allowed(text: str, name: str, workspace: str) -> None:
    for folder in ("", "src"):
        for ending in ("", ".py", ".ts", "a"):
            (Path(workspace) / folder / (f"a{name}" if ending == "a" else name + ending)).write_text("x\n")
    assert decide(text, workspace=workspace) in {"ask", "deny"}


@pytest.mark.parametrize(
    "text",
    [
        "for f in *.none; do cat $f; done",  # the pattern itself stays, and is expanded where it stands
        "for f in *.py; do :; done; cd src; cat $f*",
        "for f in .e*; do cat $f; done",
        "IFS=.; for f in *.py; do cat $f; done",
        "for f in *.py; do IFS=a; cat $f; done",
        "for f in *.py; do f=$(date); cat $f; done",
        "for f in *.py; do read f; cat $f; done",
        "for f in *.py $x; do cat $f; done",
        "for f in *.py 'a .env'; do cat $f; done",
        "for f in *.py $(cat list); do cat $f; done",
        "cat $f; for f in *.py; do :; done",
        "cat() { sort $1; }; for f in *.py; do cat $f; done",
        "for f in *.py; do cat $f*; done",
        "for f in *.py; do cat $f $g; done",
        "for f in *; do wc $f; done",  # -x
        "for f in *.py; do $f; done",
        "for f in *.py; do sort $f > $f.sorted; done",
        "touch 'a .env.py'; for f in *.py; do cat $f; done",
        "cd $x; for f in *.py; do cat $f; done",
        "for f in *.py; do if [ -f $f ]; then cat $f; fi; done",
        "for f in *.py; do wc -l < $f; done",
    ],
)
def test_what_may_be_another_name_asks(text: str, workspace: str) -> None:
    (Path(workspace) / "-x").write_text("x\n")
    assert decide(text, workspace=workspace) == "ask"
    assert decide(text, ["Bash(touch:*)"], workspace=workspace) == "ask"


def test_a_link_that_leads_outside_asks(workspace: str) -> None:
    (Path(workspace) / "z.py").symlink_to("../outside.py")
    assert decide("for f in *.py; do cat $f; done", workspace=workspace) == "ask"


@pytest.mark.parametrize("mode", ["default", "auto"])
def test_rules_say_the_same_as_with_quotes(mode: str, workspace: str) -> None:
    bare, quoted = "for f in src/*; do cat $f; done", 'for f in src/*; do cat "$f"; done'
    for deny in (["Read(src/c.py)"], ["Read(src/**)"], ["Bash(cat:*)"], ["Bash"]):
        assert decide(bare, deny=deny, mode=mode, workspace=workspace) in {"ask", "deny"}
        assert decide(quoted, deny=deny, mode=mode, workspace=workspace) in {"ask", "deny"}
    for ask in (["Read(src/c.py)"], ["Bash(cat:*)"]):
        assert decide(bare, ask=ask, mode=mode, workspace=workspace) == "ask"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.text("ab. -*?[]\\~'\"$\n\té", min_size=1, max_size=6), max_size=4))
def test_bash_makes_the_same_words_of_what_is_allowed(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("names")
    for name in names:
        if name not in {".", ".."}:
            (folder / name).write_text("x\n")
    bare = "for f in *; do cat $f; done"
    if decide(bare, workspace=str(folder)) == "allow":
        printed = [bare.replace("cat $f", f"printf '<%s>' {word}") for word in ("$f", '"$f"')]
        shown = [subprocess.run(["bash", "-c", each], cwd=folder, capture_output=True, check=True) for each in printed]
        assert shown[0].stdout == shown[1].stdout
