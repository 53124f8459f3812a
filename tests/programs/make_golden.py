"""Write golden.npz beside this file: what each program here gives under MXNet 1.9.1.

Run with an interpreter that has mxnet 1.9.1 and numpy 1.23.5.
"""

import importlib
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
NOT_PROGRAMS = {"inputs", "make_golden", "test_programs", "flat"}


def main() -> None:
    import mxnet as mx

    from tests.programs.flat import flatten

    golden = {}
    for file in sorted(HERE.glob("*.py")):
        if file.stem not in NOT_PROGRAMS:
            program = importlib.import_module(f"tests.programs.{file.stem}")
            for key, value in flatten(program.run(mx)).items():
                golden[f"{file.stem}/{key}"] = value
    np.savez_compressed(HERE / "golden.npz", **golden)


if __name__ == "__main__":
    main()
