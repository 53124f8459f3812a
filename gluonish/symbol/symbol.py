"""Symbol: the user's face of graph values without shapes, as `hybrid_forward` sees them and files
hold them.

Inference, files and composition live in modules of their own; `gluonish.symbol.methods` makes them
methods of the class.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from gluonish.core.errors import ArgumentError, ArgumentTypeError, GraphError, NotSupportedError
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ops.fluent import Fluent
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol.name import NameManager, current_attributes

__all__ = ["Symbol", "new_node", "output_names"]

_HIDDEN = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


class Symbol(Fluent):
    """One or more outputs of a graph whose shapes are not known yet.

    Made by `var`, `Group`, `load` and the operator functions of this package, not by calling the
    class.

    Attributes:
        name: Name of the node, None for several outputs of different nodes.
    """

    __slots__ = ("_values",)
    _broadcasts = False

    def __init__(self, values: Sequence[Value]) -> None:
        self._values = tuple(values)

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> "Symbol":
        given = op.schema.to_strings(attrs)
        given.pop("is_int", None)  # how a scalar was spelled; MXNet's files do not tell
        if "scalar" in attrs:
            given["scalar"] = str(attrs["scalar"])
        return new_node(op, inputs, attrs, given, None, None)

    @property
    def name(self) -> str | None:
        """Name of the node that all outputs belong to; None if there are several."""
        nodes = {id(value.node) for value in self._values}
        return self._values[0].node.name if len(nodes) == 1 else None

    # -- structure -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator["Symbol"]:
        return (Symbol([value]) for value in self._values)

    def __getitem__(self, index: int | str | slice) -> "Symbol":
        if isinstance(index, slice):
            return Symbol(self._values[index])
        if isinstance(index, str):
            names = self.list_outputs()
            matching = [i for i, name in enumerate(names) if name == index]
            if len(matching) != 1:
                raise ArgumentError(f"Symbol: expected one output named {index!r}, got {names}")
            index = matching[0]
        if not 0 <= index < len(self._values):
            raise IndexError(f"Symbol: expected an output below {len(self._values)}, got {index}")
        return Symbol([self._values[index]])

    def __repr__(self) -> str:
        if self.name is not None:
            return f"<Symbol {self.name}>"
        return f"<Symbol group [{', '.join(self.list_outputs())}]>"

    def __bool__(self) -> bool:
        raise NotSupportedError(
            f"truth value: expected a computation without branches on values, got `if` on Symbol {self.name}; use F.where, "
            "or do not hybridize this block"
        )

    def __copy__(self) -> "Symbol":
        return Symbol(self._values)

    def get_internals(self) -> "Symbol":
        """Return every value of the graph, variables included, as one group."""
        nodes = topological_order(self._values)
        return Symbol([Value(node, i) for node in nodes for i in range(node.num_visible)])

    def get_children(self) -> "Symbol | None":
        """Return the inputs of the node; None for a variable."""
        inputs = [value for own in self._values for value in own.node.inputs]
        return Symbol(inputs) if inputs else None

    # -- names ---------------------------------------------------------------------------------

    def _variables(self) -> list[Node]:
        nodes = topological_order(self._values)
        return [node for node in nodes if node.op is None and node.array is None]

    def _auxiliary(self) -> set[int]:
        return {
            id(node.inputs[i].node)
            for node in topological_order(self._values)
            if node.op is not None
            for i in node.op.mutated_inputs(node.attrs)
        }

    def list_arguments(self) -> list[str]:
        """Return the names of the variables that no operator overwrites, depth first."""
        auxiliary = self._auxiliary()
        return [node.name for node in self._variables() if id(node) not in auxiliary]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the variables that an operator overwrites, such as moving
        statistics."""
        auxiliary = self._auxiliary()
        return [node.name for node in self._variables() if id(node) in auxiliary]

    def list_inputs(self) -> list[str]:
        """Return the names of all variables."""
        return [node.name for node in self._variables()]

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs: the variable's, ``node_output``, or ``node_`` and the
        operator's word."""
        return output_names(self._values)

    # -- attributes ----------------------------------------------------------------------------

    def attr(self, key: str) -> str | None:
        """Return an attribute of the node as a string, None if it has none of this name."""
        return self.list_attr().get(key)

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """Return the node's attributes as strings.

        Raises:
            ArgumentError: with ``recursive``; use `attr_dict`.
        """
        if recursive:
            raise ArgumentError("list_attr: expected recursive=False, got True; use attr_dict")
        return node_attributes(self._values[0].node)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """Return the attributes of every node that has some, by node name."""
        found = {node.name: node_attributes(node) for node in topological_order(self._values)}
        return {name: attrs for name, attrs in found.items() if attrs}

    # -- attached by gluonish.symbol.methods ------------------------------------------------------

    if TYPE_CHECKING:

        def __call__(self, *args: "Symbol", **kwargs: "Symbol") -> "Symbol": ...
        def infer_shape(self, *args: Any, **kwargs: Any) -> Any: ...
        def tojson(self, remove_amp_cast: bool = True) -> str: ...

    def _refuse(self, what: str) -> NoReturn:
        raise NotSupportedError(
            f"{what}: expected an NDArray, got Symbol {self.name}, which has no values; give it an NDArray, or do not hybridize"
        )

    def asnumpy(self) -> NoReturn:
        """Refuse: a Symbol has no values."""
        self._refuse("asnumpy")

    def asscalar(self) -> NoReturn:
        """Refuse: a Symbol has no values."""
        self._refuse("asscalar")

    def wait_to_read(self) -> NoReturn:
        """Refuse: a Symbol has no values."""
        self._refuse("wait_to_read")

    def backward(self) -> NoReturn:
        """Refuse: a Symbol has no values."""
        self._refuse("backward")


