"""Test, the optimizer."""

from gluonish.ndarray import array
from gluonish.optimizer import Test, get_updater


def test_weight_gains_the_gradient_and_nothing_else_counts() -> None:
    optimizer = Test(learning_rate=7.0, wd=3.0, clip_gradient=0.1, rescale_grad=0.5)
    weight, updater = array([1.0, 2.0]), get_updater(optimizer)
    updater(0, array([2.0, -4.0]), weight)
    assert weight.asnumpy().tolist() == [2.0, 0.0]
    assert updater.states[0].asnumpy().tolist() == [2.0, 0.0]
    assert optimizer.num_update == 0
