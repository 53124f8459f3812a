"""What a change costs on the hot path: this tree beside another one, in turns.

    python -m benchmarks.cpu two_trees --other /path/to/another/checkout

Takes the processor time of an eager and a recorded ``x + x`` of 4x4 float32, a hybridized network
of two small layers in inference, and a training step of it with loss and Trainer; one process for
each tree, A B B A. Prints the median of each, and the median ratio of the rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import json, sys, time
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn

x = nd.ones((4, 4))
marked = nd.ones((4, 4))
marked.attach_grad()
net = nn.HybridSequential()
net.add(nn.Dense(8, activation="relu"), nn.Dense(4))
net.initialize()
net.hybridize(static_alloc=True)
loss = gluon.loss.SoftmaxCrossEntropyLoss()
loss.hybridize(static_alloc=True)
label = nd.array([0, 1, 2, 3])
net(x)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})


def add():
    x + x


def recorded():
    marked + marked


def infer():
    net(x)


def train():
    with autograd.record():
        value = loss(net(x), label)
    value.backward()
    trainer.step(4)


def timed(function, calls):
    start = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - start) / calls * 1e6


def measure(calls):
    with autograd.record():
        tape = timed(recorded, calls)
    found = {
        "eager add": timed(add, calls),
        "recorded add": tape,
        "hybridized inference": timed(infer, calls // 2),
        "training step": timed(train, calls // 16),
    }
    nd.waitall()
    return found


measure(400)
for line in sys.stdin:
    print(json.dumps(measure(int(line))), flush=True)
"""


def start(tree: Path) -> "subprocess.Popen[str]":
    """Start the process that measures a tree."""
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(tree), str(tree / "engine")]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=tree,
    )


def turn(process: "subprocess.Popen[str]", calls: int) -> dict[str, float]:
    """Return the microseconds of each case."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{calls}\n")
    process.stdin.flush()
    found: dict[str, float] = json.loads(process.stdout.readline())
    return found


def main() -> None:
    """Measure both trees, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--other", type=Path, required=True, help="root of the other checkout")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=4000, help="calls in a turn")
    arguments = parser.parse_args()
    here, other = start(ROOT), start(arguments.other.resolve())
    rows: list[tuple[dict[str, float], dict[str, float]]] = []
    for i in range(arguments.rounds):
        order = (here, other) if i % 2 else (other, here)
        found = {id(process): turn(process, arguments.calls) for process in order}
        rows.append((found[id(here)], found[id(other)]))
    for process in (here, other):
        process.communicate()
    for case in rows[0][0]:
        ours, theirs = ([row[n][case] for row in rows] for n in (0, 1))
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        print(
            f"{case:22} {statistics.median(ours):8.2f} us, other {statistics.median(theirs):8.2f} "
            f"us, ratio {ratio:.3f}, of minima {min(ours) / min(theirs):.3f}"
        )


if __name__ == "__main__":
    main()
