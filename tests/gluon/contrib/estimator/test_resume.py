"""Checkpoints of Estimator.fit: what is written, and from what a run goes on to the same bits."""

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.core.file_records import held
from gluonish.gluon import nn
from gluonish.gluon.contrib.estimator import BatchEnd, EpochEnd, Estimator
from gluonish.gluon.contrib.estimator.packed_values import packed, unpacked
from gluonish.gluon.mixed_precision.loss_scaler import LossScaler
from gluonish.gluon.utils import WeightAverage
from gluonish.lr_scheduler import FactorScheduler, ReduceLROnPlateau, SequentialScheduler
from tests.gluon.contrib.estimator.resumable_run import result

COUNT, BATCH = 22, 4  # six batches an epoch
X = np.random.RandomState(0).randn(COUNT, 5).astype("float32")
Y = np.random.RandomState(1).randint(0, 3, COUNT).astype("float32")


class PowerCut(BatchEnd):
    """Ends a run after a number of batches."""

    priority = 1

    def __init__(self, after: int) -> None:
        self._left = after

    def batch_end(self, *args: Any, **kwargs: Any) -> None:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt


class Total(EpochEnd):
    """Adds up losses of epochs: a handler of a program, with a state."""

    counters = ("total", "seen")

    def __init__(self) -> None:
        self.total = 0.0
        self.seen: list[Any] = []

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.total += estimator.train_metrics[0].get()[1]
        self.seen.append((estimator.trainer.steps_done, np.float32(self.total)))


def make(optimizer: str = "adam", metrics: Any = None, **trainer: Any) -> Estimator:
    mx.random.seed_everything(11)
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=5), nn.BatchNorm(in_channels=4), nn.Dropout(0.3))
    net.add(nn.Dense(3, in_units=4))
    net.initialize(mx.init.Xavier(), ctx=mx.current_context())
    made = Estimator(
        net,
        mx.gluon.loss.SoftmaxCrossEntropyLoss(),
        metrics or [mx.metric.Loss("loss"), mx.metric.Accuracy()],
        trainer=mx.gluon.Trainer(
            net.collect_params(), optimizer, {"learning_rate": 0.05}, **trainer
        ),
        context=mx.current_context(),
    )
    made.logger.setLevel(logging.ERROR)
    return made


def loader(shuffle: bool = True) -> Any:
    dataset = mx.gluon.data.ArrayDataset(X, Y)
    return mx.gluon.data.DataLoader(dataset, BATCH, shuffle=shuffle)


Options = Callable[[], dict[str, Any]]


def fitted(
    folder: Path,
    options: Options,
    cut: int | None = None,
    make: Callable[[], Estimator] = make,
    **more: Any,
) -> tuple[Estimator, Total]:
    """Train in a folder until the end, or until a power cut after some batches."""
    estimator, total = make(), Total()
    handlers = [total] if cut is None else [total, PowerCut(cut)]
    arguments: dict[str, Any] = {
        "epochs": 4,
        "checkpoints": folder,
        "checkpoint_interval": 4,
        "resume": True,
        "average": 0.9,
        **options(),
        **more,
    }
    try:
        estimator.fit(loader(), loader(), event_handlers=handlers, **arguments)
    except KeyboardInterrupt:
        assert cut is not None
    return estimator, total


CASES: dict[str, Options] = {
    "plain": dict,
    "accumulated": lambda: {"accumulate": 4},
    "float16": lambda: {"precision": "float16", "accumulate": 4},
    "SWA": lambda: {"average": None, "early_stopping": 3},
    "factor": lambda: {"schedule": FactorScheduler(3, 0.5, base_lr=0.1)},
    "plateau": lambda: {"schedule": ReduceLROnPlateau(patience=0, threshold=0.5, base_lr=0.1)},
    "by epochs": lambda: {"schedule": lambda n: 0.1 / (n + 1), "schedule_interval": "epoch"},
    "sequence": lambda: {
        "schedule": SequentialScheduler(
            [FactorScheduler(2, 0.5, base_lr=0.1), FactorScheduler(3, 0.5, base_lr=0.2)], [9]
        )
    },
    "clipped": lambda: {"clip_grad_value": 0.01, "clip_grad_norm": 0.02},
}


@pytest.mark.parametrize("cut", [9, 23])
@pytest.mark.parametrize("case", CASES)
def test_an_interrupted_run_ends_with_the_same_bits(case: str, cut: int, tmp_path: Path) -> None:
    def options() -> dict[str, Any]:
        return CASES[case]()

    def ends(folder: Path, cut: int | None = None) -> Any:
        more: dict[str, Any] = {}
        found = make()
        if case == "SWA":
            more["average"] = WeightAverage(found.net, None)
        if case == "float16" and mx.current_context().device_type == "gpu":
            found._loss_scaler = LossScaler()  # the double warns of products that overflow
            found._loss_scaler._loss_scale = found._loss_scaler._next_loss_scale = 2.0**4
        estimator, total = fitted(folder, options, cut, lambda: found, **more)
        return None if cut else (result(estimator), total.seen)

    whole = ends(tmp_path / "whole")
    ends(tmp_path / "cut", cut)
    assert ends(tmp_path / "cut") == whole


