"""Checkpointed Blocks: their activations are computed again in backward, rather than saved.

A recorded call of such a Block runs as usual, but its tape is dropped at once. One node takes its
place, with the inputs of the call and the keys of its random numbers. Backward runs the call again,
draws the same numbers, and walks the new tape. Both runs record, so that they choose kernels and
graphs alike: with equal kernels the bits are those of the Block without checkpoint.

References:
    T. Chen, B. Xu, C. Zhang, C. Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from gluonish.autograd.tape import leaf_gradients, topological
from gluonish.core.errors import AutogradError
from gluonish.core.random_state import KeyJournal
from gluonish.core.value_scope import ValueScope
from gluonish.gluon.block.arguments import call_packed, pack_arguments
from gluonish.gluon.block.protocols import BlockTree
from gluonish.gluon.parameter import Constant
from gluonish.graph.pytree import flatten, regroup
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.recording import RECORDING, Leaf, Node, freed_error, timestamp
from gluonish.ops import autocast
from gluonish.symbol import Symbol

Edge = tuple[Node | Leaf, int]


class _State:
    """Whether any Block was checkpointed, so that other programs pay one test for each call."""

    used = False


state = _State()


def holds_checkpoints(block: BlockTree) -> bool:
    """Whether a Block inside this one is checkpointed."""
    return any(x._checkpointed or holds_checkpoints(x) for x in block._children.values())


def _is_leaf(value: Any) -> bool:
    return isinstance(value, NDArray | Symbol)


class _Values:
    """The values that a call changes, such as moving statistics, before the call."""

    __slots__ = ("_pairs",)

    def __init__(self, block: BlockTree, array: NDArray) -> None:
        self._pairs = [(x, x.copy()) for x in _auxiliary(block, array)]

    def now(self) -> "_Values":
        """Return the present values of the same arrays."""
        made = _Values.__new__(_Values)
        made._pairs = [(x, x.copy()) for x, _ in self._pairs]
        return made

    def restore(self) -> None:
        """Write the values."""
        for array, value in self._pairs:
            value.copyto(array)


def _auxiliary(block: BlockTree, array: NDArray) -> list[NDArray]:
    """Return the states on an array's device that layers update themselves."""
    return [
        parameter.data(array.context)
        for parameter in block.collect_params().values()
        if not parameter._differentiable
        and not isinstance(parameter, Constant)
        and parameter._arrays is not None
        and array.context in parameter.list_ctx()
    ]


def _leaves_behind(block: BlockTree, outputs: Sequence[NDArray], start: int) -> list[Leaf]:
    """Return the leaves that outputs depend on.

    Args:
        block: The Block that was called.
        outputs: Its outputs.
        start: Timestamp before the call.

    Raises:
        AutogradError: They depend on arrays that were recorded before the call.
    """
    order, leaves = topological([y._edge[0] for y in outputs if y._edge is not None])
    if any(node.made < start for node in order):
        raise AutogradError(
            f"{block.name}: expected a checkpointed Block that computes from its arguments and "
            "parameters, got one that reads another recorded array; pass it as an argument"
        )
    return list(leaves)


class _Rerun(ValueScope):
    """Scope in which a call runs again: its modes, and its random numbers."""

    __slots__ = ("_call", "_keys")

    def __init__(self, call: "_Call") -> None:
        super().__init__()
        self._call = call
        self._keys = call.journal.replaying()

    def __enter__(self) -> None:
        self._change(recording.mode, self._call.mode)
        self._change(autocast.here, self._call.policy)
        self._keys.__enter__()

    def __exit__(self, *exc_info: object) -> None:
        self._keys.__exit__(*exc_info)
        self._restore()
        self._restore()


class _Call(NamedTuple):
    """A call of a checkpointed Block, which can run again.

    Attributes:
        forward: The function that runs it.
        arrays: Its arrays, detached.
        pytree: The nesting of its arguments.
        journal: The keys of its random numbers.
        mode: The recording mode.
        policy: The policy of mixed precision.
        values: The values before the call that the call changes.
    """

    forward: Callable[..., Any]
    arrays: Sequence[NDArray]
    pytree: Any
    journal: KeyJournal
    mode: int
    policy: Any
    values: _Values

    def run(self, connected: Sequence[bool]) -> tuple[list[Leaf | None], Any]:
        """Run the call on copies of its arrays that are leaves of a new tape.

        Args:
            connected: Whether each array is to have a gradient.

        Returns:
            The leaves of the arrays, and the result.
        """
        leaves: list[Leaf | None] = []
        inputs = []
        for x, needed in zip(self.arrays, connected, strict=True):
            array = x.detach()
            leaf = Leaf(None, "write") if needed else None
            if leaf is not None:
                array._edge = (leaf, 0)
            leaves.append(leaf)
            inputs.append(array)
        return leaves, call_packed(self.forward, regroup(inputs, self.pytree))


