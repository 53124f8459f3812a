"""_cached_attention of one query for each sample: bound by reading the keys and values in reach.

A step is the heads of a sample that share keys. It writes the new key and value into the caches,
computes the scores of each head into scratch memory, vectors of neighbouring keys at a time, makes
weights of them, and adds up values, blocks of keys at a time, so that the heads find them in a
core's cache. Sums are float32, in an order that depends on sizes, position and window only.
"""

import hashlib
from functools import cache, lru_cache
from pathlib import Path
from struct import pack, unpack
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.scratch import Scratch
from gluonish.ops.attention.cached import CACHED_ATTENTION, checked_positions
from gluonish.ops.attention.scaled_dot_product import by_heads, scale_of, shape_by_heads
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError

_FLOAT = 4  # bytes
_BLOCK = 64  # keys whose values are added up for all heads
_TILES = (8, 4, 2, 1)  # vectors of a row of values that are added up in registers
_MOST_QUERIES = 1 << 14  # elements of the queries that share keys, which are on the stack
_LEAST_ELEMENTS = 1 << 15  # of keys in reach for a thread
_ROOM = 256  # the memory for the scores of a head is a multiple of this
_LOG2_E = 1.4426950408889634

_NAMES = (
    "out query key value keys values positions scores "
    "out_n out_h query_n query_h key_n key_h value_n value_h "
    "keys_n keys_h keys_s values_n values_h values_s "
    "group heads width value_width before score_step factor cap"
)


class Form(NamedTuple):
    """What the code of the kernel depends on.

    Attributes:
        kind: Dtype of all arrays.
        capped: Whether scores are limited by a hyperbolic tangent.
    """

    kind: str
    capped: bool

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return _FLOAT if self.kind == "float32" else 2


