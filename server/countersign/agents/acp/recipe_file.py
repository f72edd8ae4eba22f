"""Recipes as JSON: the model of one file, its published schema, and the recipes that come with Countersign.

``known/recipe.schema.json`` is the schema for agent authors (``docs/agents.md``). A person's own recipes are entries of
``recipes`` in settings and read by the same model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from countersign.agents.acp.recipe import Brought, Filter, HomeFile, Hook, OwnServers, Pointing, Recipe
from countersign.wire.base import Json

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
HostPattern = Annotated[str, StringConstraints(pattern=r"^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$")]
ProgramName = Annotated[str, StringConstraints(pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$")]
_PART = r"\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*"
RelativePath = Annotated[str, StringConstraints(pattern=rf"^({_PART}/)*{_PART}$")]
"""A path below a folder; it cannot lead out of it by its text."""
PackageFile = Annotated[str, StringConstraints(pattern=rf"^@?({_PART}/)*{_PART}$")]
SessionFolder = Annotated[str, StringConstraints(pattern=rf"^\{{(home|gate)\}}/({_PART}/)*{_PART}$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)


class BringEntry(_Model):
    """A file of the person's own that the agent gets in its private folder: linked, or some keys of its JSON copied."""

    name: Annotated[RelativePath, Field(description="what it is called in the private folder")]
    variable: Annotated[str, Field(description="environment variable that names the folder it lies in")] = ""
    folder: Annotated[str, Field(description="that folder below the home, where the variable is not set")]
    file: Annotated[str, Field(description="the file below that folder")]
    renews: Annotated[bool, Field(description="the agent writes it, as it does a login that it renews")] = False
    keys: Annotated[tuple[str, ...], Field(description="copy only these keys of its JSON")] = ()
    added: Annotated[dict[str, Json], Field(description="keys put over those that were copied")] = {}


class HomeEntry(_Model):
    """A file of the person's home that the agent's private home in the sandbox holds."""

    file: Annotated[RelativePath, Field(description="the file below the home")]
    renews: Annotated[bool, Field(description="the agent writes it, as it does a login that it renews")] = False


class ProbeEntry(_Model):
    """How a probe leads the agent to the scripted model; `{url}` is its address, `{home}` the throw-away home."""

    env: Annotated[dict[str, str], Field(description="environment")] = {}
    files: Annotated[
        dict[RelativePath, Json],
        Field(description="files of that home: a text, a list of lines, or an object for JSON"),
    ] = {}


class ServersEntry(_Model):
    """A settings file of the agent with MCP servers that a person set up."""

    file: Annotated[str, Field(description="below `{home}` or the workspace; JSON, or TOML by its ending")]
    key: Annotated[str, Field(description="the key of the object that holds them by name")]
    runs: Annotated[bool, Field(description="the recipe does not switch them off")] = False


class HookEntry(_Model):
    """How the agent's pre-tool hook asks; `files` set it up, and there `{hook}` is the command line of our program."""

    tool: Annotated[str, Field(description="field of the hook's input with the name of the tool")]
    input: Annotated[str, Field(description="field with the tool's input, as an object or as its JSON text")]
    session: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="fields with the id of the session, or of a sub-agent and of its session"),
    ]
    subagent: Annotated[str, Field(description="field that a call of a sub-agent has, with its id")] = ""
    call: Annotated[str, Field(description="field with the id under which the agent reports this call")] = ""
    allow: Annotated[dict[str, Json], Field(description="what our program prints to allow a call")]
    deny: Annotated[dict[str, Json], Field(description="what it prints to deny one; `{reason}` is the reason")]
    seconds: Annotated[
        float,
        Field(gt=0, le=2_000_000, description="after so long it denies; less than the agent's own time-out for hooks"),
    ]


class ChangeEntry(_Model):
    """One change of the `params` of a JSON line that an adapter sends to its inner program."""

    method: Annotated[str | None, Field(description="only lines with this method; there the value is also added")] = (
        None
    )
    path: Annotated[
        tuple[str, ...], Field(min_length=1, description="keys that lead to it; `*` stands for every key of an object")
    ]
    value: Annotated[Json, Field(description="what is put there; where it is missing, the key is removed")] = None


class FilterEntry(_Model):
    """A program of ours between an adapter and the inner program that it starts."""

    variable: Annotated[str, Field(description="environment variable from which the adapter takes its inner program")]
    program: Annotated[PackageFile, Field(description="that program where the variable is not set, below node_modules")]
    changes: Annotated[tuple[ChangeEntry, ...], Field(min_length=1, description="what is changed")]


