"""Functions that combine a list of samples into a batch; `mx.gluon.data.batchify` is this module.

In a worker process each function allocates its arrays with the ``empty`` argument, in shared
memory, so that the batch reaches the main process without a copy.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import cpu, current_context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import brief, default_repr, object_repr
from gluonish.gluon.data.sequences import Pack
from gluonish.gluon.data.stacking import (
    Array,
    Empty,
    are_texts,
    as_array,
    batch_of_fields,
    batch_of_tuples,
    check_same_shape,
    columns_of,
    common_dtype,
    stack_on_host,
    stacked_numbers,
)
from gluonish.io.shared_batch import ndarray_view
from gluonish.ndarray import NDArray, array, concatenate
from gluonish.numpy.array import gluon_array

__all__ = [
    "Append",
    "AsList",
    "Group",
    "Pack",
    "Pad",
    "Stack",
    "default_batchify_fn",
    "default_mp_batchify_fn",
    "on_host",
]


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Stack samples along a new first axis.

    Args:
        data: Samples of one shape: NDArrays, NumPy arrays, PIL images, numbers, lists of numbers,
            texts, or tuples, named tuples or dicts of them.

    Returns:
        An NDArray of the samples' dtype (int64 for Python ints, float64 for floats); for texts a
        list of them; for tuples a list with one batch for each element of the tuple; for named
        tuples a named tuple of their class; for dicts a dict with one batch for each field.

    Raises:
        ArgumentError: Samples differ in shape, tuples in length, or dicts in their keys.
        ArgumentTypeError: Samples are neither arrays nor numbers.
    """
    if isinstance(data[0], tuple):
        return batch_of_tuples(data, default_batchify_fn)
    if isinstance(data[0], dict):
        return batch_of_fields(data, default_batchify_fn)
    if are_texts(data):
        return list(data)
    if isinstance(data[0], NDArray):
        check_same_shape(data)
        return concatenate([sample.reshape((1, *sample.shape)) for sample in data])
    return _on_current_device(stacked_numbers(data, np.empty))


def default_mp_batchify_fn(data: Sequence[Any]) -> Any:
    """Stack samples along a new first axis, in CPU memory, for worker processes.

    Args:
        data: As for `default_batchify_fn`.

    Returns:
        The same as `default_batchify_fn`, with NDArrays on the CPU.

    Raises:
        ArgumentError: Samples differ in shape, or tuples in length.
        ArgumentTypeError: Samples are neither arrays nor numbers.
    """
    return _as_ndarrays(stack_on_host(data))


