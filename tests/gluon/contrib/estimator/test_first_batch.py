"""What an Estimator and ``gluonish train`` say of the first batch, and of a loss that is lost."""

import warnings
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon
from gluonish.gluon import data, nn
from gluonish.gluon.contrib.estimator import Estimator
from gluonish.gluon.contrib.estimator.first_batch import first_batch_problems

IMAGES = np.random.default_rng(1).random((8, 1, 6, 6)).astype(np.float32)
LABELS = np.arange(8) % 3


def said(
    images: Any, labels: Any, loss: Any = None, net: Any = None, rate: float = 1e-6, **fit: Any
) -> list[str]:
    """Return the warnings of a training run of two epochs."""
    if net is None:
        net = nn.HybridSequential()
        net.add(nn.Flatten(), nn.Dense(3))
    net.initialize()
    loss = loss or gluon.loss.SoftmaxCELoss(prefix="loss_")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate})
    ctx = mx.current_context()
    estimator = Estimator(net, loss, mx.metric.Loss("loss"), trainer=trainer, context=ctx)
    estimator.logger.disabled = True
    batches = data.DataLoader(data.ArrayDataset(images, labels), batch_size=4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(batches, **(fit or {"epochs": 2}))
    ours = [warning for warning in caught if warning.category is UserWarning]
    assert all(warning.filename == __file__ for warning in ours)
    return [str(warning.message) for warning in ours]


def changed(x: Any, index: tuple[int, ...], value: float) -> Any:
    x = x.copy()
    x[index] = value
    return x


def test_a_good_batch_says_nothing() -> None:
    assert said(IMAGES, LABELS) == []
    assert said(IMAGES * 20 - 10, LABELS) == []
    assert said(np.round(IMAGES * 20), LABELS) == []


def test_nan_in_the_data() -> None:
    (message,) = said(changed(IMAGES, (1, 0, 2, 3), np.nan), LABELS)
    assert message.startswith(
        "first batch: expected finite data, got NaN (1 of 144 values, the first at [1, 0, 2, 3])"
    )


def test_of_later_batches_the_loss_of_the_epoch_is_looked_at() -> None:
    (message,) = said(changed(IMAGES, (6, 0, 0, 0), np.nan), LABELS, epochs=3)
    assert message == (
        "epoch 0: expected a finite training loss, got nan; lower the learning rate (1e-06) or "
        "clip gradients; MXNET_CHECK_VALUES=1 names the first operator with such a result, and its "
        "layer"
    )


def test_a_rate_that_is_too_high_is_told_once() -> None:
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(64), nn.Dense(3))
    messages = said(IMAGES * 1e3, LABELS, net=net, epochs=5, rate=1e30)
    assert len(messages) == 1
    assert "lower the learning rate (1e+30)" in messages[0]


def test_infinite_labels_of_a_regression() -> None:
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(1))
    labels = changed(LABELS.astype(np.float32), (2,), np.inf)
    (message,) = said(IMAGES, labels, gluon.loss.L2Loss(), net)
    assert "expected finite labels, got infinity (1 of 4 values, the first at [2])" in message


def test_images_of_whole_numbers_up_to_255() -> None:
    (message,) = said(np.round(IMAGES * 255), LABELS)
    assert "transforms.ToTensor() or data / 255" in message


def test_labels_beyond_the_outputs() -> None:
    (message,) = said(IMAGES, LABELS + 1)
    assert message.startswith("SoftmaxCrossEntropyLoss loss: expected labels from 0 to 2, got 3 at")
    assert "subtract 1" in message


def test_labels_of_a_binary_loss() -> None:
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(1))
    labels = np.where(LABELS > 0, 1, -1).astype(np.float32)
    (message,) = said(IMAGES, labels, gluon.loss.SigmoidBCELoss(), net)
    assert "expected labels from 0 to 1 for SigmoidBinaryCrossEntropyLoss, got labels from -1" in (
        message
    )


def test_outputs_that_are_nan_from_the_start() -> None:
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.HybridLambda(lambda F, x: F.log(x - 2)), nn.Dense(3))
    (message,) = said(IMAGES, LABELS, net=net)
    assert "expected finite outputs of the network, got NaN" in message
    assert "MXNET_CHECK_VALUES=1" in message


def test_batches_of_other_kinds_are_left_alone() -> None:
    loss = gluon.loss.L2Loss()
    assert first_batch_problems([("text", 3)], [None], [[1.0]], [object()], loss) == []


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_the_command_line_says_it_on_standard_error(
    dtype: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from gluonish.tools.train.batches import Batch, EpochLoader
    from gluonish.tools.train.estimation import Processor, Training

    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(3))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    estimator = Training(
        net,
        loss,
        trainer=trainer,
        context=[mx.current_context()],
        batch_processor=Processor("float32"),
    )
    estimator.logger.setLevel("WARNING")
    pixels = mx.nd.array(np.round(IMAGES * 255), dtype=dtype)

    class Source:
        batches_per_epoch = 2

        def training(self, epoch: int) -> Any:
            return iter([Batch(pixels, mx.nd.array(LABELS))] * 2)

    estimator.fit(EpochLoader(Source()), epochs=1)
    text = capsys.readouterr().err
    assert text.count("warning: first batch: expected images of about 0 to 1") == 1
