"""Shape and dtype inference of a Symbol, and shapes that follow from readers.

Conversion of shapes in files written without NumPy's shape semantics, where 0 is an unknown size.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gluonish.core.dtype import dtype_from_flag, normalize_dtype
from gluonish.core.errors import ArgumentError, GraphError, OperatorError
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.schema import UNPARSABLE
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec
from gluonish.graph.inference import Inference, infer, inferred_attributes, undetermined
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.symbol.json_format import GraphData, NodeData
from gluonish.symbol.symbol import Symbol

Lists = tuple[list[Any], list[Any], list[Any]]


def declared(node: Node) -> PartialSpec:
    """Return the shape and dtype that a variable declares (``__shape__``, ``__dtype__``).

    Unknown sizes are 0, or -1 with NumPy's shape semantics.

    Args:
        node: The variable.

    Raises:
        OperatorError: The attributes cannot be parsed, as in a damaged file.
    """
    shape_text = node.extra.get("__shape__")
    dtype_text = node.extra.get("__dtype__")
    shape = dtype = None
    try:
        if shape_text is not None:
            extents = ast.literal_eval(shape_text.replace("L", ""))
            shape = from_public(extents)
        if dtype_text is not None and dtype_text != "-1":
            dtype = dtype_from_flag(int(dtype_text))
    except UNPARSABLE as error:
        raise OperatorError(
            f"{node.name:.80}: expected __shape__ as a tuple and __dtype__ as a number, got "
            f"{shape_text!r:.80} and {dtype_text!r:.80}"
        ) from error
    return PartialSpec(shape, dtype)


def from_public(shape: Sequence[int] | None) -> Shape | None:
    """Return a shape with MXNet's unknown sizes (0 or -1) replaced by `UNKNOWN`.

    With NumPy's shape semantics 0 is a size, and () is the shape of a scalar. Without them () means
    an unknown shape.

    Args:
        shape: The shape; None if unknown.
    """
    least = 0 if is_np_shape() else 1
    if shape is None or (least and not len(shape)):
        return None
    return tuple(int(n) if n >= least else UNKNOWN for n in shape)


def to_public(shape: Shape | None) -> Shape | None:
    """Return a shape with unknown sizes as 0, or as -1 with NumPy's shape semantics.

    Args:
        shape: The shape; None if unknown.
    """
    unknown = _unknown_extent()
    return None if shape is None else tuple(unknown if n == UNKNOWN else n for n in shape)


def _unknown_extent() -> int:
    return -1 if is_np_shape() else 0


def known_specs(symbol: Symbol, given: Mapping[str, PartialSpec]) -> dict[str, PartialSpec]:
    """Return the known shape and dtype of each variable, by name.

    Args:
        symbol: The graph.
        given: Shapes and dtypes that take precedence over those that variables declare.
    """
    known = {}
    for node in symbol._variables():
        default = declared(node)
        override = given.get(node.name, PartialSpec())
        shape = default.shape if override.shape is None else override.shape
        known[node.name] = PartialSpec(shape, override.dtype or default.dtype)
    return known


def _by_name(symbol: Symbol, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    names = symbol.list_arguments()
    if args and kwargs:
        raise ArgumentError("infer: expected values by position or by name, got both")
    if len(args) > len(names):
        raise ArgumentError(f"infer: expected at most {len(names)} arguments, got {len(args)}")
    by_name = {name: value for name, value in zip(names, args, strict=False) if value is not None}
    if unknown := [name for name in kwargs if name not in names]:
        unknown = [name for name in unknown if name not in symbol.list_auxiliary_states()]
    if unknown:
        raise ArgumentError(
            f"infer: expected names among {names}, got {unknown[0]!r}; Keyword argument name "
            f"{unknown[0]} not found"
        )
    return {**by_name, **kwargs}


def _run(symbol: Symbol, given: Mapping[str, PartialSpec]) -> Inference:
    return infer(symbol._values, known_specs(symbol, given))


def _lists(symbol: Symbol, inference: Inference) -> tuple[list[PartialSpec], ...]:
    auxiliary = symbol._auxiliary()
    variables = symbol._variables()
    return (
        [inference.spec(Value(node)) for node in variables if id(node) not in auxiliary],
        [inference.spec(value) for value in symbol._values],
        [inference.spec(Value(node)) for node in variables if id(node) in auxiliary],
    )


def infer_shape_partial(self: Symbol, *args: Any, **kwargs: Any) -> Lists:
    """Like `infer_shape`, but return partial results if not all shapes can be inferred.

    Unknown sizes are 0, and a completely unknown shape is (); with NumPy's shape semantics they are
    -1 and None.

    Args:
        self: The graph.
        *args: Shapes in the order of `list_arguments`; None for unknown.
        **kwargs: Shapes by variable name.
    """
    nothing = None if is_np_shape() else ()
    arguments, outputs, auxiliary = (
        [nothing if shape is None else shape for shape in part]
        for part in _shapes(self, args, kwargs)[0]
    )
    return arguments, outputs, auxiliary


def _shapes(
    symbol: Symbol, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Lists, Inference]:
    """Infer the shapes of arguments, outputs and auxiliary states; return the inference, too."""
    shapes = _by_name(symbol, args, kwargs)
    given = {name: PartialSpec(from_public(shape)) for name, shape in shapes.items()}
    inference = _run(symbol, given)
    arguments, outputs, auxiliary = (
        [to_public(spec.shape) for spec in part] for part in _lists(symbol, inference)
    )
    return (arguments, outputs, auxiliary), inference


def infer_shape(self: Symbol, *args: Any, **kwargs: Any) -> Any:
    """Infer the shapes of all arguments, outputs and auxiliary states from some shapes.

    Args:
        self: The graph.
        *args: Shapes in the order of `list_arguments`; None for unknown.
        **kwargs: Shapes by variable name; 0 marks an unknown size, or -1 with NumPy's shape
            semantics.

    Returns:
        The shapes of arguments, outputs and auxiliary states, three lists; None three times if a
        shape stays unknown.

    Raises:
        OperatorError: The shapes contradict each other.

    Example:
        >>> import gluonish as mx
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
        >>> net.infer_shape(data=(2, 5))
        ([(2, 5), (3, 5), (3,)], [(2, 3)], [])
    """
    lists, inference = _shapes(self, args, kwargs)
    unknown = _unknown_extent()
    complete = all(shape is not None and unknown not in shape for part in lists for shape in part)
    return lists if complete and not inference.undetermined() else (None, None, None)


def infer_type(self: Symbol, *args: Any, **kwargs: Any) -> Any:
    """Infer the dtypes of all arguments, outputs and auxiliary states from some dtypes.

    Args:
        self: The graph.
        *args: Dtypes in the order of `list_arguments`; None for unknown.
        **kwargs: Dtypes by variable name.

    Returns:
        The NumPy types of arguments, outputs and auxiliary states, three lists; None three times if
        a dtype stays unknown.

    Raises:
        OperatorError: The dtypes contradict each other.
    """
    lists = infer_type_partial(self, *args, **kwargs)
    complete = all(dtype is not None for part in lists for dtype in part)
    return lists if complete else (None, None, None)


def infer_type_partial(self: Symbol, *args: Any, **kwargs: Any) -> Lists:
    """Like `infer_type`, with None for dtypes that cannot be inferred.

    Args:
        self: The graph.
        *args: Dtypes in the order of `list_arguments`; None for unknown.
        **kwargs: Dtypes by variable name.
    """
    dtypes = _by_name(self, args, kwargs)
    given = {name: PartialSpec(None, normalize_dtype(d)) for name, d in dtypes.items()}
    known = {name: PartialSpec(None, s.dtype) for name, s in known_specs(self, given).items()}
    inference = Inference(topological_order(self._values), known)
    inference.run()
    arguments, outputs, auxiliary = (
        [None if spec.dtype is None else spec.dtype.type for spec in part]
        for part in _lists(self, inference)
    )
    return arguments, outputs, auxiliary


def check_open_shapes(
    caller: str, outputs: Sequence[Value], variables: Sequence[Node], specs: Sequence[Spec]
) -> None:
    """Check that readers determine the shape of every operator without inputs and shape.

    Args:
        caller: The method's name, for the message.
        outputs: Outputs of the graph.
        variables: Variables of the graph.
        specs: A spec for each variable.

    Raises:
        GraphError: The readers of an operator do not determine its shape.
        OperatorError: An operator rejects its inputs.
    """
    found = undetermined(topological_order(outputs), variables, specs)
    if found:
        names = ", ".join(node.name for node in found)
        raise GraphError(
            f"{caller}: expected a shape for {names}, which cannot be inferred, as operators that "
            "accept any shape read it; pass shape= when you create it"
        )


def with_found_shapes(
    outputs: Sequence[Value], variables: Sequence[Node], specs: Sequence[Spec]
) -> Sequence[Value]:
    """Return a graph that can be split: missing shapes are set to those that readers require.

    Args:
        outputs: Outputs of the graph, returned unchanged if no shape is missing.
        variables: Variables of the graph.
        specs: A spec for each variable.

    Raises:
        OperatorError: An operator rejects its inputs.
    """
    order = topological_order(outputs)
    attributes = inferred_attributes(order, variables, specs)
    if not attributes:
        return outputs
    made: dict[int, Node] = {}
    for node in order:
        made[id(node)] = node
        if node.op is not None:
            inputs = [Value(made[id(value.node)], value.index) for value in node.inputs]
            attrs = attributes.get(id(node), node.attrs)
            made[id(node)] = Node(
                node.op, node.name, inputs, attrs, extra=node.extra, given=node.given
            )
    return [Value(made[id(value.node)], value.index) for value in outputs]


_SHAPE = "__shape__"
# Operators whose shape follows from their readers if it is missing, or () in such files.
_SAMPLERS = "_random_"


def with_current_shapes(graph: GraphData) -> GraphData:
    """Convert the shapes of a graph to the current shape semantics.

    With NumPy semantics, unknown sizes of a graph that was saved without them become -1.

    Args:
        graph: The graph, from `parse`.
    """
    if graph.attrs.get("is_np_shape", ("int", 0))[1]:
        return graph
    return _converted(graph)


def _converted(graph: GraphData) -> GraphData:
    nodes = tuple(
        replace(
            node,
            attrs=_current(node),
            subgraphs=tuple(_converted(body) for body in node.subgraphs),
        )
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


def _current(node: NodeData) -> Mapping[str, str]:
    attrs = node.attrs
    if not node.is_variable:
        unknown = node.op.startswith(_SAMPLERS) and attrs.get("shape", "").strip() in ("()", "[]")
        return {k: v for k, v in attrs.items() if k != "shape"} if unknown else attrs
    if _SHAPE not in attrs or not is_np_shape():
        return attrs
    try:
        extents = ast.literal_eval(attrs[_SHAPE].replace("L", ""))
        known = tuple(-1 if n == 0 else n for n in extents)
    except UNPARSABLE:
        return attrs  # reading the shape raises the error
    others = {k: v for k, v in attrs.items() if k != _SHAPE}
    return {**others, _SHAPE: str(known)} if known else others
