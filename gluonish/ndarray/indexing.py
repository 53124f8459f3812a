"""``x[key]`` and ``x[key] = value`` on arrays.

Without recording, NumPy's (or CuPy's) own indexing does the work: basic keys that select contiguous
memory give views, others copies. While recording, the same key becomes operators, so that gradients
flow: basic keys a `slice` and a `reshape`, all others a `take` of flat positions.
"""

from typing import Any

import numpy as np

from gluonish.core.dtype import INT64, is_floating
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError, OutOfBoundsError
from gluonish.core.spec import Shape, Spec
from gluonish.ndarray import recording
from gluonish.ndarray.copying import as_in_context
from gluonish.ndarray.indexing_keys import DeviceKey, device_key
from gluonish.ndarray.ndarray import NDArray, empty_like_spec, from_host
from gluonish.ndarray.truth import as_mask
from gluonish.ops.registry import apply, find_operator
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import in_dtype

_ONE = (1,)  # the shape of a single element: MXNet's own arrays have no scalars


def is_basic(key: Any) -> bool:
    """Whether a key holds only integers, slices, None and Ellipsis."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(
        k is None
        or k is Ellipsis
        or isinstance(k, slice)
        or (isinstance(k, int | np.integer) and not isinstance(k, bool))
        for k in keys
    )


def host_key(key: Any) -> Any:
    """Return a key with NumPy arrays for NDArrays and lists; float indices are cut to integers."""
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
    """Return ``x[key]``; a single element has shape (1,).

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentTypeError: The key is not an index.
    """
    selected = select(x, key, _ONE)
    selected._truth = x._truth
    return selected


def select(x: NDArray, key: Any, single: Shape) -> NDArray:
    """Return ``x[key]``, an array of its class.

    Args:
        x: The array.
        key: What Python gives to ``__getitem__``.
        single: The shape of a single element: (1,), or () as NumPy has it.

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentTypeError: The key is not an index.
    """
    recorded = x._link is not None and recording.mode.get() & recording.RECORDING
    if isinstance(key, NDArray | list | np.ndarray) or not is_basic(key):
        key = as_mask(x, key)
        near = device_key(x, key)
        if near is not None and not (recorded and len(near.parts) > 1):
            return _select_near(x, near, single, recorded=bool(recorded))
        key = host_key(key)
        if recorded:
            taken: NDArray = take_by_key(x, key, single)
            return taken
        return _copy_of(x, key, single)
    if recorded:
        part: NDArray = slice_by_key(x, key, single)
        return part
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


def _select_near(x: NDArray, key: DeviceKey, single: Shape, *, recorded: bool) -> NDArray:
    """Return what a key selects whose arrays lie on the device of ``x``."""
    shape = _checked_near(x, key) or single
    if recorded:  # positions along the first axis
        take = find_operator("take")
        attrs = take.schema.parse("take", {"axis": 0, "mode": "wrap"})
        part: NDArray = apply(take, (x, key.parts[0]), attrs).reshape(shape)
        return part
    result = empty_like_spec(Spec(shape, x._spec.dtype), x._device, type(x))
    result._write(lambda out: _set(out, ..., x._data[key.raw()]), [x, *key.arrays], "getitem")
    return result


def _checked_near(x: NDArray, key: DeviceKey) -> Shape:
    """Return the shape that a key on the device selects.

    Raises:
        OutOfBoundsError: A position is out of bounds, or there are too many indices.
    """
    shape = _selected_shape(x.shape, key.like_numpy())
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
    """Return the shape that NumPy gives to what a key selects."""
    probe = np.broadcast_to(np.empty((), np.bool_), shape)
    try:
        selected: Shape = probe[key].shape
    except IndexError as error:
        raise _out_of_bounds(shape, error) from error
    return selected


def _out_of_bounds(shape: Shape, error: IndexError) -> OutOfBoundsError:
    return OutOfBoundsError(f"index: expected a key within shape {shape}, got one where {error}")


def slice_by_key(x: Any, key: Any, single: Shape = _ONE) -> Any:
    """Return ``x[key]`` for a basic key, by the operators `slice` and `Reshape`.

    ``x`` may be a value of a graph; ``single`` is the shape of a single element.
    """
    begin, end, step, shape = resolve_basic(x.shape, key, single)
    slice_op = find_operator("slice")
    attrs = slice_op.schema.parse("slice", {"begin": begin, "end": end, "step": step})
    sliced = apply(slice_op, (x,), attrs) if x.shape else x
    if sliced.shape == shape:
        return sliced
    # In the operator of the files, 0 is a code.
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
            # Without elements, begin may be -1, which stands for the last one.
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


def flat_positions(shape: Shape, key: Any) -> np.ndarray[Any, Any]:
    """Return, for each element that the key selects, its position in the flattened array."""
    positions = np.arange(Spec(shape, INT64).size, dtype=INT64).reshape(shape)
    try:
        return np.asarray(positions[key])
    except IndexError as error:
        raise _out_of_bounds(shape, error) from error


def take_by_key(x: Any, key: Any, single: Shape = _ONE) -> Any:
    """Return ``x[key]`` for any key without NDArrays, by the operator `take`; see `slice_by_key`.

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
    """
    positions = flat_positions(x.shape, key)
    index = from_host(positions.reshape(positions.shape or single), x.context, INT64)
    take = find_operator("take")
    attrs = take.schema.parse("take", {"axis": 0, "mode": "clip"})
    return apply(take, (x.reshape(-1), index), attrs)


def set_item(x: NDArray, key: Any, value: Any) -> None:
    """Assign to the elements that the key selects, converting the value's dtype.

    While recording, a value of the graph can be assigned to a whole array only, which then becomes
    part of the graph.

    Raises:
        AutogradError: ``x`` is part of the graph that is being recorded, or the value is and the
            key selects less than the whole array.
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentError: The value does not broadcast to what is selected.
    """
    x._check_writable("item assignment")
    basic = is_basic(key)
    key = key if basic else as_mask(x, key)
    near = None if basic else device_key(x, key)
    arrays: list[NDArray] = []
    if near is not None:
        selected = _checked_near(x, near)
        key, arrays = near.raw(), near.arrays
    else:
        key = key if basic else host_key(key)
        selected = _selected_shape(x.shape, key)
    if isinstance(value, int | float | np.number | np.bool_):
        number = value.item() if isinstance(value, np.generic) else value
        if not is_floating(x._spec.dtype):
            number = in_dtype(x._spec.dtype, number).item()
        x._write(lambda out: _set(out, key, number), [*_kept(x, key), *arrays], "setitem")
        return
    given = _assigned_array(value, x)
    shape = _fitting(given.shape, selected)
    if given._link is not None and recording.mode.get() & recording.RECORDING:
        given = _whole_value(given, x, key)
        x._link = given._link
        shape = given.shape
    reads = [given, *_kept(x, key), *arrays]
    x._write(lambda out: _set(out, key, given._data.reshape(shape)), reads, "setitem")


def _kept(x: NDArray, key: Any) -> list[NDArray]:
    """Return the array itself if some of its elements stay: then the write is an update of it."""
    keys = key if isinstance(key, tuple) else (key,)
    whole = all(k is Ellipsis or (isinstance(k, slice) and k == slice(None)) for k in keys)
    return [] if whole else [x]


def _assigned_array(value: Any, x: NDArray) -> NDArray:
    """Return what is to be assigned as an array on the device of ``x``."""
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


def _whole_value(value: NDArray, x: NDArray, key: Any) -> NDArray:
    """Return a recorded value in the shape and dtype of all of ``x``, which is its target."""
    if key is not Ellipsis and not (isinstance(key, slice) and key == slice(None)):
        raise AutogradError(
            "item assignment: expected a value outside the recorded graph, got one inside it for "
            "a part of the array; join the parts with concat, stack or where instead"
        )
    if value.shape != x.shape:
        tail = value.shape[max(0, value.ndim - x.ndim) :]
        value = value.reshape((1,) * (x.ndim - len(tail)) + tail).broadcast_to(x.shape)
    whole: NDArray = value.astype(x.dtype, copy=False)
    return whole


def _fitting(shape: Shape, selected: Shape) -> Shape:
    """Return a value's shape without those leading axes of size 1 that its target lacks.

    Args:
        shape: The value's.
        selected: The target's.

    Raises:
        ArgumentError: The value does not broadcast to its target.
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
