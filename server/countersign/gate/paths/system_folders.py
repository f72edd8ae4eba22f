"""Where the programs lie that a system, or a package manager for the whole machine, has installed."""

from __future__ import annotations

PACKAGED_FOLDERS = ("/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/nix/store/", "/gnu/store/", "/snap/")
"""Folders of programs that nobody but a package manager of the system fills."""

SYSTEM_FOLDERS = (
    *PACKAGED_FOLDERS, "/usr/", "/etc/alternatives/", "/run/current-system/", "/opt/homebrew/", "/opt/local/",
    "/home/linuxbrew/.linuxbrew/", "/Applications/", "/Library/Developer/CommandLineTools/",
)  # fmt: skip
"""These, and those in which an administrator installs programs. Each ends in a slash."""

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
"""The path of commands where our environment has none, or none with an absolute folder."""
