"""How long the first hybridized call of a large graph takes: tracing, passes and planning.

    python benchmarks/large_graphs.py [--counts 1250,2500,5000]

Networks of that many branches (a product with a number and a rectifier on 512x4 float32), put
together in several ways, and chains; for inference and, recorded, with the backward pass. Each
measurement is a process of its own. Prints seconds, and how much longer each took than the one of
half as many; near 2 is linear.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("added", "pairwise", "add_n", "concat", "layers", "outputs", "chain")


def compute(F: Any, x: Any, kind: str, count: int) -> Any:
    """Return what a network of a kind computes."""
    if kind == "chain":
        for _ in range(count):
            x = F.softmax(F.tanh(x + 1.0))
        return x
    parts = [F.relu(x * (1.0 + i)) for i in range(count)]
    if kind in ("layers", "outputs"):
        parts = [F.softmax(part) for part in parts]
    if kind == "outputs":
        return parts
    if kind in ("add_n", "concat"):
        return F.add_n(*parts) if kind == "add_n" else F.concat(*parts, dim=1)
    while kind == "pairwise" and len(parts) > 1:
        odd = parts[len(parts) // 2 * 2 :]
        parts = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)] + odd
    return sum(parts[1:], parts[0])


def first_call(kind: str, count: int, *, train: bool) -> float:
    """Return the seconds of the first call, and of the backward pass behind it."""
    from gluonish import autograd, nd
    from gluonish.gluon.nn import HybridBlock

    class Net(HybridBlock):
        count = 0

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return compute(F, x, kind, self.count)

    def run(count: int) -> float:
        net = Net()
        net.count = count
        net.hybridize()
        x = nd.ones((512, 4))
        x.attach_grad()
        start = time.perf_counter()
        if train:
            with autograd.record():
                y = net(x)
            autograd.backward(y)
        else:
            net(x)
        nd.waitall()
        return time.perf_counter() - start

    run(8)
    return run(count)


def main() -> None:
    """Measure all, or with ``--one`` one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", default="1250,2500,5000")
    parser.add_argument("--one", nargs=3, metavar=("KIND", "COUNT", "TRAIN"))
    arguments = parser.parse_args()
    if arguments.one:
        kind, count, train = arguments.one
        print(first_call(kind, int(count), train=train == "train"))
        return
    for train in ("infer", "train"):
        for kind in KINDS:
            texts, before = [], None
            for count in arguments.counts.split(","):
                command = [sys.executable, __file__, "--one", kind, count, train]
                done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
                seconds = float(done.stdout)
                growth = "" if before is None else f" ({seconds / before:.1f} x)"
                texts.append(f"{count}: {seconds:.2f} s{growth}")
                before = seconds
            print(f"{train} {kind:9}", ", ".join(texts), flush=True)


if __name__ == "__main__":
    main()
