"""The text of every public object says what it is, rather than at which address it lies."""

import ctypes
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon
from gluonish.gluon.contrib import estimator
from gluonish.gluon.data import batchify
from gluonish.metric.counts import CountingMetric
from gluonish.metric.regression import Distance
from gluonish.metric.samples import SampleMetric

X, Y = np.zeros((10, 3), np.float32), np.zeros(10, np.int32)
# Pointers and structures of C, of MXNet's own modules.
FOREIGN = (BaseException, ctypes.Structure, ctypes._Pointer)


def reached(module: ModuleType, seen: set[str]) -> Iterator[type]:
    """The classes that lists of public names lead to."""
    for name in getattr(module, "__all__", ()):
        value: Any = getattr(module, name, None)
        if inspect.isclass(value) and value.__module__.startswith("gluonish"):
            yield value
        ours = inspect.ismodule(value) and value.__name__.startswith("gluonish")
        if ours and value.__name__ not in seen:
            seen.add(value.__name__)
            yield from reached(value, seen)


def test_every_public_class_has_a_text_of_its_own() -> None:
    classes = set(reached(mx, set()))
    assert len(classes) > 450
    plain = {c for c in classes if c.__repr__ is object.__repr__ and not issubclass(c, FOREIGN)}
    plain = {c for c in plain if c.__name__ != "GraphProto"}  # of onnx, or its stand-in
    assert {f"{c.__module__}.{c.__name__}" for c in plain} == set()


def check(value: object) -> None:
    text = repr(value)
    assert text.startswith(type(value).__name__)
    assert " at 0x" not in text
    assert "\n" not in text


@pytest.mark.parametrize("name", sorted(mx.optimizer.Optimizer.opt_registry))
def test_optimizers_say_their_rate(name: str) -> None:
    value = mx.optimizer.create(name, learning_rate=0.125)
    check(value)
    assert "learning_rate=0.125" in repr(value)


REQUIRED = {
    "topkaccuracy": {"top_k": 3},
    "topkaccuracyperclass": {"num_classes": 3},
    "confusionmatrix": {"num_classes": 3},
    "meaniou": {"num_classes": 3},
    "perplexity": {"ignore_label": None},
    "custommetric": {"feval": max},
    "constant": {"value": 1},
    "distance": {"name": "far"},
    "fusedrnn": {"init": None, "num_hidden": 2, "num_layers": 1, "mode": "lstm"},
    "rnnfused": {"mode": "lstm", "num_layers": 1, "state_size": 2},
    "mixed": {"patterns": [".*"], "initializers": [mx.init.Zero()]},
    "load": {"param": {"w": X}},
}


def registered(base: type) -> list[type]:
    found = set()
    left = [base]
    while left:
        kind = left.pop()
        found.add(kind)
        left += kind.__subclasses__()
    public = [c for c in found if c.__module__.startswith("gluonish") and c.__name__[0] != "_"]
    return sorted(public, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("base", [mx.metric.EvalMetric, mx.init.Initializer])
def test_metrics_and_initializers_have_texts(base: type) -> None:
    kinds = registered(base)
    assert len(kinds) > 10
    for kind in kinds:
        if kind in (
            mx.metric.EvalMetric,
            Distance,
            CountingMetric,
            SampleMetric,
        ):  # bases that need a name
            continue
        check(kind(**REQUIRED.get(kind.__name__.lower(), {})))


def of_schedule(name: str, **arguments: Any) -> Any:
    return getattr(mx.lr_scheduler, name)(**arguments)


def of_module() -> Any:
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(data, name="softmax"))
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    return module


def of_loader() -> Any:
    dataset = gluon.data.ArrayDataset(X, Y)
    return gluon.data.DataLoader(dataset, 4, shuffle=True, num_workers=0)


def twice(x: Any, y: Any) -> Any:
    return x * 2, y


class Files(gluon.data.Dataset):
    """A dataset as a program writes it."""

    def __init__(self, root: str, train: bool = True) -> None:
        self.root, self.train = root, train

    def __len__(self) -> int:
        return 7


