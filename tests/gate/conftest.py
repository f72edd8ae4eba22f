"""What tests of the gate share: no shim of this machine stands on the path, since what runs by one asks."""

from __future__ import annotations

import os

os.environ["PATH"] = ":".join(
    folder for folder in os.environ["PATH"].split(":") if not folder.rstrip("/").endswith(("/shims", "/.volta/bin"))
)
