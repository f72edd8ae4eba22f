"""Tools: each acts only with a Permit, on the very bytes that were shown."""
