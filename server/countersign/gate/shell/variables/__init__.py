"""Which variables a script assigns, and whether an assignment certainly precedes each use."""
