"""Steps by sign, FTRL and FTML beyond the golden cases."""

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import OperatorError


def test_signsgd_takes_steps_of_one_length_whatever_the_scale() -> None:
    weight, grad = nd.zeros(3), nd.array([3, -0.1, 0])
    for scale in (1.0, 0.001):
        new = nd.signsgd_update(weight, grad, lr=0.5, rescale_grad=scale, clip_gradient=0.01)
        assert new.asnumpy().tolist() == [-0.5, 0.5, 0]


@pytest.mark.parametrize(
    ("name", "states", "attrs"),
    [
        ("signum_update", 1, {"lr": 0.01, "momentum": 0.9}),
        ("ftrl_update", 2, {"lr": 1.0}),
        ("ftml_update", 3, {"lr": 0.1}),
    ],
)
def test_steps_go_down_a_parabola(name: str, states: int, attrs: dict[str, float]) -> None:
    weight = nd.array([1.0, -0.5])
    kept = [nd.zeros(2) for _ in range(states)]
    for step in range(200):
        extra = {"t": step + 1} if name == "ftml_update" else {}
        getattr(nd, name)(weight, weight - 0.25, *kept, **attrs, **extra, out=weight)
    np.testing.assert_allclose(weight.asnumpy(), [0.25, 0.25], atol=0.1)


def test_ftrl_keeps_small_weights_at_zero() -> None:
    new = nd.ftrl_update(nd.zeros(2), nd.array([0.01, 5]), nd.zeros(2), nd.zeros(2), lr=1, lamda1=1)
    assert new.asnumpy()[0] == 0
    assert new.asnumpy()[1] < 0


def test_step_zero_of_ftml_is_refused() -> None:
    with pytest.raises(OperatorError, match="t to be an int of at least 1"):
        nd.ftml_update(*[nd.ones(2)] * 5, lr=0.1, t=0)
