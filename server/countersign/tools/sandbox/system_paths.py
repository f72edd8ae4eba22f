"""What of the system and of a home the sandbox shows, read-only: data, not code.

Nothing that asks before it is read (docs/gate.md "Outside the workspace" and "Secrets") may stand in these tables.
"""

from __future__ import annotations

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store", "/snap",
    "/var/cache/fontconfig", "/var/cache/ldconfig", "/var/lib/alternatives", "/var/lib/dpkg",
)  # fmt: skip
"""Programs, libraries and their configuration. Home folders, mounted media, /run, /srv and /var are not shown."""

SYSTEM_SECRETS = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab",
    "/etc/security/opasswd", "/etc/NetworkManager/system-connections", "/etc/ssl/private", "/etc/sudoers.d",
    "/etc/wireguard", "/etc/countersign",
)  # fmt: skip
"""Hidden even where this user could read them."""
SYSTEM_SECRET_NAMES = (("/etc/ssh", "ssh_host_"),)
"""Folder, and how the names begin that are hidden in it."""

TOOLCHAINS = (
    ".asdf/installs", ".asdf/shims", ".bun/bin", ".cargo/bin", ".cargo/registry", ".deno/bin", ".fnm", ".ghcup/bin",
    ".jenv", ".juliaup/bin", ".local/bin", ".local/lib", ".local/pipx/venvs", ".local/share/fnm",
    ".local/share/mise/installs", ".local/share/mise/shims", ".local/share/pipx/venvs", ".local/share/pnpm",
    ".local/share/uv/python", ".local/share/uv/tools", ".nodenv", ".nvm/versions", ".opam", ".pnpm-store",
    ".pyenv/bin", ".pyenv/libexec", ".pyenv/plugins", ".pyenv/shims", ".pyenv/version", ".pyenv/versions", ".rbenv",
    ".rustup", ".rye/py", ".rye/shims", ".sdkman/candidates", ".swiftly/bin", ".volta", ".yarn/bin", "go/bin",
    "go/pkg/mod",
)  # fmt: skip
"""Below the home: programs that a person installed there, and sources that a build reads. No configuration, since
that is where tokens are kept."""

DROPPED_VARIABLES = (
    "*_PROXY", "DBUS_*", "DISPLAY", "DOCKER_*", "GNOME_*", "GPG_*", "ICEAUTHORITY", "KRB5CCNAME", "PULSE_*",
    "SESSION_MANAGER", "SSH_*", "TMPDIR", "TMUX*", "WAYLAND_*", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_SESSION_*",
)  # fmt: skip
"""Variables that name sockets and places which the sandbox does not have."""
