"""``gluonish score``: measures images per second of networks in the model zoo."""

import argparse
import gc
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import gluonish.autograd as autograd
import gluonish.model_zoo.vision as _vision  # noqa: F401  # registers the networks
import gluonish.ndarray as nd
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, GluonishError, nearest
from gluonish.core.progress import progress_bar
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.loss import SoftmaxCrossEntropyLoss
from gluonish.gluon.trainer import Trainer
from gluonish.initializer import Xavier
from gluonish.model_zoo.registry import get_model, model_names
from gluonish.tools.demo import parse_contexts
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import table, terminal_width

# Names in the table of MXNet's documentation; names of the model zoo are valid, too.
ZOO_NAMES = {
    "inception-bn": "inception_bn",
    "inception-v3": "inceptionv3",
    "resnet-50": "resnet50_v1",
    "resnet-152": "resnet152_v1",
}
_NETWORKS = "alexnet,vgg16,inception-bn,inception-v3,resnet-50,resnet-152"
_BATCH_SIZES = "1,2,4,8,16,32"
_CLASSES = 1000
_WARM_UPS = 2
_LEARNING_RATE = 1e-3
# Writing 5 resets the peak of resident memory to the current value.
_CLEAR_PEAK = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


class Cell(NamedTuple):
    """One measurement.

    Attributes:
        images_per_s: Images per second; NaN after an error.
        peak_mb: Peak resident memory of the process, in MB of 10^6 bytes; NaN if the system does
            not provide it.
        error: Message of the error, or empty.
    """

    images_per_s: float
    peak_mb: float
    error: str = ""


def measure(
    network: str, batch_size: int, mode: str, dtype: str, context: Context, seconds: float
) -> Cell:
    """Measure one network with synthetic images.

    Args:
        network: A name of the documentation's table or of the model zoo.
        batch_size: Number of images in a call.
        mode: ``inference`` or ``training``: forward, cross entropy, backward, SGD with momentum.
        dtype: ``float32`` or ``bfloat16``.
        context: The device.
        seconds: Approximate time to repeat the call, at least once, after the warm-up.

    Returns:
        The rate and the memory, or an error.
    """
    gc.collect()  # frees the network of the previous cell, which has reference cycles
    context.empty_cache()
    _clear_peak()
    try:
        step = inference_calls if mode == "inference" else training_calls
        call_s = _seconds_of(step(network, batch_size, dtype, context), seconds)
    except (GluonishError, MemoryError) as error:
        message = f"{type(error).__name__}: {error}"
        return Cell(float("nan"), float("nan"), message.splitlines()[0])
    return Cell(batch_size / call_s, _peak_mb())


