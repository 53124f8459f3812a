"""Estimator: construction, fit and evaluate, on one device and on two."""

import io
import logging
import sys
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeviceError, ParameterError
from gluonish.gluon.contrib.estimator import (
    BatchEnd,
    CheckpointHandler,
    EarlyStoppingHandler,
    EpochEnd,
    Estimator,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
)
from tests.golden.estimator_runs import loader, make, network, weights

LOSS = mx.gluon.loss.SoftmaxCrossEntropyLoss


def quiet(context: Any = None, **kwargs: Any) -> Estimator:
    """Return an Estimator that says nothing."""
    net = kwargs.pop("net", None) or network(mx, ctx=context)
    kwargs.setdefault("trainer", mx.gluon.Trainer(net.collect_params(), "sgd"))
    estimator = Estimator(net, kwargs.pop("loss", LOSS()), context=context, **kwargs)
    estimator.logger.setLevel(logging.ERROR)
    return estimator


def test_default_trainer_is_sgd_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="No trainer specified, default SGD optimizer"):
        estimator = Estimator(network(mx), LOSS())
    assert type(estimator.trainer.optimizer).__name__ == "SGD"
    assert estimator.trainer.learning_rate == 0.001


def test_network_is_initialized_by_the_initializer_on_the_context() -> None:
    net = mx.gluon.nn.Dense(2, in_units=3)
    with pytest.warns(UserWarning, match="No trainer"):
        Estimator(net, LOSS(), initializer=mx.init.One(), context=[mx.cpu(0), mx.cpu(1)])
    assert net.weight.list_ctx() == [mx.cpu(0), mx.cpu(1)]
    assert (net.weight.data(mx.cpu(1)).asnumpy() == 1).all()


def test_initializer_of_an_initialized_network_is_ignored_with_a_warning() -> None:
    net = network(mx)
    before = net[0].weight.data().asnumpy()
    with pytest.warns(UserWarning, match="Network already fully initialized, skipping init"):
        quiet(net=net, initializer=mx.init.One())
    np.testing.assert_array_equal(net[0].weight.data().asnumpy(), before)


def test_handlers_and_events_are_listed_as_by_mxnet() -> None:
    estimator = quiet(train_metrics=mx.metric.Accuracy())

    def names(handlers: Any) -> list[str]:
        return [type(handler).__name__.removesuffix("Handler") for handler in handlers]

    ends = ["GradientUpdate", "Metric", "Validation", "Checkpoint", "Stopping", "Logging"]
    handlers = estimator._prepare_default_handlers(loader(mx), [CheckpointHandler(".")])
    assert names(handlers) == ends
    assert (
        [names(event) for event in estimator._categorize_handlers(handlers)]
        == [
            ends[2:],  # the beginning of training
            ["Metric", "Logging"],  # of an epoch
            ["Logging"],  # of a batch
            ends,  # the end of a batch
            ends[2:],  # of an epoch
            ["Logging"],  # of training
        ]
    )
    defaults = estimator._prepare_default_handlers(None, None)
    assert names(defaults) == ["GradientUpdate", "Metric", "Stopping", "Logging"]