def node_attributes(node: Node) -> dict[str, str]:
    """Return a node's attributes as strings: its operator's, as spelled, and the user's (hidden
    ones in both spellings)."""
    found: dict[str, str] = {}
    if node.op is not None:
        found |= node.op.schema.to_strings(node.attrs) if node.given is None else node.given
    for key, value in node.extra.items():
        found[key] = value
        if key.strip("_") in _HIDDEN:
            found[key.strip("_")] = value
    return found


def output_names(values: Sequence[Value]) -> list[str]:
    """Return the names of values."""
    return [_output_name(value.node, value.index) for value in values]


def _output_name(node: Node, index: int) -> str:
    if node.op is None:
        return node.name
    if node.op.output_names:
        return f"{node.name}_{node.op.output_names[index]}"
    return f"{node.name}_output" if node.num_visible == 1 else f"{node.name}_output{index}"


def hint(op: Operator) -> str:
    """Return the word that unnamed nodes of an operator are called by: ``_plus`` for
    ``elemwise_add``."""
    for name in op.aliases:
        if name[0] == "_" and name[1].isupper():
            return name.lower()
    return op.name.lower()


def new_node(
    op: Operator,
    inputs: Sequence[Any],
    attrs: Attrs,
    given: Mapping[str, str],
    name: str | None,
    extra: Mapping[str, str] | None,
    word: str | None = None,
) -> Symbol:
    """Return a Symbol for a new node.

    Args:
        op: The operator.
        inputs: Symbols; None at the end or in between makes a variable ``name_input``.
        attrs: Parsed attributes.
        given: The attributes as the user spelled them.
        name: Given by the user, or None.
        extra: Further attributes, ``__key__`` to string.
        word: What an unnamed node is called after, the operator's own word by default.
    """
    name = NameManager.current().get(name, word or hint(op))
    extra = {**current_attributes(), **(extra or {})}
    values = []
    for input_name, x in zip(op.input_names(attrs), inputs, strict=True):
        if x is None:
            values.append(Value(Node(None, f"{name}_{input_name}", extra={**extra})))
        elif not isinstance(x, Symbol):
            raise ArgumentTypeError(
                f"{op.name}: expected {input_name} to be a Symbol, got {type(x).__name__}; inside hybrid_forward use its "
                "arguments and F only"
            )
        elif len(x._values) != 1:
            raise GraphError(
                f"{op.name}: expected {input_name} to be one output, got {len(x._values)}; pick one with []"
            )
        else:
            values.append(x._values[0])
    node = Node(op, name, values, attrs, extra=extra, given=given)
    return Symbol([Value(node, i) for i in range(node.num_visible)])