def score_table(
    cells: dict[tuple[str, int], str],
    networks: Sequence[str],
    batch_sizes: Sequence[int],
    width: int | None = None,
) -> str:
    """Return the cells as aligned text: a column for each network, a line for each batch size.

    Args:
        cells: Text by network and batch size.
        networks: The columns.
        batch_sizes: The lines.
        width: Columns of the terminal; None for any width.
    """
    rows = [["batch size", *networks]]
    rows += [
        [str(size), *(cells.get((name, size), "-") for name in networks)] for size in batch_sizes
    ]
    return table(rows, width, right=range(len(rows[0])))


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``score`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "score",
        help="measure images per second of the model zoo's networks",
        description="Print how many images a second each network takes at each batch size: "
        "synthetic images, hybridized with static_alloc and static_shape, after a warm-up. Exits "
        "with 1 if a cell could not be measured.",
    )
    parser.add_argument(
        "--mode",
        choices=("inference", "training"),
        default="inference",
        help="what is measured (default: %(default)s)",
    )
    parser.add_argument(
        "--dtype",
        choices=("float32", "bfloat16"),
        default="float32",
        help="dtype of the networks (default: %(default)s)",
    )
    parser.add_argument(
        "--networks",
        default=_NETWORKS,
        metavar="NAMES",
        help="networks, with commas between (default: %(default)s)",
    )
    parser.add_argument(
        "--batch-sizes",
        default=_BATCH_SIZES,
        metavar="SIZES",
        help="images in a call (default: %(default)s)",
    )
    parser.add_argument(
        "--ctx",
        default="cpu:0",
        metavar="DEVICE",
        help="the device, such as cpu:0 (the default) or gpu:0",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        metavar="S",
        help="seconds to measure each network and batch size (default: %(default)g)",
    )
    parser.add_argument(
        "--memory", action="store_true", help="also print the peak of resident memory"
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure all cells and print the table; return 1 if a cell failed, else 0."""
    networks = parse_networks(arguments.networks)
    batch_sizes = parse_batch_sizes(arguments.batch_sizes)
    contexts = parse_contexts(arguments.ctx)
    if len(contexts) != 1:
        raise ArgumentError(f"--ctx: expected one device, got {arguments.ctx!r}")

    if not 0 < arguments.seconds < math.inf:
        raise ArgumentError(f"--seconds: expected a positive number, got {arguments.seconds}")
    cells: dict[tuple[str, int], Cell] = {}
    for name, size in _progress([(name, size) for name in networks for size in batch_sizes]):
        cells[name, size] = measure(
            name, size, arguments.mode, arguments.dtype, contexts[0], arguments.seconds
        )
    failed = {key: cell.error for key, cell in cells.items() if cell.error}
    if arguments.json:
        _write_report(arguments, contexts[0], cells)
        return 1 if failed else 0
    width = terminal_width()
    print(f"images/s, {arguments.mode}, {arguments.dtype}, {contexts[0]}")
    rates = {key: "error" if cell.error else _rate(cell) for key, cell in cells.items()}
    print(score_table(rates, networks, batch_sizes, width))
    if arguments.memory:
        print("\npeak resident memory of the process, MB")
        peaks = {key: f"{cell.peak_mb:.0f}" for key, cell in cells.items()}
        print(score_table(peaks, networks, batch_sizes, width))
    for (name, size), error in failed.items():
        print(f"{name}, batch {size}: {error}")
    return 1 if failed else 0


def _write_report(
    arguments: argparse.Namespace, context: Context, cells: dict[tuple[str, int], Cell]
) -> None:
    write_json(
        {
            "mode": arguments.mode,
            "dtype": arguments.dtype,
            "device": str(context),
            "cells": [
                {"network": name, "batch_size": size, **cell._asdict()}
                for (name, size), cell in cells.items()
            ],
        }
    )


def parse_networks(text: str) -> list[str]:
    """Return the names of ``--networks``, of MXNet's documentation or of the model zoo.

    Raises:
        ArgumentError: One is not known.
    """
    networks = [name.strip() for name in text.split(",")]
    known = [*ZOO_NAMES, *model_names()]
    for name in networks:
        if name not in known:
            raise ArgumentError(
                f"--networks: expected names of `gluonish zoo list`, got {name!r}"
                f"{nearest(name, known)}"
            )
    return networks


def parse_batch_sizes(text: str) -> list[int]:
    """Return the numbers of ``--batch-sizes``.

    Raises:
        ArgumentError: They are not positive integers.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ArgumentError(f"--batch-sizes: expected positive integers, got {text!r}")
    return [int(word) for word in words]


def _rate(cell: Cell) -> str:
    return f"{cell.images_per_s:.{1 if cell.images_per_s < 1000 else 0}f}"


def _progress(work: list[tuple[str, int]]) -> Iterable[tuple[str, int]]:
    bar: Iterable[tuple[str, int]] = progress_bar(work, desc="score", unit="cell", leave=False)
    return bar


def _network(name: str, batch_size: int, dtype: str, context: Context) -> tuple[HybridBlock, Any]:
    """Return an initialized network, and a batch of images for it."""
    zoo_name = ZOO_NAMES.get(name, name)
    net = get_model(zoo_name, classes=_CLASSES)
    net.initialize(Xavier(), ctx=context)
    net.cast(dtype)
    net.hybridize(static_alloc=True, static_shape=True)
    side = 299 if zoo_name == "inceptionv3" else 224
    shape = (batch_size, 3, side, side)
    images = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    return net, nd.array(images, ctx=context).astype(dtype)


def inference_calls(
    name: str, batch_size: int, dtype: str, context: Context
) -> Callable[[int], None]:
    """Return a function that predicts a batch of synthetic images a number of times."""
    net, images = _network(name, batch_size, dtype, context)

    def calls(count: int) -> None:
        for _ in range(count):
            net(images).wait_to_read()

    return calls


def training_calls(
    name: str, batch_size: int, dtype: str, context: Context
) -> Callable[[int], None]:
    """Return a function that takes a number of training steps on a batch of synthetic images."""
    net, images = _network(name, batch_size, dtype, context)
    labels = nd.array(np.arange(batch_size) % _CLASSES, ctx=context)
    loss_of = SoftmaxCrossEntropyLoss()
    loss_of.hybridize(static_alloc=True, static_shape=True)
    settings = {
        "learning_rate": _LEARNING_RATE,
        "momentum": 0.9,
        "multi_precision": dtype != "float32",
    }
    trainer = Trainer(net.collect_params(), "sgd", settings)

    def steps(count: int) -> None:
        for _ in range(count):
            with autograd.record():
                loss = loss_of(net(images).astype("float32", copy=False), labels)
            loss.backward()
            trainer.step(batch_size)
        nd.waitall()

    return steps


def _seconds_of(calls: Callable[[int], None], seconds: float) -> float:
    """Return the mean time of a call, from calls for about ``seconds`` after a warm-up."""
    calls(_WARM_UPS - 1)
    start = perf_counter()
    calls(1)
    count = max(1, round(seconds / (perf_counter() - start)))
    start = perf_counter()
    calls(count)
    return (perf_counter() - start) / count


def _clear_peak() -> None:
    try:
        _CLEAR_PEAK.write_text("5", encoding="ascii")
    except OSError:
        return  # not Linux, or not permitted: the peak includes all earlier cells


def _peak_mb() -> float:
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return float("nan")
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
    return kilobytes[0] * 1024 / 1e6 if kilobytes else float("nan")
