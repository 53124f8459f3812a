from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentTypeError
from gluonish.loss import L2Loss, Loss


def test_weight_that_is_no_number_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="L2Loss: expected weight to be a number"):
        L2Loss(weight="a")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="L2Loss: expected weight to be a number"):
        L2Loss(weight=nd.array([1.0]))  # type: ignore[arg-type]


def test_weight_zero_is_a_weight() -> None:
    assert L2Loss(weight=0)(nd.ones((2, 3)), nd.zeros((2, 3))).asnumpy().tolist() == [0, 0]


def test_user_may_derive_a_loss() -> None:
    class Cubed(Loss):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(None, 0, **kwargs)

        def hybrid_forward(self, F: ModuleType, pred: Any, label: Any) -> Any:
            return F.mean((pred - label) ** 3, axis=self._batch_axis, exclude=True)

    compute = Cubed(prefix="cubed_")
    assert compute.name == "cubed"
    assert repr(compute) == "Cubed(batch_axis=0, w=None)"
    assert compute(nd.full((2, 3), 3.0), nd.ones((2, 3))).asnumpy().tolist() == [8, 8]


@pytest.mark.parametrize("make", [list, tuple])
def test_sample_weight_silences_samples(make: Callable[..., Any]) -> None:
    result = L2Loss()(nd.ones((2, 3)), nd.zeros((2, 3)), nd.array(make([[1], [0]])))
    np.testing.assert_allclose(result.asnumpy(), [0.5, 0])
