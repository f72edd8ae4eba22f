"""Settings and policy files as an editor shows them: problems, hover and completion. ``service.py`` joins it to LSP."""
