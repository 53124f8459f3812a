from typing import Any

import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    GluonishError,
    OperatorError,
)


@pytest.mark.parametrize(
    "source", [[1, 2], np.array([1, 2]), np.array([1.0, 2.0]), np.array([True, True]), (1, 2)]
)
def test_array_is_float32_whatever_the_source(source: Any) -> None:
    assert nd.array(source).dtype == np.float32


def test_array_of_an_array_keeps_its_dtype_and_copies() -> None:
    x = nd.array([1, 2], dtype="int32", ctx=cpu(1))
    y = nd.array(x)
    y[0] = 9
    assert (y.dtype, y.context, x.tolist()) == (np.int32, cpu(0), [1, 2])


def test_array_takes_an_explicit_dtype_and_device() -> None:
    x = nd.array([1.7], ctx=cpu(1), dtype="int64")
    assert (x.dtype, x.context, x.tolist()) == (np.int64, cpu(1), [1])


def test_array_is_made_in_the_current_context() -> None:
    with cpu(3):
        assert nd.array([1]).context == nd.zeros(2).context == nd.arange(2).context == cpu(3)


@pytest.mark.parametrize("source", ["abc", [[1], [1, 2]], None, {}, [1j]])
def test_array_refuses_what_holds_no_numbers(source: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="array: expected"):
        nd.array(source)


def test_unknown_dtype_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="dtype: expected one of float32"):
        nd.array([1], dtype="complex64")


@pytest.mark.parametrize("shape", [3, (2, 3), [2, 3], (), (0, 2), np.int64(3)])
def test_zeros_ones_full_and_empty_take_any_shape(shape: Any) -> None:
    extents = tuple(np.atleast_1d(shape)) if not isinstance(shape, tuple) else shape
    for x in (nd.zeros(shape), nd.ones(shape), nd.full(shape, 7), nd.empty(shape)):
        assert x.shape == extents
        assert x.dtype == np.float32


def test_full_cuts_toward_zero_for_integers() -> None:
    assert nd.full((2,), 3.7, dtype="int32").tolist() == [3, 3]


def test_negative_extent_is_refused_under_the_functions_name() -> None:
    for function in (nd.zeros, nd.ones, nd.empty):
        with pytest.raises(ArgumentError, match=rf"{function.__name__}: expected a shape"):
            function((-1,))


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_zeros_have_the_storage_type_asked_for(stype: str) -> None:
    for make in (nd.zeros, nd.empty):
        x = make((2, 3), stype=stype, dtype="float64")
        assert (x.stype, x.shape, x.dtype) == (stype, (2, 3), np.float64)
        assert not x.asnumpy().any()


def test_unknown_storage_type_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"zeros: expected stype in .*, got 'thin'"):
        nd.zeros((2, 2), stype="thin")


@pytest.mark.parametrize(
    ("args", "options", "expected"),
    [
        ((5,), {}, [0, 1, 2, 3, 4]),
        ((0, 3), {"repeat": 2}, [0, 0, 1, 1, 2, 2]),
        ((5, 0, -2), {}, [5, 3, 1]),
        ((1, 2, 0.5), {}, [1, 1.5]),
        ((3,), {"dtype": "int32"}, [0, 1, 2]),
    ],
)
def test_arange_counts(args: Any, options: dict[str, Any], expected: list[float]) -> None:
    assert nd.arange(*args, **options).tolist() == expected


def test_arange_without_steps_is_refused() -> None:
    with pytest.raises(OperatorError, match="arange: expected a step leading"):
        nd.arange(3, 3)


def test_linspace_includes_the_end_unless_told_otherwise() -> None:
    assert nd.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert nd.linspace(0, 1, 4, endpoint=False).tolist() == [0, 0.25, 0.5, 0.75]


def test_eye_has_its_diagonal() -> None:
    assert nd.eye(2, 3, 1).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert nd.eye(2, dtype="int32").dtype == np.int32


def test_concatenate_joins() -> None:
    joined = nd.concatenate([nd.ones((1, 2)), nd.zeros((2, 2))])
    assert joined.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_concatenate_of_one_array_copies_unless_told_otherwise() -> None:
    x = nd.ones(2)
    assert nd.concatenate([x], always_copy=False) is x
    assert nd.concatenate([x]) is not x
    with pytest.raises(ArgumentError, match="at least one array"):
        nd.concatenate([])


@pytest.mark.parametrize(
    ("source", "destination"), [(0, -1), (-1, 0), ((0, 1), (2, 0)), ([2, 0], [0, 1]), (1, 1)]
)
def test_moveaxis_equals_numpys(source: Any, destination: Any) -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    moved = nd.moveaxis(nd.array(values), source, destination)
    np.testing.assert_array_equal(moved.asnumpy(), np.moveaxis(values, source, destination))


@pytest.mark.parametrize(("source", "destination"), [(3, 0), ((0, 0), (1, 2)), ((0, 1), 2)])
def test_moveaxis_refuses_axes_that_make_no_sense(source: Any, destination: Any) -> None:
    with pytest.raises(ArgumentError, match="moveaxis: expected"):
        nd.moveaxis(nd.zeros((2, 3, 4)), source, destination)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((2, 4), "float32"), ((2,), "float32"), ((2, 3), "int32")]
)
def test_arrays_that_do_not_fit_are_not_joined(shape: tuple[int, ...], dtype: str) -> None:
    with pytest.raises(AssertionError, match="concatenate: expected arrays of equal dtype"):
        nd.concatenate([nd.ones((2, 3)), nd.ones(shape, dtype=dtype)])


def test_device_may_be_its_text() -> None:
    makers = (nd.random.uniform, nd.random.normal, lambda ctx: nd.arange(3, ctx=ctx))
    for make in (*makers, lambda ctx: nd.zeros((2,), ctx=ctx), lambda ctx: nd.eye(2, ctx=ctx)):
        assert make(ctx="cpu(1)").context == cpu(1)
        with pytest.raises(GluonishError):
            make(ctx="tpu(0)")
