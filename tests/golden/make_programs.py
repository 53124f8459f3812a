"""Write tests/programs/golden.npz: what each program there gives under MXNet 1.9.1.

Run with an interpreter that has mxnet 1.9.1 and numpy 1.23.5.
"""

import importlib
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    import mxnet as mx

    sys.path.insert(0, str(ROOT))
    flatten = importlib.import_module("tests.programs.flat").flatten
    program_names = importlib.import_module("tests.programs.names").program_names
    golden = {}
    # MXNet's threads keep NumPy's semantics after reset_np, and then refuse sparse arrays.
    for name in sorted(program_names(), key=lambda name: name.startswith("numpy_")):
        program = importlib.import_module(f"tests.programs.{name}")
        for key, value in flatten(program.run(mx)).items():
            if value.dtype.kind == "f":
                value = value.astype(np.float32)
            golden[f"{name}/{key}"] = value
    np.savez_compressed(ROOT / "tests" / "programs" / "golden.npz", **golden)


if __name__ == "__main__":
    main()
