"""The backward pass: from the heads through the tape to the leaves."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import add, attrgetter
from typing import Any, cast

import numpy as np

from gluonish.autograd.gradient_plan import planned_gradients
from gluonish.core.collection_pause import CollectionPause
from gluonish.core.config import kernel_switches
from gluonish.core.device import device_of
from gluonish.core.errors import AutogradError
from gluonish.core.loading import load
from gluonish.core.mxnet_rules import current_rules
from gluonish.engine import current_engine
from gluonish.ndarray import full, recording, zeros
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE, GradientEdge, NDArray, assign
from gluonish.ndarray.recording import (
    RECORDING,
    Leaf,
    Node,
    OperatorNode,
    freed_error,
    leaf_of,
)
from gluonish.ops.elementwise.constant_like import ZEROS_LIKE
from gluonish_engine import Var

_data_of, _var_of = attrgetter("_data"), attrgetter("_var")

Heads = Sequence[NDArray]
Observe = Callable[[Node, Sequence[NDArray | None], Sequence[NDArray | None]], None]
# (id of node or leaf, output) -> gradient so far: an array, or a list of small terms, in order.
# One operation that adds many terms takes a fraction of the time of one operation per term.
Grads = dict[tuple[int, int], "NDArray | list[NDArray]"]

# Number of nodes from which garbage collection is paused, which would scan the tape repeatedly.
_LONG = 1024

# Terms of at most _SMALL_SIZE elements are collected until there are _MANY.
_SMALL_SIZE = 1 << 14
_MANY = 32


def run_backward(
    heads: Heads,
    head_grads: Sequence[NDArray | None],
    *,
    retain_graph: bool,
    observe: Observe | None = None,
) -> None:
    """Compute gradients of the heads and store them in the leaves, as their ``grad_req`` says.

    Args:
        heads: Recorded array or arrays, such as losses.
        head_grads: Gradients of the heads; None for ones.
        retain_graph: Whether the graph is kept for another pass.
        observe: Function that receives each node, the gradients of its outputs, and the gradients
            of its inputs.

    Raises:
        AutogradError: A head was not recorded, its graph was already freed, or the heads depend on
            no array with a gradient.
    """
    found = _walk(heads, head_grads, retain_graph=retain_graph, in_place=True, observe=observe)
    for leaf in found:  # `any` with a generator would cost a call per leaf
        if leaf.req != "null":
            break
    else:
        raise AutogradError(
            "backward: expected heads computed from arrays with attach_grad, got none; "
            "call attach_grad before recording"
        )
    for leaf, gradient in found.items():
        store(leaf, gradient)


def gradients_of(
    heads: Heads,
    variables: Sequence[NDArray],
    head_grads: Sequence[NDArray | None],
    *,
    retain_graph: bool,
    unused_are_zero: bool = False,
) -> list[NDArray]:
    """Return gradients of the heads with respect to ``variables``, whose ``grad`` is unchanged.

    Args:
        heads: The recorded arrays.
        variables: Arrays with leaves.
        head_grads: Gradients of the heads.
        retain_graph: Whether to keep the record.
        unused_are_zero: Whether the gradients of variables that no head depends on are zeros.

    Raises:
        AutogradError: A head or a variable is not part of the recorded graph.
    """
    gradients = _walk(heads, head_grads, retain_graph=retain_graph)
    recording_gradients = recording.mode.get() & RECORDING
    result = []
    for i, variable in enumerate(variables):
        leaf = leaf_of(variable._edge)
        if leaf not in gradients and not unused_are_zero:
            raise AutogradError(
                f"grad: expected variables that the heads depend on, got variable {i} of shape "
                f"{variable.shape} that they do not; call attach_grad before recording"
            )
        gradient = gradients.get(leaf)  # type: ignore[arg-type]  # None is in no graph
        found = filled_like(variable, 0) if gradient is None else gradient
        result.append(_recorded_constant(found, variable) if recording_gradients else found)
    return result


def leaf_gradients(
    heads: Heads, head_grads: Sequence[NDArray | None], targets: Mapping[Leaf, NDArray]
) -> dict[Leaf, NDArray | None]:
    """Return the gradients of the leaves that the heads depend on; nothing is stored in the leaves.

    Args:
        heads: Recorded arrays; the record is freed. May be empty.
        head_grads: Their gradients.
        targets: Arrays that gradients of leaves may be written to, where that saves memory.
    """
    return _walk(heads, head_grads, retain_graph=False, targets=targets)


def _recorded_constant(gradient: NDArray, variable: NDArray) -> NDArray:
    """Return the gradient, or if it was not recorded, a copy with a derivative of zero."""
    if gradient._edge is not None:
        return gradient
    constant = gradient.detach()
    constant._edge = (OperatorNode(ZEROS_LIKE, {}, [variable], [variable._edge], 1), 0)
    return constant


def store(leaf: Leaf, gradient: NDArray | None) -> None:
    """Write or add a finished gradient, None for zero, into a leaf's buffer."""
    grad = leaf.grad
    if leaf.req == "null":
        leaf.grad = None  # as in MXNet, where it exists until the first pass
        return
    leaf.updated = True
    if gradient is grad:
        return
    if grad.stype != "default":
        _store_sparse(leaf, gradient)
        return
    if gradient is not None and gradient.stype != "default":
        gradient = gradient.tostype("default")
    if gradient is None:
        if leaf.req == "write":
            grad._write(lambda out: out.fill(0), name="_grad_zero")
    elif leaf.req == "add":
        grad._write(lambda out: _accumulate(out, gradient._data), [gradient, grad], "_grad_add")
    else:
        grad._write(partial(assign, gradient), [gradient], "_grad_write")


