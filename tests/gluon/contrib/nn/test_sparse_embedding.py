from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon
from gluonish.core.errors import ParameterError
from gluonish.gluon.contrib.nn import SparseEmbedding

ROWS, UNITS = 6, 3


def made(devices: int = 1, **options: Any) -> tuple[SparseEmbedding, gluon.Trainer, Any]:
    contexts = [mx.cpu(i) for i in range(devices)]
    layer = SparseEmbedding(ROWS, UNITS)
    table = np.arange(ROWS * UNITS, dtype=np.float32).reshape(ROWS, UNITS)
    layer.initialize(mx.init.Constant(mx.nd.array(table)), ctx=contexts)
    trainer = gluon.Trainer(
        layer.collect_params(), "sgd", {"learning_rate": 1.0, **options}, kvstore="local"
    )
    return layer, trainer, table


def test_weight_and_gradient_are_row_sparse() -> None:
    weight = SparseEmbedding(ROWS, UNITS).weight
    assert (weight.shape, weight._stype, weight._grad_stype) == ((ROWS, UNITS),) + (
        "row_sparse",
    ) * 2


def test_call_without_a_trainer_is_refused() -> None:
    layer = SparseEmbedding(ROWS, UNITS)
    layer.initialize()
    with pytest.raises(ParameterError, match=r"weight: row_sparse_data expected .* of a Trainer"):
        layer(mx.nd.array([1, 2]))


def test_rows_are_looked_up() -> None:
    layer, _, table = made()
    x = mx.nd.array([[1, 2], [1, 5]])
    np.testing.assert_array_equal(layer(x).asnumpy(), table[[[1, 2], [1, 5]]])


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("devices", [1, 2])
def test_step_moves_the_rows_that_were_used(devices: int, momentum: float) -> None:
    layer, trainer, table = made(devices, momentum=momentum)
    numbers = np.array([[1, 2], [1, 4]])
    with mx.autograd.record():
        losses = [
            layer(x).sum()
            for x in gluon.utils.split_and_load(
                mx.nd.array(numbers), [mx.cpu(i) for i in range(devices)]
            )
        ]
    mx.autograd.backward(losses)
    grads = layer.weight.list_grad()
    assert [g.stype for g in grads] == ["row_sparse"] * devices
    assert set().union(*(g.indices.asnumpy() for g in grads)) == {1, 2, 4}  # type: ignore[attr-defined]
    trainer.step(1)
    expected = table.copy()
    np.subtract.at(expected, numbers, 1)
    np.testing.assert_array_equal(layer(mx.nd.arange(ROWS)).asnumpy(), expected)


def test_parameters_are_saved_and_loaded_whole(tmp_path: Any) -> None:
    layer, _, table = made()
    file = str(tmp_path / "table.params")
    layer.save_parameters(file)
    other, _, _ = made()
    other.weight.set_data(mx.nd.zeros((ROWS, UNITS)).tostype("row_sparse"))
    other.load_parameters(file)
    np.testing.assert_array_equal(other(mx.nd.arange(ROWS)).asnumpy(), table)


def test_representation_is_that_of_mxnet() -> None:
    assert repr(SparseEmbedding(5, 3)) == "SparseEmbedding(5 -> 3, float32)"


def test_hybridize_leaves_it_imperative() -> None:
    layer, _, table = made()
    layer.hybridize()
    np.testing.assert_array_equal(layer(mx.nd.array([3])).asnumpy(), table[[3]])
