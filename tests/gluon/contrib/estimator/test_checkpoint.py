"""CheckpointHandler: what it writes, keeps, and resumes from."""

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, MissingFileError
from gluonish.gluon.contrib import estimator as module
from gluonish.gluon.contrib.estimator import BatchEnd, CheckpointHandler
from tests.golden.estimator_runs import loader, make, weights


def trained(handler: Any, hybrid: bool = False, **fit: Any) -> tuple[Any, list[str]]:
    """Return an Estimator after `fit`, and its lines."""
    estimator, lines = make(mx, module, hybrid)
    handler = handler(estimator) if not isinstance(handler, list) else handler
    estimator.fit(loader(mx), event_handlers=handler, **fit)
    return estimator, lines


@pytest.mark.parametrize("hybrid", [False, True])
def test_resumed_training_ends_where_an_uninterrupted_one_does(
    tmp_path: Path, hybrid: bool
) -> None:
    whole, _ = trained([], hybrid, epochs=5)
    trained([CheckpointHandler(tmp_path)], hybrid, epochs=2)
    again = CheckpointHandler(tmp_path, resume_from_checkpoint=True)
    resumed, lines = trained([again], hybrid, epochs=5)
    assert weights(resumed) == weights(whole)
    assert lines[0] == (
        "CheckpointHandler: Checkpoint resumed from epoch 1 batch 6, continue to train for 3 "
        "epochs "
    )
    assert resumed.max_epoch == 3


def test_training_interrupted_within_an_epoch_resumes_from_the_last_one(tmp_path: Path) -> None:
    class PowerCut(BatchEnd):
        count = 0

        def batch_end(self, *args: Any, **kwargs: Any) -> None:
            self.count += 1
            if self.count == 8:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained([CheckpointHandler(tmp_path), PowerCut()], epochs=5)
    again = CheckpointHandler(tmp_path, resume_from_checkpoint=True)
    resumed, _ = trained([again], epochs=4)
    assert weights(resumed) == weights(trained([], epochs=4)[0])