def _store_sparse(leaf: Leaf, gradient: NDArray | None) -> None:
    """Write or add a gradient into a sparse buffer, in the buffer's storage type."""
    grad = leaf.grad
    added = leaf.req == "add"
    if gradient is None and added:
        return
    found: NDArray = (
        zeros(grad.shape, grad.context, grad.dtype, grad.stype) if gradient is None else gradient
    )
    if added:
        found = grad.detach() + found
    if found.stype not in ("default", grad.stype):
        found = found.tostype("default")
    found.detach().copyto(grad)


def _accumulate(out: Any, value: Any) -> None:
    out += value


def filled_like(array: NDArray, value: float) -> NDArray:
    """Return a new array with the shape and dtype of another, filled with a value."""
    device = array._device if array.stype == "default" else device_of(array.context)
    spec = array._spec
    size = array._data.size if array.stype == "default" else spec.size
    if device.is_host and size <= LIGHT_INLINE_SIZE:  # a new array needs no engine
        raw = np.empty(spec.shape, spec.dtype)
        raw.fill(value)
        return NDArray(raw, spec, device, Var())
    return full(spec.shape, value, array.context, spec.dtype)


def _walk(
    heads: Heads,
    head_grads: Sequence[NDArray | None],
    *,
    retain_graph: bool,
    in_place: bool = False,
    observe: Observe | None = None,
    targets: Mapping[Leaf, NDArray] | None = None,
) -> dict[Leaf, NDArray | None]:
    """Return the leaves that the heads depend on, with their gradients.

    With ``in_place``, gradients may be computed directly in the buffers of the leaves; with
    ``targets``, in these arrays.
    """
    grads: Grads = {}
    starts = _starts(heads, head_grads, grads)
    if observe is None and recording.checks.get() is not None:
        observe = load("gluonish.ndarray.value_checks").check_gradients
    order, leaves = topological(starts)
    writable = _writable(leaves, order) if in_place else {}
    if targets:
        read = _constants(order)
        for leaf, target in targets.items():
            if leaves.get(leaf) == 1 and target._var not in read:
                writable[leaf] = target
    if len(order) < _LONG:
        _visit(order, grads, writable, observe, retain_graph=retain_graph)
    else:
        with CollectionPause():
            _visit(order, grads, writable, observe, retain_graph=retain_graph)
    found: dict[Leaf, NDArray | None] = {}
    for leaf in leaves:
        gradient = grads.get((id(leaf), 0))
        found[leaf] = _sum(gradient) if isinstance(gradient, list) else gradient
    return found


def _visit(
    order: Sequence[Node],
    grads: Grads,
    writable: Mapping[Node | Leaf, NDArray],
    observe: Observe | None,
    *,
    retain_graph: bool,
) -> None:
    """Propagate gradients to the inputs of nodes, from the last node to the first."""
    records = recording.mode.get() & RECORDING
    switches = None if records else (kernel_switches(), current_rules())
    pop, unfreed = grads.pop, math.inf
    for node in reversed(order):
        if node.freed < unfreed:  # `_is_detached` checks this for its readers
            continue
        number, is_reached = id(node), False
        received = []
        for i in range(node.output_count):
            gradient = pop((number, i), None)
            is_reached = is_reached or gradient is not None
            received.append(_sum(gradient) if isinstance(gradient, list) else gradient)
        if is_reached or node.ignores_head_gradient:
            targets: Sequence[NDArray | None] = ()
            for parent in node.parents:  # loops and plain tests cost no calls
                if parent is not None and parent[0] in writable:
                    targets = [p and writable.get(p[0]) for p in node.parents]
                    break
            found: Sequence[NDArray | None] | None = None
            if node.writes_gradients:
                found = node.backward(received, targets, last=not retain_graph)
            elif switches is not None and type(node) is OperatorNode:
                found = planned_gradients(node, received, targets, switches)
            if found is None:
                found = node.backward(received)
            if observe is not None:
                observe(node, received, found)
            _propagate(node, found, grads)
        if not retain_graph:
            node.free()


