"""``python -m gluonish`` is the ``gluonish`` command."""

import sys

from gluonish.tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
