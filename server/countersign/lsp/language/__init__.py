"""Settings and policy files as an editor shows them: problems, hover and completion. ``service.py`` joins it to LSP.

``.code-workspace`` files are among them (``pages.py``)."""
