"""Ask a person: open requests, answers and their checks, grants, deadlines, and deciding again when rules change.

``asking.py`` registers and shows, ``answering.py`` checks an answer, ``grants.py`` keeps and drops grants,
``edited_rule.py`` finds rules that need a second confirmation, and ``stored_requests.py`` compares a request that
waited on disk with its row in the chain."""
