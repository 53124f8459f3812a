"""The graph: nodes, and the values between them.

Symbol, tracing, gradients, passes and files share one class of nodes. A `Value` is one output of a
node; operators apply to values as to arrays, and append nodes. Symbol graphs have no specs; all
other graphs have one for every value. Nodes are immutable: a pass builds new ones.

`flattened` lists the nodes of a graph, so that copying and pickling it needs no recursion: a node
refers to its inputs by their indices in the list, and they come before it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from gluonish.core.context import Context, current_context
from gluonish.core.errors import (
    DynamicShapeError,
    GraphError,
    NoValuesError,
    OperatorError,
)
from gluonish.core.order import post_order
from gluonish.core.spec import Shape, Spec
from gluonish.ndarray.indexing import is_basic, slice_by_key
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.fluent import Fluent
from gluonish.ops.registry import Attrs, Operator, find_operator

# Operators behind Python's operators whose nodes are not named after their capitalized alias.
_CALLED_BY_NAME = frozenset(
    f"_{name}_scalar"
    for name in (
        *("rpower", "equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal"),
    )
)

# Attributes outside of schemas that inference needs: bodies of control flow, whether it saves
# values for its gradient, and the state of a custom operator.
_STRUCTURAL = ("subgraphs", "keep", "state")

Namer = Callable[[str], str]

# Names nodes while a forward is traced; nodes of gradients and passes need no names.
namer: ContextVar[Namer | None] = ContextVar("gluonish_namer", default=None)

# Attributes that mark nodes while the body of a control-flow operator is traced.
body_mark: ContextVar[Mapping[str, str] | None] = ContextVar("gluonish_body_mark", default=None)


class Node:
    """One operator application, a variable (no ``op``) or a constant (no ``op``, but ``array``).

    Attributes:
        name: Name in files, messages and text; unique by convention only.
        attrs: Parsed attributes of the operator.
        specs: Specs of the outputs; empty if unknown, as in Symbol graphs.
        extra: Other attributes, as strings: ``__shape__``, ``__lr_mult__`` and those of users.
        array: The value of a constant.
        given: Attributes of the operator as the user or a file spelled them, for writing files;
            None for the attributes that differ from the defaults.
    """

    __slots__ = ("array", "attrs", "extra", "given", "inputs", "name", "op", "specs")

    def __init__(
        self,
        op: Operator | None,
        name: str,
        inputs: Sequence["Value"] = (),
        attrs: Attrs | None = None,
        specs: Sequence[Spec] = (),
        extra: Mapping[str, str] | None = None,
        array: NDArray | None = None,
        given: Mapping[str, str] | None = None,
    ) -> None:
        self.op = op
        self.name = name
        self.inputs = tuple(inputs)
        self.attrs: Attrs = attrs or {}
        self.specs = tuple(specs)
        self.extra: Mapping[str, str] = extra or {}
        self.array = array
        self.given = given

    @property
    def num_outputs(self) -> int:
        """Number of outputs, hidden outputs included."""
        return 1 if self.op is None else self.op.num_outputs(self.attrs)

    @property
    def num_visible(self) -> int:
        """Number of visible outputs."""
        return 1 if self.op is None else self.op.num_visible(self.attrs)


class Value(Fluent):
    """One output of a node; operators on values append nodes.

    Args:
        node: The node that computes the value.
        index: Index of the output of the node.

    Attributes:
        key: Identity of the value while its node lives.
    """

    __slots__ = ("index", "key", "node")

    def __init__(self, node: Node, index: int = 0) -> None:
        self.node = node
        self.index = index
        self.key = (id(node), index)

    if TYPE_CHECKING:  # attached by gluonish.graph.numpy_value

        def as_np_ndarray(self) -> "Value":
            """Return the value with the semantics of ``mx.np``."""
            ...

        def as_nd_ndarray(self) -> "Value":
            """Return the value with the semantics of ``mx.nd``."""
            ...

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
        return append(op, inputs, attrs)

    @property
    def spec(self) -> Spec:
        """Shape and dtype."""
        if not self.node.specs:
            raise GraphError(f"graph: expected known shapes, got none for {self.node.name}")
        return self.node.specs[self.index]

    @property
    def shape(self) -> Shape:
        """Extents."""
        return self.spec.shape

    @property
    def dtype(self) -> Any:
        """NumPy type of the elements."""
        return self.spec.dtype.type

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.spec.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.spec.size

    @property
    def context(self) -> Context:
        """The device that the graph is traced for."""
        return current_context()

    ctx = context

    def __len__(self) -> int:
        return self.spec.shape[0]

    def detach(self) -> Any:
        """Return the value, with no gradient through it."""
        return append(find_operator("BlockGrad"), (self,), {})

    def copy(self) -> Any:
        """Return the value itself, since values are immutable."""
        return self

    def as_in_context(self, context: Context) -> Any:
        """Return the value itself.

        Raises:
            GraphError: The context is another device than that of the graph.
        """
        if context != self.context:
            raise GraphError(
                f"as_in_context: expected {self.context}, where the graph is traced, got {context}"
            )
        return self

    as_in_ctx = as_in_context

    @property
    def T(self) -> Any:  # as in NDArray
        """The value with its axes in reverse order."""
        return self.transpose()

    def __getitem__(self, key: Any) -> Any:
        if not is_basic(key):
            raise NoValuesError(
                "index: expected integers, slices, None or Ellipsis in a traced forward, got an "
                "array; use take or gather_nd"
            )
        return slice_by_key(self, key)

    def __bool__(self) -> bool:
        raise NoValuesError(
            "truth value: expected a computation without branches on values, got `if` on "
            f"{self.node.name} while it was traced; use where, or do not hybridize this block"
        )

    # A traced value has no elements; without this, iteration would never end.
    __iter__ = None

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Raise an error: a traced value has no elements.

        Raises:
            NoValuesError: Always.
        """
        raise NoValuesError(
            "asnumpy: expected a computation without host access, got it on "
            f"{self.node.name} while it was traced; do not hybridize this block"
        )


