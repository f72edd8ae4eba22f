"""Permissions that were kept for another program, as proposals in our grammar; nothing here applies or saves a rule.

`read.py` reads a file and finds its format, one module for each format turns it into entries, and `entries.py`
decides which of them are carried over. What our grammar cannot say without allowing more is left out, with a reason."""