def call_checkpointed(
    block: BlockTree, forward: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Run a recorded call of a checkpointed Block; a call in a trace runs as usual.

    Args:
        block: The Block.
        forward: The function that runs the call.
        *args: Its arguments.
        **kwargs: Its arguments by keyword.
    """
    arrays, pytree = flatten(pack_arguments(args, kwargs), _is_leaf)
    dense = all(isinstance(x, NDArray) and not x.is_traced and x.stype == "default" for x in arrays)
    if not arrays or not dense:
        return forward(*args, **kwargs)
    call = _Call(
        forward,
        [x.detach() for x in arrays],
        pytree,
        KeyJournal(),
        recording.mode.get(),
        autocast.here.get(),
        _Values(block, arrays[0]),
    )
    _wait_for(arrays)
    links, start = [x._edge for x in arrays], timestamp()
    with call.journal.recording():
        inputs, result = call.run([link is not None for link in links])
    outputs, structure = flatten(result, _is_leaf)
    detached = [y.detach() for y in outputs]
    weights = [x for x in _leaves_behind(block, outputs, start) if x not in inputs]
    if any(y._edge is not None for y in outputs):
        node = CheckpointNode(block.name, call, links, weights, len(outputs))
        for i, (output, before) in enumerate(zip(detached, outputs, strict=True)):
            if before._edge is not None:
                output._edge = (node, i)
    return detached[0] if structure is None else regroup(detached, structure)


def _wait_for(arrays: Sequence[NDArray | None]) -> None:
    """Wait for arrays on the host, before memory is allocated for a call.

    A call that runs again depends on its arrays only. Without a wait for the gradients, workers
    would run all calls again at once, during the first backward passes, and hold the activations
    of all.
    """
    for x in arrays:
        if x is not None and x._device.is_host:
            x.wait_to_read()


class CheckpointNode:
    """The tape node of a call of a checkpointed Block.

    Args:
        name: The Block's name.
        call: The call.
        links: The producers of the call's arrays.
        weights: The leaves of the Block's parameters.
        output_count: Number of its outputs.
    """

    __slots__ = (
        *("_call", "_links", "_name", "_weights", "freed", "made", "output_count", "parents"),
        "__weakref__",
    )

    ignores_head_gradient = False
    writes_gradients: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        call: _Call,
        links: Sequence[Edge | None],
        weights: Sequence[Leaf],
        output_count: int,
    ) -> None:
        self._name = name
        self._call: _Call | None = call
        self._links = links
        self._weights = weights
        self.parents: Sequence[Edge | None] = [*links, *((leaf, 0) for leaf in weights)]
        self.output_count = output_count
        self.made = timestamp()
        self.freed: float = math.inf

    def backward(
        self,
        grads: Sequence[NDArray | None],
        targets: Sequence[NDArray | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[NDArray | None]:
        """Run the call again, and return the gradients of its arrays and of the parameters.

        Raises:
            AutogradError: The node was freed, or the gradients are to be recorded.
        """
        call = self._call
        if call is None:
            raise freed_error(f" at {self._name}")
        if recording.mode.get() & RECORDING:
            raise AutogradError(
                f"{self._name}: expected a backward pass without create_graph through a "
                "checkpointed Block, got one with it; call checkpoint(False) for derivatives of "
                "higher order"
            )
        _wait_for(grads)
        leaves, outputs = self._run_again(call)
        pairs = [
            (y, g)
            for y, g in zip(outputs, grads, strict=True)
            if g is not None and y._edge is not None
        ]
        given = dict(zip(self._weights, targets[len(self._links) :], strict=False))
        found = leaf_gradients(
            [y for y, _ in pairs],
            [g for _, g in pairs],
            {leaf: target for leaf, target in given.items() if target is not None},
        )
        return [None if leaf is None else found.get(leaf) for leaf in (*leaves, *self._weights)]

    def _run_again(self, call: _Call) -> tuple[list[Leaf | None], list[NDArray]]:
        needed = [link is not None for link in self._links]
        now = call.values.now()
        call.values.restore()
        try:
            with _Rerun(call):
                leaves, result = call.run(needed)
        finally:
            now.restore()
        return leaves, flatten(result, _is_leaf)[0]

    def free(self) -> None:
        """Drop the call and the parents."""
        self._call = None
        self.parents = self._links = self._weights = ()
        self.freed = timestamp()
