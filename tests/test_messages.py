"""The golden list of reasons and error texts is that of the code."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("messages", ROOT / "scripts" / "messages.py")
assert SPEC is not None
assert SPEC.loader is not None
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)


def test_the_list_of_messages_is_that_of_the_code() -> None:
    texts = script.by_module()
    listed, written = script.TARGET.read_text(encoding="utf-8").splitlines(), script.rendered(texts).splitlines()
    new, gone = sorted(set(written) - set(listed)), sorted(set(listed) - set(written))
    assert (new, gone) == ([], []), "run `make messages` and read the diff"
    assert listed == written, "run `make messages`"
    assert script.TEMPLATES.read_text(encoding="utf-8") == script.rendered_templates(texts), "run `make messages`"


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("`{name}` has ended", "`{0}` has ended"),
        ("{why}; nothing was written", "{0}; nothing was written"),
        ("line {at['line']}: {', '.join(f'{x}' for x in names)}", "line {0}: {1}"),
        ("a `${…}` holds an operator", "a `${0}` holds an operator"),
        ("it is too large", "it is too large"),
    ],
)
def test_holes_are_numbered_for_translators(text: str, template: str) -> None:
    assert script.template_of(text) == template


def test_templates_have_words_beside_their_holes() -> None:
    given = {
        "gate/a.py": ["{one}: {other}", "`some code` {x}", "no rule matches"],
        "commands/check.py": ["in a terminal"],
    }
    assert json.loads(script.rendered_templates(given)) == {"no rule matches": "no rule matches"}


def test_whatever_is_left_out_for_translators_is_there() -> None:
    listed = [f"{name}: {text}" for name, texts in script.by_module().items() for text in texts]
    stale = [start for start in script.UNTRANSLATED if not any(each.startswith(start) for each in listed)]
    assert stale == []


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
