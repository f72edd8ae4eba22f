"""What is read, what is refused, and where it says things stand."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.settings.jsonc import MAX_DEPTH, BrokenJson, decode_jsonc, parse_jsonc

READS = [
    ("{}", {}),
    ('{"a": 1,}', {"a": 1}),
    ("[1, 2,]", [1, 2]),
    ('\ufeff{"a": 1}', {"a": 1}),
    ('// hi\n{"a": /* b */ 1 // c\n}\n// end', {"a": 1}),
    ('{"a": 1, "a": 2}', {"a": 2}),
    ('{\r\n"a": [true, false, null, -1.5e2, 0]\r\n}', {"a": [True, False, None, -150.0, 0]}),
    ('{"a//b": "/* c */"}', {"a//b": "/* c */"}),
    (r'"\u00e9\ud83d\ude00\n\/"', "é😀\n/"),
    ("", None),
    ("  // only a comment", None),
    ("\ufeff", None),
]


@pytest.mark.parametrize(("text", "value"), READS)
def test_what_vs_code_writes_is_read(text, value):
    root = parse_jsonc(text).root
    assert (root.value if root else None) == value


BROKEN = [
    ('{"a" 1}', 1, 6, "a colon is missing"),
    ('{"a": 1 "b": 2}', 1, 9, "a comma or `}` is missing"),
    ('{\n  "a": ,\n}', 2, 8, "a value is missing"),
    ('{"a": 1', 1, 8, "a comma or `}` is missing"),
    ("[1,,2]", 1, 4, "a value is missing"),
    ("[,]", 1, 2, "a value is missing"),
    ("{a: 1}", 1, 2, "a key in quotes is missing"),
    ("{'a': 1}", 1, 2, "a key in quotes is missing"),
    ('{"a": tru}', 1, 7, "this is not a value"),
    ('{"a": TRUE}', 1, 7, "this is not a value"),
    ('{"a": NaN}', 1, 7, "this is not a value"),
    ('{"a": 01}', 1, 8, "a comma or `}` is missing"),
    ('{"a": 1e999}', 1, 7, "a number is too large"),
    ('{"a": ' + "9" * 401 + "}", 1, 7, "a number is too long"),
    ('{"a": "x\ty"}', 1, 7, "a string is not closed, or holds a control character or a wrong escape"),
    ('{"a": "x', 1, 7, "a string is not closed, or holds a control character or a wrong escape"),
    (r'{"a": "\x41"}', 1, 7, "a string is not closed, or holds a control character or a wrong escape"),
    (r'{"a": "\ud800"}', 1, 7, "a string holds half of a surrogate pair"),
    ("{} {}", 1, 4, "there is text after the end of the value"),
    ("{}\r\n\r\n/* open", 3, 1, "a comment is not closed"),
    ("\ufeff{,}", 1, 2, "a key in quotes is missing"),
    ("{}\x00", 1, 3, "there is text after the end of the value"),
    ("[" * 70 + "]" * 70, 1, 66, f"values are nested deeper than {MAX_DEPTH}"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), BROKEN)
def test_what_is_broken_is_told_with_its_line_and_column(text, line, column, message):
    with pytest.raises(BrokenJson) as caught:
        parse_jsonc(text)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, message)


def test_a_file_that_is_not_utf8_is_told_with_its_line_and_column():
    with pytest.raises(BrokenJson) as caught:
        decode_jsonc(b'{\n  "a": "\xff"}')
    assert (caught.value.line, caught.value.column) == (2, 9)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_value_knows_its_line_and_column(newline):
    text = newline.join(["\ufeff{", '  "a": 1, "b": [', '    "x",', "    // no", '    "y"', "  ]", "}"])
    document = parse_jsonc(text)
    a, b = document.root.elements
    assert [document.position(one.start) for one in (a, b, *b.node.elements)] == [(2, 3), (2, 11), (3, 5), (5, 5)]
    assert document.position(document.root.start) == (1, 1)
    assert text[b.node.elements[1].node.start : b.node.elements[1].node.end] == '"y"'


SCALARS = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES, st.sampled_from([None, 2, "\t"]))
def test_all_json_is_read_as_python_reads_it(value, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    document = parse_jsonc(text)
    assert document.root.value == value
    assert document.text[document.root.start : document.root.end] == text


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet='{}[]",:/*\n\r 01a.-\\\ufeff"'))
def test_any_text_is_either_read_or_refused(text):
    place = (1, 1)
    try:
        parse_jsonc(text)
    except BrokenJson as error:
        place = (error.line, error.column)
    assert place >= (1, 1)
