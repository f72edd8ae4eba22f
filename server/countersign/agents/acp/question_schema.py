"""The form of an agent's question: its schema as we take it, within bounds, and whether an answer fits it.

ACP allows a flat object of texts, numbers, yes or no, and choices. Anything else is refused with a sentence that names
it, because a person cannot answer well what the form does not show. A regular expression of the
agent's is shown and not evaluated: it could take longer than the chat is open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, get_args
from urllib.parse import urlsplit

from countersign.agents.acp.translate import MOST_COUNT, BadMessage, Raw, as_object
from countersign.agents.models.endpoint import is_loopback
from countersign.gate import is_secret_name
from countersign.tools.look_alikes import skeleton, without_digits_for_letters
from countersign.tools.visible import as_title
from countersign.wire.base import Json
from countersign.wire.elicitation import (
    ElicitationChoice,
    ElicitationItems,
    ElicitationProperty,
    ElicitationSchema,
    TextFormat,
    UrlNote,
)
from countersign.wire.errors import InvalidAnswer

MOST_FIELDS = 50
MOST_CHOICES = 200
"""Choices of one field."""
LONGEST_MESSAGE = 4000
LONGEST_TITLE = 200
"""Characters of a title, and of a field's name."""
LONGEST_DESCRIPTION = 1000
LONGEST_CHOICE = 500
LONGEST_PATTERN = 500
LONGEST_ANSWER = 32 << 10
"""Characters of one text that a person enters."""
LONGEST_URL = 4096
LONGEST_FORM = 64 << 10
"""Characters of all texts of a form together."""

_UNKNOWN = ("$ref", "$dynamicRef", "allOf", "not", "if", "properties", "patternProperties", "additionalProperties")
"""Keywords by which a field would be more than it is drawn as."""
_SECRET = re.compile(
    r"\b(?:\w*pass(?:word|phrase|code|wd)s?|pass(?:wort|worter)|kenn(?:wort|worter)|tokens?|api[ _-]?keys?"
    r"|(?:access|private|secret|signing)[ _-]?keys?"
    r"|secrets?|credentials?|pins?|otps?|2fa|mfa|totp|cvv|cvc|(?:seed|recovery|backup)[ _-]?(?:phrase|code|word|key)s?"
    r"|mnemonics?|one[ -]time (?:code|password)|(?:verification|security|authenticator|login|sms) codes?"
    r"|\d[ -]digit codes?|code from your (?:phone|app|device|e-?mail)|card numbers?|iban|ssn|ssh keys?|your keys?"
    r"|id (?:rsa|ed25519|ecdsa)"
    r"|(?:your|the|my) pass|pw|pwds?|(?:db|root|admin|user|my|sudo)(?:pass|pw|pwd)|pats?|bearer|cookies?|jwts?"
    r"|authorization|otp\w*|2fa\w*|tok|security (?:answer|question)s?|mot de passe|contrasena|senha|wachtwoord|haslo"
    r"|\w*(?:пароль|密码|密碼|口令|パスワード|暗証番号|비밀번호)\w*)\b"
)
"""Found in texts as ``_in_words`` gives them."""
_PASS = re.compile(r"\bpass\b")
"""Counts in names and titles alone; in a sentence it mostly is a verb."""
_COUNTED = re.compile(r"\b(?:tokens|pins|pats|cookies)\b")
"""What a number counts, and no secret that is a number."""
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9]+\b)|[_\-.]+")
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]{1,63}(?:\.[^@\s.]{1,63}){1,10}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def read_form(raw: Json, message: str) -> ElicitationSchema:
    """Return the form of a question with this ``message``.

    Raises:
        BadMessage: it is no form, or one that is not drawn; the message says which part and why.
    """
    given = _as_object(raw, "`requestedSchema`")
    if given.get("type", "object") != "object":
        raise BadMessage("the type of `requestedSchema` must be `object`")
    properties = _as_object(given.get("properties", {}), "`properties`")
    if len(properties) > MOST_FIELDS:
        raise BadMessage(f"a question may have {MOST_FIELDS} fields at most, not {len(properties)}")
    title = _text(given, "title", LONGEST_TITLE)
    description = _text(given, "description", LONGEST_DESCRIPTION)
    about = _About(labels=(title,), sentences=(message, description))
    fields = {name: _read_field(name, field, about) for name, field in properties.items()}
    required = given.get("required")
    names = required if isinstance(required, list) else []
    if required is not None and (names != required or not all(isinstance(name, str) for name in names)):
        raise BadMessage("`required` must be a list of names")
    missing = next((name for name in names if name not in fields), None)
    if missing is not None:
        raise BadMessage(f"`required` names `{as_title(str(missing))}`, which is no field")
    form = ElicitationSchema(
        title=title,
        description=description,
        properties=fields,
        required=[name for name in fields if name in names],
    )
    if sum(_lengths(form)) > LONGEST_FORM:
        raise BadMessage(f"the texts of a form may have {LONGEST_FORM >> 10} KiB at most together")
    return form


