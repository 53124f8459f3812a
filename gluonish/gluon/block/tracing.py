"""Tracing a HybridBlock, and inference of parameters' shapes and dtypes from the traced graph.

The message of an error during a trace ends with the line of the user's program that caused it.

Reads: tracks the attributes of Blocks read in a trace, which invalidate the graph on change.
"""

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import Token
from typing import Any, NamedTuple

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import (
    DeferredInitializationError,
    GraphError,
    OperatorError,
    ParameterError,
    is_deliberate,
)
from gluonish.core.mxnet_rules import follows_mxnet, follows_mxnet1, follows_mxnet2
from gluonish.core.program_lines import with_line
from gluonish.core.spec import UNKNOWN, PartialSpec
from gluonish.core.value_scope import ValueScope
from gluonish.core.versions import Basis, Version, reads
from gluonish.gluon.block.arguments import call_packed
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.block_errors import locate_node, refuse_other_outputs
from gluonish.gluon.block.layout_hint import warn_of_channels_last
from gluonish.gluon.block.protocols import Traceable
from gluonish.gluon.parameter import Parameter
from gluonish.graph.inference import infer
from gluonish.graph.ir import Node, Value
from gluonish.graph.numpy_value import NumpyValue
from gluonish.graph.pytree import Constant, Structure, flatten, in_lists, regroup
from gluonish.graph.source_lines import SourceLines, innermost, note
from gluonish.graph.trace import trace_forward
from gluonish.ndarray import NDArray, recording
from gluonish.numpy.array import ndarray
from gluonish.symbol import NameManager, Symbol, var
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.shapes import from_public


class Traced(NamedTuple):
    """The graph of a call: its variables, outputs and source lines.

    Attributes:
        arguments: The pytree of the arguments.
        data: The variables that stand for the arrays of the call.
        outputs: The outputs of the call.
        pytree: The pytree of the outputs.
        lines: The source lines that created the nodes.
        array_types: The class of each output, `NDArray` or ``mx.np.ndarray``; None if all have the
            class of the first array.
    """

    arguments: Structure
    data: Sequence[Node]
    outputs: Sequence[Value]
    pytree: Structure
    lines: SourceLines
    array_types: tuple[type[NDArray], ...] | None

    def variables(self) -> list[Node]:
        """Return the variables of parameters."""
        data = {id(node) for node in self.data}
        return [node for node in Symbol(self.outputs)._variables() if id(node) not in data]


def _data_names(count: int) -> list[str]:
    """Return the names of data variables: ``data``, or ``data0``, ``data1`` .. for several."""
    return ["data"] if count == 1 else [f"data{i}" for i in range(count)]


def is_symbolic(block: Any) -> bool:
    """Whether a block and all blocks in it compute in ``hybrid_forward``.

    If so, they can be traced on Symbols, and one graph serves all shapes. MXNet 1.9 passes Symbols
    to other blocks, too.
    """
    if not block.has_hybrid_forward:
        return False
    return follows_mxnet1() or all(map(is_symbolic, block._children.values()))


def trace_block(block: Traceable, pytree: Structure, arrays: Sequence[NDArray]) -> Traced:
    """Trace a block, on Symbols if possible, else on arrays without values.

    Raises:
        GraphError: No output is a Symbol or an array, or the computation needs values.
        OperatorError: An operator does not support its inputs.
    """
    return (_trace_symbols if is_symbolic(block) else _trace_values)(block, pytree, arrays)


class _Located(SourceLines):
    """Scope of a trace: records source lines, and adds the failing line to an error's message."""

    __slots__ = ()

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__()
        error: Any = exc_info[1]
        if error is not None and is_deliberate(error) and error.args:
            line = innermost(error.__traceback__)
            error.args = (with_line(str(error.args[0]), line), *error.args[1:])


