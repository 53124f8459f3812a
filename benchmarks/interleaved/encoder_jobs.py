"""Jobs of an encoder like BERT-base's: inference of gluonish's forms of it and of its peers.

All have the same weights and the same input: layers of attention and two dense layers with GELU,
each followed by the sum with its input and a layer norm.
"""

import importlib
import math
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

UNITS, HEADS, HIDDEN = 768, 12, 3072
# Of a layer: rows and columns of its dense layers, by their names in `benchmarks.gpu_run.bert`.
_DENSE = {
    "project": (3 * UNITS, UNITS),
    "join": (UNITS, UNITS),
    "widen": (HIDDEN, UNITS),
    "narrow": (UNITS, HIDDEN),
}


def _input(shape: tuple[int, int]) -> Any:
    return np.random.default_rng(0).standard_normal((*shape, UNITS)).astype(np.float32)


def _weights(layer: int) -> dict[str, Any]:
    """Return the weights and biases of a layer's dense layers."""
    numbers = np.random.default_rng(layer + 1)
    found: dict[str, Any] = {}
    for name, (rows, columns) in _DENSE.items():
        scale = 1 / math.sqrt(columns)
        found[f"{name}.weight"] = numbers.standard_normal((rows, columns)).astype("f4") * scale
        found[f"{name}.bias"] = numbers.standard_normal(rows).astype("f4") * 0.1
    return found


class Gluonish:
    """Calls of a hybridized network.

    Args:
        threads: Compute threads; the environment of the process says how many.
        shape: Sequences and their length.
        layers: Number of layers.
        dtype: ``float32`` or ``bfloat16``.
        form: ``layers`` for `nn.TransformerEncoderLayer`, ``layers_tanh`` for it with GPT-2's
            approximation of GELU, ``written`` for operators as in programs
            of MXNet 1.9, ``interleaved`` for its operators of attention in (T, N, C).
    """

    def __init__(
        self, threads: int, shape: list[int], layers: int, dtype: str, form: str = "layers"
    ) -> None:
        import gluonish as mx

        del threads
        self._mx = mx
        self.versions = {"gluonish": mx.__version__}
        net = mx.gluon.nn.HybridSequential()
        for layer in range(layers):
            net.add(_FORMS[form](mx, _weights(layer)))
        net.cast(dtype)
        self._net = net
        data = mx.nd.array(_input((shape[0], shape[1]))).astype(dtype)
        self._data = mx.nd.transpose(data, (1, 0, 2)) if form == "interleaved" else data
        self._is_transposed = form == "interleaved"

    def start(self) -> None:
        """Hybridize, and get the first result."""
        self._net.hybridize(static_alloc=True, static_shape=True)
        self.run(2)

    def run(self, count: int) -> None:
        """Call the network ``count`` times."""
        for _ in range(count):
            self._net(self._data).wait_to_read()

    def check(self) -> Any:
        """The output (N, T, C)."""
        found = self._net(self._data).astype("float32").asnumpy()
        return found.transpose(1, 0, 2) if self._is_transposed else found


def _set(net: Any, weights: dict[str, Any], mx: Any) -> Any:
    net.initialize()
    for name, values in weights.items():
        layer, kind = name.split(".")
        getattr(getattr(net, layer), kind).set_data(mx.nd.array(values))
    return net


def _written(mx: Any, weights: dict[str, Any]) -> Any:
    from benchmarks.gpu_run.bert import BASE, our_layer

    return _set(our_layer(mx, BASE), weights, mx)


def _interleaved(mx: Any, weights: dict[str, Any]) -> Any:
    nn = mx.gluon.nn

    class Layer(mx.gluon.HybridBlock):  # type: ignore[misc]  # a class of a module given
        def __init__(self) -> None:
            super().__init__()
            for name, (rows, columns) in _DENSE.items():
                setattr(self, name, nn.Dense(rows, flatten=False, in_units=columns))
            self.norm = nn.LayerNorm(in_channels=UNITS)
            self.last_norm = nn.LayerNorm(in_channels=UNITS)
            self.activation = nn.GELU()

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            projected = self.project(x)  # (T, N, heads * 3 * C)
            scores = F.contrib.interleaved_matmul_selfatt_qk(projected, heads=HEADS)
            found = F.contrib.interleaved_matmul_selfatt_valatt(
                projected, F.softmax(scores, axis=-1), heads=HEADS
            )
            x = self.norm(x + self.join(found))
            return self.last_norm(x + self.narrow(self.activation(self.widen(x))))

    changed = dict(weights)
    for kind in ("weight", "bias"):  # from three matrices to three of each head
        values = weights[f"project.{kind}"]
        parts = values.reshape(3, HEADS, UNITS // HEADS, *values.shape[1:])
        changed[f"project.{kind}"] = parts.swapaxes(0, 1).reshape(values.shape)
    return _set(Layer(), changed, mx)


def _layers(mx: Any, weights: dict[str, Any], activation: str = "gelu") -> Any:
    layer = mx.gluon.nn.TransformerEncoderLayer(
        UNITS, HIDDEN, HEADS, dropout=0.0, activation=activation
    )
    layer.initialize()
    attention, feed_forward = layer.attention, layer.feed_forward
    blocks = (attention.qkv, attention.output, feed_forward.hidden, feed_forward.output)
    for name, block in zip(_DENSE, blocks, strict=True):
        for kind in ("weight", "bias"):
            getattr(block, kind).set_data(mx.nd.array(weights[f"{name}.{kind}"]))
    return layer


_FORMS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "layers": _layers,
    "layers_tanh": partial(_layers, activation="gelu_tanh"),
    "written": _written,
    "interleaved": _interleaved,
}


