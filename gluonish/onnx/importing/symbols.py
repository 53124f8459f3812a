"""A model as a Symbol: its program traced on arrays that have the declared shapes and no values."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.spec import Spec
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.trace import trace_forward
from gluonish.ndarray import NDArray
from gluonish.onnx.importing.block import OnnxBlock
from gluonish.onnx.importing.models import Declared, Model
from gluonish.symbol import NameManager, Symbol

__all__ = ["Composed", "compose", "declared_specs"]


class Composed(NamedTuple):
    """A model as a Symbol.

    Attributes:
        symbol: Its outputs.
        inputs: Names of the variables that a call gives.
        arguments: What the others hold, by name.
        auxiliary: The states that training updates, by name.
        trained: Names of the arguments that training changes; the rest are constants.
    """

    symbol: Symbol
    inputs: Sequence[str]
    arguments: Mapping[str, NDArray]
    auxiliary: Mapping[str, NDArray]
    trained: frozenset[str]


class _Planned:
    """What a trace needs to know of an argument."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec


def declared_specs(
    model: Model, shapes: Mapping[str, Sequence[int]], what: str
) -> list[tuple[str, Spec]]:
    """Return names and specs of a model's inputs.

    Args:
        model: The model.
        shapes: Shapes by name, for inputs of which the file does not say them.
        what: Who asks, to begin error messages with.

    Raises:
        ArgumentError: A shape is of no input, or not what the file says.
        NotSupportedError: A shape is not known, or an input is a sequence.
    """
    unknown = set(shapes) - {given.name for given in model.inputs}
    if unknown:
        raise ArgumentError(
            f"{what}: expected shapes of {[x.name for x in model.inputs]}, got {sorted(unknown)}"
        )
    return [(x.name, _spec(x, shapes.get(x.name), what)) for x in model.inputs]


def _spec(declared: Declared, given: Sequence[int] | None, what: str) -> Spec:
    if declared.kind != "tensor" or declared.element is None:
        raise NotSupportedError(
            f"{what}: expected input {declared.name!r} to be an array of a known type, got "
            f"{declared.kind}; import_to_gluon takes it"
        )
    shape = declared.shape if given is None else tuple(int(extent) for extent in given)
    if shape is None or None in shape:
        raise NotSupportedError(
            f"{what}: expected a known shape of input {declared.name!r}, got {shape}; say it in "
            "input_shapes, or use import_to_gluon"
        )
    extents = tuple(extent for extent in shape if extent is not None)
    if declared.shape is not None and not _fits(extents, declared.shape):
        raise ArgumentError(
            f"{what}: expected a shape like {declared.shape} for {declared.name!r}, got {extents}"
        )
    return Spec(extents, declared.element.dtype)


def _fits(shape: Sequence[int], declared: Sequence[int | None]) -> bool:
    if len(shape) != len(declared):
        return False
    return all(b is None or a == b for a, b in zip(shape, declared, strict=True))


def compose(model: Model, specs: Sequence[tuple[str, Spec]]) -> Composed:
    """Return a model as a Symbol.

    Args:
        model: The model.
        specs: Names and specs of its inputs.

    Raises:
        UntraceableError: The graph needs numbers of its inputs to say shapes.
        NotSupportedError: An output is no array.
    """
    block = OnnxBlock(model)
    block.load(None)
    names = [name for name, _ in specs]
    trace = trace_forward(
        block.forward,
        names,
        [_Planned(spec) for _, spec in specs],  # type: ignore[misc]  # it asks no more of an array
        lambda word: NameManager.current.get(None, word),
    )
    if len(trace.outputs) != len(model.outputs):
        raise NotSupportedError("ONNX graph: expected outputs that are arrays, got a sequence")
    outputs, constants = _with_variables(trace.outputs, {*names, *block._reg_params})
    symbol = Symbol(outputs)
    weights = {name: parameter.data() for name, parameter in block._reg_params.items()}
    values = {**weights, **constants}
    auxiliary = symbol.list_auxiliary_states()
    arguments = {n: values[n] for n in symbol.list_arguments() if n not in names}
    states = {name: values[name] for name in auxiliary if name not in names}
    return Composed(symbol, names, arguments, states, frozenset(weights))


def _with_variables(
    outputs: Sequence[Value], taken: set[str]
) -> tuple[list[Value], dict[str, NDArray]]:
    """Return a graph with variables in place of its constants, and what these hold."""
    made: dict[int, Node] = {}
    held: dict[str, NDArray] = {}
    for node in topological_order(outputs):
        if node.array is not None:
            name = _free_name("constant", taken)
            held[name] = node.array.as_nd_ndarray()
            made[id(node)] = Node(None, name)
        elif node.op is None:
            made[id(node)] = Node(None, node.name, extra=node.extra)
        else:
            inputs = [Value(made[id(value.node)], value.index) for value in node.inputs]
            made[id(node)] = Node(node.op, node.name, inputs, node.attrs, (), node.extra)
    return [Value(made[id(value.node)], value.index) for value in outputs], held


def _free_name(word: str, taken: set[str]) -> str:
    number = 0
    while f"{word}{number}" in taken:
        number += 1
    taken.add(f"{word}{number}")
    return f"{word}{number}"