def _trace_symbols(
    block: Traceable,
    pytree: Structure,
    arrays: Sequence[NDArray],
    forward: Callable[..., Any] | None = None,
) -> Traced:
    """Run ``hybrid_forward`` once on Symbols; arrays of ``mx.np`` become Symbols of ``mx.sym.np``.

    Raises:
        GraphError: No output is a Symbol.
    """
    symbols = [
        var(name).as_np_ndarray() if isinstance(x, ndarray) else var(name)
        for name, x in zip(_data_names(len(arrays)), arrays, strict=True)
    ]
    with _Located() as lines:
        result = (forward or block.forward)(*regroup(symbols, pytree))
    leaves, nested = flatten(result, lambda x: isinstance(x, Symbol))
    if not leaves:
        raise GraphError(
            f"{block.name}: expected hybrid_forward to return Symbols, got {type(result).__name__}"
            f"{'; is a return missing?' if result is None else ''}"
        )
    values = [value for symbol in leaves for value in symbol._values]
    if len(values) != len(leaves):  # a Symbol of several outputs becomes a list
        nested = _widened(nested, iter(leaves))
    if follows_mxnet():
        nested = in_lists(nested)
    array_types = _array_types(
        arrays[0], [_is_numpy(symbol) for symbol in leaves for _ in symbol._values]
    )
    data = [symbol._values[0].node for symbol in symbols]
    return Traced(pytree, data, values, nested, lines, array_types)


def _is_numpy(output: Symbol | Value) -> bool:
    return isinstance(output, NumpySymbol | NumpyValue)


def _array_types(first: NDArray, numpy: Sequence[bool]) -> tuple[type[NDArray], ...] | None:
    """Return the classes of outputs; None if all have the class of the call's first array."""
    if all(flag == isinstance(first, ndarray) for flag in numpy):
        return None
    return tuple(ndarray if flag else NDArray for flag in numpy)


def _widened(pytree: Structure, leaves: Iterator[Symbol]) -> Structure:
    if pytree is None:
        count = len(next(leaves))
        return None if count == 1 else (list, (None,) * count)
    if isinstance(pytree, Constant):
        return pytree
    kind, children = pytree
    return kind, tuple(_widened(child, leaves) for child in children)


def _trace_values(block: Traceable, pytree: Structure, arrays: Sequence[NDArray]) -> Traced:
    """Run ``forward`` once on arrays with shapes but without values."""
    # Parameters and new arrays should be on the arrays' device.
    with arrays[0].context, _Located() as lines:
        trace = trace_forward(
            lambda *values: call_packed(block._call_forward, regroup(values, pytree)),
            _data_names(len(arrays)),
            arrays,
            _named,
        )
    array_types = _array_types(arrays[0], list(map(_is_numpy, trace.outputs)))
    structure = trace.structure
    if follows_mxnet2():
        refuse_other_outputs(block, structure)
        structure = in_lists(structure)
    return Traced(pytree, trace.data, trace.outputs, structure, lines, array_types)


def _named(hint: str) -> str:
    name = NameManager.current.get(None, hint)
    note(name)
    return name


