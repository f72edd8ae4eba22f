"""The subcommands of ``countersign``. Each module has ``add_arguments(parser)`` and ``run(arguments) -> status``.

``option_uses.py`` says which of their options count together."""
