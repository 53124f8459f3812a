"""``gluonish warm``: compile the kernels of networks ahead."""

import argparse
import time
from functools import partial

import gluonish.model_zoo.vision as _vision  # noqa: F401  # registers the networks
from gluonish.core.errors import ArgumentError
from gluonish.core.progress import progress_bar
from gluonish.kernels.compiler import compiled_count
from gluonish.tools.demo import parse_contexts
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.score import (
    inference_calls,
    parse_batch_sizes,
    parse_networks,
    training_calls,
)

_CALLS = 2  # the second has the kernels that the first one found to pay
_NETWORKS = "resnet50_v1,mobilenetv2_1.0"


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``warm`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "warm",
        help="compile the kernels of networks ahead, so that their first call is fast",
        description="Kernels are compiled when a network first needs them, which takes seconds, "
        "and kept on disk (in MXNET_HOME) for later processes. This runs networks of the "
        "model zoo once, so that their kernels, which most networks share, are there.",
    )
    parser.add_argument(
        "--networks",
        default=_NETWORKS,
        metavar="NAMES",
        help="networks, with commas between (default: %(default)s)",
    )
    parser.add_argument(
        "--mode",
        choices=("inference", "training", "both"),
        default="both",
        help="what is compiled for (default: both)",
    )
    parser.add_argument(
        "--dtypes",
        default="float32",
        metavar="DTYPES",
        help="float32, bfloat16 or both (default: float32)",
    )
    parser.add_argument(
        "--batch-sizes",
        default="1,8",
        metavar="SIZES",
        help="images in a call (default: %(default)s)",
    )
    parser.add_argument(
        "--ctx",
        default="cpu:0",
        metavar="DEVICE",
        help="the device, such as cpu:0 (the default) or gpu:0",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run each network in each way; print how many kernels were compiled."""
    networks = parse_networks(arguments.networks)
    sizes = parse_batch_sizes(arguments.batch_sizes)
    dtypes = [dtype.strip() for dtype in arguments.dtypes.split(",")]
    for dtype in dtypes:
        if dtype not in ("float32", "bfloat16"):
            raise ArgumentError(f"--dtypes: expected some of float32, bfloat16, got {dtype!r}")
    contexts = parse_contexts(arguments.ctx)
    if len(contexts) != 1:
        raise ArgumentError(f"--ctx: expected one device, got {arguments.ctx!r}")
    ways = {"inference": (inference_calls,), "training": (training_calls,)}
    calls = ways.get(arguments.mode, (inference_calls, training_calls))
    before, start = compiled_count(), time.perf_counter()
    work = [
        partial(make, name, size, dtype, contexts[0])
        for name in networks
        for size in sizes
        for dtype in dtypes
        for make in calls
    ]
    for prepare in progress_bar(work, desc="warm", unit="network", leave=False):
        prepare()(_CALLS)
    made, seconds = compiled_count() - before, time.perf_counter() - start
    on_cpu = contexts[0].device_type == "cpu"
    if arguments.json:
        write_json({"compiled": made if on_cpu else None, "seconds": seconds, "networks": networks})
    elif not on_cpu:  # CuPy compiles, and does not say what it found on disk
        print(f"The kernels of {contexts[0]} are on disk after {seconds:.0f} s")
    elif made:
        print(f"Compiled {made} kernels in {seconds:.0f} s; later processes load them from disk")
    else:
        print("All kernels were on disk already")
    return 0
