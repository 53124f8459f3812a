from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.gluon import nn

CLASSIC = mx.nd.array(np.arange(6).reshape(2, 3))
NUMPY = mx.np.array(np.arange(6, dtype=np.float32).reshape(2, 3))


class Twice(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:  # Gluon's name
        return x * 2


class Unsteady(mx.gluon.HybridBlock):
    """Twice its input while imperative, three times when hybridized."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x * 2 if isinstance(x, mx.nd.NDArray) else x * 3


class Halting(mx.gluon.HybridBlock):
    """The same output, but a gradient only while imperative."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x * 2 if isinstance(x, mx.nd.NDArray) else F.BlockGrad(x) * 2


@pytest.mark.parametrize("x", [CLASSIC, NUMPY])
def test_steady_blocks_pass(x: Any) -> None:
    check = test_utils.check_gluon_hybridize_consistency
    check(Twice, [x], numpy_func=lambda v: v * 2)
    check(lambda: nn.Dense(3), [x])
    check(lambda **options: nn.Dense(3, **options), [x])
    check(lambda prefix, params: nn.Dense(3, prefix=prefix, params=params), [x])
    check(nn.BatchNorm, [x])


@pytest.mark.parametrize("x", [CLASSIC, NUMPY])
def test_other_outputs_when_hybridized_fail(x: Any) -> None:
    with pytest.raises(AssertionError, match=r"imperative=.*hybridized="):
        test_utils.check_gluon_hybridize_consistency(Unsteady, [x])


def test_other_gradients_when_hybridized_fail_unless_not_asked_for() -> None:
    with pytest.raises(AssertionError, match="gradient of input 0"):
        test_utils.check_gluon_hybridize_consistency(Halting, [CLASSIC])
    test_utils.check_gluon_hybridize_consistency(Halting, [CLASSIC], test_grad=False)


def test_gradients_of_integers_are_compared() -> None:
    table = mx.nd.array([0, 2, 1], dtype="int32")
    test_utils.check_gluon_hybridize_consistency(lambda: nn.Embedding(3, 4), [table])
    for x in (CLASSIC.astype("int32"), NUMPY.astype("int64")):
        test_utils.check_gluon_hybridize_consistency(Twice, [x])
    with pytest.raises(AssertionError, match="gradient of input 0"):
        test_utils.check_gluon_hybridize_consistency(Halting, [CLASSIC.astype("int32")])


def test_output_is_held_against_numpy() -> None:
    with pytest.raises(AssertionError, match="numpy_func="):
        test_utils.check_gluon_hybridize_consistency(Twice, [NUMPY], lambda v: v * 3)
    test_utils.check_gluon_hybridize_consistency(Twice, [NUMPY], lambda v: v * 2.1, rtol=0.1)
