"""Jobs of one network of the zoo: in gluonish, and from the ONNX file that gluonish exported."""

import importlib
from typing import Any

import numpy as np

from benchmarks.interleaved import onnx_jobs


def images(shape: list[int]) -> Any:
    """Return a batch of that shape."""
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


class Gluonish:
    """Calls of a hybridized network.

    Args:
        threads: Compute threads; the environment of the process says how many.
        name: The network's name in the zoo.
        parameters: File of its parameters.
        shape: Shape of the data.
        dtype: ``float32`` or ``bfloat16``.
    """

    def __init__(
        self, threads: int, name: str, parameters: str, shape: list[int], dtype: str
    ) -> None:
        import gluonish as mx

        del threads
        self.versions = {"gluonish": mx.__version__}
        self._net: Any = mx.gluon.model_zoo.vision.get_model(name)
        self._net.load_parameters(parameters)
        self._net.cast(dtype)
        self._data = mx.nd.array(images(shape)).astype(dtype)

    def start(self) -> None:
        """Hybridize, and get the first result."""
        self._net.hybridize(static_alloc=True, static_shape=True)
        self.run(2)

    def run(self, count: int) -> None:
        """Call the network ``count`` times."""
        for _ in range(count):
            self._net(self._data).wait_to_read()

    def check(self) -> Any:
        """The output."""
        return self._net(self._data).astype("float32").asnumpy()


class OpenVino(onnx_jobs.OpenVino):
    """Requests to the exported network.

    Args:
        threads: Compute threads.
        file: The ONNX file.
        shape: Shape of the data.
        dtype: ``float32`` or ``bfloat16``, as the hint of the precision.
    """

    def __init__(self, threads: int, file: str, shape: list[int], dtype: str) -> None:
        self.library = importlib.import_module("openvino")
        self.versions = {"openvino": self.library.__version__}
        self.threads, self.path, self.dtype = threads, file, dtype
        self.data = images(shape)

    def forget_file(self) -> None:
        """Leave the file to whoever made it."""


class OnnxRuntime(onnx_jobs.OnnxRuntime):
    """Calls of a session of the exported network; the arguments are those of `OpenVino`."""

    def __init__(self, threads: int, file: str, shape: list[int], dtype: str) -> None:
        if dtype != "float32":
            raise ValueError(f"ONNX Runtime: expected float32, got {dtype}")
        self.library = importlib.import_module("onnxruntime")
        self.versions = {"onnxruntime": self.library.__version__}
        self.threads, self.path, self.dtype = threads, file, dtype
        self.data = images(shape)

    def forget_file(self) -> None:
        """Leave the file to whoever made it."""
