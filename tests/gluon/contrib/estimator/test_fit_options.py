"""The keyword arguments of Estimator.fit, against the same training in NumPy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn
from gluonish.gluon.contrib.estimator import BatchEnd, Estimator
from gluonish.gluon.contrib.estimator.logging_handler import current_values

Array = np.ndarray[Any, Any]

RATE = 0.1
X = np.random.RandomState(0).randn(10, 3).astype("float32")
Y = np.random.RandomState(1).randn(10, 1).astype("float32")
START = np.array([[0.5, -1.0, 2.0]], dtype="float32")


def loader(size: int = 3, x: Array = X, y: Array = Y) -> Any:
    return mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, y), size)


def make(optimizer: str = "sgd", **options: Any) -> Estimator:
    """Return an Estimator of a linear regression from `START`."""
    net = nn.Dense(1, in_units=3, use_bias=False, flatten=False)
    net.initialize(ctx=mx.cpu())
    net.weight.set_data(mx.nd.array(START))
    options = {"learning_rate": RATE, **options}
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, options)
    metric = mx.metric.Loss("loss")
    made = Estimator(
        net, mx.gluon.loss.L2Loss(), train_metrics=metric, trainer=trainer, context=mx.cpu()
    )
    made.logger.setLevel("ERROR")
    return made


def weight(estimator: Estimator) -> Array:
    net: Any = estimator.net
    found: Array = net.weight.data().asnumpy()
    return found


def gradient(w: Array, rows: slice) -> Array:
    """Return the mean gradient of the samples of some rows."""
    x, y = X[rows].astype("float64"), Y[rows].astype("float64")
    total: Array = ((x @ w.T - y) * x).mean(axis=0, keepdims=True)
    return total


def descent(
    groups: list[slice],
    rate: Callable[[int], float] = lambda n: RATE,
    change: Callable[[Array], Array] = lambda g: g,
) -> list[Array]:
    """Return the weights after each update of gradient descent, in float64."""
    w, found = START.astype("float64"), []
    for number, rows in enumerate(groups):
        w = w - rate(number) * change(gradient(w, rows))
        found.append(w)
    return found


EVERY = [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 10)]


def assert_close(found: Array, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("accumulate", "groups"),
    [
        (1, EVERY),
        (2, [slice(0, 6), slice(6, 10)]),
        (3, [slice(0, 9), slice(9, 10)]),
        (9, [slice(0, 10)]),
    ],
)
def test_accumulated_updates_are_means_over_the_samples_of_their_group(
    accumulate: int, groups: list[slice]
) -> None:
    estimator = make()
    estimator.fit(loader(), epochs=2, accumulate=accumulate)
    assert_close(weight(estimator), descent(groups * 2)[-1])


def test_a_group_that_the_number_of_batches_cuts_is_an_update() -> None:
    estimator = make()
    estimator.fit(loader(), batches=3, accumulate=2)
    assert_close(weight(estimator), descent([slice(0, 6), slice(6, 9)])[-1])


def test_gradients_are_clipped_by_norm() -> None:
    def clipped(g: Array) -> Array:
        return g * min(1.0, 0.5 / float(np.linalg.norm(g)))

    estimator = make()
    estimator.fit(loader(), epochs=1, clip_grad_norm=0.5)
    assert_close(weight(estimator), descent(EVERY, change=clipped)[-1])


def test_gradients_are_clipped_by_value_after_the_division_by_samples() -> None:
    def clipped(g: Array) -> Array:
        return np.clip(g, -0.25, 0.25)

    estimator = make()
    estimator.fit(loader(), epochs=1, clip_grad_value=0.25, accumulate=2)
    expected = descent([slice(0, 6), slice(6, 10)], change=clipped)[-1]
    assert_close(weight(estimator), expected)


@pytest.mark.parametrize("adaptive", [False, True])
def test_gradients_of_sam_are_those_at_perturbed_weights(adaptive: bool) -> None:
    w = START.astype("float64")
    for rows in EVERY * 2:
        size = np.abs(w) + 0.01 if adaptive else np.ones_like(w)
        g = gradient(w, rows)
        w = w - RATE * gradient(w + 0.3 * size**2 * g / np.linalg.norm(size * g), rows)
    estimator = make()
    sam: Any = 0.3
    if adaptive:
        sam = mx.gluon.utils.SAM(estimator.net.collect_params(), rho=0.3, adaptive=True)
    estimator.fit(loader(), epochs=2, sam=sam)
    assert_close(weight(estimator), w)


def test_metrics_of_sam_are_those_of_the_weights_themselves() -> None:
    estimator, plain = make(learning_rate=0.0), make(learning_rate=0.0)
    estimator.fit(loader(), epochs=1, sam=0.5, precision="float16")
    plain.fit(loader(), epochs=1, precision="float16")
    assert [m.get() for m in estimator.train_metrics] == [m.get() for m in plain.train_metrics]
    assert_close(weight(estimator), START)


def test_sam_of_another_network_is_refused() -> None:
    sam = mx.gluon.utils.SAM(make().net.collect_params(), rho=0.1)
    with pytest.raises(ArgumentError, match="sam with Parameters that the Trainer updates, got a"):
        make().fit(loader(), epochs=1, sam=sam)


def test_a_schedule_counts_updates() -> None:
    estimator = make()
    estimator.fit(loader(), epochs=1, schedule=lambda n: 0.1 / max(n, 1), accumulate=2)
    expected = descent([slice(0, 6), slice(6, 10)], rate=lambda n: 0.1 / (n + 1))
    assert_close(weight(estimator), expected[-1])


def test_a_schedule_counts_epochs() -> None:
    estimator = make()
    schedule = mx.lr_scheduler.ExponentialScheduler(0.5, base_lr=0.2)
    estimator.fit(loader(), epochs=2, schedule=schedule, schedule_interval="epoch")
    assert_close(weight(estimator), descent(EVERY * 2, rate=lambda n: [0.2, 0.1][n // 4])[-1])


def test_a_plateau_follows_the_metric_after_each_epoch() -> None:
    rates = []

    class Rates(BatchEnd):
        def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            rates.append(estimator.trainer.learning_rate)

    estimator = make()
    # A loss is an improvement only if it falls by a million: the second epoch is the first bad one.
    schedule = mx.lr_scheduler.ReduceLROnPlateau(
        factor=0.5, patience=0, threshold=1e6, threshold_mode="abs", base_lr=0.02
    )
    estimator.fit(loader(10), epochs=4, schedule=schedule, event_handlers=Rates())
    assert rates == [0.02, 0.02, 0.01, 0.005]


def test_the_average_of_weights_is_updated_with_them() -> None:
    estimator = make()
    estimator.fit(loader(), epochs=2, average=0.75, accumulate=2)
    weights = descent([slice(0, 6), slice(6, 10)] * 2)
    average = weights[0]
    for w in weights[1:]:
        average = 0.75 * average + 0.25 * w
    assert estimator.average is not None
    estimator.average.copy_to(estimator.net)
    assert_close(weight(estimator), average)


def test_a_mean_of_weights_takes_the_ends_of_epochs_after_its_start() -> None:
    estimator = make()
    average = mx.gluon.utils.WeightAverage(estimator.net, None)
    estimator.fit(loader(), epochs=3, average=average, average_start=1)
    average.copy_to(estimator.net)
    weights = descent(EVERY * 3)
    assert_close(weight(estimator), (weights[7] + weights[11]) / 2)


def test_the_average_is_evaluated_too() -> None:
    estimator = make()
    estimator.fit(loader(), loader(4), epochs=2, average=0.5)
    own = weight(estimator)
    metric = estimator.average_metrics[0]
    assert metric.name == "average loss"
    assert estimator.average is not None
    for w, found in ((own, estimator.val_metrics[0]), (None, metric)):
        if w is None:
            estimator.average.copy_to(estimator.net)
            w = weight(estimator)
        expected = (((X @ w.T - Y) ** 2) / 2).mean()
        np.testing.assert_allclose(found.get()[1], expected, rtol=1e-5)


@pytest.mark.parametrize("stopping", [2, {"patience": 2, "monitor": "training loss"}])
def test_training_stops_early(stopping: Any) -> None:
    estimator = make(learning_rate=0.0)
    seen: list[int] = []

    class Count(BatchEnd):
        def batch_end(self, *args: Any, **kwargs: Any) -> None:
            seen.append(1)

    estimator.fit(loader(10), epochs=9, early_stopping=stopping, event_handlers=Count())
    assert len(seen) == 3  # the first is the best, two are no better


def test_networks_compute_in_the_precision_and_weights_stay_float32() -> None:
    dtypes = []

    class Dtypes(BatchEnd):
        def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            dtypes.append(str(np.dtype(kwargs["pred"][0].dtype)))

    estimator = make()
    for precision in ("float16", "bfloat16", "float32"):
        estimator.fit(loader(10), epochs=1, precision=precision, event_handlers=Dtypes())
        assert weight(estimator).dtype == np.float32
    assert dtypes == ["float16", "bfloat16", "float32"]


@pytest.mark.parametrize("limit", [{}, {"clip_grad_value": 0.25}, {"clip_grad_norm": 0.5}])
def test_losses_are_scaled_in_float16_and_steps_that_overflow_are_skipped(
    limit: dict[str, Any],
) -> None:
    def clipped(g: Array) -> Array:
        g = np.clip(g, -0.25, 0.25) if "clip_grad_value" in limit else g
        return g * min(1.0, limit.get("clip_grad_norm", np.inf) / float(np.linalg.norm(g)))

    estimator = make()
    for _ in range(2):  # the scale of the first call serves the second
        estimator.fit(loader(5), epochs=6, precision="float16", accumulate=2, **limit)
        assert estimator.trainer._amp_loss_scaler is None
    assert estimator._loss_scaler is not None
    halved = round(16 - np.log2(estimator._loss_scaler._next_loss_scale))
    assert 1 <= halved <= 8  # 2**16 is beyond float16
    expected = descent([slice(0, 10)] * (12 - halved), change=clipped)[-1]
    np.testing.assert_allclose(weight(estimator), expected, atol=4e-3)


def test_the_trainer_has_its_own_options_again_afterwards() -> None:
    estimator = make(clip_gradient=7.0)
    trainer = estimator.trainer
    estimator.fit(
        loader(),
        epochs=1,
        accumulate=2,
        clip_grad_norm=1.0,
        clip_grad_value=1.0,
        schedule=lambda n: 0.0,
        precision="float16",
    )
    assert (trainer._groups, trainer._max_norm, trainer.optimizer.clip_gradient) == (None, None, 7)
    assert (trainer.learning_rate, trainer.optimizer.lr_scheduler) == (RATE, None)
    assert [p.grad_req for p in estimator.net.collect_params().values()] == ["write"]
    assert_close(weight(estimator), START)
    estimator.fit(loader(), epochs=1)
    assert_close(weight(estimator), descent(EVERY)[-1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "float8"}, "expected precision to be one of None, 'float32', 'bfloat16'"),
        ({"accumulate": 0}, "expected accumulate of 1 or more, got 0"),
        ({"clip_grad_norm": 0.0}, r"expected clip_grad_norm above 0, got 0\.0"),
        ({"clip_grad_norm": float("nan")}, "expected clip_grad_norm above 0, got nan"),
        ({"clip_grad_value": -1}, "expected clip_grad_value above 0, got -1"),
        (
            {"schedule_interval": "step"},
            "expected schedule_interval to be one of 'update', 'epoch'",
        ),
        ({"average": 1.0}, r"expected average to be a decay in \[0, 1\) or a WeightAverage"),
        ({"average": True}, r"expected average to be a decay in \[0, 1\) or a WeightAverage"),
        ({"average_start": 1}, "expected average_start with an average, got 1"),
        (
            {"average": 0.5, "average_start": 9},
            r"average_start below epochs \(1\), got 9",
        ),
        ({"schedule_interval": "epoch"}, "expected schedule_interval with a schedule"),
        ({"average": 0.5, "average_start": -1}, "expected average_start of 0 or more, got -1"),
        ({"monitor_mode": "up"}, "expected monitor_mode to be one of None, 'min', 'max', got 'up'"),
        ({"monitor": "f1"}, "metric of the Estimator, 'training loss', got 'f1'"),
        ({"early_stopping": 0}, "expected early_stopping of 1 or more, got 0"),
        ({"early_stopping": {"paitence": 1}}, "early_stopping with patience, .* got 'paitence'"),
        ({"progress": "yes"}, "expected progress to be one of None, True, False, got 'yes'"),
        ({"early_stopping": {"paitence": 1}}, r"got 'paitence' \(nearest: 'patience'"),
        (
            {"average": 1},
            r"got 1; for the mean of the epochs pass .*WeightAverage\(net, decay=None",
        ),
        ({"monitor": "los"}, r"got 'los' \(nearest: 'loss'\)"),
        ({"monitor": "training lost"}, r"got 'training lost' \(nearest: 'training loss'"),
        ({"monitor": "validation loss"}, "metrics of the validation need val_data"),
        ({"monitor": "average loss"}, "metrics of the average need average and val_data"),
        (
            {"checkpoints": ""},
            r"checkpoints to be the path of a folder, got ''; '\.' is the current",
        ),
        ({"resume": True}, "expected resume with checkpoints, got no folder; pass, for example"),
        ({"checkpoints": __file__}, "a folder to write to, got .*, which cannot be made: File exi"),
        ({"schedule": lambda n: None}, "schedule to return a finite number .* None for update 0"),
        (
            {"schedule": lambda n: -0.1, "schedule_interval": "epoch"},
            r"schedule to return a finite number of 0 or more, got -0\.1 for epoch 0",
        ),
        ({"sam": 0.0}, "sam to be a finite radius above 0 or a gluon.utils.SAM, got 0.0"),
        ({"sam": float("inf")}, "sam to be a finite radius above 0"),
        ({"sam": 0.1, "accumulate": 2}, "accumulate=1 with sam.*got 2; use larger batches"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    estimator = make()
    with pytest.raises(ArgumentError, match=message):
        estimator.fit(loader(), epochs=1, **options)
    assert_close(weight(estimator), START)


@pytest.mark.parametrize(
    "options",
    [
        {"schedule": 0.1},
        {"accumulate": "2"},
        {"clip_grad_norm": "1"},
        {"average": "ema"},
        {"sam": "asam"},
    ],
)
def test_options_of_wrong_types_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentTypeError, match=f"expected {next(iter(options))} to be a"):
        make().fit(loader(), epochs=1, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"early_stopping": {"min_delta": "x"}}, r"early_stopping\['min_delta'\] to be a number"),
        ({"early_stopping": {"baseline": "x"}}, r"early_stopping\['baseline'\] to be a number"),
        ({"schedule": mx.lr_scheduler.CosineScheduler}, "the class CosineScheduler; call it with"),
    ],
)
def test_wrong_types_are_refused_before_the_first_epoch(
    options: dict[str, Any], message: str
) -> None:
    estimator = make()
    with pytest.raises(ArgumentTypeError, match=message):
        estimator.fit(loader(), epochs=1, **options)
    assert_close(weight(estimator), START)


def test_a_schedule_that_falls_below_zero_is_refused_there() -> None:
    with pytest.raises(ArgumentError, match=r"0 or more, got -0\.1 for update 3"):
        make().fit(
            loader(), epochs=1, schedule=lambda n: (0.2 if n == 1 else 0.1) * (-1) ** (n > 2)
        )


def test_a_missing_loss_is_to_be_added_to_the_metrics() -> None:
    net = nn.Dense(1, in_units=3)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    estimator = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MAE(), trainer=trainer)
    with pytest.raises(ArgumentError, match=r"got 'loss'; add mx\.metric\.Loss\(\) to the metrics"):
        estimator.fit(loader(), epochs=1, monitor="loss")


def test_a_network_that_is_frozen_is_refused() -> None:
    estimator = make()
    estimator.net.freeze()
    with pytest.raises(ArgumentError, match=r"parameters to train, got .* all frozen"):
        estimator.fit(loader(), epochs=1)


def test_integers_of_numpy_are_integers(tmp_path: Path) -> None:
    two: Any = np.int64(2)
    options: dict[str, Any] = {"accumulate": 2, "checkpoints": tmp_path / "a"}
    expected, estimator = make(), make()
    expected.fit(loader(), epochs=2, **options)
    options = {"accumulate": two, "checkpoints": tmp_path / "b", "max_checkpoints": two}
    estimator.fit(loader(), epochs=two, checkpoint_interval=2.0, **options)  # type: ignore[arg-type]
    assert_close(weight(estimator), weight(expected))
    assert len(list((tmp_path / "b").glob("0*.json"))) == 2


def test_options_that_the_trainer_excludes_are_refused() -> None:
    net = nn.Dense(1, in_units=3)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", accumulate=2)
    estimator = Estimator(net, mx.gluon.loss.L2Loss(), trainer=trainer)
    with pytest.raises(ArgumentError, match="accumulate=1 with a Trainer that accumulates, got 3"):
        estimator.fit(loader(), epochs=1, accumulate=3)
    with pytest.raises(ArgumentError, match="a Trainer with accumulate=1 for sam, got one that ac"):
        estimator.fit(loader(), epochs=1, sam=0.1)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", update_on_kvstore=True)
    estimator = Estimator(net, mx.gluon.loss.L2Loss(), trainer=trainer)
    with pytest.raises(ArgumentError, match="a Trainer with update_on_kvstore=False"):
        estimator.fit(loader(), epochs=1, clip_grad_value=1.0)


def test_a_progress_bar_can_be_demanded(capsys: pytest.CaptureFixture[str]) -> None:
    estimator = make()
    estimator.fit(loader(), epochs=1, progress=True)
    assert "epoch 0/1" in capsys.readouterr().err
    estimator.fit(loader(), epochs=1, progress=False)
    assert capsys.readouterr().err == ""


def test_values_behind_a_bar_leave_the_sums_of_a_metric() -> None:
    metric = mx.metric.Loss("training loss")
    metric.update(0, [mx.nd.array([1, 2])])
    pending = metric._pending
    assert current_values(metric) == ["loss 1.5"]
    assert metric._pending is pending
    assert metric.get() == ("training loss", 1.5)
