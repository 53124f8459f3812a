"""From a call in NumPy's style to an operator: which values it takes, and who runs it.

The functions of this package know operators by name only. What they are given decides what
happens: an `ndarray` computes, a value of a trace or a Symbol becomes a node of a graph.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.numpy.array import ndarray
from gluonish.ops.registry import Attrs, Operator, apply, find_operator

__all__ = [
    "NUMBERS",
    "as_value",
    "axis_in",
    "call",
    "call_list",
    "check_order",
    "chosen",
    "create",
    "from_official",
    "host_values",
    "is_value",
    "official",
    "pieces",
    "run",
    "source_maker",
    "whole_numbers",
]

NUMBERS = (int, float, np.number, np.bool_)
_NOTHING: Mapping[str, Any] = MappingProxyType({})

# Makes the value of an operator without inputs where that is not an array: a Symbol.
source_maker: ContextVar[Callable[[Operator, Attrs], Any] | None] = ContextVar(
    "gluonish_numpy_source_maker", default=None
)


def is_value(x: Any) -> bool:
    """Whether operators apply to a value: array, value of a trace, Symbol."""
    return hasattr(x, "__apply__")


def host_values(given: Any) -> Any:
    """Return an argument that may be an array of ``np`` as what NumPy takes.

    Whole numbers, which such an array holds as floats unless it is given a dtype, become ints.
    """
    if not isinstance(given, NDArray) or given.is_traced:
        return given
    values = given.asnumpy()
    whole = is_floating(values.dtype) and np.isfinite(values).all() and not (values % 1).any()
    return values.astype(np.int64) if whole else values


def whole_numbers(given: Any, what: str, name: str) -> tuple[int, ...]:
    """Return an argument of one or several ints, which may be an array, as a tuple.

    Raises:
        ArgumentTypeError: It holds something else.
    """
    try:
        values = np.asarray(host_values(given))
    except ValueError:
        values = np.asarray(None)
    if values.ndim > 1 or (values.dtype.kind not in "biu" and values.size):
        raise ArgumentTypeError(f"{what}: expected {name} of one or several ints, got {given!r}")
    return tuple(int(n) for n in values.reshape(-1))


def from_official(values: Any, context: Context | None = None, dtype: Any = None) -> ndarray:
    """Return an array with a copy of NumPy's values; the dtype is kept unless given."""
    array = from_host(np.asarray(values), context, dtype, ndarray)
    assert isinstance(array, ndarray)
    return array


def as_value(x: Any, what: str, context: Context | None = None) -> Any:
    """Return an argument as the input of an operator.

    Args:
        x: Array, value of a trace, Symbol, or an array of NumPy's, which is copied.
        what: The function, for the error.
        context: Where a copy is made; the current context by default.

    Raises:
        ArgumentTypeError: It is something else, or an array of the ``nd`` face.
    """
    if isinstance(x, NDArray) and not isinstance(x, ndarray):
        raise ArgumentTypeError(
            f"{what}: expected arrays of mx.np, got an NDArray; call as_np_ndarray() on it"
        )
    if hasattr(x, "__apply__"):
        return x
    if isinstance(x, np.ndarray):
        return from_official(x, context)
    raise ArgumentTypeError(f"{what}: expected an array, got {type(x).__name__}")


def _values(inputs: Sequence[Any], what: str) -> list[Any]:
    context = None
    for x in inputs:
        if isinstance(x, NDArray):
            context = x.context
            break
    return [x if type(x) is ndarray else as_value(x, what, context) for x in inputs]


def run(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
    """Apply an operator to values, into ``out`` where arrays have one (graphs ignore it)."""
    if out is None or not isinstance(inputs[0], NDArray):
        return apply(op, inputs, attrs)
    if not isinstance(out, NDArray):
        raise ArgumentTypeError(f"{op.name}: expected out to be an array, got {type(out).__name__}")
    return invoke(op, inputs, attrs, out)


def call(
    name: str,
    inputs: Sequence[Any],
    given: Mapping[str, Any] = _NOTHING,
    out: Any = None,
    what: str | None = None,
) -> Any:
    """Apply an operator.

    Args:
        name: Registry name.
        inputs: What `as_value` takes.
        given: Attributes, as a user gives them.
        out: Array for the result.
        what: The function, for errors; the operator by default.

    Raises:
        ArgumentTypeError: An input is no array.
        OperatorError: The operator refuses inputs or attributes.
    """
    op = find_operator(name)
    values = _values(inputs, what or name)
    return run(op, values, op.schema.parse(what or name, given), out)


def call_list(
    name: str,
    arrays: Any,
    given: Mapping[str, Any] = _NOTHING,
    out: Any = None,
    what: str | None = None,
) -> Any:
    """Apply an operator that takes any number of arrays; arguments of `call`.

    Raises:
        ArgumentError: There are no arrays.
    """
    what = what or name
    if is_value(arrays) or not hasattr(arrays, "__iter__"):
        raise ArgumentTypeError(f"{what}: expected a sequence of arrays, got {arrays!r}")
    listed = list(arrays)
    if not listed:
        raise ArgumentError(f"{what}: expected at least one array, got none")
    return call(name, listed, {**given, "num_args": len(listed)}, out, what)


def official(name: str, *args: Any) -> Any:
    """Have NumPy's function of this name compute from numbers.

    Raises:
        ArgumentError: NumPy refuses them.
    """
    try:
        return getattr(np, name)(*[x.asnumpy() if isinstance(x, NDArray) else x for x in args])
    except (TypeError, ValueError, IndexError, OverflowError, MemoryError) as error:
        raise ArgumentError(f"{name}: expected what NumPy takes, got {args} ({error})") from error


def axis_in(axis: Any, rank: int, what: str) -> int:
    """Return an axis counted from 0.

    Raises:
        ArgumentError: It is no int in [-rank, rank).
    """
    if not isinstance(axis, int | np.integer) or not -rank <= axis < rank:
        raise ArgumentError(f"{what}: expected an axis in [-{rank}, {rank}), got {axis!r}")
    return int(axis) % rank


def pieces(result: Any) -> list[Any]:
    """Return several outputs as a list, which an operator with a single output gives bare."""
    several = isinstance(result, list | tuple) or hasattr(result, "list_outputs")
    return list(result) if several else [result]


def create(
    name: str,
    given: Mapping[str, Any],
    ctx: Context | str | None = None,
    out: Any = None,
    what: str | None = None,
) -> Any:
    """Run an operator without inputs: creation, and random numbers with fixed parameters.

    Args:
        name: Registry name.
        given: Attributes.
        ctx: Device; the current context by default.
        out: Array for the result.
        what: The function, for errors.
    """
    op = find_operator(name)
    attrs = op.schema.parse(what or name, given)
    make = source_maker.get()
    if make is not None:
        return make(op, attrs)
    return source(op, attrs, ctx, out).as_np_ndarray()


def chosen(dtype: Any, default: str = "float32") -> Any:
    """Return a dtype, or the default where None was given."""
    return default if dtype is None else dtype


def check_order(what: str, order: str, allowed: str = "C") -> None:
    """Refuse a memory order that arrays do not have.

    Raises:
        NotSupportedError: It is not one of ``allowed``.
    """
    if not isinstance(order, str) or order not in tuple(allowed):
        raise NotSupportedError(f"{what}: expected order in {list(allowed)}, got {order!r}")
