"""Operators that only move elements, on all cores, against their reference kernels."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.data_movement import Mover, ParallelOutput
from gluonish.ops.registry import all_operators, find_operator
from tests.checking.values import run_kernel, spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

_IMAGES = (4, 12, 30, 40)
_WIDTHS = (0, 0, 0, 0, 2, 1, 3, 4)


def _values(*shape: int) -> Any:
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "shapes", "given"),
    [
        ("Pad", [_IMAGES], {"mode": "constant", "pad_width": _WIDTHS, "constant_value": 2.5}),
        ("Pad", [_IMAGES], {"mode": "edge", "pad_width": _WIDTHS}),
        ("Pad", [_IMAGES], {"mode": "reflect", "pad_width": _WIDTHS}),
        ("_unpad", [(4, 12, 33, 47)], {"mode": "edge", "pad_width": _WIDTHS, "shape": _IMAGES}),
        ("transpose", [_IMAGES], {"axes": (2, 0, 3, 1)}),
        ("SwapAxis", [_IMAGES], {"dim1": 1, "dim2": 3}),
        ("reverse", [_IMAGES], {"axis": (0, 2)}),
        ("tile", [_IMAGES], {"reps": (2, 1, 1, 3)}),
        ("repeat", [_IMAGES], {"repeats": 3, "axis": 3}),
        ("stack", [_IMAGES, _IMAGES], {"num_args": 2, "axis": 4}),
        ("_npi_hstack", [_IMAGES, _IMAGES], {"num_args": 2}),
        ("SliceChannel", [_IMAGES], {"num_outputs": 3}),
        ("slice", [_IMAGES], {"begin": (0, 9), "end": (4, 1), "step": (1, -2)}),
        ("_slice_assign_scalar", [_IMAGES], {"scalar": 2, "begin": (1,), "end": (3,)}),
        ("broadcast_to", [(1, 12, 1, 40)], {"shape": _IMAGES}),
        ("depth_to_space", [_IMAGES], {"block_size": 2}),
        ("space_to_depth", [_IMAGES], {"block_size": 2}),
        ("_full", [], {"shape": _IMAGES, "value": 1.5}),
        (
            "_slice_put",
            [(4, 12, 8, 40)],
            {"shape": _IMAGES, "begin": (0, 0, 2), "end": (4, 12, 10)},
        ),
        ("_npi_pad", [(64, 600)], {"mode": "edge", "pad_width": ((1, 2), (3, 0))}),
        ("_npi_pad", [(64, 600)], {"mode": "maximum", "pad_width": ((1, 2), (3, 0))}),
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
def test_result_is_that_of_the_reference(
    name: str, shapes: list[Any], given: dict[str, Any], dtype: str
) -> None:
    op = find_operator(name)
    attrs = op.schema.parse(name, given)
    inputs = [(_values(*shape) * 100).astype(dtype) for shape in shapes]
    mover = Mover(op)
    assert mover.supports(*map(spec_of, inputs), **attrs)
    want = run_kernel(op, op.kernel, inputs, attrs, attrs)
    for a, b in zip(run_kernel(op, mover, inputs, attrs, attrs), want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_each_operator_has_its_kernel_in_front() -> None:
    for name in (op.name for op in all_operators() if op.copies_only):
        first = find_operator(name).fast_kernels[0]
        assert (first.name, first.large_only) == (f"generated.{name}", True)


def test_small_arrays_are_left_to_the_reference() -> None:
    mover = Mover(find_operator("transpose"))
    assert not mover.supports(Spec((20, 30), np.dtype("float32")), axes=())


def test_assigning_converts_and_takes_numbers() -> None:
    raw = np.zeros((3, 4), np.float16)
    swift = ParallelOutput(raw)
    swift[1:2] = np.arange(4.0)
    swift.reshape(12)[8:] = np.float16(7)
    np.testing.assert_array_equal(raw, [[0] * 4, [0, 1, 2, 3], [7] * 4])


def test_elements_of_sixteen_bytes_are_copied_too() -> None:
    raw = np.zeros(5, np.complex128)
    ParallelOutput(raw)[...] = np.full(5, 2j)
    np.testing.assert_array_equal(raw, np.full(5, 2j))
