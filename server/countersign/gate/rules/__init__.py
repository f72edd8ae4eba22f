"""Rules: their grammar (``rule.py``), the sets they are kept in (``rule_set.py``), and the indexes that find the few
that may match a call (``index_keys.py``)."""