@pytest.mark.parametrize("accumulate", [1, 4])
def test_a_trainer_that_accumulates_across_epochs_goes_on(accumulate: int, tmp_path: Path) -> None:
    def accumulating() -> Estimator:
        return make("sgd", accumulate=accumulate)

    whole, _ = fitted(tmp_path / "whole", dict, make=accumulating, checkpoint_interval=None)
    fitted(tmp_path / "cut", dict, 15, accumulating, checkpoint_interval=None)
    again, _ = fitted(tmp_path / "cut", dict, make=accumulating, checkpoint_interval=None)
    assert result(again) == result(whole)


@pytest.mark.parametrize(
    "metric",
    [
        lambda: mx.metric.AUROC(),
        lambda: mx.metric.ConfusionMatrix(2),
        lambda: mx.metric.PearsonCorrelation(),
        lambda: mx.metric.F1(average="micro"),
        lambda: mx.metric.Perplexity(None),
        lambda: mx.metric.TopKAccuracy(2),
    ],
)
def test_metrics_within_an_epoch_go_on(metric: Callable[[], Any]) -> None:
    def update(found: Any, number: int) -> None:
        random = np.random.RandomState(number)
        label = mx.nd.array(np.arange(6) % 2)
        pred = random.rand(6, 2).astype("float32")
        shape = (6,) if isinstance(found, mx.metric.AUROC | mx.metric.PearsonCorrelation) else None
        pred = pred[:, 0] if shape else pred / pred.sum(axis=1, keepdims=True)
        found.update([label], [mx.nd.array(pred)])

    whole, first, again = metric(), metric(), metric()
    for number in range(4):
        update(whole, number)
        whole.get()  # as a checkpoint does
        if number < 2:
            update(first, number)
            first.get()
    arrays: dict[str, Any] = {}
    state = json.loads(json.dumps(packed(first._all_sums(), arrays, "")))
    again._set_sums([unpacked(state, arrays)])
    for number in (2, 3):
        update(again, number)
        again.get()
    assert str(again.get()) == str(whole.get())


def test_packed_values_are_what_they_were() -> None:
    values = [
        (1, 2.5, None, "x", True, float("inf")),
        {"a": np.arange(3, dtype="int16"), 2: np.float32(0.1)},
        np.array([1.5, 2], dtype=ml_dtypes.bfloat16),
    ]
    arrays: dict[str, Any] = {}
    found = unpacked(json.loads(json.dumps(packed(values, arrays, "v"))), arrays)
    assert found[0] == values[0]
    assert isinstance(found[0], tuple)
    assert found[1]["a"].dtype == np.int16
    assert type(found[1][2]) is np.float32
    assert found[2].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found[2], values[2])
    with pytest.raises(ArgumentTypeError, match="expected numbers, texts, lists and arrays"):
        packed({1, 2}, arrays, "v")


def test_a_complete_run_is_loaded_and_more_epochs_follow_it(tmp_path: Path) -> None:
    whole, _ = fitted(tmp_path / "whole", dict, epochs=5)
    fitted(tmp_path / "parts", dict, epochs=3)
    ended, total = fitted(tmp_path / "parts", dict, epochs=3)
    assert (ended.trainer.steps_done, len(total.seen)) == (18, 3)
    longer, _ = fitted(tmp_path / "parts", dict, epochs=5)
    assert result(longer) == result(whole)


def test_a_run_that_stopped_early_stays_stopped(tmp_path: Path) -> None:
    def options() -> dict[str, Any]:
        return {"early_stopping": {"patience": 1, "baseline": -1.0}, "epochs": 9}

    first, _ = fitted(tmp_path, options)
    assert first.trainer.steps_done == 6
    again, _ = fitted(tmp_path, options)
    assert result(again) == result(first)


def test_the_best_parameters_are_kept(tmp_path: Path) -> None:
    losses, weights = [], []

    class Losses(EpochEnd):
        priority = 5

        def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            losses.append(estimator.val_metrics[0].get()[1])
            weights.append(estimator.net[0].weight.data().asnumpy())

    estimator = make()
    schedule = [0.1, 0.1, 3.0, 0.1].__getitem__  # the third epoch makes it worse
    options: dict[str, Any] = {"schedule": schedule, "schedule_interval": "epoch"}
    estimator.fit(
        loader(), loader(), 4, Losses(), checkpoints=tmp_path, monitor="validation loss", **options
    )
    best = int(np.argmin(losses))
    assert best < 3
    assert json.loads((tmp_path / "best.json").read_text())["epoch"] == best
    net: Any = make().net
    net.load_parameters(tmp_path / "best.params")
    np.testing.assert_array_equal(net[0].weight.data().asnumpy(), weights[best])


