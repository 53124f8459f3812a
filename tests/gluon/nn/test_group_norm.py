import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.gluon import nn
from gluonish.ndarray import array, ones


def test_each_group_of_a_sample_has_mean_0_and_variance_1() -> None:
    layer = nn.GroupNorm(2)
    layer.initialize()
    x = np.random.default_rng(3).standard_normal((3, 4, 5)) * 7 + 2
    rows = layer(array(x)).asnumpy().reshape(3, 2, -1)
    np.testing.assert_allclose(rows.mean(2), 0, atol=1e-5)
    np.testing.assert_allclose(rows.var(2), 1, rtol=1e-4)


def test_channels_of_an_instance_may_be_at_any_axis() -> None:
    x = np.random.default_rng(3).standard_normal((3, 4, 5, 2))
    first, last = nn.InstanceNorm(), nn.InstanceNorm(axis=-1)
    for layer in (first, last):
        layer.initialize()
    y = last(array(np.moveaxis(x, 1, -1))).asnumpy()
    np.testing.assert_allclose(np.moveaxis(y, -1, 1), first(array(x)).asnumpy(), atol=1e-5)
    assert last.gamma.shape == (4,)


def test_gamma_of_an_instance_is_trained_on_request() -> None:
    assert nn.InstanceNorm().gamma.grad_req == "null"
    assert nn.InstanceNorm(scale=True).gamma.grad_req == "write"
    assert nn.GroupNorm(center=False).beta.grad_req == "null"


def test_groups_that_do_not_divide_the_channels_are_refused() -> None:
    layer = nn.GroupNorm(3)
    layer.initialize()
    with pytest.raises(OperatorError, match="num_groups=3 divides"):
        layer(ones((2, 4, 3)))
