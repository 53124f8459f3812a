"""`vjp`, `jvp`, `jacobian` and `hessian`, against PyTorch's and differences in float64."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from gluonish import autograd, nd, np
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn
from tests.golden.functional_cases import A, B, U, V, energy, network, pair

GOLDEN = Path(__file__).parents[1] / "golden" / "functional.npz"


def of(value: onp.ndarray[Any, Any]) -> Any:
    return np.array(value, dtype="float64")


def check(name: str, value: Any, golden: Any) -> None:
    if isinstance(value, tuple):
        assert f"{name} {len(value)}" not in golden
        for number, item in enumerate(value):
            check(f"{name} {number}", item, golden)
    else:
        assert isinstance(value, np.ndarray)
        assert value.shape == golden[name].shape
        onp.testing.assert_allclose(value.asnumpy(), golden[name], rtol=1e-12, atol=1e-12)


def results() -> dict[str, Any]:
    inputs, u = (of(A), of(B)), tuple(map(of, U))
    return {
        "vjp": autograd.vjp(partial(network, np), inputs, of(V)),
        "jvp": autograd.jvp(partial(network, np), inputs, u),
        "jvp pair": autograd.jvp(partial(pair, np), inputs, u),
        "jacobian": autograd.jacobian(partial(pair, np), inputs),
        "hessian": autograd.hessian(partial(energy, np), inputs),
    }


def test_results_are_those_of_pytorch() -> None:
    with onp.load(GOLDEN) as golden:
        for name, value in results().items():
            check(name, value, golden)


def test_results_inside_record_are_the_same() -> None:
    with autograd.record(), onp.load(GOLDEN) as golden:
        for name, value in results().items():
            check(name, value, golden)


def differences(
    f: Callable[[Any], Any], x: onp.ndarray[Any, Any], step: float = 1e-5
) -> onp.ndarray[Any, Any]:
    """Return the Jacobian by central differences, of shape (*output, *x)."""
    columns = []
    for index in onp.ndindex(*x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        high, low = (f(nd.array(value, dtype="float64")).asnumpy() for value in moved)
        columns.append((high - low) / (2 * step))
    return onp.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


X = onp.random.default_rng(1).uniform(0.5, 1.5, size=(2, 3))
FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: nd.softmax(x, axis=1),
    lambda x: nd.sqrt(x) * nd.sum(nd.log(x), axis=0, keepdims=True),
    lambda x: nd.dot(x, nd.transpose(x)),
    lambda x: nd.LayerNorm(x, nd.ones(3, dtype="float64"), nd.zeros(3, dtype="float64")),
    lambda x: nd.relu(x - 1) + nd.concat(x[:, 1:], x[:, :1], dim=1),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives_are_those_of_differences(function: Callable[[Any], Any]) -> None:
    x = nd.array(X, dtype="float64")
    expected = differences(function, X)
    found = autograd.jacobian(function, x)
    assert type(found) is nd.NDArray
    onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-7, atol=1e-8)
    out, along = autograd.jvp(function, x, x)
    onp.testing.assert_allclose(out.asnumpy(), function(x).asnumpy())
    onp.testing.assert_allclose(along.asnumpy(), (expected * X).sum((-2, -1)), rtol=1e-7, atol=1e-8)
    _, back = autograd.vjp(function, x, out)
    onp.testing.assert_allclose(
        back.asnumpy(), onp.tensordot(out.asnumpy(), expected, 2), rtol=1e-7, atol=1e-8
    )
    total = lambda x: (function(x) ** 3).sum()  # noqa: E731
    onp.testing.assert_allclose(
        autograd.hessian(total, x).asnumpy(),
        differences(lambda x: autograd.vjp(total, x)[1], X),
        rtol=1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize("xp", [nd, np])
def test_nested_derivatives_of_a_power(xp: Any) -> None:
    def power(x: Any) -> Any:
        return x**5

    function = power
    for _ in range(3):
        function = partial(autograd.jacobian, function)
    x = xp.array([2.0])
    assert function(x).reshape(-1).tolist() == [60 * 2.0**2]
    _, third = autograd.jvp(lambda x: autograd.hessian(power, x), x, xp.array([1.0]))
    assert third.reshape(-1).tolist() == [240.0]
    _, mixed = autograd.vjp(lambda x: autograd.jvp(power, x, x * x)[1], x)  # (5 x^4 * x^2)' by x
    assert mixed.tolist() == [30 * 2.0**5]


@pytest.mark.parametrize("xp", [nd, np])
def test_results_in_record_reach_arrays_with_gradients(xp: Any) -> None:
    x, w = xp.array([1.0, 2.0]), xp.array([3.0, 4.0])
    for array in (x, w):
        array.attach_grad()
    with autograd.record():
        y = x * 2
        _, slope = autograd.vjp(lambda y: (w * y**3).sum(), y)  # 3 w y^2
        loss = slope.sum()
    loss.backward()
    assert x.grad.tolist() == [6 * 3 * 2 * 2, 6 * 4 * 4 * 2]
    assert w.grad.tolist() == [3 * 4, 3 * 16]


def test_outputs_are_not_recorded_outside_record() -> None:
    x = nd.array([1.0])
    x.attach_grad()
    x.grad[:] = 7
    for out, product in (autograd.vjp(nd.exp, x), autograd.jvp(nd.exp, x)):
        assert out._edge is None
        assert product._edge is None
    assert x.grad.tolist() == [7.0]
    assert not autograd.is_recording()


def test_unused_inputs_and_constant_outputs_have_zeros() -> None:
    x, y = nd.array([1.0, 2.0]), nd.array([[3.0]])
    first, second = autograd.jacobian(lambda x, y: x * 2, (x, y))
    assert first.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert second.tolist() == [[[0.0]], [[0.0]]]
    constant = nd.ones(2)
    assert autograd.vjp(lambda x: constant, x, x)[1].tolist() == [0.0, 0.0]
    assert autograd.jvp(lambda x: constant, x, x)[1].tolist() == [0.0, 0.0]
    assert autograd.hessian(lambda x: x.sum(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert autograd.jacobian(lambda x: x, x).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_scalars_and_empty_arrays_of_np_keep_their_shapes() -> None:
    assert autograd.hessian(lambda x: x**3, np.array(2.0)).shape == ()
    assert autograd.jacobian(lambda x: x.sum(), np.ones((2, 3))).shape == (2, 3)
    assert autograd.jacobian(lambda x: x * 2, np.ones((0, 3))).shape == (0, 3, 0, 3)


def test_networks_run_in_the_mode_of_the_caller() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="tanh"), nn.Dropout(0.5), nn.Dense(2))
    net.initialize()
    x = nd.array(X)
    plain = autograd.jacobian(net, x).asnumpy()
    onp.testing.assert_array_equal(plain, autograd.jacobian(net, x).asnumpy())
    net.hybridize()
    onp.testing.assert_allclose(autograd.jacobian(net, x).asnumpy(), plain, rtol=1e-5, atol=1e-6)
    onp.testing.assert_allclose(
        autograd.jvp(net, x, x)[1].asnumpy(), (plain * X).sum((-2, -1)), rtol=1e-4, atol=1e-5
    )


ONE = nd.ones(1)
TWO = nd.ones(2)
REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: autograd.vjp(3, ONE), ArgumentTypeError, "vjp: expected a function, got int"),  # type: ignore[arg-type]
    (lambda: autograd.vjp(nd.exp, ()), ArgumentError, "at least one input"),
    (lambda: autograd.vjp(nd.exp, 1.0), ArgumentTypeError, "got float"),  # type: ignore[arg-type]
    (lambda: autograd.vjp(nd.exp, [1.0]), ArgumentTypeError, "got float as input 0"),  # type: ignore[list-item]
    (lambda: autograd.vjp(nd.exp, ONE.astype("int32")), ArgumentTypeError, "int32 as input 0"),
    (lambda: autograd.jacobian(lambda x: None, ONE), ArgumentTypeError, "outputs .* got NoneType"),
    (lambda: autograd.jacobian(nd.argmax_channel, TWO.astype("int32")), ArgumentTypeError, "int32"),
    (lambda: autograd.vjp(nd.exp, TWO), ArgumentError, r"outputs of \[2\] elements, got None"),
    (lambda: autograd.jvp(nd.exp, TWO), ArgumentError, r"inputs of \[2\] elements, got None"),
    (lambda: autograd.vjp(nd.exp, TWO, ONE), ArgumentError, "like output 0"),
    (lambda: autograd.jvp(nd.exp, TWO, (TWO, TWO)), ArgumentError, "1 arrays, one for each input"),
    (lambda: autograd.jvp(nd.exp, TWO, TWO.astype("float64")), ArgumentError, "like input 0"),
    (lambda: autograd.hessian(nd.exp, TWO), ArgumentError, r"one element, got \[2\]"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_bad_arguments_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
