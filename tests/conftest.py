"""What all tests share: the switch that writes golden transcripts anew."""

from __future__ import annotations


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write golden transcripts anew instead of comparing")
