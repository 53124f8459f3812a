import ctypes
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from gluonish.kernels.onednn import Backend, install, load, register, status
from gluonish.kernels.onednn.engine import ThreadState

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT32 = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def backend() -> Iterator[Backend]:
    """A back-end with an empty cache for the test alone; what was in use before comes back."""
    register.enabled()  # loads it once for all; in a test, what it loads would be lost
    previous = status()
    loaded = load(cache_capacity=64)
    if loaded.backend is None:
        install(previous)
        pytest.skip(loaded.reason)
    yield loaded.backend
    install(previous)


@pytest.fixture(autouse=True)
def unwritten_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scratch memory that holds NaNs, so that reading it before it is written shows."""
    reserve = ThreadState.reserve

    def filled(self: ThreadState, nbytes: int) -> int:
        address = reserve(self, nbytes)
        ctypes.memset(address, 0xFF, nbytes)
        return address

    monkeypatch.setattr(ThreadState, "reserve", filled)


@pytest.fixture(params=[FLOAT32, BFLOAT16], ids=str)
def dtype(request: pytest.FixtureRequest, backend: Backend) -> np.dtype[np.generic]:
    """Each floating type that the library computes in on this machine."""
    if request.param not in backend.engine.data_types:
        pytest.skip(f"this machine has no {request.param} instructions")
    chosen: np.dtype[np.generic] = request.param
    return chosen


@pytest.fixture
def close() -> object:
    """Compare a result with a float64 reference, with the tolerance that its dtype allows."""

    def compare(actual: npt.NDArray[np.generic], expected: npt.NDArray[np.float64]) -> None:
        relative = 2e-2 if actual.dtype == BFLOAT16 else 2e-5
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(
            actual.astype(np.float64), expected, rtol=relative, atol=relative * scale
        )

    return compare
