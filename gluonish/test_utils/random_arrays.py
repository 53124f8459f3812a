"""Random arrays from the global generators, which ``np.random.seed`` and ``random.seed`` seed."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.creation import array
from gluonish.ndarray.ndarray import NDArray
from gluonish.test_utils.surroundings import default_context
from gluonish.test_utils.tolerances import default_dtype

normal = np.random.normal
permutation = np.random.permutation
rand = np.random.rand
randint = np.random.randint
randn = np.random.randn
uniform = np.random.uniform


Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def random_arrays(*shapes: Shape) -> Any:
    """Return NumPy arrays of standard normal float32 values; a single array for one shape.

    Args:
        *shapes: Shapes of the arrays.
    """
    arrays = [np.asarray(randn(*shape), default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes: Shape, **kwargs: Any) -> list[Array]:
    """Return a list of NumPy arrays of uniform values.

    Args:
        *shapes: Shapes of the arrays.
        **kwargs: ``low`` (0 by default), ``high`` (1), ``dtype`` (float32).

    Raises:
        ArgumentTypeError: A keyword is unknown.
    """
    low, high = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0)
    dtype = normalize_dtype(kwargs.pop("dtype", default_dtype()))
    if kwargs:
        raise ArgumentTypeError(
            f"random_uniform_arrays: expected low, high and dtype, got {sorted(kwargs)}"
        )
    return [np.asarray(uniform(low, high, shape)).astype(dtype) for shape in shapes]


def random_sample(population: Sequence[Any], k: int) -> list[Any]:
    """Return a random sample without replacement, as a list in random order.

    Args:
        population: Sequence to draw from.
        k: Number of elements to draw.

    Raises:
        ArgumentError: The population has fewer than ``k`` elements.
    """
    items = list(population)
    if not 0 <= k <= len(items):
        raise ArgumentError(f"random_sample: expected k in [0, {len(items)}], got {k}")
    return random.sample(items, k)


def assign_each(the_input: Array, function: Callable[[Any], Any] | None) -> Array:
    """Apply a function to each element; return a float64 array, or a copy without a function.

    Args:
        the_input: A NumPy array.
        function: Function called with an element; None copies the array.
    """
    if function is None:
        return np.array(the_input)
    values = [function(x) for x in the_input.reshape(-1)]
    return np.asarray(values, np.float64).reshape(the_input.shape)


def assign_each2(input1: Array, input2: Array, function: Callable[[Any, Any], Any] | None) -> Array:
    """Apply a function to pairs of elements; return a float64 array.

    Args:
        input1: A NumPy array.
        input2: A NumPy array of the same shape.
        function: Function called with two elements; None copies ``input1``.

    Raises:
        ArgumentError: The shapes differ.
    """
    if function is None:
        return np.array(input1)
    if input1.shape != input2.shape:
        raise ArgumentError(
            f"assign_each2: expected input2 of shape {input1.shape}, got {input2.shape}"
        )
    values = [function(x, y) for x, y in zip(input1.flat, input2.flat, strict=True)]
    return np.asarray(values, np.float64).reshape(input1.shape)


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> Shape:
    """Return a random shape of two axes.

    Args:
        dim0: Largest extent of the first axis.
        dim1: Largest extent of the second axis.
        allow_zero_size: Whether extents start at 0, not at 1.
    """
    return _shape((dim0, dim1), allow_zero_size)


def rand_shape_3d(
    dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False
) -> Shape:
    """Return a random shape of three axes.

    Args:
        dim0: Largest extent of the first axis.
        dim1: Largest extent of the second axis.
        dim2: Largest extent of the third axis.
        allow_zero_size: Whether extents start at 0, not at 1.
    """
    return _shape((dim0, dim1, dim2), allow_zero_size)


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> Shape:
    """Return a random shape.

    Args:
        num_dim: Number of axes.
        dim: Largest extent of each axis.
        allow_zero_size: Whether extents start at 0, not at 1.
    """
    return _shape((dim,) * num_dim, allow_zero_size)


def _shape(largest: Shape, allow_zero_size: bool) -> Shape:
    low = 0 if allow_zero_size else 1
    return tuple(int(randint(low, high + 1)) for high in largest)


def rand_coord_2d(x_low: int, x_high: int, y_low: int, y_high: int) -> tuple[int, int]:
    """Return random integers ``x`` in [x_low, x_high) and ``y`` in [y_low, y_high).

    Args:
        x_low: Minimum of x.
        x_high: Upper bound of x, exclusive.
        y_low: Minimum of y.
        y_high: Upper bound of y, exclusive.

    Raises:
        ArgumentError: A range is empty.
    """
    if x_low >= x_high or y_low >= y_high:
        raise ArgumentError(
            f"rand_coord_2d: expected low < high, got [{x_low}, {x_high}) and [{y_low}, {y_high})"
        )
    return int(randint(x_low, x_high)), int(randint(y_low, y_high))


def create_2d_tensor(rows: int, columns: int, dtype: Any = np.int64) -> NDArray:
    """Return an NDArray (rows, columns) in which each element equals its row index.

    Args:
        rows: Number of rows.
        columns: Number of columns.
        dtype: Element type.
    """
    numbers = np.broadcast_to(np.arange(rows)[:, None], (rows, columns))
    return array(numbers, default_context(), dtype)


def create_2d_np_tensor(rows: int, columns: int, dtype: Any = np.int64) -> NDArray:
    """Return an array of ``mx.np`` (rows, columns) in which each element equals its row index.

    Args:
        rows: Number of rows.
        columns: Number of columns.
        dtype: Element type.
    """
    return create_2d_tensor(rows, columns, dtype).as_np_ndarray()


def create_vector(size: int, dtype: Any = np.int64) -> NDArray:
    """Return an NDArray of 0, 1, ..., size - 1.

    Args:
        size: Number of elements.
        dtype: Element type.
    """
    return array(np.arange(size), default_context(), dtype)


def get_identity_mat(size: int) -> NDArray:
    """Return a float32 identity matrix as an NDArray.

    Args:
        size: Number of rows and columns.
    """
    return array(np.eye(size), default_context(), np.float32)


def get_identity_mat_batch(size: int) -> NDArray:
    """Return two float32 identity matrices as an NDArray (2, size, size).

    Args:
        size: Number of rows and columns.
    """
    return array(np.stack([np.eye(size)] * 2), default_context(), np.float32)