# Class of values for each class of arrays.
VALUE_KINDS: dict[type[NDArray], type[Value]] = {NDArray: Value}


def variable(
    name: str,
    spec: Spec | None = None,
    extra: Mapping[str, str] | None = None,
    kind: type[NDArray] = NDArray,
) -> Value:
    """Return a new input of a graph, for arrays of the class ``kind``."""
    found = next((VALUE_KINDS[k] for k in kind.__mro__ if k in VALUE_KINDS), Value)
    return found(Node(None, name, specs=() if spec is None else (spec,), extra=extra))


def constant(array: NDArray, name: str = "constant") -> Value:
    """Return an array as a constant of a graph; sparse arrays become dense."""
    if array.stype != "default":
        array = array.tostype("default")
    return VALUE_KINDS.get(type(array), Value)(Node(None, name, specs=(array._spec,), array=array))


def infer_specs(op: Operator, specs: Sequence[Spec], attrs: Attrs) -> tuple[Spec, ...]:
    """Return the specs of an operator's outputs, inferred without its runtime attributes."""
    if not op.stateless:
        known = op.schema.attributes
        attrs = {k: v for k, v in attrs.items() if k in known or k in _STRUCTURAL}
    return op.infer(*specs, **attrs)


def base_name(op: Operator) -> str:
    """Return the base of the names of unnamed nodes: ``_plus`` for ``elemwise_add``.

    Operators with NumPy semantics have no prefix: ``add`` for ``_npi_add``.
    """
    for prefix in ("_npi_", "_npx_", "_np_"):
        if op.name.startswith(prefix):
            return op.name.removeprefix(prefix)
    if op.name not in _CALLED_BY_NAME:
        for name in op.aliases:
            if name[0] == "_" and name[1].isupper():
                return name.lower()
    return op.name.lower()


