"""What an NDArray can do beyond holding values, attached to the class: operators, indexing, copies, gradients, files.

These live in modules that need the class themselves, so the class cannot import them.
"""

from typing import Any

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import NotSupportedError
from gluonish.core.spec import Spec
from gluonish.ndarray import recording
from gluonish.ndarray.copying import as_in_context, copyto
from gluonish.ndarray.eager import invoke, record_call
from gluonish.ndarray.indexing import get_item, set_item
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.printing import array_repr
from gluonish.ops.fluent import Fluent, reshape_arguments
from gluonish.ops.reshape import RESHAPE, resolve_shape

__all__ = ["attach"]


def reshape(self: NDArray, *shape: Any, **kwargs: Any) -> NDArray:
    """Return a view of another shape on the same memory.

    Args:
        *shape: Extents, or one tuple of them. 0 keeps the extent at its place, -1 is found from the
            size, -2 keeps all remaining ones, -3 joins two, -4 splits one into the next two.
        **kwargs: ``shape`` by name; ``reverse``: match special extents from the right.

    Raises:
        OperatorError: if the sizes differ.
    """
    attrs = RESHAPE.schema.parse("reshape", reshape_arguments(shape, kwargs))
    target = resolve_shape(self.shape, attrs["shape"], attrs["reverse"])
    view = NDArray(
        self._data.reshape(target), Spec(target, self._spec.dtype), self._device, self._var
    )
    if self._link is not None and recording.mode.get() & recording.RECORDING:
        record_call(RESHAPE, (self,), attrs, (view,))
    return view


def astype(self: NDArray, dtype: Any, copy: bool = True) -> NDArray:
    """Return the values in another dtype; with ``copy=False`` the array itself if it has it already."""
    if not copy and normalize_dtype(dtype) == self._spec.dtype:
        return self
    cast: NDArray = Fluent.astype(self, dtype)
    return cast


def copy(self: NDArray) -> NDArray:
    """Return a copy on the same device."""
    return copyto(self, self.context)


def tostype(self: NDArray, stype: str) -> NDArray:
    """Return the array in another storage type; ``"default"`` is the only one so far.

    Raises:
        NotSupportedError: for a sparse storage type.
    """
    if stype != "default":
        raise NotSupportedError(
            f"tostype: expected 'default', got {stype!r}; sparse arrays are not there yet, keep the array dense"
        )
    return copy(self)


def attach() -> None:
    """Give `NDArray` its methods."""
    methods: dict[str, Any] = {
        "__apply__": staticmethod(invoke),
        "__getitem__": get_item,
        "__setitem__": set_item,
        "__repr__": array_repr,
        "as_in_context": as_in_context,
        "as_in_ctx": as_in_context,
        "astype": astype,
        "copy": copy,
        "copyto": copyto,
        "reshape": reshape,
        "tostype": tostype,
    }
    for name, method in methods.items():
        setattr(NDArray, name, method)


attach()
