"""Attention and its gradient by cuDNN, which keeps no matrix of weights.

Arrays are read by their strides, so that queries, keys and values may be views of one projection.
Calls for which cuDNN has no plan are rejected before anything is written, and fall back to the
reference kernel. cuDNN draws the dropout's mask with its own Philox generator from the seed and the
offset in device memory: equal runs give equal masks, and the gradient draws its forward pass's mask
again, but not the mask that Dropout draws.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_CUDNN_ENABLED
from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.cupy.cudnn import Handle, Plan, is_available, opened
from gluonish.kernels.cupy.random_numbers import store_key
from gluonish.kernels.cupy.source import contiguous
from gluonish.ops.attention.fused_attention import by_heads
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.dropout import drops

_DTYPES = {FLOAT16: "HALF", BFLOAT16: "BFLOAT16"}
_MAX_WIDTH = 128  # of a query and of a value; wider ones have no gradient on older devices
_UNIT = 8  # elements that a width is a multiple of
_ALIGNED = 16  # bytes
_KEY_ALIGNED = 8

# Numbers of the tensors.
_Q, _K, _V, _OUT, _LOG_SUM, _SEED, _OFFSET, _GRAD, _OF_Q, _OF_K, _OF_V = range(1, 12)


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
    """

    dtype: np.dtype[Any]
    layouts: tuple[tuple[int, _Layout], ...]
    log_sum: _Layout
    scale: float
    p: float
    aligned: bool

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


def is_faster(q: Spec, k: Spec, v: Spec) -> bool:
    """Whether cuDNN computes attention on such queries, keys and values, and is in use."""
    return bool(MXNET_CUDNN_ENABLED.value) and is_available() and supports(q, k, v)


def supports(q: Spec, k: Spec, v: Spec, **_: Any) -> bool:
    """Whether to try cuDNN for these inputs of ``_attention``."""
    widths = q.shape[-1], v.shape[-1]
    return (
        q.dtype in _DTYPES
        and len(q.shape) in (3, 4)
        and all(x.size for x in (q, k, v))
        and all(width <= _MAX_WIDTH and width % _UNIT == 0 for width in widths)
    )


def supports_backward(grad: Spec, q: Spec, k: Spec, v: Spec, *rest: Spec, **_: Any) -> bool:
    """Whether to try cuDNN for these inputs of ``_attention_backward``."""
    return supports(q, k, v)


def _layout(array: Any) -> _Layout:
    """Return the layout of an array of three or four axes."""
    dims, strides = array.shape, tuple(n // array.itemsize for n in array.strides)
    if array.ndim == 3:  # one head for each
        dims, strides = (dims[0], 1, *dims[1:]), (strides[0], strides[0], *strides[1:])
    return _Layout(tuple(dims), strides)


def _with_rows(array: Any) -> Any:
    """Return the array, or a contiguous copy if its rows are not contiguous."""
    return array if array.strides[-1] == array.itemsize else array.copy()


def _find(
    xp: Any, arrays: dict[int, Any], log_sum: Any, scale: float, p: float
) -> tuple[Plan, Handle]:
    """Return the plan for arrays by tensor number, and the current stream's handle.

    Raises:
        RefusedError: cuDNN is switched off or missing, or has no plan.
    """
    found = opened(xp) if MXNET_CUDNN_ENABLED.value else None
    if found is None:
        raise RefusedError("cuDNN: expected the library and its frontend, got none")
    addresses = [x.data.ptr for x in (*arrays.values(), log_sum)]
    layouts = tuple((number, _layout(x)) for number, x in arrays.items())
    aligned = not any(address % _ALIGNED for address in addresses)
    dtype = arrays[_Q].dtype
    problem = AttentionProblem(dtype, layouts, _layout(log_sum), scale, p, aligned)
    ready = found.find(xp, problem)
    if ready is None:
        raise RefusedError("cuDNN: expected an engine for this attention, got none")
    return ready


def _addresses(arrays: dict[int, Any], log_sum: Any, drawn: Any, p: float) -> dict[int, int]:
    """Return the addresses of a plan's tensors by number."""
    found = {number: x.data.ptr for number, x in arrays.items()}
    found[_LOG_SUM] = log_sum.data.ptr
    if p:
        found[_SEED] = drawn.data.ptr
        found[_OFFSET] = drawn.data.ptr + drawn.itemsize
    return found


def attention(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    q: Any,
    k: Any,
    v: Any,
    *,
    scale: float,
    p: float,
    mode: str,
    train: bool,
    key: Any = None,
    swapped: bool = False,
) -> None:
    """Compute ``_attention``."""
    out, log_sum, drawn = outputs
    out = by_heads(out, swapped)
    p = p if key is not None and drops({"p": p, "mode": mode, "train": train}) else 0.0
    arrays = {_Q: _with_rows(q), _K: _with_rows(k), _V: _with_rows(v), _OUT: _with_rows(out)}
    plan, handle = _find(xp, arrays, log_sum, scale, p)
    if key is not None:
        store_key(xp, drawn, key)
    plan.run(xp, handle, _addresses(arrays, log_sum, drawn, p))
    if arrays[_OUT] is not out:
        out[...] = arrays[_OUT]


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
    *,
    scale: float,
    p: float,
    swapped: bool = False,
) -> None:
    """Compute ``_attention_backward``."""
    grad, out = by_heads(grad, swapped), by_heads(out, swapped)
    arrays = {_Q: _with_rows(q), _K: _with_rows(k), _V: _with_rows(v)}
    arrays |= {_OUT: _with_rows(out), _GRAD: _with_rows(grad)}
    results = dict(zip((_OF_Q, _OF_K, _OF_V), map(_with_rows, outputs), strict=True))
    log_sum = contiguous(log_sum)
    arrays |= results
    plan, handle = _find(xp, arrays, log_sum, scale, p)
    plan.run(xp, handle, _addresses(arrays, log_sum, drawn, p))
    for array, made in zip(outputs, results.values(), strict=True):
        if made is not array:
            array[...] = made
