"""Jobs of ONNX Runtime and of OpenVINO: inference of an ONNX file.

A process of its own writes the file, so that the peak memory is the runtime's alone.
"""

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.interleaved.graph import read_network
from benchmarks.interleaved.weights import batch


class _Job:
    """The file and the batch; the runtime comes with the subclasses."""

    def __init__(self, threads: int, network: str, batch_size: int, dtype: str) -> None:
        self.threads = threads
        self.network = network
        self.batch_size = batch_size
        self.dtype = dtype
        self.data = batch(batch_size, read_network(network).shape)
        self._folder = tempfile.TemporaryDirectory(prefix="gluonish-onnx-")
        self.path = str(Path(self._folder.name) / "network.onnx")
        writer = [sys.executable, "-m", "benchmarks.interleaved.onnx_file", network, self.path]
        subprocess.run([*writer, str(batch_size)], check=True)

    def forget_file(self) -> None:
        """Remove the file; the runtime has read it."""
        self._folder.cleanup()


class OnnxRuntime(_Job):
    """Calls of a session with all graph optimizations.

    Args:
        threads: Compute threads.
        network: Path of the network's description.
        batch_size: Images in a call.
        dtype: ``float32``; ONNX Runtime has no bfloat16 convolutions on a CPU.
    """

    def __init__(self, threads: int, network: str, batch_size: int, dtype: str) -> None:
        if dtype != "float32":
            raise ValueError(f"ONNX Runtime: expected float32, got {dtype}")
        super().__init__(threads, network, batch_size, dtype)
        self.library = importlib.import_module("onnxruntime")
        self.versions = {"onnxruntime": self.library.__version__}
        self.session: Any = None

    def start(self) -> None:
        """Load, optimize, and get the first result."""
        options = self.library.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        self.session = self.library.InferenceSession(
            self.path, options, providers=["CPUExecutionProvider"]
        )
        self.run(1)
        self.forget_file()

    def run(self, count: int) -> None:
        """Run the session ``count`` times."""
        for _ in range(count):
            self.session.run(None, {"data": self.data})

    def check(self) -> Any:
        """The output."""
        return self.session.run(None, {"data": self.data})[0]


class OpenVino(_Job):
    """Requests to a network compiled with the latency hint.

    Args:
        threads: Compute threads.
        network: Path of the network's description.
        batch_size: Images in a request.
        dtype: ``float32`` or ``bfloat16``, as the hint of the precision.
    """

    def __init__(self, threads: int, network: str, batch_size: int, dtype: str) -> None:
        super().__init__(threads, network, batch_size, dtype)
        self.library = importlib.import_module("openvino")
        self.versions = {"openvino": self.library.__version__}
        self.request: Any = None

    def start(self) -> None:
        """Load, compile, and get the first result."""
        precision = {"float32": "f32", "bfloat16": "bf16"}[self.dtype]
        compiled = self.library.Core().compile_model(
            self.path,
            "CPU",
            {
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_NUM_THREADS": self.threads,
                "INFERENCE_PRECISION_HINT": precision,
            },
        )
        self.request = compiled.create_infer_request()
        self.request.set_input_tensor(self.library.Tensor(self.data, shared_memory=True))
        self.run(1)
        self.forget_file()

    def run(self, count: int) -> None:
        """Make ``count`` requests."""
        for _ in range(count):
            self.request.infer()

    def check(self) -> Any:
        """The output."""
        self.request.infer()
        return self.request.get_output_tensor().data
