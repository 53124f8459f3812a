"""Write tests/training/golden.npz: what its tasks give under MXNet 1.9.1 with each optimizer.

Run with an interpreter that has mxnet 1.9.1 and numpy 1.23.5. A case that MXNet refuses is kept as
the text of its error.
"""

import importlib
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    import mxnet as mx

    sys.path.insert(0, str(ROOT))
    runs = importlib.import_module("tests.training.runs")
    golden = {}
    for task in runs.TASKS:
        for case, (optimizer, arguments) in runs.OPTIMIZERS.items():
            try:
                result = runs.run(mx, task, optimizer, arguments)
            except (mx.MXNetError, AssertionError, ValueError) as error:
                refused = f"{type(error).__name__}: {error}".strip().splitlines()[-1]
                golden[f"{task}/{case}/refused"] = np.array(refused)
                sys.stdout.write(f"{task} {case}: {refused}\n")
                continue
            for name, values in result.items():
                golden[f"{task}/{case}/{name}"] = (
                    values if name == "losses" else runs.kept(values)
                ).astype(np.float32)
    np.savez_compressed(ROOT / "tests" / "training" / "golden.npz", **golden)


if __name__ == "__main__":
    main()