def read_content(form: ElicitationSchema, content: Mapping[str, Json]) -> dict[str, Json]:
    """Return a person's answer as it goes to the agent.

    Raises:
        InvalidAnswer: it does not fit the form; the message names the field and no value.
    """
    unknown = next((name for name in content if name not in form.properties), None)
    if unknown is not None:
        raise InvalidAnswer(f"the form has no field `{as_title(unknown)}`")
    answer: dict[str, Json] = {}
    for name, field in form.properties.items():
        if content.get(name) is None:
            if name in form.required:
                raise InvalidAnswer(f"the field `{as_title(name)}` is required")
            continue
        value, why = fitted(field, content[name])
        if why is not None:
            raise InvalidAnswer(f"the field `{as_title(name)}` {why}")
        answer[name] = value
    return answer


def fitted(field: ElicitationProperty, value: Json) -> tuple[Json, str | None]:
    """Return a value as the field takes it, and None; or anything, and why the field does not take it."""
    match field.type:
        case "string":
            return value, _misfit_text(field, value)
        case "boolean":
            return value, None if isinstance(value, bool) else "takes true or false"
        case "integer" | "number":
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= MOST_COUNT:
                return value, "takes a number"
            if field.type == "integer" and value != int(value):
                return value, "takes a whole number"
            number = int(value) if field.type == "integer" else value
            return number, _misfit_range(number, field.minimum, field.maximum, "a number")
        case "array":
            known = {choice.const for choice in field.items.any_of} if field.items is not None else set[str]()
            if not isinstance(value, list) or not all(isinstance(one, str) and one in known for one in value):
                return value, "takes a list of its choices"
            if len(set(map(str, value))) != len(value):
                return value, "takes each choice once"
            return value, _misfit_range(len(value), field.min_items, field.max_items, "a number of choices")


@dataclass(frozen=True, slots=True)
class ReadUrl:
    """A URL that a person may open, as it is, the host that it leads to, and what is to be known of it."""

    url: str
    host: str
    notes: tuple[UrlNote, ...]


def asks_for_a_secret(name: str, label: str | None) -> bool:
    """Return true if a name or label says that a secret is wanted, whatever else is said of it."""
    return is_secret_name(name) or _About((name, label)).ask_for_a_secret()


