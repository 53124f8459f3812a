"""Traced arrays: the arguments of a traced ``forward``, NDArrays without values.

Traced arrays have shape, dtype and context; operators on them append nodes to the graph. Access to
values or memory raises a `NoValuesError`, and the block runs without a graph: all access to data
goes through a few attributes, which raise the error here.

In-place arithmetic binds the same object to another value of the graph, unless the object may share
memory that the trace cannot follow: an argument, a parameter, or a view.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from gluonish.core.context import Context, current_context
from gluonish.core.errors import NoValuesError
from gluonish.core.spec import Shape, Spec
from gluonish.graph.ir import Value, append
from gluonish.graph.numpy_value import NumpyValue
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.numpy_operands import converted_inputs
from gluonish.numpy.array import ndarray
from gluonish.numpy.methods import NumpyMethods
from gluonish.ops.autocast import current
from gluonish.ops.fluent import Fluent
from gluonish.ops.registry import Attrs, Operator, find_operator

_NO_SLOTS: tuple[str, ...] = ()  # a mixin: its subclasses have the slots


def _dtype_of(x: Any) -> Any:
    return (x._spec if isinstance(x, NDArray) else x.spec).dtype


def _cast(x: Any, dtype: Any) -> Any:
    return append(find_operator("amp_cast"), (x,), {"dtype": dtype})


def _refuse(action: str) -> NoReturn:
    raise NoValuesError(
        f"{action}: expected a forward that uses only shapes and operators of its arrays, "
        "so that it can be traced, got one that needs their values or memory"
    )


class _Traced:
    """Base class of traced arrays; ``_value`` is the graph value, ``_fixed`` forbids writing."""

    __slots__ = _NO_SLOTS

    is_traced: ClassVar[bool] = True
    # Implementations of control flow; see `gluonish.graph.value_control_flow`.
    __control_flow__: ClassVar[Any] = None
    _value: Value
    _fixed: bool

    def __init__(self, value: Value, fixed: bool = False) -> None:
        self._value = value
        self._fixed = fixed

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
        inputs = converted_inputs(op, inputs) or inputs
        values: Sequence[Any] = [value_of(x) for x in inputs]
        policy = current()
        if policy is not None:
            values = policy.cast(op, values, attrs, list(map(_dtype_of, values)), _cast)
        results = as_traced(append(op, values, attrs))
        if op.identity:  # the result may be a view
            results._fixed = True
            for x in inputs:
                if isinstance(x, _Traced):
                    x._fixed = True
        if out is None:
            return results
        if not isinstance(out, _Traced) or isinstance(results, list):
            _refuse(f"{op.name} with out")
        return out._assigned(results)

    def _assigned(self, other: Any) -> Any:
        """Bind the array to the graph value of ``other``, as if its elements were copied."""
        if self._fixed or other._spec != self._spec:
            _refuse("writing to an array")
        self._value = other._value
        return self

    @property
    def _spec(self) -> Spec:
        return self._value.spec

    @property
    def shape(self) -> Shape:
        """Extents."""
        return self._value.spec.shape

    @property
    def context(self) -> Context:
        """The device that the graph is traced for."""
        return current_context()

    ctx = device = context

    def wait_to_read(self) -> None:
        """Do nothing: there are no pending writes."""

    wait_to_write = wait_to_read

    @property
    def _data(self) -> Any:
        _refuse("values")

    @property
    def _device(self) -> Any:
        _refuse("values")

    @property
    def _var(self) -> Any:
        _refuse("values")

    @property
    def _edge(self) -> None:
        return None

    @_edge.setter
    def _edge(self, link: object) -> None:
        _refuse("gradient")

    def __getitem__(self, key: Any) -> Any:
        keys = tuple(map(value_of, key)) if isinstance(key, tuple) else value_of(key)
        self._fixed = True  # the result may be a view
        return as_traced(self._value[keys], fixed=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        is_full = key is Ellipsis or (isinstance(key, slice) and key == slice(None))
        if not is_full or not isinstance(value, NDArray) or value.shape != self.shape:
            _refuse("writing to a slice of an array")
        same = value if value._spec == self._spec else value.astype(self._spec.dtype)
        self._assigned(as_traced(value_of(same)))

    def detach(self) -> Any:
        """Return the array, detached from its gradient."""
        return apply_named("BlockGrad", self)

    def copy(self, order: str = "C") -> Any:
        """Return a copy of the array.

        Args:
            order: Ignored; all arrays are in C order.
        """
        return apply_named("_copy", self)

    def as_in_context(self, context: Context) -> Any:
        """Return the array itself; the context must be that of the graph."""
        if context != self.context:
            _refuse(f"as_in_context({context})")
        return self

    as_in_ctx = to_device = as_in_context

    def as_np_ndarray(self) -> Any:
        """Return the array with NumPy's semantics."""
        return as_traced(self._value.as_np_ndarray(), self._fixed)

    def as_nd_ndarray(self) -> Any:
        """Return the array with the semantics of ``mx.nd``."""
        return as_traced(self._value.as_nd_ndarray(), self._fixed)


class TracedArray(_Traced, NDArray):  # type: ignore[misc, override]  # no memory
    """An NDArray without values."""

    __slots__ = ("_fixed", "_value")
    __hash__ = object.__hash__

    # The methods of NDArray return views.
    expand_dims = Fluent.expand_dims
    flatten = Fluent.flatten
    reshape = Fluent.reshape
    squeeze = Fluent.squeeze


class TracedNumpyArray(_Traced, NumpyMethods, ndarray):  # type: ignore[misc, override]  # no memory
    """An array of ``mx.np`` without values."""

    __slots__ = ("_fixed", "_value")
    __hash__ = object.__hash__

    reshape_view = Fluent.reshape


def apply_named(name: str, x: Any) -> Any:
    """Apply an operator without attributes; the result is not a view."""
    return as_traced(append(find_operator(name), (value_of(x),), {}))


def as_traced(value: Any, fixed: bool = False) -> Any:
    """Return the traced array of a graph value, or a list of them for a list.

    Args:
        value: The graph value or values.
        fixed: Whether to forbid writing to the arrays.
    """
    if isinstance(value, list):
        return [as_traced(item, fixed) for item in value]
    return (TracedNumpyArray if isinstance(value, NumpyValue) else TracedArray)(value, fixed)


def value_of(x: Any) -> Any:
    """Return the graph value of a traced array; return anything else unchanged."""
    return x._value if isinstance(x, _Traced) else x
