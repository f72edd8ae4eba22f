"""The keys of a settings file mean here what they mean in VS Code."""

import pytest

from countersign.settings.jsonc import parse_jsonc
from countersign.settings.tree import nested, policy_tree, setting_path, settings_tree

MEANS = [
    ('{"countersign.agents": {"X": {"model": "m"}}}', {"agents": {"X": {"model": "m"}}}, 0),
    ('{"countersign.permissions.allow": ["a"], "editor.tabSize": 2}', {"permissions": {"allow": ["a"]}}, 0),
    ('{"countersign": {"mode": "plan"}}', {"mode": "plan"}, 0),
    ('{"countersign": {"mode": "plan"}, "countersign.mode": "ask"}', {"mode": "ask"}, 0),
    ('{"countersign.mode": "ask", "countersign": {"mode": "plan"}}', {"mode": "plan"}, 0),
    ('{"countersign.agents": {"a.b": 1}}', {"agents": {"a.b": 1}}, 0),
    ('{"countersign.agents": {"X": 1}, "countersign.agents.Y": 2}', {"agents": {"X": 1, "Y": 2}}, 0),
    ('{"countersign.agents.Y": 2, "countersign.agents": {"X": 1}}', {"agents": {"X": 1}}, 0),
    ('{"countersign.mode": "ask", "countersign.mode": "plan"}', {"mode": "plan"}, 1),
    ('{"countersign.agents": {"X": 1, "X": 2}}', {"agents": {"X": 2}}, 1),
    # the first place of a key with its last value, as JavaScript objects have it
    ('{"countersign.a": {"x": 1}, "countersign.a.y": 2, "countersign.a": {"z": 3}}', {"a": {"z": 3, "y": 2}}, 1),
    ('{"countersign.mode": "ask", "countersign.mode.x": 1}', {"mode": "ask"}, 1),
    ('{"countersign.a": null, "countersign.a.x": 1}', {"a": None}, 1),
    ('{"countersign": 5}', {}, 1),
    ('{"countersigned.mode": "plan", "editor": 1, "editor": 2}', {}, 0),
    ("", {}, 0),
]


@pytest.mark.parametrize(("text", "value", "ignored"), MEANS)
def test_dotted_nested_and_doubled_keys_mean_what_vs_code_makes_of_them(text, value, ignored):
    tree = settings_tree(parse_jsonc(text))
    assert tree.root.value == value
    assert len(tree.ignored) == ignored


def test_a_policy_file_may_leave_out_the_prefix():
    text = '{"permissions": {"deny": ["a"]}, "countersign.mode": "plan", "approvals.timeout": 5}'
    assert policy_tree(parse_jsonc(text)).root.value == {
        "permissions": {"deny": ["a"]},
        "mode": "plan",
        "approvals": {"timeout": 5},
    }


def test_a_clients_layer_may_be_dotted_or_prefixed():
    sent = {"permissions.deny": ["a"], "countersign.permissions": {"ask": ["b"]}, "agents": {"a.b": {}}}
    assert nested({"permissions.deny": ["a"], "agents": {"a.b": {}}}) == {
        "permissions": {"deny": ["a"]},
        "agents": {"a.b": {}},
    }
    assert nested(sent)["permissions"] == {"deny": ["a"], "ask": ["b"]}
    assert nested({"countersign": {"mode": "plan"}}) == {"mode": "plan"}


def test_paths_are_understood_with_and_without_the_prefix():
    assert setting_path(["countersign.agents", "a.b", "x"]) == ("agents", "a.b", "x")
    assert setting_path(["countersign", "agents"]) == ("agents",)
    assert setting_path(["agents", "X"]) == ("agents", "X")