@cache
def _version() -> str:
    """Return a hash of this module, for the key of generated code."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


@lru_cache(8)
def kernel(form: Form) -> CompiledKernel:
    """Return the compiled kernel of a form; a step is the heads of a sample that share keys."""

    def text() -> str:
        code = Assembler(_NAMES)
        _Writer(code, form).write()
        return code.finish()

    return compile_assembly(f"cached attention {form} {lanes()} {_version()}", text)


class _Reach(NamedTuple):
    """The keys that the query of a step attends to.

    Attributes:
        keys: Address of the first key.
        values: Address of the first value.
        scores: Address of the scores of the first head.
        count: Number of keys.
    """

    keys: Value
    values: Value
    scores: Value
    count: Value


class _Writer:
    """Writes the code of the kernel.

    Attributes:
        queries: Address of the queries of a step, as float32 times the factor.
        sums: Address of the sums of values of all heads of a step.
        totals: Address of the sum of weights of each head.
    """

    def __init__(self, code: Assembler, form: Form) -> None:
        self.code = code
        self.form = form
        self.params = params = code.params
        self.query_row = code.product(params["width"], _FLOAT)
        self.sum_row = code.product(params["value_width"], _FLOAT)
        self.queries = code.reserve(code.product(self.query_row, params["group"]))
        self.sums = code.reserve(code.product(self.sum_row, params["group"]))
        self.totals = code.reserve(code.product(params["group"], _FLOAT))

    def write(self) -> None:
        """Write the loop over steps."""
        code, params = self.code, self.params
        with code.loop(code.begin, code.end) as step:
            sample, head = code.divide(step, params["heads"])
            place = code.sum(params["positions"], code.product(sample, 8))
            newest = code.load_number(place, "int64")
            self._append("key", "keys", sample, head, newest, params["width"])
            self._append("value", "values", sample, head, newest, params["value_width"])
            first = code.greatest(code.difference(newest, params["before"]), 0)
            reach = _Reach(
                code.sum(self._row("keys", sample, head), code.product(first, params["keys_s"])),
                code.sum(
                    self._row("values", sample, head), code.product(first, params["values_s"])
                ),
                code.sum(
                    params["scores"],
                    code.product(step, params["group"], params["score_step"]),
                ),
                code.difference(code.sum(newest, 1), first),
            )
            first_head = code.product(head, params["group"])
            with code.loop(0, params["group"]) as i:
                self._prepare(sample, code.sum(first_head, i), i)
                self._weigh(reach, i)
            with code.loop(0, reach.count, _BLOCK) as start:
                self._add_values(reach, start)
            with code.loop(0, params["group"]) as i:
                self._finish(self._row("out", sample, code.sum(first_head, i)), i)

    def _row(self, name: str, sample: Value, head: Value) -> Value:
        """Return the address of an array's part of a sample and head."""
        code, params = self.code, self.params
        return code.sum(
            params[name],
            code.product(sample, params[f"{name}_n"]),
            code.product(head, params[f"{name}_h"]),
        )

    def _append(
        self, new: str, held: str, sample: Value, head: Value, newest: Value, width: Value
    ) -> None:
        """Copy a new key or value into its cache."""
        code, form = self.code, self.form
        source = self._row(new, sample, head)
        offset = code.product(newest, self.params[f"{held}_s"])
        target = code.sum(self._row(held, sample, head), offset)
        with code.loop(0, width, lanes()) as at:
            offset = code.product(at, form.itemsize)
            loaded = code.load_converted(code.sum(source, offset), form.kind)
            code.store_converted(loaded, code.sum(target, offset), form.kind)

    def _prepare(self, sample: Value, head: Value, i: Value) -> None:
        """Convert a query, and set its sums to zero."""
        code, form, params = self.code, self.form, self.params
        source = self._row("query", sample, head)
        factor = code.number_of_bits(params["factor"])
        to = code.sum(self.queries, code.product(i, self.query_row))
        with code.loop(0, params["width"], lanes()) as at:
            offset = code.product(at, form.itemsize)
            loaded = code.load_converted(code.sum(source, offset), form.kind)
            code.store(code.multiply(loaded, factor), code.sum(to, code.product(at, _FLOAT)))
        to = code.sum(self.sums, code.product(i, self.sum_row))
        with code.loop(0, params["value_width"], lanes()) as at:
            code.store(code.zeros(), code.sum(to, code.product(at, _FLOAT)))

    def _weigh(self, reach: _Reach, i: Value) -> None:
        """Store the weights of a head, and their sum."""
        code = self.code
        query = code.sum(self.queries, code.product(i, self.query_row))
        to = code.sum(reach.scores, code.product(i, self.params["score_step"]))
        last = code.difference(reach.count, 1)

        def score(first: Value, tops: list[Value]) -> list[Value]:
            scores = self._limited(self._products(reach.keys, query, first, last))
            inside = code.between(code.lane_numbers(first), first, last)
            scores = code.where(inside, scores, code.constant(float("-inf")))
            code.store(scores, code.sum(to, code.product(first, _FLOAT)))
            return [code.larger(scores, tops[0])]

        lowest = code.constant(float("-inf"))
        (tops,) = code.fold(0, reach.count, lanes(), [lowest], score)
        top = self._largest(tops)

        def weigh(first: Value, totals: list[Value]) -> list[Value]:
            at = code.sum(to, code.product(first, _FLOAT))
            weights = code.power_of_two(code.subtract(code.load(at), top))
            code.store(weights, at)
            return [code.add(totals[0], weights)]

        (totals,) = code.fold(0, reach.count, lanes(), [code.zeros()], weigh)
        total = code.sum_of_lanes(totals)
        code.store_float(total, code.sum(self.totals, code.product(i, _FLOAT)))

    def _products(self, keys: Value, query: Value, first: Value, last: Value) -> Value:
        """Return a query's products with neighbouring keys; those after the last are repeated."""
        code, form, params = self.code, self.form, self.params
        rows = [
            code.sum(keys, code.product(code.least(code.sum(first, i), last), params["keys_s"]))
            for i in range(lanes())
        ]

        def add(at: Value, sums: list[Value]) -> list[Value]:
            part = code.load(code.sum(query, code.product(at, _FLOAT)))
            offset = code.product(at, form.itemsize)
            loaded = [code.load_converted(code.sum(row, offset), form.kind) for row in rows]
            return [code.fma(x, part, y) for x, y in zip(loaded, sums, strict=True)]

        sums = code.fold(0, params["width"], lanes(), [code.zeros()] * lanes(), add)
        columns = code.transpose(sums)
        while len(columns) > 1:
            pairs = zip(columns[::2], columns[1::2], strict=True)
            columns = [code.add(x, y) for x, y in pairs]
        return columns[0]

    def _limited(self, scores: Value) -> Value:
        if not self.form.capped:
            return scores
        code = self.code
        tangents = code.function("tanh", scores)  # the factor includes the inverse of the cap
        return code.multiply(tangents, code.number_of_bits(self.params["cap"]))

    def _largest(self, vector: Value) -> Value:
        """Return a vector filled with the largest element."""
        code = self.code
        columns = code.transpose([vector] * lanes())  # each is filled with an element
        while len(columns) > 1:
            pairs = zip(columns[::2], columns[1::2], strict=True)
            columns = [code.larger(x, y) for x, y in pairs]
        return columns[0]

    def _add_values(self, reach: _Reach, start: Value) -> None:
        """Add a block of values, times the weights of each head, to the sums."""
        code, params = self.code, self.params
        stop = code.least(code.sum(start, _BLOCK), reach.count)
        with code.loop(0, params["group"]) as i:
            weights = code.sum(reach.scores, code.product(i, params["score_step"]))
            sums = code.sum(self.sums, code.product(i, self.sum_row))
            column = code.number(0)
            for vectors in _TILES:
                size = vectors * lanes()
                left = code.difference(params["value_width"], column)
                count, _ = code.divide(left, code.number(size))
                end = code.sum(column, code.product(count, size))
                with code.loop(column, end, size) as at:
                    self._add_tile(reach, weights, sums, at, vectors, (start, stop))
                column = end

    def _add_tile(
        self,
        reach: _Reach,
        weights: Value,
        sums: Value,
        column: Value,
        vectors: int,
        keys: tuple[Value, Value],
    ) -> None:
        """Add some columns of a block of values to the sums of a head."""
        code, form = self.code, self.form
        places = [code.sum(column, i * lanes()) for i in range(vectors)]
        targets = [code.sum(sums, code.product(at, _FLOAT)) for at in places]

        def add(key: Value, found: list[Value]) -> list[Value]:
            weight = code.load_element(code.sum(weights, code.product(key, _FLOAT)))
            row = code.sum(reach.values, code.product(key, self.params["values_s"]))
            loaded = [
                code.load_converted(code.sum(row, code.product(at, form.itemsize)), form.kind)
                for at in places
            ]
            return [code.fma(x, weight, y) for x, y in zip(loaded, found, strict=True)]

        found = code.fold(*keys, 1, [code.load(at) for at in targets], add)
        for vector, at in zip(found, targets, strict=True):
            code.store(vector, at)

    def _finish(self, out: Value, i: Value) -> None:
        """Divide the sums of a head by the sum of its weights, and store them."""
        code, form = self.code, self.form
        total = code.load_element(code.sum(self.totals, code.product(i, _FLOAT)))
        inverse = code.divide_vectors(code.constant(1), total)
        sums = code.sum(self.sums, code.product(i, self.sum_row))
        with code.loop(0, self.params["value_width"], lanes()) as at:
            vector = code.load(code.sum(sums, code.product(at, _FLOAT)))
            offset = code.product(at, form.itemsize)
            code.store_converted(code.multiply(vector, inverse), code.sum(out, offset), form.kind)


