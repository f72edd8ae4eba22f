"""Countersign: one permission desk for every coding agent in an editor."""

__version__ = "0.1.0"