class RecipeFile(_Model):
    """How Countersign starts one agent so that it asks for every call."""

    schema_: Annotated[str, Field(alias="$schema")] = ""
    name: Annotated[Name, Field(description="what `agents.NAME.recipe` names")]
    title: Annotated[str, Field(description="the agent's name for people")] = ""
    label: Annotated[
        Literal["gated", "asksOnly", "unguarded"], Field(description="the label that was measured with this recipe")
    ]
    marks: Annotated[tuple[str, ...], Field(description="program or package names that detect it")] = ()
    packages: Annotated[tuple[str, ...], Field(description="its npm packages, without their platform")] = ()
    parts: Annotated[tuple[str, ...], Field(description="patterns of further packages that are part of it")] = ()
    names: Annotated[tuple[str, ...], Field(description="what it may call itself in `agentInfo.name`")] = ()
    measured: Annotated[
        dict[str, tuple[Digest, ...]], Field(description="by version, digests of what was measured")
    ] = {}  # fmt: skip
    install: Annotated[str, Field(description="the command that installs it, for people")] = ""
    login: Annotated[str, Field(description="the command that logs in, for people")] = ""
    program: Annotated[
        ProgramName, Field(description="the program that speaks ACP, as it is installed; *Add Agent…* looks for it")
    ] = ""
    program_args: Annotated[tuple[str, ...], Field(description="arguments with which that program speaks ACP")] = ()
    requires: Annotated[tuple[ProgramName, ...], Field(description="programs that its npm package runs with")] = ()
    args: Annotated[tuple[str, ...], Field(description="arguments after the person's own; `{gate}` is a folder")] = ()
    env: Annotated[dict[str, str], Field(description="environment; `{gate}` and `{home}` are folders")] = {}
    files: Annotated[
        dict[RelativePath, Json],
        Field(description="files of the private folder `{gate}`: a text, a list of lines, or an object for JSON"),
    ] = {}
    session_meta: Annotated[dict[str, Json] | None, Field(description="`_meta` of `session/new`")] = None
    mode: Annotated[str | None, Field(description="session mode to set and to hold")] = None
    stricter: Annotated[tuple[str, ...], Field(description="session modes that it may enter by itself")] = ()
    config: Annotated[
        dict[str, str | StrictBool],
        Field(description="session options to set and to hold, with the type that they have"),
    ] = {}
    fresh_shell: Annotated[bool, Field(description="each command starts in a new shell in the workspace")] = False
    shell: Annotated[
        Literal["bash", "variable", "unknown"], Field(description="runs commands with bash, with `$SHELL`, or unknown")
    ] = "unknown"  # fmt: skip
    missing_reads_empty: Annotated[bool, Field(description="needs empty text for a file that is not there")] = False
    bring: tuple[BringEntry, ...] = ()
    refuse: Annotated[tuple[str, ...], Field(description="tools that are always rejected")] = ()
    quiet: Annotated[
        tuple[str, ...], Field(description="tools without an effect of their own, which need not ask")
    ] = ()
    plan_tools: Annotated[
        tuple[str, ...], Field(description="tools that only show a plan, in `plan`, and wait for a person's word")
    ] = ()
    announces_calls: Annotated[
        bool,
        Field(description="reports or asks for each call before it runs it, in measured versions: first heard of as "
                          "failed, a call never ran"),
    ] = False  # fmt: skip
    drops_resources: Annotated[
        bool, Field(description="takes embedded resources and does not give their text to its model; texts go in words")
    ] = False
    hook: Annotated[
        HookEntry | None, Field(description="the agent asks a hook of ours before each call, and obeys it above all")
    ] = None
    filter: Annotated[
        FilterEntry | None, Field(description="what it asks of an inner program is changed on the way")
    ] = None
    hostile: Annotated[tuple[str, ...], Field(description="workspace files that lower the label")] = ()
    held: Annotated[
        tuple[str, ...], Field(description="workspace files that the recipe keeps out; they are shown")
    ] = ()
    mask: Annotated[tuple[str, ...], Field(description="workspace paths that the sandbox hides from it")] = ()
    blank: Annotated[
        tuple[str, ...],
        Field(description="of these and `hostile` and `held`, those that are empty in the sandbox and not unreadable"),
    ] = ()
    home: Annotated[
        tuple[HomeEntry, ...], Field(description="files of the home that its private home in the sandbox holds")
    ] = ()
    sessions: Annotated[
        tuple[SessionFolder, ...],
        Field(description="folders of its sessions below `{home}` or `{gate}`; in the sandbox they are kept"),
    ] = ()
    hosts: Annotated[
        tuple[HostPattern, ...], Field(description="hosts of its model and login, which it reaches from the sandbox")
    ] = ()
    confined_args: Annotated[
        tuple[str, ...], Field(description="arguments that come last where it runs in the sandbox")
    ] = ()
    instructions: Annotated[
        tuple[RelativePath, ...],
        Field(description="instructions in the workspace that it does not read with the recipe"),
    ] = ()
    servers: Annotated[
        tuple[ServersEntry, ...], Field(description="where its own MCP servers stand, of which only names are shown")
    ] = ()
    caveat: Annotated[str, Field(description="what stays open, in one sentence")] = ""
    probe: Annotated[ProbeEntry, Field(description="how `countersign probe` leads the agent to its scripted model")] = (
        ProbeEntry()
    )
    evidence: Annotated[str, Field(description="how it was measured, and when")] = ""


