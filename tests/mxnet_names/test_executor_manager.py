"""`mx.executor_manager`. Expectations are MXNet 1.9.1's."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import executor_manager


def network() -> Any:
    line = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(line, name="softmax")


def data() -> mx.io.NDArrayIter:
    values = np.arange(24, dtype="float32").reshape(8, 3) / 10
    return mx.io.NDArrayIter(values, np.arange(8) % 2, 4)


def manager(devices: int, **options: Any) -> executor_manager.DataParallelExecutorManager:
    made = executor_manager.DataParallelExecutorManager(
        network(), [mx.cpu(i) for i in range(devices)], data(), **options
    )
    weight = mx.nd.array([[1, 1, 1], [2, 2, 2]])
    made.set_params({"fc_weight": weight, "fc_bias": mx.nd.zeros(2)}, {})
    return made


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((10, [1, 1, 1]), [(0, 3), (3, 6), (6, 10)]),
        ((7, [3, 1]), [(0, 5), (5, 7)]),
        ((6, [1.0, 2.0]), [(0, 2), (2, 6)]),
    ],
)
def test_batch_is_cut_by_load(arguments: Any, parts: Any) -> None:
    found = executor_manager._split_input_slice(*arguments)
    assert [(part.start, part.stop) for part in found] == parts


def test_arguments_have_names_of_their_own() -> None:
    executor_manager._check_arguments(network())
    twice = mx.sym.Variable("x") + mx.sym.Variable("x")
    with pytest.raises(ValueError, match='Find duplicated argument name "x"'):
        executor_manager._check_arguments(twice)


@pytest.mark.parametrize(
    ("devices", "bias"),
    [
        (1, [[-1.1864446, 1.1864446]]),
        (2, [[-0.3429673, 0.3429673], [-0.8434773, 0.8434773]]),
    ],
)
def test_each_device_has_the_gradients_of_its_part(devices: int, bias: Any) -> None:
    made = manager(devices)
    assert made.param_names == ["fc_weight", "fc_bias"]
    (batch, *_) = data()
    made.load_data_batch(batch)
    made.forward(is_train=True)
    made.backward()
    found = [array.asnumpy() for array in made.grad_arrays[1]]
    np.testing.assert_allclose(found, bias, rtol=1e-5)
    metric = mx.metric.create("acc")
    made.update_metric(metric, batch.label)
    assert metric.get() == ("accuracy", 0.5)


def test_weights_are_copied_from_the_devices_into_given_arrays() -> None:
    weight, bias = mx.nd.zeros((2, 3)), mx.nd.ones(2)
    manager(2).copy_to({"fc_weight": weight, "fc_bias": bias}, {})
    np.testing.assert_array_equal(weight.asnumpy(), [[1, 1, 1], [2, 2, 2]])
    np.testing.assert_array_equal(bias.asnumpy(), [0, 0])


def test_there_is_a_load_for_each_device() -> None:
    with pytest.raises(AssertionError, match="Invalid settings for work load"):
        manager(1, work_load_list=[1, 2])
