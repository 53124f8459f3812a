"""Creation of arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context, parse_context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.mxnet_rules import follows_mxnet1, follows_mxnet2
from gluonish.core.numpy_mode import is_np_default_dtype
from gluonish.core.schema import as_number
from gluonish.core.tables import kind_of, numbers_of
from gluonish.ndarray.dlpack import from_dlpack as share_dlpack
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import (
    NUMBERS,
    as_value,
    call,
    check_order,
    chosen,
    create,
    from_official,
    is_value,
)

__all__ = [
    "arange",
    "array",
    "asarray",
    "blackman",
    "empty",
    "empty_like",
    "extents",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "hamming",
    "hanning",
    "identity",
    "indices",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "tri",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

Extents = int | Sequence[int]
Ctx = Context | str | None


def extents(shape: Any, what: str) -> tuple[int, ...]:
    """Return a shape as a tuple of ints; an int is a shape of one axis.

    Raises:
        ArgumentError: An extent is negative or not an int.
        ArgumentTypeError: The shape is not an int, tuple or list.
    """
    if not isinstance(shape, int | np.integer | list | tuple):
        raise ArgumentTypeError(f"{what}: expected shape to be a tuple of ints, got {shape!r}")
    listed = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if any(not isinstance(n, int | np.integer) or n < 0 for n in listed):
        raise ArgumentError(f"{what}: expected sizes of at least 0, got shape {shape!r}")
    return tuple(int(n) for n in listed)


def array(
    object: Any, dtype: Any = None, ctx: Ctx = None, device: Ctx = None
) -> Any:  # NumPy's name
    """Create an array from a copy of other values.

    Args:
        object: Array, number, or nested sequence of numbers or arrays; or a column or table of
            polars, pandas or pyarrow, whose missing values are NaN.
        dtype: Element type; by default the dtype of a source array, and float32 for other values.
            By the rules of MXNet 2.0 an array of NumPy becomes float32, too.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.

    Raises:
        ArgumentTypeError: The values are not numbers.
    """
    context = parse_context(ctx or device)
    if isinstance(object, NDArray):
        if object.is_traced:
            return _converted(object, dtype, copy=True)
        return from_official(
            object.asnumpy(), context, object._spec.dtype if dtype is None else dtype
        )
    object = numbers_of("array", object, dtype)
    has_dtype = isinstance(object, np.ndarray | np.generic)
    if dtype is None and isinstance(object, np.ndarray) and follows_mxnet2():
        dtype = None if is_np_default_dtype() else "float32"
    try:
        values = np.asarray(object if has_dtype else _to_numpy(object))
    except (ValueError, TypeError) as error:
        raise ArgumentTypeError(
            f"array: expected nested sequences of equal lengths, got {type(object).__name__} "
            f"({error})"
        ) from error
    if values.dtype.kind not in "biufV":
        raise ArgumentTypeError(
            f"array: expected numbers, got {type(object).__name__} of {kind_of(values)}"
        )
    return from_official(
        values, context, (None if has_dtype else chosen(None)) if dtype is None else dtype
    )


def asarray(obj: Any, dtype: Any = None, device: Ctx = None, copy: bool | None = None) -> Any:
    """Return values as an array; an array of this dtype and device is returned itself.

    Args:
        obj: Array, number, nested sequence of them, or an object with ``__dlpack__``.
        dtype: Element type; by default that of an array, and float32 for other values.
        device: Device; by default that of an array, and the current context for other values.
        copy: True copies always; False shares memory or raises; None copies if needed.

    Raises:
        ArgumentError: ``copy`` is False and the values have to be copied.
        ArgumentTypeError: The values are not numbers.
    """
    context = parse_context(device)
    if isinstance(obj, NDArray) and not copy:
        same = dtype is None or normalize_dtype(dtype) == obj._spec.dtype
        if same and context in (None, obj.context):
            return obj.as_np_ndarray()
    elif copy is False and hasattr(obj, "__dlpack__"):
        return asarray(from_dlpack(obj, copy=False), dtype, context, copy)
    if copy is False:
        raise ArgumentError(
            f"asarray: expected values that can be shared with copy=False, got {type(obj).__name__}"
            " or another dtype or device; pass copy=None"
        )
    if isinstance(obj, NDArray):
        if obj.is_traced:
            return _converted(obj, dtype, copy=bool(copy))
        moved = obj.as_np_ndarray().as_in_context(context or obj.context)
        wanted = moved.dtype if dtype is None else dtype
        return moved.astype(wanted, copy=moved._var is obj._var)
    if dtype is None and isinstance(obj, int | bool) and follows_mxnet2():
        dtype = "bool" if isinstance(obj, bool) else "int64"
    return array(obj, dtype, context)


def _converted(value: Any, dtype: Any, *, copy: bool) -> Any:
    """Return a traced array in a dtype; a copy where nothing else is to be done but ``copy``."""
    same = as_value(value, "array")
    if dtype is not None and normalize_dtype(dtype) != same.dtype:
        return same.astype(dtype)
    return call("_np_copy", (same,), what="array") if copy else same


def from_dlpack(x: Any, /, *, device: Ctx = None, copy: bool | None = None) -> Any:
    """Return an array on the memory of an array of another library.

    Args:
        x: Object with ``__dlpack__`` and ``__dlpack_device__``.
        device: Device to copy the values to; that of ``x`` by default.
        copy: True copies always; False raises where memory cannot be shared.

    Raises:
        ArgumentError: ``copy`` is False, and the memory is on another device, read-only or not
            contiguous.
        ArgumentTypeError: ``x`` has no ``__dlpack__``, or a dtype that is not supported.
    """
    return share_dlpack(x, parse_context(device), None, copy).as_np_ndarray()


def _to_numpy(values: Any) -> Any:
    """Convert the arrays in nested sequences to NumPy."""
    if isinstance(values, list | tuple):
        return [_to_numpy(value) for value in values]
    return values.asnumpy() if isinstance(values, NDArray) else values


def zeros(
    shape: Extents, dtype: Any = None, order: str = "C", ctx: Ctx = None, device: Ctx = None
) -> Any:
    """Return an array of zeros.

    Args:
        shape: Shape: an int or a tuple of ints.
        dtype: Element type, float32 by default.
        order: ``"C"`` (row by row), the only order.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    return _constant("zeros", "_npi_zeros", shape, dtype, order, ctx or device)


