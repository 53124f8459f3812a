"""Tracing a HybridBlock, and what its traced graph says about the parameters.

A message of what goes wrong while a block is traced ends with the line of the user's program that
led to it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import (
    DeferredInitializationError,
    GluonishError,
    GraphError,
    OperatorError,
    ParameterError,
)
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.spec import UNKNOWN, PartialSpec
from gluonish.core.value_scope import ValueScope
from gluonish.gluon.block.arguments import call
from gluonish.gluon.block.protocols import Traceable
from gluonish.gluon.parameter import Parameter
from gluonish.graph.inference import infer
from gluonish.graph.ir import Node, Value
from gluonish.graph.numpy_value import NumpyValue
from gluonish.graph.pytree import Constant, Structure, flatten, in_lists, regroup
from gluonish.graph.source_lines import SourceLines, innermost, note, with_line
from gluonish.graph.trace import trace_forward
from gluonish.ndarray import NDArray, recording
from gluonish.numpy.array import ndarray
from gluonish.symbol import NameManager, Symbol, var
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.shapes import from_public


class Traced(NamedTuple):
    """A traced call.

    Attributes:
        arguments: How its arrays were nested.
        data: Variables for them.
        outputs: Its outputs.
        structure: How they were nested.
        lines: Where its nodes were made.
        faces: For each output the class of its arrays, `NDArray` or ``mx.np.ndarray``; None if all
            are of the class of the first of ``data``.
    """

    arguments: Structure
    data: Sequence[Node]
    outputs: Sequence[Value]
    structure: Structure
    lines: SourceLines
    faces: tuple[type[NDArray], ...] | None

    def variables(self) -> list[Node]:
        """Return the variables that stand for parameters."""
        given = {id(node) for node in self.data}
        return [node for node in Symbol(self.outputs)._variables() if id(node) not in given]


def _data_names(count: int) -> list[str]:
    """Return the names of data variables: ``data``, or ``data0``, ``data1`` .. for several."""
    return ["data"] if count == 1 else [f"data{i}" for i in range(count)]


def is_symbolic(block: Any) -> bool:
    """Whether a block and all blocks in it compute by ``hybrid_forward``.

    Then they can be traced on Symbols, and one graph serves all shapes. MXNet 1.9 hands Symbols to
    other blocks, too.
    """
    if not block.has_hybrid_forward:
        return False
    return follows_mxnet() or all(map(is_symbolic, block._children.values()))


def trace_block(block: Traceable, structure: Structure, arrays: Sequence[NDArray]) -> Traced:
    """Run a block once, on Symbols if that can be, else on arrays without values.

    Args:
        block: The block.
        structure: How the call's arrays are nested.
        arrays: The arrays.

    Raises:
        GraphError: No output is a Symbol or a value, or the computation needs numbers.
        OperatorError: An operator refuses what reaches it.
    """
    return (_trace_symbols if is_symbolic(block) else _trace_values)(block, structure, arrays)


class _Located(SourceLines):
    """Scope of a trace: records lines, and adds the one that failed to the error's message."""

    __slots__ = ()

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__()
        error = exc_info[1]
        if isinstance(error, GluonishError) and error.args:
            line = innermost(error.__traceback__)
            error.args = (with_line(str(error.args[0]), line), *error.args[1:])


def _trace_symbols(
    block: Traceable,
    structure: Structure,
    arrays: Sequence[NDArray],
    forward: Callable[..., Any] | None = None,
) -> Traced:
    """Run ``hybrid_forward`` once on Symbols.

    Args:
        block: The block.
        structure: How the call's arrays are nested.
        arrays: The arrays, with values or traced; those of ``mx.np`` become such Symbols.
        forward: What to run; the block's by default.

    Raises:
        GraphError: No output is a Symbol.
    """
    symbols = [
        var(name).as_np_ndarray() if isinstance(x, ndarray) else var(name)
        for name, x in zip(_data_names(len(arrays)), arrays, strict=True)
    ]
    with _Located() as lines:
        result = (forward or block.forward)(*regroup(symbols, structure))
    leaves, nested = flatten(result, lambda x: isinstance(x, Symbol))
    if not leaves:
        raise GraphError(
            f"{block.name}: expected hybrid_forward to return Symbols, got {type(result).__name__}"
        )
    values = [value for symbol in leaves for value in symbol._values]
    if len(values) != len(leaves):  # a Symbol of several outputs counts as a list of them
        nested = _widened(nested, iter(leaves))
    if follows_mxnet():
        nested = in_lists(nested)
    faces = _faces(arrays[0], [_is_numpy(symbol) for symbol in leaves for _ in symbol._values])
    data = [symbol._values[0].node for symbol in symbols]
    return Traced(structure, data, values, nested, lines, faces)


def _is_numpy(output: Symbol | Value) -> bool:
    return isinstance(output, NumpySymbol | NumpyValue)


def _faces(first: NDArray, numpy: Sequence[bool]) -> tuple[type[NDArray], ...] | None:
    """Return the classes of outputs; None if all are of the class of the call's first array."""
    if all(flag == isinstance(first, ndarray) for flag in numpy):
        return None
    return tuple(ndarray if flag else NDArray for flag in numpy)


def _widened(structure: Structure, leaves: Iterator[Symbol]) -> Structure:
    if structure is None:
        count = len(next(leaves))
        return None if count == 1 else (list, (None,) * count)
    if isinstance(structure, Constant):
        return structure
    kind, inner = structure
    return kind, tuple(_widened(part, leaves) for part in inner)


