"""How long a program waits before its first line, and until the first step of a small network.

    python benchmarks/start.py [--mxnet-python /path/to/python] [--runs 7]

``import gluonish`` against ``import mxnet`` (1.9.1, in an environment of its own), and the import
together with the first training step of a small convolutional network, each in processes of their
own, one after the other in turns; medians in milliseconds. Compiled bytecode is there in both, as
after an installation by pip.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TIMED = "import time; start = time.perf_counter()\n{}\nprint((time.perf_counter() - start) * 1e3)"
IMPORT = "import {name} as mx"
FIRST_STEP = """
import {name} as mx
from {name} import autograd, gluon, nd
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(8, 3, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dense(10))
net.initialize()
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {{"learning_rate": 0.1}})
loss = gluon.loss.SoftmaxCrossEntropyLoss()
data, label = nd.random.uniform(shape=(8, 3, 16, 16)), nd.zeros((8,))
with autograd.record():
    out = loss(net(data), label)
out.backward()
trainer.step(8)
nd.waitall()
"""
MODULES = "import {name}, sys; print(len([x for x in sys.modules if x.startswith('{name}')]))"


def _run(python: str, program: str, bytecode: str) -> float:
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'engine'}",
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": bytecode,
    }
    done = subprocess.run(
        [python, "-W", "ignore", "-c", program],
        env=environment,
        cwd=bytecode,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mxnet-python")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    peers = [("gluonish", sys.executable)]
    if options.mxnet_python:
        peers.append(("mxnet", options.mxnet_python))
    with tempfile.TemporaryDirectory() as bytecode:
        for what, program in (("import", IMPORT), ("import and first step", FIRST_STEP)):
            times: dict[str, list[float]] = {name: [] for name, _ in peers}
            for turn in range(options.runs + 1):
                for name, python in peers:
                    found = _run(python, TIMED.format(program.format(name=name)), bytecode)
                    if turn:  # the first one compiles
                        times[name].append(found)
            medians = {name: statistics.median(found) for name, found in times.items()}
            line = "  ".join(f"{name} {median:.0f} ms" for name, median in medians.items())
            if len(medians) == 2:
                line += f"  ratio {medians['gluonish'] / medians['mxnet']:.2f}"
            sys.stdout.write(f"{what}: {line}\n")
        modules = _run(sys.executable, MODULES.format(name="gluonish"), bytecode)
        sys.stdout.write(f"modules of gluonish at import: {modules:.0f}\n")


if __name__ == "__main__":
    main()
