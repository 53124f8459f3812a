"""Stage 4: accuracy against float64 on the CPU, training against cpu(0), order, own kernels."""

import functools
import importlib
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu_run import bert
from benchmarks.gpu_run.comparisons import our_precision
from benchmarks.gpu_run.networks import described_network
from benchmarks.gpu_run.peers import precision_of
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.programs import pytest_run, run_module, tell_tests
from benchmarks.gpu_run.rows import Note, Refused, Table
from benchmarks.interleaved.gluon_jobs import network_of
from benchmarks.interleaved.weights import batch, labels, parameter

TABLE = Table()
# Largest difference of all gradients together, by norms.
_SMOOTH = {"float32": 1e-5, "TF32": 5e-3, "bfloat16": 5e-2}
# One value near 0 that rounding moves to ReLU's other side changes all gradients below it: by 0.7 %
# in ResNet-18, on CPUs without oneDNN as on a GPU. So errors of such networks are held to PyTorch's
# own, in the same precision; these are for machines without PyTorch.
_WITH_RELU = {"float32": 3e-2, "TF32": 0.2, "bfloat16": 0.5}
_OF_TORCHS = 1.5
_ERROR_STATUS = "9"  # what compute-sanitizer is told to end with
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?)")
_LAYER = bert.Sizes(1, 768, 12, 1, 8, 128, dropout=0.0)
_SMALL_LAYER = bert.Sizes(1, 8, 2, 1, 2, 4, dropout=0.0)
Loss = Callable[[Any, Any, Any], Any]


def _vector(gradients: Mapping[str, Any]) -> Any:
    """Return gradients behind each other, by name."""
    return np.concatenate([gradients[name].ravel() for name in sorted(gradients)])


def _error(got: Any, want: Any) -> float:
    return float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-30))


def _gradients(
    mx: Any, net: Any, data: Any, context: Any, dtype: str, loss: Loss
) -> dict[str, Any]:
    """Return the gradients of a network's parameters, which are set, by name."""
    if dtype != "float32":
        net.cast(dtype)
    net.hybridize(static_alloc=True)
    x = mx.nd.array(data, ctx=context, dtype=dtype)
    with mx.autograd.record():
        total = loss(mx, net(x), context)
    total.backward()
    learned = [p for p in net.collect_params().values() if p.grad_req != "null"]
    return {p.name: p.grad(context).astype("float64").asnumpy() for p in learned}


def _compare_gradients(
    place: Place,
    note: Note,
    make: Callable[[Any], Any],
    data: Any,
    loss: Loss,
    limits: Mapping[str, float],
    theirs: Callable[[str], dict[str, Any]] | None = None,
) -> None:
    """Compare gradients in each precision with those of float64.

    Args:
        place: Where.
        note: Told what is found.
        make: Returns the network with its parameters, on a context.
        data: The network's.
        loss: Returns the loss.
        limits: The largest error in each precision.
        theirs: Returns PyTorch's gradients in a precision; its own error limits ours then.
    """
    mx = place.mx
    want = _gradients(mx, make(mx.cpu()), data, mx.cpu(), "float64", loss)
    whole = _vector(want)
    failures = []
    for precision, limit in limits.items():
        dtype = "float32" if precision == "TF32" else precision
        with our_precision(precision):
            got = _gradients(mx, make(mx.gpu(0)), data, mx.gpu(0), dtype, loss)
        error = _error(_vector(got), whole)
        each = [_error(got[name], want[name]) for name in want]
        note(precision, error, median=float(np.median(each)), largest=max(each))
        most = limit
        # PyTorch on the CPU, in a rehearsal, rounds no float32.
        if theirs is not None and not (place.rehearsed and precision == "TF32"):
            try:
                own = _error(_vector(theirs(precision)), whole)
                note(f"PyTorch's {precision}", own, ratio=round(own / error, 3))
                most = max(_OF_TORCHS * own, _SMOOTH["float32"])
            except Refused as refused:
                note("torch", str(refused))
        if not error < most:
            failures.append(f"{precision}: expected an error below {most}, got {error}")
    assert not failures, "; ".join(failures)


