"""``x[key]`` and ``x[key] = value`` on arrays.

Without recording, NumPy (or CuPy) indexes the raw array: basic keys that select contiguous memory
return views, others copies. While recording, a key becomes differentiable operators: a basic key
`slice` and `reshape`, any other key `take` of flat indices.
"""

from typing import Any

import numpy as np

from gluonish.core.dtype import INT64, is_floating
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError, OutOfBoundsError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape, Spec
from gluonish.ndarray import recording
from gluonish.ndarray.copying import as_in_context
from gluonish.ndarray.indexing_keys import DeviceKey, device_key
from gluonish.ndarray.ndarray import NDArray, empty_like_spec, from_host
from gluonish.ndarray.truth import as_mask
from gluonish.ops.registry import apply, find_operator
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import in_dtype

_EXACT = (int, tuple)  # kinds of keys that may select a single element
_ONE = (1,)  # the shape of a single element: ``nd`` has no scalar arrays


def is_basic(key: Any) -> bool:
    """Whether a key consists of integers, slices, None and Ellipsis."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(
        k is None
        or k is Ellipsis
        or isinstance(k, slice)
        or (isinstance(k, int | np.integer) and not isinstance(k, bool))
        for k in keys
    )


def host_key(key: Any) -> Any:
    """Return a key with NDArrays and lists converted to NumPy; float indices are truncated."""
    if isinstance(key, tuple):
        return tuple(host_key(k) for k in key)
    if isinstance(key, NDArray):
        key = key.asnumpy()
    if isinstance(key, list):
        try:
            key = np.asarray(key)
        except ValueError as error:
            raise ArgumentTypeError(f"index: expected a list of indices, got {key!r}") from error
    if isinstance(key, np.ndarray) and is_floating(key.dtype):
        return key.astype(np.int64)
    if isinstance(key, str | float | complex | dict):
        raise ArgumentTypeError(
            f"index: expected integers, slices, None, Ellipsis or arrays, got {key!r}"
        )
    return key


def get_item(x: NDArray, key: Any) -> NDArray:
    """Return ``x[key]``; a single element has shape (1,), or () by MXNet 2.0's rules and shapes.

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentTypeError: The key is not an index.
    """
    single: Shape = _ONE
    if type(key) in _EXACT and follows_mxnet2() and is_np_shape():
        single = ()
    selected = select(x, key, single)
    selected._truth = x._truth
    return selected


def select(x: NDArray, key: Any, single: Shape) -> NDArray:
    """Return ``x[key]``, an array of the class of ``x``.

    Args:
        x: The array.
        key: The argument of ``__getitem__``.
        single: The shape of a single element: (1,), or () as in NumPy.

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentTypeError: The key is not an index.
    """
    recorded = x._edge is not None and recording.mode.get() & recording.RECORDING
    if isinstance(key, NDArray | list | np.ndarray) or not is_basic(key):
        key = as_mask(x, key)
        on_device = device_key(x, key)
        if on_device is not None and not (recorded and len(on_device.indices) > 1):
            return _select_on_device(x, on_device, single, recorded=bool(recorded))
        key = host_key(key)
        if recorded:
            gathered: NDArray = gather_by_key(x, key, single)
            return gathered
        return _copy_of(x, key, single)
    if recorded:
        sliced: NDArray = slice_by_key(x, key, single)
        return sliced
    raw = x._make_contiguous()
    try:
        selected = raw[key]
    except IndexError as error:
        raise _out_of_bounds(x.shape, error) from error
    if isinstance(selected, np.generic):  # NumPy's scalars share no memory
        selected = raw[(*key, ...) if isinstance(key, tuple) else (key, ...)]
    if not selected.shape:
        selected = selected.reshape(single)
    if selected.flags.c_contiguous:
        return type(x)(selected, Spec(selected.shape, x._spec.dtype), x._device, x._var)
    return _copy_of(x, key, single)


def _select_on_device(x: NDArray, key: DeviceKey, single: Shape, *, recorded: bool) -> NDArray:
    """Return ``x[key]`` for a key whose arrays are on the device of ``x``."""
    shape = _checked_device_key(x, key) or single
    if recorded:  # indices along the first axis
        take = find_operator("take")
        attrs = take.schema.parse("take", {"axis": 0, "mode": "wrap"})
        taken: NDArray = apply(take, (x, key.indices[0]), attrs).reshape(shape)
        return taken
    result = empty_like_spec(Spec(shape, x._spec.dtype), x._device, type(x))
    result._write(lambda out: _set(out, ..., x._data[key.raw()]), [x, *key.arrays], "getitem")
    return result


def _checked_device_key(x: NDArray, key: DeviceKey) -> Shape:
    """Return the shape that a key on the device selects, after checking its bounds."""
    shape = _selected_shape(x.shape, key.shape_key())
    if not key.is_within(x.shape):
        raise OutOfBoundsError(
            f"index: expected positions within shape {x.shape}, got some outside it"
        )
    return shape


def _copy_of(x: NDArray, key: Any, single: Shape) -> NDArray:
    shape = _selected_shape(x.shape, key) or single
    result = empty_like_spec(Spec(shape, x._spec.dtype), x._device, type(x))
    result._write(lambda out: _set(out, ..., x._data[key]), [x], "getitem")
    return result


def _selected_shape(shape: Shape, key: Any) -> Shape:
    """Return the shape of ``x[key]`` by NumPy's rules."""
    probe = np.broadcast_to(np.empty((), np.bool_), shape)
    try:
        selected: Shape = probe[key].shape
    except IndexError as error:
        raise _out_of_bounds(shape, error) from None
    return selected


