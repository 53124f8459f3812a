"""Inference of an encoder like BERT-base's: its forms in gluonish, beside their peers, in turns.

    python -m benchmarks.cpu encoder --peers-python PYTHON [--shapes 8x128,1x512] [--layers 12] \\
        [--dtype bfloat16] [--peers layers,written,openvino]

Peers: ``layers`` of `nn.TransformerEncoderLayer`, ``written`` and ``interleaved`` as programs of
MXNet 1.9 write attention out; ``torch``, ``torch_compile``, ``openvino``, ``onnxruntime``. Each is
a process of its own with the same weights; outputs are compared before they are timed. A ratio is a
peer's time to that of the first in the same round: above 1, the first is faster.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.interleaved.driver import Job, Worker, measure, workers

_PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "layers": ("Gluonish", {"form": "layers"}),
    "written": ("Gluonish", {"form": "written"}),
    "interleaved": ("Gluonish", {"form": "interleaved"}),
    "torch": ("Torch", {}),
    "torch_compile": ("Torch", {"compiled": True}),
    "openvino": ("OpenVino", {}),
    "onnxruntime": ("OnnxRuntime", {}),
}
_BOUNDS = {"float32": 2e-4, "bfloat16": 0.1}  # of the largest value


def _job(name: str, arguments: argparse.Namespace, shape: list[int]) -> Job:
    kind, options = _PEERS[name]
    python = sys.executable if kind == "Gluonish" else arguments.peers_python
    shared = {"shape": shape, "layers": arguments.layers, "dtype": arguments.dtype}
    return Job(name, python, "encoder_jobs", kind, {**shared, **options}, {})


def _difference(running: list[Worker]) -> dict[str, float]:
    """Return the difference of each peer's output from the first one's, by its largest value."""
    with tempfile.TemporaryDirectory() as folder:
        found = {worker.name: np.load(worker.check(Path(folder))) for worker in running}
    first = next(iter(found.values()))
    return {k: float(abs(v - first).max() / abs(first).max()) for k, v in found.items()}


def _compare(shape: list[int], arguments: argparse.Namespace) -> None:
    names = arguments.peers.split(",")
    errors: dict[str, str] = {}
    jobs = [_job(name, arguments, shape) for name in names]
    with workers(jobs, arguments.threads, errors) as running:
        apart = _difference(running)
        samples = measure(running, arguments.seconds, arguments.rounds, errors)
    text = "x".join(map(str, shape))
    first = next(iter(samples.values())).seconds
    for name, sample in samples.items():
        ratio = statistics.median(b / a for a, b in zip(first, sample.seconds, strict=True))
        unequal = "" if apart[name] <= _BOUNDS[arguments.dtype] else "  NOT EQUAL"
        print(
            f"{text:8} {arguments.dtype:9} {name:14} {sample.median_s * 1e3:9.2f} ms  "
            f"ratio {ratio:5.2f}  difference {apart[name]:.1e}{unequal}",
            flush=True,
        )
    for name, error in errors.items():
        print(f"{text:8} {name:14} {error}", flush=True)


def main() -> None:
    """Compare on each shape."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", default=",".join(_PEERS), help="(default: %(default)s)")
    parser.add_argument("--peers-python", help="that of torch, openvino and onnxruntime")
    parser.add_argument("--shapes", default="8x128,1x512", help="(default: %(default)s)")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--dtype", choices=tuple(_BOUNDS), default="float32")
    parser.add_argument("--threads", type=int, default=2, help="of each process")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each peer")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn, at least one run")
    arguments = parser.parse_args()
    for shape in arguments.shapes.split(","):
        _compare([int(x) for x in shape.split("x")], arguments)


if __name__ == "__main__":
    main()