@pytest.mark.parametrize("failing", ["parameters", "states"])
def test_parameters_and_states_are_written_together(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator, _ = make(mx, module)

    def fail(*args: Any) -> None:
        raise OSError("disk full")

    owner = estimator.net if failing == "parameters" else estimator.trainer
    monkeypatch.setattr(owner, f"save_{failing}", fail)
    with pytest.raises(OSError, match="disk full"):
        estimator.fit(loader(mx), epochs=1, event_handlers=[CheckpointHandler(tmp_path)])
    assert os.listdir(tmp_path) == []
    _, lines = trained([CheckpointHandler(tmp_path, resume_from_checkpoint=True)], epochs=1)
    assert lines[0] == "CheckpointHandler: No checkpoint found, training from scratch for 1 epochs"


def test_only_whole_names_of_the_prefix_are_resumed_from(tmp_path: Path) -> None:
    trained([CheckpointHandler(tmp_path, "model")], epochs=2)
    trained([CheckpointHandler(tmp_path, "modelx")], epochs=3)
    (tmp_path / "model-epoch9batch9.params.tmp").touch()
    again = CheckpointHandler(tmp_path, "model", resume_from_checkpoint=True)
    trained([again], epochs=3)
    assert (again.trained_epoch, again.trained_batch) == (1, 6)


def test_epochs_are_ordered_as_numbers(tmp_path: Path) -> None:
    trained([CheckpointHandler(tmp_path, max_checkpoints=20)], epochs=11)
    again = CheckpointHandler(tmp_path, resume_from_checkpoint=True)
    trained([again], epochs=12)
    assert again.trained_epoch == 10


def test_finished_training_is_not_resumed(tmp_path: Path) -> None:
    trained([CheckpointHandler(tmp_path)], epochs=2)
    with pytest.raises(ArgumentError, match="expected more than the 2 epochs of the checkpoint"):
        trained([CheckpointHandler(tmp_path, resume_from_checkpoint=True)], epochs=2)


def test_finished_batches_are_not_resumed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"batch_period": 2, "epoch_period": None}
    trained([CheckpointHandler(tmp_path, **options)], batches=4)
    again = CheckpointHandler(tmp_path, **options, resume_from_checkpoint=True)
    with pytest.raises(ArgumentError, match="expected more than the 4 batches"):
        trained([again], batches=4)


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"batch_period": 2}, {"epochs": 3}, "batch_period=None to resume training by epoch"),
        ({}, {"batches": 9}, "epoch_period=None to resume training by batch, got 1"),
    ],
)
def test_periods_must_fit_a_training_that_is_resumed(
    tmp_path: Path, options: dict[str, Any], fit: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        trained([CheckpointHandler(tmp_path, **options, resume_from_checkpoint=True)], **fit)


def test_missing_states_are_named(tmp_path: Path) -> None:
    trained([CheckpointHandler(tmp_path)], epochs=1)
    (tmp_path / "model-epoch0batch3.states").unlink()
    with pytest.raises(MissingFileError, match=r"model-epoch0batch3\.states"):
        trained([CheckpointHandler(tmp_path, resume_from_checkpoint=True)], epochs=2)


def test_exported_symbol_and_parameters_load_together(tmp_path: Path) -> None:
    estimator, _ = trained([CheckpointHandler(tmp_path)], True, epochs=1)
    graph = mx.sym.load(str(tmp_path / "model-symbol.json"))
    assert set(graph.list_arguments()) == {"data", *estimator.net.collect_params()}


def test_network_that_is_not_hybridized_has_no_symbol(tmp_path: Path) -> None:
    _, lines = trained([CheckpointHandler(tmp_path)], epochs=1)
    assert not (tmp_path / "model-symbol.json").exists()
    assert any(line.startswith("Model architecture(symbol file) is not saved") for line in lines)


def test_network_that_has_no_graph_is_trained_without_its_symbol(tmp_path: Path) -> None:
    class Masked(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.dense = mx.gluon.nn.Dense(2, in_units=3)

        def forward(self, x: Any, *args: Any) -> Any:
            return self.dense(mx.nd.contrib.boolean_mask(x, x[:, 0] > -100))

    net = Masked()
    net.initialize()
    net.hybridize()
    estimator, lines = make(mx, module)
    estimator.net = net
    estimator.trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    estimator.fit(loader(mx), epochs=1, event_handlers=[CheckpointHandler(tmp_path)])
    assert any("not saved: " in line and "shape depends on values" in line for line in lines)
    assert sorted(os.listdir(tmp_path)) == [
        "model-epoch0batch3.params",
        "model-epoch0batch3.states",
    ]


def test_second_training_renews_its_checkpoints(tmp_path: Path) -> None:
    # MXNet 1.9.1 removes the file that the second training has just written.
    handler = CheckpointHandler(tmp_path, max_checkpoints=2)
    estimator, _ = trained([handler], epochs=2)
    estimator.fit(loader(mx), epochs=3, event_handlers=[handler])
    names = {name.split(".")[0] for name in os.listdir(tmp_path)}
    assert names == {"model-epoch1batch6", "model-epoch2batch9"}
    assert handler.saved_checkpoints == ["model-epoch1batch6", "model-epoch2batch9"]


def test_verbose_lines_count_batches_and_name_both_values(tmp_path: Path) -> None:
    # MXNet 1.9.1 counts one batch too many and shows the new value as the old one.
    _, lines = trained(
        lambda estimator: CheckpointHandler(
            tmp_path, "m", estimator.train_metrics[0], 1, save_best=True, mode="max"
        ),
        epochs=2,
    )
    own = [line.replace(str(tmp_path), "D") for line in lines if "CheckpointHandler:" in line]
    assert own == [
        "[Epoch 0] CheckpointHandler: trained total 3 batches, saving model at D with prefix: "
        "m-epoch0batch3",
        "[Epoch 0] CheckpointHandler: training accuracy improved from -inf to 0.50000, updating "
        "best model at D with prefix: m-best",
        "[Epoch 1] CheckpointHandler: trained total 6 batches, saving model at D with prefix: "
        "m-epoch1batch6",
        "[Epoch 1] CheckpointHandler: training accuracy did not improve from 0.50000, skipping "
        "updating best model",
    ]


def test_best_weights_are_those_of_the_best_epoch(tmp_path: Path) -> None:
    estimator, _ = make(mx, module)
    series = iter([1.0, 3.0, 2.0])
    seen: list[list[float]] = []

    def value() -> tuple[str, float]:
        seen.append(weights(estimator))
        return "fake", next(series)

    monitor = mx.metric.Loss()
    monitor.get = value  # type: ignore[method-assign]
    handler = CheckpointHandler(tmp_path, monitor=monitor, save_best=True, mode="max")
    estimator.logger.setLevel(logging.ERROR)
    estimator.fit(loader(mx), epochs=3, event_handlers=[handler])
    estimator.net.load_parameters(str(tmp_path / "model-best.params"))
    assert weights(estimator) == seen[1]
    assert handler.best == 3.0


def test_monitor_without_a_value_warns_and_saves_no_best(tmp_path: Path) -> None:
    other = mx.metric.Accuracy()
    handler = CheckpointHandler(tmp_path, monitor=other, save_best=True, mode="max")
    with pytest.warns(RuntimeWarning, match="a value of accuracy, got NaN, so that no best model"):
        trained([handler], epochs=1)
    assert not (tmp_path / "model-best.params").exists()


def test_folder_is_made(tmp_path: Path) -> None:
    CheckpointHandler(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"save_best": True}, "monitor to be one metric, got None"),
        ({"epoch_period": -1}, "epoch_period of at least 1 or None, got -1"),
        ({"batch_period": 1.5}, "batch_period of at least 1 or None, got 1.5"),
        ({"max_checkpoints": -1}, "max_checkpoints of at least 0, got -1"),
    ],
)
def test_wrong_argument_is_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=f"CheckpointHandler: expected {message}"):
        CheckpointHandler(tmp_path, **options)


