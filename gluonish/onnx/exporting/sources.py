"""What can be exported: a Symbol with parameters, files of both, or a block, which is traced."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, GraphError, NotSupportedError
from gluonish.core.numpy_mode import is_np_array
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.tracing import is_symbolic
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.pytree import flatten
from gluonish.graph.trace import trace_forward
from gluonish.ndarray import NDArray, load, zeros
from gluonish.numpy.array import as_np_ndarray, ndarray
from gluonish.onnx.exporting.call import unread_inputs
from gluonish.onnx.exporting.tensors import Extent, OpenExtent
from gluonish.symbol import NameManager, Symbol, var
from gluonish.symbol import load as load_symbol

Shapes = Sequence[tuple[Extent, ...]]


class Source(NamedTuple):
    """A graph to export, with its parameters.

    Attributes:
        outputs: Outputs of the graph.
        inputs: Variables that callers of the network pass, in order.
        shapes: Shapes of the inputs.
        dtypes: Element types of the inputs.
        parameters: Arrays of the other variables, by name.
    """

    outputs: Sequence[Value]
    inputs: Sequence[Node]
    shapes: Shapes
    dtypes: Sequence[np.dtype[Any]]
    parameters: Mapping[str, NDArray]


def source_of(sym: Any, params: Any, shapes: Shapes, dtypes: Sequence[np.dtype[Any]]) -> Source:
    """Make a graph with parameters from the arguments of `export_model`.

    Args:
        sym: A Symbol, the path of a ``-symbol.json`` file, or a block.
        params: The arrays by name, with or without ``arg:`` and ``aux:``, several such dicts, or
            the path of a ``.params`` file; None for a block, which has its own.
        shapes: Shapes of the inputs.
        dtypes: Element types of the inputs: one for all, or one for each.

    Raises:
        ArgumentError: The number of shapes differs from the number of inputs.
        ArgumentTypeError: ``sym`` or ``params`` is something else.
    """
    if isinstance(sym, Block):
        return _traced(sym, _named(params), shapes, _for_each(dtypes, shapes))
    if isinstance(sym, str | bytes | os.PathLike):
        sym = load_symbol(sym)
    if not isinstance(sym, Symbol):
        raise ArgumentTypeError(
            "export_model: expected sym to be a Symbol, a block, or the path of a -symbol.json "
            f"file, got {type(sym).__name__}"
        )
    return _symbolic(sym, _named(params), shapes, dtypes)


def _named(params: Any) -> dict[str, NDArray]:
    if params is None:
        return {}
    if isinstance(params, str | bytes | os.PathLike):
        params = load(params)
    chunks = params if isinstance(params, list | tuple) else [params]
    found: dict[str, NDArray] = {}
    for chunk in chunks:
        if not isinstance(chunk, Mapping):
            raise ArgumentTypeError(
                "export_model: expected params to be a dict of arrays by name, a list of such "
                f"dicts, or the path of a .params file, got {type(chunk).__name__}"
            )
        for name, given in chunk.items():
            data: Any = getattr(given, "data", None)
            array: Any = data() if callable(data) else given
            found[name.removeprefix("arg:").removeprefix("aux:")] = array
    return found


def _for_each(dtypes: Sequence[np.dtype[Any]], shapes: Sequence[Any]) -> list[np.dtype[Any]]:
    if len(dtypes) == 1:
        return [dtypes[0]] * len(shapes)
    if len(dtypes) != len(shapes):
        raise ArgumentError(
            f"export_model: expected one of in_types for each of {len(shapes)} inputs, got "
            f"{len(dtypes)}"
        )
    return list(dtypes)


def _symbolic(
    sym: Symbol, params: Mapping[str, NDArray], shapes: Shapes, dtypes: Sequence[np.dtype[Any]]
) -> Source:
    variables = [node for node in sym._variables() if node.name not in params]
    read = {
        id(value.node)
        for node in topological_order(sym._values)
        if node.op is not None
        for i, value in enumerate(node.inputs)
        if i not in unread_inputs(node)
    } | {id(value.node) for value in sym._values}
    inputs = [node for node in variables if id(node) in read]
    if len(shapes) == len(variables) > len(inputs):  # a shape for each label, too
        kept = [i for i, node in enumerate(variables) if id(node) in read]
        if len(dtypes) == len(shapes):
            dtypes = [dtypes[i] for i in kept]
        shapes = [shapes[i] for i in kept]
    if len(shapes) != len(inputs):
        names = [node.name for node in inputs]
        raise ArgumentError(
            f"export_model: expected one of in_shapes for each input that is not in params, "
            f"{names[:20]}, got {len(shapes)}"
        )
    return Source(sym._values, inputs, shapes, _for_each(dtypes, shapes), params)


def _sample(shape: Sequence[Extent], dtype: np.dtype[Any]) -> NDArray:
    sizes = tuple(x.trials[0] if isinstance(x, OpenExtent) else x for x in shape)
    array = zeros(sizes, dtype=dtype)
    return as_np_ndarray(array) if is_np_array() else array


def _traced(
    block: Block,
    params: Mapping[str, NDArray],
    shapes: Shapes,
    dtypes: Sequence[np.dtype[Any]],
) -> Source:
    if not shapes:
        raise ArgumentError(
            f"export_model: expected in_shapes, from which {block.name} is traced, got none"
        )
    arrays = [_sample(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    if any(p._deferred_init is not None for p in block.collect_params().values()):
        block(*arrays)
    data, outputs = _trace(block, arrays)
    given = {id(node) for node in data}
    own = {p._full_name: p for p in block.collect_params().values()}
    target = [node.name for node in Symbol(outputs)._variables() if id(node) not in given]
    parameters = {name: params[name] if name in params else own[name].data() for name in target}
    used = {id(node) for node in Symbol(outputs)._variables()}
    kept = [i for i, node in enumerate(data) if id(node) in used]
    return Source(
        outputs,
        [data[i] for i in kept],
        [shapes[i] for i in kept],
        [dtypes[i] for i in kept],
        parameters,
    )


def _trace(block: Block, arrays: Sequence[NDArray]) -> tuple[Sequence[Node], Sequence[Value]]:
    """Trace a block: on Symbols if it supports them, else on arrays without values."""
    names = ["data"] if len(arrays) == 1 else [f"data{i}" for i in range(len(arrays))]
    if isinstance(block, HybridBlock) and is_symbolic(block):
        # Blocks that need arrays get arrays of the shapes of this call.
        with suppress(NotSupportedError), NameManager():
            return _trace_symbols(block, names, arrays)
    with NameManager():
        trace = trace_forward(block, names, arrays, _named_node)
    return trace.data, trace.outputs


def _trace_symbols(
    block: Block, names: Sequence[str], arrays: Sequence[NDArray]
) -> tuple[Sequence[Node], Sequence[Value]]:
    symbols = [
        var(name).as_np_ndarray() if isinstance(x, ndarray) else var(name)
        for name, x in zip(names, arrays, strict=True)
    ]
    leaves, _ = flatten(block(*symbols), lambda x: isinstance(x, Symbol))
    if not leaves:
        raise GraphError(f"export_model: expected {block.name} to return Symbols, got none")
    values = [value for symbol in leaves for value in symbol._values]
    return [symbol._values[0].node for symbol in symbols], values


def _named_node(word: str) -> str:
    return NameManager.current.get(None, word)
