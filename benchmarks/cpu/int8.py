"""8-bit inference: gluonish's quantized networks beside OpenVINO's and ONNX Runtime's, in turns.

    python -m benchmarks.cpu int8 --peers-python PYTHON [--networks resnet50_v1] \\
        [--batch-sizes 1] [--peers int8,openvino]

Networks: ResNet-50 v1, MobileNet v2 and the encoder of BERT-base (128 tokens), with random
parameters. gluonish quantizes with ``quantize_net_v2(calib_mode="naive")``, OpenVINO with NNCF,
ONNX Runtime with ``quantize_static`` (QDQ, channels of weights apart) the network that torchvision
or PyTorch exports. Each is a process of its own; they take turns (A B C A B C ..), a turn is as
many calls as take about half a second, and printed are medians over the turns of the time of a call
and of how many times as fast the first peer was in the same round, and the least time of a call.
``fp32`` is gluonish's network before, ``bf16`` the same in bfloat16, ``openvino_bf16`` OpenVINO's
with that as its precision; data is float32 for all of them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = "resnet50_v1,mobilenetv2_1.0,bert_base"
PEERS = ("int8", "fp32", "openvino", "onnxruntime")
OWN = ("int8", "fp32", "bf16")
LAYERS, LENGTH, UNITS = 12, 128, 768
TURN_S = 0.5
PAUSE_S = 0.3  # threads of the peer before may look for work a while before they sleep
# Sums of BERT's stay in floating point, between a dense layer and a normalization.
SETTINGS: dict[str, Any] = {
    "bert_base": {"quantize_mode": "smart", "quantize_granularity": "channel-wise"}
}


def data_of(network: str, batch_size: int) -> Any:
    """Return a batch of random numbers."""
    shape = (LENGTH, UNITS) if network == "bert_base" else (3, 224, 224)
    numbers = np.random.default_rng(0).normal(size=(batch_size, *shape))
    return numbers.astype(np.float32)


def gluonish_job(network: str, batch_size: int, kind: str) -> Callable[[], Any]:
    """Return a call of gluonish's network."""
    import gluonish as mx

    mx.random.seed(0)
    if network == "bert_base":
        from benchmarks.gpu_run.bert import BASE, our_layer

        net = mx.gluon.nn.HybridSequential()
        for _ in range(LAYERS):
            net.add(our_layer(mx, BASE))
    else:
        net = mx.gluon.model_zoo.get_model(network)
    net.initialize(mx.init.Xavier(magnitude=2))
    x = mx.nd.array(data_of(network, batch_size))
    net.hybridize(static_alloc=True, static_shape=True)
    net(x)
    if kind == "bf16":
        net.cast("bfloat16")
        return lambda: net(x.astype("bfloat16")).wait_to_read()
    if kind == "int8":
        found = mx.contrib.quantization.quantize_net_v2(
            net, calib_data=[x], calib_mode="naive", **SETTINGS.get(network, {})
        )
        found.hybridize(static_alloc=True, static_shape=True)
        net = found
    return lambda: net(x).wait_to_read()


def onnx_file(network: str, batch_size: int, folder: Path) -> str:
    """Return the path of an ONNX file, which PyTorch writes."""
    import torch

    torch.manual_seed(0)
    if network == "bert_base":
        from benchmarks.gpu_run.bert import BASE, torch_layer

        net = torch.nn.Sequential(*(torch_layer(torch, BASE) for _ in range(LAYERS)))
    else:
        import torchvision

        names = {"resnet50_v1": "resnet50", "mobilenetv2_1.0": "mobilenet_v2"}
        net = getattr(torchvision.models, names[network])(weights=None)
        for module in net.modules():  # version 1: strides are in the first convolution
            if type(module).__name__ == "Bottleneck":
                module.conv1.stride, module.conv2.stride = module.conv2.stride, (1, 1)
    path = str(folder / f"{network}.onnx")
    x = torch.from_numpy(data_of(network, batch_size))
    torch.onnx.export(net.eval(), (x,), path, input_names=["data"], opset_version=17, dynamo=False)
    return path


def openvino_job(network: str, batch_size: int, threads: int, folder: Path) -> Callable[[], Any]:
    """Return a request to OpenVINO's network, which NNCF has calibrated."""
    import nncf
    import openvino

    path = onnx_file(network, batch_size, folder)
    x = data_of(network, batch_size)
    kind = nncf.ModelType.TRANSFORMER if network == "bert_base" else None
    preset = nncf.QuantizationPreset.MIXED if network == "bert_base" else None
    core = openvino.Core()
    quantized = nncf.quantize(
        core.read_model(path), nncf.Dataset([x]), subset_size=1, model_type=kind, preset=preset
    )
    return openvino_request(quantized, x, threads)


def openvino_bf16_job(
    network: str, batch_size: int, threads: int, folder: Path
) -> Callable[[], Any]:
    """Return a request to OpenVINO's network in bfloat16."""
    import openvino

    model = openvino.Core().read_model(onnx_file(network, batch_size, folder))
    return openvino_request(model, data_of(network, batch_size), threads, "bf16")


