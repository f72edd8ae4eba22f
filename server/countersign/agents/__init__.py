"""Agents converse: our own loop, and agents hosted over ACP."""
