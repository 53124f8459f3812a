"""Runs of an Estimator, by MXNet and by gluonish alike; results as plain lists and dicts."""

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

HANDLER_EVENTS = (
    "train_begin",
    "epoch_begin",
    "batch_begin",
    "batch_end",
    "epoch_end",
    "train_end",
)
EARLY: list[tuple[list[float], dict[str, Any]]] = [
    ([1, 2, 3, 3, 3, 3], {"mode": "max"}),
    ([1, 2, 3, 3, 3, 3], {"mode": "max", "patience": 2}),
    ([5, 4, 3, 3, 3, 3], {"mode": "min"}),
    ([5, 4, 3, 3, 3, 3], {"mode": "min", "patience": 1}),
    ([1, 1.05, 1.1, 1.15, 1.2, 2], {"mode": "max", "min_delta": 0.1}),
    ([1, 1.05, 1.1, 1.2, 1.2, 2], {"mode": "max", "min_delta": 0.1, "patience": 2}),
    ([5, 4.8, 4.4, 4, 3, 2], {"mode": "min", "min_delta": 0.5, "patience": 2}),
    ([1, 2, 3, 4, 5, 6], {"mode": "max", "baseline": 2.5}),
    ([1, 2, 3, 4, 5, 5], {"mode": "max", "baseline": 2.5, "patience": 3}),
    ([5, 4, 3, 2, 1, 1], {"mode": "min", "baseline": 2.5, "patience": 4}),
    ([1, float("nan"), 2, 2, 2, 2], {"mode": "max"}),
    ([1, 2, 2, 2, 2, 2], {}),
]
CHECKPOINTS: dict[str, tuple[bool, dict[str, Any], dict[str, Any]]] = {
    "default": (False, {}, {"epochs": 7}),
    "hybridized": (True, {"model_prefix": "m"}, {"epochs": 2}),
    "both periods": (True, {"batch_period": 2}, {"epochs": 3}),
    "batches": (False, {"batch_period": 2, "epoch_period": None}, {"batches": 7}),
    "epochs by two": (False, {"epoch_period": 2}, {"epochs": 5}),
    "two kept": (False, {"max_checkpoints": 2}, {"epochs": 5}),
    "none kept": (False, {"max_checkpoints": 0}, {"epochs": 2}),
    "stopped within": (False, {}, {"batches": 4}),
    "resumable": (False, {"resume_from_checkpoint": True}, {"epochs": 2}),
}
RESUMED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "epochs": ({}, {"epochs": 2}, {"epochs": 5}),
    "epochs by two": ({"epoch_period": 2}, {"epochs": 5}, {"epochs": 6}),
    "from scratch": ({"resume_from_checkpoint": True}, {"epochs": 2}, {"epochs": 3}),
    "batches": ({"batch_period": 2, "epoch_period": None}, {"batches": 5}, {"batches": 8}),
}


def loader(mx: Any, count: int = 12, batch_size: int = 4, seed: int = 0) -> Any:
    """Return batches of (N, 3) and (N,)."""
    rng = np.random.RandomState(seed)
    x = rng.randn(count, 3).astype("float32")
    y = rng.randint(0, 2, (count,)).astype("float32")
    return mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, y), batch_size)


def network(mx: Any, hybrid: bool = False, ctx: Any = None) -> Any:
    """Return a layer with fixed weights."""
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(2, in_units=3))
    net.initialize(ctx=ctx or mx.cpu())
    net[0].weight.set_data(mx.nd.array(np.random.RandomState(1).randn(2, 3)))
    if hybrid:
        net.hybridize()
    return net


def make(mx: Any, module: Any, hybrid: bool = False, **kwargs: Any) -> Any:
    """Return an Estimator of `network`, with momentum, and the lines that it logs."""
    net = network(mx, hybrid, kwargs.get("context"))
    options = {"learning_rate": 0.1, "momentum": 0.9}
    kwargs.setdefault("trainer", mx.gluon.Trainer(net.collect_params(), "sgd", options))
    kwargs.setdefault("context", [mx.cpu()])
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss(prefix="softmaxcrossentropyloss7_")
    estimator = module.Estimator(net, loss, **kwargs)
    lines: list[str] = []
    estimator.logger.handlers[0].emit = lambda record: lines.append(
        re.sub(r"\d+\.\d{3}s|using total \d+s", "<time>", record.getMessage())
    )
    return estimator, lines


def weights(estimator: Any) -> list[float]:
    """Return the weights, flat."""
    parameter = estimator.net[0].weight
    return [float(v) for v in parameter.data(parameter.list_ctx()[0]).asnumpy().ravel()]


