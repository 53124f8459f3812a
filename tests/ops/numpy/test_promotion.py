"""Which dtypes NumPy's operators meet in, take and refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import OperatorError, public_name
from gluonish.core.spec import Spec
from gluonish.ops.registry import apply, find_operator
from tests.checking.values import run_operator

_PAIRS = [
    ("float16", "float32", "float32"),
    ("float16", "int64", "float16"),
    ("float32", "bool", "float32"),
    ("int8", "int64", "int64"),
    ("uint8", "int8", "int16"),
    ("bool", "uint8", "uint8"),
    ("bfloat16", "float16", "float32"),
]


def _spec(dtype: str) -> Spec:
    return Spec((2,), normalize_dtype(dtype))


@pytest.mark.parametrize(("first", "second", "met"), _PAIRS)
def test_a_float_beats_integers_and_bool_gives_way(first: str, second: str, met: str) -> None:
    infer = find_operator("_npi_add").infer
    for pair in ((first, second), (second, first)):
        assert infer(*map(_spec, pair))[0].dtype.name == met


def test_quotient_of_integers_is_float32() -> None:
    infer = find_operator("_npi_true_divide").infer
    assert infer(_spec("int64"), _spec("int32"))[0].dtype.name == "float32"
    assert infer(_spec("float64"), _spec("int32"))[0].dtype.name == "float64"


@pytest.mark.parametrize(
    ("dtype", "is_int", "met"),
    [
        ("int32", True, "int32"),
        ("int32", False, "float64"),
        ("bool", True, "int64"),
        ("float16", False, "float16"),
    ],
)
def test_number_keeps_integers_only_if_it_is_whole(dtype: str, is_int: bool, met: str) -> None:
    infer = find_operator("_npi_add_scalar").infer
    assert infer(_spec(dtype), scalar=2.0, is_int=is_int)[0].dtype.name == met


@pytest.mark.parametrize("name", ["_npi_add_scalar", "_npi_bitwise_and_scalar"])
def test_infinity_is_refused_for_integers_by_name(name: str) -> None:
    with pytest.raises(
        OperatorError, match=f"{public_name(name)}: expected a finite number for int32"
    ):
        find_operator(name).infer(_spec("int32"), scalar=float("inf"), is_int=True)


@pytest.mark.parametrize("name", ["_npi_sin", "_npi_subtract", "_npi_std", "_npi_diff"])
def test_bool_is_refused_where_numbers_are_wanted(name: str) -> None:
    op = find_operator(name)
    with pytest.raises(OperatorError, match=f"{public_name(name)}: expected numbers, got bool"):
        op.infer(*[_spec("bool")] * len(op.inputs), **op.schema.defaults)


def test_int64_compares_exactly_with_a_whole_number() -> None:
    large = np.array([2**53, 2**53 + 1])
    attrs = {"scalar": float(2**53), "is_int": True}
    found = run_operator("_npi_equal_scalar", large, **attrs)
    np.testing.assert_array_equal(np.ravel(found), [True, False])


@pytest.mark.parametrize(
    ("name", "function"), [("_npi_power", np.power), ("_npi_multiply", np.multiply)]
)
def test_gradient_has_the_dtype_of_its_operand(name: str, function: Callable[..., Any]) -> None:
    a = mx.nd.array([2.0, 3.0], dtype="float16")
    b = mx.nd.array([1.0, 2.0], dtype="float32")
    a.attach_grad()
    b.attach_grad()
    with mx.autograd.record():
        y = apply(find_operator(name), (a, b), {})
    y.backward()
    assert a.grad is not None
    assert b.grad is not None
    assert (a.grad.dtype, b.grad.dtype) == (np.float16, np.float32)
    np.testing.assert_allclose(y.asnumpy(), function([2.0, 3.0], [1.0, 2.0]))