def append(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> Any:
    """Return the visible outputs of a new node; arrays among the inputs become constants.

    Raises:
        OperatorError: Inference rejects the inputs; in a traced forward the message names the node.
        DynamicShapeError: The shape of an output depends on values.
    """
    if op.measure is not None:
        raise DynamicShapeError(
            f"{op.name}: expected an operator whose shape follows from its inputs' shapes, got one "
            "whose shape depends on values; call it outside of graphs"
        )
    values = [constant(x) if isinstance(x, NDArray) else x for x in inputs]
    name_node = namer.get()
    word = base_name(op)
    name = word if name_node is None else name_node(word)
    try:
        specs = infer_specs(op, [value.spec for value in values], attrs)
    except OperatorError as error:
        if name_node is None:
            raise
        raise OperatorError(f"{name}: {error}") from error
    node = Node(op, name, values, attrs, specs, body_mark.get())
    kind = type(values[0]) if values else Value
    outputs = [kind(node, i) for i in range(node.num_visible)]
    return outputs[0] if len(outputs) == 1 else outputs


def topological_order(outputs: Iterable[Value]) -> list[Node]:
    """Return the nodes that the outputs depend on, depth first, each after its inputs."""
    return post_order([value.node for value in outputs], _read_nodes)


def _read_nodes(node: Node) -> list[Node]:
    return [value.node for value in node.inputs]


class Graph:
    """Nodes in topological order, with input variables and output values.

    Args:
        inputs: Variables, in the order of a call, including those that no node reads.
        outputs: Values that the graph computes.
        nodes: Nodes in topological order; by default those that the outputs depend on.
    """

    __slots__ = ("inputs", "nodes", "outputs")

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Value],
        nodes: Sequence[Node] | None = None,
    ) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.nodes = tuple(topological_order(outputs) if nodes is None else nodes)

    def __str__(self) -> str:
        numbers = {id(node): i for i, node in enumerate(self.nodes)}

        def text(value: Value) -> str:
            suffix = f".{value.index}" if value.index else ""
            return f"%{numbers[id(value.node)]}{suffix}"

        lines = []
        for i, node in enumerate(self.nodes):
            specs = ", ".join(map(str, node.specs))
            body = _body(node, [text(value) for value in node.inputs])
            lines.append(f"%{i}: {specs} = {body}" if specs else f"%{i} = {body}")
        return "\n".join([*lines, f"return {', '.join(map(text, self.outputs))}"])


def _body(node: Node, inputs: Sequence[str]) -> str:
    """Return the text of a node: operator, inputs, and attributes that are not defaults."""
    if node.op is None:
        return f"variable {node.name}" if node.array is None else f"constant {node.name}"
    schema = node.op.schema
    names = [*schema.attributes, *(name for name in node.attrs if name not in schema.attributes)]
    attrs = [
        f"{name}={node.attrs[name]}"
        for name in names
        if name not in schema.defaults or node.attrs[name] != schema.defaults[name]
    ]
    return f"{node.op.name}({', '.join([*inputs, *attrs])})"


def lint(graph: Graph) -> Graph:
    """Return the graph if it is valid.

    Every input of a node is an output of an earlier node; every variable that is read is an input
    of the graph; every output is a value of the graph; every node has the specs that its operator
    infers.

    Raises:
        GraphError: A node breaks a rule; the message names it.
    """
    variables = {id(node) for node in graph.inputs}
    earlier: set[int] = set()
    for node in graph.nodes:
        for value in node.inputs:
            if id(value.node) not in earlier or value.index >= value.node.num_outputs:
                raise GraphError(
                    f"lint: expected inputs of {node.name} to come earlier, got {value.node.name}"
                )
        if node.op is None and node.array is None and id(node) not in variables:
            raise GraphError(f"lint: expected {node.name} among the graph's inputs, got a stranger")
        if node.op is not None and node.specs:
            expected = infer_specs(node.op, [value.spec for value in node.inputs], node.attrs)
            if tuple(expected) != node.specs:
                raise GraphError(
                    f"lint: expected {node.name} to give {[*map(str, expected)]}, got "
                    f"{[*map(str, node.specs)]}"
                )
        earlier.add(id(node))
    for value in graph.outputs:
        if id(value.node) not in earlier:
            raise GraphError(f"lint: expected output {value.node.name} in the graph, got none")
    return graph


# Index of the node, index of the output, and class of the value.
_Reference = tuple[int, int, type[Value]]

# The arguments of each `Node`, with references for its inputs; and references to the outputs.
FlatGraph = tuple[list[tuple[Any, ...]], list[_Reference]]


def flattened(outputs: Sequence[Value]) -> FlatGraph:
    """Return the graph of some values as a list that can be copied without recursion."""
    indices: dict[int, int] = {}
    nodes: list[tuple[Any, ...]] = []

    def references(values: Sequence[Value]) -> list[_Reference]:
        return [(indices[id(value.node)], value.index, type(value)) for value in values]

    for node in topological_order(outputs):
        fields = (node.attrs, node.specs, node.extra, node.array, node.given)
        nodes.append((node.op, node.name, references(node.inputs), *fields))
        indices[id(node)] = len(indices)
    return nodes, references(outputs)


def restored(graph: FlatGraph) -> list[Value]:
    """Return the values whose graph was flattened, on new nodes."""
    nodes, heads = graph
    made: list[Node] = []

    def values(references: Sequence[_Reference]) -> list[Value]:
        return [kind(made[position], index) for position, index, kind in references]

    for op, name, inputs, attrs, specs, extra, array, given in nodes:
        made.append(Node(op, name, values(inputs), attrs, specs, dict(extra), array, given))
    return values(heads)
