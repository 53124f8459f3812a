"""The ``sym`` namespace: variables, and a function for every operator, made on first use."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.dtype import DTYPE_FLAGS, normalize_dtype
from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.core.loading import load
from gluonish.core.schema import format_attribute
from gluonish.graph.ir import Node, Value
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPE_NUMBERS
from gluonish.ops.frontend import (
    NUMPY_NAMESPACES,
    bind_arguments,
    docstring_of,
    make_function,
    signature_of,
)
from gluonish.ops.registry import Operator, all_names
from gluonish.symbol.name import HIDDEN_ATTRIBUTES, current_attributes, stored_attributes
from gluonish.symbol.symbol import Symbol, new_node

_NODE_PARAMETERS = (
    inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None),
    inspect.Parameter("attr", inspect.Parameter.KEYWORD_ONLY, default=None),
    inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None),
)
_NODE_DOCS = {
    "name": "Name of the node; generated if None.",
    "attr": "Attributes of the node, a dict of strings.",
    "out": "Accepted without effect.",
}
_made: dict[str, Callable[..., Any]] = {}


def var(
    name: str,
    attr: Mapping[str, str] | None = None,
    shape: Sequence[int] | None = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Any = None,
    stype: str | None = None,
    **kwargs: str,
) -> Symbol:
    """Create a variable: an input or a parameter of the graph.

    Args:
        name: Name of the variable.
        attr: Attributes, a dict of strings.
        shape: Declared shape; 0 marks an unknown size.
        lr_mult: Factor of the learning rate for this parameter.
        wd_mult: Factor of the weight decay for this parameter.
        dtype: Declared dtype.
        init: Initializer of this parameter: its name, its JSON, or an Initializer.
        stype: Storage type: ``"default"``, ``"row_sparse"`` or ``"csr"``.
        **kwargs: Further attributes, ``__key__="value"``.

    Raises:
        ArgumentTypeError: ``name`` or an attribute is not a string.

    Example:
        >>> import gluonish as mx
        >>> x = mx.sym.var("x", shape=(2, 3))
        >>> (x + 1).infer_shape()[1]
        [(2, 3)]
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"var: expected name to be a str, got {name!r}")
    extra = {**current_attributes(), **stored_attributes(attr)}
    if shape is not None:
        extra["__shape__"] = str((shape,) if isinstance(shape, int) else tuple(shape))
    if lr_mult is not None:
        extra["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        extra["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        extra["__dtype__"] = str(DTYPE_FLAGS[normalize_dtype(dtype)])
    if init is not None:
        extra["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        extra["__storage_type__"] = str(STORAGE_TYPE_NUMBERS[stype])
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ArgumentTypeError(f"var: expected attributes named __key__, got {key!r}")
        extra[key] = str(value)
    for key, value in extra.items():
        if not isinstance(value, str):
            raise ArgumentTypeError(f"var: expected attribute {key} to be a str, got {value!r}")
    return Symbol([Value(Node(None, name, extra=extra))])


Variable = var


def operator_function(name: str) -> Any:
    """Return the symbolic function of an operator, or the package ``np`` or ``npx``.

    This is the ``__getattr__`` of ``mx.sym``.

    Args:
        name: Name of the operator.

    Raises:
        AttributeError: There is no operator of this name.
    """
    made = _made.get(name)
    if made is not None:
        return made
    if name in NUMPY_NAMESPACES:  # their packages import this one
        return load(f"gluonish.symbol.{NUMPY_NAMESPACES[name]}")
    return make_function(name, _made, make_operator_function, "symbol")


def names() -> list[str]:
    """Return all names in ``mx.sym``, including the operators; this is its ``__dir__``."""
    return sorted({*vars(sys.modules["gluonish.symbol"]), *all_names()})


def make_operator_function(op: Operator, called: str) -> Callable[..., Symbol]:
    """Return the symbolic function of an operator.

    Args:
        op: The operator.
        called: Name of the function: the operator's own or an alias.
    """

    def function(
        *args: Any, name: str | None = None, attr: Mapping[str, str] | None = None, **kwargs: Any
    ) -> Symbol:
        kwargs.pop("out", None)
        hidden = {k: str(kwargs.pop(k)) for k in tuple(kwargs) if _is_node_attribute(k)}
        _drop_symbols(op, kwargs)
        inputs, attrs = bind_arguments(op, args, kwargs)
        given = _spelled(op, args, kwargs, attrs)
        extra = stored_attributes({**(attr or {}), **hidden})
        return new_node(op, inputs, attrs, given, name, extra, called.lower())

    function.__name__ = function.__qualname__ = called
    function.__module__ = "gluonish.symbol"
    function.__doc__ = docstring_of(op, _NODE_DOCS)
    function.__signature__ = signature_of(op, _NODE_PARAMETERS)  # type: ignore[attr-defined]
    return function


def _drop_symbols(op: Operator, kwargs: dict[str, Any]) -> None:
    """Drop Symbols from the arguments of an operator without inputs, as MXNet does.

    Raises:
        OperatorError: The operator has inputs, but none of that name.
    """
    if op.variadic is not None:
        return
    for name in [key for key, value in kwargs.items() if isinstance(value, Symbol)]:
        if name in op.inputs or op.schema.accepts(name):
            continue
        if op.inputs:
            raise OperatorError(
                f"{op.name}: expected Symbols for {', '.join(op.inputs)}, got one for {name!r}"
            )
        del kwargs[name]


def _is_node_attribute(name: str) -> bool:
    return name.startswith("__") or name in HIDDEN_ATTRIBUTES


def _spelled(
    op: Operator, args: Sequence[Any], kwargs: Mapping[str, Any], attrs: Mapping[str, Any]
) -> dict[str, str]:
    """Return the attributes of a call as strings, as MXNet writes them.

    None is omitted unless it is a valid value of the attribute.
    """
    raw = dict(kwargs)
    if op.variadic is None:
        raw |= dict(zip(op.schema.attributes, args[len(op.inputs) :], strict=False))
    else:
        raw[op.variadic] = attrs[op.variadic]
    raw |= {name: attrs[name] for name in op.optional.values() if attrs[name]}
    return {
        key: str(raw[key]) if _has_file_form(raw[key]) else format_attribute(attrs[key])
        for key in op.schema.attributes
        if key in raw and (raw[key] is not None or attrs[key] is None)
    }


def _has_file_form(value: Any) -> bool:
    """Whether files store a value as ``str(value)``."""
    if isinstance(value, list | tuple):
        return all(type(item) in (int, float) for item in value)
    return type(value) in (bool, int, float, str)
