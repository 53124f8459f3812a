from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    MissingFileError,
)
from gluonish.io import DataBatch, NDArrayIter
from gluonish.module import Module
from gluonish.module.feed_forward import (
    BatchEndParam,
    FeedForward,
    load_checkpoint,
    load_params,
    save_checkpoint,
)
from tests.module.networks import mlp, weights

GOLDEN = Path(__file__).parents[1] / "golden"


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    return x, {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros(2)}


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    symbol, arguments = network()
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 12, symbol, arguments, {"mean": mx.nd.array([3])})
    loaded, found, auxiliary = load_checkpoint(prefix, 12)
    assert loaded.list_arguments() == symbol.list_arguments()
    assert list(found) == ["fc_weight", "fc_bias"]
    assert found["fc_weight"].asnumpy().tolist() == np.ones((2, 3)).tolist()
    assert auxiliary["mean"].asscalar() == 3


def test_names_in_the_file_tell_arguments_from_states(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 1, None, {"a": mx.nd.ones(1)}, {"b": mx.nd.ones(1)})
    assert list(mx.nd.load(f"{prefix}-0001.params")) == ["arg:a", "aux:b"]
    assert not (tmp_path / "net-symbol.json").exists()


def test_a_checkpoint_of_mxnet_is_read() -> None:
    symbol, arguments, auxiliary = load_checkpoint(str(GOLDEN / "cnn"), 3)
    assert set(symbol.list_arguments()) - set(arguments) == {"data"}
    assert set(symbol.list_auxiliary_states()) == set(auxiliary)


def test_an_empty_file_is_warned_of(tmp_path: Path, caplog) -> None:
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 1, None, {}, {})
    assert load_params(prefix, 1) == ({}, {})
    assert caplog.messages == [f"Params file '{prefix}-0001.params' is empty"]


@pytest.mark.parametrize("name", ["foo", "other:w", "arg:"])
def test_other_names_in_the_file_are_refused(tmp_path: Path, name: str) -> None:
    mx.nd.save(str(tmp_path / "net-0001.params"), {name: mx.nd.ones(1)})
    with pytest.raises(FileFormatError, match=r"expected names arg:\.\.\. and aux:\.\.\."):
        load_params(str(tmp_path / "net"), 1)


def test_arrays_without_names_are_refused(tmp_path: Path) -> None:
    mx.nd.save(str(tmp_path / "net-0001.params"), [mx.nd.ones(1)])
    with pytest.raises(FileFormatError, match="expected arrays with names"):
        load_params(str(tmp_path / "net"), 1)


def test_a_name_may_hold_a_colon(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    save_checkpoint(prefix, 1, None, {"a:b": mx.nd.ones(1)}, {})
    assert list(load_params(prefix, 1)[0]) == ["a:b"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"net-symbol\.json"):
        load_checkpoint(str(tmp_path / "net"), 1)


def test_what_callbacks_get_has_the_names_of_mxnet() -> None:
    assert BatchEndParam._fields == ("epoch", "nbatch", "eval_metric", "locals")
    assert BatchEndParam.__name__ == "BatchEndParams"


def feed_forward(**settings: Any) -> FeedForward:
    with pytest.warns(DeprecationWarning, match="use gluonish.module.Module"):
        return FeedForward(mlp(), ctx=mx.cpu(), **settings)


ROWS, LABELS = np.random.default_rng(0).normal(size=(9, 5)), np.arange(9) % 3


def test_a_network_is_fitted_to_arrays_and_scored() -> None:
    model = feed_forward(num_epoch=2, numpy_batch_size=4, learning_rate=0.1, arg_params=weights())
    seen: list[tuple[int, int]] = []
    model.fit(
        ROWS,
        LABELS.reshape(-1, 1),
        eval_data=(ROWS[:3], LABELS[:3]),
        batch_end_callback=lambda param: seen.append((param.epoch, param.nbatch)),
    )
    # What fills no batch is kept for the next epoch: 9 = 4 + 4 + 1, and 1 + 9 = 4 + 4 + 2.
    assert seen == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert model.predict(ROWS).shape == (9, 3)
    assert model.predict(mx.nd.array(ROWS), num_batch=1).shape == (4, 3)
    assert 0 <= model.score(ROWS) <= 1


def test_predictions_are_those_of_the_weights_of_now() -> None:
    model = feed_forward(arg_params=weights(), aux_params={})
    first = model.predict(ROWS)
    module = Module(mlp())
    module.bind([("data", (9, 5))], for_training=False)
    module.init_params(None, weights(), {})
    np.testing.assert_array_equal(first, module.predict(ROWS).asnumpy())
    model.arg_params["fc2_bias"] = mx.nd.array([9, 0, 0])
    assert (model.predict(ROWS).argmax(axis=1) == 0).all()
    model.symbol = mx.sym.BlockGrad(mlp() * 2)
    np.testing.assert_allclose(model.predict(ROWS).sum(axis=1), 2, atol=1e-5)


def test_a_function_makes_the_network_of_each_bucket() -> None:
    class Buckets(NDArrayIter):
        default_bucket_key = 6

        def next(self) -> DataBatch:
            made = super().next()
            made.bucket_key = 6 if self.cursor % 8 else 60
            return made

    made: list[int] = []

    def generated(key: int) -> mx.sym.Symbol:
        made.append(key)
        return mlp()

    with pytest.warns(DeprecationWarning, match="FeedForward"):
        model = FeedForward(generated, ctx=mx.cpu(), num_epoch=1)
    model.fit(Buckets(ROWS, LABELS, batch_size=4))
    assert model.symbol.list_outputs() == ["softmax_output"]
    assert set(made) == {6, 60}
    assert sorted(model.arg_params) == sorted(weights())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((ROWS,), ArgumentError, "expected y with an array X, got None"),
        ((ROWS, LABELS[:3]), ArgumentError, r"expected y of shape \(9,\) for X of shape"),
        (("a",), ArgumentTypeError, "expected X to be a DataIter, an NDArray"),
        ((ROWS, LABELS, (ROWS,)), ArgumentTypeError, "expected eval_data to be a DataIter or a"),
    ],
)
def test_wrong_data_are_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        feed_forward(num_epoch=1).fit(*arguments)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    model = feed_forward()
    with pytest.raises(ArgumentError, match="expected num_epoch, got None"):
        model.fit(ROWS, LABELS)
    with pytest.raises(ArgumentError, match=r"FeedForward.predict: expected weights, got none"):
        model.predict(ROWS)
    with pytest.raises(ArgumentError, match="expected an epoch and weights, got epoch=None"):
        model.save(str(tmp_path / "net"))
