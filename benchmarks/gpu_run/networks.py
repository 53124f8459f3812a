"""ResNet-50 of gluonish's model zoo, and the same network in PyTorch, by its symbol file."""

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu_run.comparisons import HALVES, OurStep, compare, our_precision, static
from benchmarks.gpu_run.peers import TorchStep, contenders_of, precision_of
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note, Refused

_NAMES = ("resnet50_v1", "lenet")  # on the device, and in a rehearsal
_SGD = {"learning_rate": 1e-3, "momentum": 0.9}
# Largest difference of outputs, of the largest output; roundings of fifty layers add up.
_ALIKE = {"float32": 5e-3, "TF32": 5e-2, "AMP": 0.5}
_COMPILE_S = 100
_ADDRESSES = 8  # more than an array may have to be used in place by graphs of its own


def described_network(place: Place, real: str, rehearsed: str) -> Any:
    """Return the description that peers build a network from."""
    from benchmarks.interleaved.graph import read_network
    from benchmarks.interleaved.networks import describe

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.json"
        path.write_text(json.dumps(describe(place.mx, place.pick(real, rehearsed))), "utf-8")
        return read_network(str(path))


def _described(place: Place) -> Any:
    return described_network(place, *_NAMES)


def _ours(place: Place, described: Any, count: int, dtype: str) -> tuple[Any, Any, Any]:
    """Return the network, images and labels on the device."""
    from benchmarks.interleaved.gluon_jobs import network_of
    from benchmarks.interleaved.weights import batch, labels

    mx = place.mx
    with mx.gpu(0):
        net = network_of(mx, described)
        data = mx.nd.array(batch(count, described.shape), dtype=dtype)
        target = mx.nd.array(labels(count, described.classes))
    if dtype != "float32":
        net.cast(dtype)
    net.hybridize(**static)
    return net, data, target


def _theirs(place: Place, described: Any, count: int, *, training: bool) -> tuple[Any, Any, Any]:
    """Return the same of PyTorch, channels last."""
    from benchmarks.interleaved.torch_jobs import module_of, parameters_of
    from benchmarks.interleaved.weights import batch, labels

    torch = place.torch
    net = module_of(parameters_of(described), described, training=training).to(place.torch_device)
    data = torch.from_numpy(batch(count, described.shape)).to(place.torch_device)
    last = {"memory_format": torch.channels_last}
    target = torch.from_numpy(labels(count, described.classes)).to(place.torch_device)
    return net.to(**last), data.to(**last), target


def inference(
    place: Place, note: Note, *, batch_size: int, precision: str, moving: bool = False
) -> Iterator[None]:
    """Compare calls of the network; AMP has all of it in bfloat16.

    Args:
        place: Where.
        note: Told what is found.
        batch_size: Images.
        precision: ``AMP``, ``TF32`` or ``float32``.
        moving: Whether ours has the images at another address at each call.
    """
    described = _described(place)
    count = place.pick(batch_size, min(batch_size, 2))
    differences: list[float] = []
    dtype = "bfloat16" if precision == "AMP" else "float32"

    def peers() -> Any:
        scope = precision_of(place.torch, precision.replace("AMP", "TF32"), place.torch_device)
        net, data, _ = _theirs(place, described, count, training=False)
        net.requires_grad_(False)
        if precision == "AMP":
            net, data = net.bfloat16(), data.bfloat16()
        step = TorchStep(place.torch, net, (data,), scope)
        differences.append(_difference(ours().astype("float32").asnumpy(), step()))
        note("difference from torch", differences[0])
        compile_s = 0 if precision == "float32" else _COMPILE_S
        overhead = batch_size == 1
        return contenders_of(place, step, note, compile_s=compile_s, overhead=overhead)

    with our_precision(precision):
        net, data, _ = _ours(place, described, count, dtype)
        copies = [data.copy() for _ in range(_ADDRESSES * moving)]
        images = itertools.cycle([data, *copies])

        def ours() -> Any:
            return net(next(images))

        yield from compare(place, note, ours, peers, per_step=count, seconds=0.3)
    limit = _ALIKE[precision]
    assert not differences or differences[0] < limit, f"outputs differ by {differences[0]}"


def training(place: Place, note: Note, *, batch_size: int, precision: str) -> Iterator[None]:
    """Compare training steps; ours alone in float16, with a loss scale."""
    described = _described(place)
    count = place.pick(batch_size, 2)

    def peers() -> Any:
        if precision == "FP16":
            raise Refused("measured for --ab only")
        torch = place.torch
        scope = precision_of(torch, precision, place.torch_device)
        net, data, target = _theirs(place, described, count, training=True)

        def loss(images: Any, classes: Any) -> Any:
            return torch.nn.functional.cross_entropy(net(images), classes)

        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, foreach=True)
        step = TorchStep(torch, loss, (data, target), scope, optimizer)
        compile_s = 0 if precision == "float32" else _COMPILE_S
        return contenders_of(place, step, note, compile_s=compile_s)

    with our_precision(precision):
        dtype = HALVES.get(precision, "float32")
        net, data, target = _ours(place, described, count, dtype)
        loss_of = place.mx.gluon.loss.SoftmaxCrossEntropyLoss()
        loss_of.hybridize(**static)
        parameters = net.collect_params()
        ours = OurStep(
            place.mx,
            lambda: loss_of(net(data), target),
            parameters,
            ("sgd", _SGD),
            count,
            precision,
        )
        yield from compare(place, note, ours, peers, per_step=count, seconds=0.4)


def _difference(ours: Any, theirs: Any) -> float:
    """Return how far outputs are apart, of the largest."""
    want = theirs.float().cpu().numpy()
    return float(np.abs(ours - want).max() / np.abs(want).max())
