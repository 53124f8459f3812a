"""Make io.json.gz: batches and descriptions of the iterators of mx.io.

From the repository's root, with the black box (shared/ORACLE.md):

    OMP_NUM_THREADS=1 oracle/bin/python tests/golden/make_io.py
"""

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path

import mxnet as mx
from mxnet.contrib import io as _contrib_io  # noqa: F401  # a submodule of its own

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import io_calls  # noqa: E402


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        found = io_calls.run(mx, Path(folder))
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(result, separators=(',', ':'))}"
        for name, result in found.items()
    )
    text = "{\n" + lines + "\n}\n"
    (FOLDER / "io.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    # The threads of MXNet's iterators may hang at the end of the program.
    os._exit(0)


if __name__ == "__main__":
    main()
