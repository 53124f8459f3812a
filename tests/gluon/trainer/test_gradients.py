"""What stands in for gradients that are not new."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer.gradients import new_gradients, zero_stale


def on_two_devices(grad_stype: str) -> Parameter:
    """Return a parameter whose gradients are new on the second device only: 1, and 2."""
    parameter = Parameter("weight", shape=(3, 2), grad_stype=grad_stype)
    parameter.initialize(mx.init.One(), [mx.cpu(0), mx.cpu(1)])
    for gradient, value in zip(parameter.list_grad(), (1, 2), strict=True):
        ones = mx.nd.ones(gradient.shape, gradient.context) * value
        gradient[:] = ones.tostype(grad_stype)
    parameter.list_data()[1]._fresh_grad = True
    return parameter


def values(arrays: list[mx.nd.NDArray]) -> list[float]:
    return [float(np.unique(array.asnumpy()).item()) for array in arrays]


@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_old_gradients_become_0(grad_stype: str) -> None:
    parameter = on_two_devices(grad_stype)
    zero_stale(parameter)
    assert values(parameter.list_grad()) == [0, 2]


@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_zeros_stand_in_for_old_gradients_which_stay(grad_stype: str) -> None:
    parameter = on_two_devices(grad_stype)
    new = new_gradients(parameter)
    assert new is not None
    assert values(new) == [0, 2]
    assert values(parameter.list_grad()) == [1, 2]


def test_gradients_stay_where_none_is_new() -> None:
    parameter = on_two_devices("default")
    parameter.list_data()[1]._fresh_grad = False
    zero_stale(parameter)
    assert values(parameter.list_grad()) == [1, 2]
    assert new_gradients(parameter) is None
