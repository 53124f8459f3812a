"""Attention of one query on a cache: near float64, with equal bits in any threads."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.compiler.vector_code import lanes
from gluonish.kernels.generated import cached_attention
from gluonish.kernels.onednn import register as onednn
from gluonish.ops.attention.cache_rows import rounded
from gluonish.ops.attention.cached import CACHED_ATTENTION
from gluonish.ops.kernel import RefusedError
from tests.checking.values import spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

DTYPES = [np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)]
TOLERANCES = {4: (1e-5, 2e-6), 2: (2**-8, 2e-5)}


def _inputs(
    dtype: Any, samples: int, heads: tuple[int, int], length: int, widths: tuple[int, int]
) -> list[Any]:
    random = np.random.default_rng(length + heads[0])
    (own, shared), (width, value_width) = heads, widths
    shapes = [(samples, own, 1, width), (samples, shared, 1, width)]
    shapes += [(samples, shared, 1, value_width), (samples, shared, length, width)]
    shapes += [(samples, shared, length, value_width)]
    made = [random.standard_normal(shape).astype(dtype) for shape in shapes]
    made[0] *= dtype.type(3)  # weights that differ
    return made


def _expected(inputs: list[Any], positions: list[int], **attrs: Any) -> Any:
    query, key, value, keys, values = (x.astype(np.float64) for x in inputs)
    group = query.shape[1] // key.shape[1]
    scale = attrs.get("scale") or query.shape[-1] ** -0.5
    out = np.empty((*query.shape[:3], value.shape[-1]))
    for n, position in enumerate(positions * (len(query) if len(positions) == 1 else 1)):
        keys[n, :, position], values[n, :, position] = key[n, :, 0], value[n, :, 0]
        first = max(0, position + 1 - (attrs.get("window") or position + 1))
        for h in range(query.shape[1]):
            seen = slice(first, position + 1)
            scores = keys[n, h // group, seen] @ query[n, h, 0] * scale
            if attrs.get("softcap"):
                scores = np.tanh(scores / attrs["softcap"]) * attrs["softcap"]
            weights = np.exp(scores - scores.max())
            out[n, h, 0] = weights @ values[n, h // group, seen] / weights.sum()
    return out


def _run(inputs: list[Any], positions: list[int], **attrs: Any) -> Any:
    """Return what the kernel computes; it must be the one that is chosen."""
    every = {**CACHED_ATTENTION.schema.defaults, **attrs}
    arrays = [*inputs[:5], np.array(positions, np.int32), *inputs[5:]]
    every["use_scales"] = len(inputs) > 5
    specs = [spec_of(x) for x in arrays]
    chosen: Any = CACHED_ATTENTION.select_fast("cpu", specs, every)
    assert chosen.name == "generated.cached_attention"
    out = np.full(CACHED_ATTENTION.infer(*specs, **every)[0].shape, np.nan, inputs[0].dtype)
    chosen.run(np, out, *arrays, **every)
    return out


def _check(found: Any, expected: Any) -> None:
    rtol, atol = TOLERANCES[found.dtype.itemsize]
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("attrs", [{}, {"window": 30}, {"softcap": 2.0}, {"scale": 0.25}], ids=str)
@pytest.mark.parametrize("position", [0, 1, 7, 8, 130, 299])
def test_results_are_those_of_float64(dtype: Any, attrs: dict[str, Any], position: int) -> None:
    inputs = _inputs(dtype, 2, (6, 2), 300, (lanes() * 4, lanes() * 2))
    expected = _expected(inputs, [position], **attrs)
    before = [x.copy() for x in inputs[3:]]
    _check(_run(inputs, [position], **attrs), expected)
    for cache, new, old in zip(inputs[3:], inputs[1:3], before, strict=True):
        old[:, :, position] = new[:, :, 0]
        np.testing.assert_array_equal(cache, old)


@pytest.mark.parametrize("vectors", [1, 3, 7, 10, 15])
@pytest.mark.parametrize("heads", [(3, 3), (5, 1)])
def test_widths_and_groups(vectors: int, heads: tuple[int, int]) -> None:
    inputs = _inputs(DTYPES[0], 1, heads, 70, (lanes(), lanes() * vectors))
    expected = _expected(inputs, [68])
    _check(_run(inputs, [68]), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_samples_have_positions_of_their_own(dtype: Any) -> None:
    inputs = _inputs(dtype, 4, (2, 2), 600, (lanes(), lanes()))
    positions = [599, 0, 255, 256]
    expected = _expected(inputs, positions, window=257)
    _check(_run(inputs, positions, window=257), expected)


def test_layouts_are_strides() -> None:
    inputs = _inputs(DTYPES[0], 2, (4, 2), 40, (lanes(), lanes()))
    expected = _run([x.copy() for x in inputs], [17])
    swapped = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in inputs[:3]]
    found = _run([*swapped, *inputs[3:]], [17], layout="NTHC")
    np.testing.assert_array_equal(found.swapaxes(1, 2), expected)
    joined = np.concatenate([x.reshape(2, 1, -1) for x in inputs[:3]], axis=-1)
    parts = np.split(joined, np.cumsum([x[0].size for x in inputs[:2]]), axis=-1)
    views = [part.reshape(x.shape) for part, x in zip(parts, inputs, strict=False)]
    assert not any(x.flags.c_contiguous for x in views)
    np.testing.assert_array_equal(_run([*views, *inputs[3:]], [17]), expected)
    inputs[0] = np.repeat(inputs[0], 2, axis=-1)[..., ::2]
    with pytest.raises(RefusedError, match="cached_attention: expected contiguous rows"):
        _run(inputs, [17])


def test_threads_and_other_samples_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = _inputs(DTYPES[0], 3, (8, 4), 900, (lanes() * 8, lanes() * 8))
    found = _run(inputs, [880])
    monkeypatch.setattr(onednn, "enabled", lambda: False)  # new memory for the scores
    alone = _run([x[1:2].copy() for x in inputs], [880])
    np.testing.assert_array_equal(alone, found[1:2])
    openmp.disable_team()
    try:
        np.testing.assert_array_equal(_run(inputs, [880]), found)
    finally:
        openmp.enable_teams()


def test_what_is_not_in_reach_is_not_read() -> None:
    inputs = _inputs(DTYPES[0], 1, (2, 1), 100, (lanes(), lanes()))
    expected = _expected(inputs, [60], window=20)
    for cache in inputs[3:]:
        cache[:, :, :41] = np.nan
        cache[:, :, 61:] = np.nan
    _check(_run(inputs, [60], window=20), expected)


def test_what_is_no_number_stays_so_in_its_heads() -> None:
    inputs = _inputs(DTYPES[0], 1, (4, 2), 100, (lanes(), lanes()))
    inputs[3][0, 1, 33, 0] = np.nan
    found = _run(inputs, [60])
    assert np.isnan(found[0, 2:]).all()
    assert np.isfinite(found[0, :2]).all()


def test_large_scores_do_not_overflow() -> None:
    inputs = _inputs(DTYPES[0], 1, (1, 1), 50, (lanes(), lanes()))
    inputs[0] *= np.float32(1e4)
    _check(_run(inputs, [49]), _expected(inputs, [49]))


@pytest.mark.parametrize("position", [-1, 50])
def test_positions_outside_of_the_cache_are_refused(position: int) -> None:
    inputs = _inputs(DTYPES[0], 1, (1, 1), 50, (lanes(), lanes()))
    before = inputs[3].copy()
    with pytest.raises(OperatorError, match=f"position from 0 to 49, .* got {position}"):
        _run(inputs, [position])
    np.testing.assert_array_equal(inputs[3], before)


def test_other_calls_are_left_to_other_kernels() -> None:
    kernel: Any = cached_attention.KERNELS[0][1]

    def supports(inputs: list[Any], *mask: Any, **attrs: Any) -> bool:
        every = {**CACHED_ATTENTION.schema.defaults, **attrs, "use_mask": bool(mask)}
        specs = [spec_of(x) for x in (*inputs, np.array([3]), *mask)]
        return bool(kernel.supports(*specs, **every))

    fits = _inputs(DTYPES[0], 1, (2, 1), 20, (lanes(), lanes()))
    assert supports(fits)
    assert not supports(fits, np.ones((1, 20), bool))
    assert not supports([x.astype(np.float64) for x in fits])
    assert not supports([np.repeat(x, 2, axis=2) for x in fits])  # two queries
    assert not supports(_inputs(DTYPES[0], 1, (2, 1), 20, (lanes() + 4, lanes())))
    assert not supports(_inputs(DTYPES[0], 1, (300, 1), 20, (64, 64)))
    assert not supports([x[:0] for x in fits])


def test_several_queries_read_the_keys_of_a_window_only() -> None:
    random = np.random.default_rng(3)
    new = [random.standard_normal((1, 2, 3, 4)) for _ in range(3)]
    caches = [random.standard_normal((1, 2, 50, 4)) for _ in range(2)]
    every = {**CACHED_ATTENTION.schema.defaults, "window": 10}
    out = np.empty((1, 2, 3, 4))
    exact = np.empty_like(out)
    for i in range(3):  # one query at a time, whose formula is known
        one = [*(x[:, :, i : i + 1] for x in new), *caches]
        exact[:, :, i : i + 1] = _expected(one, [30 + i], window=10)
        for cache, x in zip(caches, new[1:], strict=True):
            cache[:, :, 30 + i] = x[:, :, i]
    for cache in caches:
        cache[:, :, :21] = math.nan
    CACHED_ATTENTION.kernel(np, out, *new, *caches, np.array([30]), **every)
    np.testing.assert_allclose(out, exact, rtol=1e-12)


def _held(inputs: list[Any], kind: str) -> list[Any]:
    """Return inputs with caches of another dtype, and scales of int8."""
    if kind != "int8":
        return [*inputs[:3], *(x.astype(np.dtype(kind)) for x in inputs[3:])]
    pairs = [rounded(np, x) for x in inputs[3:]]
    return [*inputs[:3], *(pair[0] for pair in pairs), *(pair[1] for pair in pairs)]


def _as_floats(held: list[Any]) -> list[Any]:
    """Return the caches that the kernel reads, in float32."""
    if len(held) == 5:
        return [x.astype(np.float32) for x in held[3:]]
    return [x * s[..., None] for x, s in zip(held[3:5], held[5:], strict=True)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32", "int8"])
@pytest.mark.parametrize("attrs", [{}, {"window": 30}, {"softcap": 2.0}], ids=str)
@pytest.mark.parametrize("position", [0, 8, 130, 299])
def test_caches_of_other_dtypes(
    dtype: Any, kind: str, attrs: dict[str, Any], position: int
) -> None:
    inputs = _inputs(dtype, 2, (6, 2), 300, (lanes() * 4, lanes() * 2))
    inputs[1][0, 0, 0, :] = 0  # a row without a magnitude
    held = _held(inputs, kind)
    stored = [x.astype(np.float32) for x in inputs[1:3]]
    if kind == "int8":
        stored = [x * s[..., None] for x, s in (rounded(np, x) for x in stored)]
    else:
        stored = [x.astype(np.dtype(kind)).astype(np.float32) for x in stored]
    expected = _expected([inputs[0], *stored, *_as_floats(held)], [position], **attrs)
    found = _run(held, [position], **attrs)
    _check(found, expected)
    for cache, new in zip(_as_floats(held), stored, strict=True):
        np.testing.assert_array_equal(cache[:, :, position], new[:, :, 0])


@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_a_ring_has_the_bits_of_a_cache_of_all_positions(kind: str) -> None:
    inputs = _inputs(DTYPES[0], 3, (4, 2), 300, (lanes() * 2, lanes() * 2))
    positions = [299, 40, 130]
    held = _held(inputs, kind)
    ring = [*held[:3], *(np.zeros((3, 2, 37, *x.shape[3:]), x.dtype) for x in held[3:])]
    for n, position in enumerate(positions):
        for to, x in zip(ring[3:], held[3:], strict=True):
            for place in range(max(0, position - 32), position):
                to[n, :, place % 37] = x[n, :, place]
    want = _run(held, positions, window=33)
    np.testing.assert_array_equal(_run(ring, positions, window=33), want)
    with pytest.raises(OperatorError, match="a ring for a window of 38 has 38 or more"):
        _run(ring, positions, window=38)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_makes_a_rounded_row_of_nan(bad: float) -> None:
    inputs = _inputs(DTYPES[0], 1, (2, 2), 20, (lanes() * 2, lanes() * 2))
    inputs[1][0, 1, 0, lanes() + 3] = bad
    held = _held(inputs, "int8")
    found = _run(held, [7])
    assert np.isnan(found[0, 1]).all()
    assert np.isfinite(found[0, 0]).all()
    assert np.isnan(_as_floats(held)[0][0, 1, 7]).all()


def test_tiny_rows_do_not_leave_the_range_of_int8() -> None:
    inputs = _inputs(DTYPES[0], 1, (1, 1), 20, (lanes(), lanes()))
    inputs[1][...] = np.float32(180 * 2.0**-149)
    inputs[1][..., ::2] *= -1
    held = _held(inputs, "int8")
    assert np.isfinite(_run(held, [7])).all()
    np.testing.assert_array_equal(
        np.sign(held[3][0, 0, 7].astype(int)), np.sign(inputs[1][0, 0, 0])
    )
