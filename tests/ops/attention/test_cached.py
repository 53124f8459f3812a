"""_cached_attention against attention without a cache, and against float64."""

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from gluonish.ops.attention import cached
from gluonish.ops.attention.cache_rows import CacheRows
from gluonish.ops.attention.scaled_dot_product import ATTENTION

RANDOM = np.random.default_rng(5)
N, H, K, T, LENGTH, C, V = 3, 4, 2, 6, 9, 8, 5
AXES = {"NHTC": (0, 1, 2, 3), "NTHC": (0, 2, 1, 3), "TNHC": (2, 0, 1, 3)}


def arrays(dtype: Any = np.float32) -> tuple[np.ndarray, ...]:
    shapes = [(N, H, T, C), (N, K, T, C), (N, K, T, V)]
    return tuple(RANDOM.standard_normal(shape).astype(dtype) for shape in shapes)


def caches(dtype: Any = np.float32, fill: float = 0.0) -> list[Any]:
    shapes = [(N, K, LENGTH, C), (N, K, LENGTH, V)]
    return [mx.nd.array(np.full(shape, fill), dtype=dtype) for shape in shapes]


def step(inputs: Iterable[Any], held: list[Any], position: Any, **attrs: Any) -> np.ndarray:
    place: Any = mx.nd.array(np.atleast_1d(position), dtype="int32")
    mask = attrs.pop("mask", None)
    every: list[Any] = [mx.nd.array(x, dtype=x.dtype) for x in inputs]
    every += [*held, place, *(() if mask is None else (mx.nd.array(mask, dtype=mask.dtype),))]
    attention: Any = mx.nd._internal._cached_attention
    made = attention(*every, use_mask=mask is not None, **attrs)
    return np.asarray(made.asnumpy())


