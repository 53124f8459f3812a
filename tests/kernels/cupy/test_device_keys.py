"""Indexing by NDArrays on a device of the double: the positions never go to the host."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import ArgumentError, AutogradError, OutOfBoundsError
from tests.kernels.cupy.machine import Machine

VALUES = np.arange(1, 25, dtype=np.float32).reshape(4, 3, 2)
ROWS = np.array([[2, -1], [0, 2]])
KEYS: dict[str, Any] = {
    "positions": (ROWS,),
    "positions and columns": (np.array([3, 0, -4]), np.array([2, 1, 0])),
    "columns": (slice(None), np.array([2, 0])),
    "last axis": (..., np.array([1, 1, 0])),
    "after a row": (1, np.array([0, 2])),
    "new axis": (None, np.array([1]), slice(0, 2)),
    "none": (np.zeros(0, np.int64),),
    "mask of an axis": (np.array([True, False, True, True]),),
    "mask of all": (VALUES > 7,),
}
DTYPES = {"int32", "int64", "uint8", "float32"}


def on_gpu(part: Any, dtype: str = "int64") -> Any:
    if not isinstance(part, np.ndarray):
        return part
    return nd.array(part, ctx=mx.gpu(1), dtype="bool" if part.dtype == bool else dtype)


def near(key: tuple[Any, ...], dtype: str = "int64") -> Any:
    parts = tuple(on_gpu(part, dtype) for part in key)
    return parts if len(parts) > 1 else parts[0]


def transfers(machine: Machine) -> list[Any]:
    return [entry for entry in machine.log if entry[0] in ("h2d", "d2h")]


@pytest.mark.parametrize("name", sorted(KEYS))
def test_selection_is_numpys(gpus: Any, machine: Machine, name: str) -> None:
    x = nd.array(VALUES, ctx=mx.gpu(1))
    key = near(KEYS[name])
    nd.waitall()
    machine.log.clear()
    got = x[key]
    assert transfers(machine) == []
    want = VALUES[KEYS[name]]
    assert got.context == mx.gpu(1)
    np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_positions_of_any_dtype_are_taken(gpus: Any, dtype: str) -> None:
    rows = np.array([3, 0, 1])
    key = nd.array(rows + 0.7 if dtype == "float32" else rows, ctx=mx.gpu(0), dtype=dtype)
    np.testing.assert_array_equal(nd.array(VALUES, ctx=mx.gpu(0))[key].asnumpy(), VALUES[rows])


@pytest.mark.parametrize("value", [7, "row", "whole"])
@pytest.mark.parametrize("name", sorted(set(KEYS) - {"none"}))
def test_assignment_is_numpys(gpus: Any, machine: Machine, name: str, value: Any) -> None:
    x, want = nd.array(VALUES, ctx=mx.gpu(1)), VALUES.copy()
    shape = want[KEYS[name]].shape
    values: Any = {"row": np.full(shape[-1:], 5.0), "whole": np.full(shape, 6.0)}.get(value, value)
    given = on_gpu(values, "float32")
    key = near(KEYS[name])
    nd.waitall()
    machine.log.clear()
    x[key] = given
    assert transfers(machine) == []
    want[KEYS[name]] = values
    np.testing.assert_array_equal(x.asnumpy(), want)


@pytest.mark.parametrize("position", [4, -5])
@pytest.mark.parametrize("recorded", [False, True])
def test_position_outside_is_refused_at_once(gpus: Any, position: int, recorded: bool) -> None:
    x = nd.array(VALUES, ctx=mx.gpu(0))
    x.attach_grad()
    key = nd.array([0, position], ctx=mx.gpu(0), dtype="int64")
    scope = autograd.record() if recorded else autograd.pause()
    with scope, pytest.raises(OutOfBoundsError, match=r"positions within shape \(4, 3, 2\)"):
        x[key]
    with pytest.raises(IndexError, match="positions within shape"):
        x[key] = 1
    np.testing.assert_array_equal(x.asnumpy(), VALUES)


def test_too_many_and_unfit_keys_are_refused(gpus: Any) -> None:
    x = nd.array(VALUES, ctx=mx.gpu(0))
    row = nd.array([0], ctx=mx.gpu(0), dtype="int64")
    with pytest.raises(OutOfBoundsError, match="too many indices"):
        x[row, row, row, row]
    with pytest.raises(OutOfBoundsError, match="boolean index did not match"):
        x[nd.array([1, 0, 1], ctx=mx.gpu(0), dtype="bool")]
    with pytest.raises(ArgumentError, match=r"value that broadcasts to \(1, 3, 2\)"):
        x[row] = nd.zeros((5,), ctx=mx.gpu(0))


@pytest.mark.parametrize("name", ["positions", "positions and columns", "mask of all"])
def test_gradient_flows_to_what_was_selected(gpus: Any, name: str) -> None:
    x = nd.array(VALUES, ctx=mx.gpu(0))
    x.attach_grad()
    parts = tuple(nd.array(part, ctx=mx.gpu(0), dtype=part.dtype) for part in KEYS[name])
    with autograd.record():
        y = (x[parts if len(parts) > 1 else parts[0]] * 2).sum()
    y.backward()
    want = np.zeros_like(VALUES)
    np.add.at(want, KEYS[name], 2)
    np.testing.assert_array_equal(x.grad.asnumpy(), want)


def test_recorded_value_for_a_part_is_refused(gpus: Any) -> None:
    x, value = nd.zeros((3,), ctx=mx.gpu(0)), nd.ones((1,), ctx=mx.gpu(0))
    value.attach_grad()
    key = nd.array([1], ctx=mx.gpu(0), dtype="int64")
    with autograd.record(), pytest.raises(AutogradError, match="a part of the array"):
        x[key] = value * 2


def test_key_of_another_device_goes_over_the_host(gpus: Any) -> None:
    x = nd.array(VALUES, ctx=mx.gpu(0))
    for ctx in (mx.cpu(), mx.gpu(1)):
        key = nd.array([3, 1], ctx=ctx, dtype="int64")
        np.testing.assert_array_equal(x[key].asnumpy(), VALUES[[3, 1]])


def test_selection_reads_the_positions_of_the_call(gpus: Any) -> None:
    x = nd.array(VALUES, ctx=mx.gpu(0))
    key = nd.array([0, 1], ctx=mx.gpu(0), dtype="int64")
    got = x[key]
    key += 1
    x += 100
    np.testing.assert_array_equal(got.asnumpy(), VALUES[[0, 1]])
