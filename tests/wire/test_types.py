"""The generated TypeScript: fresh, the same every time, and never a guess."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "wire_types.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wire_types", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["wire_types"] = module
    spec.loader.exec_module(module)
    return module


wire_types = load()


def test_the_committed_types_are_what_the_models_say(capsys: pytest.CaptureFixture[str]) -> None:
    status = wire_types.main(["--check"])
    assert (status, capsys.readouterr().err) == (0, "")


def test_a_stale_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wire_types, "ROOT", tmp_path)
    monkeypatch.setattr(wire_types, "CLIENT", tmp_path)
    assert wire_types.main([]) == 0
    assert wire_types.main(["--check"]) == 0
    (tmp_path / "wire.gen.ts").write_text("// edited", "utf-8")
    assert wire_types.main(["--check"]) == 1
    assert "wire.gen.ts is not what the models say" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "typescript", "shape"),
    [
        ("str", "string", "string"),
        ("int", "number", "integer"),
        ("Json", "unknown", "any"),
        ("Verdict", "Verdict", {"ref": "Verdict"}),
        ("str | None", "string | null", None),
        ('Literal["a", "b"]', '"a" | "b"', {"values": ["a", "b"]}),
        ("list[Evidence]", "Evidence[]", {"list": {"ref": "Evidence"}}),
        ('list[Literal["a", "b"]]', '("a" | "b")[]', {"list": {"values": ["a", "b"]}}),
        ("dict[str, Json]", "Record<string, unknown>", {"map": "any"}),
        (
            'Annotated[TextEvent | DoneEvent, Field(discriminator="type")]',
            "TextEvent | DoneEvent",
            {"oneOf": [{"ref": "TextEvent"}, {"ref": "DoneEvent"}]},
        ),
    ],
)
def test_an_annotation_becomes_a_type_and_a_shape(written: str, typescript: str, shape: object) -> None:
    tree = ast.parse(written, mode="eval").body
    assert wire_types.typescript(tree) == typescript
    if shape is not None:
        assert wire_types.shape(tree) == shape


@pytest.mark.parametrize("written", ["Any", "bytes", "tuple[int, int]", "dict[int, str]", "Evidences", "set[str]"])
def test_what_is_not_known_is_an_error_and_not_any(written: str) -> None:
    tree = ast.parse(written, mode="eval").body
    for emit in (wire_types.typescript, wire_types.shape):
        with pytest.raises(TypeError, match=r"teach scripts/wire_types\.py"):
            emit(tree)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("TextEvent", ["type", "text"]),
        ("ErrorEvent", ["type", "message", "data"]),
        ("ShellOutputParams", ["shellId", "from?"]),
        ("InitializationOptions", ["settings?", "files?", "trusted?", "storage?", "client?", "ledgerAnchor?"]),
        ("SettingsUpdateParams", ["layer", "path", "value?", "insert?", "remove?", "edit?"]),
    ],
)
def test_a_field_is_optional_where_it_may_be_absent(model: str, fields: list[str]) -> None:
    models = {found.__name__: found for module in wire_types.MODULES for found in wire_types.models(module)}
    written = [field.name + ("?" if field.optional else "") for field in wire_types.fields_of(models[model])]
    assert written == fields
