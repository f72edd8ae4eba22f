"""When each rule was first seen, kept in the storage folder, so that a rule which decides nothing can be told from one
that is new. Names of rules and times only; losing it costs nobody a right, only the age of rules.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from countersign.settings.edit import EditRefused
from countersign.settings.files import edit_file, read_text, set_aside

log = logging.getLogger(__name__)
FILE = "rules-seen.json"
MOST = 5000
"""Rules that are remembered: of those that are no longer there the oldest go first."""


def blocking_first_seen(
    storage: Path, rule_ids: Collection[str], at: str, warn: Callable[[str], None]
) -> Mapping[str, str]:
    """By rule, when it was first seen; a rule that is new is seen ``at`` and remembered.

    A store that is corrupt is kept aside, told by ``warn``, and counts as empty. One that cannot be written is left.
    """
    path = storage / FILE
    try:
        seen = _parsed(read_text(path))
    except FileNotFoundError:
        seen = {}
    except ValueError:
        warn(f"the store of when rules were first seen was corrupt; it is kept as `{set_aside(path).name}`")
        seen = {}
    except (OSError, EditRefused):
        log.info("when rules were first seen cannot be read", exc_info=True)
        return dict.fromkeys(rule_ids, at)
    if not rule_ids - seen.keys():
        return seen
    fresh = dict.fromkeys(rule_ids, at)
    try:
        edit_file(path, lambda text: _text({**fresh, **_parsed(text)}, rule_ids), new_mode=0o600)
    except (EditRefused, ValueError):
        log.info("when rules were first seen cannot be kept; it is tried again later", exc_info=True)
    return {**fresh, **seen}


def _parsed(text: str) -> dict[str, str]:
    """Raises ValueError for what we have not written."""
    try:
        found = json.loads(text or "{}")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict) or not all(isinstance(time, str) for time in found.values()):
        raise ValueError("it holds no times")
    return found


def _text(seen: Mapping[str, str], needed: Collection[str]) -> str:
    kept = sorted(seen.items(), key=lambda one: (one[0] in needed, one[1]))[-MOST:]
    return json.dumps(dict(sorted(kept)), indent=1)