def values(metrics: Any) -> list[Any]:
    """Return names and values of metrics."""
    return [[name, float(value)] for name, value in (metric.get() for metric in metrics)]


def recorder(module: Any, name: str, calls: list[Any], priority: float | None = None) -> Any:
    """Return a handler of all events that notes its calls."""

    def note(event: str) -> Any:
        def method(self: Any, estimator: Any, *args: Any, **kwargs: Any) -> None:
            calls.append([name, event, len(args), sorted(kwargs)])

        return method

    bases = ("TrainBegin", "TrainEnd", "EpochBegin", "EpochEnd", "BatchBegin", "BatchEnd")
    members: dict[str, Any] = {event: note(event) for event in HANDLER_EVENTS}
    if priority is not None:
        members["priority"] = priority
    return type("Recorder", tuple(getattr(module, base) for base in bases), members)()


def training(mx: Any, module: Any, hybrid: bool, **fit: Any) -> dict[str, Any]:
    """Fit with validation, and note events, lines, losses, metrics and weights."""
    estimator, lines = make(mx, module, hybrid)
    calls: list[Any] = []
    losses: list[float] = []
    late = recorder(module, "late", calls, 2000)
    plain = type(late).batch_end

    def batch_end(self: Any, owner: Any, *args: Any, **kwargs: Any) -> None:
        plain(self, owner, *args, **kwargs)
        losses.extend(float(v) for loss in kwargs["loss"] for v in loss.asnumpy())

    type(late).batch_end = batch_end
    handlers = [
        late,
        recorder(module, "first of equal", calls),
        recorder(module, "second of equal", calls, 0),
        recorder(module, "early", calls, -5000),
        module.LoggingHandler(2, metrics=estimator.train_metrics),
    ]
    estimator.fit(loader(mx), loader(mx, 8, seed=3), event_handlers=handlers, **fit)
    found = {
        "calls": calls,
        "lines": lines,
        "losses": losses,
        "train_metrics": values(estimator.train_metrics),
        "val_metrics": values(estimator.val_metrics),
        "weights": weights(estimator),
    }
    del lines[:]
    estimator.evaluate(loader(mx, 20, seed=4), event_handlers=recorder(module, "e", calls[:0]))
    return {**found, "evaluated": values(estimator.val_metrics), "evaluation": list(lines)}


def early_stopping(mx: Any, module: Any) -> list[Any]:
    """Note at which epoch each series of values ends the training."""
    found = []
    for series, options in EARLY:
        estimator, _ = make(mx, module)
        monitor = estimator.train_metrics[0]
        epoch = {"now": -1}

        class Count(module.EpochBegin):  # type: ignore[misc]
            def epoch_begin(self, *args: Any, now: Any = epoch) -> None:
                now["now"] += 1

        monitor.get = lambda s=series, now=epoch: ("fake", s[now["now"]])
        handler = module.EarlyStoppingHandler(monitor, **options)
        estimator.fit(loader(mx, 4), epochs=len(series), event_handlers=[handler, Count()])
        names = ("wait", "stopped_epoch", "current_epoch", "stop_training", "best")
        found.append([float(getattr(handler, name)) for name in names])
    return found


def listed(folder: Path) -> list[str]:
    """Return the names of files in a folder."""
    return sorted(os.listdir(folder))


def checkpoints(mx: Any, module: Any, folder: Path) -> dict[str, Any]:
    """Note which files are written."""
    found: dict[str, Any] = {}
    for name, (hybrid, options, fit) in CHECKPOINTS.items():
        estimator, _ = make(mx, module, hybrid)
        handler = module.CheckpointHandler(str(folder / name), **options)
        estimator.fit(loader(mx), event_handlers=[handler], **fit)
        found[name] = [listed(folder / name), handler.saved_checkpoints]
    for mode, which in (("max", 0), ("min", 1)):
        estimator, _ = make(mx, module, train_metrics=[mx.metric.Accuracy(), mx.metric.Loss()])
        best = module.CheckpointHandler(
            str(folder / mode), "net", estimator.train_metrics[which], 0, True, mode, None, 1, 1
        )
        estimator.fit(loader(mx), epochs=3, event_handlers=best)
        net = network(mx)
        net.load_parameters(str(folder / mode / "net-best.params"))
        saved = [float(v) for v in net[0].weight.data().asnumpy().ravel()]
        found[f"best {mode}"] = [listed(folder / mode), float(best.best), saved]
    return found


