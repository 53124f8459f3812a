"""What NumPy's operators do that depends on values: checks, counts, positions, masks."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError, public_name
from gluonish.ops.registry import apply, find_operator


def _call(name: str, *arrays: Any, **attrs: Any) -> Any:
    op = find_operator(name)
    inputs = [mx.nd.array(x, dtype=np.asarray(x).dtype) for x in arrays]
    return apply(op, inputs, op.schema.parse(name, attrs))


def _floats(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


def test_failed_constraint_says_its_message() -> None:
    with pytest.raises(OperatorError, match=r"constraint_check: .*scale is negative"):
        _call("_npx_constraint_check", np.array([True, False]), msg="scale is negative").asnumpy()


def test_array_shares_memory_with_itself_only() -> None:
    x = mx.nd.array([1.0, 2.0])
    op = find_operator("_npi_share_memory")
    assert apply(op, (x, x), {}).asnumpy()
    assert not apply(op, (x, x.copy()), {}).asnumpy()


def test_share_outside_0_to_100_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"percentile: .*expected q in \[0, 100\]"):
        _call("_npi_percentile", _floats(1, 2), _floats(200)).asnumpy()


def test_deleted_number_outside_is_refused() -> None:
    with pytest.raises(OperatorError, match="delete: expected positions in"):
        _call("_npi_delete", _floats(1, 2), int_ind=5)


@pytest.mark.parametrize(
    ("shape", "gone", "axis", "left"),
    [
        ((3,), [5], None, (3,)),
        ((3,), [1, 7], None, (2,)),
        ((2, 3), [0, -9], 1, (2, 2)),
        ((0, 2), [0], 0, (0, 2)),
        ((0, 2), [1, 7], 1, (0, 1)),
        ((0, 2), [0], None, (0,)),
    ],
)
def test_positions_outside_in_an_array_are_not_deleted(
    shape: tuple[int, ...], gone: list[int], axis: int | None, left: tuple[int, ...]
) -> None:
    found = _call("_npi_delete", np.ones(shape, np.float32), np.array(gone), axis=axis)
    assert found.shape == left


@pytest.mark.parametrize(
    ("a", "b", "solution"),
    [
        ((), (1, 1, 1), ()),
        ((), (1,), ()),
        ((1,), (1, 1), ()),
        ((1,), (1,), (1,)),
        ((1, 1), (1, 1, 1), (1,)),
        ((1, 1), (1,), (1,)),
    ],
)
def test_one_equation_may_have_any_axes(
    a: tuple[int, ...], b: tuple[int, ...], solution: tuple[int, ...]
) -> None:
    x, y = mx.nd.full(a, 2), mx.nd.ones(b)
    x.attach_grad()
    y.attach_grad()
    with mx.autograd.record():
        found = mx.np.linalg.tensorsolve(x.as_np_ndarray(), y.as_np_ndarray())
    found.backward()
    assert found.shape == solution
    assert found.item() == 0.5
    assert x.grad is not None and y.grad is not None  # noqa: PT018  # for the type checker
    assert (x.grad.shape, x.grad.asnumpy().item()) == (a, -0.25)
    assert (y.grad.shape, y.grad.asnumpy().item()) == (b, 0.5)


def test_inserted_position_outside_is_refused() -> None:
    arrays = _floats(1, 2), _floats(3), np.array([5])
    with pytest.raises(OperatorError, match=r"insert_tensor: .*expected positions in"):
        _call("_npi_insert_tensor", *arrays).asnumpy()


def test_value_of_the_wrong_length_is_refused_by_mask_assignment() -> None:
    arrays = _floats(1, 2, 3), np.array([True, True, False]), _floats(1, 2, 3)
    with pytest.raises(OperatorError, match="expected value that broadcasts to"):
        _call("_npi_boolean_mask_assign_tensor", *arrays, start_axis=0).asnumpy()


def test_gradient_of_mask_assignment_goes_to_what_is_left_and_to_the_value() -> None:
    data, value = mx.nd.array([1.0, 2.0, 3.0]), mx.nd.array([5.0, 6.0])
    mask = mx.nd.array([True, False, True], dtype="bool")
    data.attach_grad()
    value.attach_grad()
    with mx.autograd.record():
        y = apply(
            find_operator("_npi_boolean_mask_assign_tensor"), (data, mask, value), {"start_axis": 0}
        )
    y.backward(mx.nd.array([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(y.asnumpy(), [5.0, 2.0, 6.0])
    assert data.grad is not None
    assert value.grad is not None
    np.testing.assert_array_equal(data.grad.asnumpy(), [0.0, 10.0, 0.0])
    np.testing.assert_array_equal(value.grad.asnumpy(), [1.0, 100.0])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_unique_is_that_of_numpy(axis: int | None) -> None:
    data = np.random.default_rng(0).integers(0, 3, (6, 2)).astype(np.float32)
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    found = _call("_npi_unique", data, axis=axis, **flags)
    wanted: Any = np.unique(
        data, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), np.reshape(want, got.shape))


def test_equal_nan_are_one_to_unique() -> None:
    found = _call("_npi_unique", _floats(np.nan, 1, np.nan))
    np.testing.assert_array_equal(found.asnumpy(), [1, np.nan])


@pytest.mark.parametrize(
    ("name", "attrs"),
    [
        ("_npi_zeros", {"shape": (2**30, 2**30)}),
        ("_npi_eye", {"N": 2**40}),
        ("_npi_arange", {"start": 1e300}),
        ("_npi_hanning", {"M": 10**20}),
    ],
)
def test_enormous_array_is_refused(name: str, attrs: dict[str, Any]) -> None:
    op = find_operator(name)
    with pytest.raises(OperatorError, match=f"{public_name(name)}: expected .* elements"):
        op.infer(**op.schema.parse(name, attrs))


def test_gradient_of_a_sum_of_maxima_goes_through_padding_twice() -> None:
    x = mx.nd.array([[1.0, 3.0, 2.0]])
    x.attach_grad()
    op = find_operator("_npi_pad")
    attrs = op.schema.parse(op.name, {"pad_width": ((0, 0), (2, 1)), "mode": "maximum"})
    with mx.autograd.record():
        y = apply(op, (x,), attrs)
    y.backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.asnumpy(), [[1.0, 4.0, 1.0]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_values_of_another_float_that_are_inserted_have_a_gradient(dtype: str) -> None:
    into, values = mx.np.array([1, 2, 3]), mx.np.array([5, 6]).astype(dtype)
    into.attach_grad()
    values.attach_grad()
    with mx.autograd.record():
        made = mx.np.insert(into, 1, values)
    made.backward(mx.np.array([1, 2, 3, 4, 5]))
    assert into.grad.asnumpy().tolist() == [1, 4, 5]
    assert (values.grad.asnumpy().tolist(), values.grad.dtype.name) == ([2, 3], dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["mean", "average", "var", "std"])
def test_moments_of_more_elements_than_16_bits_count_have_a_gradient(name: str, dtype: str) -> None:
    values = np.resize([1.0, 2.0, 3.0, 6.0], 100_000).astype("float32")
    x = mx.np.array(values).astype(dtype)
    x.attach_grad()
    with mx.autograd.record():
        y = getattr(mx.np, name)(x)
    y.backward(mx.np.array(1000.0).astype(dtype))
    spread = (values - values.mean()) / 100
    wanted = {"mean": 0.01, "average": 0.01, "var": 2 * spread, "std": spread / values.std()}
    np.testing.assert_allclose(
        x.grad.astype("float32").asnumpy(), wanted[name] + 0 * values, rtol=2e-2, atol=1e-6
    )


def test_symbol_of_an_unknown_dtype_is_cast() -> None:
    x = mx.sym.var("x").as_np_ndarray()
    cast = x.astype("float64", copy=False)
    found = cast.bind(mx.cpu(), {"x": mx.np.array([1.5])}).forward()[0]
    assert found.dtype == np.float64