def test_the_best_parameters_are_the_averages_if_these_are_monitored(tmp_path: Path) -> None:
    estimator = make()
    estimator.fit(loader(), loader(), 1, checkpoints=tmp_path, average=0.9)
    assert json.loads((tmp_path / "best.json").read_text())["monitor"] == "average loss"
    net = make().net
    net.load_parameters(tmp_path / "best.params")
    assert estimator.average is not None
    estimator.average.copy_to(estimator.net)
    for own, found in zip(
        estimator.net.collect_params().values(), net.collect_params().values(), strict=True
    ):
        np.testing.assert_array_equal(own.data().asnumpy(), found.data().asnumpy())


@pytest.mark.parametrize("most", [1, 3])
def test_the_oldest_checkpoints_are_removed(most: int, tmp_path: Path) -> None:
    make().fit(
        loader(), epochs=2, checkpoints=tmp_path, checkpoint_interval=2, max_checkpoints=most
    )
    names = {name for name in os.listdir(tmp_path) if name[0] == "0"}
    numbers = [12, 10, 8][:most]
    assert names == {f"{n:08d}.{x}" for n in numbers for x in ("params", "states", "npz", "json")}


@pytest.mark.parametrize("ending", ["params", "states", "npz", "json"])
def test_a_damaged_checkpoint_is_passed_over(ending: str, tmp_path: Path) -> None:
    whole, _ = fitted(tmp_path / "whole", dict, average=None)
    folder = tmp_path / "damaged"
    fitted(folder, dict, 9, average=None, max_checkpoints=3)
    newest = folder / f"00000008.{ending}"
    newest.write_bytes(newest.read_bytes()[:-7])
    again, _ = fitted(folder, dict, average=None)
    assert weights_of(again) == weights_of(whole)


def weights_of(estimator: Estimator) -> list[bytes]:
    params = estimator.net._collect_params_with_prefix()
    return [param.data().asnumpy().tobytes() for _, param in sorted(params.items())]


def test_a_folder_with_checkpoints_needs_resume(tmp_path: Path) -> None:
    make().fit(loader(), epochs=1, checkpoints=tmp_path)
    with pytest.raises(ArgumentError, match=r"which has one after 6 batches; pass resume=True"):
        make().fit(loader(), epochs=1, checkpoints=tmp_path)


def test_a_folder_that_another_run_writes_to_is_refused(tmp_path: Path) -> None:
    with (
        held(tmp_path, "fit", ""),
        pytest.raises(ArgumentError, match="that no other run writes to"),
    ):
        make().fit(loader(), epochs=1, checkpoints=tmp_path)


def test_a_checkpoint_of_other_metrics_is_refused(tmp_path: Path) -> None:
    make().fit(loader(), epochs=1, checkpoints=tmp_path)
    other = make(metrics=mx.metric.Loss("other"))
    with pytest.raises(FileFormatError, match=r"of the metrics \['training other'"):
        other.fit(loader(), epochs=2, checkpoints=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resume": True}, "expected resume with checkpoints, got no folder"),
        ({"checkpoint_interval": 3}, "expected checkpoint_interval with checkpoints"),
        ({"checkpoint_interval": 0, "checkpoints": "x"}, "checkpoint_interval of 1 or more, got 0"),
        ({"max_checkpoints": 0}, "expected max_checkpoints of 1 or more, got 0"),
        ({"resume": 2}, "expected resume to be one of None, True, False, got 2"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make().fit(loader(), epochs=1, **options)


def test_runs_that_differ_from_the_checkpoint_are_refused_in_words(tmp_path: Path) -> None:
    options: dict[str, Any] = {"epochs": 2, "checkpoints": tmp_path, "resume": True}
    make().fit(loader(), loader(), **options)
    with pytest.raises(FileFormatError, match=r"a run with val_data, .*, got one without"):
        make().fit(loader(), **options)
    with pytest.raises(
        ArgumentError, match=r"optimizer of the checkpoint .*, Adam, got .* with SGD"
    ):
        make("sgd").fit(loader(), loader(), **options)


@pytest.mark.parametrize(
    "change", [{"position": {}}, {"position": None}, {"ranks": 5}, {"best": "x"}]
)
def test_a_record_with_other_values_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    options: dict[str, Any] = {"checkpoints": tmp_path, "resume": True, "max_checkpoints": 2}
    make().fit(loader(), epochs=2, **options)
    record = max(tmp_path.glob("0*.json"))
    record.write_text(json.dumps({**json.loads(record.read_text()), **change}))
    make().fit(loader(), epochs=2, **options)
    assert json.loads(record.read_text())["position"]["epoch"] == 2
