"""The page for newcomers says what the recipes and the table of providers say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from countersign.agents.acp.recipe_file import known_recipes
from countersign.settings.agents import Provider

PAGE = (Path(__file__).parents[2] / "docs" / "getting-started.md").read_text()
LABELS = {"gated": "gated", "asksOnly": "asks only"}


KNOWN = {recipe.name: recipe for recipe in known_recipes()}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_each_agent_stands_there_with_the_commands_of_its_recipe(name: str) -> None:
    recipe = KNOWN[name]
    (row,) = [line for line in PAGE.splitlines() if f"`{recipe.install}`" in line]
    assert row.endswith(f"| `{recipe.install}` | `{recipe.login}` | {LABELS[recipe.label]} |")


def test_each_provider_for_real_work_has_a_row_that_can_be_read() -> None:
    entries = [json.loads(found) for found in re.findall(r"`(\{ \"provider\".*?\})`", PAGE)]
    assert {entry["provider"] for entry in entries} == set(get_args(Provider)) - {"demo"}
