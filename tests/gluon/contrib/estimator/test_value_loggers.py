"""Handlers that log a run: the real packages write to a folder, which is read back."""

import json
import logging
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon.contrib.estimator import (
    BatchEnd,
    Estimator,
    MLflowHandler,
    TensorBoardHandler,
    WandbHandler,
)
from tests.contrib.test_tensorboard import scalars

NAMES = {
    *("training/accuracy", "validation/accuracy", "average/accuracy"),
    *("learning_rate", "epoch"),
}


class PowerCut(BatchEnd):
    def __init__(self, after: int) -> None:
        self._left = after

    def batch_end(self, *args: Any, **kwargs: Any) -> None:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt


def fit(handlers: Any, **options: Any) -> Estimator:
    """Train for two epochs of three batches."""
    random = np.random.RandomState(0)
    x = random.randn(12, 3).astype("float32")
    dataset = mx.gluon.data.ArrayDataset(x, (x.sum(axis=1) > 0).astype("float32"))
    loader = mx.gluon.data.DataLoader(dataset, 4)
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.25})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    made = Estimator(net, loss, mx.metric.Accuracy(), trainer=trainer, context=mx.cpu())
    made.logger.setLevel(logging.ERROR)
    with suppress(KeyboardInterrupt):
        made.fit(loader, loader, 2, handlers, average=0.5, **options)
    return made


def last(estimator: Estimator) -> dict[str, float]:
    """Return the values at the end of a run, by the names in logs."""
    metrics = [*estimator.train_metrics, *estimator.val_metrics, *estimator.average_metrics]
    pairs = [metric.get() for metric in metrics]
    found = {name.replace(" ", "/"): float(value) for name, value in pairs}
    return {**found, "learning_rate": 0.25, "epoch": 2.0}


def test_tensorboard_reads_the_values(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="the extra `tensorboard` is not installed")
    estimator = fit(TensorBoardHandler(tmp_path, log_interval=2))
    found = scalars(tmp_path)
    steps = [step for name, step, _ in found if name == "training/accuracy"]
    assert steps == [2, 3, 4, 6, 6]  # of batches 2, 4 and 6, and of epochs
    ends = {name: value for name, step, value in found if step == 6}
    ends.pop("settings/text_summary", None)
    assert ends == pytest.approx(last(estimator))


def test_a_resumed_run_purges_what_the_killed_one_logged_later(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="the extra `tensorboard` is not installed")
    folder = str(tmp_path / "run")
    options: dict[str, Any] = {"checkpoints": folder, "resume": True}
    fit([TensorBoardHandler(tmp_path, log_interval=1), PowerCut(5)], **options)
    (first,) = tmp_path.glob("events.*")
    first.rename(tmp_path / "first")
    fit(TensorBoardHandler(tmp_path, log_interval=1), **options)
    steps = [step for name, step, _ in scalars(tmp_path) if name == "epoch"]
    assert steps == [4, 5, 6, 6]


@pytest.mark.filterwarnings("ignore:.*noload.*")  # of SQLAlchemy, for MLflow
@pytest.mark.parametrize("store", ["folder", "database"])
def test_mlflow_has_the_values_of_one_run_that_was_killed(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip(
        "mlflow", reason="the extra `mlflow` is not installed: it is heavy"
    )
    if store == "database":
        pytest.importorskip("alembic", reason="mlflow-skinny alone has no databases")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = f"file:{tmp_path}/store" if store == "folder" else f"sqlite:///{tmp_path}/runs.db"
    options: dict[str, Any] = {"checkpoints": str(tmp_path / "run"), "resume": True}

    def handler() -> MLflowHandler:
        return MLflowHandler(uri, "trials", "first", {"seed": 3}, log_interval=2)

    fit([handler(), PowerCut(5)], **options)
    estimator = fit(handler(), **options)
    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("trials")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.data.metrics == pytest.approx(last(estimator))
    assert set(run.data.metrics) == NAMES
    params = {"seed": "3", "optimizer": "SGD", "epochs": "2", "network": "Dense"}
    assert params.items() <= run.data.params.items()
    assert (run.info.status, run.info.run_name) == ("FINISHED", "first")
    history = client.get_metric_history(run.info.run_id, "training/accuracy")
    assert sorted({value.step for value in history}) == [2, 3, 4, 6]


def records(content: bytes) -> Iterator[bytes]:
    """Yield the records of a file of wandb: those of LevelDB's log after 7 bytes."""
    block, at, data = 32768, 7, b""
    while at + 7 <= len(content):
        if block - at % block < 7:
            at += block - at % block
            continue
        length, kind = struct.unpack_from("<HB", content, at + 4)
        data += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield data
            data = b""


def test_wandb_has_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="the extra `wandb`, a heavy one, is missing")
    from wandb.proto import wandb_internal_pb2

    protocol: Any = wandb_internal_pb2  # without types
    monkeypatch.setenv("WANDB_SILENT", "true")
    options: dict[str, Any] = {"checkpoints": str(tmp_path / "run"), "resume": True}

    def handler() -> WandbHandler:
        return WandbHandler(
            "trials", dir=tmp_path, mode="offline", config={"seed": 3}, log_interval=2
        )

    killed, resumed = handler(), handler()
    fit([killed, PowerCut(5)], **options)
    killed.close()
    estimator = fit(resumed, **options)
    assert resumed.run_id == killed.run_id
    files = sorted(tmp_path.glob("wandb/offline-run-*/*.wandb"), key=lambda x: x.stat().st_mtime)
    assert len(files) == 2
    rows: list[dict[str, Any]] = []
    config: dict[str, Any] = {}
    for data in records(files[-1].read_bytes()):
        record = protocol.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            items = record.history.item
            rows.append({x.key or "/".join(x.nested_key): json.loads(x.value_json) for x in items})
        elif record.WhichOneof("record_type") == "run":
            config |= {x.key: json.loads(x.value_json) for x in record.run.config.update}
    assert {"seed": 3, "optimizer": "SGD", "epochs": 2}.items() <= config.items()
    assert [row["_step"] for row in rows] == [4, 6]
    assert {name: rows[-1][name] for name in NAMES} == pytest.approx(last(estimator))


@pytest.mark.parametrize(
    ("package", "make"),
    [
        ("tensorboardX", lambda: TensorBoardHandler("logs")),
        ("mlflow", MLflowHandler),
        ("wandb", WandbHandler),
    ],
)
def test_a_missing_package_is_named(
    package: str, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(
        NotSupportedError, match=rf"expected the package {package}, got .*; install"
    ):
        fit(make())


def test_arguments_out_of_range_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected log_interval of 1 or more, got 0"):
        TensorBoardHandler("logs", log_interval=0)
    with pytest.raises(ArgumentTypeError, match="MLflowHandler: expected a dict of settings"):
        MLflowHandler(params=["seed"])  # type: ignore[arg-type]  # a mistake
    with pytest.raises(ArgumentTypeError, match="WandbHandler: dir: expected a path"):
        WandbHandler(dir=3)  # type: ignore[arg-type]  # a mistake