def _out_of_bounds(shape: Shape, error: IndexError) -> OutOfBoundsError:
    return OutOfBoundsError(f"index: expected a key within shape {shape}, got one where {error}")


def slice_by_key(x: Any, key: Any, single: Shape = _ONE) -> Any:
    """Return ``x[key]`` for a basic key, by the operators `slice` and `Reshape`.

    ``x`` may be a graph value; ``single`` is the shape of a single element.
    """
    begin, end, step, shape = resolve_basic(x.shape, key, single)
    slice_op = find_operator("slice")
    attrs = slice_op.schema.parse("slice", {"begin": begin, "end": end, "step": step})
    sliced = apply(slice_op, (x,), attrs) if x.shape else x
    if sliced.shape == shape:
        return sliced
    # `Reshape` reads 0 as "copy this extent".
    return reshape(sliced, shape) if 0 in shape else sliced.reshape(shape)


def resolve_basic(
    shape: Shape, key: Any, single: Shape = _ONE
) -> tuple[tuple[int, ...], tuple[int | None, ...], tuple[int, ...], Shape]:
    """Return begin, end and step for each axis of ``shape``, and the shape that a key selects."""
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > len(shape):
        raise OutOfBoundsError(f"index: expected at most {len(shape)} indices, got {used}")
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), len(keys))
    keys[at : at + 1] = [slice(None)] * (len(shape) - used)
    begin: list[int] = []
    end: list[int | None] = []
    step: list[int] = []
    selected: list[int] = []
    for k in keys:
        if k is None:
            selected.append(1)
            continue
        extent = shape[len(begin)]
        if isinstance(k, slice):
            bounds = k.indices(extent)
            selected.append(len(range(*bounds)))
            # An empty slice may begin at -1, which would be read as the last element.
            start, stop, stride = bounds if selected[-1] else (0, 0, 1)
            begin.append(start)
            end.append(None if stop < 0 else stop)
            step.append(stride)
        else:
            if not -extent <= k < extent:
                found = f"index {k} is out of bounds for axis {len(begin)} with size {extent}"
                raise _out_of_bounds(shape, IndexError(found))
            begin.append(int(k) % extent)
            end.append(int(k) % extent + 1)
            step.append(1)
    return tuple(begin), tuple(end), tuple(step), tuple(selected) or single


def flat_indices(shape: Shape, key: Any) -> np.ndarray[Any, Any]:
    """Return the flat index of each element that the key selects."""
    indices = np.arange(Spec(shape, INT64).size, dtype=INT64).reshape(shape)
    try:
        return np.asarray(indices[key])
    except IndexError as error:
        raise _out_of_bounds(shape, error) from None


