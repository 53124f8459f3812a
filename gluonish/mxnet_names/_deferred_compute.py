"""Symbols of what operators computed on arrays, under MXNet 2.0's name ``_deferred_compute``.

Inside `context` every operator computes its arrays as usual, and is noted. `get_symbol` returns the
graph between arrays that `set_variable` named and others. `HybridBlock` does not need it: it
traces ``forward`` on arrays without values.
"""

from collections.abc import Sequence
from typing import Any
from weakref import ref

from gluonish.core.errors import ArgumentTypeError, GraphError
from gluonish.core.value_scope import ValueScope
from gluonish.graph.ir import Node, Value, base_name
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.recording import HOOKED
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol import NameManager, Symbol

__all__ = ["context", "get_symbol", "is_deferred_compute", "set_deferred_compute", "set_variable"]

# By id of the array, because `==` of arrays is an operator.
_values: dict[int, tuple[ref[NDArray], Value]] = {}


def _value_of(array: NDArray) -> Value | None:
    found = _values.get(id(array))
    return None if found is None else found[1]


def _set_value(array: NDArray, value: Value) -> None:
    key = id(array)
    _values[key] = ref(array, lambda _: _values.pop(key, None)), value


Arrays = Sequence[NDArray]


def _note(op: Operator, attrs: Attrs, inputs: Arrays, outputs: Arrays) -> None:
    """Record one operator: an array that no operator made is a constant of the graph."""
    name = NameManager.current.get(None, base_name(op))
    values = []
    for x in inputs:
        known = _value_of(x)
        values.append(Value(Node(None, "constant", array=x)) if known is None else known)
    node = Node(op, name, values, attrs)
    for i in range(node.num_visible):
        _set_value(outputs[i], Value(node, i))


def is_deferred_compute() -> bool:
    """Return whether operators of this thread are noted."""
    return recording.observer.get() is _note


def set_deferred_compute(state: bool) -> bool:
    """Set whether operators of this thread are noted; return the previous setting.

    Args:
        state: The setting.
    """
    before = is_deferred_compute()
    observer: Any = recording.observer
    observer.set(_note if state else None)
    mode = recording.mode.get()
    recording.mode.set(mode | HOOKED if state else mode & ~HOOKED)
    return before


class context(ValueScope):  # MXNet's name
    """Scope in which operators are noted for `get_symbol`.

    Args:
        state: Whether they are; False pauses inside another scope.

    Example:
        >>> import gluonish as mx
        >>> from gluonish import np
        >>> x = np.ones(2)
        >>> with mx._deferred_compute.context():
        ...     mx._deferred_compute.set_variable(x, mx.sym.var("x"))
        ...     y = x * 2 + 1
        >>> mx._deferred_compute.get_symbol([y]).list_arguments()
        ['x']
    """

    __slots__ = ("_state",)

    def __init__(self, state: bool = True) -> None:
        super().__init__()
        self._state = state

    def __enter__(self) -> None:
        mode = recording.mode.get()
        self._change(recording.observer, _note if self._state else None)
        self._change(recording.mode, mode | HOOKED if self._state else mode & ~HOOKED)

    def __exit__(self, *exc_info: object) -> None:
        self._restore()
        self._restore()


def _listed(what: str, given: Any, kind: type) -> list[Any]:
    found = [given] if isinstance(given, kind) else list(given)
    for one in found:
        if not isinstance(one, kind):
            raise ArgumentTypeError(
                f"{what}: expected {kind.__name__} objects, got {type(one).__name__}"
            )
    return found


def set_variable(arrays: Any, variables: Any) -> None:
    """Name the arrays that are inputs of the graph.

    Args:
        arrays: An array, or a list.
        variables: A variable, such as of ``mx.sym.var``, or a list of as many.

    Raises:
        ArgumentTypeError: Something else is among them, or the numbers differ.
    """
    named = _listed("set_variable", arrays, NDArray)
    symbols = _listed("set_variable", variables, Symbol)
    if len(named) != len(symbols):
        raise ArgumentTypeError(
            f"set_variable: expected a variable for each array, got {len(symbols)} for {len(named)}"
        )
    for array, symbol in zip(named, symbols, strict=True):
        _set_value(array, symbol._values[0])


def get_symbol(output_arrays: Any, *, sym_cls: type[Symbol] = Symbol) -> Symbol:
    """Return the graph that computed some arrays.

    Args:
        output_arrays: An array, or a list.
        sym_cls: Class of the result: `Symbol`, or that of ``mx.sym.np``.

    Raises:
        GraphError: No noted operator computed an array.
        ArgumentTypeError: An object is no array.
    """
    values = []
    for array in _listed("get_symbol", output_arrays, NDArray):
        value = _value_of(array)
        if value is None:
            raise GraphError(
                "get_symbol: expected arrays that operators computed inside of "
                "_deferred_compute.context(), got another one"
            )
        values.append(value)
    return sym_cls(values)
