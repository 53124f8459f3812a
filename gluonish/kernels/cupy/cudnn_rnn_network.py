"""Networks: cuDNN's descriptors and sizes for recurrent layers on arrays of one shape.

cuDNN's weight space has MXNet's layout: for each layer and direction the input weight, the
recurrent weight and the projection, then all biases, with the same order of gates
(`gluonish.ops.recurrent.layout`; checked against cuDNN 9.19, and again for each network). So the
vector of parameters is used as it is.

Invariants: networks are cached by device and `Problem`, and only grow, by atomic dict operations.
A problem that cuDNN refused once, at the network's first call at the latest, stays refused, so that
forward and backward pass agree.
"""

import ctypes
import logging
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.errors import DeviceError
from gluonish.core.program import Programs
from gluonish.core.spec import Shape
from gluonish.kernels.cupy.cudnn import Handle
from gluonish.kernels.cupy.cudnn_rnn_api import (
    ALGO_STANDARD,
    CELL_MODES,
    DOUBLE_BIAS,
    INFERENCE,
    LINEAR_INPUT,
    PADDED_IO_ENABLED,
    SEQ_MAJOR_UNPACKED,
    TRAINING,
    CudnnRNN,
    Descriptor,
    ints,
)
from gluonish.ops.kernel import RefusedError
from gluonish.ops.recurrent.layout import GATES, Dims, parameter_count, weight_shapes

_LOG = logging.getLogger("gluonish")
KINDS = {FLOAT32: 0, FLOAT64: 1, FLOAT16: 2, BFLOAT16: 9}  # cudnnDataType_t
_BASE = 1 << 20  # a stand-in for the weight space's address, which cuDNN only adds to
_PROJECTION = 8  # linear layer of an LSTM's projection
_MAX_LENGTHS = 64
_ZERO = ctypes.create_string_buffer(8)  # the value after the end of a sequence, in any dtype


class Problem(NamedTuple):
    """Recurrent layers that one call of cuDNN computes.

    Attributes:
        dims: Extents and options; without dropout.
        dtype: Dtype of all arrays.
        math: cudnnMathType_t.
    """

    dims: Dims
    dtype: np.dtype[Any]
    math: int

    @property
    def weight_nbytes(self) -> int:
        """Size of the parameters in bytes."""
        return parameter_count(self.dims) * self.dtype.itemsize


class Data(NamedTuple):
    """The descriptors of a network's input and output, and its sizes in bytes with them."""

    x: Descriptor
    y: Descriptor
    workspaces: Shape  # in inference, and in training
    reserve: int


