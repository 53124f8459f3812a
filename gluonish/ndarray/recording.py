"""Nodes of the autograd tape, and the recording mode of a thread.

A recorded call creates a node. Only the output arrays refer to it, so a tape is freed with its
outputs. `gluonish.autograd` walks the nodes.
"""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any, ClassVar, NamedTuple, Protocol, final

from gluonish.core.config import MXNET_CHECK_VALUES
from gluonish.core.errors import AutogradError
from gluonish.core.hooks import check_call
from gluonish.core.mxnet_rules import follows_mxnet1, follows_mxnet2
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.composite import input_gradients

Array = Any  # an NDArray, whose module imports this one

# The mode is one int, so that the eager path reads one variable: 0, or a sum of these flags.
NOTHING = 0
RECORDING = 1
TRAINING = 2
HOOKED = 4  # each operator is reported to a hook of a Block
CHECKED = 8  # the values of each operator are checked
OBSERVED = HOOKED | CHECKED  # each operator is reported to the observer


class Tracer(Protocol):
    """Supplies graph values to a traced `forward`; see `gluonish.graph.trace`."""

    def parameter(self, name: str, array: Array) -> Any:
        """Return the graph's value for a parameter that holds ``array``."""

    def source(self, op: Operator, attrs: Attrs) -> Any:
        """Return the graph's value for an operator without inputs."""


# The trace that is running in this thread.
tracer: ContextVar[Tracer | None] = ContextVar("gluonish_tracer", default=None)

# Called after each operator, with its attributes, inputs and all outputs.
Observer = Callable[[Operator, Attrs, Sequence[Array], Sequence[Array]], None]


class Checks(NamedTuple):
    """What `mx.check_values` checks.

    Attributes:
        values: Outputs of operators and gradients are finite.
        labels: Labels and ids are in range.
        gradients: Each parameter of a Trainer gets a gradient.
    """

    values: bool = True
    labels: bool = True
    gradients: bool = True


# The environment of the import applies to all threads.
_CHECKS = Checks() if MXNET_CHECK_VALUES.value else None

observer: ContextVar[Observer] = ContextVar("gluonish_watcher", default=check_call)

mode: ContextVar[int] = ContextVar("gluonish_mode", default=NOTHING if _CHECKS is None else CHECKED)

# The checks of this thread, or None; a backward pass reads them, whose mode lacks CHECKED.
checks: ContextVar[Checks | None] = ContextVar("gluonish_checks", default=_CHECKS)

# Returns a new logical timestamp. Outputs of a freed node count as constants in calls recorded
# after it was freed.
timestamp: Callable[[], int] = count().__next__


