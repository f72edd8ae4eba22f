"""One key is changed, and every other byte is as it was."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.settings.edit import EditRefused, append_item, remove_items, remove_value, set_value
from countersign.settings.jsonc import parse_jsonc
from countersign.settings.tree import settings_tree

BYPASS = ("agents", "X", "bypassPermissions")
ALLOW = ("permissions", "allow")
NEW = """{
    "countersign.agents": {
        "X": {
            "bypassPermissions": true
        }
    }
}
"""

SETS = [
    ("an empty text", "", BYPASS, NEW),
    ("blanks only", "\n", BYPASS, "\n" + NEW),
    ("a comment only", "// mine", BYPASS, "// mine\n" + NEW),
    ("a byte order mark only", "\ufeff", BYPASS, "\ufeff" + NEW),
    ("an empty object", "{}", BYPASS, NEW.rstrip("\n")),
    ("an empty object with blanks", "{\n}\n", BYPASS, NEW),
    (
        "comments, CRLF, a byte order mark and a trailing comma",
        '\ufeff{\r\n\t// size\r\n\t"editor.tabSize": 2, // two\r\n}\r\n',
        BYPASS,
        '\ufeff{\r\n\t// size\r\n\t"editor.tabSize": 2, // two\r\n\t"countersign.agents": {\r\n\t\t"X": {\r\n'
        '\t\t\t"bypassPermissions": true\r\n\t\t}\r\n\t},\r\n}\r\n',
    ),
    (
        "no trailing comma and a comment after the last value",
        '{\n  "a": 1 // one\n  // the end\n}',
        BYPASS,
        '{\n  "a": 1, // one\n  // the end\n  "countersign.agents": {\n    "X": {\n      "bypassPermissions": true\n'
        "    }\n  }\n}",
    ),
    ("one line", '{"a": 1}', BYPASS, '{"a": 1, "countersign.agents": {"X": {"bypassPermissions": true}}}'),
    (
        "one line with a trailing comma and a comment",
        '{"a": 1, /* x */}',
        BYPASS,
        '{"a": 1, /* x */ "countersign.agents": {"X": {"bypassPermissions": true}},}',
    ),
    (
        "the agents stand already",
        '{\n  "countersign.agents": {\n    "Y": {"command": "y"}\n  }\n}',
        BYPASS,
        '{\n  "countersign.agents": {\n    "Y": {"command": "y"},\n    "X": {\n      "bypassPermissions": true\n    }\n'
        "  }\n}",
    ),
    (
        "the agent stands already on one line",
        '{\n  "countersign.agents": {\n    "X": {"command": "y"}\n  }\n}',
        BYPASS,
        '{\n  "countersign.agents": {\n    "X": {"command": "y", "bypassPermissions": true}\n  }\n}',
    ),
    (
        "the agent stands in dotted keys",
        '{\n  "countersign.agents.X.command": "x"\n}',
        BYPASS,
        '{\n  "countersign.agents.X.command": "x",\n  "countersign.agents.X.bypassPermissions": true\n}',
    ),
    (
        "everything stands under one object",
        '{"countersign": {"agents": {}}}',
        BYPASS,
        '{"countersign": {"agents": {"X": {"bypassPermissions": true}}}}',
    ),
    (
        "the value stands already",
        '{"countersign.agents": {"X": {"bypassPermissions": /* no */ false}}}',
        BYPASS,
        '{"countersign.agents": {"X": {"bypassPermissions": /* no */ true}}}',
    ),
    (
        "of duplicate keys the last",
        '{"countersign.agents": {"X": {"a": 1}}, "countersign.agents": {"X": {"b": 1}, "X": {"c": 1}}}',
        BYPASS,
        '{"countersign.agents": {"X": {"a": 1}}, '
        '"countersign.agents": {"X": {"b": 1}, "X": {"c": 1, "bypassPermissions": true}}}',
    ),
    (
        "null stands for it",
        '{"countersign.agents": null}',
        BYPASS,
        '{"countersign.agents": {"X": {"bypassPermissions": true}}}',
    ),
    (
        "a name with dots",
        '{"a": 1}',
        ("agents", "my.agent", "bypassPermissions"),
        '{"a": 1, "countersign.agents": {"my.agent": {"bypassPermissions": true}}}',
    ),
    (
        "a name with dots beside dotted keys",
        '{\n  "countersign.agents.X.command": "x"\n}',
        ("agents", "my.agent", "bypassPermissions"),
        '{\n  "countersign.agents": {\n    "my.agent": {\n      "bypassPermissions": true\n    }\n  },\n'
        '  "countersign.agents.X.command": "x"\n}',
    ),
    ("a path with the prefix", "{}", ("countersign.agents", "X", "bypassPermissions"), NEW.rstrip("\n")),
    (
        "an empty object inside with a comment",
        '{\n  "countersign.agents": { // none yet\n  }\n}',
        BYPASS,
        '{\n  "countersign.agents": { // none yet\n    "X": {\n      "bypassPermissions": true\n    }\n  }\n}',
    ),
]


@pytest.mark.parametrize(("text", "path", "after"), [case[1:] for case in SETS], ids=[case[0] for case in SETS])
def test_a_value_is_set_where_its_object_stands(text, path, after):
    assert set_value(text, path, True) == after


APPENDS = [
    ("no file", "", '{\n    "countersign.permissions.allow": [\n        "r"\n    ]\n}\n'),
    (
        "a list with a comment",
        '{\n  "countersign.permissions.allow": [\n    "a" // one\n  ]\n}',
        '{\n  "countersign.permissions.allow": [\n    "a", // one\n    "r"\n  ]\n}',
    ),
    (
        "a list with a trailing comma",
        '{\n  "countersign.permissions.allow": [\n    "a",\n  ]\n}',
        '{\n  "countersign.permissions.allow": [\n    "a",\n    "r",\n  ]\n}',
    ),
    (
        "a list on one line",
        '{\n  "countersign.permissions": {"allow": ["a"]}\n}',
        '{\n  "countersign.permissions": {"allow": ["a", "r"]}\n}',
    ),
    (
        "a sibling in dotted keys",
        '{"countersign.permissions.deny": ["a"]}',
        '{"countersign.permissions.deny": ["a"], "countersign.permissions.allow": ["r"]}',
    ),
    (
        "a sibling in an object",
        '{"countersign.permissions": {"deny": ["a"]}}',
        '{"countersign.permissions": {"deny": ["a"], "allow": ["r"]}}',
    ),
    ("an empty list", '{"countersign.permissions.allow": []}', '{"countersign.permissions.allow": ["r"]}'),
]


@pytest.mark.parametrize(("text", "after"), [case[1:] for case in APPENDS], ids=[case[0] for case in APPENDS])
def test_a_rule_is_put_at_the_end_of_its_list(text, after):
    assert append_item(text, ALLOW, "r") == after


LIST = '{\n  "countersign.permissions.allow": [\n%s\n  ]\n}'
REMOVES = [
    ('{"countersign.permissions.allow": ["r", "a", "r"]}', '{"countersign.permissions.allow": [ "a"]}'),
    (LIST % '    "a", // one\n    "r"', LIST % '    "a" // one'),
    (LIST % '    "r", // gone\n    "a",', LIST % '     // gone\n    "a",'),
    (LIST % '    "r",\n    "a"', LIST % '    "a"'),
    ('{"countersign.permissions.allow": ["r"]}', '{"countersign.permissions.allow": []}'),
    ('{"countersign.permissions.allow": ["a"]}', '{"countersign.permissions.allow": ["a"]}'),
    ("{}", "{}"),
]


@pytest.mark.parametrize(("text", "after"), REMOVES)
def test_a_rule_is_taken_out_of_its_list_wherever_it_stands(text, after):
    assert remove_items(text, ALLOW, lambda item: item == "r") == after


def test_removing_a_value_never_brings_a_doubled_one_back():
    text = '{"countersign.agents": {"X": {"bypassPermissions": true, "bypassPermissions": false}}, "a": 1}'
    assert remove_value(text, BYPASS) == '{"countersign.agents": {"X": {}}, "a": 1}'
    text = '{"countersign.mode": "ask", "a": 1, "countersign.mode": "plan"}'
    assert remove_value(text, ("mode",)) == '{ "a": 1}'


def test_removing_what_is_not_there_changes_nothing():
    assert remove_value("// x\n", BYPASS) == "// x\n"
    assert remove_value('{"countersign.agents": 5}', BYPASS) == '{"countersign.agents": 5}'


REFUSED = [
    ('{"a": 1', "the settings file is broken in line 1, column 8: a comma or `}` is missing; correct it first"),
    ("[]", "the settings file does not hold an object; correct it first"),
    ('{"countersign.agents": 5}', "`countersign.agents` is not an object; correct it by hand first"),
    ('{"countersign.agents": {"X": []}}', "`countersign.agents.X` is not an object; correct it by hand first"),
    (
        '{"countersign.agents.X.bypassPermissions.y": 1}',
        "`countersign.agents.X.bypassPermissions` cannot be changed without touching other keys, change it by hand",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_cannot_be_changed_honestly_is_refused(text, message):
    with pytest.raises(EditRefused) as caught:
        set_value(text, BYPASS, True)
    assert str(caught.value) == message


def test_a_list_that_is_none_is_left_for_its_owner_to_mend():
    for change in (lambda text: append_item(text, ALLOW, "r"), lambda text: remove_items(text, ALLOW, lambda _: True)):
        with pytest.raises(EditRefused, match="is not a list"):
            change('{"countersign.permissions.allow": "a"}')


# A settings file of any shape: keys with and without our prefix, doubled ones, comments and commas everywhere.

BLANKS = st.lists(
    st.sampled_from([" ", "\t", "\n", "\r\n", '// a, "b": {\n', "/* c } */", "/* \n */"]), max_size=3
).map("".join)
NAMES = st.sampled_from(["X", "Y", "a.b", "command", "allow", "bypassPermissions", "é"])
LEAVES = st.sampled_from(["true", "null", "1", "1.0", '"s"', "[]", "{}"])


@st.composite
def containers(draw, inner):
    kind = draw(st.sampled_from("{["))
    parts = []
    for value in draw(st.lists(inner, max_size=3)):
        key = f"{json.dumps(draw(NAMES))}{draw(BLANKS)}:{draw(BLANKS)}" if kind == "{" else ""
        parts.append(draw(BLANKS) + key + value + draw(BLANKS))
    return wrapped(draw, kind, parts)


def wrapped(draw, kind, parts):
    trailing = "," if parts and draw(st.booleans()) else ""
    return kind + ",".join(parts) + trailing + draw(BLANKS) + {"{": "}", "[": "]"}[kind]


INNER = st.recursive(LEAVES, containers, max_leaves=8)
TOP_KEYS = st.sampled_from([
    "editor.tabSize", "countersign", "countersign.agents", "countersign.agents.X", "countersign.agents.X.command",
    "countersign.permissions", "countersign.permissions.allow", "countersign.permissions.deny", "countersign.mode",
])  # fmt: skip


@st.composite
def files(draw):
    parts = []
    for value in draw(st.lists(INNER, max_size=5)):
        parts.append(draw(BLANKS) + f'"{draw(TOP_KEYS)}"{draw(BLANKS)}:{draw(BLANKS)}' + value + draw(BLANKS))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return bom + draw(BLANKS) + wrapped(draw, "{", parts) + draw(BLANKS)


PATHS = st.sampled_from(
    [BYPASS, ("agents", "a.b", "bypassPermissions"), ALLOW, ("mode",), ("agents", "Y"), ("permissions",)]
)


def meaning(text):
    return settings_tree(parse_jsonc(text)).root.value


def with_value(tree, path, value):
    below = tree.get(path[0]) if isinstance(tree, dict) else None
    new = with_value(below, path[1:], value) if len(path) > 1 else value
    return {**(tree if isinstance(tree, dict) else {}), path[0]: new}


def replaced_node(text, path):
    """What gives way to the new value: the old one, or a null on the way to it."""
    tree = settings_tree(parse_jsonc(text))
    spots = [tree.find(path[:depth]) for depth in range(1, len(path) + 1)]
    return next((spot.node for spot in spots if spot and (spot.value is None or spot is spots[-1])), None)


def comments(text):
    return [text[start:end] for start, end in parse_jsonc(text).comments]


def is_within(short, long):
    """Whether the characters of ``short`` all stand in ``long``, in order."""
    rest = iter(long)
    return all(char in rest for char in short)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files(), PATHS, st.sampled_from([True, "new", ["a"]]))
def test_an_edited_file_means_what_was_set_and_keeps_its_bytes(text, path, value):
    replaced = replaced_node(text, path)
    try:
        edited = set_value(text, path, value)
    except EditRefused:
        return
    expected = with_value(meaning(text), path, value)
    assert json.dumps(meaning(edited), sort_keys=True) == json.dumps(expected, sort_keys=True)
    if replaced is None:
        assert comments(edited) == comments(text)
        assert is_within(text, edited)
    else:
        assert edited.startswith(text[: replaced.start])
        assert edited.endswith(text[replaced.end :])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files(), st.sampled_from(["r", 1, None]))
def test_a_rule_added_and_taken_out_again_leaves_the_file_meaning_the_same(text, rule):
    try:
        added = append_item(text, ALLOW, rule)
    except EditRefused:
        return
    replaced = replaced_node(text, ALLOW)
    if replaced is None or replaced.value is not None:
        assert comments(added) == comments(text)
        assert is_within(text, added)
    assert meaning(added)["permissions"]["allow"][-1] == rule
    gone = remove_items(added, ALLOW, lambda item: item == rule and type(item) is type(rule))
    assert rule not in [item for item in meaning(gone)["permissions"]["allow"] if type(item) is type(rule)]
    assert comments(gone) == comments(added)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files(), PATHS)
def test_a_removed_value_is_gone_and_all_else_stays(text, path):
    try:
        edited = remove_value(text, path)
    except EditRefused:
        return
    assert settings_tree(parse_jsonc(edited)).find(path) is None
    assert is_within(edited, text)