class Network:
    """cuDNN's descriptors of recurrent layers; thread-safe.

    Args:
        problem: The layers; sequences have equal lengths unless `data` gets others.
        handle: Any handle of the device, which must be current.

    Attributes:
        api: cuDNN's functions.
        problem: The layers.
        reserve: Size of the reserve in bytes, at most, which sequences of equal lengths take.
        ran: Modes (`INFERENCE`, `TRAINING`) in which a call succeeded.
        refused: Modes in which cuDNN refused the first call.

    Raises:
        RefusedError: cuDNN does not support the layers, or its weights have another layout.
    """

    def __init__(self, api: CudnnRNN, problem: Problem, handle: Handle) -> None:
        self.api = api
        self.problem = problem
        self.ran: set[int] = set()
        self.refused: set[int] = set()
        self._data = Programs[Data](_MAX_LENGTHS)
        dims, dtype = problem.dims, problem.dtype
        self._kind = KINDS[dtype]
        self._network = Descriptor(
            *(api, "RNN", "cudnnSetRNNDescriptor_v8", ALGO_STANDARD),
            *(CELL_MODES[dims.mode], DOUBLE_BIAS, dims.directions - 1, LINEAR_INPUT),
            *(self._kind, KINDS[FLOAT64 if dtype == FLOAT64 else FLOAT32], problem.math),
            *(dims.inputs, dims.units, dims.width, dims.layers, None, PADDED_IO_ENABLED),
        )
        runs = dims.layers * dims.directions
        self._state = self._tensor((runs, dims.batch, dims.width))
        self._cell = self._tensor((runs, dims.batch, dims.units))
        with handle.lock:
            self._check_weights(handle)
        self.reserve = self.data(handle, None).reserve

    @property
    def raw(self) -> Any:
        """cuDNN's descriptor of the layers."""
        return self._network.raw

    @property
    def states(self) -> tuple[Any, Any]:
        """cuDNN's descriptors of hidden states and cells."""
        return self._state.raw, self._cell.raw

    def _tensor(self, shape: Shape) -> Descriptor:
        strides = (shape[1] * shape[2], shape[2], 1)
        setter = "cudnnSetTensorNdDescriptor"
        return Descriptor(self.api, "Tensor", setter, self._kind, 3, ints(shape), ints(strides))

    def _check_weights(self, handle: Handle) -> None:
        """Raise RefusedError unless cuDNN's weight space has the layout of the parameters."""
        api, problem = self.api, self.problem
        nbytes = api.size("cudnnGetRNNWeightSpaceSize", handle.raw, self.raw)
        matrix, bias = (self._tensor((1, 1, 1)) for _ in range(2))  # cuDNN sets them
        found = (
            nbytes,
            *(
                self._offsets(handle, run, layer, matrix, bias)
                for run in range(problem.dims.layers * problem.dims.directions)
                for layer in _linear_layers(problem.dims)
            ),
        )
        wanted = problem.weight_nbytes, *_weight_offsets(problem)
        if found != wanted:
            raise RefusedError(
                f"cuDNN: expected parameters of {wanted[0]} bytes in MXNet's order, got "
                f"{found[0]} bytes in another"
            )

    def _offsets(
        self, handle: Handle, run: int, layer: int, matrix: Descriptor, bias: Descriptor
    ) -> tuple[int, int | None]:
        """Return the offsets of a gate's matrix and bias in the weight space, in bytes."""
        places = ctypes.c_void_p(), ctypes.c_void_p()
        self.api.call(
            *("cudnnGetRNNWeightParams", handle.raw, self.raw, run),
            *(self.problem.weight_nbytes, _BASE, layer),
            *(matrix.raw, ctypes.byref(places[0]), bias.raw, ctypes.byref(places[1])),
        )
        first, second = (place.value for place in places)
        return (first or 0) - _BASE, None if second is None else second - _BASE

    def data(self, handle: Handle, lengths: Shape | None) -> Data:
        """Return the descriptors of input and output.

        Args:
            handle: A handle of the device, which must be current.
            lengths: The length of each sequence; None if all have all steps.

        Raises:
            RefusedError: cuDNN does not support the layers.
        """
        found = self._data.use(lengths)
        if found is None:
            with handle.lock:
                found = self._data.add(lengths, self._make_data(handle, lengths))
        return found

    def _make_data(self, handle: Handle, lengths: Shape | None) -> Data:
        dims = self.problem.dims
        steps = ints((dims.steps,) * dims.batch if lengths is None else lengths)
        x, y = (
            Descriptor(
                *(self.api, "RNNData", "cudnnSetRNNDataDescriptor", self._kind),
                *(SEQ_MAJOR_UNPACKED, dims.steps, dims.batch, features, steps),
                ctypes.addressof(_ZERO),
            )
            for features in (dims.inputs, dims.directions * dims.width)
        )
        workspaces, reserve = [], 0
        for mode in (INFERENCE, TRAINING):
            workspace = ctypes.c_size_t()
            reserve = self.api.size(
                *("cudnnGetRNNTempSpaceSizes", handle.raw, self.raw, mode, x.raw),
                ctypes.byref(workspace),
            )
            workspaces.append(workspace.value)
        return Data(x, y, tuple(workspaces), reserve)


def _linear_layers(dims: Dims) -> range:
    """Return cuDNN's numbers of the gates' input and recurrent products, and the projection."""
    return range(_PROJECTION + 1 if dims.projected else 2 * GATES[dims.mode])


def _weight_offsets(problem: Problem) -> list[tuple[int, int | None]]:
    """Return the offsets in bytes of each gate's matrix and bias in the vector of parameters."""
    dims, item = problem.dims, problem.dtype.itemsize
    rows, gates = dims.units, GATES[dims.mode]
    bias = parameter_count(dims) - 2 * gates * rows * dims.layers * dims.directions
    matrix, found = 0, list[tuple[int, int | None]]()
    for layer in range(dims.layers):
        for _ in range(dims.directions):
            for shape in weight_shapes(dims, layer)[:2]:
                for _ in range(gates):
                    found.append((matrix * item, bias * item))
                    matrix += rows * shape[1]
                    bias += rows
            if dims.projected:
                found.append((matrix * item, None))
                matrix += dims.width * dims.units
    return found


_networks: weakref.WeakKeyDictionary[ModuleType, dict[tuple[int, Problem], Network | None]] = (
    weakref.WeakKeyDictionary()
)


def network_of(
    xp: ModuleType, device: int, problem: Problem, make: Callable[[], Network | None]
) -> Network | None:
    """Return the network of a problem on a device, made on first use; None if cuDNN refuses it.

    Args:
        make: Makes the network; None without cuDNN.
    """
    networks = _networks.get(xp)
    if networks is None:
        networks = _networks.setdefault(xp, {})
    key = (device, problem)
    if key not in networks:
        try:
            made = make()
        except (RefusedError, DeviceError) as error:
            _LOG.debug("cuDNN has no network for %s: %.300s", problem, error)
            made = None
        networks.setdefault(key, made)
    return networks[key]
