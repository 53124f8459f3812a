"""Composition, grouping and evaluation of Symbols, and their graphs as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.shapes import check_open_shapes
from gluonish.symbol.symbol import Symbol, operator_attributes


def Group(symbols: Sequence[Symbol], create_fn: Any = Symbol) -> Symbol:  # MXNet's name
    """Group several Symbols into one with all their outputs.

    Args:
        symbols: The Symbols.
        create_fn: Accepted without effect.

    Raises:
        ArgumentTypeError: ``symbols`` is empty, or contains something that is not a Symbol.

    Example:
        >>> import gluonish as mx
        >>> x = mx.sym.var("x")
        >>> mx.sym.Group([mx.sym.relu(x, name="a"), mx.sym.exp(x, name="b")]).list_outputs()
        ['a_output', 'b_output']
    """
    listed = list(symbols) if symbols else []
    if not listed:
        raise ArgumentTypeError("Group: expected at least one Symbol, got none")
    for symbol in listed:
        if not isinstance(symbol, Symbol):
            raise ArgumentTypeError(f"Group: expected Symbols, got {type(symbol).__name__}")
    return Symbol([value for symbol in listed for value in symbol._values])


def compose(self: Symbol, *args: Symbol, name: str | None = None, **kwargs: Symbol) -> Symbol:
    """Compose graphs: replace variables of this graph by other Symbols; this is ``symbol(...)``.

    Args:
        self: The graph.
        *args: Replacements in the order of `list_arguments`.
        name: New name of the output node.
        **kwargs: Replacements by variable name.

    Raises:
        ArgumentError: There are too many replacements, or a name is not a variable of the graph.
        ArgumentTypeError: A replacement is not a Symbol, or some are passed by position and others
            by name.
    """
    if args and kwargs:
        raise ArgumentTypeError("Symbol: expected inputs by position or by name, got both")
    for replacement in (*args, *kwargs.values()):
        if not isinstance(replacement, Symbol):
            raise ArgumentTypeError(f"Symbol: expected Symbols as inputs, got {replacement!r:.40}")
    names = self.list_arguments()
    if len(args) > len(names):
        raise ArgumentError(f"Symbol: expected at most {len(names)} inputs, got {len(args)}")
    replacements = kwargs or dict(zip(names, args, strict=False))
    variables = self.list_inputs()
    unknown = [key for key in replacements if key not in variables]
    if unknown:
        raise ArgumentError(f"Symbol: expected inputs among {variables}, got {unknown}")
    return replaced(self, replacements, name)


def replaced(
    self: Symbol, replacements: Mapping[str, Symbol | None], name: str | None = None
) -> Symbol:
    """Return the graph with some variables replaced by other graphs, as `compose` does.

    Args:
        self: The graph.
        replacements: Replacement by variable name; None keeps the variable.
        name: New name of the output node.
    """
    made: dict[int, Value | Node] = {}
    for node in topological_order(self._values):
        if node.op is None:
            symbol = replacements.get(node.name)
            made[id(node)] = node if symbol is None else symbol._values[0]
            continue
        inputs = [_copied(value, made) for value in node.inputs]
        is_head = len(self._values) == 1 and node is self._values[0].node
        node_name = name if name is not None and is_head else node.name
        made[id(node)] = Node(
            node.op, node_name, inputs, node.attrs, extra=node.extra, given=node.given
        )
    return Symbol([_copied(value, made) for value in self._values])


def _copied(value: Value, made: Mapping[int, Value | Node]) -> Value:
    target = made[id(value.node)]
    return Value(target, value.index) if isinstance(target, Node) else target


def evaluate_symbol(self: Symbol, ctx: Any = None, **kwargs: NDArray) -> list[NDArray]:
    """Compute the outputs for given arrays, and return a list of them.

    Args:
        self: The graph.
        ctx: Has no effect: the graph runs on the arrays' device.
        **kwargs: An NDArray for each variable, by name.

    Raises:
        ArgumentError: A variable has no array.
        ArgumentTypeError: A value is not an NDArray.

    Example:
        >>> import gluonish as mx
        >>> x, y = mx.sym.var("x"), mx.sym.var("y")
        >>> (x + 2 * y).eval(x=mx.nd.array([1, 2]), y=mx.nd.array([10, 20]))[0].tolist()
        [21.0, 42.0]
    """
    variables = self._variables()
    missing = [node.name for node in variables if node.name not in kwargs]
    if missing:
        raise ArgumentError(f"eval: expected an array for every variable, got none for {missing}")
    arrays = [kwargs[node.name] for node in variables]
    for node, x in zip(variables, arrays, strict=True):
        if not isinstance(x, NDArray):
            raise ArgumentTypeError(f"eval: expected {node.name} to be an NDArray, got {x!r:.40}")
    train = bool(recording.mode.get() & recording.TRAINING)
    specs = [x._spec for x in arrays]
    check_open_shapes("eval", self._values, variables, specs)
    graph = specialize(variables, self._values, specs, train=train)
    return evaluate(graph, arrays)


def debug_str(self: Symbol) -> str:
    """Return the nodes of the graph with inputs and attributes as text, in execution order."""
    lines = ["Symbol Outputs:"]
    lines += [
        f"\toutput[{i}]={value.node.name}({value.index})" for i, value in enumerate(self._values)
    ]
    for node in topological_order(self._values):
        lines += [f"Variable:{node.name}"] if node.op is None else _operator_lines(node)
    return "\n".join([*lines, ""])


def _operator_lines(node: Node) -> list[str]:
    op = node.op
    assert op is not None
    mutated = op.mutated_inputs(node.attrs)
    lines = ["-" * 20, f"Op:{op.name}, Name={node.name}", "Inputs:"]
    lines += [
        f"\targ[{i}]={value.node.name}({value.index})"
        + (f" version={int(i in mutated)}" if value.node.op is None else "")
        for i, value in enumerate(node.inputs)
    ]
    attrs = {**operator_attributes(node), **node.extra}
    if attrs:
        lines += ["Attrs:", *(f"\t{key}={value}" for key, value in sorted(attrs.items()))]
    return lines
