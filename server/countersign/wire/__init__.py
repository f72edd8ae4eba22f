"""What is said between the server and an editor: models and the method table.

This room knows nobody: pydantic and the standard library only. Every message has one model here, from which
``client-ts/src/wire.gen.ts`` is generated (``make wire``), and one golden JSON sample under ``tests/wire/golden``.
"""
