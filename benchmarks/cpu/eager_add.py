"""How long one recorded ``x + x`` takes: 4x4 float32, gradients on, CPU, one thread.

    python -m benchmarks.cpu eager_add
    python -m benchmarks.cpu eager_add --oracle /path/to/python-with-mxnet

Prints minimum and median of repeats in microseconds, for the naive and the threaded engine. With
an interpreter that has MXNet 1.9.1, that is timed too, in turns with gluonish (A B A B), so that a
busy machine slows both. Every measurement is a process of its own.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ("NaiveEngine", "ThreadedEnginePerDevice")
ROUNDS = 3

# Runs under gluonish and under MXNet; argv: the package, repeats, calls in each.
PROGRAM = """
import importlib, json, sys, time
mx = importlib.import_module(sys.argv[1])
repeats, calls = int(sys.argv[2]), int(sys.argv[3])
x = mx.nd.ones((4, 4))
x.attach_grad()
samples = []
for _ in range(repeats + 3):  # the first ones warm up
    with mx.autograd.record():
        start = time.perf_counter()
        for _ in range(calls):
            x + x
        samples.append((time.perf_counter() - start) / calls * 1e6)
    mx.nd.waitall()
print(json.dumps(samples[3:]))
"""


def measure(python: str, package: str, engine: str, repeats: int, calls: int) -> list[float]:
    """Return the microseconds of a call, once for each repeat."""
    environment = os.environ | {
        "MXNET_ENGINE_TYPE": engine,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")]),
    }
    done = subprocess.run(
        [python, "-c", PROGRAM, package, str(repeats), str(calls)],
        env=environment,
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure and print one line for each package and engine."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--oracle", help="interpreter of an environment with MXNet 1.9.1")
    parser.add_argument("--repeats", type=int, default=30, help="samples of each process")
    parser.add_argument("--calls", type=int, default=1000, help="calls in each sample")
    options = parser.parse_args()
    packages = {"gluonish": sys.executable}
    if options.oracle is not None:
        packages["mxnet"] = options.oracle
    print("package   engine                    minimum us   median us")
    for engine in ENGINES:
        samples: dict[str, list[float]] = {package: [] for package in packages}
        for _ in range(ROUNDS):
            for package, python in packages.items():
                samples[package] += measure(python, package, engine, options.repeats, options.calls)
        for package, found in samples.items():
            print(f"{package:9} {engine:25} {min(found):10.2f} {statistics.median(found):11.2f}")
