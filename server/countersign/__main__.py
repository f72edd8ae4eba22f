"""``python -m countersign`` is ``countersign``."""

import sys

from countersign.cli import main

if __name__ == "__main__":
    sys.exit(main())