def torch_encoder(torch: Any, layers: int) -> Any:
    """Return the encoder of PyTorch's modules."""
    from benchmarks.gpu_run.bert import BASE, torch_layer

    net = torch.nn.Sequential()
    for number in range(layers):
        layer = torch_layer(torch, BASE)
        for name, values in _weights(number).items():
            block, kind = name.split(".")
            getattr(getattr(layer, block), kind).data.copy_(torch.from_numpy(values))
        net.append(layer)
    return net.eval()


class Torch:
    """Calls of PyTorch's network in inference mode.

    Args:
        threads: Compute threads.
        shape: Sequences and their length.
        layers: Number of layers.
        dtype: ``float32`` or ``bfloat16``.
        compiled: Whether the network is compiled, with its parameters frozen.
    """

    def __init__(
        self, threads: int, shape: list[int], layers: int, dtype: str, compiled: bool = False
    ) -> None:
        self._torch: Any = importlib.import_module("torch")
        self.versions = {"torch": self._torch.__version__}
        self._torch.set_num_threads(threads)
        kind = getattr(self._torch, dtype)
        net = torch_encoder(self._torch, layers).to(kind)
        self._data = self._torch.from_numpy(_input((shape[0], shape[1]))).to(kind)
        self._net, self._compiled = net, compiled

    def start(self) -> None:
        """Compile, and get the first result."""
        if self._compiled:
            config: Any = importlib.import_module("torch._inductor.config")
            config.freezing = True
            self._net = self._torch.compile(self._net)
        self.run(2)

    def run(self, count: int) -> None:
        """Call the network ``count`` times."""
        with self._torch.no_grad():
            for _ in range(count):
                self._net(self._data)

    def check(self) -> Any:
        """The output."""
        with self._torch.no_grad():
            return self._net(self._data).float().numpy()


class OpenVino:
    """Requests to the network that OpenVINO converts from PyTorch's modules.

    Args:
        threads: Compute threads.
        shape: Sequences and their length.
        layers: Number of layers.
        dtype: ``float32`` or ``bfloat16``.
    """

    def __init__(self, threads: int, shape: list[int], layers: int, dtype: str) -> None:
        self._library: Any = importlib.import_module("openvino")
        torch: Any = importlib.import_module("torch")
        self.versions = {"openvino": self._library.__version__}
        x = _input((shape[0], shape[1]))
        example = torch.from_numpy(x)
        self._model = self._library.convert_model(
            torch_encoder(torch, layers), example_input=example, input=[x.shape]
        )
        hint = {"float32": "f32", "bfloat16": "bf16"}[dtype]
        self._settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": hint,
        }
        self._data = x
        self._request: Any = None

    def start(self) -> None:
        """Compile, and get the first result."""
        core = self._library.Core()
        self._request = core.compile_model(
            self._model, "CPU", self._settings
        ).create_infer_request()
        self._request.set_input_tensor(self._library.Tensor(self._data, shared_memory=True))
        self.run(2)

    def run(self, count: int) -> None:
        """Run the request ``count`` times."""
        for _ in range(count):
            self._request.infer()

    def check(self) -> Any:
        """The output."""
        self._request.infer()
        return self._request.get_output_tensor(0).data.copy()


class OnnxRuntime:
    """Calls of ONNX Runtime's session of the file that PyTorch writes.

    Args:
        threads: Compute threads.
        shape: Sequences and their length.
        layers: Number of layers.
        dtype: ``float32``; ONNX Runtime has no products in bfloat16 on a CPU.
    """

    def __init__(self, threads: int, shape: list[int], layers: int, dtype: str) -> None:
        if dtype != "float32":
            raise ValueError(f"ONNX Runtime: expected float32, got {dtype}")
        self._library: Any = importlib.import_module("onnxruntime")
        torch: Any = importlib.import_module("torch")
        self.versions = {"onnxruntime": self._library.__version__}
        self._data = _input((shape[0], shape[1]))
        self._options = self._library.SessionOptions()
        self._options.intra_op_num_threads, self._options.inter_op_num_threads = threads, 1
        self._folder = tempfile.TemporaryDirectory(prefix="gluonish-encoder-")
        self._path = str(Path(self._folder.name) / "encoder.onnx")
        torch.onnx.export(
            torch_encoder(torch, layers),
            (torch.from_numpy(self._data),),
            self._path,
            input_names=["data"],
            opset_version=17,
            dynamo=False,
        )
        self._session: Any = None

    def start(self) -> None:
        """Load, optimize, and get the first result."""
        self._session = self._library.InferenceSession(
            self._path, self._options, providers=["CPUExecutionProvider"]
        )
        self._folder.cleanup()
        self.run(2)

    def run(self, count: int) -> None:
        """Run the session ``count`` times."""
        for _ in range(count):
            self._session.run(None, {"data": self._data})

    def check(self) -> Any:
        """The output."""
        return self._session.run(None, {"data": self._data})[0]
