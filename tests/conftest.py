"""What all tests share: the switch that rewrites golden transcripts, and the one that gives properties few examples."""

from __future__ import annotations

from hypothesis import settings

FEW = 20
"""Examples of each property under `--few-examples`, however many it asks for by itself."""
SETTINGS = "_hypothesis_internal_use_settings"


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write golden transcripts anew instead of comparing")
    parser.addoption("--few-examples", action="store_true", help=f"give each property at most {FEW} examples")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--few-examples"):
        return
    for item in items:
        # Profiles do not reach what a test sets by its own decorator.
        own = getattr(getattr(item, "obj", None), SETTINGS, None)
        if own is not None and own.max_examples > FEW:
            setattr(getattr(item.obj, "__func__", item.obj), SETTINGS, settings(own, max_examples=FEW))
