"""Rules: their grammar, the sets they are kept in, and the indexes that find the few that may match a call."""