def test_deferred_network_is_trained() -> None:
    net = mx.gluon.nn.Dense(2)
    net.initialize()
    quiet(net=net).fit(loader(mx), epochs=1)
    assert net.weight.shape == (2, 3)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"net": 3}, ArgumentTypeError, "expected net to be a Block, got 3"),
        ({"val_net": 3}, ArgumentTypeError, "expected val_net to be a Block, got 3"),
        ({"loss": "l2"}, ArgumentError, "expected loss to be a gluon.loss.Loss, got 'l2'"),
        ({"val_loss": 3}, ArgumentError, "expected val_loss to be a gluon.loss.Loss, got 3"),
        ({"train_metrics": "acc"}, ArgumentError, "train_metrics: expected a metric or a list"),
        ({"val_metrics": ["acc"]}, ArgumentError, "val_metrics: expected metrics, got 'acc'"),
        ({"trainer": "sgd"}, ArgumentError, "expected trainer to be a Trainer, got 'sgd'"),
        ({"context": "cpu"}, ArgumentError, "expected context to be a Context or a list"),
        ({"context": mx.gpu(99)}, DeviceError, "a GPU below gpu.*, got gpu\\(99\\)"),
        ({"batch_processor": 3}, ArgumentError, "got 3 without fit_batch"),
    ],
)
def test_wrong_argument_is_refused(
    changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    net = network(mx)
    given = {"net": net, "loss": LOSS(), "trainer": mx.gluon.Trainer(net.collect_params(), "sgd")}
    with pytest.raises(error, match=message):
        Estimator(**{**given, **changed})


def test_metrics_cannot_be_replaced() -> None:
    with pytest.raises(AttributeError):
        quiet().train_metrics = []  # type: ignore[misc]  # that is the test


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        ({}, "either epochs or batches, got epochs=None and batches=None"),
        ({"epochs": 1, "batches": 1}, "either epochs or batches"),
        ({"epochs": -1}, "expected epochs to be an integer of at least 1, got -1"),
        ({"batches": 1.5}, "expected batches to be an integer of at least 1, got 1.5"),
        ({"epochs": 1, "event_handlers": [3]}, "expected event_handlers to be an EventHandler"),
        ({"epochs": 1, "event_handlers": [MetricHandler(mx.metric.MAE())]}, "metrics of the estim"),
        ({"epochs": 1, "val_data": [1]}, "val_data to be a gluon.data.DataLoader, got list"),
    ],
)
def test_wrong_fit_is_refused(fit: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        quiet().fit(loader(mx), **fit)


def test_data_that_is_no_loader_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"fit: expected train_data to be a gluon\.data\.Data"):
        quiet().fit([(mx.nd.ones((2, 3)), mx.nd.ones(2))], epochs=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"evaluate: expected val_data to be a gluon\.data"):
        quiet().evaluate([])  # type: ignore[arg-type]


def test_loader_without_batches_does_not_train_for_ever() -> None:
    empty = mx.gluon.data.DataLoader(
        mx.gluon.data.ArrayDataset(np.zeros((1, 3), np.float32), np.zeros(1, np.float32)),
        4,
        last_batch="discard",
    )
    with pytest.raises(ArgumentError, match="train_data with batches, got none"):
        quiet().fit(empty, batches=3)


def test_evaluation_takes_its_own_metrics_only() -> None:
    estimator = quiet()
    with pytest.raises(ArgumentError, match="MetricHandler: expected metrics of the estimator"):
        estimator.evaluate(loader(mx), event_handlers=[MetricHandler(estimator.train_metrics)])


def test_list_of_handlers_is_left_alone() -> None:
    handlers = [StoppingHandler()]
    quiet().fit(loader(mx), epochs=1, event_handlers=handlers)
    assert len(handlers) == 1


def test_handler_with_an_attribute_that_only_sounds_like_a_metric_is_taken() -> None:
    class Named(EpochEnd):
        metric_name = "accuracy"

        def __init__(self) -> None:
            self.metric_file = "metrics.txt"

    quiet().fit(loader(mx), epochs=1, event_handlers=Named())


def test_two_devices_train_as_one_does() -> None:
    one, two = (make(mx, mx_estimator(), context=ctx)[0] for ctx in ([mx.cpu()], BOTH))
    for estimator in (one, two):
        estimator.fit(loader(mx), loader(mx, 8), epochs=3)
    np.testing.assert_allclose(weights(two), weights(one), rtol=1e-5)
    assert [m.get()[1] for m in two.val_metrics] == pytest.approx(
        [m.get()[1] for m in one.val_metrics], rel=1e-5
    )


BOTH = [mx.cpu(0), mx.cpu(1)]


def mx_estimator() -> Any:
    return sys.modules["gluonish.gluon.contrib.estimator"]


def test_batch_that_two_devices_cannot_share_is_refused() -> None:
    with pytest.raises(ArgumentError, match="split_data: expected a size divisible by 2"):
        quiet(BOTH).fit(loader(mx, 9, 3), epochs=1)


def test_device_without_the_network_is_refused() -> None:
    with pytest.raises(ParameterError):
        quiet([mx.cpu(1)], net=network(mx)).fit(loader(mx), epochs=1)