def openvino_request(model: Any, x: Any, threads: int, precision: str = "") -> Callable[[], Any]:
    """Return a request to a network of OpenVINO's."""
    import openvino

    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads}
    if precision:
        settings["INFERENCE_PRECISION_HINT"] = precision
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
    return request.infer


def onnxruntime_job(network: str, batch_size: int, threads: int, folder: Path) -> Callable[[], Any]:
    """Return a call of ONNX Runtime's network, in its QDQ form."""
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    x = data_of(network, batch_size)

    class Once(CalibrationDataReader):  # type: ignore[misc]  # of an untyped package
        def __init__(self) -> None:
            self._left = [{"data": x}]

        def get_next(self) -> Any:
            return self._left.pop() if self._left else None

    path, ready, made = (
        onnx_file(network, batch_size, folder),
        *(str(folder / f"{word}.onnx") for word in ("ready", "made")),
    )
    # Symbolic inference fails on the reshapes of attention.
    quant_pre_process(path, ready, skip_symbolic_shape=network == "bert_base")
    quantize_static(ready, made, Once(), quant_format=QuantFormat.QDQ, per_channel=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"data": x})


def work(arguments: argparse.Namespace) -> None:
    """Make one job, then run it as often as each line of standard input says; answer seconds."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if hasattr(os, "sched_setaffinity"):
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cpus[: arguments.threads])
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory(prefix="gluonish-int8-") as name:
        folder, network, batch = Path(name), arguments.network, arguments.batch
        if arguments.worker in OWN:
            call = gluonish_job(network, batch, arguments.worker)
        else:
            jobs = {"openvino": openvino_job, "openvino_bf16": openvino_bf16_job}
            make = jobs.get(arguments.worker, onnxruntime_job)
            call = make(network, batch, arguments.threads, folder)
        for _ in range(3):
            call()
        for line in sys.stdin if arguments.worker else ():
            begin = time.perf_counter()
            for _ in range(int(line)):
                call()
            print(json.dumps(time.perf_counter() - begin), file=answers, flush=True)


class Peer:
    """A process that runs one job.

    Args:
        name: Of `PEERS`.
        network: Name of the network.
        batch_size: Examples in a call.
        arguments: The script's.
    """

    def __init__(
        self, name: str, network: str, batch_size: int, arguments: argparse.Namespace
    ) -> None:
        self.name = name
        own = name in OWN
        python = sys.executable if own else arguments.peers_python
        environment = {k: v for k, v in os.environ.items() if own or k != "PYTHONPATH"}
        environment["OMP_NUM_THREADS"] = str(arguments.threads)
        command = [python, __file__, "--worker", name, "--network", network]
        command += ["--batch", str(batch_size), "--threads", str(arguments.threads)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if arguments.verbose else subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.calls = 1

    def seconds(self) -> float:
        """Run a turn, and return the seconds of one call."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(f"{self.calls}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise RuntimeError(f"{self.name}: expected a time, got none; --verbose tells more")
        return float(json.loads(answer)) / self.calls

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it ended before
            self.process.stdin.close()
        self.process.wait(timeout=60)


def compare(network: str, batch_size: int, arguments: argparse.Namespace) -> None:
    """Measure all peers in turns, and print a line for each."""
    names = [name for name in arguments.peers.split(",") if name]
    peers = [Peer(name, network, batch_size, arguments) for name in names]
    alive: dict[str, list[float]] = {}
    for peer in peers:
        try:
            first = peer.seconds()
            peer.calls = max(1, round(TURN_S / first))
            alive[peer.name] = []
        except RuntimeError as error:
            print(f"{network:16} {batch_size:3} {error}")
    for _ in range(arguments.rounds):
        for peer in peers:
            if peer.name in alive:
                time.sleep(PAUSE_S)
                alive[peer.name].append(peer.seconds())
    for peer in peers:
        peer.close()
    ours = next(iter(alive.values()), [])
    for name, times in alive.items():
        ratio = statistics.median(b / a for a, b in zip(ours, times, strict=True)) if ours else 0
        middle = statistics.median(times) * 1e3
        least = min(times) * 1e3
        print(
            f"{network:16} {batch_size:3} {name:12} {middle:9.2f} ms  {ratio:5.2f}  "
            f"least {least:9.2f} ms",
            flush=True,
        )


def main() -> None:
    """Compare on each network and batch size; ratios are the first peer's rate by the
    peer's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default=NETWORKS, help="(default: %(default)s)")
    parser.add_argument("--batch-sizes", default="1", help="(default: %(default)s)")
    parser.add_argument("--peers", default=",".join(PEERS), help="(default: %(default)s)")
    parser.add_argument("--peers-python", help="that of torch, openvino and onnxruntime")
    parser.add_argument("--rounds", type=int, default=9, help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="(default: all cores)")
    parser.add_argument("--verbose", action="store_true", help="show what peers print")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    parser.add_argument("--network", default="", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, default=1, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return
    for network in arguments.networks.split(","):
        for batch_size in map(int, arguments.batch_sizes.split(",")):
            compare(network, batch_size, arguments)


if __name__ == "__main__":
    main()
