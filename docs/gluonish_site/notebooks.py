"""Write the tutorials as notebooks: ``python -m gluonish_site.notebooks ROOT FOLDER``."""

import sys
from pathlib import Path

from gluonish_site.tutorials import write_notebooks

if __name__ == "__main__":
    write_notebooks(Path(sys.argv[1]), Path(sys.argv[2]))
