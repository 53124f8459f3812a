"""Symbol: values of a graph without shapes, for users, `hybrid_forward` and files.

Inference, files and composition are in other modules; `gluonish.symbol.methods` makes them methods
of the class.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    GraphError,
    NotImplementedForSymbol,
    OutOfBoundsError,
)
from gluonish.graph.dynamic import is_dynamic
from gluonish.graph.interpreter import output_names
from gluonish.graph.ir import (
    FlatGraph,
    Node,
    Value,
    base_name,
    flattened,
    restored,
    topological_order,
)
from gluonish.graph.source_lines import note
from gluonish.ops.autocast import current
from gluonish.ops.fluent import Fluent
from gluonish.ops.registry import Attrs, Operator, find_operator
from gluonish.symbol.name import (
    HIDDEN_ATTRIBUTES,
    NameManager,
    current_attributes,
    stored_attributes,
)
from gluonish.symbol.refusals import (
    NoAttribute,
    check_key,
    means_outputs,
    refuse,
    refuse_number,
)

__all__ = [
    "VARIABLE_STARTS",
    "Symbol",
    "attribute_strings",
    "new_node",
    "node_attributes",
    "operator_attributes",
]

# Operators that contain the graph of layers.
_LAYER_OPERATORS = ("_sg_mkldnn_", "_CachedOp")
_MOVING = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}
# Initializers of input variables without an initializer, by operator.
VARIABLE_STARTS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm"), _MOVING),
    "IdentityAttachKLSparseReg": {"moving_avg": '["zero", {}]'},
    "LeakyReLU": {"gamma": '["Constant", {"value": 0.25}]'},
}


attributes_set = [0]  # counts changes to the attributes of existing nodes

if TYPE_CHECKING:
    from gluonish.symbol.attached import AttachedMethods  # a stub: `python -m tests.stubs`
else:
    AttachedMethods = Fluent


class Symbol(AttachedMethods):
    """One or more outputs of a computation graph, without values.

    Created by `var`, `Group`, `load` and the operator functions of ``mx.sym``, not by calling the
    class. `eval`, `bind` and `simple_bind` compute it.

    Attributes:
        name: Name of the node; None for outputs of several nodes.
    """

    __slots__ = ("_leaves", "_placed", "_values")
    _broadcasts = False

    def __init__(self, values: Sequence[Value] | None) -> None:
        # None: a pickle of MXNet, followed by a state.
        self._values: tuple[Value, ...] = () if values is None else tuple(values)
        # Results of `_variables` and `_auxiliary`, and the outputs that they belong to.
        self._leaves: tuple[tuple[Value, ...], list[Node], set[int]] | None = None
        # Graph of the last executor, see `gluonish.symbol.bound_graphs`.
        self._placed: Any = None

    @staticmethod
    def __apply__(op: Operator, inputs: Sequence[Any], attrs: Attrs) -> "Symbol":
        return new_node(op, inputs, attrs, attribute_strings(op, attrs), None, None)

    @property
    def name(self) -> str | None:
        """Name of the node; None for outputs of several nodes."""
        nodes = {id(value.node) for value in self._values}
        return self._values[0].node.name if len(nodes) == 1 else None

    def __len__(self) -> int:
        means_outputs(self, "len(x)")
        return len(self._values)

    def __iter__(self) -> Iterator["Symbol"]:
        means_outputs(self, "iteration over x")
        return (type(self)([value]) for value in self._values)

    def __getitem__(self, index: int | str | slice) -> "Symbol":
        check_key(self, index)
        if isinstance(index, slice):
            return type(self)(self._values[index])
        if isinstance(index, str):
            names = self.list_outputs()
            if names.count(index) != 1:
                raise ArgumentError(f"Symbol: expected one output named {index!r}, got {names}")
            index = names.index(index)
        if not hasattr(index, "__index__"):
            raise ArgumentTypeError(f"Symbol: expected an index or a name, got {index!r:.200}")
        if not 0 <= index < len(self._values):
            raise OutOfBoundsError(
                f"Symbol: expected an output index below {len(self._values)}, got {index}"
            )
        return type(self)([self._values[index]])

    def __repr__(self) -> str:
        if self.name is not None:
            return f"<Symbol {self.name}>"
        return f"<Symbol group [{', '.join(value.node.name for value in self._values)}]>"

    def __bool__(self) -> bool:
        raise NotImplementedForSymbol(
            "truth value: expected a computation without branches on values, got `if` on Symbol "
            f"{self.name}; use F.where, or do not hybridize this block"
        )

    def __float__(self) -> NoReturn:
        refuse_number(self, "float(x)")

    def __int__(self) -> NoReturn:
        refuse_number(self, "int(x)")

    def __complex__(self) -> NoReturn:
        refuse_number(self, "complex(x)")

    def __round__(self, ndigits: object = None) -> Any:
        refuse_number(self, "round(x)")

    def __format__(self, spec: str) -> str:
        if spec:
            refuse_number(self, f'f"{{x:{spec}}}"')
        return str(self)

    def __setitem__(self, key: object, value: object) -> NoReturn:
        refuse_number(self, "x[...] = y")

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        refuse_number(self, "a function of NumPy")

    shape, size, ndim, dtype = NoAttribute(), NoAttribute(), NoAttribute(), NoAttribute()
    context, ctx, device, grad = NoAttribute(), NoAttribute(), NoAttribute(), NoAttribute()

    @property
    def T(self) -> "Symbol":  # the name in NumPy
        """The Symbol with its axes in reverse order."""
        transposed: Symbol = self.transpose()
        return transposed

    def __copy__(self) -> "Symbol":
        return type(self)(self._values)

    def __deepcopy__(self, _: object) -> "Symbol":
        return _unpickled(type(self), flattened(self._values))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), flattened(self._values))

    def get_internals(self) -> "Symbol":
        """Return all values of the graph, including variables, as one Symbol to index by name."""
        nodes = topological_order(self._values)
        return Symbol([Value(node, i) for node in nodes for i in range(node.num_visible)])

    def get_children(self) -> "Symbol | None":
        """Return the inputs of the output nodes as one Symbol; None for a variable."""
        nodes = {id(value.node): value.node for value in self._values}.values()
        inputs = [value for node in nodes for value in node.inputs]
        return Symbol(inputs) if inputs else None

    def get_inputs(self) -> "Symbol":
        """Return the variables of the graph as one Symbol, in the order of `list_inputs`."""
        return Symbol([Value(node, 0) for node in self._variables()])

    def has_dynamic_shape_op(self) -> bool:
        """Return whether the shape of a value in the graph depends on values of arrays."""
        return is_dynamic(self._values)

    def _variables(self) -> list[Node]:
        return self._found()[1]

    def _auxiliary(self) -> set[int]:
        return self._found()[2]

    def _found(self) -> tuple[tuple[Value, ...], list[Node], set[int]]:
        found = self._leaves
        if found is None or found[0] is not self._values:
            nodes = topological_order(self._values)
            variables = [node for node in nodes if node.op is None and node.array is None]
            # Values that the body of a loop overwrites are arguments of the loop, as in MXNet;
            # an operator that contains layers has their auxiliary states.
            auxiliary = {
                id(node.inputs[i].node)
                for node in nodes
                if node.op is not None
                and ("subgraphs" not in node.attrs or node.op.name.startswith(_LAYER_OPERATORS))
                for i in node.op.mutated_inputs(node.attrs)
            }
            found = self._leaves = self._values, variables, auxiliary
        return found

    def list_arguments(self) -> list[str]:
        """Return the names of all variables except auxiliary states, in depth-first order."""
        auxiliary = self._auxiliary()
        return [node.name for node in self._variables() if id(node) not in auxiliary]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the auxiliary states: variables that operators update."""
        auxiliary = self._auxiliary()
        return [node.name for node in self._variables() if id(node) in auxiliary]

    def list_inputs(self) -> list[str]:
        """Return the names of all variables, auxiliary states included."""
        return [node.name for node in self._variables()]

    def list_outputs(self) -> list[str]:
        """Return the names of the outputs.

        An output is named ``<node>_output``, or with a suffix of the operator.
        """
        return list(output_names(self._values))

    def attr(self, key: str) -> str | None:
        """Return the attribute ``key`` of the node as a string; None if it is not set."""
        return self.list_attr().get(key)

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """Return all attributes of the node, strings by name.

        Raises:
            ArgumentError: ``recursive`` is True; `attr_dict` returns those of the whole graph.
        """
        if recursive:
            raise ArgumentError("list_attr: expected recursive=False, got True; use attr_dict")
        return node_attributes(self._values[0].node)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """Return the attributes of every node that has any, by node name."""
        found = {node.name: node_attributes(node) for node in topological_order(self._values)}
        return {name: attrs for name, attrs in found.items() if attrs}

    def _set_attr(self, **kwargs: str) -> None:
        """Set attributes of the node.

        Raises:
            ArgumentTypeError: A value is not a string.
        """
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ArgumentTypeError(f"_set_attr: expected {key} to be a str, got {value!r}")
        node = self._values[0].node
        node.extra = {**node.extra, **stored_attributes(kwargs)}
        attributes_set[0] += 1

    def __neg__(self) -> "Symbol":
        negative: Symbol = self * -1.0
        return negative

    # Defined in gluonish.symbol.methods.
    if TYPE_CHECKING:
        __call__: Callable[..., "Symbol"]
        infer_shape: Callable[..., Any]
        save: Callable[..., None]
        tojson: Callable[..., str]

    def _refuse_in_place(self, other: object) -> NoReturn:
        raise NotImplementedForSymbol(
            f"in-place arithmetic: expected an NDArray, got Symbol {self.name}, whose graph never "
            "changes; write x = x + y"
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = _refuse_in_place

    def gradient(self, wrt: Sequence[str]) -> NoReturn:
        """Not available, as in MXNet: use `bind` and `Executor.backward`."""
        raise NotImplementedForSymbol(
            "gradient: expected bind(...).backward(), got a request for a graph of the gradients "
            f"of {self.name}"
        )

    def copy(self) -> NoReturn:
        """Not available: a Symbol has no values."""
        refuse(self, "x.copy()")

    def as_in_context(self, context: object = None) -> NoReturn:
        """Not available: a Symbol has no values."""
        refuse(self, "x.as_in_context()")

    def detach(self) -> NoReturn:
        """Not available: a Symbol has no values; use `BlockGrad`."""
        refuse(self, "x.detach()")

    def asnumpy(self) -> NoReturn:
        """Not available: a Symbol has no values."""
        refuse(self, "x.asnumpy()")

    def asscalar(self) -> NoReturn:
        """Not available: a Symbol has no values."""
        refuse(self, "x.asscalar()")

    def wait_to_read(self) -> NoReturn:
        """Not available: a Symbol has no values."""
        refuse(self, "x.wait_to_read()")

    def backward(self) -> NoReturn:
        """Not available: a Symbol has no values."""
        refuse(self, "x.backward()")

    def item(self) -> NoReturn:
        """Not available: a Symbol has no values."""
        refuse(self, "x.item()")


def _unpickled(kind: type[Symbol], graph: FlatGraph) -> Symbol:
    return kind(restored(graph))


def attribute_strings(op: Operator, attrs: Attrs) -> dict[str, str]:
    """Return the attributes that differ from their defaults, as MXNet writes them to files."""
    texts = dict(op.schema.to_strings(attrs))
    if "is_int" in attrs and op.name.startswith("_npi_"):
        texts |= {"is_int": str(attrs["is_int"]), "scalar": str(attrs["scalar"])}
    elif "scalar" in attrs:  # MXNet's files contain only the spelling
        number = attrs["scalar"]
        is_int = texts.pop("is_int", "True") == "True" and isfinite(number)
        if "is_int" not in attrs:
            is_int = is_int and float(number).is_integer()
        texts["scalar"] = str(int(number) if is_int else number)
    return texts


def operator_attributes(node: Node) -> dict[str, str]:
    """Return the parameters of a node's operator as strings, as the user wrote them."""
    if node.op is None:
        return {}
    return dict(node.op.schema.to_strings(node.attrs) if node.given is None else node.given)


def node_attributes(node: Node) -> dict[str, str]:
    """Return a node's attributes as strings, with hidden attributes under both of their names."""
    found = operator_attributes(node)
    for key, value in node.extra.items():
        found[key] = value
        if key.strip("_") in HIDDEN_ATTRIBUTES:
            found[key.strip("_")] = value
    return found


def _cast(value: Value, dtype: Any) -> Value:
    """Return a floating value in the dtype of mixed precision."""
    return _cast_node("amp_cast", [value], {"dtype": dtype}, {"dtype": dtype.name})[0]


def _cast_alike(values: Sequence[Value]) -> Sequence[Value]:
    """Return values in the widest floating dtype among them."""
    count = len(values)
    attrs = {"num_outputs": count, "cast_narrow": False}
    return _cast_node("amp_multicast", values, attrs, {"num_outputs": str(count)})


def _cast_node(
    op: str, values: Sequence[Value], attrs: Attrs, given: Mapping[str, str]
) -> list[Value]:
    name, extra = NameManager.current.get(None, op), current_attributes()
    node = Node(find_operator(op), name, values, attrs, extra=extra, given=given)
    return [Value(node, i) for i in range(len(values))]


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
        inputs: Input Symbols; None creates a variable ``name_input`` with the same attributes.
        attrs: Parsed parameters.
        given: Parameters as the user wrote them.
        name: Name chosen by the user, or None.
        extra: Further attributes, strings by ``__key__``.
        word: Start of an automatic name; by default that of the operator's nodes.
    """
    name = NameManager.current.get(name, word or base_name(op))
    note(name)
    extra = {**current_attributes(), **(extra or {})}
    values = []
    starts = VARIABLE_STARTS.get(op.name, {})
    for input_name, x in zip(op.input_names(attrs), inputs, strict=True):
        if x is None:
            start = {"__init__": starts[input_name]} if input_name in starts else {}
            copied = {**given, **extra, **start}
            values.append(Value(Node(None, f"{name}_{input_name}", extra=copied)))
        elif not isinstance(x, Symbol):
            raise ArgumentTypeError(
                f"{op.name}: expected {input_name} to be a Symbol, got {type(x).__name__}; inside "
                "hybrid_forward use its arguments and F only: an array of fixed values is "
                "self.params.get_constant(name, values), an argument like a Parameter"
            )
        elif len(x._values) != 1:
            raise GraphError(
                f"{op.name}: expected {input_name} to be one output, got {len(x._values)}; pick "
                "one with []"
            )
        else:
            values.append(x._values[0])
            variable = x._values[0].node
            if input_name in starts and variable.op is None:
                variable.extra = {"__init__": starts[input_name], **variable.extra}
    policy = current()
    if policy is not None:
        values = [*policy.cast(op, values, attrs, [None] * len(values), _cast, _cast_alike)]
    node = Node(op, name, values, attrs, extra=extra, given=given)
    kind = next((type(x) for x in inputs if isinstance(x, Symbol)), Symbol)
    return kind([Value(node, i) for i in range(node.num_visible)])
