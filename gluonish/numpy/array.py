"""``mx.np.ndarray``: an NDArray with NumPy's semantics.

`gluonish.numpy.array_methods` attaches operators, methods and indexing, because they use the
functions of this package, which use the class.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gluonish.core.context import Context, parse_context
from gluonish.core.errors import ArgumentError
from gluonish.core.numpy_mode import is_np_array
from gluonish.ndarray.ndarray import GradientEdge, NDArray
from gluonish.numpy.printing import array_repr, array_str

__all__ = ["as_nd_ndarray", "as_np_ndarray", "gluon_array", "ndarray"]

if TYPE_CHECKING:
    from gluonish.numpy.attached import AttachedMethods  # a stub: `python -m tests.stubs`
else:
    AttachedMethods = NDArray


class ndarray(AttachedMethods):  # NumPy's name
    """A multi-dimensional array on a device, with NumPy's semantics.

    Create arrays with `np.array`, `np.zeros` and the like, not by calling the class. Scalars are
    arrays of shape (); comparisons return bool; dtypes are promoted as in NumPy; the default dtype
    is float32.

    Attributes:
        shape: The shape, a tuple of ints.
        dtype: NumPy dtype of the elements.
        ctx: The device.
        grad: Gradient buffer that `backward` writes; None without `attach_grad`.
    """

    __slots__ = ()
    _stays_connected = True
    __hash__ = object.__hash__

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements."""
        return self._spec.dtype

    @property
    def device(self) -> Context:
        """The device that holds the values: `context`."""
        return self._device.context

    def to_device(self, device: Context | str, stream: None = None) -> NDArray:
        """Return the array itself if it is on a device, else a copy on it.

        Args:
            device: The device, such as ``mx.gpu(0)`` or ``"gpu(0)"``.
            stream: Must be None: the engine orders the copy.

        Raises:
            ArgumentError: ``stream`` is not None.
        """
        if stream is not None:
            raise ArgumentError(f"to_device: expected stream None, got {stream!r}")
        return self.as_in_context(parse_context(device) or self.context)

    def __array_namespace__(self, api_version: str | None = None) -> ModuleType:
        """Return `gluonish.numpy.array_api`, the functions of the Python array API standard.

        Args:
            api_version: Version of the standard, such as ``"2024.12"``; None for the newest.

        Raises:
            ArgumentError: The version is unknown.
        """
        namespace: Any = sys.modules[str(__package__)].array_api  # loaded at its first use
        namespace.information.check_version(api_version)
        return namespace  # type: ignore[no-any-return]  # a module

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def connected(self, link: GradientEdge | None) -> NDArray:
        """Return an NDArray on the same memory with this producer on the tape."""
        return NDArray(self._data, self._spec, self._device, self._var, link)

    def as_nd_ndarray(self) -> NDArray:
        """Return an NDArray on the same memory, with the same gradient."""
        return NDArray(self._data, self._spec, self._device, self._var, self._edge)

    def as_np_ndarray(self) -> "ndarray":
        """Return the array itself."""
        return self

    def __repr__(self) -> str:
        return array_repr(self)

    def __str__(self) -> str:
        return array_str(self)

    def __format__(self, spec: str) -> str:
        return super().__format__(spec) if self.shape else format(self.item(), spec)


def as_np_ndarray(array: NDArray) -> ndarray:
    """Return an ``np`` array on an array's memory, with the same gradient."""
    if isinstance(array, ndarray):
        return array
    return ndarray(array._data, array._spec, array._device, array._var, array._edge)


def as_nd_ndarray(array: NDArray) -> NDArray:
    """Return an NDArray on an array's memory; return an NDArray of ``mx.nd`` unchanged."""
    return array.as_nd_ndarray() if isinstance(array, ndarray) else array


def gluon_array(array: NDArray) -> NDArray:
    """Return a dense array as an ``np`` array while `is_np_array` is on, else unchanged."""
    return as_np_ndarray(array) if type(array) is NDArray and is_np_array() else array


NDArray.as_np_ndarray = as_np_ndarray  # type: ignore[assignment, method-assign]  # NDArray cannot import ndarray
