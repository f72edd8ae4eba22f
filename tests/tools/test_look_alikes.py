"""Words are read as a person reads them, whatever letters they are written with."""

from __future__ import annotations

import pytest

from countersign.agents.acp.asking_words import asks_less, is_disguised, looks_harmless
from countersign.tools.look_alikes import looks_latin, skeleton, without_digits_for_letters

DISGUISED = {
    "Cyrillic": "ВУРАЅЅ".replace("У", "Ү"), "Armenian among Latin": "yօlօ", "Cherokee": "ᏴᎽᏢᎪᏚᏚ",
    "Cyrillic a": "pаssword",
}  # fmt: skip
READ = {
    "Yólo": "Yolo", "ʏᴏʟᴏ": "yolo", "ｙｏｌｏ": "yolo", "y\u200bo\u00adlo": "yolo", "🅈🄾🄻🄾": "YOLO", "yօlօ": "yolo",
    "🆈🅾🅻🅾": "yolo", "b\u20ddypass": "bypass", "yo\u3164lo": "yolo", "yo\u2800lo": "yolo",
    "YØLØ": "YoLo",
    "ƀypass": "bypass", "ʎolo": "yolo",
    "pа\u0301ssword": "password", "Режим": "Peжиm", "模式": "模式",
}  # fmt: skip


@pytest.mark.parametrize(("text", "read"), READ.items())
def test_a_text_is_read_as(text: str, read: str):
    assert skeleton(text) == read


@pytest.mark.parametrize("text", DISGUISED.values(), ids=DISGUISED)
def test_letters_that_look_latin_are_noticed(text: str):
    assert looks_latin(text)
    assert is_disguised(text)


@pytest.mark.parametrize("text", ["Bypass", "Größe", "模式 (plan)", "Авто", "Режим", "日本語", "Δ", "naïve", "½"])
def test_other_languages_are_no_disguise(text: str):
    assert not looks_latin(text)


@pytest.mark.parametrize(
    "name",
    [
        "Y0L0",
        "Yólo",
        "ʏᴏʟᴏ",
        "Byp4ss",
        "y0l0-mode",
        "ＹＯＬＯ",
        "YOLO mode",
        "auto_appr0ve",
        "sk1p",
        "yo-lo",
        "Y.O.L.O",
        "YØLØ",
        "🆈🅾🅻🅾",
        "b\u20ddypass",
        "permissive",
        "Privileged",
        "no questions",
        "without consent",
        "no supervision",
        "lenient",
        "自动批准",
        "ohne Rückfrage",
    ],
)
def test_a_name_that_asks_less_is_known_in_every_spelling(name: str):
    assert asks_less(name)


@pytest.mark.parametrize(
    "name", ["gpt-4o", "claude-3-5-sonnet", "o3", "qwen3-coder:30b", "llama3.1", "Größe", "Détaillé"]
)
def test_names_of_models_and_words_stay_harmless(name: str):
    assert looks_harmless(name)


def test_digits_are_read_in_words_alone():
    assert without_digits_for_letters("3 of 40: Y0L0, 1337") == "3 of 40: YoLo, 1337"
