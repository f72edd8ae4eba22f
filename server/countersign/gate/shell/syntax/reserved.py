"""Reserved words of bash and the builtins whose arguments are assignments, sorted by where the grammar takes them."""

from __future__ import annotations

DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly"})
"""Builtins whose arguments are assignments."""

OPENING = frozenset({"{", "[[", "if", "for", "while", "until", "case", "function", "select"})
CLOSING = frozenset({"then", "else", "elif", "fi", "do", "done", "esac", "}"})
MISPLACED = frozenset({"]]", "in"})
NOT_PLAIN = DECLARING | OPENING | CLOSING | MISPLACED | {"!", "time", "coproc"}
"""First words that do not name a program."""
