"""The backend with which einops takes arrays of ``mx.nd`` and ``mx.np``.

einops selects a backend among the subclasses of its ``AbstractBackend``, so `register`, which
`gluonish` calls as soon as einops is imported, defines one. Arrays of ``mx.nd`` are processed as
``mx.np`` arrays on the same memory, in the recorded graph, since ``mx.nd`` has neither 0-d arrays
nor shapes with a size of 0 in `reshape`.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

import gluonish.numpy as mxnp
from gluonish.core.dtype import is_floating
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.array import ndarray
from gluonish.symbol.symbol import Symbol

__all__ = ["register"]

_REDUCTIONS = {
    name: getattr(mxnp, name) for name in ("min", "max", "sum", "mean", "prod", "any", "all")
}


def register(backends: ModuleType) -> None:
    """Define the backend.

    Args:
        backends: The module ``einops._backends``.
    """
    base: Any = backends.AbstractBackend
    members = {name: member for name, member in vars(_Methods).items() if not name.startswith("__")}
    # einops finds it among the subclasses of its base class, which it does not keep alive.
    backends.GluonishBackend = type(  # type: ignore[attr-defined]  # a new attribute
        "GluonishBackend", (base,), {"__module__": __name__, **members}
    )


def _like(x: NDArray, made: Any) -> Any:
    """Return an array in the namespace of another."""
    return made if isinstance(x, ndarray) else made.as_nd_ndarray()


class _Methods:
    """The methods of the backend; einops documents them in its ``AbstractBackend``."""

    framework_name = "gluonish"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Return whether a value is an array; a Symbol, too, whose shape names what is wrong."""
        return isinstance(tensor, NDArray | Symbol)

    def from_numpy(self, x: Any) -> Any:
        """Return an array with a copy of NumPy values."""
        return mxnp.array(x)

    def to_numpy(self, x: Any) -> Any:
        """Return the values as a NumPy array."""
        return x.asnumpy()

    def shape(self, x: Any) -> tuple[int, ...]:
        """Return the shape."""
        return tuple(x.shape)

    def arange(self, start: int, stop: int) -> Any:
        """Return the integers of a range."""
        return mxnp.arange(start, stop, dtype=np.int64)

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        """Return the elements in another shape."""
        return _like(x, mxnp.reshape(x.as_np_ndarray(), tuple(shape)))

    def transpose(self, x: Any, axes: Sequence[int]) -> Any:
        """Return the array with its axes in another order."""
        return _like(x, mxnp.transpose(x.as_np_ndarray(), tuple(axes)))

    def reduce(self, x: Any, operation: str, axes: Sequence[int]) -> Any:
        """Return a reduction over axes."""
        return _like(x, _REDUCTIONS[operation](x.as_np_ndarray(), axis=tuple(axes)))

    def stack_on_zeroth_dimension(self, tensors: Sequence[Any]) -> Any:
        """Stack arrays along a new first axis."""
        return _like(tensors[0], mxnp.stack([x.as_np_ndarray() for x in tensors]))

    def add_axis(self, x: Any, new_position: int) -> Any:
        """Return the array with a new axis of size 1."""
        return _like(x, mxnp.expand_dims(x.as_np_ndarray(), new_position))

    def tile(self, x: Any, repeats: Sequence[int]) -> Any:
        """Return the array repeated along each axis."""
        return _like(x, mxnp.tile(x.as_np_ndarray(), tuple(repeats)))

    def concat(self, tensors: Sequence[Any], axis: int) -> Any:
        """Concatenate arrays along an axis."""
        return _like(tensors[0], mxnp.concatenate([x.as_np_ndarray() for x in tensors], axis))

    def is_float_type(self, x: Any) -> bool:
        """Return whether the elements are floating."""
        return is_floating(np.dtype(x.dtype))

    def einsum(self, pattern: str, *x: Any) -> Any:
        """Return sums of products by Einstein's convention."""
        return _like(x[0], mxnp.einsum(pattern, *[one.as_np_ndarray() for one in x]))
