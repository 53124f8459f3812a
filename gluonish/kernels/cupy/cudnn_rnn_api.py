"""cuDNN's C functions for recurrent layers by ctypes, since its frontend does not have them.

A function that refuses a problem (the statuses from 3000 on) raises `RefusedError`, any other
failure `DeviceError`. Descriptors are memory of the host; they are destroyed with their objects.
"""

import ctypes
import logging
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy.libraries import load
from gluonish.ops.kernel import RefusedError

_LOG = logging.getLogger("gluonish")
_NOT_SUPPORTED = range(3000, 4000)  # CUDNN_STATUS_NOT_SUPPORTED and its reasons
_MAX_REASON = 300  # characters

# Constants of cudnn_adv.h and cudnn_graph.h.
ALGO_STANDARD, DOUBLE_BIAS, LINEAR_INPUT, PADDED_IO_ENABLED = 0, 2, 0, 1
SEQ_MAJOR_UNPACKED = 0
INFERENCE, TRAINING = 0, 1
WGRAD_ADD = 0  # the only mode that cuDNN supports
DEFAULT_MATH, TENSOR_OP_MATH, FMA_MATH = 0, 1, 3
CELL_MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}

_INT, _INT32, _SIZE, _POINTER = ctypes.c_int, ctypes.c_int32, ctypes.c_size_t, ctypes.c_void_p
_INTS, _TO_SIZE, _TO_POINTER = (ctypes.POINTER(kind) for kind in (_INT, _SIZE, _POINTER))
_SPACE = (_SIZE, _POINTER)  # size in bytes, address
# Parameters of each function; all return a status.
PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "cudnnCreateTensorDescriptor": (_TO_POINTER,),
    "cudnnDestroyTensorDescriptor": (_POINTER,),
    "cudnnSetTensorNdDescriptor": (_POINTER, _INT, _INT, _INTS, _INTS),
    "cudnnCreateRNNDescriptor": (_TO_POINTER,),
    "cudnnDestroyRNNDescriptor": (_POINTER,),
    "cudnnSetRNNDescriptor_v8": (
        *(_POINTER, _INT, _INT, _INT, _INT, _INT),  # algorithm, cell, bias, direction, input mode
        *(_INT, _INT, _INT),  # types of data and sums, math type
        *(_INT32, _INT32, _INT32, _INT32),  # input, hidden and projected size, layers
        *(_POINTER, ctypes.c_uint32),  # dropout, flags
    ),
    "cudnnCreateRNNDataDescriptor": (_TO_POINTER,),
    "cudnnDestroyRNNDataDescriptor": (_POINTER,),
    # Type, layout, steps, batch, features, lengths on the host, value after the end of a sequence.
    "cudnnSetRNNDataDescriptor": (_POINTER, _INT, _INT, _INT, _INT, _INT, _INTS, _POINTER),
    "cudnnGetRNNTempSpaceSizes": (_POINTER, _POINTER, _INT, _POINTER, _TO_SIZE, _TO_SIZE),
    "cudnnGetRNNWeightSpaceSize": (_POINTER, _POINTER, _TO_SIZE),
    "cudnnGetRNNWeightParams": (
        *(_POINTER, _POINTER, _INT32, *_SPACE, _INT32),  # pseudo layer, weights, linear layer
        *(_POINTER, _TO_POINTER, _POINTER, _TO_POINTER),  # matrix and bias
    ),
    "cudnnRNNForward": (
        *(_POINTER, _POINTER, _INT, _POINTER),  # handle, network, mode, lengths on the device
        *(_POINTER, _POINTER, _POINTER, _POINTER),  # x, y
        *(_POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),  # hx, hy, cx, cy
        *(*_SPACE, *_SPACE, *_SPACE),  # weights, workspace, reserve
    ),
    "cudnnRNNBackwardData_v8": (
        *(_POINTER, _POINTER, _POINTER),  # handle, network, lengths on the device
        *(_POINTER, _POINTER, _POINTER, _POINTER, _POINTER),  # y, dy, dx
        *(_POINTER, _POINTER, _POINTER, _POINTER),  # hx, dhy, dhx
        *(_POINTER, _POINTER, _POINTER, _POINTER),  # cx, dcy, dcx
        *(*_SPACE, *_SPACE, *_SPACE),  # weights, workspace, reserve
    ),
    "cudnnRNNBackwardWeights_v8": (
        *(_POINTER, _POINTER, _INT, _POINTER),  # handle, network, mode, lengths on the device
        *(_POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),  # x, hx, y
        *(*_SPACE, *_SPACE, *_SPACE),  # gradient, workspace, reserve
    ),
}


