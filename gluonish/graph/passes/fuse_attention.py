"""Fusion of attention: two products with a softmax, and perhaps a dropout, between them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gluonish.core.spec import Spec
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import Reads, count_reads, has_operator, rebuild
from gluonish.ops.attention.fused_attention import ATTENTION
from gluonish.ops.linalg.matmul import BATCH_DOT
from gluonish.ops.registry import Attrs, apply
from gluonish.ops.shape.reshape import reshape

_RESHAPES = ("Reshape", "_reshape_exact")


def fuse_attention(graph: Graph, *, supports: Callable[[Spec, Spec, Spec], bool]) -> Graph:
    """Compute attention without its matrix of weights.

    Args:
        graph: The graph.
        supports: Whether the device has a kernel for queries, keys and values like these.

    Requires: specs on every value.
    Ensures: the outputs have the same specs, values and gradients, except for round-off; a kernel
    may draw other numbers for the dropout. A transpose that brings the heads of the output behind
    its rows is part of it. No ``batch_dot`` reads a softmax along the last axis,
    or its dropout, of another ``batch_dot`` whose operands are supported.
    """
    if not has_operator(graph, ("softmax",)) or not has_operator(graph, (BATCH_DOT.name,)):
        return graph
    reads = count_reads(graph)

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is not None and node.op.name == "transpose":
            return _with_swapped_heads(node, inputs[0], reads)
        if node.op is not BATCH_DOT or any(node.attrs[x] for x in ("transpose_a", "transpose_b")):
            return None
        found = _found(inputs[0], node.inputs[0], reads)
        if found is None:
            return None
        queries, keys = found.arrays
        values = _with_batch_axes(inputs[1], queries)
        if values is None or not supports(queries.spec, keys.spec, values.spec):
            return None
        made = apply(ATTENTION, (queries, keys, values), found.attrs)
        return [made if made.shape == node.specs[0].shape else reshape(made, node.specs[0].shape)]

    return eliminate_dead_code(rebuild(graph, rule))


def _with_swapped_heads(node: Node, new: Value, reads: Reads) -> Sequence[Value] | None:
    """Return an attention that writes what a transpose of its output gives, or None."""
    old = node.inputs[0]
    while reads[old.key] == 1 and old.node.op is not None and old.node.op.name in _RESHAPES:
        old = old.node.inputs[0]
    while new.node.op is not None and new.node.op.name in _RESHAPES:
        new = new.node.inputs[0]
    if new.node.op is not ATTENTION or old.node.op is not BATCH_DOT or reads[old.key] != 1:
        return None
    swaps = tuple(node.attrs["axes"]) == (0, 2, 1, 3)
    if not swaps or new.shape != node.inputs[0].shape or new.node.attrs["swapped"]:
        return None
    return [apply(ATTENTION, new.node.inputs, {**new.node.attrs, "swapped": True})]


class _Found(NamedTuple):
    """The part of an attention before its second product."""

    arrays: tuple[Value, Value]  # queries and keys
    attrs: Attrs


class _Link(NamedTuple):
    """A value of the old graph, and its successor in the new one."""

    old: Value
    new: Value

    def before(self) -> "_Link":
        """Return the first input of the node behind the value."""
        return _Link(self.old.node.inputs[0], self.new.node.inputs[0])

    def is_of(self, names: Sequence[str], reads: Reads) -> bool:
        """Whether the value is the first output of one of these operators, with one reader."""
        op = self.old.node.op
        return (
            op is not None
            and op.name in names
            and op is self.new.node.op
            and self.old.index == self.new.index == 0
            and reads[self.old.key] == 1
        )


def _found(new: Value, old: Value, reads: Reads) -> _Found | None:
    """Return the attention whose weights are a value; None if it is something else."""
    link = _without_reshapes(_Link(old, new), reads)
    attrs: dict[str, Any] = {"scale": 1.0, "p": 0.0, "mode": "training", "train": False}
    attrs["swapped"] = False
    if link.is_of(("Dropout",), reads):
        node = link.new.node
        if node.attrs["axes"] or not node.attrs["p"] or reads[id(link.old.node), 1]:
            return None
        attrs |= {name: node.attrs[name] for name in ("p", "mode", "train")}
        link = _without_reshapes(link.before(), reads)
    if not link.is_of(("softmax",), reads) or not _is_plain_softmax(link.new.node):
        return None
    link = _without_reshapes(link.before(), reads)
    while link.is_of(("_mul_scalar", "_div_scalar"), reads):
        node = link.new.node
        number = node.attrs["scalar"]
        if not number:
            return None
        attrs["scale"] *= number if link.is_of(("_mul_scalar",), reads) else 1 / number
        link = _without_reshapes(link.before(), reads)
    if not link.is_of((BATCH_DOT.name,), reads):
        return None
    product = link.new.node
    if product.attrs["transpose_a"] or not product.attrs["transpose_b"]:
        return None
    queries, keys = product.inputs
    return _Found((queries, keys), attrs)


def _without_reshapes(link: _Link, reads: Reads) -> _Link:
    """Return a value before the reshapes that keep its last two axes."""
    while link.is_of(_RESHAPES, reads):
        before = link.before()
        if before.new.shape[-2:] != link.new.shape[-2:]:
            break
        link = before
    return link


def _is_plain_softmax(node: Node) -> bool:
    """Whether a softmax is along the last axis, in the dtype of its data, without options."""
    spec = node.inputs[0].spec
    return (
        len(node.inputs) == 1
        and node.attrs["axis"] % len(spec.shape) == len(spec.shape) - 1
        and node.attrs["temperature"] in (None, 1.0)
        and node.specs[0].dtype == spec.dtype
    )


def _with_batch_axes(values: Value, queries: Value) -> Value | None:
    """Return the values with the batch axes of the queries; None if there are others."""
    stack = queries.shape[:-2]
    if values.shape[:-2] == stack:
        return values
    op = values.node.op
    if op is not None and op.name in _RESHAPES:
        source = values.node.inputs[0]
        if source.shape == (*stack, *values.shape[-2:]):
            return source
    return None
