"""Sharing memory with other libraries: DLPack capsules in and out, and NumPy arrays in."""

import ctypes
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context, cpu, gpu
from gluonish.core.device import device_of
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.spec import Spec
from gluonish.engine import current_engine
from gluonish.ndarray.copying import as_in_context
from gluonish.ndarray.dlpack_capsule import BareCapsule, Retyped, as_bits
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish_engine import Var

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def to_dlpack_for_read(data: NDArray, bits: bool = False) -> Any:
    """Return a DLPack capsule over the array's memory, for reading; waits for the values.

    Args:
        data: The array.
        bits: Whether bfloat16 and 8-bit floats say that they are unsigned integers of their width,
            for libraries that know no such types, NumPy among them.
    """
    data.wait_to_read()
    return _capsule(data, bits)


def to_dlpack_for_write(data: NDArray, bits: bool = False) -> Any:
    """Return a DLPack capsule over the array's memory, for writing; waits for all its readers.

    The engine does not see writes through the capsule: be done before the array is used again.

    Args:
        data: The array.
        bits: As of `to_dlpack_for_read`.
    """
    data.wait_to_write()
    return _capsule(data, bits)


def _capsule(data: NDArray, bits: bool) -> Any:
    if not bits:
        return data.__dlpack__()
    raw = as_bits(data._make_contiguous())
    data.wait_to_write()
    return data._device.to_dlpack(raw)


# Where memory lies, in DLPack's numbers: of a GPU, and of all GPUs and the host ("managed").
_OF_GPUS = (2, 13)


def from_dlpack(dlpack: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array over the memory behind a DLPack capsule.

    bfloat16 and 8-bit floats are taken from whoever says so; other libraries hand them over as
    integers of the same width, with ``dtype="bfloat16"`` here.

    Args:
        dlpack: A DLPack capsule, which this call consumes, or an object with ``__dlpack__``; in CPU
            or GPU memory.
        ctx: Device to copy the values to; None to share memory.
        dtype: What the numbers are, of the width that they say; None for what they say.

    Returns:
        An array that shares the memory, or a copy if that is not C-contiguous or read-only.

    Raises:
        ArgumentTypeError: It is neither, or ``dtype`` has another width.
        DeviceError: It is on a GPU, and CuPy or the device is missing.
    """
    bare = not hasattr(dlpack, "__dlpack__")
    offered = Retyped(BareCapsule(dlpack) if bare else dlpack)
    kind, number = map(int, offered.__dlpack_device__())
    if kind in _OF_GPUS:
        shared = _shared_on_gpu(offered, gpu(number), dtype)
        return shared if ctx is None else as_in_context(shared, ctx)
    values = np.from_dlpack(offered)
    if bare and not values.flags.writeable and values.flags.c_contiguous:
        # A capsule of the first version cannot say whether it may be written, and NumPy then
        # assumes not; MXNet's programs write through it.
        values = _writable(values)
    values = _of_dtype(offered.typed(values), dtype)
    elsewhere = ctx is not None and ctx.device_type != "cpu"
    if elsewhere or not (values.flags.c_contiguous and values.flags.writeable):
        return from_host(values, ctx, values.dtype)
    return _wrap(values, ctx)


def _of_dtype(raw: Any, dtype: Any) -> Any:
    """Return a raw array whose numbers are taken for another type of their width."""
    if dtype is None:
        return raw
    wanted = normalize_dtype(dtype)
    if wanted.itemsize != raw.dtype.itemsize:
        raise ArgumentTypeError(
            f"from_dlpack: expected a dtype of {raw.dtype.itemsize} bytes, as {raw.dtype} has, got "
            f"{wanted}; use astype to convert"
        )
    return raw.view(wanted)


def _shared_on_gpu(offered: Retyped, context: Context, dtype: Any) -> NDArray:
    """Return an array over memory of a GPU.

    CuPy has the other library order its work before the stream that is current. That is the
    kernels': an operation without a kernel tells the engine that other streams have to wait, too.
    """
    device = device_of(context)
    taken: list[Any] = []
    var = Var()
    engine = current_engine()

    def take() -> None:
        raw = _of_dtype(offered.typed(device.xp.from_dlpack(offered)), dtype)
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
