"""Inference of a network of the zoo, beside runtimes that read the ONNX file exported of it.

    python -m benchmarks.cpu exported --peers-python PYTHON [--networks vit_base_patch16_224] \\
        [--batch-sizes 8] [--dtype bfloat16] [--peers openvino,onnxruntime]

For networks that the other benchmarks' description of networks has no operators for, such as vision
transformers. Each peer is a process of its own; outputs are compared before they are timed, and the
difference is given as a share of the largest value. A ratio is a peer's time to gluonish's in the
same round: above 1, gluonish is faster.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

import gluonish as mx
from benchmarks.interleaved.driver import Job, measure, workers
from benchmarks.interleaved.exported_jobs import images

_PEERS = {"openvino": "OpenVino", "onnxruntime": "OnnxRuntime"}


def main() -> None:
    """Compare on each network and batch size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default="vit_base_patch16_224,convnext_tiny")
    parser.add_argument("--batch-sizes", default="8", help="(default: %(default)s)")
    parser.add_argument("--size", type=int, default=224, help="of the images")
    parser.add_argument("--peers", default="openvino", help="(default: %(default)s)")
    parser.add_argument("--peers-python", required=True, help="that of the runtimes")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--threads", type=int, default=2, help="of each process")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each peer")
    arguments = parser.parse_args()
    for name in arguments.networks.split(","):
        for batch in arguments.batch_sizes.split(","):
            with tempfile.TemporaryDirectory() as folder:
                shape = [int(batch), 3, arguments.size, arguments.size]
                _compare(name, shape, Path(folder), arguments)


def _compare(name: str, shape: list[int], folder: Path, arguments: argparse.Namespace) -> None:
    jobs = _jobs(name, shape, folder, arguments)
    errors: dict[str, str] = {}
    with workers(jobs, arguments.threads, errors) as running:
        found = [np.load(worker.check(folder)) for worker in running]
        largest = np.abs(found[0]).max()
        apart = {
            worker.name: float(np.abs(x - found[0]).max() / largest)
            for worker, x in zip(running, found, strict=True)
        }
        samples = measure(running, 0.5, arguments.rounds, errors)
    first = samples["gluonish"].seconds
    for peer, sample in samples.items():
        ratio = statistics.median(b / a for a, b in zip(first, sample.seconds, strict=True))
        print(
            f"{name:24} {shape[0]:3} {arguments.dtype:9} {peer:12} {sample.median_s * 1e3:9.2f} ms"
            f"  ratio {ratio:5.2f}  difference {apart[peer]:.1e}",
            flush=True,
        )
    for peer, error in errors.items():
        print(f"{name:24} {shape[0]:3} {peer:12} {error}", flush=True)


def _jobs(name: str, shape: list[int], folder: Path, arguments: argparse.Namespace) -> list[Job]:
    """Write the network's files, and return what the processes do."""
    mx.random.seed(0)
    net = mx.gluon.model_zoo.vision.get_model(name)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(mx.nd.array(images(shape)))
    parameters, graph = str(folder / "net.params"), str(folder / "net")
    net.save_parameters(parameters)
    symbol, values = net.export(graph)
    file = str(folder / "net.onnx")
    mx.onnx.export_model(symbol, values, [tuple(shape)], np.float32, file)
    shared = {"shape": shape, "dtype": arguments.dtype}
    ours = {"name": name, "parameters": parameters, **shared}
    jobs = [Job("gluonish", sys.executable, "exported_jobs", "Gluonish", ours, {})]
    for peer in arguments.peers.split(","):
        options = {"file": file, **shared}
        jobs.append(Job(peer, arguments.peers_python, "exported_jobs", _PEERS[peer], options, {}))
    return jobs


if __name__ == "__main__":
    main()