def read_url(raw: Json) -> ReadUrl:
    """Return a URL that reads as what it opens.

    Raises:
        BadMessage: it is none, or could be taken for another one.
    """
    if not isinstance(raw, str) or not 0 < len(raw) <= LONGEST_URL:
        raise BadMessage(f"`url` must be a URL of {LONGEST_URL} characters at most")
    if not re.fullmatch(r"[!-~]+", raw) or re.search(r'[\\<>"`^{|}]', raw):
        raise BadMessage("`url` may hold printable ASCII only, as URLs do; write other letters percent-encoded")
    try:
        parts = urlsplit(raw)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise BadMessage("`url` is no URL") from None
    if parts.scheme not in ("http", "https") or not raw.lower().startswith(f"{parts.scheme}://"):
        raise BadMessage("`url` must begin with https:// or http://")
    if "@" in parts.netloc:
        raise BadMessage("`url` must not name a user before its host")
    if not re.fullmatch(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?\.?|\[[0-9a-f:.]+\]|[0-9a-f:.]+", host):
        raise BadMessage("`url` names no host")
    notes: list[UrlNote] = []
    if any(label.startswith("xn--") for label in host.split(".")):
        notes.append("internationalName")
    if parts.scheme == "http" and not is_loopback(raw):
        notes.append("unencrypted")
    return ReadUrl(raw, host, tuple(notes))


@dataclass(frozen=True, slots=True)
class _About:
    """Texts that say what is asked for: ``labels`` are names and titles."""

    labels: tuple[str | None, ...] = ()
    sentences: tuple[str | None, ...] = ()

    def ask_for_a_secret(self) -> bool:
        """Return true if they ask for something that nobody should keep."""
        texts = map(_in_words, self.sentences)
        labels = [*map(_in_words, self.labels)]
        return any(map(_SECRET.search, (*texts, *labels))) or any(map(_PASS.search, labels))

    def ask_for_a_secret_number(self) -> bool:
        """Return true if they ask for a secret that may be a number, such as a PIN."""
        texts = [_COUNTED.sub(" ", _in_words(text)) for text in (*self.labels, *self.sentences)]
        return any(map(_SECRET.search, texts)) or any(map(_PASS.search, map(_in_words, self.labels)))


def _in_words(text: str | None) -> str:
    """Return a name or text as it is read and with the parts of its words apart, without differences of case."""
    plain = skeleton(text or "")
    readings = [plain, _PARTS.sub(" ", plain), *(without_digits_for_letters(plain, one) for one in "li")]
    return "\n".join((*readings, text or "")).casefold()


def _read_field(name: str, raw: Json, form: _About) -> ElicitationProperty:
    shown = f"the field `{as_title(name)}`"
    if not 0 < len(name) <= LONGEST_TITLE or name == "__proto__":
        raise BadMessage(f"{shown} has a name that is not taken")
    given = _as_object(raw, shown)
    kind = given.get("type")
    extra = next((word for word in _UNKNOWN if word in given), None)
    if kind not in ("string", "number", "integer", "boolean", "array") or extra is not None:
        what = f"has `{extra}`" if extra is not None else f"has the type `{as_title(str(kind))}`"
        raise BadMessage(f"{shown} {what}; a field is a string, number, integer, boolean, or an array of choices")
    title = _text(given, "title", LONGEST_TITLE)
    description = _text(given, "description", LONGEST_DESCRIPTION)
    read: dict[str, object] = {"type": kind, "title": title, "description": description}
    if kind == "string":
        read |= _read_text(given, shown)
    elif kind == "array":
        items = _as_object(given.get("items"), f"`items` of {shown}")
        if "anyOf" not in items and items.get("type") != "string":
            raise BadMessage(f"`items` of {shown} must be strings to choose from")
        read["items"] = ElicitationItems(any_of=_read_choices(items, "anyOf", shown))
        read |= _read_bounds(given, "minItems", "maxItems", shown)
    elif kind != "boolean":
        read |= _read_bounds(given, "minimum", "maximum", shown, whole=kind == "integer", signed=True)
    if _is_secret(kind, _About((name, title), (description,)), form) and "one_of" not in read:
        read["secret"] = True
    field = ElicitationProperty.model_validate(read)
    return _with_default(field, given.get("default"))


def _is_secret(kind: Json, field: _About, form: _About) -> bool:
    match kind:
        case "string":
            texts = [skeleton(text or "") for text in (*field.labels, *field.sentences)]
            return any(map(is_secret_name, texts)) or field.ask_for_a_secret() or form.ask_for_a_secret()
        case "integer" | "number":
            return field.ask_for_a_secret_number() or form.ask_for_a_secret_number()
        case _:
            return False


def _with_default(field: ElicitationProperty, default: Json) -> ElicitationProperty:
    """With the default, if it fits: one that does not is left out, and so is the default of a secret."""
    if default is None or field.secret:
        return field
    value, why = fitted(field, default)
    return field if why is not None else field.model_copy(update={"default": value})


def _read_text(given: Raw, shown: str) -> dict[str, object]:
    if "enum" in given or "oneOf" in given:
        return {"one_of": _read_choices(given, "oneOf", shown)}
    pattern = _text(given, "pattern", LONGEST_PATTERN)
    known = given.get("format")
    return {
        **({"pattern": pattern} if pattern is not None else {}),
        **({"format": known} if known in get_args(TextFormat) else {}),
        **_read_bounds(given, "minLength", "maxLength", shown),
    }


def _read_choices(given: Raw, titled: Literal["oneOf", "anyOf"], shown: str) -> list[ElicitationChoice]:
    if "enum" in given and titled in given:
        raise BadMessage(f"{shown} has both `enum` and `{titled}`")
    raw = given.get(titled, given.get("enum"))
    if not isinstance(raw, list) or not 0 < len(raw) <= MOST_CHOICES:
        raise BadMessage(f"{shown} must have between 1 and {MOST_CHOICES} choices")
    choices: list[ElicitationChoice] = []
    for entry in raw:
        one: Raw = {"const": entry} if titled not in given else _as_object(entry, f"a choice of {shown}")
        const = one.get("const")
        if not isinstance(const, str) or len(const) > LONGEST_CHOICE:
            raise BadMessage(f"a choice of {shown} must be a string of {LONGEST_CHOICE} characters at most")
        title = _text(one, "title", LONGEST_CHOICE)
        description = _text(one, "description", LONGEST_DESCRIPTION)
        choices.append(ElicitationChoice(const=const, title=const if title is None else title, description=description))
    if len({choice.const for choice in choices}) != len(choices):
        raise BadMessage(f"{shown} has a choice twice")
    return choices


_BOUNDS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
    "minimum": "minimum",
    "maximum": "maximum",
}


