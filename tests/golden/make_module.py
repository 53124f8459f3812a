"""Make module.json.gz: what programs of the Module API give in MXNet; and files that they write.

From the repository's root, with the black box (shared/ORACLE.md):

    oracle/bin/python tests/golden/make_module.py
"""

import gzip
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import mxnet as mx

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import module_programs  # noqa: E402


def main() -> None:
    """Write the files."""
    found: dict[str, Any] = {}
    for name, program in module_programs.PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder, mx.name.NameManager():
            found[name] = program(mx, Path(folder))
            if name == "checkpoints":
                (FOLDER / "module").mkdir(exist_ok=True)
                for file in Path(folder).glob("mlp*"):
                    shutil.copy(file, FOLDER / "module" / file.name)
    text = json.dumps(found).encode()
    # No time of day in the file: made again, it is the same.
    (FOLDER / "module.json.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    main()
