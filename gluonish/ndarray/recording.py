"""What a recorded call leaves behind: the tape's nodes; and the thread's mode.

A node is made by the call it stands for and hangs on the output arrays; nothing else refers to it,
so that a tape goes when its outputs go. `gluonish.autograd` walks the nodes; this module only lays
them down.
"""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any, ClassVar, Protocol

from gluonish.core.errors import AutogradError
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.support.composite import input_gradients

Array = Any  # an NDArray, whose module stands above this one

# The mode is one int, so that the eager path reads one variable: 0, or a sum of these.
NOTHING = 0
RECORDING = 1
TRAINING = 2
WATCHED = 4  # each operator is told to `watcher`


class Tracer(Protocol):
    """What a traced `forward` sees of the world around it; see `gluonish.graph.trace`."""

    def parameter(self, name: str, array: Array) -> Any:
        """Return the graph's value for a parameter that holds ``array``."""

    def source(self, op: Operator, attrs: Attrs) -> Any:
        """Return the graph's value for an operator without inputs."""


# The trace that runs in this thread.
tracer: ContextVar[Tracer | None] = ContextVar("gluonish_tracer", default=None)

# Called with an operator that has run, its attributes, its inputs and all its outputs.
Watcher = Callable[[Operator, Attrs, Sequence[Array], Sequence[Array]], None]
watcher: ContextVar[Watcher] = ContextVar("gluonish_watcher")

mode: ContextVar[int] = ContextVar("gluonish_mode", default=NOTHING)

# Gives each recorded call, and each that is freed, its moment: which came first decides whether a
# freed call stands for constants.
moment: Callable[[], int] = count().__next__


class Node(Protocol):
    """One recorded call.

    Attributes:
        parents: For each input, the node that it came from and which of its outputs it is; None for
            a constant.
        output_count: How many outputs it has, those included that its caller did not see.
        own_gradient: Whether its inputs have a gradient even where its outputs have none.
        made: The `moment` of the call.
        freed: The moment of `free`; infinite before. What is recorded later takes the call's
            outputs for constants; what was recorded earlier has lost them.
        writes_gradients: Whether `backward` takes arrays to write the gradients of inputs to.
    """

    parents: Sequence[tuple["Node | Leaf", int] | None]
    output_count: int
    made: int
    freed: float
    writes_gradients: ClassVar[bool]

    @property
    def own_gradient(self) -> bool:
        """See above."""
        raise NotImplementedError

    def backward(
        self,
        grads: Sequence[Array | None],
        targets: Sequence[Array | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[Array | None]:
        """Return the gradient of every input (None: none) from those of the outputs.

        Args:
            grads: Gradients of the outputs.
            targets: For each input an array that its gradient may be written to, or None; only
                where ``writes_gradients``.
            last: Whether the node is freed next: what it kept may be overwritten.
        """
        raise NotImplementedError

    def free(self) -> None:
        """Drop everything that was kept for the backward pass, and the way back to the parents."""


class Leaf:
    """An array whose gradient is asked for: where a backward pass ends.

    Attributes:
        grad: Where the gradient goes; None after a pass for ``"null"``.
        req: ``"write"``, ``"add"`` or ``"null"``.
        fresh: Whether a backward pass has written ``grad`` since `Trainer` last looked.
    """

    __slots__ = ("__weakref__", "fresh", "grad", "req")

    freed: ClassVar[float] = math.inf

    def __init__(self, grad: Array, req: str) -> None:
        self.grad = grad
        self.req = req
        self.fresh = False


def freed_error(where: str = "") -> AutogradError:
    """Return what a backward pass raises that comes to a node without its arrays."""
    return AutogradError(
        f"backward: expected a recorded graph, got one that an earlier backward freed{where}; "
        "pass retain_graph=True to the earlier one"
    )


class OperatorNode:
    """The call of one operator; its gradient rule is the operator's."""

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
        self.made = moment()
        self.freed: float = math.inf

    @property
    def own_gradient(self) -> bool:
        """Whether the operator's inputs have a gradient even where its outputs have none."""
        return self.op.own_gradient

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
        wanted = [parent is not None for parent in self.parents]
        return input_gradients(self.op, grads, inputs, outputs, self.attrs, wanted)

    def free(self) -> None:
        """Drop inputs, outputs and parents."""
        self.inputs = self.outputs = self.parents = ()
        self.freed = moment()
