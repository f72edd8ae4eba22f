"""What the agent of a session lets a person choose: its model, mode and options, and its slash commands.

It reads the agent's lists, keeps them as they change, and knows which choice is refused because the agent would ask
less by it. When something is sent to the agent is ``host.py``'s business, and so is putting back what it changes itself
(``asking_mode.py``). All names and descriptions are the agent's words, for display.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeGuard

from countersign.agents.acp.asking_words import asks_less, is_disguised, looks_harmless, steers_asking
from countersign.agents.acp.held import Held, is_mode
from countersign.agents.acp.recipe import STRANGER, Recipe
from countersign.agents.acp.translate import (
    LONGEST_NAME,
    MOST_OPTIONS,
    CommandNews,
    ModeNews,
    OptionNews,
    Raw,
    SettingNews,
    as_object,
)
from countersign.gate import in_worker
from countersign.tools.visible import as_message, as_title, visible
from countersign.wire.base import Json
from countersign.wire.errors import InvalidAnswer
from countersign.wire.sizes import size_of_few
from countersign.wire.threads import AgentCommand, OptionChoice, ThreadOption

MOST_CHOICES = 1000
"""Choices of all options of one session that are kept."""
FEW_VALUES = 64
"""Values of a list of options whose names are read on the event loop, which takes milliseconds."""
MOST_COMMANDS = 500
LONGEST_DESCRIPTION = 500
ABOUT_THE_MODEL = ("model", "model_config", "thought_level")
"""Categories of options whose values may have any name that does not say that the agent asks less."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """An option with the method that sets it. ``first``: the value that it had when the session was opened."""

    view: ThreadOption
    method: str
    first: str | bool


class Offered:
    """What one session offers. A class because the agent changes it piece by piece; ``changed`` is called then."""

    def __init__(self, agent: str, recipe: Recipe, changed: Callable[[], None] = lambda: None) -> None:
        self._agent = agent
        self._recipe = recipe
        self._changed = changed
        self._settings: dict[str, _Setting] = {}
        self.held = Held(recipe, self._says_less, self._is_refused)
        self._judged_names: dict[tuple[object, ...], str | None] = {}
        self._raw_options: Json = None
        self._raw_commands: Json = None
        self.commands: list[AgentCommand] = []

    @property
    def options(self) -> list[ThreadOption]:
        """The options as they are now, in the agent's order."""
        return [setting.view for setting in self._settings.values()]

    def hear_opened(self, result: Raw) -> None:
        """Take the answer to opening a session: options, or modes and models in their older forms."""
        if isinstance(result.get("configOptions"), list):
            self.hear_options(result["configOptions"])
        settings = dict(self._settings)
        if not any(_is_mode(setting.view) for setting in settings.values()):
            settings |= self._older(as_object(result.get("modes")), "mode", "session/set_mode")
        if not any(setting.view.category == "model" for setting in settings.values()):
            settings |= self._older(as_object(result.get("models")), "model", "session/set_model")
        self._take(settings)
        mode = as_object(result.get("modes")).get("currentModeId")
        if isinstance(mode, str) and not any(one.method != "session/set_mode" for one in self._modes().values()):
            self.held.hear_mode(mode)
        self.held.begin()

    def hear(self, news: SettingNews) -> None:
        """Take what the agent says of its mode, its options or its commands, and judge it."""
        match news:
            case ModeNews(mode=mode):
                self.hear_mode(mode)
            case OptionNews(listed=listed):
                self.hear_options(listed)
            case CommandNews(listed=listed):
                self.hear_commands(listed)
        self.held.judge()

    def hear_options(self, raw: Json) -> None:
        """Take the whole list of options that the session has now."""
        self.held.hear_options(raw)
        if raw == self._raw_options:
            return
        self._raw_options = raw
        older = {key: one for key, one in self._settings.items() if one.method != "session/set_config_option"}
        told = dict(self._config_options(raw))
        if any(_is_mode(setting.view) for setting in told.values()):
            older.pop("mode", None)
        if any(setting.view.category == "model" for setting in told.values()):
            older.pop("model", None)
        self._take({**told, **{key: one for key, one in older.items() if key not in told}})

    def hear_value(self, option_id: str, value: str | bool) -> None:
        """An option has this value now."""
        setting = self._settings.get(option_id)
        if setting is None or type(setting.view.value) is not type(value):
            return
        self._raw_options = None
        if setting.view.value != value:
            # What is refused does not depend on the value that an option has.
            view = setting.view.model_copy(update={"value": value})
            self._settings[option_id] = replace(setting, view=view)
            self._changed()

    def hear_mode(self, mode: str) -> None:
        """The session is in this mode now."""
        self.held.hear_mode(mode)
        for option_id, setting in self._settings.items():
            if _is_mode(setting.view):
                self.hear_value(option_id, mode[:LONGEST_NAME])
                return

    def hear_commands(self, raw: Json) -> None:
        """Take the whole list of slash commands that the session has now."""
        if raw == self._raw_commands:
            return
        self._raw_commands = raw
        self.commands = list(_commands(raw))
        self._changed()

    def hear_set(self, method: str, params: Mapping[str, Json], result: Json) -> None:
        """One of the values was set by us, with this answer; the answer may tell all options anew."""
        told = as_object(result).get("configOptions")
        option_id, value = self._named(method, params)
        if isinstance(value, str | bool) and isinstance(option_id, str):
            self.held.hear_value(option_id, value)
            self.hear_value(option_id, value)
        elif method == "session/set_mode" and isinstance(value, str):
            self.held.hear_mode(value)
        if isinstance(told, list):
            self.hear_options(told)

    def put_back(self) -> list[tuple[str, dict[str, Json]]]:
        """The methods and params that put strayed modes back, beside those of the recipe."""
        found: list[tuple[str, dict[str, Json]]] = []
        for option_id, stray in self.held.strays.items():
            setting, mode = self._settings.get(option_id), self.held.asking_mode(option_id)
            if stray.kind == "option" and setting is not None and option_id not in self._recipe.config:
                mode = self.held.first(option_id)
                switch: dict[str, Json] = {"type": "boolean"} if isinstance(mode, bool) else {}
                if mode is not None:
                    found.append((setting.method, {"configId": option_id, "value": mode, **switch}))
                continue
            if stray.kind == "option" or setting is None or mode is None:
                continue
            if setting.method == "session/set_config_option":
                found.append((setting.method, {"configId": option_id, "value": mode}))
            elif self._recipe.mode is None:
                found.append((setting.method, {"modeId": mode}))
        return found

    def choose(self, option_id: str, value: str | bool | None) -> str | bool | None:
        """The person chooses this value, or no longer; return what they had chosen. What is refused does not count."""
        setting = self._settings.get(option_id)
        refused = setting is None or any(one.refused for one in setting.view.choices or () if one.value == value)
        return self.held.choose(option_id, None if refused else value)

    def request(self, option_id: str, value: str | bool) -> tuple[str, dict[str, Json]]:
        """Return the method and the params that set an option, with the type that it has.

        Raises:
            InvalidAnswer: there is no such option or value, or the agent would ask less with it.
        """
        setting = self._settings.get(option_id)
        if setting is None:
            raise InvalidAnswer(f"{self._agent} offers no option `{as_title(option_id)}` in this chat")
        view = setting.view
        refused = view.refused
        if view.type == "boolean":
            known = isinstance(value, bool)
        else:
            choice = next((one for one in view.choices or () if one.value == value), None)
            known, refused = choice is not None, refused or (choice and choice.refused)
        if not known:
            raise InvalidAnswer(f"`{as_title(str(value))}` is no value of {self._agent}'s option {view.name}")
        if refused and value != view.value:
            raise InvalidAnswer(refused)
        match setting.method:
            case "session/set_mode":
                return setting.method, {"modeId": value}
            case "session/set_model":
                return setting.method, {"modelId": value}
            case _:
                typed: dict[str, Json] = {"type": "boolean"} if view.type == "boolean" else {}
                return setting.method, {"configId": option_id, "value": value, **typed}

    def _named(self, method: str, params: Mapping[str, Json]) -> tuple[Json, Json]:
        match method:
            case "session/set_mode":
                return next((key for key, one in self._settings.items() if _is_mode(one.view)), None), params["modeId"]
            case "session/set_model":
                return "model", params["modelId"]
            case _:
                return params["configId"], params["value"]

    def _take(self, settings: dict[str, _Setting]) -> None:
        known, self._judged_names = self._judged_names, {}
        judged = {key: replace(one, view=self._judged(one, known)) for key, one in settings.items()}
        if judged != self._settings:
            self._settings = judged
            self._changed()

    def _config_options(self, raw: Json) -> Iterator[tuple[str, _Setting]]:
        room = MOST_CHOICES
        for entry in raw[:MOST_OPTIONS] if isinstance(raw, list) else ():
            option = as_object(entry)
            option_id, value = option.get("id"), option.get("currentValue")
            if not _is_id(option_id):
                continue
            kind = "boolean" if isinstance(value, bool) else "select"
            if not isinstance(value, str | bool) or option.get("type", kind) != kind:
                continue
            choices = list(_choices(option.get("options"), room)) if kind == "select" else None
            room -= len(choices or ())
            category = option.get("category")
            view = ThreadOption(
                option_id=option_id,
                name=_word(option.get("name"), option_id),
                description=_sentence(option.get("description")),
                category=as_title(category) if isinstance(category, str) else None,
                type=kind,
                value=value[:LONGEST_NAME] if isinstance(value, str) else value,
                choices=choices,
            )
            yield option_id, _Setting(view, "session/set_config_option", self._first(option_id, view.value))

    def _older(self, raw: Raw, key: str, method: str) -> dict[str, _Setting]:
        """The state of modes or models as sessions had it before there were options."""
        current, listed = raw.get(f"current{key.title()}Id"), raw.get(f"available{key.title()}s")
        if not isinstance(current, str) or not isinstance(listed, list) or key in self._settings:
            return {}
        named: list[Json] = [{**as_object(each), "value": as_object(each).get("modelId" if key == "model" else "id")}
                 for each in listed[:MOST_CHOICES]]  # fmt: skip
        view = ThreadOption(
            option_id=key,
            name=key.title(),
            category=key,
            type="select",
            value=current[:LONGEST_NAME],
            choices=list(_choices(named, MOST_CHOICES)),
        )
        return {key: _Setting(view, method, self._first(key, view.value))}

    def _modes(self) -> dict[str, _Setting]:
        return {key: one for key, one in self._settings.items() if _is_mode(one.view)}

    def _says_less(self, option_id: str, value: str | bool) -> bool:
        """Whether the words of a value say that the agent asks less with it."""
        setting = self._settings.get(option_id)
        choices = (setting.view.choices or ()) if setting is not None else ()
        name = next((one.name for one in choices if one.value == value), "")
        return asks_less(str(value), name, steers=True)

    def _is_refused(self, option: Raw, before: str | bool | None) -> bool:
        """Whether a person could not choose the value that an option has now; ``before`` None: it is told first."""
        option_id, value, name = option.get("id"), option.get("currentValue"), option.get("name")
        names = [each[:LONGEST_NAME] for each in (option_id, name) if isinstance(each, str)]
        steers = steers_asking(*names)
        if before is not None and (steers or is_disguised(*names)):
            return True
        if isinstance(value, bool):
            return value and asks_less(*names, steers=True)
        words = str(value)[:LONGEST_NAME], _name_of(option.get("options"), value)
        if asks_less(*words, steers=steers) or is_disguised(*words):
            return True
        return before is not None and option.get("category") not in ABOUT_THE_MODEL and not looks_harmless(*words)

    def _first(self, option_id: str, value: str | bool) -> str | bool:
        known = self._settings.get(option_id)
        return value if known is None else known.first

    def _judged(self, setting: _Setting, known: Mapping[tuple[object, ...], str | None]) -> ThreadOption:
        """The option with the reasons why it, or one of its choices, is refused."""
        view = setting.view
        why = self._fixed(view)
        choices: list[OptionChoice] = []
        told = self.held.first(view.option_id)
        first = setting.first if told is None else told
        for each in view.choices or ():
            key = (view.option_id, view.category, first, each.value, each.name)
            refused = why or (known[key] if key in known else self._refused(setting, each))
            if why is None:
                self._judged_names[key] = refused
            choices.append(each if each.refused == refused else each.model_copy(update={"refused": refused}))
        given = None if view.choices is None else choices
        return view.model_copy(update={"refused": why, "choices": given})

    def _fixed(self, view: ThreadOption) -> str | None:
        """Why an option keeps the value that it has."""
        if view.option_id in self._recipe.config:
            return f"Countersign keeps this as it is, so that {self._agent} asks for every call"
        if _is_mode(view) and view.type == "select":
            return None
        if _is_mode(view) or (view.type == "boolean" and asks_less(view.option_id, view.name, steers=True)):
            return f"with another value {self._agent} may ask for less, so Countersign does not change it"
        if steers_asking(view.option_id, view.name) or is_disguised(view.option_id, view.name):
            return f"with another value {self._agent} may ask for less, so Countersign does not change it"
        return None

    def _refused(self, setting: _Setting, choice: OptionChoice) -> str | None:
        """Why one choice is refused: the agent would ask less with it."""
        recipe, view = self._recipe, setting.view
        if _is_mode(view):
            first = self.held.first(view.option_id)
            known = {recipe.mode or (setting.first if first is None else first), *recipe.stricter}
            if (
                recipe.mode is None
                and choice.value not in recipe.stricter
                and asks_less(choice.value, choice.name, steers=True)
            ):
                known.discard(choice.value)
            if choice.value in known:
                return None
            if recipe.name != STRANGER.name:
                return f"{self._agent} may ask for less in this mode, so it cannot be chosen here"
        names = choice.value, choice.name
        if asks_less(*names, steers=_is_mode(view)) or is_disguised(*names):
            return f"{self._agent} would ask for less with this, so it cannot be chosen here"
        if not _is_mode(view) and view.category not in ABOUT_THE_MODEL and not looks_harmless(*names):
            return f"{self._agent} may ask for less with this, so it cannot be chosen here"
        return None