def forward_with_shapes(block: Traceable, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a ``forward`` in the style of 2.0, and infer the shapes of the block's parameters.

    Raises:
        ParameterError: A parameter's shape is unknown, and the block has no ``infer_shape``.
    """
    try:
        return block.forward(*args, **kwargs)
    except DeferredInitializationError as error:
        waiting = [p for p in block._reg_params.values() if p._deferred_init is not None]
        if waiting and not defines_infer_shape(type(block)):
            raise ParameterError(
                f"{block.name}: expected a method infer_shape(self, x, ...), which sets the shapes "
                f"of parameters, because {waiting[0].name} has the unknown shape "
                f"{waiting[0].shape}, got none; define it, or pass the full shape"
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

    The shapes come from the block's `infer_shape`, or from ``forward`` on Symbols.
    """
    if forward is None:
        block.infer_shape(*args)
    else:
        infer_parameters(block, args, shapes=True, forward=forward)
    for parameter in parameters:
        parameter._finish_deferred_init()


def defines_infer_shape(kind: type) -> bool:
    """Whether a class overrides ``infer_shape`` of HybridBlock.

    `use_np` copies inherited methods into a class, in wrappers.
    """
    found: Any = inspect.unwrap(kind.infer_shape)  # type: ignore[attr-defined]  # of a block
    return not found.__module__.startswith("gluonish.gluon.block.")


def infer_parameters(
    block: Traceable,
    args: Sequence[Any],
    *,
    shapes: bool,
    forward: Callable[..., Any] | None = None,
) -> Traced | None:
    """Infer unknown shapes (or the dtypes) of a block's parameters from the arguments of a call.

    Args:
        block: The block.
        args: The arguments: arrays, with values or traced.
        shapes: Whether to infer shapes; if False, dtypes are inferred.
        forward: The function to trace on Symbols; the block's by default.

    Returns:
        The traced graph; None for a block in the style of 2.0, which is run instead.

    Raises:
        OperatorError: An operator does not support the shapes.
        ParameterError: A shape cannot be inferred from the arguments.
    """
    if forward is None and not block.has_hybrid_forward:
        with _NoRecording():  # its children infer their own shapes
            block.forward(*args)
        return None
    arrays, pytree = flatten(tuple(args), lambda x: isinstance(x, NDArray))
    traced = _trace_symbols(block, pytree, arrays, forward)
    infer_from_graph(block, traced, arrays, shapes=shapes)
    return traced


def infer_from_graph(
    block: Traceable, traced: Traced, arrays: Sequence[NDArray], *, shapes: bool
) -> None:
    """Infer unknown shapes (or the dtypes) of a block's parameters from its graph.

    Raises:
        OperatorError: An operator does not support the shapes.
        ParameterError: A shape cannot be inferred from the arrays.
    """
    known = {
        node.name: PartialSpec(x.shape, normalize_dtype(x.dtype))
        for node, x in zip(traced.data, arrays, strict=True)
    }
    parameters = {p._full_name: p for p in block.collect_params().values()}
    for name, parameter in parameters.items():
        dtype = normalize_dtype(parameter.dtype) if shapes else None
        known[name] = PartialSpec(from_public(parameter.shape), dtype)
    try:
        found = infer(traced.outputs, known)
    except OperatorError as error:
        traced.lines.complete(error)
        locate_node(error, block)
        raise
    if shapes:
        unknown = [name for name in parameters if UNKNOWN in (known[name].shape or (UNKNOWN,))]
        warn_of_channels_last(block, found, unknown)
    for node in found.nodes:
        if node.op is None and node.name in parameters:
            _set_inferred(parameters[node.name], found.spec(Value(node)), shapes=shapes)


def _set_inferred(parameter: Parameter, spec: PartialSpec, *, shapes: bool) -> None:
    if not shapes:
        if spec.dtype is not None:
            parameter.cast(spec.dtype.type)
    elif spec.shape is not None:
        if UNKNOWN in spec.shape:
            raise ParameterError(
                f"Parameter {parameter._full_name}: expected a shape that follows from the inputs, "
                f"got {spec.shape}; pass in_units, in_channels and the like to the layer"
            )
        parameter.shape = spec.shape


class _NoRecording(ValueScope):
    """Scope that switches recording and training mode off."""

    __slots__ = ()

    def __enter__(self) -> None:
        self._change(recording.mode, recording.NOTHING)


_LOCK = threading.RLock()  # a signal handler may trace, too
_scopes = 0


def _noted(block: Block, name: str) -> Any:
    """Read an attribute as ``object`` does, and record the read if this thread traces."""
    if reads.get() is not None and not name.startswith("__"):
        version = super(Block, block).__getattribute__("__dict__").get("_version")
        if version is not None:
            version.read(None if name in type(block)._untracked else name)
    return super(Block, block).__getattribute__(name)


class Reads:
    """Scope of a trace: records which attributes of which Blocks are read.

    Block has a ``__getattribute__`` only while a thread traces, as it takes ten times as long as
    that of ``object``.
    """

    __slots__ = ("_before", "_found", "_newest", "_token")

    def __enter__(self) -> "Reads":
        global _scopes
        self._newest = Version.newest
        self._before = reads.get()
        self._found: dict[Version, int] = {}
        self._token: Token[dict[Version, int] | None] = reads.set(self._found)
        with _LOCK:
            _scopes += 1
            if _scopes == 1:
                Block.__getattribute__ = _noted  # type: ignore[assignment, method-assign]
        return self

    def __exit__(self, *exc_info: object) -> None:
        global _scopes
        with _LOCK:
            _scopes -= 1
            if _scopes == 0:
                del Block.__getattribute__
        reads.reset(self._token)
        if self._before is not None:
            for version, number in self._found.items():
                self._before.setdefault(version, number)

    def basis(self, parameters: Iterable[Parameter] = ()) -> Basis:
        """Return the versions that Blocks had when they were read, with the parameters."""
        return Basis(self._found, self._newest, parameters)
