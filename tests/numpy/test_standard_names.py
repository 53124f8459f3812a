"""Functions of `mx.np` under the array API's names: gradients, hybridization, mixed types, errors.

Their values are held to array-api-strict in tests/numpy/array_api.
"""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gluonish as mx
from gluonish import autograd, np
from gluonish.core.errors import ArgumentError, AutogradError
from gluonish.numpy import array_api as xp

_random = numpy.random.default_rng(3)


def normal(*shape: int) -> Any:
    return _random.standard_normal(shape)


SQUARE = normal(3, 3) + 4 * numpy.eye(3)
WITH_ZEROS = normal(2, 5)
WITH_ZEROS[0, 1] = WITH_ZEROS[1, 2] = WITH_ZEROS[1, 4] = 0
ORDER = numpy.argsort(normal(2, 5), axis=1)
OTHER = normal(2, 5)

GRADIENTS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "logaddexp": (lambda x: np.logaddexp(x, np.array(OTHER)), normal(2, 5)),
    "logaddexp number": (lambda x: np.logaddexp(0.5, x), normal(2, 5)),
    "fmax": (lambda x: np.fmax(x, np.array(OTHER)), normal(2, 5)),
    "fmin": (lambda x: np.fmin(0.1, x), normal(2, 5)),
    "fmod": (lambda x: np.fmod(x, np.array(OTHER)), normal(2, 5)),
    "fmod divisor": (lambda x: np.fmod(np.array(OTHER), x), normal(2, 5) + 3),
    "pow": (lambda x: np.pow(x, 3), normal(2, 5)),
    "atan2": (lambda x: np.atan2(x, np.array(OTHER)), normal(2, 5)),
    "acos": (lambda x: np.acos(np.tanh(x)), normal(2, 5)),
    "cumprod": (lambda x: np.cumprod(x, axis=1), WITH_ZEROS),
    "cumulative_prod": (
        lambda x: np.cumulative_prod(x, axis=0, include_initial=True),
        normal(3, 2),
    ),
    "cumulative_sum": (lambda x: np.cumulative_sum(x, axis=1, include_initial=True), normal(2, 5)),
    "vecdot": (lambda x: np.vecdot(x, np.array(OTHER), axis=0), normal(2, 5)),
    "cross": (lambda x: np.cross(x, np.flip(x, 0)), normal(2, 3)),
    "kron": (lambda x: np.kron(x, np.array(OTHER)), normal(2, 2)),
    "take_along_axis": (lambda x: np.take_along_axis(x, np.array(ORDER), 1), normal(2, 5)),
    "take_along_axis negative": (
        lambda x: np.take_along_axis(x, np.array([[-1, 0], [1, 1]], "int64"), 1),
        normal(2, 5),
    ),
    "matrix_transpose": (lambda x: np.matrix_transpose(x) * 2, normal(2, 3, 2)),
    "mT": (lambda x: x.mT * 2, normal(2, 3, 2)),
    "unstack": (lambda x: np.unstack(x, axis=1)[1], normal(2, 5)),
    "triu": (lambda x: np.triu(x, 1), normal(3, 4)),
    "concat": (lambda x: np.concat([x, x.astype("float32")]), normal(2, 3)),
    "stack": (lambda x: np.stack([x, np.array(OTHER, "float32")]), normal(2, 5)),
    "matmul": (lambda x: np.matmul(x, np.array(OTHER, "float32")), normal(3, 2)),
    "maximum": (lambda x: np.maximum(x, np.array(OTHER, "float32")), normal(2, 5)),
    "trace": (lambda x: np.linalg.trace(x), normal(2, 3, 3)),
    "diagonal": (lambda x: np.linalg.diagonal(x, 1), normal(2, 3, 3)),
    "svdvals": (lambda x: np.linalg.svdvals(x), normal(4, 3)),
    "vector_norm": (lambda x: np.linalg.vector_norm(x, 3, 1), normal(2, 5)),
    "matrix_norm": (lambda x: np.linalg.matrix_norm(x, "nuc"), normal(3, 4)),
    "std": (lambda x: xp.std(x, axis=1, correction=1.5), normal(2, 5)),
    "sort": (lambda x: xp.sort(x, axis=1, descending=True), normal(2, 5)),
    "clip": (lambda x: xp.clip(x, np.array(-0.5 * numpy.ones(5)), 0.5), normal(2, 5)),
    "where": (lambda x: xp.where(x > 0, x, 2.0), normal(2, 5)),
    "remainder": (lambda x: xp.remainder(x, np.array(OTHER)), normal(2, 5)),
    "svd": (lambda x: xp.linalg.svd(x, full_matrices=False).S, normal(4, 3)),
    "solve": (lambda x: xp.linalg.solve(x, np.array(OTHER[0, :3])), SQUARE),
    "matrix_power": (lambda x: xp.linalg.matrix_power(x, -2), SQUARE),
}


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradient_is_that_of_finite_differences(name: str) -> None:
    function, values = GRADIENTS[name]
    x = np.array(values)
    x.attach_grad()
    with autograd.record():
        y = function(x)
        weight = np.array(numpy.random.default_rng(1).standard_normal(y.shape))
        total = (y * weight).sum()
    total.backward()
    step = 1e-6
    direction = numpy.random.default_rng(2).standard_normal(values.shape)
    ends = [
        float((function(np.array(values + sign * step * direction)) * weight).sum())
        for sign in (1, -1)
    ]
    expected = (ends[0] - ends[1]) / (2 * step)
    found = float((x.grad.asnumpy() * direction).sum())
    single = name in ("concat", "stack", "matmul", "maximum")
    assert found == pytest.approx(
        expected, rel=0.02 if single else 1e-5, abs=1e-3 if single else 1e-6
    )


