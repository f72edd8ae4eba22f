"""Walk a parse tree in the order of execution: which commands run, and what each reads from a pipe."""
