"""Give a call its verdict. ``decide.py`` states the order of precedence; ``decision_cache.py`` reuses a decision while
every probe of the disk that it rests on returns the same (decisions/006). ``sandbox.py`` decides where a sandbox is
wanted and not there, ``repeated.py`` where a call repeats with one result."""
