"""swiglu and geglu: values, gradients of both orders, halves in place, kernels and refusals."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec
from gluonish.kernels.compiler import available
from gluonish.ops.nn.gated import GATED_BACKWARD, GEGLU, HALVES_BACKWARD, SWIGLU
from gluonish.ops.nn.gelu import FORMS, gelu, gelu_slope
from gluonish.ops.registry import find_operator
from tests.checking.check_operator import check_operator
from tests.checking.values import run_kernel, spec_of

_GOLDEN = np.load(Path(__file__).resolve().parents[2] / "golden" / "transformer_operators.npz")
_RANDOM = np.random.default_rng(3)
CALLS: list[tuple[str, dict[str, Any], str]] = [("swiglu", {}, "silu")] + [
    ("geglu", {"approximation": form}, form) for form in ("erf", "tanh", "sigmoid")
]
_each = pytest.mark.parametrize(("name", "attrs", "form"), CALLS)


def _exact(gate: Any, value: Any, form: str) -> Any:
    if form == "silu":
        return gate / (1 + np.exp(-gate)) * value
    return gelu(np, gate, form) * value


def _split(x: Any, axis: int, form: str) -> Any:
    gate, value = np.split(x, 2, axis)
    return _exact(gate, value, form)


def _normal(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape) * 2


@_each
def test_two_arrays(name: str, attrs: dict[str, Any], form: str) -> None:
    inputs = [_normal(3, 4), _normal(3, 4)]
    check_operator(name, inputs, {**attrs, "use_value": True}, lambda g, v: _exact(g, v, form))


@_each
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_halves_of_one_array(name: str, attrs: dict[str, Any], form: str, axis: int) -> None:
    check_operator(
        name,
        [_normal(2, 4, 6)],
        {**attrs, "axis": axis},
        lambda x: _split(x, axis, form),
        zero_size=[_normal(2, 4, 0)] if axis == 2 else None,
    )


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("case", ["swiglu", "geglu", "geglu_tanh"])
def test_values_and_gradients_are_those_of_pytorch(
    case: str, joined: bool, hybridize: bool
) -> None:
    name = case.removesuffix("_tanh")
    attrs = {"approximation": "tanh"} if case == "geglu_tanh" else {}
    arrays = [_GOLDEN[f"{case}.x0"], _GOLDEN[f"{case}.x1"]]
    grads = [_GOLDEN[f"{case}.dx0"], _GOLDEN[f"{case}.dx1"]]
    if joined:
        arrays, grads = [np.concatenate(arrays, -1)], [np.concatenate(grads, -1)]
    inputs = list(map(mx.nd.array, arrays))
    net = mx.gluon.nn.HybridLambda(lambda F, *x: getattr(F, name)(*x, **attrs))
    net.hybridize(hybridize)
    for x in inputs:
        x.attach_grad()
    with mx.autograd.record():
        y = net(*inputs)
    y.backward(mx.nd.array(_GOLDEN[f"{case}.head"]))
    found = [(y, _GOLDEN[f"{case}.y"])]
    found += [(x.grad, wanted) for x, wanted in zip(inputs, grads, strict=True)]
    for got, wanted in found:
        assert np.abs(got.asnumpy() - wanted).max() < 2e-6 * np.abs(wanted).max()


def _run(op: Any, inputs: list[Any], attrs: dict[str, Any]) -> list[Any]:
    kernel = op.select_fast("cpu", [spec_of(x) for x in inputs], attrs)
    assert kernel is not None
    assert kernel.name.startswith("generated.")
    return run_kernel(op, kernel.kernel, inputs, attrs, attrs)


def _near(got: Any, wanted: Any, tolerance: float) -> bool:
    return bool(np.abs(got.astype(np.float64) - wanted).max() < tolerance * np.abs(wanted).max())


@pytest.mark.skipif(not available(), reason="llvmlite is not there")
@_each
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("axis", [-1, 1])
def test_generated_kernels(
    name: str, attrs: dict[str, Any], form: str, dtype: str, axis: int
) -> None:
    if dtype == "float64" and form == "erf":
        pytest.skip("erf is computed in float32")
    narrow = getattr(ml_dtypes, dtype, dtype)
    tolerance = {"float32": 2e-6, "float64": 1e-14, "bfloat16": 8e-3}[dtype]
    data = _normal(6, 10, 50).astype(narrow)
    strided = np.repeat(data, 2, 0)[::2]
    gate, value = (x.astype(np.float64) for x in np.split(data, 2, axis))
    grad = _normal(*gate.shape).astype(narrow)
    wide = grad.astype(np.float64)
    back = [wide * gelu_slope(np, gate, form) * value, wide * gelu(np, gate, form)]
    op = find_operator(name)
    options = {"axis": axis, **attrs}
    for x in (data, strided):
        (got,) = _run(op, [x], {**options, "use_value": False})
        assert _near(got, _exact(gate, value, form), tolerance)
        (got,) = _run(HALVES_BACKWARD, [grad, x], {"axis": axis, "form": form})
        assert _near(got, np.concatenate(back, axis), tolerance)
    pair = [np.ascontiguousarray(x) for x in np.split(data, 2, axis)]
    (got,) = _run(op, pair, {**options, "use_value": True})
    assert _near(got, _exact(gate, value, form), tolerance)
    for found, wanted in zip(
        _run(GATED_BACKWARD, [grad, *pair], {"form": form}), back, strict=True
    ):
        assert _near(found, wanted, tolerance)


@pytest.mark.parametrize("form", FORMS)
def test_gradients_are_differentiable(form: str) -> None:
    check_operator(GATED_BACKWARD, [_normal(3, 4) for _ in "abc"], {"form": form})
    check_operator(HALVES_BACKWARD, [_normal(3, 2), _normal(3, 4)], {"form": form})


def test_numpy_arrays_are_taken() -> None:
    x = mx.np.array([[1.0, 2.0]])
    wanted = [[2 / (1 + np.exp(-1.0))]]
    np.testing.assert_allclose(mx.npx.swiglu(x).asnumpy(), wanted, rtol=1e-6)
    np.testing.assert_allclose(mx.npx.swiglu(x[:, :1], x[:, 1:]).asnumpy(), wanted, rtol=1e-6)
    assert mx.npx.geglu(x, approximation="tanh").shape == (1, 1)


def test_shapes_follow_from_each_other() -> None:
    attrs = {"axis": -1, "use_value": True}
    inputs = [PartialSpec(), PartialSpec((2, 3), None)]
    outputs = [PartialSpec(None, FLOAT32)]
    SWIGLU.complete(inputs, outputs, attrs)  # type: ignore[misc]
    assert inputs[0] == outputs[0] == PartialSpec((2, 3), FLOAT32)
    inputs, outputs = [PartialSpec((2, 6), FLOAT32)], [PartialSpec()]
    GEGLU.complete(inputs, outputs, {**attrs, "use_value": False})  # type: ignore[misc]
    assert outputs[0] == PartialSpec((2, 3), FLOAT32)


def test_arrays_that_do_not_fit_are_refused() -> None:
    x = mx.nd.ones((2, 3))
    with pytest.raises(OperatorError, match=r"swiglu: expected data whose axis 1 has two halves"):
        mx.nd.swiglu(x)
    with pytest.raises(OperatorError, match=r"geglu: expected value float32\(2, 3\), like data"):
        mx.nd.geglu(x, mx.nd.ones((2, 1)))
    with pytest.raises(OperatorError, match="swiglu: expected floating data, got int32"):
        mx.nd.swiglu(x.astype("int32"), x.astype("int32"))
    with pytest.raises(OperatorError, match=r"expected axis in \[-2, 2\)"):
        mx.nd.swiglu(x, axis=2)


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("name", ["swiglu", "geglu"])
def test_replays_of_a_graph_read_the_halves_of_each_array(name: str, axis: int) -> None:
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return getattr(F, name)(x, axis=axis) + getattr(F, name)(x * 2, axis=axis)

    net = Net()
    batches = [mx.nd.random.normal(shape=(4, 64, 32)) for _ in range(4)]
    want = [net(x).asnumpy() for x in batches]
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(2):
        for x, expected in zip(batches, want, strict=True):
            np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6, atol=1e-6)
