"""What all tests share: switches (rewrite golden transcripts, give properties few examples) and the mark `slow`.

A file of `slow_files.txt` takes more than a second and a half on one processor (by `--junitxml`); all of its tests are
marked. `-m "not slow"` does not even import these files.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from countersign.gate.probes import git_process
from countersign.gate.shell.files import git_asked
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
SLOW = frozenset(ROOT / line for line in (ROOT / "tests" / "slow_files.txt").read_text().splitlines())

FEW = 20
"""Examples of each property under `--few-examples`, however many it asks for by itself."""
SETTINGS = "_hypothesis_internal_use_settings"

# A timing is never a test: on a busy machine even the making of examples is slow.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
git_process.TIME_LIMIT = git_asked.MOST_WAITED = PATIENCE


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write golden transcripts anew instead of comparing")
    parser.addoption("--few-examples", action="store_true", help=f"give each property at most {FEW} examples")


def pytest_xdist_auto_num_workers(config) -> int | None:
    """Two workers for each processor: many tests wait for servers and agents that they started."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    return 2 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def pytest_ignore_collect(collection_path, config):
    return True if config.option.markexpr == "not slow" and collection_path in SLOW else None


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.path in SLOW:
            item.add_marker(pytest.mark.slow)
    if not config.getoption("--few-examples"):
        return
    for item in items:
        # Profiles do not reach what a test sets by its own decorator.
        own = getattr(getattr(item, "obj", None), SETTINGS, None)
        if own is not None and own.max_examples > FEW:
            setattr(getattr(item.obj, "__func__", item.obj), SETTINGS, settings(own, max_examples=FEW))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Leaves the parameters out of the name that pytest keeps in our environment: `./*` among them reads as a relative
    folder to a gate that looks at each variable."""
    name = "PYTEST_CURRENT_TEST"
    os.environ[name] = os.environ.get(name, "").partition("[")[0]
