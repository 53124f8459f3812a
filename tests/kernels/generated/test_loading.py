"""Machine code that is loaded where memory is in pieces."""

import subprocess
import sys

import pytest

# The parts of a kernel need a page each. The program leaves a gap of a few pages for the longest,
# and single pages for the others, with 3 GiB between, which is more than an instruction reaches.
_PROGRAM = """
import ctypes
from gluonish.kernels.compiler import CompiledKernel
from gluonish.kernels.compiler.lowering import lower
from gluonish.kernels.generated.random_numbers import _UNIFORM
from gluonish.kernels.compiler.machine_code import generate, load
import numpy as np

PAGE, NONE, PRIVATE, ANONYMOUS, NORESERVE = 4096, 0, 2, 0x20, 0x4000
library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

def mapped(nbytes):
    return library.mmap(None, nbytes, NONE, PRIVATE | ANONYMOUS | NORESERVE, -1, 0)

data = generate(lower(_UNIFORM, ()))
load(data)
far = mapped(3 << 30)
high = [mapped(PAGE)]
while high[-1] > far:  # until all small gaps above are filled
    high.append(mapped(PAGE))
low = [mapped(PAGE) for _ in range(40)]
mapped(3 << 30)
kept = []
for turn in range(8):
    for page in low[4 * turn : 4 * turn + 1 + turn % 4]:
        library.munmap(page, PAGE)
    library.munmap(high[-2 - 2 * turn], PAGE)
    for _ in range(6):
        kept.append(CompiledKernel(_UNIFORM, load(data)))
found = []
for kernel in kept:
    y = np.zeros(300, np.float32)
    numbers = np.array([1.5, -0.5, 1.0]).view(np.int64).tolist()
    kernel(3, np.array([y.ctypes.data, y.size, 11, 12, *numbers], np.int64))
    found.append(y.tobytes())
assert len(set(found)) == 1 and any(found[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="maps memory by Linux's numbers")
def test_kernels_load_where_memory_is_in_pieces() -> None:
    """LLVM's older linker ended the process here."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
