"""Parse shell text into a tree of constant words and expansions. What is not parsed is scanned in ``rough_scan.py``."""
