"""Layers to one Policy; past 500 lines, because it is one table of what each setting comes to.

A workspace tightens by itself; it loosens only where it is trusted and a person confirmed that very value.
"""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from countersign.settings.agents import RECIPE_NAMES, agent_config
from countersign.settings.jsonc import parse_jsonc
from countersign.settings.layers import Layer, Layers, Place, TooDeep, file_layer, only_forbidding, sent_layer
from countersign.settings.merge import build_policy, fail_closed
from countersign.settings.modes import CELLS, MODES, is_looser
from countersign.settings.policy import AgentConfig, ModelConfig, Policy, RuleText, SecretText
from countersign.settings.policy_reader import SANDBOX_MODES, SANDBOX_NETWORKS
from countersign.settings.tree import settings_tree

FILE = "/w/.vscode/settings.json"


def built(workspace=None, user=None, managed=None, folder=None, trusted=True, answers=None, environ=None):
    told = [values for values in (workspace, folder) if values is not None]
    layers = Layers(
        default=Layer("default"),
        user=(Layer("user", user or {}),),
        workspace=tuple(Layer("workspace", values, FILE) for values in told),
        managed=Layer("managed", managed, "/etc/m.json") if managed is not None else None,
    )
    return build_policy(
        layers, workspace="/w", home="/home/me", trusted=trusted, answers=answers or {}, environ=environ or {}
    )


def accepted(found):
    return dict.fromkeys(found.claims, True)


def difference(one, other):
    """The fields in which two policies differ, with the first one's values."""
    names = [field.name for field in fields(Policy) if field.name != "not_yet"]
    return {name: getattr(one, name) for name in names if getattr(one, name) != getattr(other, name)}


PLAIN = built().policy


def rules(*texts, listed="deny", scope="workspace", file=FILE):
    return tuple(RuleText(listed, text, scope, file) for text in texts)


def test_with_no_settings_there_is_one_agent_on_the_demo_model():
    assert {"Countersign": AgentConfig("Countersign", model="demo")} == PLAIN.agents
    assert {"demo": ModelConfig("demo", "demo")} == PLAIN.models
    assert (PLAIN.mode, PLAIN.default_agent, PLAIN.approvals_timeout) == ("default", "Countersign", 300.0)
    assert PLAIN.problems == ()


TIGHTENS = [
    ({"permissions": {"deny": ["a"]}}, {}, {"rules": rules("a")}),
    ({"permissions": {"ask": ["a"]}}, {}, {"rules": rules("a", listed="ask")}),
    ({"permissions": {"disableBypass": True}}, {}, {"disable_bypass": True}),
    ({"permissions": {"disableBypass": "yes"}}, {}, {"disable_bypass": True}),
    ({"approvals": {"timeout": 60}}, {}, {"approvals_timeout": 60.0}),
    ({"approvals": {"timeout": 60}}, {"approvals": {"timeout": 0}}, {"approvals_timeout": 60.0}),
    ({"sandbox": {"mode": "workspace"}}, {}, {"sandbox_mode": "commands"}),
    ({"sandbox": {"mode": "commands"}}, {}, {"sandbox_mode": "commands"}),
    ({"sandbox": {"mode": "all"}}, {"sandbox": {"mode": "commands"}}, {"sandbox_mode": "all", "sandbox_chosen": True}),
    ({"sandbox": {"autoAllow": False}}, {"sandbox": {"autoAllow": True}}, {}),
    (
        {"sandbox": {"network": "off"}},
        {"sandbox": {"mode": "workspace", "network": "hosts"}},
        {"sandbox_mode": "commands", "sandbox_chosen": True},
    ),
    ({"mode": "plan"}, {}, {"mode": "plan", "tightening": ("plan",)}),
    ({"mode": "ask"}, {}, {"mode": "ask", "tightening": ("ask",)}),
    ({"mode": "default"}, {"mode": "auto"}, {"tightening": ("default",)}),
    ({"mode": "bogus"}, {}, {"tightening": ("ask",)}),
]


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(("workspace", "user", "expected"), TIGHTENS)
def test_what_tightens_counts_by_itself_trusted_or_not(workspace, user, expected, trusted):
    found = built(workspace, user, trusted=trusted)
    changed = difference(found.policy, PLAIN)
    assert changed | {"trusted": 0, "raw": 0, "problems": 0} == expected | {"trusted": 0, "raw": 0, "problems": 0}
    assert found.unconfirmed == ()


