from typing import Any

import numpy as np
import pytest

from gluonish.ops.fused.operator import FUSED_DENSE
from tests.checking.check_operator import check_operator

_RANDOM = np.random.default_rng(3)


def _normal(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape)


@pytest.mark.parametrize("packed", [False, True])
def test_it_is_the_dense_layer_with_a_sum_and_a_function(packed: bool) -> None:
    inputs = [_normal(3, 2, 4), _normal(5, 8), _normal(5), _normal(3, 5)]
    attrs = {"num_hidden": 5, "with_sum": True, "activation": "tanh", "packed": packed}
    check_operator(
        FUSED_DENSE,
        inputs,
        attrs,
        lambda x, w, b, a: np.tanh(x.reshape(3, 8) @ w.T + b + a),
        half_tolerance=5e-2,
    )


@pytest.mark.parametrize("activation", [None, "relu", "gelu", "gelu_tanh"])
def test_on_the_last_axis_without_a_bias(activation: str | None) -> None:
    inputs = [_normal(3, 2, 4), _normal(5, 4)]
    attrs = {"num_hidden": 5, "no_bias": True, "flatten": False, "activation": activation}
    check_operator(FUSED_DENSE, inputs, attrs, half_tolerance=5e-2)
