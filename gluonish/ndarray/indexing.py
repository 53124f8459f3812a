"""``x[key]`` and ``x[key] = value`` on arrays.

Without recording, NumPy's (or CuPy's) own indexing does the work: basic keys that select contiguous
memory give views, others copies. While recording, the same key becomes operators, so that gradients
flow: basic keys a `slice` and a `reshape`, all others a `take` of flat positions.
"""

from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.spec import Shape, Spec
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray, empty_like_spec, from_host, lift
from gluonish.ops.registry import apply, find_operator

__all__ = ["get_item", "is_basic", "set_item", "slice_by_key"]


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
    """Return a key in which NDArrays and lists are NumPy arrays of integers (float indices are cut)."""
    if isinstance(key, tuple):
        return tuple(host_key(k) for k in key)
    if isinstance(key, NDArray):
        key = key.asnumpy()
    if isinstance(key, list):
        key = np.asarray(key)
    if isinstance(key, np.ndarray) and key.dtype.kind == "f":
        return key.astype(np.int64)
    if isinstance(key, str | float | complex | dict):
        raise ArgumentTypeError(
            f"index: expected integers, slices, None, Ellipsis or arrays, got {key!r}"
        )
    return key


def get_item(x: NDArray, key: Any) -> NDArray:
    """Return ``x[key]``; selecting one element gives shape (1,).

    Raises:
        IndexError: if an index is out of bounds, or there are too many.
        ArgumentTypeError: for a key that is no index.
    """
    recorded = x._link is not None and recording.mode.get() & recording.RECORDING
    if isinstance(key, NDArray | list | np.ndarray) or not is_basic(key):
        key = host_key(key)
        if recorded:
            return _take_flat(x, key)
        return _copy_of(x, key)
    if recorded:
        return slice_by_key(x, key)
    selected = x._data[key]
    if not getattr(selected, "shape", ()):
        selected = x._data[(*key, ...) if isinstance(key, tuple) else (key, ...)].reshape(1)
    if selected.flags.c_contiguous:
        return NDArray(selected, Spec(selected.shape, x._spec.dtype), x._device, x._var)
    return _copy_of(x, key)


def _copy_of(x: NDArray, key: Any) -> NDArray:
    probe = np.broadcast_to(np.empty((), np.bool_), x.shape)[key]
    shape = probe.shape or (1,)
    result = empty_like_spec(Spec(shape, x._spec.dtype), x._device)
    result._write(lambda out: _assign(out, x._data[key]), [x], "getitem")
    return result


def _assign(out: Any, value: Any) -> None:
    out[...] = value


def slice_by_key(x: Any, key: Any) -> Any:
    """Return ``x[key]`` for a basic key, by the operators `slice` and `Reshape`; ``x`` may be a value of a graph."""
    begin, end, step, shape = resolve_basic(x.shape, key)
    slice_op = find_operator("slice")
    attrs = slice_op.schema.parse("slice", {"begin": begin, "end": end, "step": step})
    sliced = apply(slice_op, (x,), attrs) if x.shape else x
    return sliced if sliced.shape == shape else sliced.reshape(shape)


def resolve_basic(
    shape: Shape, key: Any
) -> tuple[tuple[int, ...], tuple[int | None, ...], tuple[int, ...], Shape]:
    """Return begin, end and step for every axis of ``shape``, and the shape that the key selects."""
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > len(shape):
        raise IndexError(f"index: expected at most {len(shape)} indices, got {used}")
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
            start, stop, stride = k.indices(extent)
            selected.append(len(range(start, stop, stride)))
            begin.append(start)
            end.append(None if stop < 0 else stop)
            step.append(stride)
        else:
            if not -extent <= k < extent:
                raise IndexError(
                    f"index {k} is out of bounds for axis {len(begin)} with size {extent}"
                )
            begin.append(int(k) % extent)
            end.append(int(k) % extent + 1)
            step.append(1)
    return tuple(begin), tuple(end), tuple(step), tuple(selected) or (1,)


def flat_positions(shape: Shape, key: Any) -> np.ndarray[Any, Any]:
    """Return, for each element that the key selects, its position in the flattened array."""
    size = int(np.prod(shape, dtype=np.int64))
    return np.arange(size, dtype=np.int64).reshape(shape)[key]


def _take_flat(x: NDArray, key: Any) -> NDArray:
    positions = flat_positions(x.shape, key)
    index = from_host(positions.reshape(positions.shape or (1,)), x.context, np.int64)
    take = find_operator("take")
    attrs = take.schema.parse("take", {"axis": 0, "mode": "clip"})
    result: NDArray = apply(take, (x.reshape(-1), index), attrs)
    return result


def set_item(x: NDArray, key: Any, value: Any) -> None:
    """Assign to the elements that the key selects, converting the value's dtype.

    Raises:
        AutogradError: if ``x`` is part of a graph that is being recorded.
        IndexError: if an index is out of bounds, or there are too many.
        ArgumentError: if the value does not broadcast to what is selected.
    """
    x._check_writable("item assignment")
    if not is_basic(key):
        key = host_key(key)
    reads = []
    if isinstance(value, NDArray):
        if value._device is not x._device:
            value = value.as_in_context(x.context)
        reads = [value]
        source = value._data
    elif isinstance(value, int | float | bool | np.generic):
        source = value
    else:
        value = lift(value, x)
        reads, source = [value], value._data
    _check_assignable(x, key, np.shape(source))
    x._write(lambda out: _set(out, key, source), reads, "setitem")


def _check_assignable(x: NDArray, key: Any, shape: Shape) -> None:
    selected = np.broadcast_to(np.empty((), np.bool_), x.shape)[key].shape
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


def _set(out: Any, key: Any, source: Any) -> None:
    out[key] = source