LOOSENS = [
    ({"permissions": {"allow": ["a", "b"]}}, {}, ["permissions.allow", "permissions.allow"], ["a", "b"]),
    ({"permissions": {"additionalDirectories": ["/x"]}}, {}, ["permissions.additionalDirectories"], ["/x"]),
    ({"mode": "auto"}, {}, ["mode"], ["auto"]),
    ({"mode": "default"}, {"mode": "ask"}, ["mode"], ["default"]),
    ({"approvals": {"timeout": 600}}, {}, ["approvals.timeout"], [600]),
    ({"approvals": {"timeout": 0}}, {}, ["approvals.timeout"], [0]),
    ({"approvals": {"timeout": 9}}, {}, ["approvals.timeout"], [9]),
    ({"sandbox": {"mode": "off"}}, {"sandbox": {"mode": "workspace"}}, ["sandbox.mode"], ["off"]),
    ({"sandbox": {"mode": "off"}}, {"sandbox": {"mode": "all"}}, ["sandbox.mode"], ["off"]),
    ({"sandbox": {"mode": "commands"}}, {"sandbox": {"mode": "all"}}, ["sandbox.mode"], ["commands"]),
    ({"sandbox": {"network": "hosts"}}, {}, ["sandbox.network"], ["hosts"]),
    ({"sandbox": {"network": "all"}}, {"sandbox": {"network": "hosts"}}, ["sandbox.network"], ["all"]),
    ({"sandbox": {"autoAllow": True}}, {}, ["sandbox.autoAllow"], [True]),
    ({"sandbox": {"hosts": ["a.example", "*.b.example"]}}, {}, ["sandbox.hosts"] * 2, ["a.example", "*.b.example"]),
    ({"agents": {"X": {"command": "x"}}}, {}, ["agents.X"], [{"command": "x"}]),
    ({"agents": {"Countersign": {"model": "m"}}}, {}, ["agents.Countersign"], [{"model": "m"}]),
    ({"agents": {"X": {"bypassPermissions": True}}}, {}, ["agents.X.bypassPermissions"], [True]),
    ({"models": {"m": {"provider": "ollama"}}}, {}, ["models.m"], [{"provider": "ollama"}]),
    ({"mcpServers": {"s": {"command": "x"}}}, {}, ["mcpServers.s"], [{"command": "x"}]),
    ({"hooks": {"beforeTool": [{"command": "x"}]}}, {}, ["hooks.beforeTool"], [{"command": "x"}]),
    ({"limits": {"writesPerTurn": 5}}, {}, ["limits.writesPerTurn"], [5]),
    ({"shell": {"timeout": 1, "env": {"pass": ["A"]}}}, {}, ["shell.timeout", "shell.env.pass"], [1, ["A"]]),
    ({"defaultAgent": "X"}, {"agents": {"X": {}}}, ["defaultAgent"], ["X"]),
    ({"recipes": {"r": {"files": []}}}, {}, ["recipes"], [{"r": {"files": []}}]),
]


@pytest.mark.parametrize(("workspace", "user", "keys", "values"), LOOSENS)
def test_what_loosens_is_ignored_and_reported_until_a_person_confirms_it(workspace, user, keys, values):
    quiet = built({}, user)
    waiting = built(workspace, user)
    assert [item.key for item in waiting.unconfirmed] == [f"countersign.{key}" for key in keys]
    assert [item.value for item in waiting.unconfirmed] == values
    assert difference(waiting.policy, quiet.policy).keys() <= {"tightening", "problems"}

    confirmed = built(workspace, user, answers=accepted(waiting))
    assert confirmed.unconfirmed == ()
    assert difference(confirmed.policy, quiet.policy).keys() - {"tightening", "problems"}

    refused = built(workspace, user, answers=dict.fromkeys(waiting.claims, False))
    assert refused.unconfirmed == ()
    assert difference(refused.policy, quiet.policy).keys() <= {"tightening", "problems"}

    untrusted = built(workspace, user, answers=accepted(waiting), trusted=False)
    assert difference(untrusted.policy, quiet.policy).keys() <= {"tightening", "trusted", "problems"}


def test_each_value_is_confirmed_by_itself():
    workspace = {"permissions": {"allow": ["a", "b"]}, "models": {"m": {"provider": "ollama"}}}
    first, *_ = built(workspace).unconfirmed
    found = built(workspace, answers={first.digest: True})
    assert found.policy.rules == rules("a", listed="allow")
    assert [item.value for item in found.unconfirmed] == ["b", {"provider": "ollama"}]


def test_another_value_at_the_same_place_is_asked_anew():
    answers = accepted(built({"agents": {"X": {"command": "x"}}}))
    assert [item.key for item in built({"agents": {"X": {"command": "y"}}}, answers=answers).unconfirmed] == [
        "countersign.agents.X"
    ]


def test_a_single_folders_settings_told_twice_are_one_item_and_one_rule():
    said = {"permissions": {"allow": ["a"], "deny": ["b"]}, "agents": {"Countersign": {"bypassPermissions": True}}}
    waiting = built(said, folder=said)
    assert len(waiting.unconfirmed) == 2
    found = built(said, folder=said, answers=accepted(waiting))
    assert found.policy.rules == rules("b") + rules("a", listed="allow")
    assert found.policy.bypasses("Countersign")


def test_what_only_the_client_reads_is_never_a_workspaces_business():
    assert built({"interpreter": "/evil", "serverPath": "/evil"}).unconfirmed == ()


