"""Layers of settings (default, managed, user, workspace, folder) and the one Policy they come to."""