def _bits(value: float) -> int:
    (found,) = unpack("i", pack("f", value))
    return int(found)


class _Layout(NamedTuple):
    """What a plan depends on; arrays are in the order of `_NAMES`, from out to values.

    Attributes:
        dtype: That of all arrays.
        shapes: Those of out (N, H, 1, V), query (N, H, 1, C) and the cache of keys (N, K, S, C).
        strides: Those of all arrays, in bytes.
        room: Number of keys that there is memory for.
        window: As the operator's, like the rest.
    """

    dtype: Any
    shapes: tuple[tuple[int, ...], ...]
    strides: tuple[tuple[int, ...], ...]
    room: int
    window: int | None
    scale: float | None
    softcap: float | None


@lru_cache(1024)
def _plan_of(layout: _Layout) -> KernelPlan:
    out, query, keys = layout.shapes
    itemsize = layout.dtype.itemsize
    if any(strides[-1] != itemsize for strides in layout.strides):
        raise RefusedError("cached_attention: expected contiguous rows, got rows with gaps")
    (samples, heads, _, width), value_width = query, out[3]
    shared, length = keys[1:3]
    scale = scale_of(layout.scale, width)
    factor, cap = scale * _LOG2_E, 0.0
    if layout.softcap is not None:
        factor, cap = scale / layout.softcap, layout.softcap * _LOG2_E
    group = heads // shared
    before = length if layout.window is None else layout.window - 1
    steps = [step for strides in layout.strides[:4] for step in strides[:2]]
    steps += [step for strides in layout.strides[4:] for step in strides[:3]]
    params = [*[0] * 8, *steps, group, shared, width, value_width]
    params += [before, layout.room * _FLOAT, _bits(factor), _bits(cap)]
    grain = max(1, _LEAST_ELEMENTS // (layout.room * (width + value_width) * group))
    form = Form("float32" if itemsize == _FLOAT else "bfloat16", layout.softcap is not None)
    return KernelPlan(kernel(form), params, samples * shared, grain)


def _run(
    xp: ModuleType,
    out: Array,
    query: Array,
    key: Array,
    value: Array,
    key_cache: Array,
    value_cache: Array,
    position: Array,
    *,
    layout: str,
    window: int | None,
    scale: float | None,
    softcap: float | None,
    **_: Any,
) -> None:
    arrays = [out, query, key, value]
    if layout != "NHTC":
        arrays = [by_heads(x, layout) for x in arrays]
    arrays += (key_cache, value_cache)
    starts = checked_positions(position, 1, key_cache.shape[2])
    samples, heads = arrays[1].shape[:2]
    newest = max(starts)
    reach = newest + 1 if window is None else min(newest + 1, window)
    room = -(-reach // _ROOM) * _ROOM
    shapes = arrays[0].shape, arrays[1].shape, key_cache.shape
    strides = tuple([x.strides for x in arrays])
    plan = _plan_of(_Layout(query.dtype, shapes, strides, room, window, scale, softcap))
    if len(starts) < samples:
        starts = starts * samples
    places = np.array(starts, np.int64)
    with Scratch(samples * heads * room) as scores:
        plan.run(*arrays, places, scores)


def _supports(
    query: Spec,
    key: Spec,
    value: Spec,
    key_cache: Spec,
    value_cache: Spec,
    position: Spec,
    *mask: Spec,
    layout: str,
    **_: Any,
) -> bool:
    specs = (query, key, value, key_cache, value_cache)
    if mask or not MXNET_USE_FUSION.value or any(x.dtype != query.dtype for x in specs):
        return False
    if query.dtype not in (FLOAT32, BFLOAT16) or not all(x.size for x in specs):
        return False
    _samples, heads, queries, width = shape_by_heads(query.shape, layout)
    widths = width, value_cache.shape[3]
    group = heads // key_cache.shape[1]
    return (
        queries == 1
        and not any(x % lanes() for x in widths)
        and group * max(widths) <= _MOST_QUERIES
    )


KERNELS = (
    (
        CACHED_ATTENTION,
        FastKernel(
            *(BackEnd.GENERATED, "cached_attention", _supports),
            run=_run,
            enabled=available,
            reads_strides=lambda position, shape, strides: position < 3 and strides[-1] == 1,
        ),
    ),
)