def _torch_gradients(place: Place, described: Any, data: Any, precision: str) -> dict[str, Any]:
    """Return the gradients of the same network in PyTorch, of the same sum of losses."""
    torch, device = place.torch, place.torch_device
    jobs = importlib.import_module("benchmarks.interleaved.torch_jobs")
    precision_of(torch, precision.replace("bfloat16", "TF32"), device)
    holder = jobs.parameters_of(described)
    net = jobs.module_of(holder, described, training=True).to(device)
    x = torch.from_numpy(data).to(device)
    target = torch.from_numpy(labels(len(data), described.classes)).to(device)
    if precision == "bfloat16":
        net, x = net.bfloat16(), x.bfloat16()
    torch.nn.functional.cross_entropy(net(x), target, reduction="sum").backward()
    return {name: p.grad.double().cpu().numpy() for name, p in net.named_parameters()}


@TABLE.row("gradients of ResNet-18", 100)
def _resnet(place: Place, note: Note) -> None:
    mx = place.mx
    with mx.name.NameManager():
        described = described_network(place, "resnet18_v1", "lenet")
    data = batch(place.pick(8, 2), place.pick((3, 64, 64), (1, 28, 28)))

    def loss(mx: Any, out: Any, context: Any) -> Any:
        target = mx.nd.array(labels(*out.shape), ctx=context)
        return mx.gluon.loss.SoftmaxCrossEntropyLoss()(out, target)

    def make(context: Any) -> Any:
        with mx.name.NameManager(), context:
            return network_of(mx, described)

    theirs = functools.partial(_torch_gradients, place, described, data)
    _compare_gradients(place, note, make, data, loss, _WITH_RELU, theirs)


@TABLE.row("gradients of a transformer layer", 60)
def _transformer(place: Place, note: Note) -> None:
    mx, sizes = place.mx, place.pick(_LAYER, _SMALL_LAYER)
    shape = (sizes.batch, sizes.length, sizes.units)
    data, heads = np.random.default_rng(10).standard_normal((2, *shape))

    def loss(mx: Any, out: Any, context: Any) -> Any:
        return (out * mx.nd.array(heads, ctx=context, dtype=out.dtype)).sum()

    def make(context: Any) -> Any:
        with mx.name.NameManager():
            net = bert.our_layer(mx, sizes)
        net.initialize(mx.init.Zero(), ctx=context)
        net(mx.nd.array(data, ctx=context))  # learns the shapes
        # Without names of their own, parameters go by their place and the end of the name.
        for number, p in enumerate(net.collect_params().values()):
            p.set_data(mx.nd.array(parameter(f"{number}_{p.name}", p.shape)))
        return net

    _compare_gradients(place, note, make, data, loss, _SMOOTH)


def _train_digits(place: Place, context: Any, steps: int) -> tuple[list[float], float]:
    """Return the losses of the demo's network, and its accuracy on held-out digits."""
    mx = place.mx
    demo = importlib.import_module("gluonish.tools.demo")
    load = importlib.import_module("gluonish.gluon.data.digits").load_digits
    images, targets = load(train=True)
    mx.random.seed(11)
    net = demo.digits_network()
    net.initialize(mx.init.Xavier(), ctx=mx.cpu())
    net(mx.nd.array(images[:2]))  # learns the shapes; the same numbers on every device
    net.collect_params().reset_ctx(context)
    net.hybridize(static_alloc=True, static_shape=True)
    sgd = {"learning_rate": 0.05, "momentum": 0.9, "wd": 1e-4}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", sgd)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    mx.random.seed(12)  # drawing the parameters moved on the numbers of cpu(0) only
    random, losses = np.random.default_rng(12), []
    for _ in range(steps):
        chosen = random.integers(0, len(images), 64)
        x, y = (mx.nd.array(values[chosen], ctx=context) for values in (images, targets))
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(64)
        losses.append(loss.mean())
    held, wanted = (values[: place.pick(None, 64)] for values in load(train=False))
    found = net(mx.nd.array(held, ctx=context)).asnumpy().argmax(1)
    return [float(x.asscalar()) for x in losses], float((found == np.asarray(wanted)).mean())


@TABLE.row("200 steps of the demo", 100)
def _demo(place: Place, note: Note) -> None:
    steps = place.pick(200, 3)
    ours, accuracy = _train_digits(place, place.mx.gpu(0), steps)
    theirs, expected = _train_digits(place, place.mx.cpu(), steps)
    note("accuracy on gpu(0)", accuracy)
    note("accuracy on cpu(0)", expected)
    note("difference of the first loss", abs(ours[0] - theirs[0]))
    last = abs(float(np.mean(ours[-20:])) - float(np.mean(theirs[-20:])))
    note("difference of the last 20 losses' mean", last)
    assert abs(ours[0] - theirs[0]) < 1e-3, "the first step already gives another loss"
    if not place.rehearsed:
        assert accuracy > 0.95, f"expected an accuracy above 0.95, got {accuracy}"
        assert abs(accuracy - expected) < 0.02, f"expected about {expected}, got {accuracy}"


