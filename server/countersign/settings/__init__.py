"""Layers of settings (default, managed, user, workspace, folder) and the one Policy they come to.

``policy.py`` is the result, ``merge.py`` makes it of the layers, ``live_settings.py`` keeps it up to date. JSON with
comments is read with source positions. What a workspace may loosen a person confirms; ``standing.py`` says which
confirmations outlast a file that is broken for a moment. ``known_keys.py`` names all settings."""