def expected(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, window: int | None = None, mask: Any = None
) -> np.ndarray:
    """Return causal attention in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, H // K, axis=1) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(C)
    if mask is not None:
        scores = np.where(mask[..., :T], scores, -np.inf) if mask.dtype == bool else scores + mask
    distance = np.arange(T)[:, None] - np.arange(T)
    hidden = distance < 0 if window is None else (distance < 0) | (distance >= window)
    weights = np.exp(np.where(hidden, -np.inf, scores))
    return np.asarray(weights / weights.sum(-1, keepdims=True) @ v)


@pytest.mark.parametrize("chunks", [[1] * T, [T], [2, 3, 1]])
@pytest.mark.parametrize("window", [None, 2])
def test_chunks_give_what_the_whole_gives(chunks: list[int], window: int | None) -> None:
    q, k, v = arrays()
    held = caches(fill=np.nan)  # entries that are not written yet are not read
    found, start = [], 0
    for count in chunks:
        now = slice(start, start + count)
        pieces = (x[:, :, now] for x in (q, k, v))
        found.append(step(pieces, held, start, window=window))
        start += count
    np.testing.assert_allclose(
        np.concatenate(found, 2), expected(q, k, v, window), rtol=0, atol=2e-6
    )
    np.testing.assert_array_equal(held[0].asnumpy()[:, :, :T], k)
    np.testing.assert_array_equal(held[1].asnumpy()[:, :, :T], v)
    assert np.isnan(held[0].asnumpy()[:, :, T:]).all()


@pytest.mark.parametrize("layout", ["NTHC", "TNHC"])
def test_layouts(layout: str) -> None:
    q, k, v = arrays()
    axes = AXES[layout]
    made = step((x.transpose(axes) for x in (q, k, v)), caches(), 0, layout=layout)
    back = made.transpose(np.argsort(axes))
    np.testing.assert_allclose(back, expected(q, k, v), rtol=0, atol=2e-6)


def test_each_sample_has_its_own_position() -> None:
    q, k, v = arrays()
    held = caches()
    step((x[:, :, :4] for x in (q, k, v)), held, 0)
    starts = np.array([4, 2, 0])
    new = [np.stack([x[i, :, s : s + 2] for i, s in enumerate(starts)]) for x in (q, k, v)]
    made = step(new, held, starts)
    whole = expected(q, k, v)
    for i, start in enumerate(starts):
        np.testing.assert_allclose(made[i], whole[i, :, start : start + 2], rtol=0, atol=2e-6)


@pytest.mark.parametrize("shape", [(1, 1, 1, LENGTH), (N, 1, T, LENGTH), (N, H, T, LENGTH)])
def test_masks_of_the_length_of_the_cache(shape: tuple[int, ...]) -> None:
    q, k, v = arrays()
    mask = RANDOM.standard_normal(shape) > -0.5
    mask[..., 0] = True
    made = step((q, k, v), caches(), 0, mask=mask)
    np.testing.assert_allclose(made, expected(q, k, v, mask=mask), rtol=0, atol=2e-6)
    added = RANDOM.standard_normal(shape).astype(np.float32)
    made = step((q, k, v), caches(), 0, mask=added)
    np.testing.assert_allclose(made, expected(q, k, v, mask=added[..., :T]), rtol=0, atol=2e-6)


def test_each_sample_has_its_own_position_and_mask() -> None:
    q, k, v = (x[:2] for x in arrays())
    held = [x[:2].copy() for x in caches()]
    step((x[:, :, :3] for x in (q, k, v)), held, 0)
    mask = RANDOM.standard_normal((2, 1, 1, LENGTH)).astype(np.float32)
    new = [np.stack([x[0, :, 3:5], x[1, :, 2:4]]) for x in (q, k, v)]
    made = step(new, held, [3, 2], mask=mask)
    whole = expected(q, k, v, mask=mask[..., :T])
    np.testing.assert_allclose(made[0], whole[0, :, 3:5], rtol=0, atol=2e-6)
    np.testing.assert_allclose(made[1], whole[1, :, 2:4], rtol=0, atol=2e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16])
def test_dtypes(dtype: Any) -> None:
    q, k, v = arrays(dtype)
    made = step((q, k, v), caches(dtype), 0)
    assert made.dtype == np.dtype(dtype)
    tolerance = {2: 3e-2, 8: 1e-12}[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(made.astype(np.float64), expected(q, k, v), rtol=0, atol=tolerance)


def test_empty_batch() -> None:
    q, k, v = (x[:0] for x in arrays())
    assert step((q, k, v), [x[:0] for x in caches()], 0).shape == (0, H, T, V)


@pytest.mark.parametrize("static", [False, True])
def test_hybridized_steps_write_into_the_caches_given(static: bool) -> None:
    class Step(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:
            return F._internal._cached_attention(x, *args) * 1

    q, k, v = arrays()
    block = Step()
    block.hybridize(static_alloc=static, static_shape=static)
    for held in (caches(), caches()):  # other memory in the second turn
        found = []
        for i in range(T):
            now = [mx.nd.array(x[:, :, i : i + 1]) for x in (q, k, v)]
            found.append(block(*now, *held, mx.nd.array([i], dtype="int32")).asnumpy())
        np.testing.assert_allclose(np.concatenate(found, 2), expected(q, k, v), rtol=0, atol=2e-6)
        np.testing.assert_array_equal(held[0].asnumpy()[:, :, :T], k)


@pytest.mark.parametrize("position", [-1, LENGTH - T + 1, [0, 0, LENGTH]])
def test_a_position_out_of_range_is_refused(position: Any) -> None:
    with pytest.raises(OperatorError, match="expected a position from 0 to 3, for 6 new keys"):
        step(arrays(), caches(), position)


def test_arrays_that_do_not_fit_are_refused() -> None:
    q, k, v = arrays()
    held = caches()
    with pytest.raises(
        OperatorError, match=r"expected key_cache \(3, 2, length, 8\) of a floating"
    ):
        step((q, k, v), held[::-1], 0)
    with pytest.raises(OperatorError, match="expected a key for each of 5 queries, got 6"):
        step((q[:, :, :5], k, v), held, 0)
    with pytest.raises(OperatorError, match=r"expected position \(1,\) or \(3,\) of integers"):
        step((q, k, v), held, [0, 1])
    with pytest.raises(OperatorError, match="expected caches of one length"):
        step((q, k, v), [held[0], held[1][:, :, :8]], 0)
    with pytest.raises(OperatorError, match=r"expected query \(N, H, T, C\)"):
        step((q[0], k[0], v[0]), held, 0)
    with pytest.raises(OperatorError, match="expected a mask that broadcasts to"):
        step((q, k, v), held, 0, mask=np.ones((1, 1, 1, T), bool))


def test_it_has_no_gradient() -> None:
    q, k, v = (mx.nd.array(x) for x in arrays())
    q.attach_grad()
    with mx.autograd.record():
        place = mx.nd.array([0], dtype="int32")
        keys, values = caches()
        out = mx.nd._internal._cached_attention(q, k, v, keys, values, place)
    with pytest.raises(mx.base.MXNetError, match="expected an array that autograd recorded"):
        out.backward()


@pytest.mark.parametrize(
    "attrs", [{}, {"causal": False}, {"window": 2}, {"causal": False, "window": 2}]
)
@pytest.mark.parametrize("kind", [None, bool, np.float32])
@pytest.mark.parametrize("position", [[2], [0, 1, 3]])
def test_masked_form_of_gpus_gives_what_prefixes_give(
    attrs: dict[str, Any], kind: Any, position: list[int]
) -> None:
    q, k, v = arrays()
    attrs = {**ATTENTION.schema.defaults, "train": False, **attrs}
    mask: Any = None
    if kind is not None:
        mask = RANDOM.standard_normal((N, 1, 1, LENGTH)).astype(np.float32)
        mask = mask > -1 if kind is bool else mask
    held = [[x.asnumpy() for x in caches()] for _ in range(2)]
    rows = [[CacheRows(x) for x in pair] for pair in held]
    results = [np.zeros((N, H, T, V), np.float32) for _ in range(2)]
    places = np.array(position)
    cached._by_prefixes(results[0], (q, k, v), rows[0], places, mask, attrs)
    cached._by_mask(np, results[1], (q, k, v), rows[1], places, mask, attrs)
    np.testing.assert_allclose(*results, rtol=0, atol=2e-6)
    for one, other in zip(*held, strict=True):
        np.testing.assert_array_equal(one, other)


FEW: list[dict[str, Any]] = [
    {},
    {"softcap": 0.7, "scale": 0.3},
    {"window": 2},
    {"causal": False},
    {"mask": np.float32},
    {"mask": bool, "window": 3},
]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("attrs", FEW)
def test_few_queries_give_what_tiles_give(
    attrs: dict[str, Any], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    q, k, v = arrays()
    new = [x[:, :, 3 : 3 + count] for x in (q, k, v)]
    if "mask" in attrs:
        mask = RANDOM.standard_normal((N, H, count, LENGTH)).astype(np.float32)
        attrs = {**attrs, "mask": mask if attrs["mask"] is np.float32 else mask > 0}
    results = []
    for few in (4, 0):
        monkeypatch.setattr(cached, "_FEW", few)
        held = caches()
        step((x[:, :, :3] for x in (q, k, v)), held, 0)
        results.append(step(new, held, 3, **attrs))
    np.testing.assert_allclose(*results, rtol=0, atol=2e-6)


def test_a_query_without_keys_gives_zeros() -> None:
    new = [x[:, :, :1] for x in arrays()]
    hidden = np.zeros((1, 1, 1, LENGTH), bool)
    np.testing.assert_array_equal(step(new, caches(), 0, mask=hidden), 0)


RING = 8  # slots, for a window of 5 and 4 new rows


def ring_inputs(count: int) -> tuple[np.ndarray, ...]:
    shapes = [(N, H, count, C), (N, K, count, C), (N, K, count, V)]
    return tuple(RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes)


@pytest.mark.parametrize("chunks", [[1] * 30, [4] * 7 + [2], [3, 1, 4, 4, 1, 1, 2, 4, 4, 4, 2]])
@pytest.mark.parametrize("softcap", [None, 0.7])
def test_a_ring_gives_what_a_cache_of_all_positions_gives(
    chunks: list[int], softcap: float | None
) -> None:
    inputs, start = ring_inputs(30), 0
    ring = [mx.nd.array(np.full((N, K, RING, width), np.nan)) for width in (C, V)]
    whole = [mx.nd.zeros((N, K, 30, width)) for width in (C, V)]
    for count in chunks:
        pieces = [x[:, :, start : start + count] for x in inputs]
        given: dict[str, Any] = {"window": 5, "softcap": softcap}
        found, want = (step(pieces, held, start, **given) for held in (ring, whole))
        np.testing.assert_allclose(found, want, rtol=0, atol=2e-6)
        start += count


def test_samples_of_a_ring_have_positions_of_their_own() -> None:
    inputs = ring_inputs(2)
    starts = np.array([27, 6, 0])
    held = [RANDOM.standard_normal((N, K, 30, width)).astype(np.float32) for width in (C, V)]
    ring = [np.zeros((N, K, RING, width), np.float32) for width in (C, V)]
    for to, x in zip(ring, held, strict=True):
        for n, start in enumerate(starts):
            for place in range(max(0, start - 4), start):
                to[n, :, place % RING] = x[n, :, place]
    arrays = [[mx.nd.array(x) for x in pair] for pair in (ring, held)]
    found, want = (step(inputs, pair, starts, window=5) for pair in arrays)
    np.testing.assert_allclose(found, want, rtol=0, atol=2e-6)


@pytest.mark.parametrize("position", [[2], [19], [7, 11, 0]])
@pytest.mark.parametrize("causal", [True, False])
def test_rings_of_gpus_give_what_those_of_cpus_give(position: list[int], causal: bool) -> None:
    attrs = {**ATTENTION.schema.defaults, "train": False, "window": 5, "causal": causal}
    q, k, v = ring_inputs(4)
    held = [RANDOM.standard_normal((N, K, RING, width)).astype(np.float32) for width in (C, V)]
    rows = [[CacheRows(x.copy()) for x in held] for _ in range(2)]
    results = [np.zeros((N, H, 4, V), np.float32) for _ in range(2)]
    places = np.array(position)
    cached._by_prefixes(results[0], (q, k, v), rows[0], places, None, attrs)
    cached._by_mask(np, results[1], (q, k, v), rows[1], places, None, attrs)
    np.testing.assert_allclose(*results, rtol=0, atol=2e-6)
    for one, other in zip(*rows, strict=True):
        np.testing.assert_array_equal(one.whole(np.float32), other.whole(np.float32))


def test_a_ring_that_is_too_short_or_has_a_mask_is_refused() -> None:
    inputs = ring_inputs(4)
    ring = [mx.nd.zeros((N, K, RING - 1, width)) for width in (C, V)]
    with pytest.raises(OperatorError, match="a ring for a window of 5 has 8 or more"):
        step(inputs, ring, 4, window=5)
    ring = [mx.nd.zeros((N, K, RING, width)) for width in (C, V)]
    with pytest.raises(OperatorError, match="a ring takes no mask"):
        step(inputs, ring, 5, window=5, mask=np.ones((1, RING), bool))


def rounded_caches(length: int = LENGTH) -> list[Any]:
    held: list[Any] = [mx.nd.zeros((N, K, length, width), dtype="int8") for width in (C, V)]
    return held + [mx.nd.zeros((N, K, length)) for _ in range(2)]


def rounded_step(inputs: Iterable[Any], held: list[Any], position: Any, **attrs: Any) -> np.ndarray:
    place: Any = mx.nd.array(np.atleast_1d(position), dtype="int32")
    every: list[Any] = [mx.nd.array(x, dtype=x.dtype) for x in inputs]
    mask = attrs.pop("mask", None)
    rest = [] if mask is None else [mx.nd.array(mask, dtype=mask.dtype)]
    attention: Any = mx.nd._internal._cached_attention
    attrs |= {"use_scales": True, "use_mask": mask is not None}
    made = attention(*every, *held[:2], place, *rest, *held[2:], **attrs)
    return np.asarray(made.asnumpy())


@pytest.mark.parametrize("chunks", [[1] * T, [T], [2, 3, 1]])
@pytest.mark.parametrize("masked", [False, True])
def test_rounded_caches_give_attention_to_rows_within_half_a_step(
    chunks: list[int], masked: bool
) -> None:
    q, k, v = arrays()
    k[0, 0, 2], v[1, 1, 3] = 0, 0  # rows without a magnitude
    held, found, start = rounded_caches(), [], 0
    mask = np.ones((N, 1, 1, LENGTH), bool) if masked else None
    for count in chunks:
        pieces = (x[:, :, start : start + count] for x in (q, k, v))
        found.append(rounded_step(pieces, held, start, mask=mask))
        start += count
    keys, values, *scales = (x.asnumpy() for x in held)
    stored = [x * s[..., None] for x, s in zip((keys, values), scales, strict=True)]
    for x, s, row in zip(stored, scales, (k, v), strict=True):
        np.testing.assert_allclose(s[:, :, :T], abs(row).max(axis=-1) / 127, rtol=1e-6)
        assert (abs(x[:, :, :T] - row) <= s[:, :, :T, None] * 0.50001).all()
    want = expected(q, *(x[:, :, :T] for x in stored))
    np.testing.assert_allclose(np.concatenate(found, 2), want, rtol=0, atol=2e-6)


def test_rounded_rings() -> None:
    inputs = ring_inputs(30)
    ring, whole = rounded_caches(RING), rounded_caches(30)
    for start in range(0, 28, 4):
        pieces = [x[:, :, start : start + 4] for x in inputs]
        found, want = (rounded_step(pieces, held, start, window=5) for held in (ring, whole))
        np.testing.assert_allclose(found, want, rtol=0, atol=2e-6)


def test_what_is_no_number_stays_so_in_a_rounded_row() -> None:
    q, k, v = arrays()
    k[0, 0, 1, 3], v[1, 1, 1, 2] = np.inf, np.nan
    found = rounded_step((q, k, v), rounded_caches(), 0)
    assert np.isnan(found[0, :2, 1:]).all()
    assert np.isnan(found[1, 2:, 1:]).all()
    assert np.isfinite(found[2]).all()


@pytest.mark.parametrize(("dtype", "atol"), [("float16", 2e-3), ("bfloat16", 2e-2)])
@pytest.mark.parametrize("chunks", [[1] * T, [2, 3, 1]])
def test_caches_of_another_dtype_than_the_queries(
    dtype: str, atol: float, chunks: list[int]
) -> None:
    q, k, v = arrays()
    held, found, start = caches(dtype), [], 0
    for count in chunks:
        pieces = (x[:, :, start : start + count] for x in (q, k, v))
        found.append(step(pieces, held, start))
        start += count
    keys, values = (x.astype(dtype).astype(np.float32) for x in (k, v))
    want = expected(q, keys, values)
    np.testing.assert_allclose(np.concatenate(found, 2), want, rtol=0, atol=2e-6)
    np.testing.assert_allclose(want, expected(q, k, v), rtol=0, atol=atol)


def test_scales_and_dtypes_of_caches_must_agree() -> None:
    inputs, held = arrays(), rounded_caches()
    with pytest.raises(OperatorError, match=r"key_cache .* of dtype int8, as there are scales"):
        rounded_step(inputs, [*caches(), *held[2:]], 0)
    with pytest.raises(OperatorError, match=r"key_cache .* of a floating dtype, got int8"):
        step(inputs, held[:2], 0)
    with pytest.raises(OperatorError, match=r"each row of value_cache, float32\(3, 2, 9\)"):
        rounded_step(inputs, [*held[:3], mx.nd.zeros((N, K, 8))], 0)


class _Step(mx.gluon.HybridBlock):
    """A step whose query, key and value are computed in the graph."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__()
        self._attrs = attrs

    def hybrid_forward(self, F: Any, x: Any, keys: Any, values: Any, position: Any) -> Any:
        q, k, v = (F.slice_axis(x * 2, axis=2, begin=a, end=b) for a, b in ((0, 4), (4, 6), (6, 8)))
        return F._internal._cached_attention(q, k, v, keys, values, position, **self._attrs) + 1


