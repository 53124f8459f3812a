from typing import Any

import numpy as np
import pytest

import gluonish as mx


def normalized(*, train: bool, **attrs: Any) -> Any:
    data = mx.nd.array(np.arange(12.0).reshape(2, 3, 2))
    arrays = [mx.nd.array([value] * 3) for value in (1.0, 0.0, 2.0, 4.0)]
    with mx.autograd.record(train_mode=train):
        return mx.nd.contrib.SyncBatchNorm(data, *arrays, key="k", **attrs).asnumpy()


def test_statistics_of_several_devices_are_refused_in_training() -> None:
    with pytest.raises(ValueError, match=r"SyncBatchNorm: .*expected ndev 1 in training, got 2"):
        normalized(train=True, ndev=2)


def test_number_of_devices_does_not_matter_for_prediction() -> None:
    np.testing.assert_array_equal(normalized(train=False, ndev=2), normalized(train=False))


def test_nor_where_the_moving_statistics_are_used() -> None:
    got = normalized(train=True, ndev=2, use_global_stats=True)
    np.testing.assert_array_equal(got, normalized(train=False))
