"""The double refuses what CuPy does, so that kernels that pass on it can run there."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.linear_algebra import errstate
from tests.kernels.cupy.machine import Machine

Make = Callable[..., Array]
Calls = dict[str, Callable[[Any, Make], Any]]

CALLS: Calls = {
    "condition of where that is no array": lambda cp, new: cp.where(True, new(2), new(2)),
    "key of three axes": lambda cp, new: cp.lexsort(new(2, 2, 2)),
    "unstable sort by name": lambda cp, new: cp.argsort(new(2), kind="quicksort"),
    "method of percentile": lambda cp, new: cp.percentile(new(2), 5.0, method="hazen"),
    "list to search in": lambda cp, new: cp.searchsorted([1, 2], new(2)),
    "padding with medians": lambda cp, new: cp.pad(new(2), 1, mode="median"),
    "index of floats": lambda cp, new: new(3)[new(2)],
    "NumPy array among the operands": lambda cp, new: cp.add(new(2), np.ones(2)),
    "NumPy array assigned": lambda cp, new: new(2).__setitem__(0, np.ones(2)),
    "mask of a ufunc": lambda cp, new: cp.add(new(2), new(2), where=new(2)),
    "bits of floats": lambda cp, new: cp.bitwise_and(new(2), new(2)),
    "atomic maximum of halves": lambda cp, new: cp.maximum.at(
        new(2, dtype="f2"), new(2, dtype="i8"), new(2, dtype="f2")
    ),
    "stack of bfloat16 matrices": lambda cp, new: cp.matmul(
        new(2, 2, 2, dtype=ml_dtypes.bfloat16), new(2, 2, 2, dtype=ml_dtypes.bfloat16)
    ),
    "inverse of halves": lambda cp, new: cp.linalg.inv(new(2, 2, dtype="f2")),
    "solve that broadcasts": lambda cp, new: cp.linalg.solve(new(2, 3, 3), new(3, 1)),
}


@pytest.fixture
def cupy(machine: Machine) -> Any:
    with make_cupy(machine).cuda.Device(0), machine.new_stream(non_blocking=True):
        yield make_cupy(machine)


@pytest.mark.parametrize("what", CALLS)
def test_double_refuses(cupy: Any, machine: Machine, what: str) -> None:
    def new(*shape: int, dtype: Any = "f4") -> Array:
        array = allocate(machine, shape, dtype)
        array._raw[...] = 1
        return array

    refused = (TypeError, ValueError, IndexError, AttributeError, NotImplementedError)
    with errstate(linalg="raise"), pytest.raises(refused):
        CALLS[what](cupy, new)


def test_double_asks_that_failures_of_linear_algebra_raise(cupy: Any, machine: Machine) -> None:
    singular = allocate(machine, (2, 2), "f4")
    singular._raw[...] = 0
    with pytest.raises(AssertionError, match="unseen"):
        cupy.linalg.inv(singular)
    with errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cupy.linalg.inv(singular)


def test_double_has_no_function_that_cupy_lacks(cupy: Any) -> None:
    assert not hasattr(cupy, "frompyfunc")
    assert not hasattr(cupy.linalg, "multi_dot")
