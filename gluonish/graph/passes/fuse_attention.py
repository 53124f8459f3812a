"""Fusion of attention: two products, and between them a softmax, perhaps masks and a dropout."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.spec import Spec
from gluonish.graph.attention_masks import Collected, Hiding
from gluonish.graph.broadcasts import READ_NO_ELEMENTS, Constants, reshaped, uniform
from gluonish.graph.ir import Graph, Node, Value
from gluonish.graph.passes.simplify import eliminate_dead_code
from gluonish.graph.rewrite import Reads, count_reads, has_operator, rebuild
from gluonish.ops.attention.scaled_dot_product import ATTENTION
from gluonish.ops.facts import zero_gradient
from gluonish.ops.linalg.matmul import BATCH_DOT
from gluonish.ops.registry import Attrs, apply, find_operator

_RESHAPES = ("Reshape", "_reshape_exact")
_SUMS = ("broadcast_add", "elemwise_add")
_PRODUCTS = ("broadcast_mul", "elemwise_mul")
_WHERES = ("where", "_npi_where", "_npi_where_rscalar", "_npi_where_lscalar")
_MULTIPLY = find_operator("broadcast_mul")


def fuse_attention(
    graph: Graph,
    *,
    supports: Callable[[Spec, Spec, Spec, bool], bool],
    learned: Collection[Node] = (),
    gradient: bool = False,
) -> Graph:
    """Compute attention without its matrix of weights.

    Args:
        graph: The graph.
        supports: Whether the device has a kernel that pays for queries, keys and values like these,
            and for their gradients.
        learned: Inputs of the graph that require a gradient.
        gradient: Whether a gradient may be required.

    Requires: specs on every value.
    Ensures: the outputs have the same specs, values and gradients, except for round-off, for the
    gradients of queries and keys in rows without any key (`gluonish.graph.attention_masks`), and
    that a kernel may draw other numbers for the dropout. A transpose that brings the heads of the
    output behind its rows is part of it. No ``batch_dot`` reads a softmax along the last axis,
    or its dropout, of another ``batch_dot`` whose operands are supported, unless a mask between
    them requires a gradient or has another form than those that are known.
    """
    if not has_operator(graph, ("softmax",)) or not has_operator(graph, (BATCH_DOT.name,)):
        return graph
    reads = count_reads(graph)
    for node in graph.nodes:
        if node.op is not None and node.op.name in READ_NO_ELEMENTS:  # as of the fill of ``where``
            reads[node.inputs[0].key] -= 1
    finder = _Finder(reads, _differentiable(graph, learned))

    def rule(node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        if node.op is not None and node.op.name == "transpose":
            return _with_swapped_heads(node, inputs[0], reads)
        if node.op is not BATCH_DOT or any(node.attrs[x] for x in ("transpose_a", "transpose_b")):
            return None
        found = finder.find(inputs[0], node.inputs[0])
        if found is None:
            return None
        queries, keys = found.arrays
        if not queries.spec.dtype == keys.spec.dtype == inputs[1].spec.dtype:
            return None
        hiding = None
        if found.masks.values:
            hiding = finder.hiding(found, (*queries.shape[:-1], keys.shape[-2]))
            if hiding is None:
                return None
            queries, keys = (_with_heads(x, hiding) for x in (queries, keys))
        values = _with_batch_axes(inputs[1], queries)
        if values is None or not supports(queries.spec, keys.spec, values.spec, gradient):
            return None
        made = _made(queries, keys, values, found.attrs, hiding)
        return [reshaped(made, node.specs[0].shape)]

    return eliminate_dead_code(rebuild(graph, rule))


def _differentiable(graph: Graph, learned: Collection[Node]) -> set[tuple[int, int]]:
    """Return the keys of the values through which gradients of some inputs pass."""
    found = {(id(node), 0) for node in learned}
    if not found:
        return found
    for node in graph.nodes:
        op = node.op
        if op is None or op.gradient in (None, zero_gradient) or op.name == "BlockGrad":
            continue
        if any(value.key in found for value in node.inputs):
            found |= {(id(node), i) for i, spec in enumerate(node.specs) if is_floating(spec.dtype)}
    return found


def _made(queries: Value, keys: Value, values: Value, attrs: Attrs, hiding: Hiding | None) -> Value:
    """Return the output of an attention."""
    if hiding is None:
        made: Value = apply(ATTENTION, (queries, keys, values), attrs)
        return made
    rank = len(queries.shape)
    rest = []
    if hiding.mask is not None:
        rest.append(_with_rank(hiding.mask, rank))
    if hiding.lengths is not None:
        rest.append(hiding.lengths)
    if hiding.queries is not None:
        queries = apply(_MULTIPLY, (queries, _with_rank(hiding.queries, rank)), {})
    hides = {
        "use_mask": hiding.mask is not None,
        "use_length": hiding.lengths is not None,
        "causal": hiding.causal,
        "bounded": True,
    }
    made = apply(ATTENTION, (queries, keys, values, *rest), {**attrs, **hides})
    if hiding.output is not None:
        made = apply(_MULTIPLY, (made, _with_rank(hiding.output, rank)), {})
    return made


def _with_rank(mask: Value, rank: int) -> Value:
    """Return a value of four axes with three, the heads of which are not apart."""
    return mask if rank == 4 else reshaped(mask, (mask.shape[0], *mask.shape[2:]))


def _with_heads(value: Value, hiding: Hiding) -> Value:
    """Return an operand (N heads, T, C) as (N, heads, T, C), if heads hide keys for themselves."""
    if hiding.grid.heads < 2 or len(value.shape) != 3:
        return value
    shape = (*hiding.grid[:2], *value.shape[1:])
    if value.node.op is not None and value.node.op.name in _RESHAPES:
        source = value.node.inputs[0]
        if source.shape == shape:
            return source
    return reshaped(value, shape)


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
    masks: Collected


class _Link(NamedTuple):
    """A value of the old graph, and its successor in the new one."""

    old: Value
    new: Value

    def before(self, i: int = 0) -> "_Link":
        """Return an input of the node behind the value."""
        return _Link(self.old.node.inputs[i], self.new.node.inputs[i])

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


class _Finder:
    """Finds attention before its second product.

    Args:
        reads: Reads of the values of the old graph.
        differentiable: Keys of the values of the old graph that gradients pass.
    """

    def __init__(self, reads: Reads, differentiable: Collection[tuple[int, int]]) -> None:
        self._reads, self._differentiable = reads, differentiable
        self._constants = Constants()
        self._hidings: dict[Any, Hiding | None] = {}
        self._kept: list[Value] = []  # so that no other value gets a key of theirs

    def hiding(self, found: _Found, shape: Sequence[int]) -> Hiding | None:
        """Return what hides keys in scores of a shape; the same object for equal masks."""
        dtype: np.dtype[Any] = found.arrays[0].spec.dtype
        key = (found.masks.key, tuple(shape), dtype)
        if key not in self._hidings:
            self._kept += found.masks.values
            self._hidings[key] = found.masks.build(tuple(shape), dtype)
        return self._hidings[key]

    def find(self, new: Value, old: Value) -> _Found | None:
        """Return the attention whose weights are a value; None if it is something else."""
        reads = self._reads
        attrs: dict[str, Any] = {**ATTENTION.schema.defaults, "scale": 1.0, "train": False}
        masks = Collected(self._constants)
        link = self._stripped(_Link(old, new))
        if link.is_of(("Dropout",), reads):
            node = link.new.node
            if node.attrs["axes"] or not 0 < node.attrs["p"] < 1 or reads[id(link.old.node), 1]:
                return None
            attrs |= {name: node.attrs[name] for name in ("mode", "train")}
            attrs["dropout"] = node.attrs["p"]
            link = self._stripped(link.before())
        if link.is_of(_PRODUCTS, reads):
            for i in range(2):
                inner = self._stripped(link.before(i))
                if inner.is_of(("softmax",), reads) and self._is_free(link.before(1 - i)):
                    break
            else:
                return None
            if link.before(i).new.shape != link.new.shape:
                return None
            masks.multiply(link.before(1 - i).new, link.new.shape)
            link = inner
        if not link.is_of(("softmax",), reads) or not _is_plain_softmax(link.new.node):
            return None
        node = link.new.node
        if len(node.inputs) > 1:
            masks.limit(node.inputs[1], node.inputs[1].shape, None)
        return self._scores(link.before(), 1.0, masks, attrs)

    def _scores(
        self, link: _Link, factor: float, masks: Collected, attrs: dict[str, Any]
    ) -> _Found | None:
        """Return the attention whose scores, times a factor, are a value."""
        reads, link = self._reads, self._stripped(link)
        node = link.new.node
        if link.is_of(("_mul_scalar", "_div_scalar"), reads):
            number = node.attrs["scalar"]
            if not number:
                return None
            factor *= number if link.is_of(("_mul_scalar",), reads) else 1 / number
            return self._scores(link.before(), factor, masks, attrs)
        if link.is_of(_SUMS, reads):
            for i in range(2):
                mask = link.before(1 - i)
                if link.before(i).new.shape != link.new.shape or not self._is_free(mask):
                    continue
                more = masks.copy()
                more.add(mask.new, link.new.spec, factor)
                found = self._scores(link.before(i), factor, more, attrs)
                if found is not None:
                    return found
            return None
        if link.is_of(_WHERES, reads):
            return self._selected(link, factor, masks, attrs)
        if link.is_of(("SequenceMask",), reads) and len(node.inputs) == 2:
            shape, axis = link.new.shape, node.attrs["axis"]
            if axis != 1 or len(shape) != 2:
                return None
            whole = apply(find_operator("Cast"), (node.inputs[1],), {"dtype": np.dtype("int32")})
            masks.limit(whole, shape[:1], _rounded(node.attrs["value"], link.new.spec) * factor)
            return self._scores(link.before(), factor, masks, attrs)
        if not link.is_of((BATCH_DOT.name,), reads):
            return None
        if node.attrs["transpose_a"] or not node.attrs["transpose_b"]:
            return None
        queries, keys = node.inputs
        return _Found((queries, keys), {**attrs, "scale": factor}, masks)

    def _selected(
        self, link: _Link, factor: float, masks: Collected, attrs: dict[str, Any]
    ) -> _Found | None:
        """Return the attention whose scores a condition selects."""
        node, shape = link.new.node, link.new.shape
        name, condition = node.op.name if node.op is not None else "", node.inputs[0]
        if name == "where" and len(condition.shape) != len(shape):
            return None
        if len(node.inputs) == 2:
            places: Sequence[tuple[int, float | None]] = [(1, node.attrs["scalar"])]
        else:
            places = [(i, uniform(node.inputs[3 - i])) for i in (1, 2)]
        for i, fill in places:
            if fill is None or node.inputs[i].shape != shape:
                continue
            more = masks.copy()
            negated = name == "_npi_where_lscalar" or (i == 2 and len(node.inputs) == 3)
            more.select(condition, shape, _rounded(fill, link.new.spec) * factor, negated=negated)
            found = self._scores(link.before(i), factor, more, attrs)
            if found is not None:
                return found
        return None

    def _is_free(self, mask: _Link) -> bool:
        """Whether no gradient passes a mask."""
        return mask.old.key not in self._differentiable

    def _stripped(self, link: _Link) -> _Link:
        """Return a value before reshapes that keep its last axis, and casts between floats."""
        while link.is_of((*_RESHAPES, "Cast"), self._reads):
            before = link.before()
            old, new = before.new.spec, link.new.spec
            if old.shape[-1:] != new.shape[-1:] or not (
                is_floating(old.dtype) and is_floating(new.dtype)
            ):
                break
            link = before
        return link


def _rounded(number: float, spec: Spec) -> float:
    """Return a number as scores of a dtype hold it."""
    with np.errstate(over="ignore"):
        return float(np.asarray(number).astype(spec.dtype))


def _is_plain_softmax(node: Node) -> bool:
    """Whether a softmax is along the last axis, in the dtype of its data, without options."""
    spec = node.inputs[0].spec
    return (
        node.attrs["axis"] % len(spec.shape) == len(spec.shape) - 1
        and node.attrs["temperature"] in (None, 1.0)
        and is_floating(spec.dtype)
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
    if math.prod(stack) == math.prod(values.shape[:-2]):
        return reshaped(values, (*stack, *values.shape[-2:]))
    return None