def _trace_values(block: Traceable, structure: Structure, arrays: Sequence[NDArray]) -> Traced:
    """Run ``forward`` once on arrays that have shapes, and no values."""
    # Parameters and what it makes should lie where the arrays do.
    with arrays[0].context, _Located() as lines:
        trace = trace_forward(
            lambda *values: call(block._call_forward, regroup(values, structure)),
            _data_names(len(arrays)),
            arrays,
            _named,
        )
    faces = _faces(arrays[0], list(map(_is_numpy, trace.outputs)))
    return Traced(structure, trace.data, trace.outputs, trace.structure, lines, faces)


def _named(word: str) -> str:
    name = NameManager.current.get(None, word)
    note(name)
    return name


def forward_with_shapes(block: Traceable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a ``forward`` in the style of 2.0, inferring the shapes of the block's own parameters.

    Raises:
        ParameterError: They wait for a shape and the block does not say which.
    """
    try:
        return block.forward(*args, **kwargs)
    except DeferredInitializationError as error:
        waiting = [p for p in block._reg_params.values() if p._deferred_init is not None]
        if waiting and not says_shapes(type(block)):
            raise ParameterError(
                f"{block.name}: expected infer_shape(self, x, ...), which sets the shapes of own "
                f"parameters from those of the arguments, as {waiting[0].name} is "
                f"{waiting[0].shape}, got none; define it, or give the whole shape"
            ) from error
        set_deferred_shapes(block, args, block._reg_params.values())
        return block.forward(*args, **kwargs)


def set_deferred_shapes(
    block: Traceable,
    args: Sequence[Any],
    parameters: Iterable[Parameter],
    forward: Callable[..., Any] | None = None,
) -> None:
    """Infer the shapes of parameters from the arguments of a call, and initialize them.

    Args:
        block: The block.
        args: The arguments.
        parameters: The parameters.
        forward: What computes on Symbols; the block's by default, as its `infer_shape` says.
    """
    if forward is None:
        block.infer_shape(*args)
    else:
        infer_parameters(block, args, shapes=True, forward=forward)
    for parameter in parameters:
        parameter._finish_deferred_init()


def says_shapes(kind: type) -> bool:
    """Whether a class has an ``infer_shape`` of its own, before that of HybridBlock."""
    definer = next(base for base in kind.__mro__ if "infer_shape" in vars(base))
    return "hybrid_forward" not in vars(definer)


def infer_parameters(
    block: Traceable,
    args: Sequence[Any],
    *,
    shapes: bool,
    forward: Callable[..., Any] | None = None,
) -> Traced | None:
    """Find unknown shapes (or the dtypes) of a block's parameters from the arguments of a call.

    Args:
        block: The block.
        args: The arguments: arrays, with values or traced.
        shapes: Whether to find shapes; else dtypes.
        forward: What computes on Symbols; the block's by default.

    Returns:
        The graph that says so; None for a block in the style of 2.0, which runs instead.

    Raises:
        OperatorError: An operator cannot take the shapes.
        ParameterError: A shape does not follow from the arguments.
    """
    if forward is None and not block.has_hybrid_forward:
        with _Silence():  # its children infer their own when it runs
            block.forward(*args)
        return None
    arrays, structure = flatten(tuple(args), lambda x: isinstance(x, NDArray))
    traced = _trace_symbols(block, structure, arrays, forward)
    learn_parameters(block, traced, arrays, shapes=shapes)
    return traced


def learn_parameters(
    block: Traceable, traced: Traced, arrays: Sequence[NDArray], *, shapes: bool
) -> None:
    """Find unknown shapes (or the dtypes) of a block's parameters from a graph of it.

    Args:
        block: The block.
        traced: The graph.
        arrays: The arrays of the call that was traced.
        shapes: Whether to find shapes; else dtypes.

    Raises:
        OperatorError: An operator cannot take the shapes.
        ParameterError: A shape does not follow from the arrays.
    """
    known = {
        node.name: PartialSpec(x.shape, normalize_dtype(x.dtype))
        for node, x in zip(traced.data, arrays, strict=True)
    }
    parameters = {p.name: p for p in block.collect_params().values()}
    for name, parameter in parameters.items():
        dtype = normalize_dtype(parameter.dtype) if shapes else None
        known[name] = PartialSpec(from_public(parameter.shape), dtype)
    try:
        found = infer(traced.outputs, known)
    except OperatorError as error:
        traced.lines.complete(error)
        raise
    for node in found.nodes:
        if node.op is None and node.name in parameters:
            _learn(parameters[node.name], found.spec(Value(node)), shapes=shapes)


def _learn(parameter: Parameter, spec: PartialSpec, *, shapes: bool) -> None:
    if not shapes:
        if spec.dtype is not None:
            parameter.cast(spec.dtype.type)
    elif spec.shape is not None:
        if UNKNOWN in spec.shape:
            raise ParameterError(
                f"Parameter {parameter.name}: expected a shape that follows from the inputs, got "
                f"{spec.shape}; give in_units, in_channels and the like to the layer"
            )
        parameter.shape = spec.shape


class _Silence(ValueScope):
    """Scope in which nothing is recorded and nothing trains."""

    __slots__ = ()

    def __enter__(self) -> None:
        self._change(recording.mode, recording.NOTHING)
