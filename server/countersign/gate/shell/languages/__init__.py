"""Readers for the small languages in operands: sed and awk scripts, git options, curl globs, embedded commands."""
