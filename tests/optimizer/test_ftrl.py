"""What distinguishes Ftrl; its numbers are compared in test_optimizer.py."""

from gluonish.lr_scheduler import FactorScheduler
from gluonish.ndarray import array
from gluonish.optimizer import Ftrl, get_updater


def test_weights_with_little_gradient_are_0() -> None:
    weight = array([0.0, 0.0])
    get_updater(Ftrl(lamda1=0.5))(0, array([0.4, 4.0]), weight)
    assert weight.asnumpy()[0] == 0.0
    assert weight.asnumpy()[1] < 0.0


def test_learning_rate_leaves_the_schedulers_as_in_mxnet() -> None:
    scheduler = FactorScheduler(1, base_lr=0.25)
    optimizer = Ftrl(learning_rate=0.5, lr_scheduler=scheduler)
    assert (optimizer.learning_rate, optimizer.lr) == (0.25, 0.5)


def test_without_a_learning_rate_it_has_that_of_all_optimizers() -> None:
    assert Ftrl(learning_rate=None).learning_rate == 0.01
    scheduler = FactorScheduler(10, base_lr=0.25)
    assert Ftrl(learning_rate=None, lr_scheduler=scheduler).learning_rate == 0.25
