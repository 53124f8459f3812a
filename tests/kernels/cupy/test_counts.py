"""What the double counts as launches, copies and waits."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Counts, Machine

LAUNCHES: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "two operators": (lambda cp, x: x * 2 + 1, 2),
    "operator in place": (lambda cp, x: x.__iadd__(1), 1),
    "view": (lambda cp, x: x.T[1:].reshape(1, 3, 4)[0], 0),
    "copy of a transposed array": (lambda cp, x: cp.ascontiguousarray(x.T), 1),
    "out that is the input": (lambda cp, x: cp.negative(x, out=x), 1),
    "out that overlaps the input": (lambda cp, x: cp.negative(x[1:], out=x[:-1]), 2),
    "part written with an overlapping part": (lambda cp, x: x.__setitem__(0, x[1]), 1),
    "array written with itself": (lambda cp, x: x.__setitem__(0, x[0]), 0),
    "product": (lambda cp, x: cp.matmul(x, x), 1),
    "product of a transposed matrix": (lambda cp, x: cp.matmul(x, x.T), 1),
    "product of every other row": (lambda cp, x: cp.matmul(x[::2, ::2], x[::2, ::2]), 3),
    "stack that is not contiguous": (
        lambda cp, x: cp.matmul(x.reshape(1, 4, 4), x.reshape(1, 4, 4).swapaxes(1, 2)),
        2,
    ),
}


@pytest.fixture
def cupy(machine: Machine) -> Any:
    module = make_cupy(machine)
    with module.cuda.Device(0), machine.new_stream(non_blocking=True):
        yield module


@pytest.mark.parametrize("what", LAUNCHES)
def test_launches_are_those_of_cupy(cupy: Any, machine: Machine, what: str) -> None:
    x = cupy.ones((4, 4), "f4")
    machine.counts = Counts()
    call, launches = LAUNCHES[what]
    call(cupy, x)
    assert machine.counts.launches == launches


def test_value_on_the_host_is_a_copy_and_a_wait(cupy: Any, machine: Machine) -> None:
    x = cupy.ones((2,), "f4")
    machine.counts = Counts()
    float(x[0])
    counts = machine.counts
    assert (counts.launches, counts.downloads, counts.synchronizations) == (0, 1, 1)


def test_array_of_numpys_is_an_upload_without_a_wait(cupy: Any, machine: Machine) -> None:
    cupy.asarray(np.ones(2))
    assert (machine.counts.uploads, machine.counts.synchronizations) == (1, 0)


def test_elements_under_a_mask_are_counted_first(cupy: Any, machine: Machine) -> None:
    x = cupy.ones((2,), "f4")
    mask = x > 0
    machine.counts = Counts()
    x[mask]
    assert (machine.counts.downloads, machine.counts.synchronizations) == (1, 1)