def gather_by_key(x: Any, key: Any, single: Shape = _ONE) -> Any:
    """Return ``x[key]`` for any key on the host, by the operator `take`; see `slice_by_key`.

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
    """
    positions = flat_indices(x.shape, key)
    index = from_host(positions.reshape(positions.shape or single), x.context, INT64)
    take = find_operator("take")
    attrs = take.schema.parse("take", {"axis": 0, "mode": "clip"})
    return apply(take, (x.reshape(-1), index), attrs)


def set_item(x: NDArray, key: Any, value: Any) -> None:
    """Assign to the elements that the key selects, converting the value's dtype.

    While recording, a recorded value can only be assigned to all of an array, which then becomes
    part of the graph.

    Raises:
        AutogradError: ``x`` is part of the recorded graph, or the value is and the key selects only
            some elements.
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentError: The value does not broadcast to the selected shape.
    """
    x._check_writable("item assignment")
    basic = is_basic(key)
    key = key if basic else as_mask(x, key)
    on_device = None if basic else device_key(x, key)
    arrays: list[NDArray] = []
    if on_device is not None:
        selected = _checked_device_key(x, on_device)
        key, arrays = on_device.raw(), on_device.arrays
    else:
        key = key if basic else host_key(key)
        selected = _selected_shape(x.shape, key)
    if isinstance(value, int | float | np.number | np.bool_):
        number = value.item() if isinstance(value, np.generic) else value
        if not is_floating(x._spec.dtype):
            number = in_dtype(x._spec.dtype, number).item()
        x._write(lambda out: _set(out, key, number), [*_reads_of(x, key), *arrays], "setitem")
        return
    source = _as_array(value, x)
    shape = _squeezed(source.shape, selected)
    if source._edge is not None and recording.mode.get() & recording.RECORDING:
        source = _recorded_value(source, x, key)
        x._edge = source._edge
        shape = source.shape
    reads = [source, *_reads_of(x, key), *arrays]
    x._write(lambda out: _set(out, key, source._data.reshape(shape)), reads, "setitem")


def _reads_of(x: NDArray, key: Any) -> list[NDArray]:
    """Return ``[x]`` if the key leaves some elements unchanged, so that the write is an update."""
    keys = key if isinstance(key, tuple) else (key,)
    selects_all = all(k is Ellipsis or (isinstance(k, slice) and k == slice(None)) for k in keys)
    return [] if selects_all else [x]


def _as_array(value: Any, x: NDArray) -> NDArray:
    """Return a value to assign as an array on the device of ``x``."""
    if isinstance(value, NDArray):
        if value.stype != "default":
            value = value.tostype("default")
        return as_in_context(value, x.context)
    try:
        values = np.asarray(value)
    except ValueError:
        values = np.asarray(None)
    if values.dtype.kind not in "biufV":
        raise ArgumentTypeError(
            f"item assignment: expected an array, a number or nested sequences of numbers, got "
            f"{type(value).__name__}"
        )
    return from_host(values, x.context, x._spec.dtype)


def _recorded_value(value: NDArray, x: NDArray, key: Any) -> NDArray:
    """Return a recorded value broadcast and cast to ``x``, whose elements it replaces."""
    if key is not Ellipsis and not (isinstance(key, slice) and key == slice(None)):
        raise AutogradError(
            "item assignment: expected a value outside the recorded graph, got one inside it for "
            "a part of the array; join the parts with concat, stack or where instead"
        )
    if value.shape != x.shape:
        trailing = value.shape[max(0, value.ndim - x.ndim) :]
        value = value.reshape((1,) * (x.ndim - len(trailing)) + trailing).broadcast_to(x.shape)
    converted: NDArray = value.astype(x.dtype, copy=False)
    return converted


def _squeezed(shape: Shape, selected: Shape) -> Shape:
    """Return a value's shape without leading axes of size 1 that the selected shape lacks.

    Raises:
        ArgumentError: The value does not broadcast to the selected shape.
    """
    while len(shape) > len(selected) and shape[0] == 1:
        shape = shape[1:]
    try:
        fits = np.broadcast_shapes(shape, selected) == selected
    except ValueError:
        fits = False
    if not fits:
        raise ArgumentError(
            f"item assignment: expected a value that broadcasts to {selected}, got shape {shape}"
        )
    return shape


def _set(out: Any, key: Any, source: Any) -> None:
    out[key] = source