def on_host(batchify_fn: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a version of ``batchify_fn`` that allocates its arrays with an ``empty`` argument.

    Returns:
        Function of the samples and ``empty``.
    """
    if batchify_fn in (default_batchify_fn, default_mp_batchify_fn):
        return lambda data, empty: _as_ndarrays(stack_on_host(data, empty))
    # A subclass may have another __call__.
    if type(batchify_fn) in (Stack, Pad, Pack, Append, Group):
        return batchify_fn.on_host  # type: ignore[attr-defined,no-any-return]  # of these classes
    return lambda data, empty: batchify_fn(data)


class Stack:
    """Stacks samples along a new first axis.

    Args:
        use_shared_mem: Accepted for programs of MXNet 2 without effect: workers always use shared
            memory.

    Inputs:
        data: a list of N samples of one shape: NDArrays, NumPy arrays or numbers.

    Outputs:
        batch: an NDArray of shape (N, ...) and the samples' dtype; for tuples a list of them.
    """

    __repr__ = default_repr

    def __init__(self, use_shared_mem: bool = False) -> None:
        self._use_shared_mem = use_shared_mem

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch.

        Args:
            data: List of the samples.
        """
        return self.on_host(data, np.empty)

    def on_host(self, data: Sequence[Any], empty: Empty) -> Any:
        """Return the batch as NumPy arrays, in memory from ``empty``."""
        return _as_ndarrays(stack_on_host(data, empty))


class Pad:
    """Pads samples at their ends to a common shape, and stacks them along a new first axis.

    Args:
        val: Value to pad with; None for 0.
        dtype: Element type of the batch; None for the samples' type.
        round_to: Round padded lengths up to multiples of this number, so that fewer different
            shapes occur; one number, or one for each axis.
        use_shared_mem: Accepted for programs of MXNet 2 without effect: workers always use shared
            memory.
        axis: The only axis to pad, as in GluonNLP; None for all axes.
        pad_val: GluonNLP's name for ``val``.
        ret_length: Whether to return the samples' lengths along ``axis`` (None: the first), too.

    Inputs:
        data: a list of N samples with the same number of axes: NDArrays, NumPy arrays or lists.

    Outputs:
        batch: an NDArray of shape (N, ...); with ``ret_length`` a tuple of it and an int32 NDArray
            of shape (N,). For samples that are tuples, a list with one for each position.

    Raises:
        ArgumentError: Samples differ in their number of axes, or along an axis that is not padded.
    """

    __repr__ = default_repr

    def __init__(
        self,
        val: float | None = None,
        dtype: Any = None,
        round_to: int | Sequence[int] | None = None,
        use_shared_mem: bool = False,
        *,
        axis: int | None = None,
        pad_val: float | None = None,
        ret_length: bool = False,
    ) -> None:
        if val is not None and pad_val is not None:
            raise ArgumentError(f"Pad: expected val or pad_val, got both: {val} and {pad_val}")
        steps = [] if round_to is None else np.atleast_1d(round_to).tolist()
        if any(step < 1 for step in steps):
            raise ArgumentError(f"Pad: expected round_to of 1 or more, got {round_to}")
        self._val = pad_val if val is None else val
        self._dtype = None if dtype is None else normalize_dtype(dtype)
        self._round_to = round_to
        self._axis = axis
        self._ret_length = ret_length
        self._use_shared_mem = use_shared_mem

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch.

        Args:
            data: List of the samples.
        """
        return self.on_host(data, np.empty)

    def on_host(self, data: Sequence[Any], empty: Empty) -> Any:
        """Return the batch as NumPy arrays, in memory from ``empty``."""
        if isinstance(data[0], tuple):
            return [self.on_host(column, empty) for column in columns_of(data)]
        samples = [as_array(sample) for sample in data]
        batch = empty((len(samples), *self._shape(samples)), self._dtype or common_dtype(samples))
        batch[...] = 0 if self._val is None else self._val
        for row, sample in zip(batch, samples, strict=True):
            row[tuple(slice(extent) for extent in sample.shape)] = sample
        if not self._ret_length:
            return ndarray_view(batch)
        lengths = empty((len(samples),), np.int32)
        lengths[...] = [sample.shape[self._axis or 0] for sample in samples]
        return ndarray_view(batch), ndarray_view(lengths)

    def _shape(self, samples: list[Array]) -> tuple[int, ...]:
        shapes = [sample.shape for sample in samples]
        ranks = {len(shape) for shape in shapes}
        if len(ranks) > 1:
            raise ArgumentError(
                f"Pad: expected samples with equally many axes, got shapes {sorted(set(shapes))}"
            )
        (rank,) = ranks
        padded = range(rank) if self._axis is None else (self._check_axis(rank),)
        steps = self._steps(rank)
        shape = []
        for axis, extents in enumerate(zip(*shapes, strict=True)):
            if axis not in padded and len(set(extents)) > 1:
                raise ArgumentError(
                    f"Pad: expected samples that differ along axis {self._axis} only, "
                    f"got shapes {sorted(set(shapes))}"
                )
            step = steps[axis] if axis in padded else 1
            shape.append(math.ceil(max(extents) / step) * step)
        return tuple(shape)

    def _check_axis(self, rank: int) -> int:
        axis = self._axis or 0
        if not -rank <= axis < rank:
            raise ArgumentError(f"Pad: expected samples with axis {axis}, got {rank} axes")
        return axis % rank

    def _steps(self, rank: int) -> list[int]:
        if self._round_to is None:
            return [1] * rank
        if isinstance(self._round_to, int):
            return [self._round_to] * rank
        if len(self._round_to) != rank:
            raise ArgumentError(
                f"Pad: expected round_to to be one number, or {rank}, one for each axis, "
                f"got {self._round_to}"
            )
        return list(self._round_to)


class Append:
    """Converts the samples to a list of arrays; their shapes may differ.

    Args:
        expand: Whether to add an axis of length 1 to each array.
        batch_axis: Index of the new axis.
        use_shared_mem: Accepted for programs of MXNet 2 without effect: workers always use shared
            memory.

    Inputs:
        data: a list of N samples: NDArrays, NumPy arrays, lists or numbers.

    Outputs:
        batch: a list of N NDArrays of the samples' dtypes.
    """

    __repr__ = default_repr

    def __init__(
        self, expand: bool = True, batch_axis: int = 0, use_shared_mem: bool = False
    ) -> None:
        self._expand = expand
        self._batch_axis = batch_axis
        self._use_shared_mem = use_shared_mem

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch.

        Args:
            data: List of the samples.
        """
        return self.on_host(data, np.empty)

    def on_host(self, data: Sequence[Any], empty: Empty) -> Any:
        """Return the batch as NumPy arrays, in memory from ``empty``."""
        return [self._one(as_array(sample), empty) for sample in data]

    def _one(self, sample: Array, empty: Empty) -> NDArray:
        values = np.expand_dims(sample, self._batch_axis) if self._expand else sample
        copy = empty(values.shape, common_dtype([values]))
        copy[...] = values
        return ndarray_view(copy)


class Group:
    """Batchifies samples that are tuples or dicts, with one function for each item.

    Args:
        fn: Batchify function of the first items; or a list or tuple with a function for each
            position; or, for samples that are dicts, a dict with a function for each field.
        *args: Batchify functions of the other items.

    Inputs:
        data: a list of tuples with as many items as there are functions; or of dicts, of which only
            the named fields are used.

    Outputs:
        batch: a tuple with the result of each function; for dicts a dict.

    Raises:
        ArgumentError: Functions are passed in both ways, or samples have another number of items.
        ArgumentTypeError: An argument is not callable.
    """

    def __init__(self, fn: Any, *args: Any) -> None:
        self._fields: tuple[Any, ...] | None = None
        if isinstance(fn, dict):
            self._fields, fn = tuple(fn), list(fn.values())
        if isinstance(fn, list | tuple):
            if args:
                raise ArgumentError(
                    "Group: expected a list of functions, or functions as arguments, got both"
                )
            self._functions = tuple(fn)
        else:
            self._functions = (fn, *args)
        for function in self._functions:
            if not callable(function):
                raise ArgumentTypeError(f"Group: expected functions, got {function!r}")

    def __repr__(self) -> str:
        return object_repr(self, *map(brief, self._functions))

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch.

        Args:
            data: List of the samples, which are tuples.
        """
        columns = self._columns(data)
        return self._named(
            fn(list(item)) for fn, item in zip(self._functions, columns, strict=True)
        )

    def on_host(self, data: Sequence[Any], empty: Empty) -> Any:
        """Return the batch as NumPy arrays, in memory from ``empty``."""
        columns = self._columns(data)
        return self._named(
            on_host(fn)(list(item), empty=empty)
            for fn, item in zip(self._functions, columns, strict=True)
        )

    def _named(self, batches: Iterable[Any]) -> Any:
        """Return the batches of the items as a tuple, or by the names of the fields."""
        return (
            tuple(batches)
            if self._fields is None
            else dict(zip(self._fields, batches, strict=True))
        )

    def _columns(self, data: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._fields is not None:
            for name in self._fields:
                if not all(isinstance(sample, dict) and name in sample for sample in data):
                    raise ArgumentError(
                        f"Group: expected dicts with a field {name!r}, got {data[0]!r}"
                    )
            return [tuple(sample[name] for sample in data) for name in self._fields]
        count = len(self._functions)
        lengths = {len(sample) for sample in data}
        if lengths != {count}:
            raise ArgumentError(
                f"Group: expected samples of {count} items, one for each function, "
                f"got {sorted(lengths)}"
            )
        return list(zip(*data, strict=True))


class AsList:
    """Returns the samples as a list, unchanged: for text and other samples that are not arrays.

    Inputs:
        data: a list of anything.

    Outputs:
        batch: the same list.
    """

    __repr__ = default_repr

    def __call__(self, data: Sequence[Any]) -> list[Any]:
        """Return the samples as a list.

        Args:
            data: The samples.
        """
        return list(data)


def _as_ndarrays(batch: Any) -> Any:
    if isinstance(batch, list):
        return [_as_ndarrays(item) for item in batch]
    if isinstance(batch, tuple):  # a named tuple
        return type(batch)(*map(_as_ndarrays, batch))
    if isinstance(batch, dict):
        return {name: _as_ndarrays(item) for name, item in batch.items()}
    return ndarray_view(batch) if isinstance(batch, np.ndarray) else batch


def _on_current_device(values: Array) -> NDArray:
    if current_context() == cpu():
        return ndarray_view(values)
    return gluon_array(array(values, dtype=values.dtype))
