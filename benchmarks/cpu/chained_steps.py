"""What it saves that neighbouring oneDNN steps run as one: 8-bit networks with chains and without.

    python -m benchmarks.cpu chained_steps --networks mobilenetv2_1.0,resnet50_v1 --threads 1

Both run in one process, on the same weights and memory, five calls of one and five of the other in
turns; printed are the medians, and the median of the ratios of each two turns.
"""

import argparse
import gc
import os
import statistics
import time
from typing import Any

import numpy as np

import gluonish as mx
from gluonish.graph.executable import Executable

_CALLS = 5  # of a turn


def _quantized(name: str, x: mx.nd.NDArray) -> mx.gluon.HybridBlock:
    net = mx.gluon.model_zoo.get_model(name)
    net.initialize(mx.init.Xavier(magnitude=2))
    net.hybridize(static_alloc=True, static_shape=True)
    net(x)
    found = mx.contrib.quantization.quantize_net_v2(net, calib_data=[x], calib_mode="naive")
    found.hybridize(static_alloc=True, static_shape=True)
    return found


def _largest() -> Executable:
    found = [one for one in gc.get_objects() if isinstance(one, Executable)]
    return max(found, key=lambda one: sum(map(len, one.segments)))


def _measure(name: str, rounds: int) -> None:
    values = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
    x = mx.nd.array(values)
    net = _quantized(name, x)
    for _ in range(5):
        net(x).wait_to_read()
    executable = _largest()
    kinds: dict[str, Any] = {
        "chains": executable._runs,
        "steps": [list(one) for one in executable.segments],
    }
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(rounds):
        for kind in list(kinds)[:: 1 if number % 2 else -1]:
            executable._runs = kinds[kind]
            net(x).wait_to_read()
            begin = time.perf_counter()
            for _ in range(_CALLS):
                net(x).wait_to_read()
            took[kind].append((time.perf_counter() - begin) / _CALLS * 1e3)
    chains, steps = (statistics.median(took[kind]) for kind in kinds)
    pairs = zip(took["steps"], took["chains"], strict=True)
    ratio = statistics.median(without / with_chains for without, with_chains in pairs)
    print(
        f"{name:20} chains {chains:7.3f} ms  steps {steps:7.3f} ms  ratio {ratio:.3f}", flush=True
    )


def main() -> None:
    """Measure the networks that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", default="mobilenetv2_1.0,resnet50_v1")
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--threads", type=int, default=0, help="processors to run on (all)")
    arguments = parser.parse_args()
    if arguments.threads:
        os.sched_setaffinity(0, range(arguments.threads))
    for name in arguments.networks.split(","):
        _measure(name, arguments.rounds)
