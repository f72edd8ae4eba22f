"""Tools that ask the person's editor, through the client, for what only an editor knows.

They are offered to a model only where the client says that it answers (``editor`` among its abilities). What the editor
answers is data of others: every path in it is judged here as a read of that file (``screened.py``), texts are made
visible, and what is left out is counted.
"""
