"""Models that the built-in agent can ask: one file for each provider, all streaming the same events."""
