"""Attention and its gradient by cuDNN, which keeps no matrix of weights.

Arrays are read by their strides, so that queries, keys and values may be views of one projection.
Calls for which cuDNN has no plan are rejected before anything is written, and fall back to the
reference kernel. cuDNN draws the dropout's mask with its own Philox generator from the seed and the
offset in device memory: equal runs give equal masks, and the gradient draws its forward pass's mask
again, but not the mask that Dropout draws.

A mask is cuDNN's bias, of the arrays' dtype, and broadcasts over entries and heads; over queries it
does so by strides of 0, or as a copy where cuDNN has no plan for these. Lengths are its padding
mask. Before 9.25 cuDNN gives NaN for entries without queries; there all queries are computed, and
those rows are zeroed behind it.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_CUDNN_ENABLED
from gluonish.core.dtype import BFLOAT16, FLOAT16, INT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.copies import contiguous, copy, duplicate
from gluonish.kernels.cupy.cudnn import CuDNN, is_available, opened
from gluonish.kernels.cupy.random_numbers import store_key
from gluonish.ops.attention.scaled_dot_product import (
    by_heads,
    optional_inputs,
    output_by_heads,
    scale_of,
    shape_by_heads,
)
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.dropout import drops
from gluonish.ops.registry import Attrs

_DTYPES = {FLOAT16: "HALF", BFLOAT16: "BFLOAT16"}
_MAX_WIDTH = 128  # of a query and of a value; wider ones have no gradient on older devices
_UNIT = 8  # elements that a width is a multiple of
_ALIGNED = 16  # bytes
_KEY_ALIGNED = 8
_NO_QUERIES_SINCE = 92500  # cuDNN's version that takes entries without queries
_NOTHING = 1e30  # the logarithm of a sum of which no weight is more than 0

# Numbers of the tensors.
_Q, _K, _V, _OUT, _LOG_SUM, _SEED, _OFFSET, _GRAD, _OF_Q, _OF_K, _OF_V = range(1, 12)
_MASK, _QUERIES, _KEYS = range(12, 15)


class _Layout(NamedTuple):
    """A tensor of cuDNN's: batch, heads, length and width, and their strides in elements."""

    dims: Shape
    strides: Shape


