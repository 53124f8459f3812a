"""Results of the double have CuPy's dtypes, which are not always NumPy's."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine

BFLOAT16 = ml_dtypes.bfloat16
Make = Callable[..., Array]
# From tables that CuPy 14.2 gave (make_loops.py) and its documentation.
RESULTS: dict[str, tuple[Callable[[Any, Make], Any], Any]] = {
    "bfloat16 times a number with a point": (lambda cp, new: new(BFLOAT16) * 2.5, np.float32),  # type: ignore[operator]
    "bfloat16 times a whole number": (lambda cp, new: new(BFLOAT16) * 2, BFLOAT16),  # type: ignore[operator]
    "bfloat16 and int32": (lambda cp, new: new(BFLOAT16) + new("i4"), np.float64),  # type: ignore[operator]
    "bfloat16 and float16": (lambda cp, new: new(BFLOAT16) + new("f2"), np.float32),  # type: ignore[operator]
    "float16 times a number with a point": (lambda cp, new: new("f2") * 2.5, np.float16),  # type: ignore[operator]
    "float32 times a double of NumPy's": (lambda cp, new: new("f4") * np.float64(2), np.float64),  # type: ignore[operator]
    "float32 times an imaginary number": (lambda cp, new: new("f4") * 1j, np.complex64),  # type: ignore[operator]
    "int8 divided by int8": (lambda cp, new: new("i1") / new("i1"), np.float64),  # type: ignore[operator]
    "int32 divided by a number": (lambda cp, new: new("i4") / 2, np.float64),  # type: ignore[operator]
    "choice among bfloat16": (
        lambda cp, new: cp.where(new("?"), new(BFLOAT16), new(BFLOAT16)),
        np.float32,
    ),
    "bounds on bfloat16": (lambda cp, new: cp.clip(new(BFLOAT16), 0, 1), np.float32),
    "sum of bfloat16": (lambda cp, new: new(BFLOAT16).sum(), BFLOAT16),
    "sum of int8": (lambda cp, new: cp.sum(new("i1")), np.int64),
    "sum of bool": (lambda cp, new: cp.sum(new("?")), np.int64),
    "mean of int32": (lambda cp, new: cp.mean(new("i4")), np.float64),
    "mean of float16": (lambda cp, new: cp.mean(new("f2")), np.float16),
    "product of bfloat16 matrices": (
        lambda cp, new: cp.matmul(new(BFLOAT16, 2, 2), new(BFLOAT16, 2, 2)),
        BFLOAT16,
    ),
    "comparison": (lambda cp, new: new("u1") > -1, np.bool_),  # type: ignore[operator]
    "place of the largest": (lambda cp, new: new("f4").argmax(), np.int64),
}


@pytest.fixture
def cupy(machine: Machine) -> Any:
    module = make_cupy(machine)
    with module.cuda.Device(0), machine.new_stream(non_blocking=True):
        yield module


@pytest.mark.parametrize("what", RESULTS)
def test_result_has_the_dtype_of_cupys(cupy: Any, machine: Machine, what: str) -> None:
    def new(dtype: Any, *shape: int) -> Array:
        array = allocate(machine, shape or (2,), dtype)
        array._raw[...] = 1
        return array

    compute, dtype = RESULTS[what]
    assert compute(cupy, new).dtype == np.dtype(dtype)


def test_sum_of_bfloat16_is_kept_in_float32(cupy: Any, machine: Machine) -> None:
    array = allocate(machine, (10000,), BFLOAT16)
    array._raw[...] = 1
    assert float(array.sum()) == 9984  # nearest to 10,000; sums in bfloat16 end at 256


def test_result_that_does_not_fit_out_is_refused(cupy: Any, machine: Machine) -> None:
    whole = allocate(machine, (2,), "i4")
    with pytest.raises(TypeError, match="cannot cast"):
        cupy.multiply(whole, 2.5, out=whole)
    with pytest.raises(TypeError, match="cannot cast"):
        whole /= 2  # type: ignore[assignment, operator]
