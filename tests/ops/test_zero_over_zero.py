"""Gradients where a rule would divide 0 by 0: those of mathematics, and 0 at a kink."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish import np as mnp

DTYPES = ("float16", "float32", "float64", "bfloat16")
FLAT = [0.0, 0.0]


class _Net(mx.gluon.HybridBlock):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *x: Any) -> Any:
        return self._function(*x)


def _gradients(
    function: Callable[..., Any],
    *values: Any,
    dtype: str = "float32",
    hybridize: bool = False,
    array: Any = nd.array,
) -> list[Any]:
    inputs = [array(v, dtype="float32").astype(dtype) for v in values]
    for x in inputs:
        x.attach_grad()
    net = _Net(function)
    net.hybridize(hybridize)
    with autograd.record():
        y = net(*inputs)
    y.backward()
    return [x.grad.astype("float64").asnumpy().tolist() for x in inputs]


def _second(function: Callable[..., Any], *values: Any) -> list[Any]:
    """Return the gradient of the sum of all first gradients."""
    inputs = [nd.array(v, dtype="float64") for v in values]
    for x in inputs:
        x.attach_grad()
    with autograd.record():
        firsts = autograd.grad(function(*inputs), inputs, create_graph=True, retain_graph=True)
        total = sum(first.sum() for first in firsts)
    total.backward()
    return [x.grad.asnumpy().tolist() for x in inputs]


PRODUCTS = [
    ([4, 0], [0, 4]),
    ([0, 5, 7], [35, 0, 0]),
    ([0, 0, 3], [0, 0, 0]),
    ([-0.0, 2], [2, 0]),
    ([1, 2, 4], [8, 4, 2]),
    ([0], [1]),
    ([math.inf, 2], [2, math.inf]),
    ([math.nan, 2], [math.nan, math.nan]),
]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_element_of_a_product_gets_the_product_of_the_others(
    dtype: str, hybridize: bool
) -> None:
    for values, wanted in PRODUCTS:
        found = _gradients(lambda x: x.prod(), values, dtype=dtype, hybridize=hybridize)
        np.testing.assert_array_equal(found[0], wanted)
        found = _gradients(mnp.prod, values, dtype=dtype, hybridize=hybridize, array=mnp.array)
        np.testing.assert_array_equal(found[0], wanted)


def test_nanprod_leaves_nan_out_beside_a_zero() -> None:
    assert _gradients(nd.nanprod, [math.nan, 0, 3])[0] == [0, 3, 0]


@pytest.mark.parametrize("axis", [0, 1, (0, 2), (1, 2), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_products_over_axes_with_zeros(axis: Any, keepdims: bool) -> None:
    random = np.random.default_rng(3)
    x = random.integers(-2, 3, (3, 4, 2)).astype(np.float64)
    axes = tuple(range(3)) if axis is None else (axis,) if isinstance(axis, int) else axis
    wanted = np.empty_like(x)
    for at in np.ndindex(*x.shape):
        one = x.copy()
        one[at] = 1
        kept = np.prod(one, axis=axes, keepdims=True)
        wanted[at] = np.broadcast_to(kept, x.shape)[at]
    found = _gradients(lambda v: nd.prod(v, axis=axis, keepdims=keepdims), x, dtype="float64")
    np.testing.assert_array_equal(found[0], wanted)
    found = _gradients(
        lambda v: mnp.prod(v, axis=axis, keepdims=keepdims, dtype="float64"), x, array=mnp.array
    )
    np.testing.assert_array_equal(found[0], wanted)


def test_second_derivatives_of_products_with_zeros() -> None:
    assert _second(lambda x: x.prod(), [0, 5, 7]) == [[12, 7, 5]]
    assert _second(lambda x: x.prod(), [0, 0, 7]) == [[7, 7, 0]]
    assert _second(lambda x: x.prod(), [2, 3]) == [[1, 1]]


def test_products_beyond_the_range_of_the_dtype() -> None:
    tiny, huge = 2.0**-100, 2.0**100
    assert _gradients(lambda x: x.prod(), [tiny, tiny])[0] == [tiny, tiny]
    assert _gradients(lambda x: x.prod(), [huge, huge])[0] == [huge, huge]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_are_flat_at_the_zero_vector(dtype: str, hybridize: bool) -> None:
    functions: list[Callable[..., Any]] = [
        nd.norm,
        lambda x: nd.norm(x, ord=1),
        lambda x: nd.norm(x) ** 2,
        lambda x: x.reshape((1, 2)).norm(axis=1, keepdims=True),
    ]
    for function in functions:
        assert _gradients(function, FLAT, dtype=dtype, hybridize=hybridize)[0] == FLAT
    rows = _gradients(lambda x: nd.norm(x, axis=1), [[0, 0], [3, 4]], dtype="float64")[0]
    np.testing.assert_allclose(rows, [[0, 0], [0.6, 0.8]], rtol=1e-14)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("ord", [None, 1, 2, 3, 1.5, 0.5, -1, -2, 0, math.inf, -math.inf])
def test_vector_norms_of_numpy_are_flat_at_the_zero_vector(ord: Any, hybridize: bool) -> None:  # noqa: A002
    def norm(x: Any) -> Any:
        return mnp.linalg.norm(x, ord=ord)

    def found(values: list[float]) -> Any:
        return _gradients(norm, values, hybridize=hybridize, array=mnp.array)[0]

    assert found(FLAT) == FLAT
    one = 1 if ord is None or (ord > 0) else 0
    np.testing.assert_allclose(found([0, 2]), [0, one], rtol=1e-6)
    value = norm(mnp.array([0, 2, -3])).asnumpy()
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(value, np.linalg.norm([0, 2, -3], ord=ord), rtol=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf])
def test_matrix_norms_of_numpy_are_flat_at_the_zero_matrix(ord: Any, hybridize: bool) -> None:  # noqa: A002
    found = _gradients(
        lambda x: mnp.linalg.norm(x, ord=ord),
        np.zeros((2, 3)),
        hybridize=hybridize,
        array=mnp.array,
    )
    np.testing.assert_array_equal(found[0], np.zeros((2, 3)))


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_at_zero(dtype: str, hybridize: bool) -> None:
    def run(function: Callable[..., Any], *values: Any, array: Any = nd.array) -> list[Any]:
        return _gradients(function, *values, dtype=dtype, hybridize=hybridize, array=array)

    assert run(lambda x: x**0, [0, 2, -1]) == [[0, 0, 0]]
    assert run(lambda y: 0**y, [0, 1, 2, -1]) == [[0, 0, 0, -math.inf]]
    by_base, by_exponent = [0, 1, 0, 12], [0, 0, 0, 8 * math.log(2)]
    for array in (nd.array, mnp.array):
        found = run(lambda x, y: x**y, [0, 0, 0, 2], [0, 1, 2, 3], array=array)
        np.testing.assert_allclose(found[0], by_base, rtol=1e-2)
        np.testing.assert_allclose(found[1], by_exponent, rtol=1e-2)


def test_powers_that_have_no_zero_are_as_before() -> None:
    found = _gradients(lambda x, y: x**y, [-2, 0, -0.0], [3, -1, -2], dtype="float64")
    np.testing.assert_array_equal(found[0], [12, -math.inf, math.inf])
    np.testing.assert_array_equal(found[1], [math.nan, -math.inf, -math.inf])


def test_second_derivatives_of_powers_at_zero() -> None:
    assert _second(lambda x: x**0, [0, 1]) == [FLAT]
    assert _second(lambda x: x**1, [0, 1]) == [FLAT]
    assert _second(lambda x: x**2, [0, 1]) == [[2, 2]]
    first, second = _second(nd.broadcast_power, [0, 0, 0], [0, 2, 3])
    assert (first, second) == ([0, 2, 0], [0, 0, 0])


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lengths_and_angles_are_flat_at_the_origin(dtype: str, hybridize: bool) -> None:
    functions: Sequence[tuple[Callable[..., Any], Any]] = (
        (nd.broadcast_hypot, nd.array),
        (mnp.hypot, mnp.array),
        (mnp.arctan2, mnp.array),
    )
    for function, array in functions:
        found = _gradients(function, FLAT, FLAT, dtype=dtype, hybridize=hybridize, array=array)
        assert found == [FLAT, FLAT]
    found = _gradients(mnp.arctan2, [3], [4], dtype=dtype, hybridize=hybridize, array=mnp.array)
    np.testing.assert_allclose(found, [[0.16], [-0.12]], rtol=1e-2)


def test_an_angle_of_a_point_whose_square_leaves_the_range() -> None:
    for size in (2.0**-100, 2.0**100):
        found = _gradients(mnp.arctan2, [size], [size], array=mnp.array)
        np.testing.assert_allclose(found, [[0.5 / size], [-0.5 / size]], rtol=1e-6)
        found = _gradients(mnp.arctan2, [0], [size], array=mnp.array)
        np.testing.assert_allclose(found, [[1 / size], [0]], rtol=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
def test_deviations_of_equal_elements_are_flat(hybridize: bool) -> None:
    for function in (mnp.std, mnp.var):
        found = _gradients(function, [2, 2, 2], hybridize=hybridize, array=mnp.array)
        assert found[0] == [0, 0, 0]
    found = _gradients(
        lambda x: mnp.std(x, axis=1), [[2, 2], [1, 3]], hybridize=hybridize, array=mnp.array
    )
    np.testing.assert_allclose(found[0], [[0, 0], [-0.5, 0.5]], rtol=1e-6)


def test_zero_modulo_zero_is_flat() -> None:
    found = _gradients(nd.broadcast_mod, [0, 3], [0, 2])
    assert found == [[1, 1], [0, -1]]
    assert _gradients(lambda b: 0 % b, [0, 3]) == [[0, 0]]
    assert _second(nd.broadcast_hypot, FLAT, FLAT) == [FLAT, FLAT]
    assert _second(nd.norm, FLAT) == [FLAT]
    assert _second(lambda x: nd.norm(x) ** 2, FLAT) == [FLAT]


def test_densities_at_the_edges_of_their_ranges() -> None:
    def run(name: str, *values: Any) -> tuple[list[float], list[Any]]:
        function = getattr(nd.random, f"pdf_{name}", None) or getattr(nd, f"random_pdf_{name}")
        inputs = [nd.array(v, dtype="float64") for v in values]
        density = function(*inputs).asnumpy().ravel().tolist()
        slopes = [
            _gradients(
                lambda x, i=i: function(*inputs[:i], x, *inputs[i + 1 :]), v, dtype="float64"
            )
            for i, v in enumerate(values)
        ]
        return density, [slope[0] for slope in slopes]

    # x b^2 exp(-b x) of shape 2, and b exp(-b x) of shape 1, at 0.
    density, (of_x, _, of_beta) = run("gamma", [[0.0], [0.0]], [2.0, 1.0], [3.0, 3.0])
    np.testing.assert_allclose(density, [0, 3])
    np.testing.assert_allclose(of_x, [[9], [-9]])
    np.testing.assert_allclose(of_beta, [0, 1])
    density, (_, of_rate) = run("poisson", [[0.0, 1, 2]], [0.0])
    np.testing.assert_allclose(density, [1, 0, 0])
    np.testing.assert_allclose(of_rate, [0])  # -1 + 1 + 0
    density, (_, of_rate) = run("exponential", [[2.0]], [0.0])
    assert (density, of_rate) == ([0], [1])
    # 6 x y with z = 1 - x - y, without z: alpha (2, 2, 1).
    density, (of_x, of_alpha) = run("dirichlet", [[0.0, 0.5, 0.5]], [2.0, 2, 1])
    np.testing.assert_allclose(density, [0], atol=1e-12)
    np.testing.assert_allclose(of_x, [[12, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(of_alpha, [0, 0, 0], atol=1e-12)
