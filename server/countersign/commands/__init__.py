"""The subcommands of ``countersign``. Each module has ``add_arguments(parser)`` and ``run(arguments) -> status``."""
