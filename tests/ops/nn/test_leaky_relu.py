import math
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from tests.checking.check_operator import check_operator

_DATA = np.random.default_rng(4).standard_normal((3, 4, 2)) * 2


def _attrs(**given: Any) -> dict[str, Any]:
    return LEAKY_RELU.schema.parse("LeakyReLU", given)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("leaky", lambda x: np.where(x > 0, x, 0.3 * x)),
        ("elu", lambda x: np.where(x > 0, x, 0.3 * np.expm1(x))),
        (
            "selu",
            lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        ),
        ("gelu", lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2),
        ("gelu_erf", lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2),
        (
            "gelu_tanh",
            lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
        ),
        ("gelu_sigmoid", lambda x: x / (1 + np.exp(-1.702 * x))),
    ],
)
def test_each_function_and_its_gradients(name: str, expected: Any) -> None:
    check_operator(LEAKY_RELU, [_DATA], {"act_type": name, "slope": 0.3}, expected)


@pytest.mark.parametrize("gamma", [(4,), (1,), (4, 1), (3, 4, 2)])
def test_prelu_broadcasts_its_slopes(gamma: tuple[int, ...]) -> None:
    slopes = np.random.default_rng(5).uniform(0.1, 0.5, gamma)
    factor = slopes.reshape(4, 1) if gamma == (4,) else slopes
    check_operator(
        LEAKY_RELU,
        [_DATA, slopes],
        {"act_type": "prelu"},
        lambda x, _: np.where(x > 0, x, factor * x),
    )


@pytest.mark.parametrize("gamma", [(3, 4), (1, 4), (3, 1)])
def test_matrix_of_slopes_runs_along_samples_and_channels(gamma: tuple[int, ...]) -> None:
    slopes = np.random.default_rng(5).uniform(0.1, 0.5, gamma)
    check_operator(
        LEAKY_RELU,
        [_DATA, slopes],
        {"act_type": "prelu"},
        lambda x, _: np.where(x > 0, x, slopes[..., None] * x),
    )


@pytest.mark.parametrize("gamma", [(4, 16), (1, 16)])
def test_generated_kernels_read_a_matrix_of_slopes_alike(gamma: tuple[int, ...]) -> None:
    r = np.random.default_rng(6)
    x, g = (r.standard_normal(s).astype(np.float32) for s in ((4, 16, 16, 16), gamma))
    symbol = mx.sym.LeakyReLU(mx.sym.var("x"), mx.sym.var("g"), act_type="prelu") * 2
    out = symbol.bind(mx.cpu(), {"x": mx.nd.array(x), "g": mx.nd.array(g)}).forward()[0]
    expected = 2 * np.where(x > 0, x, g[..., None, None] * x)
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-6)


def test_unknown_extents_of_a_matrix_of_slopes_follow_from_the_data() -> None:
    symbol = mx.sym.LeakyReLU(mx.sym.var("x"), mx.sym.var("g"), act_type="prelu")
    assert symbol.infer_shape(x=(2, 3, 4), g=(0, 3))[0] == [(2, 3, 4), (2, 3)]
    assert symbol.infer_shape(x=(2, 3, 4), g=(1, 0))[0] == [(2, 3, 4), (1, 3)]


def test_rrelu_draws_slopes_in_training() -> None:
    def both(x: Any) -> Any:
        out = np.empty_like(x), np.empty_like(x)
        LEAKY_RELU.kernel(np, out, x, **_attrs(act_type="rrelu"), train=True, key=(1, 1))
        return out

    out, slopes = both(-np.ones(500))
    np.testing.assert_array_equal(out, -slopes)
    assert 0.125 <= slopes.min() < 0.14
    assert 0.31 < slopes.max() <= 0.334
    np.testing.assert_array_equal(both(np.ones(3)), np.ones((2, 3)))


def test_only_rrelu_takes_random_numbers() -> None:
    kinds = ("elu", "gelu", "gelu_tanh", "gelu_sigmoid", "leaky", "prelu", "rrelu", "selu")
    drawing = [kind for kind in kinds if LEAKY_RELU.draws(_attrs(act_type=kind))]
    assert drawing == ["rrelu"]


def test_rrelu_takes_the_mean_slope_outside_training() -> None:
    mean = (0.125 + 0.334) / 2
    out = np.empty_like(_DATA), np.empty_like(_DATA)
    attrs = _attrs(act_type="rrelu")
    LEAKY_RELU.kernel(np, out, _DATA, **attrs, train=False, key=(1, 1))
    np.testing.assert_allclose(out[1], np.where(_DATA > 0, 1, mean))
    np.testing.assert_allclose(out[0], _DATA * out[1])


def test_rrelu_is_differentiable_with_the_slopes_it_drew() -> None:
    # Numbers of float16 are drawn in float32, those of float64 are not: they cannot be compared.
    check_operator(LEAKY_RELU, [_DATA], {"act_type": "rrelu"}, half=False)


def test_gamma_that_does_not_broadcast_is_refused() -> None:
    specs = [Spec((2, 2), np.dtype(np.float32)), Spec((3,), np.dtype(np.float32))]
    with pytest.raises(OperatorError, match="expected gamma that broadcasts along axis 1"):
        LEAKY_RELU.infer(*specs, **_attrs(act_type="prelu"))


def test_gamma_follows_from_the_data() -> None:
    inputs = [PartialSpec((2, 5, 3), np.dtype(np.float32)), PartialSpec()]
    outputs = [PartialSpec()]
    LEAKY_RELU.complete(inputs, outputs, _attrs(act_type="prelu"))  # type: ignore[misc]
    assert inputs[1] == PartialSpec((5,), np.dtype(np.float32))
    assert outputs[0] == inputs[0]
