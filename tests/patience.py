"""How long a test waits for something that should happen at once.

The bound only guards against hanging, so it is generous: a busy machine must not fail a test. Set
``COUNTERSIGN_TEST_PATIENCE`` to a factor, such as 4, for a machine slower still.
"""

from __future__ import annotations

import os

PATIENCE = 60.0 * float(os.environ.get("COUNTERSIGN_TEST_PATIENCE", "1"))
"""Seconds until a wait gives up."""
