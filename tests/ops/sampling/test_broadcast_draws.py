"""_draw_*: shapes, errors and the gradient by implicit reparameterization."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.numpy as mnp
from gluonish import autograd
from gluonish.core.errors import OperatorError
from gluonish.numpy.calls import call


def test_parameters_broadcast_to_the_size() -> None:
    mx.random.seed(1)
    n, p = mnp.array([[4.0], [9.0]]), mnp.array([0.2, 0.5, 1.0])
    drawn = call("_draw_binomial", (n, p), {"size": (5, 2, 3)}).asnumpy()
    assert drawn.shape == (5, 2, 3)
    assert (drawn[..., 2] == [4, 9]).all()
    assert (drawn <= [[4], [9]]).all()
    with pytest.raises(OperatorError, match="_draw_binomial: expected a size that the parameters"):
        call("_draw_binomial", (n, p), {"size": (3,)})


def test_dtype_is_floating() -> None:
    lam = mnp.array([3.0])
    assert call("_draw_poisson", (lam,), {"size": (2,), "dtype": "float64"}).dtype == "float64"
    with pytest.raises(OperatorError, match="_draw_poisson: expected a floating dtype, got int32"):
        call("_draw_poisson", (lam,), {"size": (2,), "dtype": "int32"})


def test_parameters_out_of_range_give_nan() -> None:
    wrong = mnp.array([-1.0])
    for name, inputs in (
        ("_draw_gamma", (wrong,)),
        ("_draw_poisson", (wrong,)),
        ("_draw_binomial", (wrong, mnp.array([0.5]))),
        ("_draw_negative_binomial", (mnp.array([1.0]), wrong)),
    ):
        assert np.isnan(call(name, inputs, {"size": (4,)}).asnumpy()).all(), name


@pytest.mark.parametrize("shape", [(), (3,), (2, 1)])
def test_gradient_is_summed_over_broadcast_axes(shape: tuple[int, ...]) -> None:
    alpha = mnp.full(shape, 1.0, dtype="float64")
    alpha.attach_grad()
    mx.random.seed(2)
    with autograd.record():
        drawn = call("_draw_gamma", (alpha,), {"size": (4, 2, 3), "dtype": "float64"})
    drawn.backward()
    slope: Any = call("_gamma_sample_slope", (mnp.ones_like(drawn), drawn)).asnumpy()
    axes = tuple(range(3 - len(shape)))
    expected = slope.sum(axes).reshape(slope.shape[3 - len(shape) :])
    expected = expected if shape != (2, 1) else expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(alpha.grad.asnumpy(), expected, rtol=1e-12)
