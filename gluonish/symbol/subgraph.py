"""Back ends that users write in Python: they take parts of a graph and put something else there.

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
    ...             return None  # a dense layer alone stays as it is
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
from gluonish.graph.ir import variable
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.symbol import Symbol

__all__ = [
    "BUILT_IN",
    "OperatorNode",
    "Subgraph",
    "SubgraphBackend",
    "backend_of_environment",
    "find_backend",
    "known_names",
    "lent_backend",
    "make_backend",
    "register_backend",
]

# A plan fuses for oneDNN by itself, so that these ask for nothing more.
BUILT_IN = ("MKLDNN", "MKLDNN_QUANTIZE", "ONEDNN", "ONEDNN_QUANTIZE", "NONE", "default")

# What a back end may put in the place of a subgraph; None leaves it.
Replacement = Symbol | Callable[..., Any] | None


class OperatorNode(NamedTuple):
    """One operator of a graph, as a back end sees it.

    Attributes:
        name: Its name.
        op: Registry name of the operator: ``"FullyConnected"``.
        attrs: All attributes of the operator, as Python values.
        extra: Further attributes, the user's own among them, as text.
        inputs: Names of the arrays that it reads.
        input_shapes: Their shapes; None for one that is not known.
        output_shapes: Shapes of its outputs, likewise.
        output_dtypes: NumPy types of its outputs, likewise.
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
    """A part of a graph, given to a back end to replace.

    Args:
        name: The back end's name and a number.
        symbol: What it computes, over variables that stand for what it reads.
        nodes: Its operators, in order.
        arrays: Values of those inputs that are parameters, as far as they are known.
        shapes: Shape of each input; None where it is not known.
        add: Takes a new parameter's name and value, and returns its name in the whole graph.

    Attributes:
        inputs: Names of the variables, in order: what a function in its place is called with.
        auxiliary: Those among them, the last ones, that an operator overwrites.
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
        """Return a variable with a value, which the replacement may read beside the inputs.

        Args:
            name: Its name, which gets that of the subgraph in front.
            array: Its value. `Symbol.optimize_for` adds it to ``args``, a block to its parameters;
                where it was trained or loaded since, it keeps that when the block is traced anew.

        Raises:
            NotSupportedError: There is no place for it: no ``args`` were given.
        """
        return Symbol([variable(self._add(f"{self.name}_{name}", array))])


class SubgraphBackend:
    """Base class of back ends: which operators they take, and what replaces those.

    A subgraph begins at operators that `select` takes, and grows over operators beside it that
    `select_input` and `select_output` take. What would make the graph run in a circle is left out,
    so a selected operator may end up in a subgraph of its own.

    An object is made for each graph; options of ``optimize_for`` are arguments of ``__init__``.
    """

    def begin(self, symbol: Symbol) -> Symbol | None:
        """Look at the whole graph before anything is selected; may return another one.

        Args:
            symbol: The graph.
        """

    def select(self, node: OperatorNode) -> bool:
        """Whether a subgraph may begin at an operator; a subclass defines this.

        Args:
            node: The operator.

        Raises:
            NotSupportedError: The class does not define it.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a back end that defines select(node), got none"
        )

    def select_input(self, node: OperatorNode, producer: OperatorNode) -> bool:
        """Whether a subgraph with ``node`` may take in ``producer``, which that reads.

        By default as `select` says of it.
        """
        return self.select(producer)

    def select_output(self, node: OperatorNode, reader: OperatorNode) -> bool:
        """Whether a subgraph with ``node`` may take in ``reader``, which reads that.

        By default as `select` says of it.
        """
        return self.select(reader)

    def replace(self, subgraph: Subgraph) -> Replacement:
        """Return what takes a subgraph's place; a subclass defines this.

        Args:
            subgraph: The subgraph.

        Returns:
            None to leave it as it is. A Symbol over its inputs, and over parameters that
            `Subgraph.add_parameter` made, with as many outputs. Or a function of its inputs, which
            are NDArrays, that returns an array or a list of them; it runs as an operator. Its
            gradient is found by running it once more while recording, so it should compute with
            ``mx.nd``, and the same in each run; else return a Symbol with a `CustomOp`.

        Raises:
            NotSupportedError: The class does not define it.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a back end that defines replace(subgraph), got none"
        )

    def end(self, symbol: Symbol) -> Symbol | None:
        """Look at the whole graph after everything is replaced; may return another one.

        Args:
            symbol: The graph.
        """


_backends: dict[str, type[SubgraphBackend]] = {}


def register_backend(
    name: str,
) -> Callable[[type[SubgraphBackend]], type[SubgraphBackend]]:
    """Return a decorator that registers a `SubgraphBackend` under a name.

    Args:
        name: The name; a later class of the same name takes the place of an earlier one.

    Raises:
        ArgumentError: The name is empty, or one of gluonish's own.
        ArgumentTypeError: by the decorator, if the class is no `SubgraphBackend`.
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
def lent_backend(name: str, kind: type[SubgraphBackend]) -> Iterator[None]:
    """A scope in which a back end is known under a name; for tests."""
    before = _backends.get(name)
    register_backend(name)(kind)
    try:
        yield
    finally:
        del _backends[name]
        if before is not None:
            _backends[name] = before


def find_backend(name: str | None) -> type[SubgraphBackend] | None:
    """Return the class of a registered name; None if there is none."""
    return _backends.get(name or "")


def known_names() -> tuple[str, ...]:
    """Return the names that may be asked for."""
    return (*BUILT_IN, *_backends)


def make_backend(what: str, name: str, options: Mapping[str, Any]) -> SubgraphBackend:
    """Return a new object of a registered back end.

    Args:
        what: Who asks, for messages.
        name: The registered name.
        options: Arguments of its ``__init__``.

    Raises:
        ArgumentError: There is no such back end, or it does not take the options.
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
    """Return the user's back end that ``MXNET_SUBGRAPH_BACKEND`` names; None if it names none.

    Raises:
        ConfigError: It names one that is not registered.
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