def test_an_item_says_what_it_would_mean_with_nothing_hidden():
    (item,) = built({"permissions": {"allow": ["Bash(ls \u202e*)"]}}).unconfirmed
    assert item.text == "calls that `Bash(ls \\u202e*)` covers would run without asking"
    (item,) = built({"hooks": {"before{0}": ["{x}"]}}).unconfirmed
    assert item.text == "the hook `{x}` would run at every `before{0}`"


BYPASS = {"agents": {"X": {"bypassPermissions": True}}}
NO_BYPASS = {"agents": {"X": {"bypassPermissions": False}}}
USER_X = {"agents": {"X": {"command": "x"}}}
BYPASSES = [
    ("a user's word counts", {}, BYPASS, None, True),
    ("a workspace's false beats it", NO_BYPASS, BYPASS, None, False),
    ("a workspace's nonsense beats it", {"agents": {"X": {"bypassPermissions": "yes"}}}, BYPASS, None, False),
    ("an administrator's word counts", {}, {}, BYPASS, True),
    ("an administrator's false beats everybody", BYPASS, BYPASS, NO_BYPASS, False),
    ("a workspace's false beats the administrator's true", NO_BYPASS, BYPASS, BYPASS, False),
    ("a user may switch it off for all", {}, BYPASS | {"permissions": {"disableBypass": True}}, None, False),
    ("an administrator may switch it off for all", {}, BYPASS, {"permissions": {"disableBypass": True}}, False),
    ("and nobody can switch that on again", {"permissions": {"disableBypass": False}}, BYPASS,
     {"permissions": {"disableBypass": True}}, False),
    ("a workspace's word alone does not count", BYPASS, USER_X, None, False),
    ("nonsense is no bypass", {}, {"agents": {"X": {"bypassPermissions": 1}}}, None, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("workspace", "user", "managed", "counts"), [case[1:] for case in BYPASSES], ids=[case[0] for case in BYPASSES]
)
def test_bypass(workspace, user, managed, counts):
    assert built(workspace, user, managed).policy.bypasses("X") is counts
    untrusted = built(workspace, user, managed, trusted=False).policy
    assert not untrusted.bypasses("X")
    assert not any(agent.bypass for agent in untrusted.agents.values())


def test_a_confirmed_bypass_of_the_workspace_counts_and_says_where_it_stands():
    tree = settings_tree(parse_jsonc('{\n  "countersign.agents.X.bypassPermissions": true\n}'))
    layers = Layers(workspace=(file_layer("workspace", FILE, tree),))
    given_to = {"workspace": "/w", "home": "/h", "trusted": True}
    waiting = build_policy(layers, answers={}, **given_to)
    assert (waiting.unconfirmed[0].file, waiting.unconfirmed[0].line) == (FILE, 2)
    policy = build_policy(layers, answers=accepted(waiting), **given_to).policy
    assert policy.bypasses("X")
    assert (policy.agents["X"].bypass_file, policy.agents["X"].bypass_line) == (FILE, 2)


@pytest.mark.parametrize(
    "changed",
    [{"command": "y"}, {"args": ["-x"]}, {"env": {"A": "b"}}, {"cwd": "/x"}],
    ids=lambda changed: next(iter(changed)),
)
def test_a_confirmed_bypass_ends_when_the_agent_becomes_another(changed):
    answers = accepted(built(BYPASS, USER_X))
    assert built(BYPASS, USER_X, answers=answers).policy.bypasses("X")
    later = built(BYPASS, {"agents": {"X": USER_X["agents"]["X"] | changed}}, answers=answers)
    assert not later.policy.bypasses("X")
    assert [item.key for item in later.unconfirmed] == ["countersign.agents.X.bypassPermissions"]


def test_an_agent_of_the_workspace_and_its_bypass_are_confirmed_in_any_order():
    workspace = {"agents": {"X": {"command": "evil", "bypassPermissions": True}}}
    waiting = built(workspace)
    entry, bypass = (item.digest for item in waiting.unconfirmed)
    only_bypass = built(workspace, answers={bypass: True})
    assert not only_bypass.policy.bypasses("X")
    assert [item.digest for item in only_bypass.unconfirmed] == [entry]
    only_entry = built(workspace, answers={entry: True})
    assert not only_entry.policy.bypasses("X")
    assert [item.digest for item in only_entry.unconfirmed] == [bypass]
    assert built(workspace, answers={entry: True, bypass: True}).policy.bypasses("X")


def test_bypass_is_asked_of_the_agent_as_it_is_where_the_workspaces_own_was_refused():
    pulled = {"agents": {"X": {"command": "evil", "bypassPermissions": True}}}
    entry, bypass = (item.digest for item in built(pulled, USER_X).unconfirmed)
    refused = built(pulled, USER_X, answers={entry: False, bypass: True})
    assert not refused.policy.bypasses("X")
    (item,) = refused.unconfirmed
    found = built(pulled, USER_X, answers={entry: False, item.digest: True}).policy
    assert (found.agents["X"].command, found.bypasses("X")) == ("x", True)


def test_bypass_confirmed_for_the_users_agent_is_not_lent_to_the_workspaces():
    answers = accepted(built(BYPASS, USER_X))
    pulled = {"agents": {"X": {"command": "evil", "bypassPermissions": True}}}
    still = built(pulled, USER_X, answers=answers)
    assert still.policy.agents["X"].command == "x"
    assert still.policy.bypasses("X")
    assert answers.keys() <= still.claims.keys()
    entry = next(item for item in still.unconfirmed if item.key == "countersign.agents.X")
    swapped = built(pulled, USER_X, answers=answers | {entry.digest: True})
    assert swapped.policy.agents["X"].command == "evil"
    assert not swapped.policy.bypasses("X")


def test_layers_of_an_agent_are_merged_key_by_key():
    user = {"agents": {"X": {"command": "x", "args": ["a"], "env": {"A": "1", "B": "${env:HOME}/${env:N}"}}}}
    managed = {"agents": {"X": {"args": ["m"], "env": {"A": "2"}}}}
    policy = built({}, user, managed, environ={"HOME": "/home/me", "N": "n"}).policy
    written = {"A": "2", "B": "${env:HOME}/${env:N}"}
    env = {"A": "2", "B": "/home/me/n"}
    assert policy.agents["X"] == AgentConfig("X", "acp", "x", ("m",), env, written_env=written)
    assert policy.agents["Countersign"] == AgentConfig("Countersign", model="demo")


NEEDS_TEXTS = "the agent `X` needs a text as `command`, texts in `args` and `env`; it does not count"
BAD_AGENTS = [
    ({"X": 5}, "the agent `X` is not an object and does not count"),
    ({"X": {"command": ""}}, NEEDS_TEXTS),
    ({"X": {"command": "x", "args": "a"}}, NEEDS_TEXTS),
    ({"X": {"command": "x", "env": {"A": 1}}}, NEEDS_TEXTS),
    ({"Countersign/1": {}}, "`Countersign/1` cannot be the name of an agent and does not count"),
    ({"X\u202e": {}}, "`X\\u202e` cannot be the name of an agent and does not count"),
]  # fmt: skip


@pytest.mark.parametrize(("agents", "message"), BAD_AGENTS)
def test_an_agent_that_cannot_be_meant_is_left_out_and_told(agents, message):
    policy = built(user={"agents": agents}).policy
    assert list(policy.agents) == ["Countersign"]
    assert [problem.message for problem in policy.problems] == [message]


def test_a_variable_that_is_not_set_is_left_out_and_told():
    policy = built(user={"agents": {"X": {"command": "x", "env": {"K": "${env:NONE}"}}}}).policy
    assert policy.agents["X"].env == {}
    assert "`K`" in policy.problems[0].message


@pytest.mark.parametrize(
    ("value", "texts", "names"),
    [
        ("${secret:KEY}", ("", ""), ("KEY",)),
        ("Bearer ${secret:a.B-1_}, ${secret:KEY}", ("Bearer ", ", ", ""), ("a.B-1_", "KEY")),
        ("${env:N}${secret:KEY}", ("n", ""), ("KEY",)),
    ],
)
def test_a_secret_of_an_agent_is_not_filled_in_by_the_settings(value, texts, names):
    user = {"agents": {"X": {"command": "x", "env": {"K": value, "A": "1"}}}}
    agent = built(user=user, environ={"N": "n"}).policy.agents["X"]
    assert (agent.env, agent.secret_env) == ({"A": "1"}, {"K": SecretText(texts, names)})
    filled = agent.secret_env["K"].filled({name: f"{{{name}}}" for name in names})
    assert filled == value.replace("${env:N}", "n").replace("${secret:", "{")


def test_a_variable_of_the_environment_names_no_secret():
    user = {"agents": {"X": {"command": "x", "env": {"K": "${env:N}"}}}}
    agent = built(user=user, environ={"N": "${secret:KEY}"}).policy.agents["X"]
    assert (agent.env, agent.secret_env) == ({"K": "${secret:KEY}"}, {})


@pytest.mark.parametrize("value", ["${secret:}", "${secret:a b}", "${secret:ä}", "x${secret:KEY}${secret:}"])
def test_a_secret_without_a_proper_name_is_left_out_and_told(value):
    policy = built(user={"agents": {"X": {"command": "x", "env": {"K": value}}}}).policy
    assert (policy.agents["X"].env, policy.agents["X"].secret_env) == ({}, {})
    assert "a secret is written `${secret:NAME}`" in policy.problems[0].message


def test_a_secret_counts_for_hosted_agents_only():
    policy = built(user={"agents": {"X": {"env": {"K": "${secret:KEY}"}}}}).policy
    assert policy.agents["X"].secret_env == {}
    assert "counts for hosted agents only" in policy.problems[0].message


def test_models_name_the_secrets_that_no_command_may_see():
    models = {"big": {"provider": "openai", "model": "m", "baseUrl": "http://x", "apiKeyEnv": "MY_KEY"}, "bad": {}}
    policy = built(user={"models": models}).policy
    assert policy.models == {
        "demo": ModelConfig("demo", "demo"),
        "big": ModelConfig("big", "openai", "m", "http://x", "MY_KEY"),
    }
    assert policy.secret_variables == {"MY_KEY"}
    assert [problem.message for problem in policy.problems if problem.message not in policy.not_yet] == [
        "the model `bad` needs a `provider` out of demo, ollama, openai, anthropic, google, vscode; it does not count"
    ]


INVALID = [
    ({"approvals": {"timeout": value}}, "approvals_timeout", 300.0)
    for value in (-1, "60", True, [], float("inf"), float("nan"))
] + [
    ({"limits": {"writesPerTurn": -1}}, "writes_per_turn", 100),
    ({"limits": {"writesPerTurn": 1.5}}, "writes_per_turn", 100),
    ({"limits": {"stepsPerTurn": 0}}, "steps_per_turn", 200),
    ({"limits": {"callsPerMessage": 0}}, "calls_per_message", 64),
    ({"shell": {"timeout": 0}}, "shell_timeout", 120.0),
    ({"shell": {"maxBackground": None, "timeout": "x"}}, "shell_timeout", 120.0),
    ({"shell": {"env": {"pass": "A"}}}, "shell_env_pass", ()),
    ({"sandbox": {"mode": True}}, "sandbox_mode", "off"),
    ({"sandbox": {"network": 1}}, "sandbox_network", "none"),
    ({"mode": "Auto"}, "mode", "ask"),
    ({"defaultAgent": "nobody"}, "default_agent", "Countersign"),
]


@pytest.mark.parametrize(("user", "field", "value"), INVALID)
def test_a_value_that_cannot_be_meant_gives_way_to_the_default_with_a_warning(user, field, value):
    policy = built(user=user).policy
    assert getattr(policy, field) == value
    assert [problem.severity for problem in policy.problems] == ["warning"]


def test_a_workspaces_invalid_time_out_is_told_with_file_and_line():
    tree = settings_tree(parse_jsonc('{\n\n "countersign.approvals.timeout": "soon"}'))
    layers = Layers(workspace=(file_layer("workspace", FILE, tree),))
    policy = build_policy(layers, workspace="/w", home="/h", trusted=False, answers={}).policy
    assert policy.approvals_timeout == 300.0
    (problem,) = policy.problems
    assert (problem.file, problem.line, problem.column) == (FILE, 3, 2)
    assert "`soon`" in problem.message


def test_the_administrator_overrides_everybody_but_what_tightens():
    managed = {"approvals": {"timeout": 100}, "mode": "default", "permissions": {"allow": ["m"]}}
    policy = built({"approvals": {"timeout": 200}}, {"approvals": {"timeout": 900}, "mode": "auto"}, managed).policy
    assert (policy.approvals_timeout, policy.mode, policy.tightening) == (100.0, "default", ("default",))
    assert built({"approvals": {"timeout": 50}}, managed=managed).policy.approvals_timeout == 50.0
    assert policy.rules == (RuleText("allow", "m", "managed", "/etc/m.json"),)


def test_of_a_managed_file_that_anybody_could_write_only_what_forbids_counts():
    said = {
        "mode": "plan",
        "agents": {"X": {"bypassPermissions": True}},
        "permissions": {
            "allow": ["a"],
            "deny": ["d"],
            "ask": ["q"],
            "additionalDirectories": ["/"],
            "disableBypass": 1,
        },
    }
    assert only_forbidding(Layer("managed", said)).values == {
        "permissions": {"deny": ["d"], "ask": ["q"], "disableBypass": True}
    }
    assert only_forbidding(Layer("managed", {"permissions": "x"})).values == {"permissions": "x"}
    assert only_forbidding(Layer("managed", {"mode": "auto"})).values == {}


def test_rules_know_their_line_and_no_forbidding_entry_is_ever_lost():
    text = """{
      "countersign.permissions": {
        "deny": ["a", 5, null,
                 {"rule": "b", "reason": "why", "match": ["x"], "notMatch": ["y"]}, {"rule": "c", "when": 1}],
        "ask": "Bash",
        "alow": []
      },
      "countersign.permissions.allow": ["d", 5, {"rule": "e", "agent": "X"}]
    }"""
    layer = file_layer("user", "/u.json", settings_tree(parse_jsonc(text)))
    policy = build_policy(Layers(user=(layer,)), workspace="/w", home="/h", trusted=True, answers={}).policy
    assert [(rule.list, rule.text, rule.line, rule.column) for rule in policy.rules] == [
        ("deny", "a", 3, 18),
        ("deny", "[5]", 3, 23),
        ("deny", "[null]", 3, 26),
        ("deny", "b", 4, 18),
        ("deny", '{"rule":"c","when":1}', 4, 85),
        ("ask", "Bash", 5, 9),
        ("allow", "d", 8, 41),
        ("allow", "e", 8, 49),
    ]
    assert policy.rules[3].reason == "why"
    assert (policy.rules[3].matching, policy.rules[3].not_matching) == (("x",), ("y",))
    assert [rule.agent for rule in policy.rules[-2:]] == [None, "X"]
    assert [(problem.line, problem.message) for problem in policy.problems] == [
        (6, "`alow` is no setting of `permissions` and does not count (the nearest is `allow`)"),
        (5, "`countersign.permissions.ask` is malformed and counts as one broken rule; correct it"),
        (8, "the rule `5` has the wrong form and grants nothing"),
    ]


def test_permissions_of_the_wrong_form_fail_closed():
    for scope in ("workspace", "user", "managed"):
        policy = built(**{scope: {"permissions": ["deny everything"]}}).policy
        assert [(rule.list, rule.text) for rule in policy.rules] == [("deny", '["deny everything"]')]


def test_an_allow_entry_of_the_workspace_that_is_no_rule_is_told_and_never_offered():
    found = built({"permissions": {"allow": [5, {"rule": 1}]}})
    assert found.unconfirmed == ()
    assert len(found.policy.problems) == 2


def test_hooks_of_all_layers_are_kept_so_that_none_silences_another():
    user, managed = {"hooks": {"beforeTool": [{"command": "u"}]}}, {"hooks": {"beforeTool": [{"command": "m"}]}}
    workspace = {"hooks": {"beforeTool": [{"command": "w"}, {"command": "u"}]}}
    waiting = built(workspace, user, managed)
    assert waiting.policy.raw["hooks"] == {"beforeTool": [{"command": "u"}, {"command": "m"}]}
    found = built(workspace, user, managed, answers=accepted(waiting)).policy
    assert found.raw["hooks"] == {"beforeTool": [{"command": "u"}, {"command": "w"}, {"command": "m"}]}


def test_folders_are_absolute_and_what_is_none_is_told():
    user = {"permissions": {"additionalDirectories": ["~/src", "../lib", "/x/../y", 5, "", "a\u202eb"]}}
    policy = built(user=user).policy
    assert policy.additional_directories == ("/home/me/src", "/y")
    assert [problem.severity for problem in policy.problems] == ["error", "warning", "warning", "warning"]


def test_a_sandbox_that_only_the_workspace_turned_on_stands_for_no_approval():
    found = built({"sandbox": {"mode": "workspace"}}).policy
    assert (found.sandbox_mode, found.sandbox_chosen) == ("commands", False)
    found = built({}, {"sandbox": {"mode": "workspace"}}).policy
    assert (found.sandbox_mode, found.sandbox_chosen) == ("commands", True)


def test_what_is_not_known_asks_and_keeps_every_rule_that_forbids():
    user = {"permissions": {"allow": ["a"], "deny": ["d"], "additionalDirectories": ["/x"]}} | BYPASS
    user["sandbox"] = {"mode": "workspace", "network": "hosts"}
    last = built({"permissions": {"ask": ["q"]}, "sandbox": {"mode": "workspace"}, "mode": "plan"}, user).policy
    policy = fail_closed(built({}, user).policy, last)
    assert [(rule.list, rule.text) for rule in policy.rules] == [("deny", "d"), ("ask", "q")]
    assert (policy.mode, policy.tightening) == ("ask", ("plan", "ask"))
    assert policy.additional_directories == ()
    assert (policy.sandbox_mode, policy.sandbox_network, policy.sandbox_chosen) == ("commands", "none", False)
    assert not policy.bypasses("X")
    assert not policy.agents["X"].bypass
    assert policy.disable_bypass
    assert fail_closed(PLAIN, None).mode == "ask"


def test_agents_of_a_workspace_do_not_outlive_its_trust_in_what_was_last_known():
    workspace = {"agents": {"X": {"command": "x"}}}
    last = built(workspace, answers=accepted(built(workspace))).policy
    assert "X" in last.agents
    assert "X" in fail_closed(PLAIN, last).agents
    assert "X" not in fail_closed(built(trusted=False).policy, last).agents


def test_a_layer_from_an_editor_may_not_be_nested_without_end():
    deep = value = {}
    for _ in range(70):
        value["a"] = {}
        value = value["a"]
    with pytest.raises(TooDeep):
        sent_layer("user", deep)


def test_lines_of_what_an_editor_sent_are_found_in_the_file_where_it_says_the_same():
    tree = settings_tree(
        parse_jsonc('{\n"countersign.permissions": {\n"deny": ["a",\n"b"]}, "countersign.mode": "ask"}')
    )
    layer = sent_layer("workspace", {"permissions": {"deny": ["b", "c"]}, "mode": "plan"}, FILE, tree)
    place_of = layer.item_places(("permissions", "deny"))
    assert (place_of("b").line, place_of("c").line, layer.place("mode").line) == (4, None, None)
    assert place_of("c").file == FILE


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_not_looser_than_itself_and_auto_is_looser_than_all_others(mode):
    assert not is_looser(mode, mode)
    assert is_looser("auto", mode) is (mode != "auto")
    assert set(CELLS) == set(MODES)


# Whatever stands in a workspace's layer, unconfirmed it only narrows.

SOME = st.sampled_from
VALUES = SOME(
    [
        None,
        True,
        False,
        0,
        9,
        60,
        600,
        -1,
        "x",
        "auto",
        "plan",
        "workspace",
        "commands",
        "all",
        "none",
        "off",
        "hosts",
        [],
        ["x"],
        {},
    ]
)
ENTRIES = st.dictionaries(
    SOME(["command", "args", "env", "model", "bypassPermissions", "apiKeyEnv"]), VALUES, max_size=3
)
WORKSPACES = st.fixed_dictionaries(
    {},
    optional={
        "permissions": VALUES
        | st.dictionaries(SOME(["allow", "ask", "deny", "additionalDirectories", "disableBypass"]), VALUES),
        "mode": VALUES,
        "approvals": VALUES | st.fixed_dictionaries({"timeout": VALUES}),
        "sandbox": VALUES | st.dictionaries(SOME(["mode", "network", "hosts", "writable", "autoAllow"]), VALUES),
        "agents": VALUES | st.dictionaries(SOME(["X", "Y", "Countersign"]), VALUES | ENTRIES),
        "models": VALUES | st.dictionaries(SOME(["demo", "m"]), VALUES | ENTRIES),
        "limits": VALUES | st.fixed_dictionaries({"writesPerTurn": VALUES}),
        "hooks": VALUES | st.fixed_dictionaries({"beforeTool": VALUES}),
        "defaultAgent": VALUES,
        "shell": VALUES | st.fixed_dictionaries({"timeout": VALUES}),
        "mcpServers": VALUES | st.dictionaries(st.just("s"), ENTRIES),
    },
)
USERS = [{}, USER_X | {"mode": "auto", "sandbox": {"mode": "workspace", "network": "hosts"}}, BYPASS]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORKSPACES, st.none() | WORKSPACES, SOME(USERS), st.booleans())
def test_nothing_unconfirmed_of_a_workspace_widens_anything(workspace, folder, user, trusted):
    before, found = (
        built({}, user, trusted=trusted).policy,
        built(workspace, user, folder=folder, trusted=trusted).policy,
    )
    allowed = {rule for rule in found.rules if rule.list == "allow"}
    assert allowed <= set(before.rules)
    assert found.agents.keys() == before.agents.keys()
    for name, agent in found.agents.items():
        assert (agent.command, agent.args, agent.env, agent.model) == (
            before.agents[name].command, before.agents[name].args, before.agents[name].env, before.agents[name].model,
        )  # fmt: skip
        assert not found.bypasses(name) or before.bypasses(name)
    assert not is_looser(found.mode, before.mode)
    assert 0 < found.approvals_timeout <= before.approvals_timeout
    assert found.approvals_timeout >= 10
    assert SANDBOX_MODES.index(before.sandbox_mode) <= SANDBOX_MODES.index(found.sandbox_mode)
    assert SANDBOX_NETWORKS.index(before.sandbox_network) >= SANDBOX_NETWORKS.index(found.sandbox_network)
    assert before.sandbox_auto_allow or not found.sandbox_auto_allow
    assert set(found.sandbox_hosts) <= set(before.sandbox_hosts)
    assert found.sandbox_writable == before.sandbox_writable
    assert found.sandbox_chosen is before.sandbox_chosen
    same = {"models", "default_agent", "writes_per_turn", "shell_timeout", "additional_directories", "secret_variables"}
    assert not difference(found, before).keys() & same
    for key in ("agents", "models", "hooks", "mcpServers", "limits", "shell"):
        assert found.raw.get(key) == before.raw.get(key)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORKSPACES, SOME(USERS))
