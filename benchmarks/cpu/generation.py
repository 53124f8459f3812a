"""Text of a network of GPT-2 small's size, beside its dense layers alone and peers, in turns.

    python -m benchmarks.cpu generation --peers-python PYTHON [--prompt 16] [--new 64] \\
        [--dtype bfloat16] [--peers generate,linear,torch_compile,openvino]

Greedy tokens behind one prompt, of weights drawn at random. Peers: ``linear``, the dense layers
alone on as many single tokens; ``int8``, weights of 8 bits; ``torch`` and ``torch_compile``,
transformers' generate as it is, and with a static cache and a compiled step; ``openvino``, a model
of OpenVINO that holds its cache; ``llama``, llama.cpp on the same weights. A peer whose packages
are missing is reported so. A ratio is a peer's time to that of the first in the same round: above
1, the first is faster; that of ``linear`` is the share of the dense layers' rate.

``--new 1`` with a long prompt measures the prompt alone, of which ``encoder`` is the share of the
rate of an encoder's layers of the same sizes:

    python -m benchmarks.cpu generation --prompt 512 --new 1 --peers generate,encoder
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import gluonish as mx
from benchmarks.interleaved.driver import Job, measure, workers
from benchmarks.interleaved.generation_jobs import prompt_of
from gluonish.model_zoo import save_pretrained
from gluonish.model_zoo.text import GPT2, CausalLM

_PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "generate": ("Gluonish", {}),
    "linear": ("Linear", {}),
    "int8": ("Gluonish", {"int8": True}),
    "linear_int8": ("Linear", {"int8": True}),
    "torch": ("Torch", {}),
    "torch_compile": ("Torch", {"compiled": True}),
    "openvino": ("OpenVino", {}),
    "llama": ("Llama", {}),
    "encoder": ("Encoder", {}),
}


def main() -> None:
    """Compare the peers that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", default="generate,linear,torch,torch_compile")
    parser.add_argument("--peers-python", help="that of torch, transformers and openvino")
    parser.add_argument("--llama-python", help="that of llama-cpp-python, gguf and safetensors")
    parser.add_argument("--prompt", type=int, default=16, help="tokens of the prompt")
    parser.add_argument("--new", type=int, default=64, help="tokens that follow")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--threads", type=int, default=2, help="of each process")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each peer")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _compare(folder, arguments)


def _compare(folder: str, arguments: argparse.Namespace) -> None:
    mx.random.seed(0)
    net = CausalLM(GPT2())
    net.initialize(mx.init.Normal(0.05))
    save_pretrained(net, folder)
    shared = {"folder": folder, "prompt": prompt_of(arguments.prompt, 50257)}
    shared |= {"new": arguments.new, "dtype": arguments.dtype}
    jobs = []
    for name in arguments.peers.split(","):
        kind, options = _PEERS[name]
        pythons = {"Torch": arguments.peers_python, "OpenVino": arguments.peers_python}
        pythons["Llama"] = arguments.llama_python
        python = pythons.get(kind, sys.executable)
        jobs.append(Job(name, python, "generation_jobs", kind, {**shared, **options}, {}))
    errors: dict[str, str] = {}
    with workers(jobs, arguments.threads, errors) as running:
        with tempfile.TemporaryDirectory() as checks:
            tokens = {worker.name: np.load(worker.check(Path(checks))) for worker in running}
        samples = measure(running, 0.1, arguments.rounds, errors)
    first_name, first = next(iter(samples.items()))
    for name, sample in samples.items():
        ratio = statistics.median(b / a for a, b in zip(first.seconds, sample.seconds, strict=True))
        same = None
        if tokens[name].shape == tokens[first_name].shape:
            same = int((tokens[name] == tokens[first_name]).sum())
        equal = "" if same is None else f"  {same} of {arguments.new} tokens equal"
        print(
            f"{arguments.dtype:9} {name:14} {sample.median_s * 1e3:9.1f} ms "
            f"{sample.median_s / arguments.new * 1e3:8.2f} ms a token  ratio {ratio:5.2f}{equal}",
            flush=True,
        )
    for name, error in errors.items():
        print(f"{name:14} {error}", flush=True)


if __name__ == "__main__":
    main()