class AttentionProblem(NamedTuple):
    """An attention, or its gradient, that a plan computes; the plan's cache key.

    Attributes:
        dtype: Dtype of all arrays but the logarithms of sums, which are float32.
        layouts: Numbers of the tensors with the dtype, and their layouts.
        log_sum: Layout of the logarithms of sums.
        scale: Factor of the scores.
        p: Probability that a weight is zeroed.
        aligned: Whether all addresses are multiples of 16 bytes.
        causal: Whether each query before the last sees one key less.
        lengths: Whether there are numbers of queries and keys of each entry.
    """

    dtype: np.dtype[Any]
    layouts: tuple[tuple[int, _Layout], ...]
    log_sum: _Layout
    scale: float
    p: float
    aligned: bool
    causal: bool
    lengths: bool

    @property
    def measured(self) -> bool:
        """False: cuDNN's heuristics choose the engine."""
        return False

    def prepare(self, front_end: Any, handle: int) -> Any:
        """Raise, as no attention is measured."""
        raise NotImplementedError

    def build(self, front_end: Any, handle: int) -> Any:
        """Return the graph of the problem, with its plan built; see `cudnn.Problem`."""
        kinds = front_end.data_type
        graph = front_end.pygraph(
            io_data_type=getattr(kinds, _DTYPES[self.dtype]),
            intermediate_data_type=kinds.FLOAT,
            compute_data_type=kinds.FLOAT,
            handle=handle,
        )
        with _importable(front_end):
            self._fill(graph, kinds)
        modes, notes = front_end.heur_mode, front_end.numerical_note
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([modes.A, modes.FALLBACK])
        graph.deselect_numeric_notes([notes.NONDETERMINISTIC])
        graph.check_support()
        graph.build_plans()
        return graph

    def _fill(self, graph: Any, kinds: Any) -> None:
        """Add the attention, or its gradient, to a graph."""
        layouts = dict(self.layouts)
        q, k, v = (self._tensor(graph, number, layouts[number]) for number in (_Q, _K, _V))
        options: dict[str, Any] = {"attn_scale": self.scale}
        if self.p:
            key = (self._key(graph, number, kinds) for number in (_SEED, _OFFSET))
            options["dropout"] = (self.p, *key)
        options |= self._hidden(graph, layouts, kinds)
        if _GRAD not in layouts:
            out, log_sum = graph.sdpa(q=q, k=k, v=v, generate_stats=True, **options)
            self._deliver(out, _OUT, layouts[_OUT])
            self._deliver(log_sum, _LOG_SUM, self.log_sum)._set_data_type(kinds.FLOAT)
            return
        out, grad = (self._tensor(graph, number, layouts[number]) for number in (_OUT, _GRAD))
        stats = self._tensor(graph, _LOG_SUM, self.log_sum, kinds.FLOAT)
        made = graph.sdpa_backward(
            q=q,
            k=k,
            v=v,
            o=out,
            dO=grad,
            stats=stats,
            use_deterministic_algorithm=True,
            **options,
        )
        for tensor, number in zip(made, (_OF_Q, _OF_K, _OF_V), strict=True):
            self._deliver(tensor, number, layouts[number])

    def _hidden(self, graph: Any, layouts: dict[int, _Layout], kinds: Any) -> dict[str, Any]:
        """Return the arguments that hide keys."""
        found: dict[str, Any] = {}
        if _MASK in layouts:
            found["bias"] = self._tensor(graph, _MASK, layouts[_MASK])
        if self.lengths:
            entries = [layouts[_Q].dims[0], 1, 1, 1]
            names = {"seq_len_q": _QUERIES, "seq_len_kv": _KEYS}
            for name, number in names.items():
                made = graph._make_tensor(
                    dim=entries, stride=[1] * 4, uid=number, name=f"t{number}",
                    data_type=kinds.INT32,
                )  # fmt: skip
                found[name] = made.set_alignment(INT32.itemsize)
            found["use_padding_mask"] = True
        if self.causal:
            square = layouts[_Q].dims[2] == layouts[_K].dims[2]
            found["use_causal_mask" if square else "use_causal_mask_bottom_right"] = True
        return found

    def _tensor(self, graph: Any, number: int, layout: _Layout, *kind: Any) -> Any:
        dims, strides = (list(x) for x in layout)
        options = {"data_type": kind[0]} if kind else {}
        made = graph._make_tensor(
            dim=dims, stride=strides, uid=number, name=f"t{number}", **options
        )
        return self._with_alignment(made)

    def _key(self, graph: Any, number: int, kinds: Any) -> Any:
        """Return a tensor for one number of the random key."""
        made = graph._make_tensor(
            dim=[1] * 4, stride=[1] * 4, uid=number, name=f"t{number}", data_type=kinds.INT64
        )
        return made.set_alignment(_KEY_ALIGNED)

    def _deliver(self, tensor: Any, number: int, layout: _Layout) -> Any:
        """Make a tensor an output, and return it."""
        dims, strides = (list(x) for x in layout)
        made = tensor.set_output(True).set_uid(number).set_dim(dims).set_stride(strides)
        return self._with_alignment(made)

    def _with_alignment(self, tensor: Any) -> Any:
        return tensor if self.aligned else tensor.set_alignment(self.dtype.itemsize)


@contextmanager
def _importable(front_end: Any) -> Iterator[None]:
    """Let the frontend import itself as ``cudnn``, which would load PyTorch otherwise."""
    absent = sys.modules.setdefault("cudnn", front_end) is front_end
    try:
        yield
    finally:
        if absent:
            sys.modules.pop("cudnn", None)


def is_faster(q: Spec, k: Spec, v: Spec, gradient: bool) -> bool:
    """Whether cuDNN computes attention on such queries, keys and values, and is in use."""
    return bool(MXNET_CUDNN_ENABLED.value) and is_available() and supports(q, k, v)


def supports(q: Spec, k: Spec, v: Spec, *others: Spec, **attrs: Any) -> bool:
    """Whether to try cuDNN for these inputs of ``scaled_dot_product_attention``."""
    widths = q.shape[-1], v.shape[-1]
    return (
        q.dtype in _DTYPES
        and len(q.shape) in (3, 4)
        and all(x.size for x in (q, k, v))
        and all(width <= _MAX_WIDTH and width % _UNIT == 0 for width in widths)
        and _hides_as_cudnn(q, k, others, attrs)
    )


