"""What a model server's refusal means: one sentence that says what to do, and whether asking again can help.

Providers tell the same failure in different words. The status counts first, then the error's code and text; a text that
is not known is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from countersign.agents.models.endpoint import Endpoint
from countersign.tools.visible import as_message
from countersign.wire.base import Json
from countersign.wire.errors import ContextTooLong, ModelBusy, ModelError
from countersign.wire.strict_json import BadJson, parse_json

LONGEST_WAIT = 24 * 3600.0
"""Seconds; a server that asks for more is not believed."""

_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|prompt is too long|maximum context|input (token count|is too long)"
    r"|too many (input )?tokens|exceeds? (the )?(maximum|max|model).{0,40}tokens|too large for model",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing|payment required|insufficient balance", re.I)
_NO_TOOLS = re.compile(r"does not support (tools|function)|tool[ _]?(use|call\w*) is not supported", re.I)
_NO_MODEL = re.compile(r"model.{0,80}(not found|does not exist|no such|unknown)|unknown model|model_not_found", re.I)
_NO_IMAGES = re.compile(r"(image|vision|multimodal).{0,60}(not supported|unsupported|does not support)"
                        r"|does not support.{0,40}image", re.I)  # fmt: skip
_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")


def failure(at: Endpoint, status: int, body: bytes, headers: Mapping[str, str]) -> ModelError:
    """Return the error for an answer that is not 200."""
    found = _object(body)
    text, code = error_text(found), _code(found)
    known = f"{code or ''} {text or ''}"
    if status in (401, 403) or code in ("invalid_api_key", "authentication_error") or "API key not valid" in known:
        return refused_key(at)
    if status == 402 or _NO_CREDIT.search(known):
        return ModelError(f"the account at {at.vendor} has no credit left for `{at.model}`; top it up or switch models")
    if status == 413 or (400 <= status < 500 and status != 429 and _TOO_LONG.search(known)):
        return ContextTooLong(f"the chat is longer than `{at.model}` takes; shorten it with `/compact`")
    if _NO_TOOLS.search(known):
        return ModelError(f"the model `{at.model}` cannot use tools; choose one that can")
    if status < 500 and _NO_IMAGES.search(known):
        return ModelError(f"the model `{at.model}` takes no images; send the prompt without, or switch models")
    if status == 404 or _NO_MODEL.search(known):
        return no_model(at)
    if status in (408, 409, 425, 429) or status >= 500:
        return busy(at, status, text, retry_after(headers, found))
    if 300 <= status < 400:
        return ModelError(f"`{at.shown}` redirects, which is not followed; correct `baseUrl` of `{at.entry}`")
    return ModelError(f"{at.vendor} failed: `{as_message(text or f'status {status}')}`; its log says more")


def told_in_stream(at: Endpoint, error: Json) -> ModelError:
    """Return the error for one that came as part of a stream that had begun well."""
    found: Json = {"error": error}
    text, code = error_text(found), _code(found)
    known = f"{code or ''} {text or ''}"
    if _NO_CREDIT.search(known):
        return ModelError(f"the account at {at.vendor} has no credit left for `{at.model}`; top it up or switch models")
    if _TOO_LONG.search(known):
        return ContextTooLong(f"the chat is longer than `{at.model}` takes; shorten it with `/compact`")
    if code in ("429", "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"):
        return busy(at, 429, text, retry_after({}, found))
    if code in ("overloaded_error", "server_error", "api_error", "500", "502", "503", "529", "UNAVAILABLE", "INTERNAL"):
        return busy(at, 529, text, None)
    return ModelError(f"{at.vendor} failed: `{as_message(text or 'no reason was given')}`; its log says more")


def busy(at: Endpoint, status: int, text: str | None, after: float | None) -> ModelBusy:
    """Return the error of a server that cannot answer now."""
    if status == 429:
        if after:
            limited = f"{at.vendor} limits how often `{at.model}` may be asked; try again in {_span(after)}"
        else:
            limited = f"{at.vendor} limits how often `{at.model}` may be asked; try again later"
        return ModelBusy(limited, after)
    if status in (503, 529):
        return ModelBusy(f"{at.vendor} is overloaded; try again later or switch models", after)
    return ModelBusy(f"{at.vendor} failed: `{as_message(text or f'status {status}')}`; its log says more", after)


def refused_key(at: Endpoint) -> ModelError:
    """Return the error for a key that the server does not take."""
    return ModelError(f"{at.vendor} refused the key of `{at.entry}`; enter another with `Countersign: Set Key`")


def missing_key(at: Endpoint, variable: str | None) -> ModelError:
    """Return the error for a key that nobody gave. ``variable``: the one that the settings name."""
    if variable is not None:
        return ModelError(f"the key of `{at.entry}` is missing; set `{variable}` and restart the server")
    return ModelError(f"the key of `{at.entry}` is missing; enter it with `Countersign: Set Key`")


def no_model(at: Endpoint) -> ModelError:
    """Return the error for a model that the server does not have."""
    if at.vendor == "Ollama":
        return ModelError(f"Ollama has no model `{at.model}`; get it with `ollama pull {at.model}`")
    return ModelError(f"{at.vendor} has no model `{at.model}`; correct `model` of `{at.entry}` in `countersign.models`")


def broke_off(at: Endpoint) -> ModelError:
    """Return the error for a stream that ended before its end. Asking again helps if nothing of it was used."""
    return ModelBusy(f"the answer of {at.vendor} broke off; try again")


def retry_after(headers: Mapping[str, str], body: Json = None) -> float | None:
    """Return the seconds that the server asks to wait: its headers first, then Google's ``RetryInfo``."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is not None:
        if (seconds := _number(given)) is not None:
            return seconds
        try:
            seconds = (parsedate_to_datetime(given) - datetime.now(UTC)).total_seconds()
            return min(max(seconds, 0.0), LONGEST_WAIT)
        except (ValueError, TypeError, OverflowError):
            pass
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (match := _DURATION.fullmatch(delay)):
            return min(float(match[1]), LONGEST_WAIT)
    return None


def error_text(found: Json) -> str | None:
    """Return the words of an error's body, whichever provider wrote it."""
    found = found[0] if isinstance(found, list) and found else found
    if not isinstance(found, dict):
        return None
    error = found.get("error", found)
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or found.get("detail")
    return error if isinstance(error, str) and error else None


def _code(found: Json) -> str | None:
    found = found[0] if isinstance(found, list) and found else found
    error = found.get("error") if isinstance(found, dict) else None
    if not isinstance(error, dict):
        return None
    for key in ("code", "type", "status"):
        if isinstance(value := error.get(key), str | int) and not isinstance(value, bool):
            if key == "code" and isinstance(value, int) and isinstance(error.get("status"), str):
                continue
            return str(value)[:100]
    return None


def _object(body: bytes) -> Json:
    try:
        return parse_json(body)
    except BadJson:
        return None


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text.strip()):
        return None
    return min(float(text), LONGEST_WAIT)


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
