"""_cached_attention: one query of each sample is bound by reading the keys and values in reach.

Pieces of several queries are computed by the tiles of scaled_dot_product_attention.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from operator import is_
from struct import pack, unpack
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.compiler.vector_code import lanes
from gluonish.kernels.generated.cached_attention_code import ITEMSIZES, KINDS, Form, kernel
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.scratch import Scratch
from gluonish.ops.attention.cached import CACHED_ATTENTION, checked_positions
from gluonish.ops.attention.scaled_dot_product import by_heads, scale_of, shape_by_heads
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError, address
from gluonish.ops.registry import Attrs

_FLOAT = 4  # bytes
_MOST_QUERIES = 1 << 14  # elements of the queries that share keys, which are on the stack
_LEAST_ELEMENTS = 1 << 15  # of keys in reach for a thread
_ROOM = 256  # the memory for the scores of a head is a multiple of this
_MOST_SCORES = 1 << 16  # that a call in a graph keeps memory for
_ENDLESS = 1 << 31
_LOG2_E = 1.4426950408889634


def _bits(value: float) -> int:
    (found,) = unpack("i", pack("f", value))
    return int(found)


class _Layout(NamedTuple):
    """What a plan depends on; arrays are in the order of `Form.names`, then scales.

    Attributes:
        dtypes: Those of the queries and of the caches.
        shapes: Those of out (N, H, 1, V), query (N, H, 1, C) and the cache of keys (N, K, S, C).
        strides: Those of all arrays, in bytes.
        room: Number of keys that there is memory for.
        window: As the operator's, like the rest.
    """

    dtypes: tuple[Any, Any]
    shapes: tuple[tuple[int, ...], ...]
    strides: tuple[tuple[int, ...], ...]
    room: int
    window: int | None
    scale: float | None
    softcap: float | None


@lru_cache(1024)
def _plan_of(layout: _Layout) -> KernelPlan:
    out, query, keys = layout.shapes
    kind, held = (KINDS[dtype] for dtype in layout.dtypes)
    form = Form(kind, held, layout.softcap is not None)
    kinds = [form.kind] * 4 + [form.held] * 2 + ["float32"] * 2
    pairs = zip(layout.strides, kinds, strict=False)
    if any(strides[-1] != ITEMSIZES[kind] for strides, kind in pairs):
        raise RefusedError("cached_attention: expected contiguous rows, got rows with gaps")
    (samples, heads, _, width), value_width = query, out[3]
    shared, length = keys[1:3]
    scale = scale_of(layout.scale, width)
    factor, cap = scale * _LOG2_E, 0.0
    if layout.softcap is not None:
        factor, cap = scale / layout.softcap, layout.softcap * _LOG2_E
    group = heads // shared
    before = length if layout.window is None else layout.window - 1
    counts = [2] * 4 + [3] * 2 + [2] * 2
    steps = [
        step for n, strides in zip(counts, layout.strides, strict=False) for step in strides[:n]
    ]
    params = [*[0] * (len(layout.strides) + 2), *steps, group, shared, width, value_width]
    params += [length, before, layout.room * _FLOAT, _bits(factor), _bits(cap)]
    grain = max(1, _LEAST_ELEMENTS // (layout.room * (width + value_width) * group))
    return KernelPlan(kernel(form), params, samples * shared, grain)


def _room_for(newest: int, window: int | None) -> int:
    """Return the number of scores of a head that there is to be memory for."""
    reach = newest + 1 if window is None else min(newest + 1, window)
    return -(-(reach + lanes()) // _ROOM) * _ROOM  # scores are stored as vectors


def _plan_for(arrays: Sequence[Array], room: int, attrs: Attrs) -> KernelPlan:
    """Return the plan for arrays by heads, in the order of `Form.names`, then scales."""
    dtypes = arrays[1].dtype, arrays[4].dtype
    shapes = arrays[0].shape, arrays[1].shape, arrays[4].shape
    strides = tuple([x.strides for x in arrays])
    options = attrs["window"], attrs["scale"], attrs["softcap"]
    return _plan_of(_Layout(dtypes, shapes, strides, room, *options))


def _by_heads(arrays: Sequence[Array], layout: str) -> list[Array]:
    if layout == "NHTC":
        return [*arrays]
    return [*(by_heads(x, layout) for x in arrays[:4]), *arrays[4:]]


def _run(
    xp: ModuleType,
    out: Array,
    query: Array,
    key: Array,
    value: Array,
    key_cache: Array,
    value_cache: Array,
    position: Array,
    *scales: Array,
    **attrs: Any,
) -> None:
    window = attrs["window"]
    arrays = _by_heads([out, query, key, value, key_cache, value_cache, *scales], attrs["layout"])
    starts = checked_positions(position, 1, key_cache.shape[2], window)
    samples, heads = arrays[1].shape[:2]
    room = _room_for(max(starts), window)
    plan = _plan_for(arrays, room, attrs)
    if len(starts) < samples:
        starts = starts * samples
    places = np.array(starts, np.int64)
    with Scratch(samples * heads * room) as scores:
        plan.run(*arrays, places, scores)


class _Attached:
    """The kernel in memory of a graph, whose layouts stay; see `FastKernel`.

    The products of a step stream all weights through the processor's caches, so that each object
    that the next call looks at comes from memory. A call that is like the last one looks at few.
    """

    __slots__ = (
        "_attrs",
        "_held",
        "_length",
        "_new",
        "_operands",
        "_params",
        "_places",
        "_plan",
        "_room",
        "_scores",
        "_strides",
        "_window",
        "_xp",
    )

    def __init__(self, xp: ModuleType, operands: Sequence[int], attrs: Attrs) -> None:
        self._xp = xp
        self._operands = operands
        self._attrs = attrs
        self._window: int | None = attrs["window"]
        self._held = [*operands[4:6], *operands[7:]]  # caches and scales
        self._new: tuple[Array, ...] = ()  # out, query, key and value of the last call
        self._plan: KernelPlan | None = None
        self._strides: list[Any] = []  # of caches and scales
        self._length = self._room = 0  # first position too far, and scores of a head
        self._params: tuple[Any, int]
        self._places: Array
        self._scores: Array

    def run(self, arrays: Sequence[Any]) -> None:
        """Attend."""
        i, j, k, m = self._operands[:4]
        new = arrays[i], arrays[j], arrays[k], arrays[m]
        position = arrays[self._operands[6]]
        single = position.size == 1
        newest = position.item() if single else int(position.max())
        held = [arrays[i] for i in self._held]
        plan = self._plan
        if (
            plan is None
            or not all(map(is_, new, self._new))
            or [x.strides for x in held] != self._strides
            or not 0 <= newest < self._length
            or not (single or position.min() >= 0)
            or self._room != _room_for(newest, self._window)
        ):
            plan = self._prepared(new, held, position, newest)
            if plan is None:
                used = [arrays[i] for i in self._operands]
                KERNELS[0][1].kernel(self._xp, *used, **self._attrs)
                return
        self._places[...] = position
        values = self._params[0]
        for at, array in enumerate(held, 4):
            values[at] = address(array)
        plan.launch(self._params, None)

    def _prepared(
        self, new: tuple[Array, ...], held: list[Array], position: Array, newest: int
    ) -> KernelPlan | None:
        """Return the plan of a call, with its params; None if the usual kernel is to run."""
        self._plan = None
        given = _by_heads([*new, *held], self._attrs["layout"])
        samples, heads = given[1].shape[:2]
        room = _room_for(newest, self._window)
        length = held[0].shape[2]
        if self._window is not None and self._window <= length:
            length = _ENDLESS  # a ring
        if newest >= length or position.min() < 0 or samples * heads * room > _MOST_SCORES:
            return None
        try:
            plan = _plan_for(given, room, self._attrs)
        except RefusedError:
            return None
        self._params = values, _ = plan.new_params()
        self._places = np.zeros(samples, np.int64)
        self._scores = np.empty(samples * heads * room, FLOAT32)
        ends = len(given), len(given) + 1
        for at, array in (*enumerate(given), *zip(ends, (self._places, self._scores), strict=True)):
            values[at] = address(array)
        self._strides = [x.strides for x in held]
        self._plan, self._new, self._length, self._room = plan, new, length, room
        return plan

    def pack(self, arrays: Sequence[Any]) -> None:
        """Do nothing."""


def _attach(
    xp: ModuleType, operands: Sequence[int], movable: Collection[int], attrs: Attrs
) -> _Attached:
    return _Attached(xp, operands, attrs)


def _supports(
    query: Spec,
    key: Spec,
    value: Spec,
    key_cache: Spec,
    value_cache: Spec,
    position: Spec,
    *_rest: Spec,
    layout: str,
    use_mask: bool,
    **_: Any,
) -> bool:
    if use_mask or not MXNET_USE_FUSION.value:
        return False
    held = key_cache.dtype
    if query.dtype not in (FLOAT32, BFLOAT16) or held not in KINDS or held != value_cache.dtype:
        return False
    if not all(x.size for x in (query, key, value, key_cache, value_cache)):
        return False
    _samples, heads, queries, width = shape_by_heads(query.shape, layout)
    widths = width, value_cache.shape[3]
    group = heads // key_cache.shape[1]
    return (
        queries == 1
        and not any(x % lanes() for x in widths)
        and group * max(widths) <= _MOST_QUERIES
    )


def _run_pieces(xp: ModuleType, *arrays: Array, **attrs: Any) -> None:
    """Attend by the operator's own kernel, whose tiles of queries read arrays with gaps."""
    CACHED_ATTENTION.kernel(xp, *arrays, **attrs)


def _supports_pieces(query: Spec, key: Spec, value: Spec, *_: Spec, layout: str, **__: Any) -> bool:
    if not MXNET_USE_FUSION.value or query.dtype not in (FLOAT32, BFLOAT16):
        return False
    return shape_by_heads(query.shape, layout)[2] > 1 and all(x.size for x in (query, key, value))


def _reads_strides(position: int, shape: Sequence[int], strides: Sequence[int]) -> bool:
    return position < 3 and strides[-1] == 1


KERNELS = (
    (
        CACHED_ATTENTION,
        FastKernel(
            *(BackEnd.GENERATED, "cached_attention", _supports),
            run=_run,
            attach=_attach,
            enabled=available,
            reads_strides=_reads_strides,
        ),
    ),
    (
        CACHED_ATTENTION,
        FastKernel(
            *(BackEnd.GENERATED, "cached_attention_of_pieces", _supports_pieces),
            run=_run_pieces,
            enabled=available,
            reads_strides=_reads_strides,
        ),
    ),
)
