"""The records of programs: compiled, complete in the package, and refused where they are wrong."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "server/countersign/gate/shell/programs"


def script() -> Any:
    spec = importlib.util.spec_from_file_location("programs_script", ROOT / "scripts/programs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["programs_script"] = module
    spec.loader.exec_module(module)
    return module


PROGRAMS_SCRIPT = script()
RECORDS = PROGRAMS_SCRIPT.read_records()


def test_the_compiled_tables_are_those_of_the_records():
    assert PROGRAMS_SCRIPT.compiled(RECORDS) == (PROGRAMS / "compiled.py").read_text(encoding="utf-8")


def test_the_wheel_leaves_the_records_out():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["exclude"] == [(PROGRAMS / "records").relative_to(ROOT).as_posix()]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ("[arguments]\nrun = '--exec'", "unexpected keyword argument 'run'"),
        ("[argument]\nruns = '--exec'", "there is no facet `argument`"),
        ("[prefix]\nword = 1", "not a fact of this facet: 1"),
        ("versioned = 'yes'", "not a fact of this facet: 'yes'"),
        ("versioned = false", "leave `versioned` out if it is not so"),
        ("[carries]\nelsewhere = false", "leave `elsewhere` out if it is not so"),
        ("[arguments]\noperands = 'reads'", "'reads' is not one of none, read, list"),
        ("[arguments]\nknown = 'yes'", "not a fact of this facet: 'yes'"),
        ("[wraps]\nkind = 'open'\nwhy = 'x'", "'open' is not one of clear, runner, closed"),
        ("risks = 'netwerk'", "'netwerk' is not one of rights, deletes, network"),
        ("[arguments]\nlike = 'nobody'", "there is no such facet of nobody"),
        ("[arguments]\nlike = 'new'", "`like` leads back to new"),
        ("[arguments]\nruns = '$nothing'", "there is no set $nothing"),
        ("[arguments]\nlike = 'sort'\nwithout = '--exec'", "`without` names no escape: --exec"),
        ("[subcommands.a.arguments]\n[subcommands.'b, a'.arguments]", "new a has two facets `arguments`"),
    ],
)
def test_a_wrong_record_is_refused(record: str, why: str):
    with pytest.raises(PROGRAMS_SCRIPT.BadRecord) as error:
        PROGRAMS_SCRIPT.compiled({**RECORDS, "new": tomllib.loads(record)})
    assert why in str(error.value)


def test_a_record_may_take_over_the_facet_of_another():
    record = tomllib.loads("[arguments]\nlike = 'sort'\nwithout = '--compress-program'")
    compiler = PROGRAMS_SCRIPT.Compiler({**RECORDS, "new": record})
    rows = compiler.facet("arguments")
    assert rows["new",].grammar == rows["sort",].grammar
    assert rows["sort",].escapes.keys() - rows["new",].escapes.keys() == {"--compress-program"}


def test_the_page_on_adding_a_program_names_every_facet_and_field():
    page = (ROOT / "docs/adding-a-program.md").read_text(encoding="utf-8")
    made = {facet: inspect.signature(make).parameters for facet, make in PROGRAMS_SCRIPT.ROWS.items()}
    facets = {**made, **PROGRAMS_SCRIPT.FACETS, **dict.fromkeys(PROGRAMS_SCRIPT.BY_OPTION, ())}
    names = {*PROGRAMS_SCRIPT.FACTS, *(field for fields in facets.values() for field in fields)}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []
    assert [facet for facet in facets if f"[{facet}]" not in page] == []