def _hides_as_cudnn(q: Spec, k: Spec, others: Sequence[Spec], attrs: Attrs) -> bool:
    """Whether keys are shared and hidden in ways of cuDNN's.

    It gives NaN for a query without keys, so that masks and lengths have to be bounded.
    """
    if attrs.get("window") or attrs.get("softcap") or (others and not attrs["bounded"]):
        return False
    queries, keys = (shape_by_heads(x.shape, attrs.get("layout", "NHTC")) for x in (q, k))
    if queries[:-2] != keys[:-2] or (attrs.get("causal") and queries[-2] > keys[-2]):
        return False
    mask, lengths = optional_inputs(others, attrs) if others else (None, None)
    if mask is not None and (mask.dtype, len(mask.shape)) != (q.dtype, len(queries)):
        return False
    if mask is not None and mask.shape[-1] != keys[-2]:
        return False
    return lengths is None or lengths == Spec((2, queries[0]), INT32)


def supports_backward(grad: Spec, q: Spec, k: Spec, v: Spec, *others: Spec, **attrs: Any) -> bool:
    """Whether to try cuDNN for these inputs of the gradient of attention."""
    return supports(q, k, v, *others[3:], **attrs)


def _layout(array: Any) -> _Layout:
    """Return the layout of an array of three or four axes."""
    dims, strides = array.shape, tuple(n // array.itemsize for n in array.strides)
    if array.ndim == 3:  # one head for each
        dims, strides = (dims[0], 1, *dims[1:]), (strides[0], strides[0], *strides[1:])
    return _Layout(tuple(dims), strides)


def _with_rows(xp: Any, array: Any) -> Any:
    """Return the array, or a contiguous copy if its rows are not contiguous."""
    return array if array.strides[-1] == array.itemsize else duplicate(xp, array)


class _Call(NamedTuple):
    """What a call of cuDNN is made with.

    Attributes:
        arrays: Arrays of the dtype by their tensors' numbers.
        log_sum: The logarithms of sums.
        drawn: The random key.
        lengths: Numbers of queries and of keys, each (N,); None without.
        causal: Whether each query before the last sees one key less.
        scale: Factor of the scores.
        p: Probability that a weight is zeroed.
    """

    arrays: dict[int, Any]
    log_sum: Any
    drawn: Any
    lengths: tuple[Any, Any] | None
    causal: bool
    scale: float
    p: float

    def problem(self) -> AttentionProblem:
        """Return the key of the plan."""
        addresses = [x.data.ptr for x in (*self.arrays.values(), self.log_sum)]
        layouts = {number: _layout(x) for number, x in self.arrays.items()}
        if _MASK in layouts:
            layouts[_MASK] = _over_queries(layouts[_MASK], layouts[_Q].dims[2])
        return AttentionProblem(
            dtype=self.arrays[_Q].dtype,
            layouts=tuple(layouts.items()),
            log_sum=_layout(self.log_sum),
            scale=self.scale,
            p=self.p,
            aligned=not any(address % _ALIGNED for address in addresses),
            causal=self.causal,
            lengths=self.lengths is not None,
        )

    def addresses(self) -> dict[int, int]:
        """Return the addresses of the plan's tensors by number."""
        found = {number: x.data.ptr for number, x in self.arrays.items()}
        found[_LOG_SUM] = self.log_sum.data.ptr
        if self.p:
            found[_SEED] = self.drawn.data.ptr
            found[_OFFSET] = self.drawn.data.ptr + self.drawn.itemsize
        if self.lengths is not None:
            found[_QUERIES], found[_KEYS] = (x.data.ptr for x in self.lengths)
        return found

    def run(self, xp: Any, found: CuDNN) -> None:
        """Run on the current stream.

        Raises:
            RefusedError: cuDNN has no plan.
        """
        if self.causal and self.lengths is not None and self._is_oblong():
            raise RefusedError("cuDNN: expected a diagonal that lengths do not move, got one")
        call, ready = self, found.find(xp, self.problem())
        mask, queries = self.arrays.get(_MASK), self.arrays[_Q].shape[-2]
        if ready is None and mask is not None and mask.shape[-2] < queries:
            shape = (*mask.shape[:-2], queries, mask.shape[-1])
            copied = duplicate(xp, xp.broadcast_to(mask, shape))
            call = self._replace(arrays={**self.arrays, _MASK: copied})
            ready = found.find(xp, call.problem())
        if ready is None:
            raise RefusedError("cuDNN: expected an engine for this attention, got none")
        plan, handle = ready
        plan.run(xp, handle, call.addresses())

    def _is_oblong(self) -> bool:
        """Whether there are more keys than queries."""
        return bool(self.arrays[_Q].shape[-2] != self.arrays[_K].shape[-2])


def _over_queries(mask: _Layout, queries: int) -> _Layout:
    """Return the layout of a mask that is the same for all queries, or has each of them."""
    if mask.dims[2] == queries:
        return mask
    (batch, heads, _, keys), strides = mask
    return _Layout((batch, heads, queries, keys), (*strides[:2], 0, strides[3]))


def _opened(xp: Any) -> CuDNN:
    """Return cuDNN.

    Raises:
        RefusedError: It is switched off or missing.
    """
    found = opened(xp) if MXNET_CUDNN_ENABLED.value else None
    if found is None:
        raise RefusedError("cuDNN: expected the library and its frontend, got none")
    return found


def _lengths(xp: Any, found: CuDNN, given: Any, queries: int) -> tuple[Any, Any] | None:
    """Return the lengths that cuDNN is told."""
    if given is None:
        return None
    counts = given[0]
    if found.version < _NO_QUERIES_SINCE:
        counts = xp.full(counts.shape, queries, counts.dtype)
    return counts, given[1]


def _without_absent(xp: Any, lengths: Any, out: Any, log_sum: Any) -> None:
    """Zero the rows of absent queries, and let none of their weights be more than 0."""
    rows = xp.arange(out.shape[-2], dtype=INT32)[:, None]
    absent = rows >= lengths[0].reshape(-1, *[1] * (out.ndim - 1))
    out[...] = xp.where(absent, out.dtype.type(0), out)
    log_sum[...] = xp.where(absent, log_sum.dtype.type(_NOTHING), log_sum)


def attention(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    q: Any,
    k: Any,
    v: Any,
    *others: Any,
    key: Any = None,
    **attrs: Any,
) -> None:
    """Compute ``scaled_dot_product_attention``."""
    out, log_sum, drawn = outputs
    out = output_by_heads(out, attrs)
    q, k, v = (by_heads(x, attrs["layout"]) for x in (q, k, v))
    mask, counts = optional_inputs(others, attrs)
    drop = {"p": attrs["dropout"], "mode": attrs["mode"], "train": attrs["train"]}
    p = attrs["dropout"] if key is not None and drops(drop) else 0.0
    found = _opened(xp)
    arrays = {
        _Q: _with_rows(xp, q),
        _K: _with_rows(xp, k),
        _V: _with_rows(xp, v),
        _OUT: _with_rows(xp, out),
    }
    if mask is not None:
        arrays[_MASK] = contiguous(xp, mask)
    lengths = _lengths(xp, found, counts, q.shape[-2])
    if key is not None:
        store_key(xp, drawn, key)
    scale = scale_of(attrs["scale"], q.shape[-1])
    _Call(arrays, log_sum, drawn, lengths, attrs["causal"], scale, p).run(xp, found)
    if lengths is not None and found.version < _NO_QUERIES_SINCE:
        _without_absent(xp, counts, arrays[_OUT], log_sum)
    if arrays[_OUT] is not out:
        copy(xp, out, arrays[_OUT])


def backward(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    grad: Any,
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    log_sum: Any,
    drawn: Any,
    *others: Any,
    **attrs: Any,
) -> None:
    """Compute the gradient of ``scaled_dot_product_attention``."""
    layout = attrs["layout"]
    grad, out = output_by_heads(grad, attrs), output_by_heads(out, attrs)
    q, k, v = (by_heads(x, layout) for x in (q, k, v))
    gradients = [by_heads(x, layout) for x in outputs]
    mask, counts = optional_inputs(others, attrs)
    found = _opened(xp)
    arrays = {_Q: _with_rows(xp, q), _K: _with_rows(xp, k), _V: _with_rows(xp, v)}
    arrays |= {_OUT: _with_rows(xp, out), _GRAD: _with_rows(xp, grad)}
    results = dict(zip((_OF_Q, _OF_K, _OF_V), (_with_rows(xp, x) for x in gradients), strict=True))
    arrays |= results
    if mask is not None:
        arrays[_MASK] = contiguous(xp, mask)
    lengths = _lengths(xp, found, counts, q.shape[-2])
    scale = scale_of(attrs["scale"], q.shape[-1])
    call = _Call(
        *(arrays, contiguous(xp, log_sum), drawn, lengths, attrs["causal"], scale, attrs["dropout"])
    )
    call.run(xp, found)
    for array, made in zip(gradients, results.values(), strict=True):
        if made is not array:
            copy(xp, array, made)