HYBRID = (
    *("logaddexp", "fmax", "fmod", "pow", "cumprod", "cumulative_sum", "vecdot", "cross", "kron"),
    *("take_along_axis", "matrix_transpose", "mT", "unstack", "triu", "concat", "vector_norm"),
    *("clip", "where", "remainder", "std"),
)


@pytest.mark.parametrize("name", HYBRID)
def test_hybridized_equals_eager(name: str) -> None:
    function, values = GRADIENTS[name]

    class Net(mx.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return function(x)

    net = Net()
    x = np.array(values)
    expected = function(x)
    net.hybridize()
    for _ in range(2):
        numpy.testing.assert_allclose(net(x).asnumpy(), expected.asnumpy(), rtol=1e-12)


@pytest.mark.parametrize("name", ["floor_divide", "left_shift", "logical_and"])
def test_hybridized_integers_equal_eager(name: str) -> None:
    functions: dict[str, Any] = {
        "floor_divide": lambda x: (x // 2) + 7 // x,
        "left_shift": lambda x: (x << 2) + (1 << x) + (x >> 1),
        "logical_and": lambda x: np.logical_xor(np.logical_and(x, x > 2), np.logical_or(x, 0)),
    }
    function = functions[name]

    class Net(mx.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return function(x)

    net = Net()
    net.hybridize()
    x = np.array([1, 2, 3], dtype="int32")
    expected = function(x.asnumpy()) if name != "logical_and" else [True, True, False]
    assert net(x).tolist() == list(expected)


def test_nan_loses_in_fmax_and_fmin() -> None:
    a, b = np.array([numpy.nan, 1.0, 2.0]), np.array([3.0, numpy.nan, 1.0])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = np.fmax(a, b) + np.fmin(a, b)
    y.backward()
    assert y.tolist() == [6, 2, 3]
    assert a.grad.tolist() == [0, 2, 1]
    assert b.grad.tolist() == [2, 0, 1]


def test_numpys_functions_come_here() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for found, expected in (
        (numpy.vecdot(x, x), [5, 25]),
        (numpy.take_along_axis(x, np.array([[1], [0]], "int64"), 1), [[2], [3]]),
        (numpy.cumulative_sum(x, axis=0), [[1, 2], [4, 6]]),
        (numpy.floor_divide(x, 2), [[0, 1], [1, 2]]),
        (numpy.unique_values(x), [1, 2, 3, 4]),
    ):
        assert type(found) is np.ndarray
        assert found.tolist() == expected


def test_in_place_operators_write_to_the_array() -> None:
    x = alias = np.array([6, 9], dtype="int32")
    x //= 2
    x <<= 3
    x >>= 1
    x **= 2
    assert x is alias
    assert x.tolist() == [144, 256]


def test_asarray_shares_or_copies() -> None:
    x = np.ones(3)
    assert np.asarray(x) is x
    assert np.asarray(x, copy=True) is not x
    assert np.asarray(x, dtype="int32").dtype == numpy.int32
    values = numpy.arange(3, dtype="float32")
    shared = np.asarray(values, copy=False)
    shared[0] = 7
    shared.wait_to_read()
    assert values[0] == 7
    with pytest.raises(ArgumentError, match="copy=False"):
        np.asarray([1, 2], copy=False)
    with pytest.raises(ArgumentError, match="copy=False"):
        np.from_dlpack(numpy.ones((3, 4)).T, copy=False)
    read_only = numpy.ones(3)
    read_only.flags.writeable = False
    with pytest.raises(ArgumentError, match="copy=False"):
        np.asarray(read_only, copy=False)


def test_arrays_are_made_on_and_moved_to_devices() -> None:
    x = np.zeros((2,), device=mx.cpu(1))
    assert x.device == mx.cpu(1)
    assert x.to_device(mx.cpu(1)) is x
    assert x.to_device("cpu(0)").device == mx.cpu(0)
    assert xp.full((2,), 3, device=mx.cpu(2)).device == mx.cpu(2)
    assert xp.zeros_like(x).device == mx.cpu(1)
    with pytest.raises(ArgumentError, match="stream None"):
        x.to_device(mx.cpu(), stream=1)


def test_namespace_knows_its_version_and_types() -> None:
    x = np.ones(2)
    assert x.__array_namespace__("2022.12") is x.__array_namespace__()
    with pytest.raises(ArgumentError, match=r"expected api_version in .*got '1999.12'"):
        x.__array_namespace__("1999.12")
    info = xp.__array_namespace_info__()
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert info.default_dtypes()["real floating"] == xp.asarray(1.0).dtype
    assert info.default_dtypes()["integral"] == xp.asarray(1).dtype
    assert info.default_device() == mx.current_context()
    assert mx.cpu() in info.devices()
    assert info.capabilities()["boolean indexing"] is True


def test_functions_without_a_gradient_say_so() -> None:
    x = np.ones((2, 2))
    x.attach_grad()
    with autograd.record():
        y = x * 2
        with pytest.raises(AutogradError, match="it has no gradient"):
            xp.linalg.qr(y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: np.vecdot(np.ones(3), np.ones(4)), "vecdot: expected equal sizes"),
        (lambda: np.cross(np.ones(2), np.ones(4)), "cross: expected vectors of two or three"),
        (
            lambda: np.matrix_transpose(np.ones(3)),
            "matrix_transpose: expected an array",
        ),
        (lambda: np.take_along_axis(np.ones((2, 3)), np.zeros(3), 1), "take_along_axis: expe"),
        (lambda: np.cumulative_sum(np.ones((2, 3))), "cumulative_sum: expected an axis"),
        (lambda: np.isdtype("int8", "whole"), "isdtype: expected a kind among"),
        (lambda: xp.result_type(1, 2.0), "result_type: expected at least one array"),
        (lambda: xp.broadcast_shapes((2,), (3,)), "broadcast_shapes: expected shapes"),
        (lambda: xp.linalg.matrix_power(np.ones((2, 3)), 2), "matrix_power: expected square"),
    ],
)
def test_mistakes_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()
