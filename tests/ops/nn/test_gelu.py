"""GELU's forms: PyTorch's values, generated kernels, the layer, and fused layers."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.elementwise import LargeKernel, compiled_at_once
from gluonish.ops.nn.gelu import FORMS, GELU_BACKWARD, gelu, gelu_slope
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from tests.checking.check_operator import check_operator

_GOLDEN = np.load(Path(__file__).resolve().parents[2] / "golden" / "transformer_operators.npz")
_X = np.random.default_rng(4).standard_normal((300, 250)) * 3
_TYPES = {"erf": "gelu", "tanh": "gelu_tanh", "sigmoid": "gelu_sigmoid"}


def _near(got: Any, wanted: Any, tolerance: float = 2e-6) -> bool:
    return bool(
        np.abs(np.asarray(got, np.float64) - wanted).max() < tolerance * np.abs(wanted).max()
    )


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("form", ["tanh", "sigmoid"])
def test_layers_and_gradients_are_those_of_pytorch(form: str, hybridize: bool) -> None:
    net = mx.gluon.nn.GELU(form)
    net.hybridize(hybridize)
    x = mx.nd.array(_GOLDEN[f"gelu_{form}.x0"])
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    y.backward(mx.nd.array(_GOLDEN[f"gelu_{form}.head"]))
    assert _near(y.asnumpy(), _GOLDEN[f"gelu_{form}.y"])
    assert _near(x.grad.asnumpy(), _GOLDEN[f"gelu_{form}.dx0"])


@pytest.mark.parametrize("form", FORMS)
def test_gradient_operator_is_differentiable(form: str) -> None:
    inputs = [_X[:3, :4], _X[3:6, :4]]
    check_operator(GELU_BACKWARD, inputs, {"form": form}, lambda g, x: g * gelu_slope(np, x, form))


@pytest.mark.skipif(not available(), reason="llvmlite is not there")
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("form", ["tanh", "sigmoid"])
def test_generated_kernels_compute_the_forms(form: str, dtype: str) -> None:
    x = _X.astype(getattr(ml_dtypes, dtype, dtype))
    exact = x.astype(np.float64)
    tolerance = {"float32": 1e-6, "float64": 1e-14, "bfloat16": 5e-3}[dtype]
    attrs = LEAKY_RELU.schema.parse("LeakyReLU", {"act_type": _TYPES[form]})
    out = np.empty_like(x)
    with compiled_at_once():
        LargeKernel(LEAKY_RELU)(np, out, x, **attrs, train=False)
        assert _near(out, gelu(np, exact, form), tolerance)
        LargeKernel(GELU_BACKWARD)(np, out, np.ones_like(x), x, form=form)
        assert _near(out, gelu_slope(np, exact, form), tolerance)


@pytest.mark.parametrize("form", _TYPES)
def test_a_dense_layer_applies_it(form: str) -> None:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(40, in_units=64), mx.gluon.nn.GELU(form))
    net.initialize(mx.init.Normal(0.3))
    x = mx.nd.array(_X[:50, :64])
    weight = net[0].weight.data().asnumpy().astype(np.float64)
    wanted = gelu(np, x.asnumpy().astype(np.float64) @ weight.T, form)
    net.hybridize(static_alloc=True)
    assert _near(net(x).asnumpy(), wanted, 1e-5)
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    y.backward()
    slope = gelu_slope(np, x.asnumpy().astype(np.float64) @ weight.T, form)
    assert _near(x.grad.asnumpy(), slope @ weight, 1e-5)


@pytest.mark.parametrize("form", _TYPES)
def test_far_values_and_nan_come_through(form: str) -> None:
    x = mx.nd.array([1e6, 1e12, -1e6, -1e12, np.nan, np.inf])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.LeakyReLU(x, act_type=_TYPES[form])
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), [1e6, 1e12, 0, 0, np.nan, np.inf], rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy()[:4], [1, 1, 0, 0])


def test_other_approximations_are_refused() -> None:
    with pytest.raises(ArgumentError, match="GELU: expected approximation erf, tanh or sigmoid"):
        mx.gluon.nn.GELU("exp")


def test_the_repr_says_an_approximation() -> None:
    assert repr(mx.gluon.nn.GELU("tanh")) == "GELU(tanh)"
    assert "tanh" not in repr(mx.gluon.nn.GELU())


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
@pytest.mark.parametrize("form", FORMS)
def test_integers_are_refused(dtype: str, form: str) -> None:
    whole, real = (Spec((3,), np.dtype(kind)) for kind in (dtype, "float32"))
    for specs, name in (((real, whole), "data"), ((whole, real), "grad")):
        message = f"_gelu_backward: expected floating {name}, got {dtype}"
        with pytest.raises(OperatorError, match=message):
            GELU_BACKWARD.infer(*specs, form=form)
