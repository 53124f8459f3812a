"""Expected values are NumPy 1.23.5's."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import numpy as np
kinds = np.float, np.int, np.object, np.str, np.complex
print(*(kind.__name__ for kind in kinds), np.bool(1) == True)
print(np.float_.__name__, np.complex_.__name__, np.unicode_.__name__, np.string_.__name__)
print(np.product([2, 3]), np.cumproduct([2, 3]).tolist(), np.alltrue([1, 0]), np.sometrue([1, 0]))
print(np.in1d([[1, 2], [3, 4]], [2, 3]).tolist(), np.round_(2.567, 1), np.trapz([1, 2, 3]))
print(np.Inf, np.NINF, np.NaN, np.infty, np.PINF, np.asfarray([1, 2]).dtype, np.math.floor(2.5))
print(np.find_common_type([np.float32], [np.int64, np.float64]), np.obj2sctype("f4").__name__)
print(np.issubsctype("float32", float), np.obj2sctype(7), np.msort([2, 1]).tolist())
print(np.lib.arraysetops.unique([2, 1, 2]).tolist())
from numpy.lib.function_base import diff
print(diff([1, 3]).tolist(), np.lib.index_tricks.r_[1:3].tolist())
print(np.array([[1, 2], [3]]).tolist(), np.asarray([np.ones(1), np.ones(2)]).dtype)
try:
    np.array([[1, 2], [3]], dtype="float32")
except ValueError as error:
    print("inhomogeneous" in str(error))
print(np.float32 in np.sctypes["float"], np.cast["int8"](2.7), np.row_stack([[1], [2]]).shape)
"""
PRINTED = """\
float int object str complex True
float64 complex128 str_ bytes_
6 [2, 6] False True
[False, True, True, False] 2.6 4.0
inf -inf nan inf inf float64 2
float32 float32
False None [1, 2]
[1, 2]
[2] [1, 2]
[[1, 2], [3]] object
True
True 2 (2, 1)
"""


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "gluonish", "run", *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_old_names_are_there_for_the_program() -> None:
    done = run("--numpy1", "-c", PROGRAM)
    assert done.stdout == PRINTED, done.stderr


def test_old_names_are_put_back_on_request_only() -> None:
    assert "np.float_` was removed" in run("-c", "import numpy; numpy.float_").stderr


DATASET = """
import mxnet as mx, numpy as np

class Squares:
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return np.array([i * i], dtype=np.float_)
"""
LOOP = """
import sys
sys.path.insert(0, sys.argv[1])
from mxnet.gluon.data import DataLoader
from squares import Squares
if __name__ == "__main__":
    print(*(int(batch.sum().asscalar()) for batch in DataLoader(Squares(), 2, num_workers=1)))
"""


def test_old_names_are_there_for_processes_that_the_program_starts(tmp_path: Path) -> None:
    (tmp_path / "squares.py").write_text(DATASET)
    (tmp_path / "loop.py").write_text(LOOP)
    done = run("--numpy1", str(tmp_path / "loop.py"), str(tmp_path))
    assert done.stdout == "1\n", done.stderr
