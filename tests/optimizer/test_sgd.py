"""Groups of weights."""

import numpy as np
import pytest

from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.lr_scheduler import FactorScheduler
from gluonish.ndarray import array
from gluonish.optimizer import SGD, ccSGD, create, get_updater


def trained(size: int, dtype: str, momentum: float) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    shapes = [(3,), (2, 2), (1,), (4, 2), (5,)]
    with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(size):
        optimizer = SGD(
            momentum=momentum,
            wd=0.01,
            multi_precision=True,
            lr_scheduler=FactorScheduler(1, 0.7, base_lr=0.3),
        )
    assert optimizer.aggregate_num == size
    updater = get_updater(optimizer)
    weights = [array(rng.normal(size=s), dtype=dtype) for s in shapes]
    for step in range(4):
        gradients = [array(rng.normal(size=s), dtype=dtype) for s in shapes]
        used = [i for i in range(5) if step != 1 or i % 2]
        updater(used, [gradients[i] for i in used], [weights[i] for i in used])
    return [w.asnumpy() for w in weights]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("size", [2, 4, 60])
def test_size_of_groups_does_not_change_a_bit(size: int, momentum: float, dtype: str) -> None:
    alone = trained(1, dtype, momentum)
    for one, other in zip(alone, trained(size, dtype, momentum), strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_weight_may_be_updated_without_lists() -> None:
    optimizer = SGD(learning_rate=0.5)
    weight = array([1.0, 2.0])
    optimizer.update(0, weight, array([2.0, 2.0]), optimizer.create_state(0, weight))
    assert weight.asnumpy().tolist() == [0.0, 1.0]


def test_groups_hold_one_dtype() -> None:
    weights = [array([1.0]), array([1.0], dtype="float64"), array([1.0])]
    updater = get_updater(SGD(learning_rate=1.0, momentum=0.5))
    updater([0, 1, 2], [w.copy() for w in weights], weights)
    assert [w.asnumpy()[0] for w in weights] == [0.0, 0.0, 0.0]


def test_old_name_still_creates_it() -> None:
    assert type(create("ccsgd")) is ccSGD
