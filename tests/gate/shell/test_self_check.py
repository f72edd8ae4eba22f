"""The self-check of the parser: it passes here, and where it fails nothing is allowed by reading."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from countersign.gate.shell.flow import parse_cache, self_check
from countersign.gate.shell.syntax import constant_words

from .asked import decide


@pytest.fixture
def _fresh() -> Iterator[None]:
    def forget() -> None:
        self_check.engine_fault.cache_clear()
        parse_cache._kept.cache_clear()  # pyright: ignore[reportPrivateUsage]

    forget()
    yield
    forget()


def test_this_python_reads_every_sample():
    assert self_check.fault_in(self_check.SAMPLES) is None
    assert len(self_check.SAMPLES) >= 36


@pytest.mark.parametrize("text", self_check.SAMPLES)
def test_each_sample_can_fail(text: str):
    assert f"`{text}`" in str(self_check.fault_in({text: [("something else",)]}))


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("command", ["ls", "git status", "make test && git log", "git log | make x"])
def test_a_python_that_reads_differently_allows_nothing_by_reading(command: str, monkeypatch: pytest.MonkeyPatch):
    rules = ["Bash(git:*)", "Bash(make:*)"]
    before = decide(command, allow=rules)
    parse_cache._kept.cache_clear()  # pyright: ignore[reportPrivateUsage]
    self_check.engine_fault.cache_clear()
    # As Python 3.11.2 read possessive quantifiers: a blank too much at the end of a command.
    broken = re.compile(
        constant_words._COMMAND.pattern.replace("[ \\t]*(?=", "(?=").replace("+)(?:[", "+[ ]?)(?:["), re.A
    )  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(constant_words, "_COMMAND", broken)
    assert self_check.engine_fault() is not None
    assert before == "allow"
    assert decide(command, allow=rules) == "ask"
