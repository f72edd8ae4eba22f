"""What is said between the server and an editor: models and the method table.

This package imports no other of ours: pydantic and the standard library only. Every message has one model here, from
which ``client-ts/src/wire.gen.ts`` is generated (``make wire``), and a golden JSON sample under ``tests/wire/golden``.
"""