def _propagate(node: Node, found: Sequence[NDArray | None], grads: Grads) -> None:
    """Add the gradients of a node's inputs to the gradients of its parents."""
    for parent, gradient in zip(node.parents, found, strict=True):
        if parent is None or gradient is None:
            continue
        source, index = parent
        if source.freed < math.inf and _is_detached(node, source):
            continue
        key = (id(source), index)
        if key not in grads:
            grads[key] = gradient
            continue
        present = grads[key]
        if not isinstance(present, list):
            small = present.stype == "default" and present._spec.size <= _SMALL_SIZE
            grads[key] = [present, gradient] if small else present + gradient
            continue
        present.append(gradient)
        if len(present) == _MANY:
            grads[key] = _sum(present)


def _sum(terms: list[NDArray]) -> NDArray:
    """Return the sum of a gradient's terms, added in order."""
    first = terms[0]
    spec, device = first._spec, first._device
    simple = device.is_host and not recording.mode.get() & RECORDING
    for x in terms:
        simple = simple and x.stype == "default" and x._spec == spec and x._device is device
    if not simple:
        return reduce(add, terms)
    raw = np.empty(spec.shape, spec.dtype)
    total = NDArray(raw, spec, device, Var())
    engine, arguments = current_engine(), (raw, list(map(_data_of, terms)))
    reads, writes = list(map(_var_of, terms)), [total._var]
    if not engine.run_inline(_add_up, reads, writes, "_grad_sum", arguments, True):
        launch = partial(_add_up, *arguments)
        engine.push(launch, reads, writes, device.lane, 0, "_grad_sum", True)
    return total


def _add_up(out: Any, terms: Sequence[Any]) -> None:
    np.add(terms[0], terms[1], out)
    for term in terms[2:]:
        np.add(out, term, out)


def _starts(heads: Heads, head_grads: Sequence[NDArray | None], grads: Grads) -> list[Node | Leaf]:
    """Return the nodes of the heads, except freed ones, and add their gradients to ``grads``.

    Raises:
        AutogradError: A head was not recorded, or all were freed.
    """
    starts = []
    for head, head_grad in zip(heads, head_grads, strict=True):
        if head._edge is None:
            raise AutogradError(
                "backward: expected an array that autograd recorded, got one of shape "
                f"{head.shape} that was not; compute it inside autograd.record() from arrays "
                "with attach_grad"
            )
        node, index = head._edge
        if node.freed == math.inf:
            gradient = filled_like(head, 1) if head_grad is None else head_grad
            present = grads.get((id(node), index))
            if present is not None:
                gradient = cast(NDArray, present) + gradient
            grads[id(node), index] = gradient
            starts.append(node)
    if heads and not starts:
        raise _freed(cast(GradientEdge, heads[0]._edge)[0])
    return starts


def _is_detached(node: Node, parent: Node | Leaf) -> bool:
    """Whether a parent was freed before the node was recorded, and so is a constant.

    Raises:
        AutogradError: The parent was freed later.
    """
    if parent.freed == math.inf:
        return False
    if parent.freed > node.made:
        raise _freed(parent)
    return True


def _freed(node: Node | Leaf) -> AutogradError:
    return freed_error(f" at {node.op.name}" if isinstance(node, OperatorNode) else "")


def _constants(order: Sequence[Node]) -> set[Var]:
    """Return the engine variables of inputs without gradient, which may be gradient buffers."""
    return {
        x._var
        for node in order
        if type(node) is OperatorNode and None in node.parents
        for x, parent in zip(node.inputs, node.parents, strict=False)
        if parent is None and x.stype == "default"
    }


def _writable(leaves: Mapping[Leaf, int], order: Sequence[Node]) -> dict[Node | Leaf, NDArray]:
    """Return the gradient buffers that may be written directly, by leaf.

    That applies to a leaf with ``"write"`` that one node reads, if no node reads the buffer.
    """
    found: dict[Node | Leaf, NDArray] = {}
    for leaf, count in leaves.items():  # a loop, which costs no call
        if count == 1 and leaf.req == "write" and leaf.grad.stype == "default":
            found[leaf] = leaf.grad
    if not found:
        return found
    read = _constants(order)
    return {leaf: grad for leaf, grad in found.items() if grad._var not in read}


def topological(starts: Sequence[Node | Leaf]) -> tuple[list[Node], dict[Leaf, int]]:
    """Return ``starts`` and their ancestors, each after its parents, and the leaves.

    The search is depth first and iterative, so that chains may have any length.

    Returns:
        The nodes, and the leaves with the number of reads of each.
    """
    order: list[Node] = []
    leaves: dict[Leaf, int] = {}
    seen: set[Node] = set()
    stack: list[Node | None] = []
    for start in reversed(starts):
        if type(start) is Leaf:
            leaves[start] = 0
        else:
            stack.append(start)
    while stack:
        node = stack.pop()
        if node is None:  # all ancestors of the node below are in `order`
            order.append(stack.pop())  # type: ignore[arg-type]  # a None is on top of a node
        elif node not in seen:
            seen.add(node)
            stack += (node, None)
            for parent in reversed(node.parents):
                if parent is None:
                    continue
                source = parent[0]
                if type(source) is Leaf:
                    leaves[source] = leaves[source] + 1 if source in leaves else 1
                else:
                    stack.append(source)
    return order, leaves
