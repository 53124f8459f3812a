import json
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

import gluonish as mx
from gluonish import callback
from gluonish.core.errors import ArgumentError
from gluonish.module.callback import (
    ProgressBar,
    Speedometer,
    do_checkpoint,
    log_train_metric,
    module_checkpoint,
)
from gluonish.module.feed_forward import BatchEndParam, load_checkpoint
from tests.golden.callback_calls import SETTINGS, logged, run

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "training_tools.json").read_text())


@pytest.fixture(scope="module")
def lines() -> dict[str, list[str]]:
    return run(mx, callback, BatchEndParam)


@pytest.mark.parametrize("name", ["other", *(f"speed {i}" for i in range(len(SETTINGS)))])
def test_log_lines_are_those_of_mxnet(lines: dict[str, list[str]], name: str) -> None:
    assert lines[name] == GOLDEN["callback"][name]


def test_every_loop_is_compared(lines: dict[str, list[str]]) -> None:
    assert sorted(lines) == sorted(GOLDEN["callback"])


def test_a_clock_that_stands_still_gives_infinite_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callback, "time", SimpleNamespace(time=lambda: 7.0))
    meter = Speedometer(4, frequent=1)
    with logged() as found:
        for number in range(2):
            meter(BatchEndParam(0, number, None, None))
    assert found == ["INFO root Iter[0] Batch [1]\tSpeed: inf samples/sec"]


def test_state_of_a_speedometer_is_told() -> None:
    meter = Speedometer(4, frequent=5)
    assert (meter.init, meter.tic, meter.last_count) == (False, 0, 0)
    meter(BatchEndParam(0, 3, None, None))
    assert meter.init
    assert meter.tic > 0
    assert meter.last_count == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: Speedometer(4, frequent=0),
        lambda: ProgressBar(0),
        lambda: log_train_metric(0),
        lambda: log_train_metric(-1),
    ],
)
def test_a_period_that_is_not_positive_is_refused(make) -> None:
    with pytest.raises(ArgumentError, match="expected a positive"):
        make()


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    return x, {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros(2)}


@pytest.mark.parametrize(
    ("period", "epochs"), [(1, [1, 2, 3, 4]), (2, [2, 4]), (0, [1, 2, 3, 4]), (2.5, [2, 4])]
)
def test_checkpoints_are_written_every_so_many_epochs(tmp_path: Path, period, epochs) -> None:
    symbol, arguments = network()
    save = do_checkpoint(str(tmp_path / "net"), period)
    for epoch in range(4):
        save(epoch, symbol, arguments, {})
    written = [f"net-{epoch:04d}.params" for epoch in epochs]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*written, "net-symbol.json"]


def test_a_checkpoint_is_told_and_can_be_loaded(tmp_path: Path, caplog) -> None:
    symbol, arguments = network()
    prefix = str(tmp_path / "net")
    with caplog.at_level(logging.INFO):
        do_checkpoint(prefix)(0, symbol, arguments, {})
    assert caplog.messages == [f'Saved checkpoint to "{prefix}-0001.params"']
    loaded, found, _ = load_checkpoint(prefix, 1)
    assert loaded.tojson() == symbol.tojson()
    assert found["fc_weight"].shape == (2, 3)


def test_a_module_writes_its_own_checkpoints() -> None:
    calls = []

    class Module:
        def save_checkpoint(self, prefix, epoch, save_optimizer_states=False):
            calls.append((prefix, epoch, save_optimizer_states))

    save = module_checkpoint(Module(), "net", period=2, save_optimizer_states=True)
    for epoch in range(5):
        save(epoch, None, None, None)
    assert calls == [("net", 2, True), ("net", 4, True)]
