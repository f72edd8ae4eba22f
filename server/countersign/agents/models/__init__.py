"""Models that the built-in agent can ask: one file for each provider, all streaming the same events.

``base.py`` is the protocol that each of them fulfils (decisions/010)."""
