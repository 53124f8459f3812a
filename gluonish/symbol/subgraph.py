"""Back ends that users write in Python to replace parts of a graph.

A back end is a class, registered under a name. `Symbol.optimize_for`, `HybridBlock.optimize_for`
and ``MXNET_SUBGRAPH_BACKEND`` name it.

    >>> import gluonish as mx
    >>> @mx.sym.register_backend("dense_relu")
    ... class DenseRelu(mx.sym.SubgraphBackend):
    ...     def select(self, node):
    ...         return node.op == "FullyConnected"
    ...     def select_output(self, node, reader):
    ...         return reader.op == "Activation" and reader.attrs["act_type"] == "relu"
    ...     def replace(self, subgraph):
    ...         if len(subgraph.nodes) < 2:
    ...             return None  # keep a single dense layer
    ...         print("instead of", [node.op for node in subgraph.nodes])
    ...         return lambda x, weight, bias: mx.nd.relu(mx.nd.dot(x, weight.T) + bias)
    >>> net = mx.gluon.nn.Dense(2, activation="relu", weight_initializer="ones")
    >>> net.initialize()
    >>> x = mx.nd.array([[1, 2], [3, -4]])
    >>> net.optimize_for(x, backend="dense_relu")
    instead of ['FullyConnected', 'Activation']
    >>> net(x).tolist()
    [[3.0, 3.0], [0.0, 0.0]]
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_SUBGRAPH_BACKEND
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ConfigError, NotSupportedError
from gluonish.core.object_repr import default_repr
from gluonish.graph.ir import variable
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.symbol import Symbol

# Plans fuse operators for oneDNN anyway, so that these back ends have nothing to do.
BUILT_IN = ("MKLDNN", "MKLDNN_QUANTIZE", "ONEDNN", "ONEDNN_QUANTIZE", "NONE", "default")

# Replacement of a subgraph; None keeps the subgraph.
Replacement = Symbol | Callable[..., Any] | None


class OperatorNode(NamedTuple):
    """One operator of a graph, for a back end.

    Attributes:
        name: Name of the node.
        op: Registered name of the operator, such as ``"FullyConnected"``.
        attrs: All parameters of the operator, as Python values.
        extra: Further attributes as strings, including the user's.
        inputs: Names of the arrays that the operator reads.
        input_shapes: Shapes of these arrays; None if unknown.
        output_shapes: Shapes of its outputs; None if unknown.
        output_dtypes: NumPy types of its outputs; None if unknown.
    """

    name: str
    op: str
    attrs: Mapping[str, Any]
    extra: Mapping[str, str]
    inputs: tuple[str, ...]
    input_shapes: tuple[tuple[int, ...] | None, ...]
    output_shapes: tuple[tuple[int, ...] | None, ...]
    output_dtypes: tuple[Any, ...]


class Subgraph:
    """A subgraph that a back end can replace.

    Args:
        name: The back end's name followed by a number.
        symbol: The computation, with variables for its inputs.
        nodes: The operators of the subgraph, in execution order.
        arrays: Known values of the inputs that are parameters, by name.
        shapes: Shape of each input; None if unknown.
        add: Function that takes a new parameter's name and value and returns its name in the
            graph.

    Attributes:
        inputs: Names of the inputs, in the order of the arguments of a replacement function.
        auxiliary: Names of the inputs that an operator overwrites; they come last.
        outputs: Names of the outputs.
    """

    def __init__(
        self,
        name: str,
        symbol: Symbol,
        nodes: Sequence[OperatorNode],
        arrays: Mapping[str, NDArray],
        shapes: Mapping[str, tuple[int, ...] | None],
        add: Callable[[str, NDArray], str],
    ) -> None:
        self.name = name
        self.symbol = symbol
        self.nodes = tuple(nodes)
        self.arrays = dict(arrays)
        self.shapes = dict(shapes)
        self.auxiliary = symbol.list_auxiliary_states()
        self.inputs = [*symbol.list_arguments(), *self.auxiliary]
        self.outputs = symbol.list_outputs()
        self._add = add

    def __repr__(self) -> str:
        return f"<Subgraph {self.name}: {', '.join(node.name for node in self.nodes)}>"

    def add_parameter(self, name: str, array: NDArray) -> Symbol:
        """Return a variable for a new parameter, which the replacement may read.

        Args:
            name: Name of the parameter; the subgraph's name is prefixed.
            array: Value of the parameter. `Symbol.optimize_for` adds it to ``args``, a block to its
                parameters; if it was trained or loaded since, tracing the block again keeps that
                value.

        Raises:
            NotSupportedError: The value cannot be stored, because no ``args`` were passed.
        """
        return Symbol([variable(self._add(f"{self.name}_{name}", array))])


class SubgraphBackend:
    """Base class of back ends, which select operators and replace them.

    A subgraph starts at operators that `select` accepts, and grows to neighbouring operators that
    `select_input` and `select_output` accept. Operators that would create a cycle are left out, so
    a selected operator may become a separate subgraph.

    One object is created for each graph; the options of ``optimize_for`` are arguments of
    ``__init__``.
    """

    __repr__ = default_repr

    def begin(self, symbol: Symbol) -> Symbol | None:
        """Called with the graph before operators are selected; may return another graph.

        Args:
            symbol: The graph.
        """

    def select(self, node: OperatorNode) -> bool:
        """Whether a subgraph may start at an operator; subclasses define this.

        Args:
            node: The operator.

        Raises:
            NotSupportedError: The class does not define it.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a back end that defines select(node), got none"
        )

    def select_input(self, node: OperatorNode, producer: OperatorNode) -> bool:
        """Whether the subgraph of ``node`` may include an operator whose output it reads.

        By default the result of `select`.

        Args:
            node: Operator in the subgraph.
            producer: Operator that computes one of its inputs.
        """
        return self.select(producer)

    def select_output(self, node: OperatorNode, reader: OperatorNode) -> bool:
        """Whether the subgraph of ``node`` may include an operator that reads its output.

        By default the result of `select`.

        Args:
            node: Operator in the subgraph.
            reader: Operator that reads one of its outputs.
        """
        return self.select(reader)

    def replace(self, subgraph: Subgraph) -> Replacement:
        """Return the replacement of a subgraph; subclasses define this.

        Args:
            subgraph: The subgraph.

        Returns:
            None to keep the subgraph; a Symbol with as many outputs, over the subgraph's inputs and
            parameters made by `Subgraph.add_parameter`; or a function that takes the inputs as
            NDArrays and returns an array or a list of arrays, which runs as one operator. For its
            gradient the function is run again and recorded, so it must use ``mx.nd`` and compute
            the same each time; otherwise return a Symbol with a `CustomOp`.

        Raises:
            NotSupportedError: The class does not define it.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a back end that defines replace(subgraph), got none"
        )

    def end(self, symbol: Symbol) -> Symbol | None:
        """Called with the graph after all replacements; may return another graph.

        Args:
            symbol: The graph.
        """


_backends: dict[str, type[SubgraphBackend]] = {}


def register_backend(
    name: str,
) -> Callable[[type[SubgraphBackend]], type[SubgraphBackend]]:
    """Return a class decorator that registers a `SubgraphBackend` under a name.

    Args:
        name: The name; a later class with the same name replaces an earlier one.

    Raises:
        ArgumentError: The name is empty, or that of a built-in back end.
        ArgumentTypeError: From the decorator: the class is not a subclass of `SubgraphBackend`.
    """
    if not name or name.strip() != name or name in BUILT_IN:
        raise ArgumentError(
            f"register_backend: expected a name that is not built in ({BUILT_IN}), got {name!r}"
        )

    def decorate(kind: type[SubgraphBackend]) -> type[SubgraphBackend]:
        if not (isinstance(kind, type) and issubclass(kind, SubgraphBackend)):
            raise ArgumentTypeError(f"register_backend: expected a SubgraphBackend, got {kind!r}")
        _backends[name] = kind
        return kind

    return decorate


@contextmanager
def registered_backend(name: str, kind: type[SubgraphBackend]) -> Iterator[None]:
    """Context manager in which a back end is registered under a name; for tests.

    Args:
        name: The name.
        kind: The class.
    """
    before = _backends.get(name)
    register_backend(name)(kind)
    try:
        yield
    finally:
        del _backends[name]
        if before is not None:
            _backends[name] = before


def find_backend(name: str | None) -> type[SubgraphBackend] | None:
    """Return the class registered under a name; None if there is none.

    Args:
        name: The name.
    """
    return _backends.get(name or "")


def known_names() -> tuple[str, ...]:
    """Return the names of all back ends."""
    return (*BUILT_IN, *_backends)


def make_backend(what: str, name: str, options: Mapping[str, Any]) -> SubgraphBackend:
    """Create an object of a registered back end.

    Args:
        what: Name of the calling function, for error messages.
        name: Registered name of the back end.
        options: Arguments of its constructor.

    Raises:
        ArgumentError: There is no such back end, or it does not accept the options.
    """
    kind = find_backend(name)
    if kind is None:
        raise ArgumentError(f"{what}: expected a backend among {known_names()}, got {name!r}")
    try:
        return kind(**options)
    except TypeError as error:
        raise ArgumentError(
            f"{what}: expected options of backend {name!r}, got {dict(options)}: {error}"
        ) from error


def backend_of_environment() -> str | None:
    """Return the user's back end that ``MXNET_SUBGRAPH_BACKEND`` names, or None.

    Raises:
        ConfigError: The name is not registered.
    """
    name = MXNET_SUBGRAPH_BACKEND.value
    if name in BUILT_IN:
        return None
    if find_backend(name) is None:
        raise ConfigError(
            f"MXNET_SUBGRAPH_BACKEND: expected one of {', '.join(known_names())}, got {name!r}; "
            "register a back end of your own before graphs are made"
        )
    return name
