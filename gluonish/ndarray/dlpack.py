"""Sharing memory with other libraries: DLPack capsules in and out, and NumPy arrays in."""

import ctypes
from typing import Any, ClassVar

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context, cpu, gpu
from gluonish.core.device import device_of
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.spec import Spec
from gluonish.engine import current_engine
from gluonish.ndarray.copying import as_in_context
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish_engine import Var

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def to_dlpack_for_read(data: NDArray) -> Any:
    """Return a DLPack capsule over the array's memory, for reading; waits for the values.

    Raises:
        ArgumentTypeError: for bfloat16.
    """
    data.wait_to_read()
    return data.__dlpack__()


def to_dlpack_for_write(data: NDArray) -> Any:
    """Return a DLPack capsule over the array's memory, for writing; waits for all its readers.

    The engine does not see writes through the capsule: be done before the array is used again.

    Raises:
        ArgumentTypeError: for bfloat16.
    """
    data.wait_to_write()
    return data.__dlpack__()


# Where memory lies, in DLPack's numbers: of a GPU, and of all GPUs and the host ("managed").
_OF_GPUS = (2, 13)


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Tensor(ctypes.Structure):
    """The beginning of what a capsule points to: ``DLTensor`` of dlpack.h."""

    _fields_: ClassVar[Any] = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
    ]


# Names of a capsule, and where the tensor lies in what it points to: the newer kind
# (``DLManagedTensorVersioned``) has a version, two pointers and flags in front.
_KINDS = ((b"dltensor", 0), (b"dltensor_versioned", 32))


def _tensor_address(capsule: Any) -> int | None:
    """Return the address of a capsule's tensor; None if it is no capsule, or was taken."""
    for name, offset in _KINDS:
        try:
            return int(_pointer_of(capsule, name)) + offset
        except ValueError:
            continue
    return None


class _Capsule:
    """Gives a bare DLPack capsule the interface that importers ask for.

    Args:
        capsule: The capsule; nobody took it yet.

    Raises:
        ArgumentTypeError: It is none.
    """

    def __init__(self, capsule: Any) -> None:
        address = _tensor_address(capsule)
        if address is None:
            raise ArgumentTypeError(
                "from_dlpack: expected an object with __dlpack__ or a capsule that nobody took, "
                f"got {capsule!r}"
            )
        tensor = _Tensor.from_address(address)
        self._capsule = capsule
        self._device = (int(tensor.device_type), int(tensor.device_id))

    def __dlpack__(self, **_options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def from_dlpack(dlpack: Any, ctx: Context | None = None) -> NDArray:
    """Return an array over the memory behind a DLPack capsule.

    Args:
        dlpack: A DLPack capsule, which this call consumes, or an object with ``__dlpack__``; in CPU
            or GPU memory.
        ctx: Device to copy the values to; None to share memory.

    Returns:
        An array that shares the memory, or a copy if that is not C-contiguous or read-only.

    Raises:
        ArgumentTypeError: It is neither.
        DeviceError: It is on a GPU, and CuPy or the device is missing.
    """
    bare = not hasattr(dlpack, "__dlpack__")
    offered = _Capsule(dlpack) if bare else dlpack
    kind, number = map(int, offered.__dlpack_device__())
    if kind in _OF_GPUS:
        shared = _shared_on_gpu(offered, gpu(number))
        return shared if ctx is None else as_in_context(shared, ctx)
    values = np.from_dlpack(offered)
    if bare and not values.flags.writeable and values.flags.c_contiguous:
        # A capsule of the first version cannot say whether it may be written, and NumPy then
        # assumes not; MXNet's programs write through it.
        values = _writable(values)
    elsewhere = ctx is not None and ctx.device_type != "cpu"
    if elsewhere or not (values.flags.c_contiguous and values.flags.writeable):
        return from_host(values, ctx, values.dtype)
    return _wrap(values, ctx)


def _shared_on_gpu(offered: Any, context: Context) -> NDArray:
    """Return an array over memory of a GPU.

    CuPy has the other library order its work before the stream that is current. That is the
    kernels': an operation without a kernel tells the engine that other streams have to wait, too.
    """
    device = device_of(context)
    taken: list[Any] = []
    var = Var()
    engine = current_engine()

    def take() -> None:
        raw = device.xp.from_dlpack(offered)
        taken.append(raw if raw.flags.c_contiguous else device.xp.ascontiguousarray(raw))

    engine.push(take, (), (var,), device.lane, 0, "from_dlpack")
    engine.wait(var)
    (raw,) = taken
    return NDArray(raw, Spec(raw.shape, normalize_dtype(raw.dtype)), device, var)


def _writable(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    memory: Any = (ctypes.c_char * values.nbytes).from_address(values.ctypes.data)
    memory.owner = values  # keeps the exporter's memory alive
    return np.frombuffer(memory, dtype=values.dtype).reshape(values.shape)


def _wrap(values: np.ndarray[Any, Any], ctx: Context | None) -> NDArray:
    spec = Spec(values.shape, normalize_dtype(values.dtype))
    return NDArray(values, spec, device_of(cpu() if ctx is None else ctx), Var())


def from_numpy(
    ndarray: np.ndarray[Any, Any], zero_copy: bool = True, array_cls: Any = NDArray
) -> NDArray:
    """Create an array from a NumPy array, of the same dtype, sharing its memory by default.

    Args:
        ndarray: C-contiguous values of a dtype that gluonish has.
        zero_copy: Share the memory; ``ndarray`` becomes read-only, since the engine orders writes
            to it from now on. An array that is read-only is shared again if the memory is NumPy's
            own, and so may be written; else, as that of a file, it is copied. Arrays on the same
            memory know nothing of each other: wait for one before the next is used.
        array_cls: Accepted for compatibility.

    Raises:
        ArgumentError: The values are not C-contiguous.
        ArgumentTypeError: Gluonish has no such dtype.
    """
    if not ndarray.flags.c_contiguous:
        raise ArgumentError(
            "from_numpy: expected a C-contiguous array, got one that is not; "
            "use numpy.ascontiguousarray"
        )
    values = ndarray.view(np.ndarray)
    if not zero_copy or not (values.flags.writeable or _is_of_numpy(values)):
        return from_host(ndarray, None, ndarray.dtype)
    shared = _wrap(values if values.flags.writeable else _writable(values), None)
    ndarray.flags.writeable = False
    return shared


def _is_of_numpy(values: np.ndarray[Any, Any]) -> bool:
    """Whether an array's memory was allocated by NumPy."""
    base: Any = values
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.base is None and bool(base.flags.owndata)


document_arguments(globals(), __all__)