class CudnnRNN:
    """The functions of `PROTOTYPES` in a loaded library."""

    def __init__(self, library: Any) -> None:
        self._functions = {name: getattr(library, name) for name in PROTOTYPES}
        self._last_error = library.cudnnGetLastErrorString
        self._name_of = library.cudnnGetErrorString

    def call(self, name: str, *args: Any) -> None:
        """Call a function, and check its status.

        Raises:
            RefusedError: cuDNN does not support the problem.
            DeviceError: Another failure.
        """
        status = self._functions[name](*args)
        if status:
            reason = ctypes.create_string_buffer(_MAX_REASON)
            self._last_error(reason, _MAX_REASON)
            found = f"{self._name_of(status).decode()} ({status})"
            detail = " ".join(reason.value.decode(errors="replace").split())
            message = f"{name}: expected CUDNN_STATUS_SUCCESS, got {found} {detail}".rstrip()
            raise RefusedError(message) if status in _NOT_SUPPORTED else DeviceError(message)

    def size(self, name: str, *args: Any) -> int:
        """Return the size in bytes that a function stores in its last parameter."""
        found = ctypes.c_size_t()
        self.call(name, *args, ctypes.byref(found))
        return found.value


class Descriptor:
    """A descriptor of cuDNN.

    Args:
        kind: ``Tensor``, ``RNN`` or ``RNNData``.
        setter: Name of the function that sets it.
        args: That function's arguments after the descriptor.

    Attributes:
        raw: cuDNN's pointer.
    """

    __slots__ = ("__weakref__", "raw")

    def __init__(self, api: CudnnRNN, kind: str, setter: str, *args: Any) -> None:
        made = ctypes.c_void_p()
        api.call(f"cudnnCreate{kind}Descriptor", ctypes.byref(made))
        self.raw = made
        finalizer = weakref.finalize(self, api.call, f"cudnnDestroy{kind}Descriptor", made)
        finalizer.atexit = False
        api.call(setter, made, *args)


def ints(values: Sequence[int]) -> Any:
    """Return an array of C ints."""
    return (ctypes.c_int * len(values))(*values)


_opened: weakref.WeakKeyDictionary[ModuleType, CudnnRNN | None] = weakref.WeakKeyDictionary()


def adopt(xp: ModuleType, library: Any) -> None:
    """Use ``library`` for arrays of the module ``xp``; None disables cuDNN's recurrent layers."""
    _opened[xp] = None if library is None else CudnnRNN(library)


def opened(xp: ModuleType, *, loader: Callable[..., Any] = load) -> CudnnRNN | None:
    """Return the functions, loading the library on first use; None without cuDNN."""
    try:
        return _opened[xp]
    except KeyError:
        return _opened.setdefault(xp, _open(xp, loader))


def _open(xp: Any, loader: Callable[..., Any]) -> CudnnRNN | None:
    try:
        library = loader("cudnn", int(xp.cuda.runtime.runtimeGetVersion()) // 1000)
        for name, parameters in PROTOTYPES.items():
            function = getattr(library, name)
            function.argtypes, function.restype = parameters, ctypes.c_int
        library.cudnnGetErrorString.argtypes = (ctypes.c_int,)
        library.cudnnGetErrorString.restype = ctypes.c_char_p
        library.cudnnGetLastErrorString.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
        library.cudnnGetLastErrorString.restype = None
        return CudnnRNN(library)
    except (DeviceError, AttributeError) as error:  # AttributeError: a cuDNN before 9
        _LOG.debug("Recurrent layers run without cuDNN: %s", error)
        return None
