"""GroupAdaGrad; its numbers are compared in test_optimizer.py."""

import numpy as np
import pytest

import gluonish.optimizer as optimizers
from gluonish.core.errors import ArgumentError
from gluonish.ndarray import array, zeros
from gluonish.optimizer import create, get_updater
from gluonish.optimizer.contrib import GroupAdaGrad


def test_rows_share_a_sum() -> None:
    weight, updater = array([[0.0, 0.0], [0.0, 0.0]]), get_updater(GroupAdaGrad(learning_rate=1.0))
    updater(0, array([[3.0, 4.0], [0.0, 0.0]]), weight)
    np.testing.assert_allclose(weight.asnumpy()[0], -np.array([3, 4]) / np.sqrt(12.5), rtol=1e-5)
    assert weight.asnumpy()[1].tolist() == [0.0, 0.0]
    assert updater.states[0].shape == (2, 1)


def test_weight_decay_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"GroupAdaGrad: expected wd 0, got 0\.5"):
        get_updater(GroupAdaGrad(wd=0.5))(0, zeros((2, 2)), zeros((2, 2)))


def test_weight_without_rows_is_refused() -> None:
    with pytest.raises(ArgumentError, match="weight with rows"):
        GroupAdaGrad().create_state(0, array(1.0).reshape(()))


def test_names_are_mxnets() -> None:
    assert type(create("groupadagrad")) is optimizers.contrib.GroupAdaGrad
    assert optimizers.optimizer.SGD is optimizers.SGD
    modules = {"adamW", "contrib", "optimizer", "utils"}
    assert set(optimizers.optimizer.__all__) == set(optimizers.__all__) - modules
    assert optimizers.adamW.AdamW is optimizers.AdamW
    assert optimizers.NDabs(array([-2.0])).asscalar() == 2.0
