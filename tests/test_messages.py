"""The golden list of reasons and error texts is that of the code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("messages", ROOT / "scripts" / "messages.py")
assert SPEC is not None
assert SPEC.loader is not None
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)


def test_the_list_of_messages_is_that_of_the_code() -> None:
    listed, written = script.TARGET.read_text(encoding="utf-8").splitlines(), script.rendered().splitlines()
    new, gone = sorted(set(written) - set(listed)), sorted(set(listed) - set(written))
    assert (new, gone) == ([], []), "run `make messages` and read the diff"
    assert listed == written, "run `make messages`"


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ('raise InvalidAnswer(f"`{name}` has ended")', ["`{name}` has ended"]),
        ('raise AssertionError("never shown")', []),
        ('Evidence(source="mode", reason="plan mode only reads")', ["plan mode only reads"]),
        ('Outcome(False, f"{why}; nothing was written")', ["{why}; nothing was written"]),
        ('LONG = "it is too large"\nraise BadArguments(LONG)', ["it is too large"]),
        ('x = Finding(reason="one thing" if y else "another thing")', ["another thing", "one thing"]),
        ('mode = "plan mode"', []),
    ],
)
def test_a_text_that_a_person_can_meet_is_found(code: str, texts: list[str], tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(code, encoding="utf-8")
    assert script.messages(module) == texts
