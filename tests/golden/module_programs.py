"""Programs of the Module API, run by MXNet and by gluonish alike: same data, same first weights.

Each takes the package, and a folder where it writes files, and returns what can be compared:
numbers and texts.
"""

import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Program = Callable[[Any, Path], Any]

OPTIMIZERS: dict[str, dict[str, Any]] = {
    "sgd": {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
    "adam": {"learning_rate": 0.01},
    "rmsprop": {"learning_rate": 0.005, "clip_gradient": 0.5},
    "nag": {"learning_rate": 0.05, "momentum": 0.5},
}
DEVICES: dict[str, tuple[int, list[int] | None]] = {
    "one": (1, None),
    "two": (2, None),
    "uneven": (2, [3, 1]),
}
# Extents of a batch, and loads of devices: where each device's part begins and ends.
LOADS: tuple[tuple[int, list[float]], ...] = (
    (8, [3, 1]),
    (10, [3, 1]),
    (7, [1, 1]),
    (9, [1, 1]),
    (10, [1, 1, 1]),
    (10, [1, 2, 3]),
    (5, [1, 1, 1]),
    (16, [0.3, 0.5, 0.2]),
    (3, [1, 1, 1]),
    (11, [5, 1, 1, 1]),
)


def numbers(shape: tuple[int, ...], seed: int, scale: float = 1.0) -> Any:
    """Return float32 numbers, evenly spread, from a seed."""
    values = np.random.RandomState(seed).uniform(-scale, scale, shape)
    return values.astype(np.float32)


def labels(count: int, classes: int, seed: int) -> Any:
    """Return class numbers as float32."""
    values = np.random.RandomState(seed).randint(0, classes, count)
    return values.astype(np.float32)


def plain(values: Any) -> Any:
    """Return arrays, and lists and dicts of them, as lists of rounded numbers."""
    if isinstance(values, dict):
        return {name: plain(value) for name, value in sorted(values.items())}
    if isinstance(values, list | tuple):
        return [plain(value) for value in values]
    if hasattr(values, "asnumpy"):
        values = values.asnumpy()
    return np.round(np.asarray(values, np.float64), 6).tolist()


def mlp(sym: Any) -> Any:
    """Return a network of two layers, and 5 inputs."""
    hidden = sym.FullyConnected(sym.var("data"), num_hidden=6, name="fc1")
    hidden = sym.Activation(hidden, act_type="tanh", name="act")
    output = sym.FullyConnected(hidden, num_hidden=3, name="fc2")
    return sym.SoftmaxOutput(output, name="softmax")


def convnet(sym: Any) -> Any:
    """Return a network of a convolution with batch normalization, for images of 1 x 6 x 6."""
    hidden = sym.Convolution(sym.var("data"), num_filter=3, kernel=(3, 3), name="conv")
    hidden = sym.BatchNorm(hidden, fix_gamma=False, name="bn")
    hidden = sym.Activation(hidden, act_type="relu", name="act")
    hidden = sym.Pooling(hidden, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    output = sym.FullyConnected(sym.Flatten(hidden), num_hidden=3, name="fc")
    return sym.SoftmaxOutput(output, name="softmax")


def first_weights(mx: Any, symbol: Any, **shapes: tuple[int, ...]) -> tuple[Any, Any]:
    """Return weights that are the same everywhere: arguments and auxiliary states by name."""
    found, _, states = symbol.infer_shape(**shapes)
    arguments = {
        name: mx.nd.array(numbers(shape, seed, 0.5))
        for seed, (name, shape) in enumerate(zip(symbol.list_arguments(), found, strict=True), 50)
        if name not in shapes and not name.endswith("label")
    }
    auxiliary = {
        name: mx.nd.array(np.abs(numbers(shape, seed)))
        for seed, (name, shape) in enumerate(
            zip(symbol.list_auxiliary_states(), states, strict=True), 90
        )
    }
    return arguments, auxiliary


def mlp_data(mx: Any, count: int = 22, batch_size: int = 8, **settings: Any) -> Any:
    """Return batches of rows of 5 numbers; the last is padded."""
    return mx.io.NDArrayIter(
        numbers((count, 5), 1), labels(count, 3, 2), batch_size=batch_size, **settings
    )


def contexts(mx: Any, count: int) -> Any:
    """Return so many CPU devices."""
    return [mx.cpu(i) for i in range(count)]


def made(mx: Any, devices: str, symbol: Any = None, **settings: Any) -> Any:
    """Return an unbound Module of a network on some devices."""
    count, loads = DEVICES[devices]
    symbol = mlp(mx.sym) if symbol is None else symbol
    return mx.mod.Module(symbol, context=contexts(mx, count), work_load_list=loads, **settings)


def ready(mx: Any, devices: str = "one", batch_size: int = 8, **settings: Any) -> Any:
    """Return a Module of the MLP, bound, with its first weights."""
    module = made(mx, devices)
    module.bind([("data", (batch_size, 5))], [("softmax_label", (batch_size,))], **settings)
    module.init_params(None, *first_weights(mx, module.symbol, data=(batch_size, 5)))
    return module


def batch(mx: Any, size: int = 8, seed: int = 7) -> Any:
    """Return one batch for the MLP."""
    return mx.io.DataBatch(
        [mx.nd.array(numbers((size, 5), seed))], [mx.nd.array(labels(size, 3, seed))]
    )


class Lines(logging.Logger):
    """A logger that keeps its lines."""

    def __init__(self) -> None:
        super().__init__("lines", logging.INFO)
        self.lines: list[str] = []

    def handle(self, record: logging.LogRecord) -> None:
        """Keep a line; times are no part of it."""
        text = record.getMessage()
        self.lines.append(text.split("=")[0] if "cost" in text else text)


def fitted(mx: Any, optimizer: str, devices: str) -> Any:
    """Fit the MLP for two epochs; return the losses after each batch and the weights."""
    module = made(mx, devices)
    losses: list[float] = []
    module.fit(
        mlp_data(mx),
        eval_metric=mx.metric.CrossEntropy(),
        batch_end_callback=lambda param: losses.append(param.eval_metric.get()[1]),
        optimizer=optimizer,
        optimizer_params=OPTIMIZERS[optimizer],
        arg_params=first_weights(mx, module.symbol, data=(8, 5))[0],
        num_epoch=2,
    )
    return plain({"losses": losses, "weights": module.get_params()[0]})


def fitted_convnet(mx: Any, devices: str) -> Any:
    """Fit the small network of convolutions for three epochs, scored after each."""
    module = made(mx, devices, convnet(mx.sym))
    data = mx.io.NDArrayIter(numbers((24, 1, 6, 6), 3), labels(24, 3, 4), batch_size=8)
    arguments, auxiliary = first_weights(mx, module.symbol, data=(8, 1, 6, 6))
    scores: list[float] = []
    module.fit(
        data,
        eval_data=mx.io.NDArrayIter(numbers((11, 1, 6, 6), 5), labels(11, 3, 6), batch_size=8),
        eval_metric="ce",
        eval_end_callback=lambda param: scores.append(param.eval_metric.get()[1]),
        optimizer_params={"learning_rate": 0.2},
        arg_params=arguments,
        aux_params=auxiliary,
        kvstore="device",
        num_epoch=3,
    )
    weights, states = module.get_params()
    return plain({"scores": scores, "weights": weights, "states": states})


def told(mx: Any, folder: Path) -> Any:
    """Return the order in which fit calls everything back, and what it logs."""
    log = Lines()
    module = made(mx, "two", logger=log)
    seen = log.lines

    def batch_end(name: str) -> Any:
        return lambda p: seen.append(f"{name} {p.epoch} {p.nbatch} {sorted(p.locals)[:0]}")

    def epoch_end(epoch: int, symbol: Any, arguments: Any, auxiliary: Any) -> None:
        seen.append(f"epoch {epoch} {symbol.list_outputs()} {sorted(arguments)} {auxiliary}")

    module.fit(
        mlp_data(mx),
        eval_data=mlp_data(mx, 9),
        eval_metric=["acc", "ce"],
        validation_metric="acc",
        epoch_end_callback=[epoch_end, epoch_end],
        batch_end_callback=[batch_end("batch")],
        eval_end_callback=batch_end("evaluated"),
        eval_batch_end_callback=batch_end("eval batch"),
        arg_params=first_weights(mx, module.symbol, data=(8, 5))[0],
        begin_epoch=3,
        num_epoch=5,
    )
    return [line.replace(" []", "") for line in seen]


def monitored(mx: Any, folder: Path) -> Any:
    """Return what a monitor reports of a step on two devices."""
    module = ready(mx, "two")
    monitor = mx.mon.Monitor(1, pattern="fc.*", sort=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward_backward(batch(mx))
    return [[step, name, float(text)] for step, name, text in monitor.toc()]


def evaluated(mx: Any, folder: Path) -> Any:
    """Return scores and predictions, where the last batch is padded."""
    module = ready(mx, "uneven")
    data = mlp_data(mx)
    parts = list(module.iter_predict(data))
    found = {
        "score": module.score(data, ["acc", "ce"]),
        "two batches": module.score(data, "acc", num_batch=2),
        "predict": plain(module.predict(data)),
        "two predicted": plain(module.predict(data, num_batch=2).shape),
        "batches": [[out.shape for out in outs] for outs in module.predict(data, merge_batches=0)],
        "always": [out.shape for out in module.predict(data, always_output_list=True)],
        "parts": [[number, [o.shape for o in outs], b.pad] for outs, number, b in parts],
        "left over": len(list(module.iter_predict(data, reset=False))),
    }
    found["of an array"] = plain(module.predict(mx.nd.array(numbers((8, 5), 8))))
    return _listed(found)


def _listed(values: Any) -> Any:
    """Return tuples as lists, as JSON has them, and shapes as lists of int."""
    if isinstance(values, dict):
        return {name: _listed(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [_listed(value) for value in values]
    return values if isinstance(values, str | int | None) else float(values)


def stepped(mx: Any, folder: Path) -> Any:
    """Return gradients of inputs, and weights, of steps done by hand; gradients add up."""
    module = ready(mx, "uneven", inputs_need_grad=True, grad_req="add")
    module.init_optimizer(kvstore=None, optimizer_params={"learning_rate": 0.1})
    found = []
    for seed in (1, 2):
        module.forward_backward(batch(mx, seed=seed))
        found.append(plain(module.get_input_grads()[0]))
        module.update()
    apart = module.get_outputs(merge_multi_context=False)
    return {
        "gradients": found,
        "weights": plain(module.get_params()[0]),
        "apart": [[list(part.shape) for part in parts] for parts in apart],
    }


def reshaped(mx: Any, folder: Path) -> Any:
    """Return outputs and weights where batches have several sizes, and modules are reshaped."""
    module = ready(mx, "two")
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    found: list[Any] = []
    for size in (8, 4, 10, 8, 6):
        module.forward_backward(batch(mx, size))
        module.update()
        found += [plain(module.get_outputs()[0]), list(module.data_shapes[0].shape)]
    module.reshape([("data", (2, 5))], [("softmax_label", (2,))])
    module.forward(batch(mx, 2), is_train=False)
    found += [plain(module.get_outputs()[0]), [list(shape) for _, shape in module.output_shapes]]
    return [*found, plain(module.get_params()[0])]


def fixed(mx: Any, folder: Path) -> Any:
    """Return weights of a step in which some are fixed, by a dict of requests and by name."""
    found = []
    for settings, requests in (
        ({"fixed_param_names": ["fc1_weight", "fc2_bias"]}, "write"),
        ({}, {"fc1_weight": "null", "fc1_bias": "write"}),
        ({}, ["null", "write", "null", "write", "write", "null"]),
    ):
        module = made(mx, "one", **settings)
        module.bind([("data", (8, 5))], [("softmax_label", (8,))], grad_req=requests)
        module.init_params(None, *first_weights(mx, module.symbol, data=(8, 5)))
        module.init_optimizer(optimizer_params={"learning_rate": 0.5})
        module.forward_backward(batch(mx))
        module.update()
        found.append(plain(module.get_params()[0]))
    return found


def stateful(mx: Any, folder: Path) -> Any:
    """Return what a network with a state gives, which is set and read by hand."""
    state, data = mx.sym.var("state"), mx.sym.var("data")
    output = mx.sym.FullyConnected(data, num_hidden=3, name="fc") + state * 2
    symbol = mx.sym.Group([mx.sym.BlockGrad(output), mx.sym.BlockGrad(output + 1)])
    module = mx.mod.Module(symbol, label_names=None, state_names=["state"], context=contexts(mx, 2))
    module.bind([("data", (4, 5))], for_training=False)
    module.init_params(None, {"fc_weight": mx.nd.ones((3, 5)), "fc_bias": mx.nd.ones(3)})
    found = [plain(module.get_states(False))]
    module.set_states(value=2)
    found.append(plain(module.get_states(False)))
    module.forward(mx.io.DataBatch([mx.nd.array(numbers((4, 5), 3))], None))
    found.append(plain(module.get_outputs()))
    module.set_states(states=[module.get_outputs(merge_multi_context=False)[1]])
    found.append(plain(module.get_states(False)))
    return found


def unrolled(mx: Any, length: int) -> tuple[Any, tuple[str], tuple[str]]:
    """Return a recurrent network over so many steps, and names of its data and labels."""
    data = mx.sym.var("data")
    steps = mx.sym.SliceChannel(data, num_outputs=length, axis=1, squeeze_axis=True, name="steps")
    shared = {
        name: mx.sym.var(name)
        for name in ("input_weight", "input_bias", "state_weight", "state_bias")
    }
    hidden = None
    for number in range(length):
        step = mx.sym.FullyConnected(
            steps[number],
            weight=shared["input_weight"],
            bias=shared["input_bias"],
            num_hidden=4,
            name=f"input{number}",
        )
        if hidden is not None:
            step = step + mx.sym.FullyConnected(
                hidden,
                weight=shared["state_weight"],
                bias=shared["state_bias"],
                num_hidden=4,
                name=f"state{number}",
            )
        hidden = mx.sym.Activation(step, act_type="tanh", name=f"hidden{number}")
    output = mx.sym.FullyConnected(hidden, num_hidden=3, name="out")
    return mx.sym.SoftmaxOutput(output, name="softmax"), ("data",), ("softmax_label",)


def bucket(mx: Any, length: int, seed: int) -> Any:
    """Return a batch of one bucket."""
    return mx.io.DataBatch(
        [mx.nd.array(numbers((6, length, 2), seed))],
        [mx.nd.array(labels(6, 3, seed))],
        bucket_key=length,
        provide_data=[mx.io.DataDesc("data", (6, length, 2))],
        provide_label=[mx.io.DataDesc("softmax_label", (6,))],
    )


def bucketed(mx: Any, folder: Path) -> Any:
    """Return losses and weights of a recurrent network trained on three lengths."""
    module = mx.mod.BucketingModule(
        lambda length: unrolled(mx, length), default_bucket_key=5, context=contexts(mx, 2)
    )
    module.bind([("data", (6, 5, 2))], [("softmax_label", (6,))])
    arguments, _ = first_weights(mx, module.symbol, data=(6, 5, 2))
    module.init_params(None, arguments)
    module.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.05})
    metric = mx.metric.CrossEntropy()
    losses = []
    for seed, length in enumerate((5, 3, 4, 3, 5, 2)):
        data = bucket(mx, length, seed)
        module.prepare(data)
        module.forward_backward(data)
        module.update()
        module.update_metric(metric, data.label)
        losses.append(metric.get()[1])
    shapes = [[desc.name, list(desc.shape)] for desc in module.data_shapes]
    module.switch_bucket(4, [("data", (6, 4, 2))], [("softmax_label", (6,))])
    module.forward(bucket(mx, 4, 9), is_train=False)
    return {
        "losses": plain(losses),
        "shapes": shapes,
        "output": plain(module.get_outputs()[0]),
        "weights": plain(module.get_params()[0]),
        "names": [module.data_names, module.output_names, module.symbol.list_arguments()],
    }


def chained(mx: Any, folder: Path) -> Any:
    """Return losses and weights of two Modules and a loss in Python, one after another."""
    sym = mx.sym
    first = sym.Activation(
        sym.FullyConnected(sym.var("data"), num_hidden=6, name="fc1"), act_type="tanh", name="act"
    )
    second = sym.softmax(
        sym.FullyConnected(sym.var("act_output"), num_hidden=3, name="fc2"), name="probabilities"
    )

    def gradient(scores: Any, wanted: Any) -> Any:
        hot = np.eye(3, dtype=np.float32)[wanted.asnumpy().astype(int)]
        return -hot / scores.asnumpy()

    module = mx.mod.SequentialModule()
    beginning = mx.mod.Module(first, label_names=None, context=contexts(mx, 2))
    module.add(beginning)
    module.add(mx.mod.Module(second, ("act_output",), label_names=None), auto_wiring=True).add(
        mx.mod.PythonLossModule(grad_func=gradient), take_labels=True, auto_wiring=True
    )
    module.bind([("data", (8, 5))], [("softmax_label", (8,))], inputs_need_grad=True)
    arguments = first_weights(mx, mlp(sym), data=(8, 5))[0]
    module.init_params(mx.init.Zero(), arguments, allow_extra=True, allow_missing=True)
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    outputs = []
    for seed in range(3):
        module.forward_backward(batch(mx, seed=seed))
        module.update()
        outputs.append(plain(module.get_outputs()[0]))
    return {
        "outputs": outputs,
        "gradients": plain(beginning.get_input_grads()),
        "weights": plain(module.get_params()[0]),
        "names": [module.data_names, module.output_names],
        "shapes": _listed([*module.data_shapes, *module.label_shapes, *module.output_shapes]),
    }


def checkpoints(mx: Any, folder: Path) -> Any:
    """Return weights of a training that goes on from files."""
    prefix = str(folder / "mlp")
    settings = {"learning_rate": 0.1, "momentum": 0.9}
    module = ready(mx, "two")
    module.init_optimizer(optimizer_params=settings)
    for seed in range(2):
        module.forward_backward(batch(mx, seed=seed))
        module.update()
    module.save_checkpoint(prefix, 7, save_optimizer_states=True)
    module.save_params(str(folder / "only.params"))
    found = [module.get_params()[0]]
    found += [gone_on(mx, prefix, 7, devices, settings) for devices in ("one", "two")]
    other = ready(mx)
    other.load_params(str(folder / "only.params"))
    found.append(other.get_params()[0])
    return {
        "weights": plain(found),
        "files": sorted(path.name for path in folder.iterdir()),
        "arrays": sorted(mx.nd.load(str(folder / "only.params"))),
    }


def gone_on(mx: Any, prefix: str, epoch: int, devices: str, settings: dict[str, Any]) -> Any:
    """Return weights of one more step after a checkpoint was read."""
    module = mx.mod.Module.load(
        prefix, epoch, load_optimizer_states=True, context=contexts(mx, DEVICES[devices][0])
    )
    module.bind([("data", (8, 5))], [("softmax_label", (8,))])
    module.init_optimizer(optimizer_params=settings)
    module.forward_backward(batch(mx, seed=2))
    module.update()
    return module.get_params()[0]


def bucket_files(mx: Any, folder: Path) -> Any:
    """Return the files of a BucketingModule, and outputs after they were read."""
    prefix = str(folder / "net")
    module = mx.mod.BucketingModule(lambda length: unrolled(mx, length), default_bucket_key=4)
    module.bind([("data", (6, 4, 2))], [("softmax_label", (6,))])
    module.init_params(None, first_weights(mx, module.symbol, data=(6, 4, 2))[0])
    module.switch_bucket(2, [("data", (6, 2, 2))], [("softmax_label", (6,))])
    module.save_checkpoint(prefix, 3)
    again = mx.mod.BucketingModule.load(
        prefix, 3, sym_gen=lambda length: unrolled(mx, length), default_bucket_key=4
    )
    again.bind([("data", (6, 4, 2))], [("softmax_label", (6,))], for_training=False)
    again.forward(bucket(mx, 2, 5), is_train=False)
    return {
        "files": sorted(path.name for path in folder.iterdir()),
        "output": plain(again.get_outputs()[0]),
    }


def feed_forward(mx: Any, folder: Path) -> Any:
    """Return what the oldest interface gives: weights, predictions, a score, and files."""
    symbol = mlp(mx.sym)
    arguments = first_weights(mx, symbol, data=(8, 5))[0]
    x, y = numbers((22, 5), 1), labels(22, 3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mx.model.FeedForward(
            symbol,
            ctx=contexts(mx, 2),
            num_epoch=2,
            numpy_batch_size=8,
            arg_params=dict(arguments),
            learning_rate=0.1,
            momentum=0.9,
        )
        log = Lines()
        model.fit(
            mlp_data(mx),
            eval_data=mlp_data(mx, 9),
            eval_metric="ce",
            logger=log,
            batch_end_callback=lambda p: log.lines.append(f"batch {p.epoch} {p.nbatch}"),
            epoch_end_callback=lambda epoch, *_: log.lines.append(f"epoch {epoch}"),
            eval_end_callback=lambda p: log.lines.append(f"evaluated {p.epoch} {p.nbatch}"),
            eval_batch_end_callback=lambda p: log.lines.append(f"eval batch {p.epoch} {p.nbatch}"),
        )
        sized = mx.model.FeedForward(
            symbol, ctx=mx.cpu(), num_epoch=2, epoch_size=5, arg_params=dict(arguments)
        )
        sized.fit(
            mlp_data(mx),
            logger=log,
            batch_end_callback=lambda p: log.lines.append(f"sized {p.epoch} {p.nbatch}"),
        )
        outputs, data, wanted = model.predict(mlp_data(mx), return_data=True)
        model.save(str(folder / "old"))
        again = mx.model.FeedForward.load(str(folder / "old"), 2, ctx=mx.cpu())
        made = mx.model.FeedForward.create(
            symbol,
            x,
            y,
            num_epoch=1,
            initializer=mx.init.One(),
            optimizer="adam",
            numpy_batch_size=22,
        )
        return {
            "weights": plain(model.arg_params),
            "outputs": plain(outputs),
            "data": [list(data.shape), list(wanted.shape), type(outputs).__name__],
            "score": float(model.score(mlp_data(mx), "ce")),
            "again": plain(again.predict(x)),
            "lines": log.lines,
            "sized": plain(sized.arg_params),
            "two": list(model.predict(mlp_data(mx), num_batch=2).shape),
            "made": plain(made.arg_params),
            "files": sorted(path.name for path in folder.iterdir()),
        }


def sliced(mx: Any, folder: Path) -> Any:
    """Return where the parts of batches begin and end, or what is raised."""
    found = []
    for extent, loads in LOADS:
        module = mx.mod.Module(mlp(mx.sym), context=contexts(mx, len(loads)), work_load_list=loads)
        try:
            module.bind([("data", (extent, 5))], [("softmax_label", (extent,))])
        except ValueError:
            found.append("refused")
            continue
        module.init_params()
        module.forward(batch(mx, extent))
        outputs = module.get_outputs(merge_multi_context=False)[0]
        found.append([part.shape[0] for part in outputs])
    return found


PROGRAMS: dict[str, Program] = {
    f"fit {optimizer} on {devices}": (
        lambda mx, folder, optimizer=optimizer, devices=devices: fitted(mx, optimizer, devices)
    )
    for optimizer in OPTIMIZERS
    for devices in DEVICES
}
PROGRAMS |= {
    f"convnet on {devices}": (lambda mx, folder, devices=devices: fitted_convnet(mx, devices))
    for devices in DEVICES
}
PROGRAMS |= {
    program.__name__: program
    for program in (
        *(told, monitored, evaluated, stepped, reshaped, fixed, stateful, sliced),
        *(bucketed, chained, checkpoints, bucket_files, feed_forward),
    )
}
