"""Stacking samples into batches, and samples that are created in the memory of their batch.

A transform that allocates its output with `new_sample` gets the sample's row of the batch, so that
stacking copies nothing.

The memory of rows is reused, unless a dataset that caches its samples keeps references to their
rows: then `Rows.are_referenced` is True.

Each function allocates its arrays with the ``empty`` argument; see `batchify`.
"""

import ctypes
import weakref
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.io.shared_batch import values_of
from gluonish.ndarray import NDArray
from gluonish.ops.kernel import address

Array = np.ndarray[Any, Any]


class Rows:
    """The rows of one batch's array, allocated when the first sample requests its row.

    Args:
        count: Number of samples in the batch.
        empty: Allocates memory of a shape and dtype.

    Attributes:
        are_batch: Whether `batch_of` returned the batch.
    """

    def __init__(self, count: int, empty: Callable[[tuple[int, ...], Any], Array]) -> None:
        self._count = count
        self._empty = empty
        self._memory: Array | None = None
        self._next: int | None = None
        self.are_batch = False
        self._leases: list[weakref.ref[Any]] = []

    def begin(self, number: int | None) -> None:
        """Set the row that the next `acquire` returns: the sample's index in the batch, or None."""
        self._next = number

    def acquire(self, shape: tuple[int, ...], dtype: Any) -> Array | None:
        """Return the current sample's row, once, if shape and dtype match those of the batch."""
        number, self._next = self._next, None
        if number is None:
            return None
        if self._memory is None:
            self._memory = self._empty((self._count, *shape), dtype)
        memory = self._memory
        if memory.shape[1:] != shape or memory.dtype != dtype or not memory.size:
            return None
        bytes_ = memory[number].reshape(-1).view(np.uint8)
        # A dedicated buffer object for the row stays alive as long as any view of the row.
        lease = (ctypes.c_ubyte * bytes_.nbytes).from_buffer(bytes_)
        self._leases.append(weakref.ref(lease))
        return np.ndarray(shape, dtype, lease)

    def batch_of(self, samples: Sequence[Array]) -> Array | None:
        """Return the batch if each of its samples is stored in its row; else None."""
        memory = self._memory
        if memory is None or len(samples) != self._count:
            return None
        expected, kind = address(memory), (memory.shape[1:], memory.dtype)
        for sample in samples:
            matches = (sample.shape, sample.dtype) == kind and sample.flags.c_contiguous
            if not matches or address(sample) != expected:
                return None
            expected += memory.strides[0]
        self.are_batch = True
        return memory

    @property
    def are_allocated(self) -> bool:
        """Whether a sample has requested its row."""
        return self._memory is not None

    @property
    def are_referenced(self) -> bool:
        """Whether something still refers to a sample, or to a view of one."""
        return any(lease() is not None for lease in self._leases)


# The rows of the batch that this thread is loading.
current: ContextVar[Rows | None] = ContextVar("gluonish_sample_rows", default=None)