class BadRecipe(Exception):
    """A recipe that is none; the message says what is wrong where."""


def parse_recipe(raw: Any) -> Recipe:
    """Return the recipe of a parsed file.

    Raises:
        BadRecipe: it does not fit the schema.
    """
    try:
        file = RecipeFile.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the recipe"
        raise BadRecipe(f"`{place}`: {first['msg'].lower()}") from None
    return Recipe(
        name=file.name, label=file.label, title=file.title or file.name, marks=frozenset(file.marks),
        packages=frozenset(file.packages), parts=file.parts, names=frozenset(file.names), measured=file.measured,
        install=file.install, login=file.login, program=file.program, program_args=file.program_args,
        requires=tuple(name for name in file.requires if name), args=file.args, env=file.env,
        files={name: _text(content) for name, content in file.files.items()}, session_meta=file.session_meta,
        mode=file.mode, stricter=frozenset(file.stricter), config=file.config, fresh_shell=file.fresh_shell,
        shell=file.shell, missing_reads_empty=file.missing_reads_empty,
        brought=tuple(Brought(**entry.model_dump()) for entry in file.bring), refuse=frozenset(file.refuse),
        quiet=frozenset(file.quiet), plan_tools=frozenset(file.plan_tools), announces_calls=file.announces_calls,
        drops_resources=file.drops_resources,
        hook=None if file.hook is None else Hook(**file.hook.model_dump()), filter=_filter(file.filter),
        hostile=file.hostile, held=file.held,
        mask=file.mask, blank=file.blank,
        home=tuple(HomeFile(entry.file, entry.renews) for entry in file.home), sessions=file.sessions, hosts=file.hosts,
        confined_args=file.confined_args, instructions=file.instructions,
        servers=tuple(OwnServers(**entry.model_dump()) for entry in file.servers), caveat=file.caveat,
        probe=Pointing(file.probe.env, {name: _text(content) for name, content in file.probe.files.items()}),
        evidence=file.evidence,
    )  # fmt: skip


def _filter(entry: FilterEntry | None) -> Filter | None:
    if entry is None:
        return None
    # A change without a value is another than one with the value null.
    changes = tuple(each.model_dump(exclude_unset=True) for each in entry.changes)
    return Filter(entry.variable, entry.program, changes)


def own_recipes(entries: Mapping[str, Json]) -> dict[str, Recipe | BadRecipe]:
    """Return the recipes of ``recipes`` in settings, by name; what fits no schema is the error that says why."""
    found: dict[str, Recipe | BadRecipe] = {}
    for name, entry in entries.items():
        try:
            found[name] = parse_recipe({**entry, "name": name} if isinstance(entry, dict) else entry)
        except BadRecipe as error:
            found[name] = error
    return found


@cache
def known_recipes() -> tuple[Recipe, ...]:
    """Return the recipes that come with Countersign, by name."""
    folder = resources.files("countersign.agents.acp") / "known"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    texts = [file.read_text(encoding="utf-8") for file in files if file.name != "recipe.schema.json"]
    return tuple(parse_recipe(json.loads(text)) for text in texts)


def known_recipe_text(name: str) -> dict[str, Json]:
    """Return the recipe of this name as its file has it."""
    file = resources.files("countersign.agents.acp") / "known" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def schema() -> dict[str, Any]:
    """Return the published schema of a recipe file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **RecipeFile.model_json_schema()}


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(f"{line}\n" for line in content)
    return json.dumps(content, indent=2)