def test_accepting_everything_settles_everything(workspace, user):
    waiting = built(workspace, user)
    assert built(workspace, user, answers=accepted(waiting)).unconfirmed == ()


def test_a_hook_that_is_not_run_makes_the_mode_ask():
    policy = built(user={"hooks": {"beforeTool": [{"command": "deny-everything"}]}}).policy
    assert policy.tightening == ("ask",)
    assert any("hooks are not run" in problem.message for problem in policy.problems)


NOTHING_YET: dict[str, dict] = {
    "mcpServers": {"mcpServers": {"files": {"command": "files"}}},
    "hooks.beforeTool": {"hooks": {"beforeTool": [{"command": "x"}]}},
    "hooks.afterTool": {"hooks": {"afterTool": [{"command": "x"}]}},
    "hooks.notification": {"hooks": {"notification": [{"command": "x"}]}},
}


@pytest.mark.parametrize("name", NOTHING_YET)
def test_a_setting_that_does_nothing_yet_is_said_in_every_layer(name: str):
    for layers in ({"user": NOTHING_YET[name]}, {"workspace": NOTHING_YET[name]}):
        policy = built(**layers).policy
        assert any("not yet available" in problem.message for problem in policy.problems), layers
        assert policy.not_yet


def test_a_setting_that_is_off_is_nothing_to_speak_of():
    off = {"sandbox": {"mode": "off", "network": "off"}, "mcpServers": {}, "hooks": {"beforeTool": []}}
    assert built(off, off).policy.not_yet == ()
    for provider in ("ollama", "openai", "anthropic", "google", "vscode"):
        assert built({}, {"models": {"small": {"provider": provider, "model": "m"}}}).policy.not_yet == ()


