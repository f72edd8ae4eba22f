"""Agents that a person can add: what the recipes know, which of it is installed, and the settings entry of one.

``agent/known`` only looks at files. ``agent/add`` has the editor write the entry into the user's settings; the client
shows the person the command first, and what it showed is compared with what would be written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from countersign.settings.agents import is_agent_name
from countersign.wire.agents import AgentAddParams, AgentAddResult, AgentKnownResult, InstalledAgent, KnownAgent
from countersign.wire.base import Json
from countersign.wire.errors import InvalidAnswer, StaleAnswer, WorldError

if TYPE_CHECKING:
    from countersign.agents.acp.recipe import Recipe
    from countersign.lsp.workspace import WorkspaceServer
    from countersign.settings.policy import Policy
    from countersign.wire.agents import AgentLabel

SEARCH_LIMIT = 15.0
"""Seconds that a search may take; comparing the files of the largest agent takes about two."""
UNREAD = "comparing its files took too long; its label is found out when it starts"


@dataclass
class _Search:
    """What one search has found up to now. ``programs`` is None until all programs have been looked for; ``labels``
    are those of the installed agents whose files have been compared."""

    programs: dict[str, str] | None = None
    versions: dict[str, str | None] = field(default_factory=dict)
    labels: dict[str, tuple[AgentLabel, str]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)


class KnownAgents:
    """A class because requests that come while a search runs share it: a file system that hangs holds one thread."""

    def __init__(self, house: WorkspaceServer) -> None:
        self._house = house
        self._running: tuple[asyncio.Task[None], _Search] | None = None

    async def list(self) -> AgentKnownResult:
        """Return every recipe with a program, the installed ones first.

        Raises:
            WorldError: the disk did not answer in time.
        """
        recipes = _recipes(self._house.settings.policy)
        search = await self._searched(recipes)
        views = [self._view(recipe, search) for recipe in recipes]
        return AgentKnownResult(agents=sorted(views, key=lambda view: view.installed is None))

    async def add(self, params: AgentAddParams) -> AgentAddResult:
        """Write the entry of an installed agent into the user's settings.

        Raises:
            InvalidAnswer: there is no such recipe, it is not installed, or the settings could not be written.
            StaleAnswer: the command is another than the one that the person was shown.
        """
        known = next((view for view in (await self.list()).agents if view.recipe == params.recipe), None)
        if known is None or known.command is None or known.installed is None:
            raise InvalidAnswer("this agent is not installed; install it first")
        if known.command != params.command:
            raise StaleAnswer("what is installed has changed; look at the list again")
        name = self._free_name(known)
        program, *args = known.command
        entry: dict[str, Json] = {"command": program, "args": [*args], "recipe": known.recipe}
        result = await self._house.keeper.write("user", ("agents", name), entry)
        if not result.applied:
            raise InvalidAnswer(result.reason or "the setting could not be written")
        return AgentAddResult(agent_name=name)

    async def _searched(self, recipes: Sequence[Recipe]) -> _Search:
        if self._running is None or self._running[0].done():
            search = _Search()
            self._running = asyncio.create_task(asyncio.to_thread(self._blocking_search, recipes, search)), search
        task, search = self._running
        await asyncio.wait({task}, timeout=SEARCH_LIMIT)
        if task.done():
            task.result()
        if search.programs is None:
            raise WorldError("looking for installed agents took too long; try again")
        return search

    def _blocking_search(self, recipes: Sequence[Recipe], search: _Search) -> None:
        from countersign.agents.acp.identity import identify  # noqa: PLC0415 loaded when agents are looked for
        from countersign.agents.acp.installed import blocking_programs, missing_programs  # noqa: PLC0415 likewise
        from countersign.agents.acp.label import Findings, files_in, label_of  # noqa: PLC0415 likewise
        from countersign.agents.acp.label_store import LabelStore  # noqa: PLC0415 likewise

        workspace = self._house.settings.policy.workspace
        environment = self._house.shells.environment()
        programs = blocking_programs(recipes, environment, workspace)
        search.missing = {recipe.name: missing_programs(recipe, environment) for recipe in recipes}
        search.programs = programs
        store = LabelStore(self._house.storage / "agents")
        for recipe in recipes:
            if recipe.name not in programs:
                continue
            identity = identify(recipe, [programs[recipe.name], *recipe.program_args], environment, workspace)
            search.versions[recipe.name] = identity.version if identity is not None else None
            found = Findings(
                identity=identity,
                probed=store.blocking_probed(identity, recipe.name),
                files=files_in(recipe, workspace),
            )
            search.labels[recipe.name] = label_of(recipe, found)

    def _view(self, recipe: Recipe, search: _Search) -> KnownAgent:
        program = (search.programs or {}).get(recipe.name)
        common = KnownAgent(
            recipe=recipe.name,
            title=recipe.title,
            install=recipe.install,
            login=recipe.login or None,
            label=recipe.label,
            why=recipe.caveat,
            missing=search.missing.get(recipe.name, []),
            configured=self._configured(recipe),
        )
        if program is None:
            return common
        label, why = search.labels.get(recipe.name, ("asksOnly", UNREAD))
        return common.model_copy(
            update={
                "installed": InstalledAgent(path=program, version=search.versions.get(recipe.name)),
                "command": [program, *recipe.program_args],
                "label": label,
                "why": why,
            }
        )

    def _configured(self, recipe: Recipe) -> list[str]:
        from countersign.agents.acp.recipes import recipe_for  # noqa: PLC0415 loaded when agents are looked for

        policy = self._house.settings.policy
        hosted = [config for config in policy.agents.values() if config.type == "acp"]
        return [config.name for config in hosted if recipe_for(config, policy.recipes).name == recipe.name]

    def _free_name(self, known: KnownAgent) -> str:
        """A name that no agent has, so that no entry of the person's is replaced."""
        first = known.title if is_agent_name(known.title) else known.recipe
        taken = self._house.settings.policy.agents
        names = (first, *(f"{first} {number}" for number in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)


def _recipes(policy: Policy) -> list[Recipe]:
    """The recipes of the settings and those that come with Countersign, as far as they name a program."""
    from countersign.agents.acp.recipe_file import BadRecipe, known_recipes, own_recipes  # noqa: PLC0415 loaded late

    own = own_recipes(policy.recipes)
    recipes = {recipe.name: recipe for recipe in known_recipes()}
    recipes |= {name: recipe for name, recipe in own.items() if not isinstance(recipe, BadRecipe)}
    return [recipe for recipe in recipes.values() if recipe.program]
