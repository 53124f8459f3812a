"""Call operators from NumPy-style functions: conversion of arguments, and dispatch.

The functions of this package refer to operators by name. The class of the inputs decides what
happens: an `ndarray` computes; a traced value or a Symbol adds a node to a graph.

Also sets the signatures and docstrings of generated functions.
"""

import ast
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import is_floating, promote
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.core.numpy_mode import is_np_default_dtype
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish.numpy.array import ndarray
from gluonish.ops.registry import Attrs, Operator, apply, find_operator

__all__ = [
    "NUMBERS",
    "as_ints",
    "as_tuple",
    "as_value",
    "as_value_or_listed",
    "axis_in",
    "call",
    "call_list",
    "check_order",
    "chosen",
    "create",
    "from_official",
    "host_values",
    "is_value",
    "name_function",
    "official",
    "parse_signature",
    "pieces",
    "promoted",
    "run",
    "source_maker",
]

NUMBERS = (int, float, np.number, np.bool_)
_NOTHING: Mapping[str, Any] = MappingProxyType({})

# Creates the output of an operator without inputs as a Symbol; None: as an array.
source_maker: ContextVar[Callable[[Operator, Attrs], Any] | None] = ContextVar(
    "gluonish_numpy_source_maker", default=None
)


def is_value(x: Any) -> bool:
    """Whether operators apply to a value: an array, a traced value or a Symbol."""
    return hasattr(x, "__apply__")


def host_values(x: Any) -> Any:
    """Return an array argument as a NumPy array, other arguments unchanged.

    An array of integral floats becomes int64, since arrays of ints are float32 by default.
    """
    if not isinstance(x, NDArray) or x.is_traced:
        return x
    values = x.asnumpy()
    integral = is_floating(values.dtype) and np.isfinite(values).all() and not (values % 1).any()
    return values.astype(np.int64) if integral else values


def as_ints(x: Any, what: str, name: str) -> tuple[int, ...]:
    """Convert an int, several ints or an array of ints to a tuple of ints.

    Raises:
        ArgumentTypeError: An element is not an int.
    """
    try:
        values = np.asarray(host_values(x))
    except ValueError:
        values = np.asarray(None)
    if values.ndim > 1 or (values.dtype.kind not in "biu" and values.size):
        raise ArgumentTypeError(f"{what}: expected {name} of one or several ints, got {x!r}")
    return tuple(int(n) for n in values.reshape(-1))


def from_official(values: Any, context: Context | None = None, dtype: Any = None) -> ndarray:
    """Copy NumPy values to an array, by default of the same dtype."""
    array = from_host(np.asarray(values), context, dtype, ndarray)
    assert isinstance(array, ndarray)
    return array


def as_value(x: Any, what: str, context: Context | None = None) -> Any:
    """Return an argument as the input of an operator.

    Args:
        x: Array, traced value, Symbol, or NumPy array, which is copied.
        what: Name of the function, for the error.
        context: Device of a copy; the current context by default.

    Raises:
        ArgumentTypeError: The argument has another type; by the rules of MXNet 1.9, an NDArray of
            ``mx.nd`` is rejected, too.
    """
    if isinstance(x, NDArray) and not isinstance(x, ndarray):
        if follows_mxnet1() or x.stype != "default":
            raise ArgumentTypeError(
                f"{what}: expected arrays of mx.np, got an NDArray; call as_np_ndarray() on it"
            )
        return x.as_np_ndarray()  # of traced arrays, too
    if hasattr(x, "__apply__"):
        return x
    if isinstance(x, np.ndarray):
        return from_official(x, context)
    raise ArgumentTypeError(f"{what}: expected an array, got {type(x).__name__}")


def as_value_or_listed(x: Any, what: str) -> Any:
    """Return an argument as `as_value` does; numbers and nested lists of them as an array, too."""
    if isinstance(x, (list, tuple, *NUMBERS)):
        return from_official(np.asarray(x))
    return as_value(x, what)


def _values(inputs: Sequence[Any], what: str) -> list[Any]:
    context = None
    for x in inputs:
        if isinstance(x, NDArray):
            context = x.context
            break
    return [x if type(x) is ndarray else as_value(x, what, context) for x in inputs]


