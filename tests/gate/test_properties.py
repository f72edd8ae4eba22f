"""What holds of every command, whatever its rules are: nothing that is added to it or put around it widens."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from countersign.gate.shell.syntax import plain_bash
from tests.reference.evaluate import Question
from tests.reference.generate import PROGRAMS, make_question, make_rules
from tests.reference.widening import APPENDED, FURTHER, WRAPPED, longer, strictness

# The same examples every time; `make soak` goes on with others.
bounded = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
questions = st.integers(0, 1_000_000).map(lambda number: make_question(7, number))
rules = st.integers(0, 1_000_000).map(lambda number: make_rules(Random(number)))


@pytest.mark.parametrize("form", APPENDED)
@bounded
@given(question=questions, more=st.sampled_from(FURTHER))
def test_a_further_command_never_widens(form: str, question: Question, more: str) -> None:
    added = longer(question, form, more)
    assume(added is not None)
    assert added is not None
    assert strictness(added) >= strictness(question)


@pytest.mark.parametrize("command", ["true", "true; alpha", "alpha", "cd src && alpha", "[ -d src ]"])
def test_in_mode_ask_what_needs_no_rule_is_allowed_alone_as_beside_others(command: str) -> None:
    """If it asked alone, a further command would loosen."""
    assert strictness(Question(command, allow=("Bash(alpha)",), mode="ask")) == 0


@pytest.mark.parametrize("form", WRAPPED)
@bounded
@given(question=questions)
def test_a_command_inside_another_is_never_wider(form: str, question: Question) -> None:
    added = longer(question, form)
    assume(added is not None)
    assert added is not None
    assert strictness(added) >= strictness(question)


IDLE = [
    "  {0}",
    "\t{0}",
    "\n\n{0}",
    "{0}\n",
    "{0}\n\n",
    "# note\n{0}",
    "{0}\n# omega; $(omega)",
    "{0} # omega",
    "{0} \n # '",
]


@pytest.mark.parametrize("form", IDLE)
@bounded
@given(question=questions)
def test_blanks_and_comments_change_nothing(form: str, question: Question) -> None:
    # Behind a backslash or a here-document a blank or a comment is text.
    idle = None if re.search(r"\\\s*$|<<", question.command) else longer(question, form)
    assume(idle is not None)
    assert idle is not None
    assert strictness(idle) == strictness(question)


@bounded
@given(
    st.sampled_from(PROGRAMS), st.lists(st.sampled_from(["one", "-v", "a.txt", "src"]), max_size=2), rules, st.data()
)
def test_quoting_a_word_changes_nothing(
    program: tuple[str, ...], more: list[str], listed: dict, data: st.DataObject
) -> None:
    words = [*program, *more]
    at = data.draw(st.integers(0, len(words) - 1))
    mark = data.draw(st.sampled_from(["'{0}'", '"{0}"', "$'{0}'", "{0}''", '""{0}', "\\{0}", "{0}\\\n"]))
    quoted = [*words[:at], mark.format(words[at]), *words[at + 1 :]]
    plain = Question(" ".join(words), **listed)
    same = replace(plain, command=" ".join(quoted))
    if plain_bash.outside(same.command) is None:
        assert strictness(same) == strictness(plain)
    else:
        # Only a person, or a rule with exactly this text, allows what is not Plain Bash.
        assert strictness(same) >= max(strictness(plain), 1)


@bounded
@given(questions, rules, st.sampled_from(["ask", "deny"]))
def test_further_ask_and_deny_rules_never_widen(question: Question, more: dict, listed: str) -> None:
    tighter = replace(question, **{listed: (*getattr(question, listed), *more["allow"], *more[listed])})
    assert strictness(tighter) >= strictness(question)


@bounded
@given(questions, st.randoms(use_true_random=False))
def test_the_order_of_rules_does_not_matter(question: Question, random: Random) -> None:
    lists = {name: list(getattr(question, name)) for name in ("allow", "ask", "deny")}
    for listed in lists.values():
        random.shuffle(listed)
    shuffled = replace(question, **{name: tuple(listed) for name, listed in lists.items()})
    assert strictness(shuffled) == strictness(question)


@bounded
@given(questions)
def test_modes_loosen_from_plan_to_auto_and_bypass_loosens_them_all(question: Question) -> None:
    by_mode = [strictness(replace(question, mode=mode)) for mode in ("plan", "default", "acceptEdits", "auto")]
    assert by_mode == sorted(by_mode, reverse=True)
    # `ask` only ever asks where `default` allows; `dontAsk` never leaves a question open.
    assert strictness(replace(question, mode="ask")) >= by_mode[1]
    assert strictness(replace(question, mode="dontAsk")) == (0 if by_mode[1] == 0 else 2)
    with_bypass = strictness(replace(question, bypass=True))
    assert with_bypass <= strictness(replace(question, bypass=False))


@bounded
@given(questions)
def test_the_read_only_set_only_ever_loosens(question: Question) -> None:
    assert strictness(question, builtin_reads=True) <= strictness(question, builtin_reads=False)
