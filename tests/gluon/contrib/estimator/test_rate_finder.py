"""`find_learning_rate`: the learning-rate range test."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import Trainer, nn
from gluonish.gluon.contrib.estimator import Estimator, LearningRateCurve, find_learning_rate
from gluonish.gluon.data import ArrayDataset, DataLoader
from gluonish.gluon.loss import L2Loss


def loader(count: int = 32, batch_size: int = 8) -> DataLoader:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(count, 3)).astype("float32")
    y = (x @ np.array([[1.0], [-2.0], [3.0]])).astype("float32")
    return DataLoader(ArrayDataset(x, y), batch_size)


def estimator(
    optimizer: str = "sgd", contexts: Any = None, normalized: bool = False, **options: Any
) -> Estimator:
    mx.random.seed(0)
    net = nn.HybridSequential()
    if normalized:
        net.add(nn.BatchNorm())
    net.add(nn.Dense(1))
    net.initialize(mx.init.Xavier(), ctx=contexts or mx.cpu())
    trainer = Trainer(net.collect_params(), optimizer, {"learning_rate": 0.01, **options})
    made = Estimator(net, L2Loss(), trainer=trainer, context=contexts or mx.cpu())
    made.logger.setLevel("ERROR")
    return made


def weights(made: Estimator) -> dict[str, Any]:
    return {name: p.data().asnumpy() for name, p in made.net.collect_params().items()}


def test_losses_are_those_of_gradient_descent_with_growing_rates() -> None:
    made, data = estimator(), loader()
    batches = [(x.asnumpy().astype(float), y.asnumpy().astype(float)) for x, y in data]
    made.net(nd.zeros((1, 3), ctx=mx.cpu()))
    w, b = (value.astype(float) for value in weights(made).values())
    expected = []
    rates = np.geomspace(1e-3, 0.5, 10)
    for i, rate in enumerate(rates):
        x, y = batches[i % 4]
        error = x @ w.T + b - y
        expected.append((error**2).mean() / 2)
        w -= rate * error.T @ x / len(x)
        b -= rate * error.mean(0)
    curve = find_learning_rate(made, data, 1e-3, 0.5, 10, smoothing=0)
    np.testing.assert_allclose(curve.rates, rates)
    np.testing.assert_allclose(curve.losses, expected, rtol=1e-4)
    np.testing.assert_allclose(curve.smoothed, curve.losses)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_weights_states_and_schedule_are_as_before(optimizer: str, tmp_path: Path) -> None:
    scheduler = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.02)
    made = estimator(optimizer, normalized=True, lr_scheduler=scheduler)
    made.fit(loader(), epochs=1)
    before, optimizer_before = weights(made), made.trainer.optimizer
    made.trainer.save_states(tmp_path / "before")
    find_learning_rate(made, loader(), steps=12)
    assert made.trainer.optimizer is optimizer_before
    assert made.trainer.optimizer.lr_scheduler is scheduler
    assert made.trainer.steps_done == 4
    made.trainer.save_states(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    for name, value in weights(made).items():
        np.testing.assert_array_equal(value, before[name])


def test_training_goes_on_as_if_nothing_had_happened() -> None:
    results = []
    for tests in (False, True):
        made = estimator("adam", normalized=True)
        made.fit(loader(), epochs=1)
        if tests:
            find_learning_rate(made, loader(), steps=5)
        made.fit(loader(), epochs=1)
        results.append(weights(made))
    for one, other in zip(results[0].values(), results[1].values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_two_devices_find_what_one_finds() -> None:
    one = find_learning_rate(estimator(), loader(), 1e-3, 0.1, 8)
    two = find_learning_rate(estimator(contexts=[mx.cpu(0), mx.cpu(1)]), loader(), 1e-3, 0.1, 8)
    np.testing.assert_allclose(two.losses, one.losses, rtol=1e-5)


def test_it_stops_where_the_loss_explodes_and_suggests_less() -> None:
    made = estimator()
    curve = find_learning_rate(made, loader(), 1e-4, 1e4, 60)
    assert 3 < len(curve.rates) < 60
    assert 1e-3 < curve.suggestion < 2
    losses = []
    for rate in (1e-4, curve.suggestion):
        trained = estimator()
        trained.trainer.set_learning_rate(rate)
        trained.fit(loader(), epochs=3)
        losses.append(trained.train_metrics[-1].get()[1])
    assert losses[1] < losses[0] / 5


def test_batches_of_very_different_losses_do_not_end_it() -> None:
    x = np.ones((8, 1), "float32")
    y = np.repeat(np.array([0.01, 9, 9, 9], "float32"), 2)
    data = DataLoader(ArrayDataset(x, y), 2)
    assert len(find_learning_rate(estimator(), data, 1e-7, 1e-6, 40).rates) > 4


def test_stream_serves_as_data() -> None:
    def samples() -> Any:
        for i in range(20):
            yield np.full(3, i / 10, "float32"), np.float32(i / 10)

    data = DataLoader(samples, 4, num_workers=1, thread_pool=True)
    made = estimator()
    made.fit(data, epochs=1)
    assert len(find_learning_rate(made, data, 1e-4, 1e-2, 12).rates) == 12


def test_suggestion_is_the_steepest_fall() -> None:
    rates = [10.0**-i for i in (5, 4, 3, 2, 1)]
    curve = LearningRateCurve(rates, [9.0] * 5, [5.0, 4.9, 3.0, 1.0, 0.9])
    assert curve.suggestion == rates[2]  # central differences: -0.05, -1, -1.95, -1.05, -0.1
    assert "5 rates from 1e-05 to 0.1" in repr(curve)
    with pytest.raises(ArgumentError, match="never"):
        _ = LearningRateCurve(rates, rates, [1.0, 2.0, 3.0, 4.0, 5.0]).suggestion
    with pytest.raises(ArgumentError, match="at least 3 rates, got 1"):
        _ = LearningRateCurve([1.0], [1.0], [1.0]).suggestion


def test_the_noise_of_the_first_losses_is_no_suggestion() -> None:
    rates = [10.0 ** (i / 10) for i in range(30)]
    smoothed = [9.0, 5.0, *(5 - i / 100 for i in range(18)), *(4 - i / 10 for i in range(10))]
    assert LearningRateCurve(rates, smoothed, smoothed).suggestion == rates[20]


def test_picture_is_saved(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rates = [0.001, 0.01, 0.1]
    for smoothed in ([3.0, 2.0, 1.5], [1.0, 2.0, 3.0]):
        LearningRateCurve(rates, smoothed, smoothed).save(tmp_path / "rates.png")
        assert (tmp_path / "rates.png").read_bytes()[1:4] == b"PNG"


def find(**arguments: Any) -> Callable[[], Any]:
    return lambda: find_learning_rate(estimator(), loader(), **arguments)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (find(low=0), ArgumentError, "0 < low < high, got 0.0 and 10.0"),
    (find(low=1, high=1), ArgumentError, "low < high"),
    (find(high=math.inf), ArgumentError, "low < high"),
    (find(high="a"), ArgumentTypeError, "high to be a number"),
    (find(steps=2), ArgumentError, "steps"),
    (find(smoothing=1), ArgumentError, r"smoothing in \[0, 1\), got 1"),
    (find(stop_factor=1), ArgumentError, "stop_factor above 1"),
    (lambda: find_learning_rate(nn.Dense(1), loader()), ArgumentError, "an Estimator, got Dense"),  # type: ignore[arg-type]
    (lambda: find_learning_rate(estimator(), [1]), ArgumentError, "DataLoader, got list"),  # type: ignore[arg-type]
    (lambda: find_learning_rate(estimator(), DataLoader([], 1)), ArgumentError, "got none"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_bad_arguments_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
