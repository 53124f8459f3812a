"""Sharing memory with other libraries: DLPack export and import, and NumPy arrays."""

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
from gluonish.ndarray.copying import as_in_context, duplicate
from gluonish.ndarray.dlpack_capsule import BareCapsule, Retyped, as_bits
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish_engine import Var

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def to_dlpack_for_read(data: NDArray, bits: bool = False) -> Any:
    """Return a DLPack capsule over the array's memory, for reading; waits for the values.

    Args:
        data: The array.
        bits: Whether to export bfloat16 and 8-bit floats as unsigned integers of the same width,
            for libraries without these types, such as NumPy.
    """
    data.wait_to_read()
    return _capsule(data, bits)


def to_dlpack_for_write(data: NDArray, bits: bool = False) -> Any:
    """Return a DLPack capsule over the array's memory, for writing; waits for all its readers.

    The engine does not see writes through the capsule: finish them before using the array again.

    Args:
        data: The array.
        bits: See `to_dlpack_for_read`.
    """
    data.wait_to_write()
    return _capsule(data, bits)


def _capsule(data: NDArray, bits: bool) -> Any:
    if not bits:
        return data.__dlpack__()
    raw = as_bits(data._make_contiguous())
    data.wait_to_write()
    return data._device.to_dlpack(raw)


# DLPack's device types for CUDA memory: device memory and managed memory.
_CUDA_TYPES = (2, 13)


def from_dlpack(
    dlpack: Any, ctx: Context | None = None, dtype: Any = None, copy: bool | None = None
) -> NDArray:
    """Return an array that shares the memory of a DLPack capsule.

    Libraries that export bfloat16 and 8-bit floats as integers of the same width need ``dtype``, as
    in ``dtype="bfloat16"``.

    Args:
        dlpack: A DLPack capsule, which this call consumes, or an object with ``__dlpack__``; in CPU
            or GPU memory.
        ctx: Device to copy the values to; None to share memory.
        dtype: Element type to reinterpret the values as, of the same width; None for the type of
            the capsule.
        copy: True copies always; False raises where memory cannot be shared; None copies if needed.

    Returns:
        An array that shares the memory, or a copy if that is not C-contiguous or is read-only.

    Raises:
        ArgumentError: ``copy`` is False, and the memory is on another device, read-only or not
            contiguous.
        ArgumentTypeError: ``dlpack`` is neither, or ``dtype`` has another width.
        DeviceError: The memory is on a GPU, and CuPy or the device is missing.
    """
    bare = not hasattr(dlpack, "__dlpack__")
    exporter = Retyped(BareCapsule(dlpack) if bare else dlpack)
    kind, number = map(int, exporter.__dlpack_device__())
    if kind in _CUDA_TYPES:
        shared = _shared_on_gpu(exporter, gpu(number), dtype)
        if copy is False and ctx not in (None, shared.context):
            raise _not_shared(ctx)
        moved = shared if ctx is None else as_in_context(shared, ctx)
        return duplicate(moved) if copy and moved is shared else moved
    values = np.from_dlpack(exporter)
    if bare and not values.flags.writeable and values.flags.c_contiguous:
        # An unversioned capsule has no read-only flag, and NumPy assumes read-only; MXNet programs
        # write through it.
        values = _writable(values)
    values = _reinterpreted(exporter.typed(values), dtype)
    elsewhere = ctx is not None and ctx.device_type != "cpu"
    if copy or elsewhere or not (values.flags.c_contiguous and values.flags.writeable):
        if copy is False:
            raise _not_shared(ctx)
        return from_host(values, ctx, values.dtype)
    return _wrap(values, ctx)


def _not_shared(ctx: Context | None) -> ArgumentError:
    where = "" if ctx is None else f" on {ctx}"
    return ArgumentError(
        f"from_dlpack: expected writable, contiguous memory{where} with copy=False, got other "
        "memory; pass copy=None"
    )


def _reinterpreted(raw: Any, dtype: Any) -> Any:
    """Return a view of a raw array as another type of the same width."""
    if dtype is None:
        return raw
    target = normalize_dtype(dtype)
    if target.itemsize != raw.dtype.itemsize:
        raise ArgumentTypeError(
            f"from_dlpack: expected a dtype of {raw.dtype.itemsize} bytes, as {raw.dtype} has, got "
            f"{target}; use astype to convert"
        )
    return raw.view(target)


def _shared_on_gpu(exporter: Retyped, context: Context, dtype: Any) -> NDArray:
    """Return an array over GPU memory.

    CuPy makes the exporter order its work before the current stream, which is the kernels'. An
    engine operation makes the other streams wait for it, too.
    """
    device = device_of(context)
    imported: list[Any] = []
    var = Var()
    engine = current_engine()

    def import_() -> None:
        raw = _reinterpreted(exporter.typed(device.xp.from_dlpack(exporter)), dtype)
        imported.append(raw if raw.flags.c_contiguous else device.xp.ascontiguousarray(raw))

    engine.push(import_, (), (var,), device.lane, 0, "from_dlpack")
    engine.wait(var)
    (raw,) = imported
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
        ndarray: C-contiguous values of a supported dtype.
        zero_copy: Share the memory; ``ndarray`` becomes read-only, since the engine orders writes
            from now on. A read-only array is shared if NumPy allocated its memory, so that it may
            be written; otherwise, as for a mapped file, it is copied. The engine does not order
            accesses of several arrays on the same memory: wait for one before using the next.
        array_cls: Accepted for compatibility.

    Raises:
        ArgumentError: The values are not C-contiguous.
        ArgumentTypeError: The dtype is not supported.
    """
    if not ndarray.flags.c_contiguous:
        raise ArgumentError(
            "from_numpy: expected a C-contiguous array, got one that is not; "
            "use numpy.ascontiguousarray"
        )
    values = ndarray.view(np.ndarray)
    if not zero_copy or not (values.flags.writeable or _is_numpy_memory(values)):
        return from_host(ndarray, None, ndarray.dtype)
    shared = _wrap(values if values.flags.writeable else _writable(values), None)
    ndarray.flags.writeable = False
    return shared


def _is_numpy_memory(values: np.ndarray[Any, Any]) -> bool:
    """Whether NumPy allocated an array's memory."""
    base: Any = values
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.base is None and bool(base.flags.owndata)


document_arguments(globals(), __all__)