def test_hybridized_network_trains_as_an_imperative_one() -> None:
    plain, hybrid = (make(mx, mx_estimator(), hybrid)[0] for hybrid in (False, True))
    for estimator in (plain, hybrid):
        estimator.fit(loader(mx), epochs=3)
    np.testing.assert_allclose(weights(hybrid), weights(plain), rtol=1e-6)


def test_val_net_and_val_loss_are_evaluated() -> None:
    val_net = network(mx)
    val_net[0].weight.set_data(mx.nd.zeros((2, 3)))
    estimator = quiet(val_net=val_net, val_loss=LOSS(weight=3))
    estimator.evaluate(loader(mx))
    assert estimator.val_metrics[1].get()[1] == pytest.approx(3 * np.log(2), rel=1e-5)


def test_evaluation_runs_in_predict_mode_without_recording() -> None:
    modes = []

    class Note(BatchEnd):
        def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            modes.append(kwargs["pred"][0].asnumpy())

    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dropout(0.5), mx.gluon.nn.Dense(2, in_units=3))
    net.initialize()
    estimator = quiet(net=net)
    for _ in range(2):
        estimator.evaluate(loader(mx, 4), event_handlers=[Note()])
    np.testing.assert_array_equal(modes[0], modes[1])


def test_batch_axis_is_split() -> None:
    class Columns(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.dense = mx.gluon.nn.Dense(2, in_units=3)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.dense(F.transpose(x))

    class Turned(mx.gluon.data.DataLoader):
        def __iter__(self) -> Any:
            for x, y in super().__iter__():
                yield [x.T, mx.nd.stack(y, y)]

    class FirstRow(mx.gluon.loss.SoftmaxCrossEntropyLoss):
        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            row = F.slice_axis(label, axis=0, begin=0, end=1).reshape((-1,))
            return super().hybrid_forward(F, pred, row, sample_weight)

    data = mx.gluon.data.ArrayDataset(np.ones((8, 3), np.float32), np.zeros(8, np.float32))
    net = Columns()
    net.initialize(ctx=BOTH)
    estimator = quiet(BOTH, net=net, loss=FirstRow(), train_metrics=mx.metric.Loss())
    lines = []
    estimator.logger.setLevel(logging.INFO)
    estimator.logger.handlers[0].emit = lambda record: lines.append(  # type: ignore[method-assign]
        record.getMessage()
    )
    handler = LoggingHandler(1, estimator.train_metrics)
    estimator.fit(Turned(data, 4), epochs=1, batch_axis=1, event_handlers=[handler])
    assert [line for line in lines if "[Batch 1][Samples 8]" in line]


def test_lines_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    estimator = quiet()
    estimator.logger.setLevel(logging.INFO)
    estimator.fit(loader(mx), epochs=1)
    captured = capsys.readouterr()
    assert captured.out.startswith("Training begin: using optimizer SGD with current learning rate")
    assert captured.err == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terminal_shows_a_bar_for_each_epoch_below_whole_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    estimator = quiet()
    estimator.logger.setLevel(logging.INFO)
    estimator.fit(
        loader(mx),
        loader(mx, 4),
        epochs=2,
        event_handlers=[LoggingHandler(1, estimator.train_metrics)],
    )
    text = terminal.getvalue()
    assert "epoch 0/2" in text
    assert "epoch 1/2" in text
    assert "validation:" in text
    for line in text.split("\n"):
        shown = line.split("\r")[-1]
        assert "batch/s" not in shown or "Batch" not in shown, shown


def test_silenced_logger_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    quiet().fit(loader(mx), epochs=1)
    assert terminal.getvalue() == ""


def test_names_of_handlers_and_estimator_are_where_programs_import_them() -> None:
    module = mx_estimator()
    for name in ("CheckpointHandler", "EarlyStoppingHandler", "LoggingHandler", "EventHandler"):
        assert hasattr(module.event_handler, name)
    assert module.estimator.Estimator is Estimator
    assert module.event_handler.CheckpointHandler is CheckpointHandler
    assert issubclass(EarlyStoppingHandler, module.event_handler.EventHandler)