def ones(
    shape: Extents, dtype: Any = None, order: str = "C", ctx: Ctx = None, device: Ctx = None
) -> Any:
    """Return an array of ones; arguments as for `zeros`."""
    return _constant("ones", "_npi_ones", shape, dtype, order, ctx or device)


def empty(
    shape: Extents, dtype: Any = None, order: str = "C", ctx: Ctx = None, device: Ctx = None
) -> Any:
    """Return an array to be filled later, which is zeroed; arguments as for `zeros`."""
    return _constant("empty", "_npi_zeros", shape, dtype, order, ctx or device)


def _constant(what: str, operator: str, shape: Extents, dtype: Any, order: str, ctx: Ctx) -> Any:
    check_order(what, order)
    params = {"shape": extents(shape, what), "dtype": chosen(dtype)}
    return create(operator, params, ctx, what=what)


def full(
    shape: Extents,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Return an array filled with one value.

    Args:
        shape: Shape: an int or a tuple of ints.
        fill_value: Number, or an array that broadcasts to the shape.
        dtype: Element type; by default that of an array or a NumPy number, bool for a bool, int64
            for an int, else float32. By the rules of MXNet 1.9 ints are float32, too.
        order: ``"C"`` (row by row), the only order.
        ctx: Device; the current context by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    check_order("full", order)
    shape = extents(shape, "full")
    if is_value(fill_value):
        filled = call("_npi_broadcast_to", (fill_value,), {"shape": shape}, what="full")
        return filled if dtype is None else filled.astype(dtype)
    _check_number("full", fill_value)
    if dtype is None:
        dtype = _fill_dtype(fill_value)
    params = {"shape": shape, "value": as_number(fill_value), "dtype": dtype}
    return create("_npi_full", params, ctx or device, out, "full")


def _fill_dtype(value: Any) -> Any:
    """Return the default dtype of an array filled with a number."""
    if isinstance(value, bool | np.bool_):
        return "bool"
    if follows_mxnet1():
        return _number_dtype(None, value)
    if isinstance(value, np.generic):
        return value.dtype
    return "int64" if isinstance(value, int) else chosen(None)


def _check_number(what: str, value: Any) -> None:
    if not isinstance(value, NUMBERS):
        raise ArgumentTypeError(
            f"{what}: expected fill_value to be a number, got {type(value).__name__}"
        )


def full_like(
    a: Any,
    fill_value: float,
    dtype: Any = None,
    order: str = "C",
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Return an array of the same shape as another, filled with one value.

    Args:
        a: Array with the shape of the result.
        fill_value: Number.
        dtype: Element type; that of ``a`` by default.
        order: ``"C"`` (row by row), the only order.
        ctx: Ignored; the result is on the device of ``a``.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    check_order("full_like", order)
    _check_number("full_like", fill_value)
    params = {"fill_value": as_number(fill_value), "dtype": dtype}
    return call("_npi_full_like", (a,), params, out, "full_like")


def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Return zeros of the same shape as an array; arguments as for `full_like`."""
    return full_like(a, 0, dtype, order, ctx or device, out)


def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Return ones of the same shape as an array; arguments as for `full_like`."""
    return full_like(a, 1, dtype, order, ctx or device, out)


def empty_like(
    prototype: Any,
    dtype: Any = None,
    order: str = "C",
    subok: bool = False,
    shape: Extents | None = None,
    *,
    device: Ctx = None,
) -> Any:
    """Return an array of the same shape as another, to be filled later; it is zeroed.

    Args:
        prototype: Array with the default shape and dtype.
        dtype: Element type; that of ``prototype`` by default.
        order: ``"C"`` (row by row), the only order.
        subok: Ignored.
        shape: Shape of the result; that of ``prototype`` by default.
        device: Device of the result; that of ``prototype`` by default.
    """
    if not isinstance(order, str):  # MXNet 2.0 passes the device third
        order, device = "C", order
    check_order("empty_like", order)
    if shape is not None or device is not None:
        return empty(
            prototype.shape if shape is None else shape,
            prototype.dtype if dtype is None else dtype,
            ctx=device or getattr(prototype, "ctx", None),
        )
    return full_like(prototype, 0, dtype)


def arange(
    start: float,
    stop: float | None = None,
    step: float | None = 1,
    dtype: Any = None,
    ctx: Ctx = None,
    device: Ctx = None,
) -> Any:
    """Return evenly spaced values in [start, stop); with one bound only, in [0, bound).

    Args:
        start: First value, or the bound if ``stop`` is omitted.
        stop: Bound, excluded.
        step: Difference between neighbouring values, not 0; None for 1.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.

    Raises:
        ArgumentError: ``step`` is 0.
        ArgumentTypeError: A bound is not a number.
    """
    for bound in (start, stop, step):
        is_number = bound is None or isinstance(bound, NUMBERS)
        if not is_number and getattr(bound, "shape", None) != ():
            raise ArgumentTypeError(f"arange: expected numbers, got {type(bound).__name__}")
    step = 1 if step is None else step
    if step == 0:
        raise ArgumentError("arange: expected a step other than 0, got 0")
    if stop is None:
        start, stop = 0, start
    params = {
        "start": start,
        "stop": stop,
        "step": step,
        "dtype": _number_dtype(dtype, start, stop, step),
    }
    return create("_npi_arange", params, ctx or device, what="arange")


def _number_dtype(dtype: Any, *numbers: Any) -> Any:
    """Return ``dtype``, or the default: int64 for ints while NumPy's default dtype is on."""
    if dtype is None and is_np_default_dtype() and all(isinstance(x, int) for x in numbers):
        return "int64"
    return chosen(dtype)


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    ctx: Ctx = None,
    device: Ctx = None,
) -> Any:
    """Return evenly spaced values from start to stop.

    Args:
        start: First value.
        stop: Last value; excluded with ``endpoint=False``.
        num: Number of values.
        endpoint: Whether ``stop`` is the last value.
        retstep: Whether to return a tuple of the values and the step between them.
        dtype: Element type, float32 by default.
        axis: Must be 0.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    _check_bounds("linspace", start, stop, axis)
    params = {"start": start, "stop": stop, "num": num, "endpoint": endpoint}
    values = create(
        "_npi_linspace",
        {**params, "dtype": chosen(dtype)},
        ctx or device,
        what="linspace",
    )
    if not retstep:
        return values
    steps = num - bool(endpoint)
    return values, (stop - start) / steps if steps > 0 else float("nan")


def _check_bounds(what: str, start: Any, stop: Any, axis: int) -> None:
    if not isinstance(start, NUMBERS) or not isinstance(stop, NUMBERS):
        raise NotSupportedError(f"{what}: expected start and stop to be numbers, got arrays")
    if axis != 0:
        raise NotSupportedError(f"{what}: expected axis 0, got {axis}")


def logspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
    ctx: Ctx = None,
    device: Ctx = None,
) -> Any:
    """Return ``base`` to the power of `linspace`; other arguments as for `linspace`."""
    _check_bounds("logspace", start, stop, axis)
    params = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "base": base}
    return create(
        "_npi_logspace",
        {**params, "dtype": chosen(dtype)},
        ctx or device,
        what="logspace",
    )


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, **kwargs: Any) -> Any:
    """Return a matrix with ones on a diagonal.

    Args:
        N: Number of rows.
        M: Number of columns; ``N`` by default.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        dtype: Element type, float32 by default.
        **kwargs: ``ctx`` or ``device``: device.
    """
    params = {"N": N, "M": M, "k": k, "dtype": chosen(dtype)}
    return create("_npi_eye", params, kwargs.get("ctx") or kwargs.get("device"), what="eye")


def identity(n: int, dtype: Any = None, ctx: Ctx = None, device: Ctx = None) -> Any:
    """Return the identity matrix of ``n`` rows, float32 by default."""
    params = {"shape": (n, n), "dtype": chosen(dtype)}
    return create("_npi_identity", params, ctx or device, what="identity")


def indices(
    dimensions: Sequence[int], dtype: Any = None, ctx: Ctx = None, device: Ctx = None
) -> Any:
    """Return the indices of a grid, (N, *dimensions): for each axis the index of every element.

    Args:
        dimensions: Shape of the grid.
        dtype: Element type, int64 by default; by the rules of MXNet 1.9 int32.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    if dtype is None:
        dtype = "int32" if follows_mxnet1() else "int64"
    params = {"dimensions": extents(dimensions, "indices"), "dtype": dtype}
    return create("_npi_indices", params, ctx or device, what="indices")


def _window(name: str, M: int, dtype: Any, ctx: Ctx) -> Any:
    return create(f"_npi_{name}", {"M": M, "dtype": chosen(dtype)}, ctx, what=name)


def blackman(M: int, dtype: Any = None, ctx: Ctx = None, device: Ctx = None) -> Any:
    """Return the Blackman window of ``M`` points."""
    return _window("blackman", M, dtype, ctx or device)


def hamming(M: int, dtype: Any = None, ctx: Ctx = None, device: Ctx = None) -> Any:
    """Return the Hamming window of ``M`` points."""
    return _window("hamming", M, dtype, ctx or device)


def hanning(M: int, dtype: Any = None, ctx: Ctx = None, device: Ctx = None) -> Any:
    """Return the Hann window of ``M`` points."""
    return _window("hanning", M, dtype, ctx or device)


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, ctx: Ctx = None, device: Ctx = None
) -> Any:
    """Return a matrix with ones on and below diagonal ``k``, and zeros above it.

    Args:
        N: Number of rows.
        M: Number of columns; ``N`` by default.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    return tril(ones((N, N if M is None else M), dtype, ctx=ctx or device), k)


def tril(m: Any, k: int = 0) -> Any:
    """Return a matrix with zeros above diagonal ``k``."""
    return call("_npi_tril", (m,), {"k": k}, what="tril")


def triu(m: Any, k: int = 0) -> Any:
    """Return a matrix with zeros below diagonal ``k``."""
    return call("_npi_triu", (m,), {"k": k}, what="triu")


document_arguments(
    globals(),
    __all__,
    {
        "logspace.axis": "Must be 0.",
    },
)
