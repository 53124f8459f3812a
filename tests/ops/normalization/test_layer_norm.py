from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.normalization.layer_norm import LAYER_NORM
from tests.checking.check_operator import check_operator

_RANDOM = np.random.default_rng(9)


def _normalized(data: Any, gamma: Any, beta: Any) -> Any:
    centred = data - data.mean(-1, keepdims=True)
    return centred / np.sqrt(data.var(-1, keepdims=True) + 1e-5) * gamma + beta


def test_the_last_axis_is_normalized() -> None:
    inputs = [_RANDOM.standard_normal(shape) for shape in ((3, 5), (5,), (5,))]
    check_operator(LAYER_NORM, inputs, {}, _normalized, zero_size=[inputs[0][:0], *inputs[1:]])


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_any_axis_is_differentiable_twice(axis: int) -> None:
    n = (4, 3, 2)[axis]
    inputs = [_RANDOM.standard_normal(shape) for shape in ((4, 3, 2), (n,), (n,))]
    check_operator(LAYER_NORM, inputs, {"axis": axis, "eps": 0.01}, half_tolerance=5e-2)


def test_a_vector_is_differentiable_twice() -> None:
    inputs = [_RANDOM.standard_normal(shape) for shape in ((6,), (6,), (6,))]
    check_operator(LAYER_NORM, inputs, {}, _normalized)


def test_gamma_of_another_shape_is_refused() -> None:
    specs = [Spec(s, np.dtype(np.float32)) for s in ((2, 3), (2,), (3,))]
    with pytest.raises(OperatorError, match="LayerNorm: expected data with 2 channels"):
        LAYER_NORM.infer(*specs, **LAYER_NORM.schema.defaults)


def test_parameters_follow_from_the_data() -> None:
    inputs = [PartialSpec((2, 5, 3), np.dtype(np.float32)), PartialSpec(), PartialSpec()]
    outputs = [PartialSpec()] * 3
    attrs = {**LAYER_NORM.schema.defaults, "axis": 1}
    LAYER_NORM.complete(inputs, outputs, attrs)  # type: ignore[misc]
    assert inputs[1] == inputs[2] == PartialSpec((5,), np.dtype(np.float32))
    assert outputs[2].shape == (2, 1, 3)


def test_axis_that_is_not_there_is_refused_before_parameters_are_known() -> None:
    inputs = [PartialSpec((2, 3), None), PartialSpec(None, None), PartialSpec(None, None)]
    outputs = [PartialSpec(None, None)] * 3
    assert LAYER_NORM.complete is not None
    with pytest.raises(OperatorError, match=r"expected axis in \[-2, 2\)"):
        LAYER_NORM.complete(inputs, outputs, {"axis": 5, "eps": 1e-5, "output_mean_var": False})
