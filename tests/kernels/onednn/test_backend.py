import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from gluonish.kernels.onednn import (
    Backend,
    OneDNNError,
    current,
    install,
    load,
    status,
    supported,
)
from tests.kernels.onednn.products import matmul

ROOT = Path(__file__).resolve().parents[3]

FORK = """
import os, signal, sys
import numpy as np
from gluonish.kernels.onednn import load
from tests.kernels.onednn.products import convolution, matmul
load()
a = np.ones((256, 256), np.float32)
out = np.empty_like(a)
data, weight = np.ones((4, 64, 14, 14), np.float32), np.ones((64, 64, 3, 3), np.float32)
pooled = np.empty((4, 64, 12, 12), np.float32)
matmul(out, a, a)
convolution(pooled, data, weight, kernel=(3, 3))
child = os.fork()
if child == 0:
    signal.alarm(20)
    out[:], pooled[:] = 0, 0
    matmul(out, a, a)
    convolution(pooled, data, weight, kernel=(3, 3))
    os._exit(0 if out[0, 0] == 256 and pooled[0, 0, 0, 0] == 576 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_missing_library_gives_the_reason_and_no_kernel(tmp_path: Path) -> None:
    loaded = load(str(tmp_path / "gone.so"))
    assert loaded.backend is None
    assert "gone.so" in loaded.reason
    matrix = np.ones((2, 2), np.float32)
    assert not supported(matrix)
    with pytest.raises(OneDNNError, match=r"gone.so"):
        current()


def test_a_file_that_is_no_library_gives_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "text.so"
    file.write_text("text")
    loaded = load(str(file))
    assert loaded.backend is None
    assert "text.so" in loaded.reason


def test_the_named_library_is_loaded(backend: Backend) -> None:
    loaded = load(backend.engine.api.path)
    assert loaded.backend is not None
    assert loaded.backend.engine.api.path == backend.engine.api.path


def test_install_brings_an_earlier_back_end_back(backend: Backend) -> None:
    earlier = status()
    load(cache_capacity=3)
    assert current().plans.capacity == 3
    install(earlier)
    assert current() is backend


def test_the_cache_capacity_bounds_the_plans_of_the_kernels() -> None:
    plans = load(cache_capacity=2).backend.plans
    for size in range(1, 6):
        square = np.ones((size, size), np.float32)
        matmul(np.empty_like(square), square, square)
    assert len(plans) == 2


def test_the_number_of_threads_holds_in_every_thread() -> None:
    engine = load(threads=3).backend.engine
    found = []

    def look() -> None:
        engine.thread()
        found.append(engine.api.max_threads())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(60)
    assert found == [3]


def test_mixed_and_foreign_dtypes_are_not_supported() -> None:
    single = np.ones(3, np.float32)
    assert supported(single, single)
    assert not supported(single, single.astype(np.float64))
    assert not supported(single.astype(np.int32))
    assert not supported(single.astype(">f4"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
def test_a_forked_child_computes_and_does_not_hang() -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
