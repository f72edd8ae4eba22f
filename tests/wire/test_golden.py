"""The golden samples: what each message looks like on the wire, for the Python models and for the TypeScript types.

One file for each method of the table: ``{"method", "params": [...], "result": [...]}``, each list a few samples of that
part (``result`` for requests only). `initialize.json` holds our own `initializationOptions` in place of the params.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from countersign.lsp.connection import read
from countersign.wire.base import WireModel, as_json
from countersign.wire.methods import METHODS
from countersign.wire.settings import InitializationOptions

GOLDEN = Path(__file__).parent / "golden"
MODELS: dict[tuple[str, str], type[WireModel]] = {
    ("initialize", "params"): InitializationOptions,
    **{(method.name, "params"): method.params for method in METHODS},
    **{(method.name, "result"): method.result for method in METHODS if method.result is not None},
}


def load(method: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{method.replace('/', '.')}.json").read_text("utf-8"))


def samples(method: str, part: str) -> list[Any]:
    return load(method)[part]


def test_each_method_has_its_file_and_each_file_its_method() -> None:
    found = {path.name: json.loads(path.read_text("utf-8"))["method"] for path in GOLDEN.glob("*.json")}
    names = {method for method, _ in MODELS}
    assert found == {f"{name.replace('/', '.')}.json": name for name in names}


@pytest.mark.parametrize("method", sorted({method for method, _ in MODELS}))
def test_a_file_holds_samples_of_each_part_and_nothing_else(method: str) -> None:
    parts = {part for name, part in MODELS if name == method}
    given = load(method)
    assert set(given) == {"method"} | parts
    assert all(given[part] for part in parts)


@pytest.mark.parametrize(("method", "part"), MODELS)
def test_a_sample_is_read_and_written_back_as_it_was(method: str, part: str) -> None:
    for sample in samples(method, part):
        written = as_json(read(MODELS[method, part], sample))
        # What stands in the sample comes back; a default that it leaves out may come with it.
        assert {key: written[key] for key in sample} == sample
        assert all(not info.is_required() for info in _unsaid(MODELS[method, part], sample))


def test_every_field_of_every_model_stands_in_some_sample() -> None:
    seen: set[tuple[str, str]] = set()
    known: set[tuple[str, str]] = set()
    for (method, part), model in MODELS.items():
        for sample in samples(method, part):
            for part_of_it in _models_in(read(model, sample)):
                name = type(part_of_it).__name__
                seen |= {(name, field) for field in part_of_it.model_fields_set}
                known |= {(name, field) for field in type(part_of_it).model_fields}
    assert sorted(known - seen) == []
    written = {cls.__name__ for cls in _descendants(WireModel) if cls.__module__.startswith("countersign.wire.")}
    assert sorted(written - {name for name, _ in known} - {"Empty", "KeptModel"}) == []


CANCELLED = {"outcome": {"outcome": "cancelled"}}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tool/approvalResponse", {"approvalId": "a", "response": CANCELLED, "bypassAll": 1}),
        (
            "tool/approvalResponse",
            {"approvalId": "a", "response": {"outcome": {"outcome": "maybe"}}, "bypassAll": True},
        ),
        ("tool/approvalResponse", {"approval_id": "a", "response": CANCELLED, "bypassAll": True}),
        ("tool/approvalResponse", {"approvalId": "a", "response": CANCELLED}),
        ("settings/confirm", {"digest": "d", "accept": "yes"}),
        ("settings/changed", {"settings": {}, "trusted": "true"}),
        ("settings/changed", {"settings": {}}),
        ("thread/setMode", {"threadId": "t", "mode": "Auto"}),
    ],
)
def test_nothing_that_could_widen_is_guessed_from_what_almost_fits(method: str, params: Any) -> None:
    with pytest.raises(ValueError, match="validation error"):
        read(MODELS[method, "params"], params)


def _unsaid(model: type[WireModel], sample: Any) -> Iterator[Any]:
    for name, info in model.model_fields.items():
        if (info.alias or name) not in sample:
            yield info


def _models_in(value: Any) -> Iterator[WireModel]:
    if isinstance(value, WireModel):
        yield value
        value = [getattr(value, name) for name in type(value).model_fields]
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for inner in value:
            yield from _models_in(inner)


def _descendants(model: type) -> Iterator[type]:
    for child in model.__subclasses__():
        yield child
        yield from _descendants(child)