@TABLE.row("random numbers", 30)
def _random(place: Place, note: Note) -> None:
    mx, shape = place.mx, (place.pick(1 << 20, 101),)
    for name in ("uniform", "normal", "gamma", "poisson"):
        found = []
        for context in (mx.gpu(0), mx.cpu()):
            mx.random.seed(13)
            found.append(getattr(mx.nd.random, name)(shape=shape, ctx=context).asnumpy())
        note(f"{name}: other than on cpu(0)", int((found[0] != found[1]).sum()))
        assert np.allclose(found[0], found[1], rtol=1e-4, atol=1e-5) or name in ("gamma", "poisson")


@TABLE.row("random programs on two streams", 60, environment={"MXNET_GPU_WORKER_NSTREAMS": "2"})
def _programs(place: Place, note: Note) -> None:
    mx = place.mx
    run = importlib.import_module("tests.kernels.cupy.programs").run_program
    near = (mx.cpu(0), mx.cpu(1), mx.gpu(0), mx.gpu(0))
    far = (mx.cpu(0), mx.cpu(1), mx.cpu(2), mx.cpu(2))
    kinds = ("new", "copy", "move", "add", "scale", "write", "drop", "read")
    random, count = np.random.default_rng(14), 0
    end = time.monotonic() + place.pick(25.0, 1.0)
    while time.monotonic() < end:
        steps = [
            (kinds[random.integers(8)], *random.integers(0, (6, 6, 4)).tolist()) for _ in range(60)
        ]
        for got, want in zip(run(steps, near), run(steps, far), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=f"{steps}")
        count += 1
    note("programs", count)


@TABLE.row("uploads beside computing", 60, environment={"MXNET_GPU_WORKER_NSTREAMS": "2"})
def _uploads(place: Place, note: Note) -> None:
    mx, size = place.mx, place.pick(1 << 22, 1 << 8)
    values = [np.full((size,), i, np.float32) for i in range(8)]
    sums, expected = [], []
    begin = time.perf_counter()
    ahead = mx.nd.array(values[0], ctx=mx.gpu(0))
    for step in range(place.pick(200, 8)):
        here, ahead = ahead, mx.nd.array(values[(step + 1) % 8], ctx=mx.gpu(0))
        work = here
        for _ in range(4):
            work = work * 1.0
        sums.append((work + step).mean())
        expected.append(float(step % 8 + step))
    assert [float(x.asscalar()) for x in sums] == expected
    note("uploads", len(sums), "", nbytes=4 * size, seconds=time.perf_counter() - begin)


@TABLE.row("tests/gpu/test_contexts.py on two streams", 70,
           environment={"MXNET_GPU_WORKER_NSTREAMS": "2"})  # fmt: skip
def _contexts(place: Place, note: Note) -> None:
    only = place.pick("", "prefetching or overwritten")
    paths = ["tests/gpu/test_contexts.py"]
    limit_s = place.remaining_s(65)
    tell_tests(pytest_run(place, paths, 0, limit_s, only), note)


def _sanitizer(place: Place) -> list[str]:
    """Return the command of compute-sanitizer, or what stands for it."""
    if place.rehearsed:
        return [sys.executable, "-m", "benchmarks.gpu_run.stand_in_sanitizer"]
    installed = "/usr/local/cuda/bin/compute-sanitizer"
    found = shutil.which("compute-sanitizer") or (installed if Path(installed).exists() else None)
    if found is None:
        raise Refused("no compute-sanitizer")
    return [found]


def _sanitized(place: Place, note: Note, *, tool: str) -> None:
    """Run our kernels under a tool of compute-sanitizer, and read its summary."""
    words = ["--rehearse"] if place.rehearsed else []
    before = [*_sanitizer(place), "--tool", tool, "--error-exitcode", _ERROR_STATUS]
    begin = time.perf_counter()
    said = run_module("benchmarks.gpu_run.sanitized", words, place.remaining_s(85), before)
    found = _SUMMARY.findall(said)
    assert found, f"expected a summary, got {said.strip().splitlines()[-2:]}"
    note("errors", int(found[-1]))
    note("took", time.perf_counter() - begin, "s")
    assert int(found[-1]) == 0, f"{tool} found {found[-1]} errors"


for _tool in ("memcheck", "racecheck"):
    TABLE.add(f"compute-sanitizer, {_tool}", 90, functools.partial(_sanitized, tool=_tool))
