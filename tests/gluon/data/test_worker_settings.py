"""What the environment and the main process set in worker processes."""

import os
from typing import Any

import numpy as np
import pytest

import gluonish.numpy as mx_np
from gluonish.core.config import (
    MXNET_CPU_WORKER_NTHREADS,
    MXNET_MP_OPENCV_NUM_THREADS,
    MXNET_MP_WORKER_NTHREADS,
)
from gluonish.core.numpy_mode import NumpyScope, is_np_array, is_np_shape
from gluonish.gluon.data import ArrayDataset, DataLoader, SimpleDataset

NAMES = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]


def settings(_: int) -> list[int]:
    import cv2

    variables = [int(os.environ[name]) for name in NAMES]
    engine = MXNET_CPU_WORKER_NTHREADS.value
    return [*variables, engine, cv2.getNumThreads()]


def first(dataset: Any, **arguments: Any) -> Any:
    loader = DataLoader(SimpleDataset([0]).transform(dataset), 1, **arguments)
    return next(iter(loader)).asnumpy()[0].tolist()


def test_worker_computes_with_one_thread_and_opencv_with_none_of_its_own() -> None:
    assert first(settings, num_workers=1) == [1] * 6


def test_flags_give_workers_more_threads() -> None:
    with MXNET_MP_WORKER_NTHREADS.override(3), MXNET_MP_OPENCV_NUM_THREADS.override(2):
        assert first(settings, num_workers=1) == [3] * 5 + [2]


def unset(_: int) -> list[int]:
    return [int(bool(os.environ["MXNET_ENABLE_CYTHON"]))]


def test_workers_do_not_tell_again_of_variables_without_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MXNET_ENABLE_CYTHON", "1")
    assert first(unset, num_workers=1) == [0]


class Loaded:
    """Imports OpenCV before the first sample, and sets it differently while it is unpickled."""

    def __setstate__(self, state: Any) -> None:
        import cv2

        cv2.setNumThreads(5)

    def __getstate__(self) -> dict[str, int]:
        return {"some": 1}

    def __call__(self, _: int) -> list[int]:
        import cv2

        return [cv2.getNumThreads()]


def test_opencv_that_the_dataset_imports_is_set_too() -> None:
    with MXNET_MP_OPENCV_NUM_THREADS.override(2):
        assert first(Loaded(), num_workers=1) == [2]


def test_threads_leave_opencv_alone() -> None:
    import cv2

    before = cv2.getNumThreads()
    cv2.setNumThreads(3)
    try:
        assert first(lambda _: [cv2.getNumThreads()], num_workers=1, thread_pool=True) == [3]
    finally:
        cv2.setNumThreads(before)


def test_mode_of_numpy_holds_in_workers() -> None:
    with NumpyScope(shape=True, array=True):
        dataset = ArrayDataset(mx_np.ones((2, 1))).transform(
            lambda x: [is_np_shape(), is_np_array(), type(x) is mx_np.ndarray]
        )
        (batch,) = DataLoader(dataset, 2, num_workers=1)
        assert type(batch) is mx_np.ndarray
        assert batch.asnumpy().tolist() == [[True] * 3] * 2
    (batch,) = DataLoader(SimpleDataset([np.ones(1)]), 1, num_workers=1)
    assert type(batch) is not mx_np.ndarray


@pytest.mark.parametrize("num_workers", [1, 2])
def test_prints_of_workers_are_shown(num_workers: int, capfd: pytest.CaptureFixture[str]) -> None:
    list(DataLoader(SimpleDataset([1, 2]).transform(printed), 1, num_workers=num_workers))
    assert sorted(capfd.readouterr().out.splitlines()) == ["sample 1", "sample 2"]


def printed(x: int) -> int:
    # In one write, because pytest's captured stdout writes each part of a print at once.
    print(f"sample {x}\n", end="")  # noqa: T201 (that is what is tested)
    return x
