"""Memory and time of a training step of a BERT encoder whose layers are checkpointed, or not.

    python -m benchmarks.cpu checkpointing [--shape 8x512] [--layers 12] [--eager]

All layers but the last are checkpointed. Each kind runs in a process of its own, in turns; printed
are the medians of the CPU time of a step and of the peak of resident memory beyond parameters,
gradients and optimizer states, and their ratios to a network without checkpoints: speed and memory.
"""

import argparse
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import gluonish as mx
from gluonish.gluon import nn

_UNITS, _HEADS, _HIDDEN, _WORDS = 768, 12, 3072, 30522
_PAGE = 4096


class _Layer(mx.gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Dense(3 * _UNITS, flatten=False, in_units=_UNITS)
        self.out = nn.Dense(_UNITS, flatten=False, in_units=_UNITS)
        self.wide = nn.Dense(_HIDDEN, flatten=False, in_units=_UNITS)
        self.narrow = nn.Dense(_UNITS, flatten=False, in_units=_HIDDEN)
        self.first = nn.LayerNorm(in_channels=_UNITS)
        self.last = nn.LayerNorm(in_channels=_UNITS)
        self.dropout = nn.Dropout(0.1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        split = F.split(F.reshape(self.qkv(x), (0, 0, 3 * _HEADS, -1)), 3, axis=2)
        q, k, v = (F.transpose(y, (0, 2, 1, 3)) for y in split)
        found = F.scaled_dot_product_attention(q, k, v, dropout=0.1)
        found = F.reshape(F.transpose(found, (0, 2, 1, 3)), (0, 0, -3))
        x = self.first(x + self.dropout(self.out(found)))
        hidden = F.LeakyReLU(self.wide(x), act_type="gelu")
        return self.last(x + self.dropout(self.narrow(hidden)))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE


def _one(checkpointed: bool, shape: tuple[int, int], layers: int, eager: bool, steps: int) -> None:
    """Print the CPU time of a step in seconds, and the peak of memory in bytes."""
    net = nn.HybridSequential()
    net.add(nn.Embedding(_WORDS, _UNITS), *(_Layer() for _ in range(layers)), nn.Dense(2))
    net.initialize()
    if not eager:
        net.hybridize(static_alloc=True)
    # Backward needs the activations of the last layer at once, so keeping them costs no memory.
    for layer in net[1:-2] if checkpointed else ():
        layer.checkpoint()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-5})
    peak, before, took = 0, 0, []
    done = threading.Event()

    def step(words: Any) -> None:
        with mx.autograd.record():
            loss = net(words).sum()
        loss.backward()
        trainer.step(1)
        mx.nd.waitall()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, _resident())

    step(mx.nd.ones((1, shape[1])))  # allocates states
    before = _resident()
    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(steps + 1):
        begin = time.process_time()
        step(mx.nd.ones(shape))
        took.append(time.process_time() - begin)
    done.set()
    watcher.join()
    print(min(took[1:]), peak - before)


def main() -> None:
    """Measure the network that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="8x512", help="samples x length")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--eager", action="store_true", help="not hybridized")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--one", choices=("plain", "checkpointed"), help="in this process")
    arguments = parser.parse_args()
    samples, length = map(int, arguments.shape.split("x"))
    if arguments.one:
        kind, layers = arguments.one == "checkpointed", arguments.layers
        _one(kind, (samples, length), layers, arguments.eager, arguments.steps)
        return
    found: dict[str, list[tuple[float, float]]] = {"plain": [], "checkpointed": []}
    for _ in range(arguments.rounds):
        for name, rows in found.items():
            command = [sys.executable, "-m", "benchmarks.cpu", "checkpointing", *sys.argv[1:]]
            command += ["--one", name]
            made = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, nbytes = map(float, made.stdout.split()[-2:])
            rows.append((seconds, nbytes))
    medians = {
        name: [statistics.median(column) for column in zip(*rows, strict=True)]
        for name, rows in found.items()
    }
    seconds, nbytes = medians["plain"]
    for name, (took, peak) in medians.items():
        print(
            f"{arguments.shape} x {arguments.layers} layers  {name:12} {took:8.2f} s  "
            f"{peak / 1e6:8.1f} MB  speed {seconds / took:.2f}  memory {peak / nbytes:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