def test_a_model_has_its_api_its_context_and_its_options():
    entry = {"provider": "openai", "model": "m", "api": "chat", "contextTokens": 8000, "options": {"temperature": 0}}
    policy = built(user={"models": {"big": entry}}).policy
    model = policy.models["big"]
    assert (model.api, model.context_tokens, model.options) == ("chat", 8000, {"temperature": 0})
    assert policy.problems == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [("api", "rest"), ("api", []), ("contextTokens", 10), ("contextTokens", True), ("contextTokens", 1e9),
     ("options", [1]), ("options", "x")],
)  # fmt: skip
def test_a_field_of_a_model_that_cannot_be_meant_is_left_out_and_said(key: str, value):
    policy = built(user={"models": {"big": {"provider": "openai", "model": "m", key: value}}}).policy
    assert policy.models["big"] == ModelConfig("big", "openai", "m")
    (problem,) = policy.problems
    assert f"`{key}`" in problem.message


@pytest.mark.parametrize(
    ("given", "recipe", "told"),
    [("gemini", "gemini", 0), ("none", "none", 0), (None, None, 0), ("gemnii", "none", 1), (5, "none", 1)],
)
def test_a_recipe_that_is_not_known_is_reported_and_none_is_used(given, recipe, told):
    problems: list = []
    entry = {"command": "x"} if given is None else {"command": "x", "recipe": given}
    config = agent_config("A", entry, Place("settings.json", 3, 1), {}, problems)
    assert config is not None
    assert (config.recipe, len(problems)) == (recipe, told)
    assert all(
        problem.line == 3
        and problem.severity == "error"
        and "recipe" in problem.message
        and "`gemini`" in problem.message
        for problem in problems
    )


