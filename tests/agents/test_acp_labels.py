"""A label rests on what is installed: claims, folders and versions that anybody can write raise none, falls stay."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from countersign.agents.acp.identity import Identity, identify
from countersign.agents.acp.label import Claim, Findings, blocking_hidden, blocking_hostile_now, files_in, label_of
from countersign.agents.acp.label_state import LabelState
from countersign.agents.acp.label_store import LabelStore
from countersign.agents.acp.recipe import STRANGER, Recipe
from countersign.agents.acp.recipe_file import known_recipes

BY_NAME = {recipe.name: recipe for recipe in known_recipes()}
DIGEST = "sha256:" + "1" * 64
MEASURED = Recipe(
    "gemini",
    "gated",
    marks=frozenset({"gemini"}),
    packages=frozenset({"@google/gemini-cli"}),
    names=frozenset({"gemini-cli"}),
    measured={"0.61.0": (DIGEST,)},
    hostile=(".hooks",),
    held=(".settings",),
    caveat="as measured",
)
TRUE = Identity("/opt/gemini.js", "@google/gemini-cli", "0.61.0", DIGEST)
OTHER_DIGEST = "sha256:" + "2" * 64

LABELS = {
    "measured": (Findings(TRUE), "gated"),
    "measured, and it says so": (Findings(TRUE, Claim("gemini-cli", "0.61.0")), "gated"),
    "nothing known": (Findings(), "asksOnly"),
    "only its own word": (Findings(None, Claim("gemini-cli", "0.61.0")), "asksOnly"),
    "another version": (Findings(replace(TRUE, version="0.62.0")), "asksOnly"),
    "a version that only its package.json claims": (Findings(replace(TRUE, digest=OTHER_DIGEST)), "asksOnly"),
    "content that was not read": (Findings(replace(TRUE, digest=None)), "asksOnly"),
    "another package": (Findings(replace(TRUE, package="gemini")), "asksOnly"),
    "no package": (Findings(replace(TRUE, package=None, version=None)), "asksOnly"),
    "says another version": (Findings(TRUE, Claim("gemini-cli", "0.62.0")), "asksOnly"),
    "says another name": (Findings(TRUE, Claim("evil", "0.61.0")), "asksOnly"),
    "a file that silences it": (Findings(TRUE, files=(".hooks",)), "unguarded"),
    "a file that the recipe keeps out": (Findings(TRUE, files=(".settings",)), "gated"),
    "a fall": (Findings(TRUE, fallen="it acted"), "unguarded"),
    "a fall beats a probe": (Findings(TRUE, probed="gated", fallen="it acted"), "unguarded"),
    "a file beats a probe": (Findings(TRUE, probed="gated", files=(".hooks",)), "unguarded"),
    "a probe of another version": (Findings(replace(TRUE, version="9", digest=OTHER_DIGEST), probed="gated"), "gated"),
    "a probe that it contradicts": (Findings(TRUE, Claim("gemini-cli", "9"), probed="gated"), "asksOnly"),
    "a probe that found less": (Findings(TRUE, probed="asksOnly"), "asksOnly"),
}


@pytest.mark.parametrize(("found", "label"), LABELS.values(), ids=LABELS)
def test_the_label_promises_only_what_was_measured(found: Findings, label: str):
    said, why = label_of(MEASURED, found)
    assert said == label
    assert why


def test_files_that_the_recipe_keeps_out_are_shown_where_it_holds(tmp_path: Path):
    (tmp_path / ".settings").write_text("")
    assert ".settings" in label_of(MEASURED, Findings(TRUE, files=files_in(MEASURED, str(tmp_path))))[1]


def test_in_the_sandbox_a_file_that_is_hidden_there_silences_nothing(tmp_path: Path):
    recipe = replace(MEASURED, hostile=(".bad", ".worse"))
    (tmp_path / ".bad").mkdir()
    hidden = blocking_hostile_now(recipe, str(tmp_path))

    def label(**more) -> str:
        found = Findings(
            TRUE, files=files_in(recipe, str(tmp_path)), hidden=blocking_hidden(recipe, hidden, str(tmp_path)), **more
        )
        return label_of(recipe, found)[1]

    assert label().startswith("the workspace holds `.bad`")
    within = label(holds=("no network",))
    assert "What it does inside: gated" in within
    assert within.endswith("; the sandbox hides `.bad` of this workspace)")
    (tmp_path / ".worse").touch()  # later than the sandbox: it may be seen there
    assert "What it does inside: unguarded (the workspace holds `.worse`" in label(holds=("no network",))
    (tmp_path / ".worse").unlink()
    (tmp_path / ".bad").rename(tmp_path / "old")
    (tmp_path / ".bad").mkdir()
    assert "What it does inside: unguarded (the workspace holds `.bad`" in label(holds=("no network",))


def test_what_a_link_leads_to_does_not_count_as_hidden(tmp_path: Path):
    recipe = replace(MEASURED, hostile=(".bad",))
    (tmp_path / "real").mkdir()
    (tmp_path / ".bad").symlink_to(tmp_path / "real")
    hidden = blocking_hostile_now(recipe, str(tmp_path))
    assert blocking_hidden(recipe, hidden, str(tmp_path)) == ()


def test_a_stranger_is_unguarded_unless_a_probe_found_more():
    assert label_of(STRANGER, Findings(TRUE))[0] == "unguarded"
    assert label_of(STRANGER, Findings(TRUE, probed="asksOnly"))[0] == "asksOnly"


@pytest.mark.parametrize("recipe", known_recipes(), ids=lambda recipe: recipe.name)
def test_a_recipe_that_says_gated_names_digests(recipe: Recipe):
    assert recipe.label != "gated" or all(recipe.measured.values())
    assert recipe.label != "gated" or recipe.measured


# What is installed.


def package(folder: Path, name: str, version: str, text: str = "") -> Path:
    program = folder / "node_modules" / name / "dist/index.js"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/usr/bin/env node\n{text}")
    program.chmod(0o755)
    told = {"name": name, "version": version, "bin": {"it": "dist/index.js"}}
    (program.parents[1] / "package.json").write_text(json.dumps(told))
    return program


def test_the_identity_is_that_of_the_installed_package(tmp_path: Path):
    home, work = tmp_path / "home", str(tmp_path / "work")
    program = package(home, "@google/gemini-cli", "0.61.0")
    (home / "bin").mkdir()
    (home / "bin/gemini").symlink_to(program)
    environment = {"PATH": str(home / "bin"), "HOME": str(home)}
    found = identify(MEASURED, ["gemini", "--acp"], environment, work)
    assert found is not None
    assert (found.program, found.package, found.version) == (str(program), "@google/gemini-cli", "0.61.0")
    assert identify(MEASURED, ["node", str(program), "--acp"], environment, work) == found
    elsewhere = package(tmp_path / "elsewhere", "@google/gemini-cli", "0.61.0")
    assert identify(MEASURED, [str(elsewhere)], environment, work) == replace(found, program=str(elsewhere))
    zed = package(home, "@zed-industries/codex-acp-linux-x64", "0.16.0")
    known = identify(MEASURED, [str(zed)], environment, work)
    assert known is not None
    assert known.package == "@zed-industries/codex-acp"
    assert identify(MEASURED, ["absent"], environment, work) is None
    assert identify(MEASURED, [], environment, work) is None


@pytest.mark.parametrize("changed", ["dist/index.js", "lib/new.js", "package.json"])
def test_a_change_of_any_file_is_another_identity(tmp_path: Path, changed: str):
    program = package(tmp_path / "home", "@google/gemini-cli", "0.61.0")
    before = identify(MEASURED, [str(program)], {}, str(tmp_path / "work"))
    path = program.parents[1] / changed
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + " ")
    after = identify(MEASURED, [str(program)], {}, str(tmp_path / "work"))
    assert before is not None
    assert after is not None
    assert before.digest != after.digest


def test_a_dependency_of_its_family_is_part_of_it_and_others_are_not(tmp_path: Path):
    program = package(tmp_path, "@google/gemini-cli", "0.61.0")
    engine = package(tmp_path, "@google/gemini-engine", "1.0.0")
    other = package(tmp_path, "left-pad", "1.0.0")
    told = {"name": "@google/gemini-cli", "version": "0.61.0",
            "dependencies": {"@google/gemini-engine": "1", "left-pad": "1"}}  # fmt: skip
    (program.parents[1] / "package.json").write_text(json.dumps(told))

    def digest(recipe: Recipe = MEASURED) -> str | None:
        found = identify(recipe, [str(program)], {}, str(tmp_path / "work"))
        assert found is not None
        return found.digest

    first = digest()
    other.write_text("other")
    assert digest() == first
    with_parts = replace(MEASURED, parts=("left-*",))
    second = digest(with_parts)
    other.write_text("another")
    assert digest(with_parts) != second
    engine.write_text("other")
    assert digest() != first


def test_a_folder_of_the_agents_name_and_what_lies_in_the_workspace_raise_no_label(tmp_path: Path):
    work = tmp_path / "work"
    folder = tmp_path / "gemini"
    folder.mkdir()
    (folder / "agent").write_text("")
    found = identify(MEASURED, [str(folder / "agent")], {}, str(work))
    assert found is not None
    assert label_of(MEASURED, Findings(found, Claim("gemini-cli", "0.61.0")))[0] == "asksOnly"
    inside = identify(MEASURED, [str(package(work, "@google/gemini-cli", "0.61.0"))], {}, str(work))
    assert inside is not None
    assert inside.digest is None


def cached(home: Path, spec: str, name: str, version: str) -> Path:
    return package(home / ".npm/_npx" / hashlib.sha512(spec.encode()).hexdigest()[:16], name, version)


@pytest.mark.parametrize(
    ("words", "planted", "known"),
    [
        (["npx", "-y", "@google/gemini-cli@0.61.0", "--acp"], None, True),
        (["npx", "@google/gemini-cli@0.61.0"], None, True),
        (["npx", "-y", "@google/gemini-cli"], None, False),
        (["npx", "-y", "@google/gemini-cli@latest"], None, False),
        (["npx", "-p", "evil", "@google/gemini-cli@0.61.0"], None, False),
        (["npx", "-y", "@google/gemini-cli@0.60.0"], None, False),
        (["npx", "-y", "@google/gemini-cli@0.61.0"], "node_modules/@google/gemini-cli/package.json", False),
        (["npx", "-y", "@google/gemini-cli@0.61.0"], "../node_modules/@google/gemini-cli/package.json", False),
        (["npx", "-y", "@google/gemini-cli@0.61.0"], ".npmrc", False),
        (["npx"], None, False),
    ],
)
def test_what_npx_starts_is_what_its_cache_holds(tmp_path: Path, words: list[str], planted: str | None, known: bool):
    work = tmp_path / "above/work"
    work.mkdir(parents=True)
    if planted:
        (work / planted).parent.mkdir(parents=True, exist_ok=True)
        (work / planted).write_text("{}")
    for spec in {words[-1], *words[1:]}:
        cached(tmp_path, spec, "@google/gemini-cli", "0.61.0")
    found = identify(MEASURED, words, {"HOME": str(tmp_path)}, str(work))
    assert (found is not None and found.digest is not None) == known


# What outlasts the server.


async def test_a_fall_stays_in_this_workspace_for_this_identity_until_a_person_clears_it(tmp_path: Path):
    program = package(tmp_path / "home", "@google/gemini-cli", "0.61.0")
    identity = identify(MEASURED, [str(program)], {}, str(tmp_path / "work"))
    assert identity is not None
    assert identity.digest is not None
    recipe = replace(MEASURED, measured={"0.61.0": (identity.digest,)})
    store = LabelStore(tmp_path / "agents")

    async def state(workspace: str = "work") -> LabelState:
        made = LabelState("it", recipe, str(tmp_path / workspace), store, lambda: None)
        await made.find_out([str(program)], {})
        return made

    first = await state()
    assert first.label == "gated"
    first.fall("it acted")
    assert first.label == "unguarded"
    await first.keep_fall()
    again = await state()
    assert (again.label, again.detail) == ("unguarded", "it acted")
    assert (await state("other")).label == "gated"
    await again.reset()
    assert again.label == "gated"
    assert (await state()).label == "gated"


async def test_a_fall_that_is_not_stored_yet_outlives_a_look_at_the_disk(tmp_path: Path):
    state = LabelState("it", MEASURED, str(tmp_path), LabelStore(tmp_path / "agents"), lambda: None)
    state.fall("it acted")
    await state.keep_fall()
    await state.find_out(["absent"], {})
    assert state.label == "unguarded"


def test_a_fall_that_cannot_be_read_counts(tmp_path: Path):
    store = LabelStore(tmp_path)
    store.blocking_fall("it", TRUE, "/w", "it acted")
    (path,) = (tmp_path / "falls").iterdir()
    path.write_text("{")
    assert store.blocking_fallen("it", TRUE, "/w")
    path.chmod(0o600)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_probe_counts_for_its_digest_and_recipe_alone(tmp_path: Path):
    store = LabelStore(tmp_path)
    store.blocking_keep_probe(TRUE, "gemini", "gated", Claim("gemini-cli", "0.61.0"))
    assert store.blocking_probed(TRUE, "gemini") == "gated"
    assert store.blocking_probed(TRUE, "other") is None
    assert store.blocking_probed(replace(TRUE, digest=OTHER_DIGEST), "gemini") is None
    assert store.blocking_probed(replace(TRUE, digest=None), "gemini") is None
    assert store.blocking_probed(None, "gemini") is None
