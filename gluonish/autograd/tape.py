"""The backward walk: from the arrays that a gradient starts at, through the tape, to the arrays that asked for one."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, AutogradError
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import Leaf, Node

__all__ = ["GradientMode", "gradients_of", "run_backward"]

Heads = Sequence[NDArray]
Grads = dict[tuple[int, int], NDArray]  # (id of node or leaf, output) -> gradient so far


def run_backward(heads: Heads, head_grads: Sequence[NDArray | None], *, retain_graph: bool) -> None:
    """Compute the gradients of the heads and store them in the leaves' ``grad`` arrays, as their ``grad_req`` says.

    Raises:
        AutogradError: if a head was not recorded, or its graph was already freed.
    """
    leaves = _walk(heads, head_grads, retain_graph=retain_graph)
    for leaf, gradient in leaves:
        store(leaf, gradient)


def gradients_of(
    heads: Heads,
    variables: Sequence[NDArray],
    head_grads: Sequence[NDArray | None],
    *,
    retain_graph: bool,
) -> list[NDArray]:
    """Return the gradients of the heads with respect to ``variables``; the ``grad`` arrays stay as they are.

    Raises:
        AutogradError: if a head or a variable is not part of the recorded graph.
    """
    found = _walk(heads, head_grads, retain_graph=retain_graph)
    by_leaf = {id(leaf): gradient for leaf, gradient in found}
    result = []
    for i, variable in enumerate(variables):
        leaf = None if variable._link is None else variable._link[0]
        gradient = by_leaf.get(id(leaf))
        if gradient is None:
            raise AutogradError(
                f"grad: expected variables that the heads depend on, got variable {i} of shape {variable.shape} that "
                "they do not; call attach_grad before recording"
            )
        result.append(gradient)
    return result


def store(leaf: Leaf, gradient: NDArray) -> None:
    """Write or add a finished gradient into a leaf's buffer."""
    grad = leaf.grad
    if grad is None or leaf.req == "null":
        return
    if leaf.req == "add":
        grad._write(lambda out: _accumulate(out, gradient._data), [gradient], "_grad_add")
    else:
        grad._write(lambda out: _assign(out, gradient._data), [gradient], "_grad_write")
    leaf.fresh = True


def _assign(out: Any, value: Any) -> None:
    out[...] = value


def _accumulate(out: Any, value: Any) -> None:
    out += value


def _walk(
    heads: Heads, head_grads: Sequence[NDArray | None], *, retain_graph: bool
) -> list[tuple[Leaf, NDArray]]:
    grads: Grads = {}
    starts = []
    for head, head_grad in zip(heads, head_grads, strict=True):
        if head._link is None:
            raise AutogradError(
                f"backward: expected an array that autograd recorded, got one of shape {head.shape} that it did not; "
                "compute it inside autograd.record() from arrays with attach_grad"
            )
        node, index = head._link
        _add(grads, (id(node), index), _head_gradient(head, head_grad))
        starts.append(node)
    order, leaves = _topological(starts)
    for node in reversed(order):
        received = [grads.pop((id(node), i), None) for i in range(node.output_count)]
        if any(gradient is not None for gradient in received):
            for parent, gradient in zip(node.parents, node.backward(received), strict=True):
                if parent is not None and gradient is not None:
                    _add(grads, (id(parent[0]), parent[1]), gradient)
        if not retain_graph:
            node.free()
    return [(leaf, grads[id(leaf), 0]) for leaf in leaves if (id(leaf), 0) in grads]


def _head_gradient(head: NDArray, given: NDArray | None) -> NDArray:
    if given is None:
        ones = empty_like_spec(head._spec, head._device)
        ones._write(lambda out: out.fill(1), name="_ones")
        return ones
    if given.shape != head.shape:
        raise ArgumentError(
            f"backward: expected a head gradient of shape {head.shape}, got {given.shape}"
        )
    return given


def _add(grads: Grads, key: tuple[int, int], gradient: NDArray) -> None:
    present = grads.get(key)
    grads[key] = gradient if present is None else present + gradient


def _topological(starts: Sequence[Node | Leaf]) -> tuple[list[Node], list[Leaf]]:
    """Return the nodes behind ``starts``, each after its parents, and the leaves."""
    order: list[Node] = []
    leaves: list[Leaf] = []
    seen: set[int] = set()
    stack: list[tuple[Any, bool]] = [(start, False) for start in starts]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Leaf):
            leaves.append(node)
            continue
        stack.append((node, True))
        stack += [(parent[0], False) for parent in node.parents if parent is not None]
    return order, leaves


class GradientMode:
    """Scope for the gradient's own operators: recorded if they are to be differentiated again, training as asked."""

    __slots__ = ("_flags", "_token")

    def __init__(self, *, create_graph: bool, train_mode: bool) -> None:
        self._flags = recording.RECORDING * create_graph + recording.TRAINING * train_mode

    def __enter__(self) -> None:
        self._token = recording.mode.set(self._flags)

    def __exit__(self, *exc_info: object) -> None:
        recording.mode.reset(self._token)