def resumed(mx: Any, module: Any, folder: Path) -> dict[str, Any]:
    """Note files and weights of trainings that went on where others had ended."""
    found: dict[str, Any] = {}
    for name, (options, first, second) in RESUMED.items():
        path = str(folder / f"resumed {name}")
        estimator, _ = make(mx, module)
        handler = module.CheckpointHandler(path, **options)
        estimator.fit(loader(mx), event_handlers=[handler], **first)
        estimator, lines = make(mx, module)
        again = module.CheckpointHandler(path, **{**options, "resume_from_checkpoint": True})
        estimator.fit(loader(mx), event_handlers=[again], **second)
        trained = [again.trained_epoch, again.trained_batch]
        found[name] = [listed(Path(path)), trained, weights(estimator), lines[0]]
    return found


def stops(mx: Any, module: Any) -> list[str]:
    """Note which handlers are called when one ends the epoch, or the training."""
    calls: list[str] = []

    class Stop(module.BatchEnd, module.EpochEnd):  # type: ignore[misc]
        def __init__(self, name: str, priority: float, batch: Any, epoch: Any) -> None:
            self.name, self.priority, self.answers = name, priority, (batch, epoch)

        def batch_end(self, *args: Any, **kwargs: Any) -> Any:
            calls.append(f"{self.name} batch")
            return self.answers[0]

        def epoch_end(self, *args: Any, **kwargs: Any) -> Any:
            calls.append(f"{self.name} epoch")
            return self.answers[1]

    cases: list[tuple[Any, Any]] = [(True, None), (None, True), (1, ""), (0, 0)]
    for answers in cases:
        estimator, _ = make(mx, module)
        both = [Stop("a", -10, *answers), Stop("b", 10, None, None)]
        estimator.fit(loader(mx), epochs=2, event_handlers=list(both))
        estimator.evaluate(loader(mx), event_handlers=list(both))
        calls.append("-")
    return calls


def validations(mx: Any, module: Any) -> list[Any]:
    """Note after which batch and epoch evaluations come."""
    found: list[Any] = []
    for options in (
        {"epoch_period": 2},
        {"epoch_period": None, "batch_period": 2},
        {"batch_period": 3},
    ):
        estimator, _ = make(mx, module)
        calls: list[Any] = []
        handler = module.ValidationHandler(
            loader(mx, 4), lambda out=calls, **kwargs: out.append(sorted(kwargs)), **options
        )
        marks = recorder(module, "mark", calls, 10)
        estimator.fit(loader(mx), epochs=3, event_handlers=[handler, marks])
        found.append(
            [call if isinstance(call[0], str) and len(call) == 3 else call[1] for call in calls]
        )
    return found


def names(mx: Any, module: Any) -> list[Any]:
    """Return the names of metrics that an Estimator makes or is given."""
    found: list[Any] = []
    for kind in ("L2Loss", "SoftmaxCrossEntropyLoss", "SigmoidBCELoss", "HuberLoss", "CTCLoss"):
        estimator = module.Estimator(network(mx), getattr(mx.gluon.loss, kind)())
        found.append(
            [[m.name for m in estimator.train_metrics], [m.name for m in estimator.val_metrics]]
        )
    metric = mx.metric
    cases: list[dict[str, Any]] = [
        {"train_metrics": metric.Accuracy()},
        {"train_metrics": [metric.Accuracy(), metric.TopKAccuracy(2)]},
        {"val_metrics": [metric.Accuracy(name="q"), metric.Loss()]},
        {"train_metrics": [], "val_metrics": metric.MAE()},
        {"train_metrics": metric.CompositeEvalMetric([metric.F1(), metric.Accuracy()])},
        {"train_metrics": metric.Accuracy(name="training x")},
    ]
    for given in cases:
        estimator, _ = make(mx, module, **given)
        found.append(
            [[m.name for m in estimator.train_metrics], [m.name for m in estimator.val_metrics]]
        )
    return found


def run(mx: Any, module: Any, folder: Path) -> dict[str, Any]:
    """Return what all runs give.

    Args:
        mx: MXNet, or gluonish.
        module: Its gluon.contrib.estimator.
        folder: An empty folder.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        devices = make(mx, module, context=[mx.cpu(0), mx.cpu(1)])[0]
        devices.fit(loader(mx), loader(mx, 8), epochs=2)
        return {
            "epochs": training(mx, module, False, epochs=2),
            "batches": training(mx, module, False, batches=4),
            "hybridized": training(mx, module, True, epochs=2),
            "two devices": [
                weights(devices),
                values(devices.train_metrics),
                values(devices.val_metrics),
            ],
            "early stopping": early_stopping(mx, module),
            "checkpoints": checkpoints(mx, module, folder),
            "resumed": resumed(mx, module, folder),
            "stops": stops(mx, module),
            "validations": validations(mx, module),
            "names": names(mx, module),
        }