def test_a_recipe_that_is_not_known_is_an_error_on_its_own_line():
    text = '{"countersign.agents": {\n "A": {\n  "command": "x",\n  "recipe": "gemnii"\n }\n}}'
    layer = file_layer("user", "/u.json", settings_tree(parse_jsonc(text)))
    policy = build_policy(Layers(user=(layer,)), workspace="/w", home="/h", trusted=True, answers={}).policy
    (problem,) = [found for found in policy.problems if "recipe" in found.message]
    assert (problem.file, problem.line, problem.severity) == ("/u.json", 4, "error")
    assert policy.agents["A"].recipe == "none"


def test_a_recipe_of_the_settings_can_be_named():
    user = {"agents": {"A": {"command": "x", "recipe": "mine"}}, "recipes": {"mine": {"label": "asksOnly"}}}
    policy = built({}, user).policy
    assert policy.agents["A"].recipe == "mine"
    assert policy.recipes == {"mine": {"label": "asksOnly"}}
    assert policy.problems == ()


def test_a_recipe_of_a_workspace_waits_for_a_confirmation():
    workspace = {"recipes": {"gemini": {"label": "gated"}}}
    assert built(workspace).policy.recipes == {}


def test_the_editor_offers_the_recipes_that_are_known():
    package = json.loads((Path(__file__).parents[2] / "client-ts/package.json").read_text())
    parts = package["contributes"]["configuration"]
    found = [part["properties"]["countersign.agents"] for part in (parts if isinstance(parts, list) else [parts])
             if "countersign.agents" in part["properties"]]  # fmt: skip
    assert tuple(found[0]["additionalProperties"]["properties"]["recipe"]["anyOf"][0]["enum"]) == RECIPE_NAMES


MANIFEST = Path(__file__).parents[2] / "client-ts" / "package.json"
CLIENT_READS = {
    "countersign.notifications",
    "countersign.notificationSound",
    "countersign.systemNotifications",
    "countersign.interpreter",
    "countersign.serverPath",
}


def test_no_setting_that_the_editor_offers_is_ignored_in_silence():
    """A value of the wrong type is reported, or counts for something; the client's own settings stand in its source."""
    sources = "".join(path.read_text("utf-8") for path in MANIFEST.parent.glob("src/*.ts"))
    silent = []
    for name in json.loads(MANIFEST.read_text("utf-8"))["contributes"]["configuration"]["properties"]:
        value = 7.5
        for key in reversed(name.removeprefix("countersign.").split(".")):
            value = {key: value}
        policy = built(user=value).policy
        counts = difference(policy, PLAIN).keys() - {"raw"}
        read = f"'{name.removeprefix('countersign.')}'" in sources if name in CLIENT_READS else bool(counts)
        silent += [] if read else [name]
    assert silent == []
