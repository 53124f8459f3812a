"""Functions of ``np`` that need shapes, called on Symbols without shapes.

Such a call becomes a node with the function and its arguments as attributes. When the shapes are
known, in inference and in planning, the function runs on values with shapes, and the operators that
it applies replace the node.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import load
from gluonish.core.schema import Schema, integer, text
from gluonish.core.spec import Spec
from gluonish.graph.ir import Value, append, variable
from gluonish.numpy.array import ndarray
from gluonish.numpy.calls import pieces, source_maker
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.symbol.symbol import Symbol, new_node

_PACKAGE = "gluonish.numpy"
_INPUT = "$input"  # marks an array among the arguments


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, type | np.dtype):
        return np.dtype(value).name
    raise NotSupportedError(
        f"np: expected numbers, strings and Symbols for a function that needs shapes, got {value!r}"
    )


def _marked(value: Any, symbols: list[Symbol]) -> Any:
    """Return an argument as JSON data; Symbols in it are appended to ``symbols`` and numbered."""
    if isinstance(value, Symbol):
        symbols.append(value)
        return {_INPUT: len(symbols) - 1}
    if isinstance(value, list | tuple):
        return [_marked(item, symbols) for item in value]
    return value


def _filled(value: Any, inputs: Sequence[Any]) -> Any:
    if isinstance(value, dict):
        return inputs[value[_INPUT]]
    if isinstance(value, list):
        return tuple(_filled(item, inputs) for item in value)
    return value


def _chunk_count(splits: Any) -> int:
    return int(splits) if isinstance(splits, int | np.integer) else len(splits) + 1


_COUNTS: Mapping[str, Callable[..., int]] = {
    name: (lambda ary, indices_or_sections, axis=0: _chunk_count(indices_or_sections))
    for name in ("array_split", "split", "hsplit", "vsplit", "dsplit")
}


def deferred_call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return Symbols for the results of a function of ``np`` that runs once shapes are known.

    Args:
        function: A function of ``np`` or one of its submodules.
        args: Arguments of the function: Symbols, numbers, strings, and sequences of these.
        kwargs: Keyword arguments of the function.

    Returns:
        A Symbol, or a list of them if the function returns a list.
    """
    symbols: list[Symbol] = []
    options = {name: value for name, value in kwargs.items() if name != "out"}
    marked = [
        [_marked(value, symbols) for value in args],
        {name: _marked(value, symbols) for name, value in options.items()},
    ]
    name = function.__name__
    count = _COUNTS[name](*args, **options) if name in _COUNTS else 0
    attrs = {
        "function": f"{function.__module__}.{name}".removeprefix(f"{_PACKAGE}."),
        "arguments": json.dumps(marked, default=_number),
        "num_inputs": len(symbols),
        "num_outputs": count or 1,
    }
    made: Any = new_node(
        DEFERRED, symbols, attrs, DEFERRED.schema.to_strings(attrs), None, None, name
    ).as_np_ndarray()
    return list(made) if count else made


def _source(op: Operator, attrs: Attrs) -> Any:
    return append(op, (), attrs).as_np_ndarray()


def _expand(inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    """Return the results of the function on values or arrays."""
    module, _, name = attrs["function"].rpartition(".")
    if not name.isidentifier() or not all(map(str.isidentifier, module.split("."))):
        raise NotSupportedError(f"np: expected a function of np, got {attrs['function']!r}")
    namespace = load(f"{_PACKAGE}.{module}")
    if name not in namespace.__all__:
        raise NotSupportedError(f"np: expected a function of np, got {attrs['function']!r}")
    values = [x.as_np_ndarray() for x in inputs]
    args, kwargs = json.loads(attrs["arguments"])
    token = source_maker.set(None if isinstance(values[0], ndarray) else _source)
    try:
        result = getattr(namespace, name)(
            *[_filled(value, values) for value in args],
            **{key: _filled(value, values) for key, value in kwargs.items()},
        )
    finally:
        source_maker.reset(token)
    return pieces(result)


def _infer(*inputs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    values = [variable(f"data{i}", spec, kind=ndarray) for i, spec in enumerate(inputs)]
    return tuple(value.spec for value in _expand(values, attrs) if isinstance(value, Value))


def _kernel(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
    raise NotSupportedError("np: expected a graph of known shapes, got unknown ones")


def _gradient(g: Any, *inputs: Any, **attrs: Any) -> tuple[Any, ...]:
    raise NotSupportedError("np: expected a graph of known shapes, got unknown ones")


DEFERRED = register(
    Operator(
        "_gluonish_np_function",
        _infer,
        _kernel,
        _gradient,
        doc="Result of a function of np, which is called when the shapes of its inputs are known.",
        schema=Schema(
            function=text(),
            arguments=text(),
            num_inputs=integer(low=1),
            num_outputs=integer(1, low=1),
        ),
        variadic="num_inputs",
        outputs=lambda attrs: attrs["num_outputs"],
        output_names=("output",),
        shapes=ShapeFacts(expand=_expand),
    )
)
