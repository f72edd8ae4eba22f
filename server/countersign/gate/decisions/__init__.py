"""Give a call its verdict. ``decide.py`` states the order of precedence; ``decision_cache.py`` reuses a decision while
every probe of the disk that it rests on returns the same."""
