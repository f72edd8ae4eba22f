"""Tools: each acts only with a Permit, on the very bytes that were shown.

``tool.py`` has the protocol and ``registry.py`` the list. Packages hold the tools by what they touch: ``files``,
``search``, ``editor``, ``web`` and ``shell``; ``sandbox`` is the boundary round commands and hosted agents."""