def test_folder_that_is_no_path_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"model_dir: expected a path, .* got None"):
        CheckpointHandler(None)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(ArgumentError, match="model_dir: expected a path without NUL"):
        CheckpointHandler("a\0b")


def test_folder_in_bytes_is_taken(tmp_path: Path) -> None:
    trained([CheckpointHandler(os.fsencode(tmp_path / "new"))], epochs=1)
    assert (tmp_path / "new" / "model-epoch0batch3.params").exists()


def test_states_hold_the_momentum(tmp_path: Path) -> None:
    estimator, _ = trained([CheckpointHandler(tmp_path)], epochs=1)
    fresh, _ = make(mx, module)
    fresh.net.load_parameters(str(tmp_path / "model-epoch0batch3.params"))
    fresh.trainer.load_states(str(tmp_path / "model-epoch0batch3.states"))
    for one in (estimator, fresh):
        one.fit(loader(mx), epochs=1)
    np.testing.assert_array_equal(weights(fresh), weights(estimator))


@pytest.mark.parametrize("ending", [".safetensors", ".npz"])
def test_a_prefix_says_the_format_of_the_parameters(ending: str, tmp_path: Path) -> None:
    whole, _ = trained([], epochs=3)
    first = CheckpointHandler(tmp_path, f"m{ending}", max_checkpoints=1)
    trained([first], epochs=2)
    assert (
        sorted(path.name for path in tmp_path.iterdir())
        == [
            f"m-epoch1batch6{ending}",
            "m-epoch1batch6.states",
        ][:: 1 if ending < ".states" else -1]
    )
    again = CheckpointHandler(tmp_path, f"m{ending}", resume_from_checkpoint=True)
    resumed, _ = trained([again], epochs=3)
    assert weights(resumed) == weights(whole)