def run(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
    """Apply an operator to values; store the result in ``out``, which graphs ignore."""
    if out is None or not isinstance(inputs[0], NDArray):
        return apply(op, inputs, attrs)
    if not isinstance(out, NDArray):
        raise ArgumentTypeError(f"{op.name}: expected out to be an array, got {type(out).__name__}")
    return invoke(op, inputs, attrs, out)


def call(
    name: str,
    inputs: Sequence[Any],
    params: Mapping[str, Any] = _NOTHING,
    out: Any = None,
    what: str | None = None,
) -> Any:
    """Apply an operator.

    Args:
        name: Registry name.
        inputs: Values that `as_value` accepts.
        params: Attributes, not parsed yet.
        out: Array to store the result in.
        what: Name of the function, for errors; the operator by default.

    Raises:
        ArgumentTypeError: An input is not an array.
        OperatorError: The operator does not support the inputs or attributes.
    """
    op = find_operator(name)
    values = _values(inputs, what or name)
    return run(op, values, op.schema.parse(what or name, params), out)


def call_list(
    name: str,
    arrays: Any,
    params: Mapping[str, Any] = _NOTHING,
    out: Any = None,
    what: str | None = None,
) -> Any:
    """Apply an operator with a variable number of inputs; arguments as for `call`.

    Raises:
        ArgumentError: There are no arrays.
    """
    what = what or name
    if is_value(arrays) or not hasattr(arrays, "__iter__"):
        raise ArgumentTypeError(f"{what}: expected a sequence of arrays, got {arrays!r}")
    listed = list(arrays)
    if not listed:
        raise ArgumentError(f"{what}: expected at least one array, got none")
    return call(name, listed, {**params, "num_args": len(listed)}, out, what)


def official(name: str, *args: Any) -> Any:
    """Call NumPy's function of this name with numbers.

    Raises:
        ArgumentError: NumPy raised an error.
    """
    try:
        return getattr(np, name)(*[x.asnumpy() if isinstance(x, NDArray) else x for x in args])
    except (TypeError, ValueError, IndexError, OverflowError, MemoryError) as error:
        raise ArgumentError(
            f"{name}: expected arguments valid for NumPy, got {args} ({error})"
        ) from error


def promoted(what: str, values: Sequence[Any]) -> list[Any]:
    """Return arrays cast to their common dtype; other values unchanged.

    Raises:
        ArgumentTypeError: There is no common dtype.
    """
    dtypes = {np.dtype(x.dtype) for x in values if hasattr(x, "dtype")}
    if len(dtypes) < 2:
        return list(values)
    common = functools.reduce(promote, dtypes)
    return [x.astype(common, copy=False) if hasattr(x, "dtype") else x for x in values]


def axis_in(axis: Any, rank: int, what: str) -> int:
    """Convert an axis to its non-negative index.

    Raises:
        ArgumentError: The axis is not an int in [-rank, rank).
    """
    if not isinstance(axis, int | np.integer) or not -rank <= axis < rank:
        raise ArgumentError(f"{what}: expected an axis in [-{rank}, {rank}), got {axis!r}")
    return int(axis) % rank


def pieces(result: Any) -> list[Any]:
    """Return an operator's outputs as a list, even if there is only one."""
    several = isinstance(result, list | tuple) or hasattr(result, "list_outputs")
    return list(result) if several else [result]


def as_tuple(result: Any) -> Any:
    """Return several outputs in a tuple, as NumPy does; those of MXNet 1.9 are in a list."""
    return tuple(result) if isinstance(result, list) and not follows_mxnet1() else result


def create(
    name: str,
    params: Mapping[str, Any],
    ctx: Context | str | None = None,
    out: Any = None,
    what: str | None = None,
) -> Any:
    """Run an operator without inputs, such as a creation or sampling operator; see `call`."""
    op = find_operator(name)
    attrs = op.schema.parse(what or name, params)
    make = source_maker.get()
    if make is not None:
        return make(op, attrs)
    return source(op, attrs, ctx, out).as_np_ndarray()


def chosen(dtype: Any, default: str = "float32") -> Any:
    """Return ``dtype``, or the default if it is None."""
    if dtype is not None:
        return dtype
    return "float64" if default == "float32" and is_np_default_dtype() else default


def check_order(what: str, order: str, allowed: str = "C") -> None:
    """Reject an unsupported memory order.

    Raises:
        NotSupportedError: The order is not one of ``allowed``.
    """
    if not isinstance(order, str) or order not in tuple(allowed):
        raise NotSupportedError(f"{what}: expected order in {list(allowed)}, got {order!r}")


_Parameter = inspect.Parameter


def _default(node: ast.expr | None) -> Any:
    return _Parameter.empty if node is None else ast.literal_eval(node)


def parse_signature(text: str) -> inspect.Signature:
    """Parse a parameter list such as ``"a, axis=None, *, keepdims=False"`` to a signature."""
    definition = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    found = definition.args
    without = len(found.args) - len(found.defaults)
    parameters = [
        _Parameter(
            arg.arg,
            _Parameter.POSITIONAL_OR_KEYWORD,
            default=_default(found.defaults[i - without] if i >= without else None),
        )
        for i, arg in enumerate(found.args)
    ]
    if found.vararg:
        parameters.append(_Parameter(found.vararg.arg, _Parameter.VAR_POSITIONAL))
    parameters += [
        _Parameter(arg.arg, _Parameter.KEYWORD_ONLY, default=_default(node))
        for arg, node in zip(found.kwonlyargs, found.kw_defaults, strict=True)
    ]
    if found.kwarg:
        parameters.append(_Parameter(found.kwarg.arg, _Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def name_function(
    function: Callable[..., Any],
    name: str,
    doc: str,
    signature: inspect.Signature | None = None,
    module: str = "gluonish.numpy",
) -> Callable[..., Any]:
    """Set name, docstring and signature of a generated function, and return it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__module__ = module
    if signature is not None:
        function.__signature__ = signature  # type: ignore[attr-defined]
    return function
