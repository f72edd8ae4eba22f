"""The program tables: how each program spells its options, and what its options and operands do."""
