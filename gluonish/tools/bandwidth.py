"""``gluonish bandwidth``: measures the time that a kvstore takes for a network's gradients."""

import argparse
import contextlib
import io
import math
import subprocess
import sys
from collections.abc import Sequence
from statistics import mean
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import gluonish.model_zoo.vision as _vision  # noqa: F401  # registers the networks
from gluonish.core.config import GLUONISH_LAUNCH_FOLDER
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.engine import current_engine
from gluonish.kvstore import create
from gluonish.kvstore.distributed import world
from gluonish.model_zoo.registry import get_model
from gluonish.ndarray import NDArray, array, zeros
from gluonish.optimizer import create as create_optimizer
from gluonish.tools.json_output import add_json_option, write_json

_DEPTHS = "18, 34, 50, 101 or 152"


class Batch(NamedTuple):
    """Measurements of one batch.

    Attributes:
        seconds: Time from the first push to the last pulled array.
        gigabytes_per_s: Traffic of each device in that time, counted as an ideal all-reduce:
            2 (n - 1) / n of the gradients' bytes.
        error: Mean absolute difference from the exact sum, divided by its mean absolute value; NaN
            if not requested or not defined.
    """

    seconds: float
    gigabytes_per_s: float
    error: float


def parameter_shapes(
    network: str, num_layers: int, num_classes: int, image_shape: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return the shapes of a network's parameters that have gradients, by name.

    Args:
        network: A name of the model zoo, or ``resnet`` with ``num_layers``.
        num_layers: Depth of a ``resnet``.
        num_classes: Number of the network's outputs.
        image_shape: Channels, height and width of an image.
    """
    name = f"resnet{num_layers}_v1" if network == "resnet" else network
    net = get_model(name, classes=num_classes)
    net.initialize()
    net(zeros((1, *image_shape)))
    params = [param for _, param in sorted(net.collect_params().items())]
    return [param.data().shape for param in params if param.grad_req != "null"]


def measure(
    shapes: Sequence[tuple[int, ...]],
    contexts: Sequence[Context],
    kv_store: str,
    *,
    batches: int,
    optimizer: str | None,
    compression: str | None,
    checks: bool,
) -> list[Batch]:
    """Push the gradients of all devices and pull the results, batch after batch.

    Args:
        shapes: Shapes of the gradients.
        contexts: The devices.
        kv_store: Name of the store.
        batches: Number of measured batches, after one warm-up batch.
        optimizer: Name of the store's optimizer; None if the store only sums.
        compression: Name of a gradient compression, or None.
        checks: Whether to compare sums with the exact ones.
    """
    store: Any = create(kv_store)
    ranks = store.num_workers
    if compression is not None:
        store.set_gradient_compression({"type": compression})
    if optimizer is not None:
        store.set_optimizer(create_optimizer(optimizer))
    rng = np.random.default_rng(0)
    gradients = [_random(rng, shape, contexts) for shape in shapes]
    weights = [[zeros(shape, context) for context in contexts] for shape in shapes]
    for key, held in enumerate(weights):
        store.init(key, held[0])
    # Each process has the same gradients.
    exact = [ranks * np.asarray(sum(x.asnumpy().astype(float) for x in v)) for v in gradients]
    nbytes = sum(4 * values[0].size for values in gradients)
    found = []
    for _ in range(batches + 1):
        current_engine().wait_all()
        if ranks > 1:
            store.barrier()
        start = perf_counter()
        for key, values in enumerate(gradients):
            store.push(key, values, -key)
        for key, held in enumerate(weights):
            store.pull(key, held, -key)
        current_engine().wait_all()
        seconds = perf_counter() - start
        devices = len(contexts) * ranks
        rate = nbytes * 2 * (devices - 1) / devices / seconds / 1e9
        error = _error(weights, exact) if checks and optimizer is None else float("nan")
        found.append(Batch(seconds, rate, error))
    return found[1:]


def _random(
    rng: np.random.Generator, shape: tuple[int, ...], contexts: Sequence[Context]
) -> list[NDArray]:
    return [array(rng.uniform(-1, 1, shape), ctx=context) for context in contexts]


def _error(weights: Sequence[Sequence[NDArray]], exact: Sequence[np.ndarray[Any, Any]]) -> float:
    """Return the largest mean error among devices, divided by the mean of the exact sums."""
    size = sum(expected.size for expected in exact)
    scale = sum(float(np.abs(expected).sum()) for expected in exact) / size
    worst = 0.0
    for device in range(len(weights[0])):
        pairs = zip(weights, exact, strict=True)
        off = sum(float(np.abs(held[device].asnumpy() - total).sum()) for held, total in pairs)
        worst = max(worst, off / size)
    return worst / scale


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``bandwidth`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "bandwidth",
        help="measure the time that a kvstore adds to each batch",
        description="Push random gradients of a network's shapes from several devices into a "
        "kvstore and pull the results; print the time of each batch, the bandwidth of each "
        "device and the error against the exact sum.",
    )
    parser.add_argument(
        "--network",
        default="resnet",
        help="a name of `gluonish zoo list`, or resnet with --num-layers (default: %(default)s)",
    )
    parser.add_argument(
        "--num-layers",
        type=int,
        default=152,
        metavar="N",
        help=f"depth of a resnet: {_DEPTHS} (default: %(default)s)",
    )
    parser.add_argument("--gpus", help="indices of GPUs, such as 0,1,2,3, instead of --cpus")
    parser.add_argument(
        "--cpus", default="0,1", help="indices of CPU devices (default: %(default)s)"
    )
    parser.add_argument(
        "--kv-store",
        "--kvstore",
        default="device",
        metavar="STORE",
        help="kind of the store (default: %(default)s)",
    )
    parser.add_argument(
        *("-n", "--num-workers"),
        type=int,
        default=1,
        metavar="N",
        help="processes, each with those devices, for --kv-store dist_sync or dist_async",
    )
    parser.add_argument(
        "--num-batches",
        type=int,
        default=5,
        metavar="N",
        help="batches to measure (default: %(default)s)",
    )
    parser.add_argument(
        "--disp-batches",
        type=int,
        default=1,
        metavar="N",
        help="batches between two printed lines (default: %(default)s)",
    )
    parser.add_argument(
        "--test-results",
        type=int,
        choices=(0, 1),
        default=1,
        help="1: compare with the exact sums (default: %(default)s)",
    )
    parser.add_argument(
        "--image-shape",
        default="3,224,224",
        metavar="C,H,W",
        help="shape of an image (default: %(default)s)",
    )
    parser.add_argument(
        "--num-classes",
        type=int,
        default=1000,
        metavar="N",
        help="outputs of the network (default: %(default)s)",
    )
    parser.add_argument(
        "--gc-type",
        default="none",
        metavar="TYPE",
        help="compression of gradients: none, 2bit or 1bit (default: %(default)s)",
    )
    parser.add_argument(
        "--optimizer",
        default="None",
        metavar="NAME",
        help="optimizer that the store runs; by default it only sums gradients",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; return 0, or the exit status of the started processes."""
    if arguments.num_workers > 1 and not GLUONISH_LAUNCH_FOLDER.value:
        return _launch(arguments)
    alone = "dist" not in arguments.kv_store
    out = sys.stdout if alone or world().rank == 0 else io.StringIO()
    with contextlib.redirect_stdout(out):
        return _run(arguments)


def _launch(arguments: argparse.Namespace) -> int:
    """Run this command in several processes on this host."""
    if "dist" not in arguments.kv_store:
        raise ArgumentError(
            f"-n: expected --kv-store dist_sync or dist_async, got {arguments.kv_store}, which "
            "does not reach other processes"
        )
    words = ["launch", "--standalone", "--no-prefix", "-n", str(arguments.num_workers)]
    command = [sys.executable, "-m", "gluonish"]
    return subprocess.run([*command, *words, *command, *sys.argv[1:]], check=False).returncode


def _run(arguments: argparse.Namespace) -> int:
    kind, text = ("gpu", arguments.gpus) if arguments.gpus else ("cpu", arguments.cpus)
    contexts = [Context(kind, number) for number in _numbers(f"--{kind}s", text)]
    image_shape = _numbers("--image-shape", arguments.image_shape)
    for option in ("num_batches", "disp_batches"):
        if getattr(arguments, option) < 1:
            name = f"--{option.replace('_', '-')}"
            raise ArgumentError(f"{name}: expected at least 1, got {getattr(arguments, option)}")
    shapes = parameter_shapes(
        arguments.network, arguments.num_layers, arguments.num_classes, image_shape
    )
    elements = sum(int(np.prod(shape)) for shape in shapes)
    places = ", ".join(map(str, contexts))
    if not arguments.json:
        print(f"{len(shapes)} gradients, {4 * elements / 1e6:.1f} MB, on {places}")
    if len(contexts) == 1 and arguments.num_workers == 1 and not arguments.json:
        print(f"one device sends nothing: --{kind}s takes a list of numbers, such as 0,1")
    found = measure(
        shapes,
        contexts,
        arguments.kv_store,
        batches=arguments.num_batches,
        optimizer=None if arguments.optimizer.lower() == "none" else arguments.optimizer,
        compression=None if arguments.gc_type.lower() == "none" else arguments.gc_type,
        # Without an optimizer, servers of dist_async replace values.
        checks=bool(arguments.test_results) and arguments.kv_store != "dist_async",
    )
    if arguments.json:
        write_json(
            {
                "gradients": len(shapes),
                "bytes": 4 * elements,
                "devices": list(map(str, contexts)),
                "workers": arguments.num_workers,
                "batches": found,
            }
        )
        return 0
    shown = arguments.disp_batches
    for last in range(shown, len(found) + 1, shown):
        print(f"batch {last}: {_told(found[last - shown : last])}")
    print(f"average: {_told(found)}")
    return 0


def _told(batches: Sequence[Batch]) -> str:
    seconds = mean(batch.seconds for batch in batches)
    rate = mean(batch.gigabytes_per_s for batch in batches)
    error = max(batch.error for batch in batches)
    text = f"{seconds:.4f} s, {rate:.2f} GB/s per device"
    return text if math.isnan(error) else f"{text}, error {error:.2g}"


def _numbers(option: str, text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() for part in parts):
        raise ArgumentError(f"{option}: expected numbers with commas between, got {text!r}")
    return [int(part) for part in parts]