def _read_bounds(
    given: Raw, low: str, high: str, shown: str, *, whole: bool = True, signed: bool = False
) -> dict[str, object]:
    found: dict[str, int | float] = {}
    for key in (low, high):
        value = given.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise BadMessage(f"`{key}` of {shown} must be a number")
        if (whole and value != int(value)) or (not signed and value < 0):
            raise BadMessage(f"`{key}` of {shown} must be a whole number" + ("" if signed else " from 0"))
        found[key] = min(max(int(value) if whole else value, -MOST_COUNT), MOST_COUNT)
    if len(found) == 2 and found[low] > found[high]:
        raise BadMessage(f"no value fits {shown}: its `{low}` is above its `{high}`")
    return {_BOUNDS[key]: value for key, value in found.items()}


def _misfit_text(field: ElicitationProperty, value: Json) -> str | None:
    if not isinstance(value, str):
        return "takes a text"
    if field.one_of is not None:
        return None if any(choice.const == value for choice in field.one_of) else "takes one of its choices"
    if len(value) > LONGEST_ANSWER:
        return f"takes {LONGEST_ANSWER} characters at most"
    short = _misfit_range(len(value), field.min_length, field.max_length, "a number of characters")
    return short or (_misfit_format(field.format, value) if field.format is not None else None)


def _misfit_format(known: TextFormat, value: str) -> str | None:
    match known:
        case "email":
            return None if _EMAIL.fullmatch(value) else "takes an e-mail address"
        case "uri":
            return None if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", value) else "takes a URI"
        case "date":
            return None if _DAY.fullmatch(value) and _parses(date.fromisoformat, value) else "takes a date (2026-01-31)"
        case "date-time":
            dated = _DAY.fullmatch(value[:10]) and value[10:11] in ("T", "t", " ")
            return None if dated and _parses(datetime.fromisoformat, value) else "takes a date with a time"


def _parses(parse: object, value: str) -> bool:
    assert callable(parse)
    try:
        parse(value)
    except ValueError:
        return False
    return True


def _misfit_range(value: float, low: float | None, high: float | None, what: str) -> str | None:
    if low is not None and value < low:
        return f"takes {what} from {low:g} on"
    return f"takes {what} up to {high:g}" if high is not None and value > high else None


def _as_object(raw: Json, what: str) -> Raw:
    if not isinstance(raw, dict):
        raise BadMessage(f"{what} must be an object")
    return as_object(raw)


def _text(given: Raw, key: str, longest: int) -> str | None:
    """A text of the schema; of another type it counts as absent, as in ACP's own reading."""
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        return None
    if len(value) > longest:
        raise BadMessage(f"a `{key}` of the form is longer than {longest} characters")
    return value


def _lengths(form: ElicitationSchema) -> Iterable[int]:
    for name, field in form.properties.items():
        choices: Sequence[ElicitationChoice] = field.one_of or (field.items.any_of if field.items is not None else ())
        texts = [name, field.title, field.description, field.pattern]
        texts += [text for choice in choices for text in (choice.const, choice.title, choice.description)]
        texts += [field.default] if isinstance(field.default, str) else []
        yield sum(len(text) for text in texts if text is not None)
