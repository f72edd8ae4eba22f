"""Tools that look for files and text: ``glob`` and ``search``."""
