"""Finding the oneDNN shared library.

The wheel ``onednn-cpu-gomp`` installs it beside the folder of its Python version, as in
``lib/libdnnl.so.3`` and ``lib/python3.11/site-packages``. Package metadata would say the same, but
importing the reader takes 15 ms. A user may name another build of oneDNN 3.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Location", "locate"]

_WHEEL = "onednn-cpu-gomp"
_FILE_NAME = "libdnnl.so.3"


class Location(NamedTuple):
    """Where the library is; with ``path`` None, ``reason`` says why there is none."""

    path: str | None
    reason: str


def locate(path: str | None = None) -> Location:
    """Find the library file.

    Args:
        path: The file to take; None looks where the wheel installs it, for each folder of packages
            in ``sys.path`` and for the interpreter's own prefix.

    Returns:
        The file's path, or None with the reason in one line.
    """
    if path is not None:
        if Path(path).is_file():
            return Location(path, "")
        return Location(None, f"no such file: {path}")
    for candidate in _candidates():
        if os.path.isfile(candidate):  # false where it cannot be seen
            return Location(str(candidate), "")
    return Location(None, f"no {_FILE_NAME} in the interpreter's prefix; pip install {_WHEEL}")


def _candidates() -> Iterator[Path]:
    for entry in sys.path:
        packages = Path(entry)
        if packages.name in ("site-packages", "dist-packages"):
            yield packages.parents[1] / _FILE_NAME
    yield Path(sys.prefix) / "lib" / _FILE_NAME
