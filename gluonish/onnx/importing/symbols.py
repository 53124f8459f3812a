"""Converts a model to a Symbol, by tracing its program on arrays without values."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol

from gluonish.core.errors import ArgumentError, GluonishError, NotSupportedError
from gluonish.core.spec import Spec
from gluonish.gluon.parameter import Parameter
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.trace import trace_forward
from gluonish.ndarray import NDArray
from gluonish.onnx.importing import open_extents
from gluonish.onnx.importing.models import Declared, Model
from gluonish.symbol import NameManager, Symbol

# Limits of an input's shape: a trace creates tables as long as the axes, and a malicious file may
# declare any size.
_MAX_ELEMENTS, _MAX_EXTENT = 1 << 28, 1 << 24


class ModelBlock(Protocol):
    """Interface of a model's block; see `OnnxBlock`."""

    model: Model

    @property
    def _reg_params(self) -> Mapping[str, Parameter]:
        """The parameters, by name."""
        raise NotImplementedError

    def forward(self, *args: Any) -> Any:
        """Compute the outputs."""


class Composed(NamedTuple):
    """A model converted to a Symbol.

    Attributes:
        symbol: The outputs of the model.
        inputs: Names of the variables that are inputs of the model.
        arguments: Values of the other variables, by name.
        auxiliary: Auxiliary states, such as running statistics, by name.
        trained: Names of the arguments that training changes; the rest are constants.
    """

    symbol: Symbol
    inputs: Sequence[str]
    arguments: Mapping[str, NDArray]
    auxiliary: Mapping[str, NDArray]
    trained: frozenset[str]


class _Planned:
    """A placeholder argument for a trace: a shape and a dtype without values."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec


def declared_shapes(
    model: Model, given: Mapping[str, Sequence[int]], what: str
) -> dict[str, tuple[int | str | None, ...]]:
    """Return the shapes of a model's inputs, with a name (or None) for dynamic sizes.

    Args:
        model: The model that was read.
        given: Shapes by name, which replace dynamic ones in the file.
        what: The calling function, for error messages.

    Raises:
        ArgumentError: A name in ``given`` is not an input, or a shape contradicts the file.
        NotSupportedError: An input has no shape or type in the file, or is a sequence.
    """
    unknown = set(given) - {declared.name for declared in model.inputs}
    if unknown:
        raise ArgumentError(
            f"{what}: expected shapes of {[x.name for x in model.inputs]}, got {sorted(unknown)}"
        )
    shapes = {x.name: _shape(x, given.get(x.name), what) for x in model.inputs}
    for name, shape in shapes.items():
        extents = [extent for extent in shape if isinstance(extent, int)]
        if prod(extents) > _MAX_ELEMENTS or max(extents, default=0) > _MAX_EXTENT:
            raise NotSupportedError(
                f"{what}: expected inputs of at most {_MAX_ELEMENTS} elements, {_MAX_EXTENT} along "
                f"an axis, got {shape} for {name!r}"
            )
    return shapes


def _shape(
    declared: Declared, given: Sequence[int] | None, what: str
) -> tuple[int | str | None, ...]:
    if declared.kind != "tensor" or declared.element is None:
        raise NotSupportedError(
            f"{what}: expected input {declared.name!r} to be an array of a known type, got "
            f"{declared.kind}; import_to_gluon takes it"
        )
    if given is None:
        if declared.shape is None:
            raise NotSupportedError(
                f"{what}: expected a shape of input {declared.name!r}, got none; say it in "
                "input_shapes, or use import_to_gluon"
            )
        return declared.shape
    shape = tuple(int(extent) for extent in given)
    if declared.shape is not None and not _fits(shape, declared.shape):
        raise ArgumentError(
            f"{what}: expected a shape like {declared.shape} for {declared.name!r}, got {shape}"
        )
    return shape


def _fits(shape: Sequence[int], declared: Sequence[int | str | None]) -> bool:
    if len(shape) != len(declared):
        return False
    return all(not isinstance(b, int) or a == b for a, b in zip(shape, declared, strict=True))


def is_open(shapes: Mapping[str, Sequence[int | str | None]]) -> bool:
    """Whether any axis is dynamic."""
    return any(not isinstance(extent, int) for shape in shapes.values() for extent in shape)


def compose(block: ModelBlock, shapes: Mapping[str, Sequence[Any]]) -> Composed:
    """Convert a model to a Symbol, with the current values of its parameters.

    Args:
        block: The block of the model.
        shapes: Shapes of the inputs, with a name (or None) for dynamic sizes.

    Raises:
        UntraceableError: Shapes depend on values of the inputs.
        NotSupportedError: An output is not an array, or no single graph is valid for all sizes.
    """
    names = list(shapes)
    if not is_open(shapes):
        return _composed(block, names, _traced(block, shapes))
    last: GluonishError | None = None
    for one, other, third in open_extents.stand_ins(shapes):
        try:
            traces = [_traced(block, trial) for trial in (one, other, third)]
            outputs = open_extents.merged(traces[0], traces[1])
            open_extents.check(outputs, traces[2])
            return _composed(block, names, outputs)
        except GluonishError as error:  # a network may need larger sizes
            last = error
    raise NotSupportedError(
        f"{last}; say input_shapes, or use import_to_gluon, which makes a graph for each shape"
    ) from last


def _traced(block: ModelBlock, shapes: Mapping[str, Sequence[int]]) -> list[Value]:
    """Trace a block on inputs of given shapes and return the outputs."""
    model = block.model
    kinds = {x.name: x.element.dtype for x in model.inputs if x.element is not None}
    trace = trace_forward(
        block.forward,
        list(shapes),
        [_Planned(Spec(tuple(s), kinds[name])) for name, s in shapes.items()],  # type: ignore[misc]  # it needs no more of an array
        lambda word: NameManager.current.get(None, word),
    )
    if len(trace.outputs) != len(model.outputs):
        raise NotSupportedError("ONNX graph: expected outputs that are arrays, got a sequence")
    return trace.outputs


def _composed(block: ModelBlock, names: list[str], traced: Sequence[Value]) -> Composed:
    outputs, constants = _with_variables(traced, {*names, *block._reg_params})
    symbol = Symbol(outputs)
    weights = {name: parameter.list_data()[0] for name, parameter in block._reg_params.items()}
    values = {**weights, **constants}
    auxiliary = symbol.list_auxiliary_states()
    arguments = {n: values[n] for n in symbol.list_arguments() if n not in names}
    states = {name: values[name] for name in auxiliary if name not in names}
    return Composed(symbol, names, arguments, states, frozenset(weights))


def _with_variables(
    outputs: Sequence[Value], used: set[str]
) -> tuple[list[Value], dict[str, NDArray]]:
    """Replace the constants of a graph by variables, and return it with the variables' values."""
    made: dict[int, Node] = {}
    held: dict[str, NDArray] = {}
    for node in topological_order(outputs):
        if node.array is not None:
            name = _free_name("constant", used)
            held[name] = node.array.as_nd_ndarray()
            made[id(node)] = Node(None, name)
        elif node.op is None:
            made[id(node)] = Node(None, node.name, extra=node.extra)
        else:
            inputs = [Value(made[id(value.node)], value.index) for value in node.inputs]
            made[id(node)] = Node(node.op, node.name, inputs, node.attrs, (), node.extra)
    return [Value(made[id(value.node)], value.index) for value in outputs], held


def _free_name(word: str, used: set[str]) -> str:
    number = 0
    while f"{word}{number}" in used:
        number += 1
    used.add(f"{word}{number}")
    return f"{word}{number}"