class Halves(mx.lr_scheduler.LRScheduler):
    def __init__(self, every: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.every = every


TEXTS: dict[str, tuple[Callable[[], Any], str]] = {
    "Adam": (
        lambda: mx.optimizer.Adam(wd=1e-4, clip_gradient=1.0),
        "Adam(learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0.0001, "
        "clip_gradient=1.0)",
    ),
    "SGD": (lambda: mx.optimizer.SGD(momentum=0.9), "SGD(momentum=0.9, learning_rate=0.01)"),
    "Constraint": (
        lambda: gluon.probability.constraint.Interval(0, 2.5),
        "Interval(lower_bound=0, upper_bound=2.5)",
    ),
    "InverseTransformation": (
        lambda: gluon.probability.AffineTransform(1.0, 3.0).inv,
        "AffineTransform(loc=1.0, scale=3.0).inv",
    ),
    "Updater": (
        lambda: mx.optimizer.get_updater(mx.optimizer.SGD()),
        "Updater(optimizer=SGD(learning_rate=0.01))",
    ),
    "factor": (
        lambda: of_schedule("FactorScheduler", step=10, factor=0.5, base_lr=0.1),
        "FactorScheduler(step=10, factor=0.5, stop_factor_lr=1e-08, base_lr=0.1)",
    ),
    "cosine": (
        lambda: of_schedule("CosineScheduler", max_update=9, base_lr=0.1, warmup_steps=2),
        "CosineScheduler(max_update=9, base_lr=0.1, warmup_steps=2, warmup_mode='linear')",
    ),
    "own schedule": (lambda: Halves(3, base_lr=0.5), "Halves(every=3, base_lr=0.5)"),
    "Accuracy": (mx.metric.Accuracy, "Accuracy(axis=1, name='accuracy')"),
    "Composite": (
        lambda: mx.metric.create(["acc", "mae"]),
        "CompositeEvalMetric(metrics=[Accuracy(axis=1, name='accuracy'), MAE(name='mae')], "
        "name='composite')",
    ),
    "Xavier": (mx.init.Xavier, "Xavier(rnd_type='uniform', factor_type='avg', magnitude=3.0)"),
    "Mixed": (
        lambda: mx.init.Mixed([".*bias", ".*"], [mx.init.Zero(), mx.init.Uniform(0.1)]),
        "Mixed({'.*bias': Zero(), '.*': Uniform(scale=0.1)})",
    ),
    "ArrayDataset": (
        lambda: gluon.data.ArrayDataset(X, Y),
        "ArrayDataset(10 samples, ndarray (10, 3) float32, ndarray (10,) int32)",
    ),
    "transformed": (
        lambda: gluon.data.SimpleDataset([1, 2]).transform(twice),
        "_LazyTransformDataset(SimpleDataset(2 samples), transform=twice)",
    ),
    "taken": (
        lambda: gluon.data.SimpleDataset([1, 2]).take(1),
        "_SampledDataset(1 samples, of SimpleDataset(2 samples))",
    ),
    "own dataset": (lambda: Files("/data"), "Files(7 samples, root='/data')"),
    "no length": (gluon.data.Dataset, "Dataset()"),
    "DataLoader": (
        of_loader,
        "DataLoader(ArrayDataset(10 samples, ndarray (10, 3) float32, ndarray (10,) int32), "
        "3 batches, batch_sampler=BatchSampler(sampler=RandomSampler(length=10), batch_size=4, "
        "last_batch='keep'), num_workers=0)",
    ),
    "FilterSampler": (
        lambda: gluon.data.FilterSampler(bool, [0, 1, 2]),
        "FilterSampler(2 samples)",
    ),
    "Group": (
        lambda: batchify.Group(batchify.Stack(), batchify.Pad(val=-1)),
        "Group(Stack(), Pad(val=-1))",
    ),
    "KVStore": (
        lambda: mx.kv.create("device"),
        "KVStore(type='device', rank=0, num_workers=1)",
    ),
    "own store": (mx.kv.KVStoreBase, "KVStoreBase()"),
    "NDArrayIter": (
        lambda: mx.io.NDArrayIter(X, Y, batch_size=5),
        "NDArrayIter(data (5, 3), softmax_label (5,), batch_size=5)",
    ),
    "own iterator": (lambda: mx.io.DataIter(3), "DataIter(batch_size=3)"),
    "DataBatch": (
        lambda: mx.io.DataBatch([mx.nd.ones((2, 3))]),
        "DataBatch: data shapes: [(2, 3)] label shapes: None",
    ),
    "Module": (
        of_module,
        "Module(data_names=['data'], output_names=['softmax_output'], binded=True)",
    ),
    "Executor": (
        lambda: of_module()._exec_group.execs[0],
        "Executor(<Symbol softmax>, on cpu(0), arguments={'data': (2, 3), 'fc_weight': (3, 3), "
        "'fc_bias': (3,), 'softmax_label': (2,)})",
    ),
    "StoppingHandler": (lambda: estimator.StoppingHandler(3), "StoppingHandler(max_epoch=3)"),
    "EarlyStoppingHandler": (
        lambda: estimator.EarlyStoppingHandler(mx.metric.MAE(), patience=2, mode="min"),
        "EarlyStoppingHandler(monitor=MAE(name='mae'), patience=2)",
    ),
    "Speedometer": (lambda: mx.callback.Speedometer(8), "Speedometer(batch_size=8, frequent=50)"),
    "cells": (
        lambda: mx.rnn.BidirectionalCell(mx.rnn.GRUCell(2), mx.rnn.GRUCell(2)),
        "BidirectionalCell(GRUCell(num_hidden=2, prefix='gru_'), "
        "GRUCell(num_hidden=2, prefix='gru_'), output_prefix='bi_')",
    ),
    "augmenter": (
        lambda: mx.image.ColorJitterAug(0.1, 0, 0.2),
        "ColorJitterAug(BrightnessJitterAug(brightness=0.1), SaturationJitterAug(saturation=0.2))",
    ),
    "record": (mx.autograd.record, "ModeScope(recording=True, training=True)"),
    "predict_mode": (mx.autograd.predict_mode, "ModeScope(training=False)"),
    "np_shape": (lambda: mx.np_shape(True), "NumpyScope(shape=True, array=None)"),
    "AttrScope": (lambda: mx.AttrScope(ctx_group="a"), "AttrScope(ctx_group='a')"),
    "Task": (lambda: mx.profiler.Task(mx.profiler.Domain("d"), "t"), "Task(name='t')"),
    "Vocabulary": (
        lambda: mx.contrib.text.vocab.Vocabulary(Counter("abc")),
        "Vocabulary(4 tokens)",
    ),
    "LossScaler": (
        mx.contrib.amp.loss_scaler.LossScaler,
        "LossScaler(loss_scale=65536.0)",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_of(name: str) -> None:
    make, text = TEXTS[name]
    assert repr(make()) == text


def test_files_of_records_say_their_paths(tmp_path: Path) -> None:
    path = str(tmp_path / "a.rec")
    with_index = mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), path, "w")
    with_index.write_idx(0, b"abc")
    with_index.close()
    assert repr(with_index) == (
        f"MXIndexedRecordIO(idx_path={str(tmp_path / 'a.idx')!r}, uri={path!r}, flag='w')"
    )
    assert repr(mx.recordio.MXRecordIO(path, "r")) == f"MXRecordIO(uri={path!r}, flag='r')"
    dataset = gluon.data.RecordFileDataset(path)
    assert repr(dataset) == f"RecordFileDataset(1 samples, filename={path!r})"


def test_an_estimator_says_what_it_trains_by_what() -> None:
    net = gluon.nn.Dense(2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    value = estimator.Estimator(
        net, gluon.loss.L2Loss(), train_metrics=mx.metric.MAE(), trainer=trainer
    )
    assert repr(value).startswith(
        "Estimator(net=Dense(None -> 2, linear), loss=L2Loss(batch_axis=0, w=1.0), "
        "train_metrics=[MAE(name='training mae')]"
    )
    check(value)