@pytest.mark.parametrize("held", ["float32", "bfloat16"])
@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("options", [{}, {"window": 300}, {"softcap": 20.0}], ids=str)
def test_replays_of_a_graph_give_what_single_calls_give(
    options: dict[str, Any], samples: int, held: str
) -> None:
    net = _Step(layout="NTHC", causal=True, **options)
    found = []
    for static in (False, True):
        if static:
            net.hybridize(static_alloc=True, static_shape=True)
        draw = np.random.default_rng(4).standard_normal
        made = []
        for _ in range(2):  # other caches than before, in the same graph
            caches = [mx.nd.array(draw((samples, 2, 600, 32))).astype(held) for _ in "kv"]
            # Each room for scores, back again, and rows at different places.
            for place in (0, 1, 254, 255, 256, 511, 599, 3):
                x = mx.nd.array(draw((samples, 1, 8, 32))).astype(held)
                places = [max(place - i, 0) for i in range(samples)]
                y = net(x, *caches, mx.nd.array(places, dtype="int32"))
                made.append(y.astype("float32").asnumpy())
            made += [cache.astype("float32").asnumpy() for cache in caches]
        found.append(made)
    for want, got in zip(*found, strict=True):
        assert np.array_equal(got, want)


def test_positions_out_of_range_are_refused_by_replays() -> None:
    net = _Step(layout="NTHC", causal=True)
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.ones((2, 1, 8, 32))
    for places in ([3, 4], [3, 4], [16, 0], [3, 4], [0, -1], [3, 4]):
        caches = [mx.nd.zeros((2, 2, 16, 32)) for _ in "kv"]  # that of a call that fails is lost
        fails = min(places) < 0 or max(places) > 15
        refused = pytest.raises(OperatorError, match="expected a position from 0 to 15")
        with refused if fails else nullcontext():
            net(x, *caches, mx.nd.array(places, dtype="int32")).wait_to_read()


def test_replays_of_a_graph_go_round_a_ring() -> None:
    net = _Step(layout="NTHC", causal=True, window=12)
    draw = np.random.default_rng(4).standard_normal
    steps = [mx.nd.array(draw((2, 1, 8, 32))) for _ in range(50)]
    found = []
    for static, length in ((False, 50), (True, 16)):
        if static:
            net.hybridize(static_alloc=True, static_shape=True)
        caches = [mx.nd.zeros((2, 2, length, 32)) for _ in "kv"]
        found.append(
            [
                net(x, *caches, mx.nd.array([i, max(i - 3, 0)], dtype="int32")).asnumpy()
                for i, x in enumerate(steps)
            ]
        )
    for want, got in zip(*found, strict=True):
        np.testing.assert_array_equal(got, want)
