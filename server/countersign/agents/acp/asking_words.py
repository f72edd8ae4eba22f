"""Words in the names of an agent's options and of their values by which it may ask for less.

Names are folded first: letters that look Latin as Latin ones, no case, accents, apostrophes or invisible characters,
words of camel case apart; digits that stand for letters count too. The lists cannot know every word; a value of an
option that is neither a mode nor about the model must look harmless by both (``looks_harmless``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from countersign.tools.look_alikes import looks_latin, skeleton, without_digits_for_letters

STEERS_ASKING = re.compile(
    r"\b(?:ask\w*|approv\w*|permission\w*|prompt\w*|confirm\w*|sandbox\w*|trust\w*|bypass\w*|yolo\w*|allow\w*|accept\w*"
    r"|unsafe|danger\w*|auto ?(?:edit|accept|approv\w*|allow\w*|pilot|run|exec\w*|proceed|mode|confirm\w*)"
    r"|proceed\w*|full ?access|full ?auto|skip\w*|checks?|guards?|unattended|autonom\w*|unrestricted|restrict\w*"
    r"|safe\w*|review\w*|interactive|polic\w*|read ?only|access\w*|hooks?|hands free|network\w*)\b"
)
"""Words in the name of an option by which an agent may ask less."""
ASKS_LESS = re.compile(
    r"\b(?:bypass\w*|yolo\w*|full ?(?:access|auto\w*)"
    r"|auto ?(?:edits?|accept\w*|approv\w*|pilot|run|exec\w*|allow\w*|proceed\w*|mode|confirm\w*)"
    r"|accept ?(?:edits?|all|every\w*)|allow ?(?:all|every\w*)|approve ?(?:all|every\w*)|run everything"
    r"|always ?(?:allow\w*|approv\w*|proceed\w*|accept\w*|trust\w*|run)"
    r"|(?:dont|don t|do not|never|no|without) ?(?:me )?(?:ask\w*|approv\w*|confirm\w*|permission\w*|prompt\w*|check\w*)"
    r"|(?:ask\w*|approv\w*|prompt\w*|confirm\w*) never|skip\w*|unsafe|danger\w*|unattended|autonom\w*|autopilot"
    r"|trust\w*|unrestricted|hands free|turbo|god mode|unsupervised|headless|elevated|lenient\w*"
    r"|permissiv\w*|privileged"
    r"|(?:no|without) ?(?:questions?|consent|supervision|oversight|interruptions?|guardrails?|limits?)"
    r"|ohne (?:ruckfrage|nachfrage|bestatigung|erlaubnis)\w*"
    r"|sans (?:confirm\w*|demander|validation)|sin (?:confirm\w*|preguntar)"
    r"|(?:自动|自動|无需|無需|免|跳过|跳過|确认なし|確認なし)\w*|never ?(?:stop|pause|wait)\w*)\b"
)
"""Words in the name of a value by which an agent asks less."""
ALONE = re.compile(r"(?:auto|automatic|never|none|off|always|all|full)")
"""What asks less as the whole value of an option that steers asking."""
APOSTROPHES = str.maketrans(dict.fromkeys("'\N{RIGHT SINGLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}"
                                          "\N{MODIFIER LETTER APOSTROPHE}`\N{ACUTE ACCENT}", " "))  # fmt: skip
ESCAPED = re.compile(r"\\[uUx][0-9a-fA-F]{2}")
"""How an invisible character is shown."""
MOST_READ = 8192
"""Names whose words are kept in mind, for the lists of a few sessions: reading a thousand takes seconds."""


def steers_asking(*names: str) -> bool:
    """Whether an option of these names may say when its agent asks."""
    return any(_read(name).steers for name in names)


def asks_less(*names: str, steers: bool = False) -> bool:
    """Whether a value of these names says that the agent asks less; ``steers``: its option says when it asks."""
    found = [_read(name) for name in names]
    return any(each.less or (steers and each.less_alone) for each in found)


def is_disguised(*names: str) -> bool:
    """Whether one of these names has letters of another alphabet that look Latin, or an escaped invisible one."""
    return any(_read(name).disguised for name in names)


def looks_harmless(*names: str) -> bool:
    """Whether neither list knows anything in these names."""
    return not (steers_asking(*names) or asks_less(*names) or is_disguised(*names))


@dataclass(frozen=True, slots=True)
class _Read:
    """What stands in a name."""

    steers: bool
    less: bool
    less_alone: bool
    disguised: bool


@lru_cache(MOST_READ)
def _read(name: str) -> _Read:
    readings = _readings(name)
    return _Read(
        steers=any(map(STEERS_ASKING.search, readings)),
        less=any(map(ASKS_LESS.search, readings)),
        less_alone=any(map(ALONE.fullmatch, readings)),
        disguised=looks_latin(name) or ESCAPED.search(name) is not None,
    )


_IN_WORD = re.compile(r"(?<=\w)[-.\u00b7\u2010-\u2015\u30fb](?=\w)")


def _readings(name: str) -> set[str]:
    """Return the words of a name; also with camel case and what a sign parts in one, since ``YoLo`` and ``yo-lo`` are
    one word, and with digits as letters."""
    folded = skeleton(name).casefold()
    words = {_words(name), _words(folded), _words(_IN_WORD.sub("", folded))}
    return words | {without_digits_for_letters(each, one) for each in words for one in "li"}


def _words(text: str) -> str:
    """Lower-case words, also of names in camel case or with signs between."""
    text = skeleton(text.translate(APOSTROPHES))
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return " ".join(re.split(r"[\W_]+", text.casefold())).strip()
