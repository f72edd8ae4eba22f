"""What runs names the values that were judged, whatever bash finds in the variables."""

from __future__ import annotations

import pytest

from countersign.gate.shell.flow import control_flow
from countersign.gate.shell.flow.parse_cache import Followed, _follow, follow
from countersign.gate.shell.printing.judged_values import MOST_ADDED

PRINTED = {
    'x=src; cat "$x/a"': "x='src'; 'cat' 'src/a'",
    "x=src; cat $x/a": "x='src'; 'cat' 'src/a'",
    'x="a b"; cat "$x"': "x='a b'; 'cat' 'a b'",
    'x="it\'s"; cat "$x"': "x='it'\\''s'; 'cat' 'it'\\''s'",
    'x=a; y=$x; cat $x > "$x" && echo <<< $x': "x='a'; y='a'; 'cat' 'a' > 'a' && 'echo' <<< 'a'",
    'x=a; if [[ -f $x ]]; then echo "$(cat "$x")"; fi': "x='a'; if [[ -f 'a' ]]; then 'echo' \"$( 'cat' 'a' )\"; fi",
    'x=""; y="$x"; cat "$x" a"$x"': "x=; y=; 'cat' '' 'a'",
    "x=a; for y in $x b; do cat $x; done": "x='a'; for y in 'a' 'b'; do 'cat' 'a'; done",
    # A text for another shell has variables of its own.
    "x=a; bash -c 'cat $x'": "x='a'; 'bash' '-c' ''\\''cat'\\'' ${x}'",
    "x=a; bash -c 'x=b; cat $x'": "x='a'; 'bash' '-c' 'x='\\''b'\\''; '\\''cat'\\'' '\\''b'\\'''",
    # More than one word, or more than one value.
    'x="a b"; cat $x': "x='a b'; 'cat' ${x}",
    'x="*"; cat $x': "x='*'; 'cat' ${x}",
    "x=; cat $x": "x=; 'cat' ${x}",
    'for x in a b; do cat "$x"; done': "for x in 'a' 'b'; do 'cat' \"${x}\"; done",
    'x=a; x=b; cat "$x"': "x='a'; x='b'; 'cat' \"${x}\"",
    # Not what it was judged by.
    'true || x=a && cat "$x"': "'true' || x='a' && 'cat' \"${x}\"",
    'x=a; cat "${x:-b}"': "x='a'; 'cat' \"${x:-b}\"",
    'cat "$HOME/a"': "'cat' \"${HOME}\"'/a'",
}


@pytest.mark.parametrize(("text", "printed"), PRINTED.items())
def test_a_value_stands_where_its_variable_was_judged_by_it(text: str, printed: str) -> None:
    found = follow(text)
    assert isinstance(found, Followed)
    assert found.printed == printed


MISREAD = (
    'true || x=src && cat "$x/etc/shadow"',
    'y=$(cat "$x/etc/shadow") x=src',
    'cat "$x/etc/shadow"; x=src',
    '(x=src); cat "$x/etc/shadow"',
    'x=src | cat "$x/etc/shadow"',
    'if false; then x=src; fi; cat "$x/etc/shadow"',
)


@pytest.mark.parametrize("text", MISREAD)
def test_an_assignment_that_is_taken_for_sure_and_is_not_leads_nowhere_else(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_flow, "surely_set", lambda *_: True)
    found = _follow(text)
    assert isinstance(found, Followed)
    assert isinstance(found.printed, str)
    assert "$" not in found.printed.replace("$(", "")
    assert "'src/etc/shadow'" in found.printed


def test_values_do_not_make_a_text_much_longer() -> None:
    value = "a" * 1000
    printed = follow(f"x={value}; " + 'cat "$x"; ' * (MOST_ADDED // len(value)))
    assert isinstance(printed, Followed)
    assert isinstance(printed.printed, str)
    too_long = follow(f"x={value}; " + 'cat "$x"; ' * (MOST_ADDED // len(value) + 1))
    assert isinstance(too_long, Followed)
    assert "too long to be put in" in str(too_long.printed)
