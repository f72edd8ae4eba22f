"""Tools that look for files and text: ``glob`` and ``search``.

Where ripgrep is there, it names the files that can match (``ripgrep.py``); the tool reads them itself."""
