"""The record of every decision and every run: one writer, readers beside it, and a hash chain that shows tampering.

``writer.py`` writes and ``entry.py`` is one row. ``opened_files.py`` compares the files under the ledger's names with
those that were opened; ``chain_state.py`` says whether the chain holds, ``new_chain.py`` how a person leaves a broken
one behind; ``signature.py`` signs exports and heads; ``figures.py`` sums calls and times; ``secret_forms.py`` is the
one table of names and forms of secrets."""
