"""Write golden.npz beside this file: what each program here gives under MXNet 1.9.1.

Run with an interpreter that has mxnet 1.9.1 and numpy 1.23.5.
"""

import importlib
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
NOT_PROGRAMS = {"flat", "inputs", "make_golden", "test_bad_input", "test_programs"}


def program_names() -> list[str]:
    """Return the names of the modules here that have a ``run``."""
    return sorted(file.stem for file in HERE.glob("*.py") if file.stem not in NOT_PROGRAMS)


def main() -> None:
    import mxnet as mx

    sys.path.insert(0, str(HERE.parents[1]))
    flatten = importlib.import_module("tests.programs.flat").flatten
    golden = {}
    for name in program_names():
        program = importlib.import_module(f"tests.programs.{name}")
        for key, value in flatten(program.run(mx)).items():
            if value.dtype.kind == "f":
                value = value.astype(np.float32)
            golden[f"{name}/{key}"] = value
    np.savez_compressed(HERE / "golden.npz", **golden)


if __name__ == "__main__":
    main()
