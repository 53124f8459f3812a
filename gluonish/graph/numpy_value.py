"""NumpyValue: a graph value with the semantics of ``mx.np``."""

from typing import Any

import numpy as np

from gluonish.graph.ir import VALUE_KINDS, Value
from gluonish.numpy.array import ndarray
from gluonish.numpy.array_methods import get_traced_item
from gluonish.numpy.methods import NumpyMethods


class NumpyValue(NumpyMethods, Value):  # type: ignore[misc]  # with NumPy's arguments
    """A value of a graph with NumPy's semantics; operators on it return such values."""

    __slots__ = ()
    __hash__ = object.__hash__

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of the elements."""
        return self.spec.dtype

    def __getitem__(self, key: Any) -> Any:
        return get_traced_item(self, key)

    def as_np_ndarray(self) -> "NumpyValue":
        """Return the value itself."""
        return self

    def as_nd_ndarray(self) -> Value:
        """Return the value with the semantics of ``mx.nd``."""
        return Value(self.node, self.index)


def as_np_value(value: Value) -> NumpyValue:
    """Return a value with the semantics of ``mx.np``."""
    return value if isinstance(value, NumpyValue) else NumpyValue(value.node, value.index)


def as_nd_value(value: Value) -> Value:
    """Return the value itself."""
    return value


Value.as_np_ndarray = as_np_value  # type: ignore[assignment, method-assign]  # avoids an import cycle
Value.as_nd_ndarray = as_nd_value  # type: ignore[assignment, method-assign]  # for the same calls on all values
VALUE_KINDS[ndarray] = NumpyValue
