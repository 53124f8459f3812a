"""cuDNN 9.19 itself takes our calls for recurrent layers, as far as it goes without a device.

Runs where the wheel nvidia-cudnn-cu13 9.19 is installed: descriptors, weights and sizes need of the
handle only numbers of a device (`make_cudnn_rnn_surface`), and a call that computes checks all its
arguments first. Then it ends with CUDNN_STATUS_EXECUTION_FAILED_CUDART, as there is no driver.
"""

import ctypes
import itertools
from threading import RLock
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy import cudnn_rnn_api as api
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.cudnn_rnn_call import Call, _math_type
from gluonish.kernels.cupy.cudnn_rnn_network import Data, Network, Problem
from gluonish.ops.recurrent.layout import Dims
from tests.kernels.cupy.make_cudnn_rnn_surface import HANDLE

_VERSION = 91900  # whose handles `HANDLE` describes
_NO_DRIVER = "(5003)"
_MEMORY = 256 << 20  # bytes of address space
_STEPS, _BATCH, _FEATURES = 6, 4, 3
_LAYERS = [
    (mode, directions, layers, sizes)
    for mode, directions, layers, sizes in itertools.product(
        api.CELL_MODES, (1, 2), (1, 2, 3), ((5, 5), (7, 3))
    )
    if mode == "lstm" or sizes[0] == sizes[1]
]


class _Library:
    """The library; a call that ends for lack of a driver is noted in ``reached``."""

    def __init__(self) -> None:
        path = next(libraries._paths("cudnn", libraries.LIBRARIES["cudnn"], 13), None)
        if path is None:
            pytest.skip("no cuDNN")
        raw = ctypes.CDLL(path)  # without the libraries that only a device needs
        if raw.cudnnGetVersion() != _VERSION:
            pytest.skip(f"cuDNN {raw.cudnnGetVersion()}, not {_VERSION}")
        fake = SimpleNamespace(
            cuda=SimpleNamespace(runtime=SimpleNamespace(runtimeGetVersion=lambda: 13000))
        )
        found = api._open(fake, lambda *_: raw)
        assert found is not None
        self.api = found
        self._call = found.call
        self.reached: list[str] = []
        found.call = self.call  # type: ignore[method-assign]  # goes on without a driver
        self._numbers = ctypes.create_string_buffer(1 << 20)
        numbers = (ctypes.c_int * 64).from_buffer(self._numbers)
        for index, number in HANDLE.items():
            numbers[index] = number
        self.handle: Any = SimpleNamespace(raw=ctypes.addressof(self._numbers), lock=RLock())

    def call(self, name: str, *args: Any) -> None:
        try:
            self._call(name, *args)
        except DeviceError as error:
            if _NO_DRIVER not in str(error):
                raise
            self.reached.append(name)


@pytest.fixture(scope="module")
def library() -> _Library:
    return _Library()


class _Memory:
    """Addresses that nothing is read from, since nothing computes."""

    def __init__(self) -> None:
        self._bytes = np.empty(_MEMORY, np.uint8)
        self._next = int(self._bytes.ctypes.data) + 256

    def take(self, nbytes: int) -> int:
        start = -(-self._next // 256) * 256
        self._next = start + nbytes
        assert self._next <= self._bytes.ctypes.data + _MEMORY
        return start


def _networks(library: _Library, layers: Any, dtype: Any) -> tuple[Network, Data]:
    mode, directions, count, (units, width) = layers
    extents = (_STEPS, _BATCH, _FEATURES, units, width, width != units, 0.0, False, None)
    problem = Problem(Dims(mode, count, directions, *extents), *_kinds(dtype))
    network = Network(library.api, problem, library.handle)
    return network, network.data(library.handle, None)


def _kinds(dtype: Any) -> tuple[np.dtype[Any], int]:
    return np.dtype(dtype), _math_type(np.dtype(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.float64])
@pytest.mark.parametrize("layers", _LAYERS, ids=str)
def test_cudnn_takes_all_calls(library: _Library, layers: Any, dtype: Any) -> None:
    """`Network` itself holds the layout of the weights to that of the parameters."""
    network, data = _networks(library, layers, dtype)
    dims, item = network.problem.dims, network.problem.dtype.itemsize
    assert network.reserve > 0
    ragged = network.data(library.handle, (6, 2, 3, 1))
    assert ragged.reserve <= network.reserve
    memory = _Memory()
    runs, cells = dims.layers * dims.directions, dims.mode == "lstm"
    x = memory.take(_STEPS * _BATCH * _FEATURES * item)
    y = memory.take(_STEPS * _BATCH * dims.directions * dims.width * item)
    h, c = (memory.take(runs * _BATCH * n * item) for n in (dims.width, dims.units))
    cell = c if cells else None
    weights = (network.problem.weight_nbytes, memory.take(network.problem.weight_nbytes))
    saved = (data.reserve, memory.take(data.reserve))

    def empty(nbytes: int, _dtype: Any) -> Any:
        return SimpleNamespace(data=SimpleNamespace(ptr=memory.take(nbytes)))

    call: Any = SimpleNamespace(
        networks=[network],
        handle=library.handle,
        mode=api.TRAINING,
        data=lambda _: data,
        xp=SimpleNamespace(empty=empty),
    )
    hidden, tensor = network.states
    library.reached.clear()
    forward = (None, data.x.raw, x, data.y.raw, y, hidden, h, h, tensor, cell, cell)
    Call.run(call, "cudnnRNNForward", 0, api.TRAINING, *forward, spaces=(weights, saved))
    Call.run(
        *(call, "cudnnRNNBackwardData_v8", 0, None, data.y.raw, y, y, data.x.raw, x),
        *(hidden, h, None, h, tensor, cell, None, cell),
        spaces=(weights, saved),
    )
    Call.run(
        *(call, "cudnnRNNBackwardWeights_v8", 0, api.WGRAD_ADD, None, data.x.raw, x),
        *(hidden, h, data.y.raw, y),
        spaces=(weights, saved),
    )
    call.mode = api.INFERENCE
    Call.run(call, "cudnnRNNForward", 0, api.INFERENCE, *forward, spaces=(weights, (0, None)))
    computing = [name for name in library.reached if "Get" not in name]
    assert computing == [
        "cudnnRNNForward",
        "cudnnRNNBackwardData_v8",
        "cudnnRNNBackwardWeights_v8",
        "cudnnRNNForward",
    ]
