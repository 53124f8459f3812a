"""The backward walk: from the heads, through the tape, to the arrays that asked for gradients."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from gluonish.core.errors import AutogradError
from gluonish.core.order import post_order
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import Link, NDArray, assign, empty_like_spec
from gluonish.ndarray.recording import Leaf, Node

__all__ = ["GradientMode", "gradients_of", "run_backward", "topological"]

Heads = Sequence[NDArray]
Grads = dict[tuple[int, int], NDArray]  # (id of node or leaf, output) -> gradient so far


def run_backward(heads: Heads, head_grads: Sequence[NDArray | None], *, retain_graph: bool) -> None:
    """Compute gradients of the heads and store them in the leaves, as their ``grad_req`` says.

    Raises:
        AutogradError: if a head was not recorded, its graph was already freed, or no array behind
            it asked for a gradient.
    """
    leaves, grads = _walk(heads, head_grads, retain_graph=retain_graph, in_place=True)
    if all(leaf.req == "null" for leaf in leaves):
        raise AutogradError(
            "backward: expected heads computed from arrays that ask for a gradient, got none; "
            "call attach_grad before recording"
        )
    for leaf in leaves:
        store(leaf, grads.get((id(leaf), 0)))


def gradients_of(
    heads: Heads,
    variables: Sequence[NDArray],
    head_grads: Sequence[NDArray | None],
    *,
    retain_graph: bool,
) -> list[NDArray]:
    """Return gradients of the heads with respect to ``variables``, whose ``grad`` stays as it is.

    Raises:
        AutogradError: if a head or a variable is not part of the recorded graph.
    """
    leaves, grads = _walk(heads, head_grads, retain_graph=retain_graph)
    reached = {id(leaf) for leaf in leaves}
    result = []
    for i, variable in enumerate(variables):
        leaf = None if variable._link is None else variable._link[0]
        if id(leaf) not in reached:
            raise AutogradError(
                f"grad: expected variables that the heads depend on, got variable {i} of shape "
                f"{variable.shape} that they do not; call attach_grad before recording"
            )
        gradient = grads.get((id(leaf), 0))
        result.append(filled_like(variable, 0) if gradient is None else gradient)
    return result


def store(leaf: Leaf, gradient: NDArray | None) -> None:
    """Write or add a finished gradient, None for zero, into a leaf's buffer."""
    grad = leaf.grad
    if leaf.req == "null":
        return
    leaf.fresh = True
    if gradient is grad:
        return
    if gradient is None:
        if leaf.req == "write":
            grad._write(lambda out: out.fill(0), name="_grad_zero")
    elif leaf.req == "add":
        grad._write(lambda out: _accumulate(out, gradient._data), [gradient, grad], "_grad_add")
    else:
        grad._write(partial(assign, gradient), [gradient], "_grad_write")


def _accumulate(out: Any, value: Any) -> None:
    out += value


def filled_like(array: NDArray, value: float) -> NDArray:
    """Return a new array like another, with one value everywhere."""
    filled = empty_like_spec(array._spec, array._device)
    filled._write(lambda out: out.fill(value), name="_fill")
    return filled


def _walk(
    heads: Heads,
    head_grads: Sequence[NDArray | None],
    *,
    retain_graph: bool,
    in_place: bool = False,
) -> tuple[list[Leaf], Grads]:
    """Return the leaves behind the heads, and the gradients of those that got any.

    With ``in_place``, a graph's call may compute gradients where the leaves keep them.
    """
    grads: Grads = {}
    starts = []
    for head, given in zip(heads, head_grads, strict=True):
        if head._link is None:
            raise AutogradError(
                "backward: expected an array that autograd recorded, got one of shape "
                f"{head.shape} that it did not; compute it inside autograd.record() from arrays "
                "with attach_grad"
            )
        node, index = head._link
        _add(grads, (id(node), index), filled_like(head, 1) if given is None else given)
        starts.append(node)
    order, leaves = topological(starts)
    sole = _read_once(order) if in_place else {}
    for node in reversed(order):
        received = [grads.pop((id(node), i), None) for i in range(node.output_count)]
        if any(gradient is not None for gradient in received):
            targets = sole.get(id(node))
            found = node.backward(received) if targets is None else node.backward(received, targets)
            for parent, gradient in zip(node.parents, found, strict=True):
                if parent is not None and gradient is not None:
                    _add(grads, (id(parent[0]), parent[1]), gradient)
        if not retain_graph:
            node.free()
    return leaves, grads


def _read_once(order: Sequence[Node]) -> dict[int, list[NDArray | None]]:
    """Return where nodes that can may write the gradients of their inputs.

    By the node's id, an array for each input: that of a leaf that nobody else reads, and whose
    gradient is to be overwritten; else None.
    """
    ready = [node for node in order if node.writes_gradients]
    if not ready:
        return {}
    reads = Counter(
        id(parent[0]) for node in order for parent in node.parents if parent is not None
    )

    def target(parent: Link | None) -> NDArray | None:
        if parent is None or not isinstance(parent[0], Leaf) or reads[id(parent[0])] > 1:
            return None
        return parent[0].grad if parent[0].req == "write" else None

    return {id(node): [target(parent) for parent in node.parents] for node in ready}


def _add(grads: Grads, key: tuple[int, int], gradient: NDArray) -> None:
    present = grads.get(key)
    grads[key] = gradient if present is None else present + gradient


def topological(starts: Sequence[Node | Leaf]) -> tuple[list[Node], list[Leaf]]:
    """Return the nodes behind ``starts``, each after its parents, and the leaves."""
    order: list[Node] = []
    leaves: list[Leaf] = []
    for found in post_order(starts, _parents):
        if isinstance(found, Leaf):
            leaves.append(found)
        else:
            order.append(found)
    return order, leaves


def _parents(start: Node | Leaf) -> list[Node | Leaf]:
    if isinstance(start, Leaf):
        return []
    return [parent[0] for parent in start.parents if parent is not None]


class GradientMode:
    """Scope for the gradient's own operators: recorded to be differentiated again, or not."""

    __slots__ = ("_flags", "_token")

    def __init__(self, *, create_graph: bool, train_mode: bool) -> None:
        self._flags = recording.RECORDING * create_graph + recording.TRAINING * train_mode

    def __enter__(self) -> None:
        self._token = recording.mode.set(self._flags)

    def __exit__(self, *exc_info: object) -> None:
        recording.mode.reset(self._token)