class Node(Protocol):
    """One recorded call.

    Attributes:
        parents: For each input, its producer and the output index there; None for a constant.
        output_count: Number of outputs, hidden ones included.
        ignores_head_gradient: Whether the inputs have a gradient even if the outputs have
            none, as for a loss.
        made: Timestamp of the call.
        freed: Timestamp of `free`; infinite before. Calls recorded later treat the outputs as
            constants; calls recorded earlier can no longer backpropagate through them.
        writes_gradients: Whether `backward` can write input gradients to ``targets``.
    """

    parents: Sequence[tuple["Node | Leaf", int] | None]
    output_count: int
    made: int
    freed: float
    writes_gradients: ClassVar[bool]

    @property
    def ignores_head_gradient(self) -> bool:
        """See `Node`."""
        raise NotImplementedError

    def backward(
        self,
        grads: Sequence[Array | None],
        targets: Sequence[Array | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[Array | None]:
        """Return the gradient of every input, None where there is none.

        Args:
            grads: Gradients of the outputs.
            targets: For each input an array to write its gradient to, or None; only with
                ``writes_gradients``.
            last: Whether the node is freed next, so that saved arrays may be overwritten.
        """
        raise NotImplementedError

    def free(self) -> None:
        """Drop the arrays saved for the backward pass, and the parents."""


@final  # so that a test of the type, the cheapest, says all
class Leaf:
    """A leaf of the tape: an array that requires a gradient.

    Attributes:
        grad: The gradient buffer; None after a pass for ``"null"``.
        req: ``"write"``, ``"add"`` or ``"null"``.
        updated: Whether a backward pass has updated ``grad`` since the last `Trainer` step.
    """

    __slots__ = ("__weakref__", "grad", "req", "updated")

    freed: ClassVar[float] = math.inf

    def __init__(self, grad: Array, req: str) -> None:
        self.grad = grad
        self.req = req
        self.updated = False


class MarkedNode:
    """Tape node of an array that was computed, and has a gradient buffer of its own, too.

    The gradient goes on to what the array was computed from.

    Attributes:
        leaf: Holds the buffer.
    """

    __slots__ = ("freed", "leaf", "made", "parents")

    output_count: ClassVar[int] = 1
    ignores_head_gradient: ClassVar[bool] = False
    writes_gradients: ClassVar[bool] = False

    def __init__(self, source: tuple["Node | Leaf", int], leaf: Leaf) -> None:
        self.leaf = leaf
        self.parents: Sequence[tuple[Node | Leaf, int] | None] = (source, (leaf, 0))
        self.made = timestamp()
        self.freed: float = math.inf

    def backward(
        self,
        grads: Sequence[Array | None],
        targets: Sequence[Array | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[Array | None]:
        """Return the gradient of the array, for its source and for its buffer."""
        return grads[0], grads[0]

    def free(self) -> None:
        """Drop the source."""
        self.parents = ()
        self.freed = timestamp()


def leaf_of(edge: tuple["Node | Leaf", int] | None) -> Leaf | None:
    """Return the leaf with the gradient buffer of an array, given its place on the tape."""
    if edge is None:
        return None
    node = edge[0]
    if isinstance(node, MarkedNode):
        return node.leaf
    return node if isinstance(node, Leaf) else None


def marked(array: Array, leaf: Leaf) -> tuple["Node | Leaf", int]:
    """Return the place on the tape of an array that gets a gradient buffer.

    An array that was recorded stays connected with what it was computed from, as in MXNet 2.0, if
    it is an ``np`` array or the rules are those of 2.0; else it is cut off, as in 1.9.

    Args:
        array: The array.
        leaf: The leaf with the buffer.
    """
    edge = array._edge
    keeps = follows_mxnet2() or (array._stays_connected and not follows_mxnet1())
    if not keeps or edge is None or leaf.req == "null":
        return leaf, 0
    node = edge[0]
    if isinstance(node, Leaf) or node.freed < math.inf:
        return leaf, 0
    source = node.parents[0] if isinstance(node, MarkedNode) else edge
    assert source is not None
    made: Any = MarkedNode(source, leaf)
    return made, 0


def freed_error(where: str = "") -> AutogradError:
    """Return the error for a backward pass through a freed node."""
    return AutogradError(
        f"backward: expected a recorded graph, got one that an earlier backward freed{where}; "
        "pass retain_graph=True to the earlier one"
    )


class OperatorNode:
    """Tape node of one operator call, which applies the operator's gradient rule."""

    __slots__ = ("attrs", "freed", "inputs", "made", "op", "output_count", "outputs", "parents")

    writes_gradients: ClassVar[bool] = False

    def __init__(
        self,
        op: Operator,
        attrs: Attrs,
        inputs: Sequence[Array],
        parents: Sequence[tuple["Node | Leaf", int] | None],
        output_count: int,
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.inputs: Sequence[Array] = inputs
        self.parents = parents
        self.output_count = output_count
        self.outputs: Sequence[Any] = ()
        self.made = timestamp()
        self.freed: float = math.inf

    @property
    def ignores_head_gradient(self) -> bool:
        """Whether the operator's inputs have a gradient even where its outputs have none."""
        return self.op.ignores_head_gradient

    def backward(
        self,
        grads: Sequence[Array | None],
        targets: Sequence[Array | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[Array | None]:
        """Return the gradient of every input from those of the outputs, by the operator's rule."""
        inputs = [x.connected(parent) for x, parent in zip(self.inputs, self.parents, strict=True)]
        outputs = [y.connected((self, i)) for i, y in enumerate(self.outputs)]
        requires_grad = [parent is not None for parent in self.parents]
        return input_gradients(self.op, grads, inputs, outputs, self.attrs, requires_grad)

    def free(self) -> None:
        """Drop inputs, outputs and parents."""
        self.inputs = self.outputs = self.parents = ()
        self.freed = timestamp()