async def read_ahead(message: Raw) -> None:
    """Read the names of a long list of options in the agent's worker, before the message with it is taken on the event
    loop: what is said of each name is kept (``asking_words.py``), and then only looked up."""
    told = as_object(message.get("result")) or as_object(as_object(message.get("params")).get("update"))
    listed = {key: told[key] for key in ("configOptions", "modes", "models") if key in told}
    if listed and size_of_few(listed, most=FEW_VALUES) is None:
        await in_worker(Offered("", STRANGER).hear_opened, listed)


def _name_of(raw: Json, value: Json) -> str:
    """The name that a list of choices gives a value."""
    for entry in islice(_entries(raw), MOST_CHOICES):
        name = entry.get("name")
        if entry.get("value") == value and isinstance(name, str):
            return name[:LONGEST_NAME]
    return ""


def _entries(raw: Json) -> Iterator[Raw]:
    for entry in map(as_object, raw if isinstance(raw, list) else ()):
        inner = entry.get("options")
        yield from map(as_object, inner) if isinstance(inner, list) else (entry,)


def _is_mode(view: ThreadOption) -> bool:
    return is_mode(view.option_id, view.category)


def _is_id(value: Json) -> TypeGuard[str]:
    """Whether a value can be sent back as it was told and be shown as it is."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and visible(value) == value


def _choices(raw: Json, room: int) -> Iterator[OptionChoice]:
    """The choices of a list, of its groups too, as many as there is room for."""
    for entry in raw if isinstance(raw, list) else ():
        given = as_object(entry)
        inner = given.get("options")
        if isinstance(inner, list):
            for choice in _choices(
                [each for each in inner if not isinstance(as_object(each).get("options"), list)], room
            ):
                room -= 1
                yield choice.model_copy(update={"group": _word(given.get("name"), "")})
            continue
        value = given.get("value")
        if room <= 0:
            return
        if _is_id(value):
            room -= 1
            yield OptionChoice(
                value=value,
                name=_word(given.get("name"), value),
                description=_sentence(given.get("description")),
            )


def _commands(raw: Json) -> Iterator[AgentCommand]:
    for entry in raw[:MOST_COMMANDS] if isinstance(raw, list) else ():
        given = as_object(entry)
        name = given.get("name")
        # What is offered is what will be sent, so a name that would be shown otherwise is not offered.
        if not _is_id(name) or not name.strip():
            continue
        hint = _sentence(as_object(given.get("input")).get("hint"))
        yield AgentCommand(
            name=name.removeprefix("/"), description=_sentence(given.get("description")) or "", hint=hint
        )


def _word(value: Json, otherwise: str) -> str:
    return as_title(value if isinstance(value, str) and value.strip() else otherwise)


def _sentence(value: Json) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    return as_message(" ".join(value[:LONGEST_DESCRIPTION].split()))
