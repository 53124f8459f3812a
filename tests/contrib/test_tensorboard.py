"""Metrics for TensorBoard, read back from the event files."""

import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from gluonish import metric
from gluonish.contrib.tensorboard import LogMetricsCallback, summary_writer
from gluonish.core.errors import NotSupportedError
from gluonish.module.feed_forward import BatchEndParam
from gluonish.ndarray import array

pytest.importorskip("tensorboardX", reason="the extra `tensorboard` is not installed")


def scalars(folder: Path) -> list[tuple[str, int, float]]:
    """Tag, step and value of all scalars in a folder's event files, which are TFRecord files."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        content, at = path.read_bytes(), 0
        while at < len(content):
            (length,) = struct.unpack_from("<Q", content, at)
            event: Any = Event.FromString(content[at + 12 : at + 12 + length])
            found += [(v.tag, event.step, v.simple_value) for v in event.summary.value]
            at += 12 + length + 4
    return found


def parameters(epoch: int) -> BatchEndParam:
    accuracy = metric.create(["acc", "ce"])
    accuracy.update([array([1, 0])], [array([[0.3, 0.7], [0.6, 0.4]])])
    return BatchEndParam(epoch=epoch, nbatch=7, eval_metric=accuracy, locals=None)


def test_values_have_the_names_and_steps_of_mxnet(tmp_path: Path) -> None:
    callback = LogMetricsCallback(tmp_path, prefix="train")
    callback(parameters(3))
    callback.summary_writer.close()
    # What MXNet 1.9.1 gave a writer in place of mxboard's.
    assert [row[:2] for row in scalars(tmp_path)] == [
        ("train-accuracy", 3),
        ("train-cross-entropy", 3),
    ]
    assert [row[2] for row in scalars(tmp_path)] == pytest.approx([1.0, 0.4337502717971802])


def test_without_a_prefix_names_are_the_metrics(tmp_path: Path) -> None:
    callback = LogMetricsCallback(tmp_path)
    callback(parameters(4))
    callback.summary_writer.close()
    assert [row[:2] for row in scalars(tmp_path)] == [("accuracy", 4), ("cross-entropy", 4)]


def test_without_a_metric_nothing_is_written(tmp_path: Path) -> None:
    callback = LogMetricsCallback(tmp_path)
    callback(BatchEndParam(epoch=3, nbatch=7, eval_metric=None, locals=None))
    callback.summary_writer.close()
    assert scalars(tmp_path) == []


def test_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(NotSupportedError, match="pip install tensorboardX"):
        summary_writer(tmp_path)
    with pytest.raises(NotSupportedError, match="pip install tensorboardX"):
        LogMetricsCallback(tmp_path)
