"""What tests of the gate share: only the system's programs stand on the path, since others ask."""

from __future__ import annotations

import os

from countersign.gate.paths.system_folders import SYSTEM_FOLDERS

os.environ["PATH"] = ":".join(
    folder for folder in os.environ["PATH"].split(":") if f"{os.path.realpath(folder)}/".startswith(SYSTEM_FOLDERS)
)
