"""The peers: which environment, module and options each name stands for.

A name may carry settings of its process's environment, ``torch_cl+keep`` or
``gluonish+mirror+MXNET_USE_FUSION=0``: a word of `SETTINGS`, or VARIABLE=value.
"""

import argparse
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.interleaved.driver import Job, PeerError

SETTINGS = {
    # glibc keeps freed memory: nothing is mapped of its own, and the heap is never trimmed.
    "keep": {
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_MMAP_THRESHOLD_": "4294967296",
        "MALLOC_TRIM_THRESHOLD_": "68719476736",
        "MALLOC_TOP_PAD_": "268435456",
    },
    "mirror": {"MXNET_BACKWARD_DO_MIRROR": "1"},
}


class _Peer(NamedTuple):
    """Where a peer comes from.

    Attributes:
        environment: Whose interpreter: ``own``, ``mxnet`` or ``peers``.
        module: The module of its jobs.
        options: Options that every job of it takes.
        network_options: Those of jobs that run a network, beside.
    """

    environment: str
    module: str
    options: Mapping[str, Any] = {}
    network_options: Mapping[str, Any] = {}


_PEERS = {
    "gluonish": _Peer("own", "gluon_jobs", {"package": "gluonish"}),
    "mxnet": _Peer("mxnet", "gluon_jobs", {"package": "mxnet"}),
    "mxnet_mkldnn": _Peer("mxnet", "gluon_jobs", {"package": "mxnet"}, {"optimize_for": "MKLDNN"}),
    "torch_eager": _Peer("peers", "torch_jobs"),
    "torch_cl": _Peer("peers", "torch_jobs", {}, {"channels_last": True}),
    "torch_compile": _Peer("peers", "torch_jobs", {}, {"channels_last": True, "compiled": True}),
    "onnxruntime": _Peer("peers", "onnx_jobs"),
    "openvino": _Peer("peers", "onnx_jobs"),
    "jax": _Peer("peers", "jax_jobs"),
    "onednn": _Peer("own", "onednn_jobs"),
}
NAMES = tuple(_PEERS)

# Peers whose inference has a class of its own name, for two live in one module.
_INFERENCE = {"onnxruntime": "OnnxRuntime", "openvino": "OpenVino"}


def add_arguments(parser: argparse.ArgumentParser, default: str) -> None:
    """Add what every script takes: the peers, where they are, and how long to measure."""
    known = ", ".join(name for name in NAMES if name not in ("gluonish", "onednn"))
    parser.add_argument(
        "--peers",
        default=default,
        help=f"comma-separated, of {known}; with settings as in torch_cl+keep, or "
        "gluonish+mirror beside gluonish itself (default: %(default)s)",
    )
    parser.add_argument("--mxnet-python", help="interpreter with mxnet==1.9.1")
    parser.add_argument(
        "--peers-python", help="interpreter with torch, jax, onnx, onnxruntime and openvino"
    )
    parser.add_argument("--threads", type=int, default=2, help="of each process")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each peer")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn, at least one run")
    parser.add_argument(
        "--busy-core",
        type=int,
        help="a core that another process uses up meanwhile",
    )
    parser.add_argument(
        "--quota",
        type=float,
        help="cores whose time a control group leaves to all processes meanwhile, such as 1.5",
    )


def make_job(
    name: str, work: str, arguments: argparse.Namespace, options: Mapping[str, Any]
) -> Job:
    """The job that a peer's name stands for.

    Args:
        name: The peer, with settings.
        work: The class of the job, such as ``Training``.
        arguments: The script's, with those of `add_arguments`.
        options: Arguments of the job.

    Raises:
        PeerError: There is no such peer, or the script was not told where it is.
    """
    base, *words = name.split("+")
    if base not in _PEERS:
        raise PeerError(f"peer: expected one of {', '.join(NAMES)}, got {base}")
    peer = _PEERS[base]
    pythons = {
        "own": sys.executable,
        "mxnet": arguments.mxnet_python,
        "peers": arguments.peers_python,
    }
    python = pythons[peer.environment]
    if python is None:
        raise PeerError(f"{name}: expected its interpreter in --{peer.environment}-python")
    if base == "mxnet_mkldnn" and work == "Training":
        raise PeerError(f"{name}: expected inference, got training, where its losses are wrong")
    of_network = peer.network_options if "network" in options else {}
    job = _INFERENCE.get(base, work) if work == "Inference" else work
    environment: dict[str, str] = {}
    for word in words:
        key, found, value = word.partition("=")
        if not found and word not in SETTINGS:
            raise PeerError(f"{name}: expected {', '.join(SETTINGS)} or VARIABLE=value, got {word}")
        environment |= {key: value} if found else SETTINGS[word]
    taken = {**peer.options, **of_network, **options}
    return Job(name, python, peer.module, job, taken, environment)
