"""Arrays in main memory."""

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.ops.support.host import to_host, widened_on_host


def test_array_of_numpy_is_itself() -> None:
    x = np.ones(3, np.float32)
    assert to_host(np, x) is x


def test_array_of_a_device_is_fetched() -> None:
    device: Any = ModuleType("cupy")
    device.asnumpy = lambda x: np.asarray(x)
    assert to_host(device, [1, 2]).tolist() == [1, 2]


def test_halves_become_float32() -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16):
        assert widened_on_host(np, np.ones(2, dtype)).dtype == np.float32
    assert widened_on_host(np, np.ones(2, np.float64)).dtype == np.float64