def new_sample(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an uninitialized, C-contiguous array for a sample."""
    rows = current.get()
    row = None if rows is None else rows.acquire(shape, dtype)
    return np.empty(shape, dtype) if row is None else row


class Empty(Protocol):
    """A function like `numpy.empty`, which returns an uninitialized array."""

    def __call__(self, shape: tuple[int, ...], dtype: Any) -> Array:
        """Return an uninitialized array."""
        ...


def stack_on_host(data: Sequence[Any], empty: Empty = np.empty) -> Any:
    """Stack samples as `default_mp_batchify_fn` does; return NumPy arrays."""
    if isinstance(data[0], tuple):
        return batch_of_tuples(data, lambda column: stack_on_host(column, empty))
    if isinstance(data[0], dict):
        return batch_of_fields(data, lambda field: stack_on_host(field, empty))
    if are_texts(data):
        return list(data)
    if isinstance(data[0], NDArray):
        check_same_shape(data)
        samples = [values_of(sample) for sample in data]
        rows = current.get()
        in_rows = None if rows is None else rows.batch_of(samples)
        return _stacked(samples, empty) if in_rows is None else in_rows
    return stacked_numbers(data, empty)


def columns_of(data: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Transpose samples that are tuples: all first items, all second items, and so on.

    Raises:
        ArgumentError: The tuples differ in length, or a sample is not a tuple.
    """
    lengths = {len(sample) if isinstance(sample, tuple) else None for sample in data}
    if len(lengths) != 1:
        raise ArgumentError(
            f"default_batchify_fn: expected tuples of equal length, got lengths {lengths}"
        )
    return list(zip(*data, strict=True))


def batch_of_tuples(data: Sequence[Any], stack: Callable[[Sequence[Any]], Any]) -> Any:
    """Return the batch of samples that are tuples: a list of batches, one for each item.

    Args:
        data: The samples; for named tuples the batch is a named tuple of their class, except by
            the rules of MXNet.
        stack: Returns the batch of the values of one item.

    Raises:
        ArgumentError: The tuples differ in length, or named tuples in their class.
    """
    batches = [stack(column) for column in columns_of(data)]
    kind = type(data[0])
    if not hasattr(kind, "_fields") or follows_mxnet():
        return batches
    others = {type(sample).__name__ for sample in data if type(sample) is not kind}
    if others:
        raise ArgumentError(
            f"default_batchify_fn: expected named tuples of one class, {kind.__name__}, got "
            f"{', '.join(sorted(others))}"
        )
    return kind(*batches)


def batch_of_fields(data: Sequence[Any], stack: Callable[[list[Any]], Any]) -> dict[Any, Any]:
    """Return the batch of samples that are dicts: a dict of the batches of their fields.

    Args:
        data: The samples.
        stack: Returns the batch of the values of one field.

    Raises:
        ArgumentError: A sample is not a dict, or has other keys than the first; or the values of a
            field differ in shape.
        ArgumentTypeError: The values of a field are neither arrays, numbers nor texts.
    """
    names = data[0].keys()
    for sample in data:
        if not isinstance(sample, dict) or sample.keys() != names:
            found = sorted(map(str, sample)) if isinstance(sample, dict) else type(sample).__name__
            raise ArgumentError(
                f"default_batchify_fn: expected dicts with the keys {sorted(map(str, names))}, got "
                f"{found}"
            )
    batch = {}
    for name in names:
        try:
            batch[name] = stack([sample[name] for sample in data])
        except (ArgumentError, ArgumentTypeError) as error:
            text = str(error).replace("fn: ", f"fn: field {name!r}: ", 1)
            raise type(error)(text) from error
    return batch


def are_texts(data: Sequence[Any]) -> bool:
    """Whether samples are texts or lists of texts, which no array holds."""
    first = data[0]
    if isinstance(first, str | bytes):
        return all(isinstance(sample, str | bytes) for sample in data)
    if not isinstance(first, list):
        return False
    words = [word for sample in data if isinstance(sample, list) for word in sample]
    return bool(words) and all(isinstance(word, str | bytes) for word in words)


def check_same_shape(data: Sequence[Any]) -> None:
    """Check that samples are NDArrays of one shape.

    Raises:
        ArgumentTypeError: A sample is not an NDArray.
        ArgumentError: Shapes differ.
    """
    others = [sample for sample in data if not isinstance(sample, NDArray)]
    if others:
        raise ArgumentTypeError(
            f"default_batchify_fn: expected only NDArrays, got {type(others[0]).__name__}"
        )
    shapes = {sample.shape for sample in data}
    if len(shapes) > 1:
        raise ArgumentError(
            f"default_batchify_fn: expected samples of equal shape, got {sorted(shapes)}"
        )


def _stacked(samples: list[Array], empty: Empty) -> Array:
    batch = empty((len(samples), *samples[0].shape), common_dtype(samples))
    for i, sample in enumerate(samples):
        batch[i] = sample
    return batch


def stacked_numbers(data: Sequence[Any], empty: Empty) -> Array:
    """Stack NumPy arrays of one shape, or numbers.

    Args:
        data: The samples.
        empty: Allocates the array if the samples are arrays of one dtype.

    Raises:
        ArgumentError: Shapes differ.
        ArgumentTypeError: Samples are not numbers, or have a dtype that gluonish does not support.
    """
    first = data[0]
    if type(first) is np.ndarray and first.dtype.kind in "biufV":
        shape, dtype = first.shape, first.dtype
        if all(type(x) is np.ndarray and x.shape == shape and x.dtype == dtype for x in data):
            normalize_dtype(dtype.newbyteorder("="))
            return _stacked(list(data), empty)
    try:
        values = np.array(data)
    except ValueError as error:
        raise ArgumentError(
            f"default_batchify_fn: expected samples of equal shape, got {_extents_of(data)}"
        ) from error
    if values.dtype.kind in "biufV":
        normalize_dtype(values.dtype)
        return values
    kinds = ", ".join(dict.fromkeys(type(sample).__name__ for sample in data))
    raise ArgumentTypeError(
        f"default_batchify_fn: expected samples of numbers, got {kinds}; "
        "pass a batchify_fn to DataLoader for other samples"
    )


def _extents_of(data: Sequence[Any]) -> str:
    """Describe the shapes or lengths of samples that differ in them, for a message."""
    if all(isinstance(sample, list) for sample in data):
        lengths = sorted({len(sample) for sample in data})
        return f"lists of lengths {lengths}; batchify_fn=batchify.Pad() pads them"
    sizes = {getattr(sample, "shape", getattr(sample, "size", None)) for sample in data}
    known = sorted(size for size in sizes if size is not None)
    return repr(known if len(known) == len(sizes) else data)


def as_array(sample: Any) -> Array:
    """Return a sample as a NumPy array."""
    return values_of(sample) if isinstance(sample, NDArray) else np.asarray(sample)


def common_dtype(samples: list[Array]) -> np.dtype[Any]:
    """Return the dtype of a batch of samples: NumPy's promotion, in native byte order."""
    dtype: np.dtype[Any] = samples[0].dtype
    if any(sample.dtype != dtype for sample in samples):
        dtype = np.result_type(*samples)
    return dtype.newbyteorder("=")
