"""Attention in tiles equals the reference kernel in float64, whatever hides keys, in any layout."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler.amx_code import has_amx
from gluonish.kernels.generated import attention
from gluonish.kernels.generated.attention_amx import supports_amx
from gluonish.kernels.generated.attention_panels import BLOCK, panel_width, tile_size
from gluonish.ops.attention.scaled_dot_product import ATTENTION, ATTENTION_BACKWARD
from gluonish.ops.kernel import RefusedError

TOLERANCES = {"float32": 3e-6, "float16": 4e-3, "bfloat16": 3e-2}


def results(arrays: Any, head: Any, dtype: str, optional: Any, **attrs: Any) -> list[Any]:
    """Return the output and the gradients of a call in a dtype, as float64."""
    q, k, v = (nd.array(x, dtype=dtype) for x in arrays)
    given = {
        name: nd.array(x, dtype=dtype if x.dtype == np.float64 else x.dtype)
        for name, x in optional.items()
    }
    for x in (q, k, v):
        x.attach_grad()
    mx.random.seed(7)
    with autograd.record():
        out = nd.scaled_dot_product_attention(q, k, v, **given, **attrs)
    out.backward(nd.array(head, dtype=dtype))
    return [x.asnumpy().astype(np.float64) for x in (out, q.grad, k.grad, v.grad)]


def drawn(random: np.random.Generator, sizes: Any, layout: str = "NHTC") -> list[Any]:
    """Return queries, keys, values and a gradient for (N, H, K, T, S, C, V), in a layout."""
    n, h, groups, t, s, c, v = sizes
    shapes = [(n, h, t, c), (n, groups, s, c), (n, groups, s, v), (n, h, t, v)]
    order = {"NHTC": (0, 1, 2, 3), "NTHC": (0, 2, 1, 3), "TNHC": (2, 0, 1, 3)}[layout]
    return [random.standard_normal(x).transpose(order) for x in shapes]


def hold(
    random: np.random.Generator, sizes: Any, dtype: str, optional: Any = None, **attrs: Any
) -> None:
    """Compare with the reference kernel, for (N, H, K, T, S, C, V)."""
    every = drawn(random, sizes, attrs.get("layout", "NHTC"))
    if dtype != "float32":  # compare kernels, not the rounding of inputs
        every = [x.astype(dtype).astype(np.float64) for x in every]
    found = results(every[:3], every[3], dtype, optional or {}, **attrs)
    exact = results(every[:3], every[3], "float64", optional or {}, **attrs)
    for name, x, y in zip(("out", "dq", "dk", "dv"), found, exact, strict=True):
        error = np.abs(x - y).max() / max(1e-3, np.abs(y).max())
        assert error < TOLERANCES[dtype], (name, sizes, attrs, error)


# Around the edges of vectors, panels, tiles and blocks.
EDGES = sorted(
    {
        1,
        7,
        8,
        9,
        panel_width() - 1,
        panel_width(),
        tile_size() - 1,
        tile_size() + 1,
        BLOCK,
        BLOCK + 1,
    }
)


PAIRS = [(x, y) for i, x in enumerate(EDGES) for y in (EDGES[i - 3], EDGES[-1 - i])]


@pytest.mark.parametrize(("length", "keys"), [*zip(EDGES, EDGES, strict=True), *PAIRS])
def test_lengths_around_the_edges_of_tiles(length: int, keys: int) -> None:
    random = np.random.default_rng(length * 1000 + keys)
    choices: list[dict[str, Any]] = [{}, {"causal": True}, {"window": 5}]
    for attrs in choices:
        hold(random, (1, 2, 1, length, keys, 9, 17), "float32", **attrs)


@pytest.mark.parametrize("width", [1, 8, 31, 64, 100, 256])
def test_widths(width: int) -> None:
    random = np.random.default_rng(width)
    hold(random, (1, 2, 2, 33, 70, width, 40), "float32")
    hold(random, (1, 2, 2, 33, 70, 40, width), "float32", causal=True)


@pytest.mark.parametrize("dtype", [*TOLERANCES])
@pytest.mark.parametrize("layout", ["NHTC", "NTHC", "TNHC"])
@pytest.mark.parametrize("kind", ["none", "flags", "numbers", "lengths", "all"])
def test_masks_and_lengths(dtype: str, layout: str, kind: str) -> None:
    random = np.random.default_rng(3)
    masks: dict[str, list[Any]] = {
        "flags": [random.random((2, 1, 40, 150)) > 0.4, random.random((2, 1, 1, 150)) > 0.4],
        "numbers": [random.standard_normal((4, 40, 150)), random.standard_normal((2, 1, 1, 150))],
    }
    masks["numbers"] = [x.astype(dtype).astype(np.float64) for x in masks["numbers"]]
    lengths = np.array([0, 131], np.int64)
    given: list[dict[str, Any]] = [{"mask": x} for x in masks.get(kind, [])]
    if kind == "lengths":
        given = [{"valid_length": lengths}, {"valid_length": lengths.astype(np.float32)}]
        given.append({"valid_length": np.array([[17, 40], [150, 131]], np.int32)})
        given.append({"valid_length": np.array([[0, 3], [150, 131]], np.int64)})
    if kind == "all":
        given = [{"mask": masks["flags"][0], "valid_length": lengths.astype(np.int32)}]
    for optional in given or [{}]:
        options = {"window": 50, "causal": True} if kind == "all" else {}
        hold(random, (2, 4, 2, 40, 150, 16, 24), dtype, optional, layout=layout, **options)


@pytest.mark.parametrize("dtype", [*TOLERANCES])
@pytest.mark.parametrize("keys", [132, 133])
def test_dropout_and_a_cap(dtype: str, keys: int) -> None:
    random = np.random.default_rng(4)
    for attrs in ({"dropout": 0.3}, {"dropout": 0.9}, {"softcap": 1.5}):
        hold(random, (2, 2, 1, 40, keys, 16, 24), dtype, **attrs, causal=True)


def test_axes_before_the_heads() -> None:
    random = np.random.default_rng(5)
    shapes = [(2, 3, 2, 20, 8), (2, 3, 1, 30, 8), (2, 3, 1, 30, 8), (2, 3, 2, 20, 8)]
    arrays = [random.standard_normal(x) for x in shapes]
    found = results(arrays[:3], arrays[3], "float32", {})
    exact = results(arrays[:3], arrays[3], "float64", {})
    for x, y in zip(found, exact, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_special_numbers_are_those_of_the_reference() -> None:
    """NaN stays in its row; a score of -inf gets no weight, one of inf makes its row NaN."""
    q, k, v = (np.random.default_rng(i).standard_normal((1, 1, 20, 8)) for i in range(3))
    q[0, 0, 3, 2] = np.nan
    mask = np.zeros((20, 20))
    mask[4, 5], mask[6], mask[7, 2] = -np.inf, -np.inf, np.inf
    found = results((q, k, v), np.ones_like(v), "float32", {"mask": mask})[0]
    exact = results((q, k, v), np.ones_like(v), "float64", {"mask": mask})[0]
    assert np.isnan(exact[0, 0, [3, 7]]).all()
    assert (exact[0, 0, 6] == 0).all()
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_equal_runs_give_equal_bits_and_threads_do_not_change_them(dtype: str) -> None:
    random = np.random.default_rng(6)
    arrays = [random.standard_normal((2, 2, 300, 64)) for _ in range(4)]
    first = results(arrays[:3], arrays[3], dtype, {}, causal=True, dropout=0.2)
    again = results(arrays[:3], arrays[3], dtype, {}, causal=True, dropout=0.2)
    team = openmp.team()
    threads = team.threads()
    team.set_threads(1)
    try:
        alone = results(arrays[:3], arrays[3], dtype, {}, causal=True, dropout=0.2)
    finally:
        team.set_threads(threads)
    for x, y, z in zip(first, again, alone, strict=True):
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(x, z)


def test_threads_share_the_keys_of_one_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmp.team(), "threads", lambda: 3, raising=False)
    hold(np.random.default_rng(7), (1, 1, 1, 300, 900, 64, 32), "float32", causal=True)


def test_kernels_support_what_they_say() -> None:
    attrs = ATTENTION.schema.defaults
    spec, mask = Spec((2, 3, 4), np.dtype(np.float32)), Spec((3, 3), np.dtype(bool))
    assert attention._supports(spec, spec, spec, **attrs)
    assert attention._supports(spec, spec, spec, mask, **{**attrs, "use_mask": True})
    for x in (spec._replace(dtype=np.dtype(np.float64)), spec._replace(shape=(0, 3, 4))):
        assert not attention._supports(x, x, x, **attrs)
    wide = spec._replace(shape=(2, 3, 513))
    assert not attention._supports(wide, wide, wide, **attrs)
    with MXNET_USE_FUSION.override(False):
        assert not attention._supports(spec, spec, spec, **attrs)


def test_lengths_that_are_not_contiguous_run_in_the_reference_kernel() -> None:
    random = np.random.default_rng(9)
    q = nd.array(random.standard_normal((3, 4, 8)))
    lengths = nd.array([[1, 9], [2, 9], [4, 9]])[:, 0]
    found = nd.scaled_dot_product_attention(q, q, q, valid_length=lengths)
    expected = nd.scaled_dot_product_attention(q, q, q, valid_length=nd.array([1, 2, 4]))
    np.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_rows_that_are_not_contiguous_run_in_the_reference_kernel() -> None:
    random = np.random.default_rng(8)
    q = random.standard_normal((2, 8, 5)).astype(np.float32).swapaxes(1, 2)
    k, v = (random.standard_normal((2, 6, 8)).astype(np.float32) for _ in range(2))
    attrs = {**ATTENTION.schema.defaults, "train": False}
    outputs = [
        np.empty(x.shape, x.dtype)
        for x in ATTENTION.infer(*(Spec(x.shape, x.dtype) for x in (q, k, v)), **attrs)
    ]
    fast = ATTENTION.fast_kernels[0]
    with pytest.raises(RefusedError, match="expected contiguous rows, got strided ones"):
        fast.plan(outputs, (q, k, v), attrs)  # type: ignore[misc]
    fast.kernel(np, tuple(outputs), q, k, v, **attrs)
    expected = [np.empty_like(x) for x in outputs]
    ATTENTION.kernel(np, tuple(expected), q, k, v, **attrs)
    np.testing.assert_array_equal(outputs[0], expected[0])


@pytest.mark.parametrize("op", [ATTENTION, ATTENTION_BACKWARD])
def test_both_have_a_kernel_for_cpus(op: Any) -> None:
    assert op.fast_kernels[0].name.startswith("generated.attention")


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_memory_of_a_long_sequence_is_that_of_its_outputs(dtype: Any) -> None:
    import tracemalloc

    arrays = [nd.array(np.ones((1, 2, 2048, 64)), dtype=dtype) for _ in range(3)]
    for x in arrays:
        x.attach_grad()

    def step() -> None:
        with autograd.record():
            out = nd.scaled_dot_product_attention(*arrays, causal=True)
        out.backward()
        nd.waitall()

    step()
    tracemalloc.start()
    try:
        step()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    matrix = 2 * 2048 * 2048 * 4
    assert peak < matrix / 4


@pytest.mark.parametrize(
    ("query", "keys", "dtype", "changes", "is_in_tiles"),
    [
        ((1, 1, 6, 64), (1, 50, 6, 64), "float32", {}, False),
        ((1, 2, 6, 64), (1, 50, 6, 64), "float32", {}, True),
        ((1, 1, 6, 64), (1, 50, 3, 64), "float32", {}, True),
        ((1, 1, 6, 64), (1, 50, 6, 64), "bfloat16", {}, True),
        ((1, 1, 6, 64), (1, 50, 6, 64), "float32", {"dropout": 0.1}, False),
        ((1, 1, 6, 64), (1, 50, 6, 64), "float32", {"dropout": 0.1, "train": True}, True),
    ],
)
def test_one_query_is_no_tile(
    query: Any, keys: Any, dtype: Any, changes: dict[str, Any], is_in_tiles: bool
) -> None:
    specs = [Spec(shape, np.dtype(dtype)) for shape in (query, keys, keys)]
    attrs = {**ATTENTION.schema.defaults, "layout": "NTHC", "train": False, **changes}
    chosen = ATTENTION.select_fast("cpu", specs, attrs)
    assert (chosen is not None) == is_in_tiles


needs_amx = pytest.mark.skipif(not has_amx(), reason="this processor or system has no AMX")
AMX_SIZES = [
    (1, 2, 1, 1, 3, 32, 32),
    (2, 4, 2, 37, 131, 32, 64),
    (1, 3, 3, 129, 300, 96, 32),
    (2, 1, 1, 200, 77, 64, 160),
]


def hold_amx(sizes: Any, optional: Any = None, **attrs: Any) -> None:
    """Compare output and gradients of bfloat16, by AMX, with those of float32 of equal arrays."""
    random = np.random.default_rng(sizes[4])
    every = drawn(random, sizes, attrs.get("layout", "NHTC"))
    arrays = [x.astype(ml_dtypes.bfloat16).astype(np.float32) for x in every]
    found = results(arrays[:3], arrays[3], "bfloat16", optional or {}, **attrs)
    exact = results(arrays[:3], arrays[3], "float32", optional or {}, **attrs)
    for name, x, y in zip(("out", "dq", "dk", "dv"), found, exact, strict=True):
        # Weights and results are rounded to 8 bits.
        error = np.abs(x - y).max() / max(1, np.abs(y).max())
        assert error < 2**-6, (name, error)


@needs_amx
@pytest.mark.parametrize("sizes", AMX_SIZES, ids=str)
@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"causal": True},
        {"window": 9, "causal": True},
        {"softcap": 2.0},
        {"dropout": 0.4},
        {"scale": 0.5},
        {"scale": -0.5},
        {"layout": "NTHC"},
        {"layout": "TNHC", "causal": True},
    ],
    ids=str,
)
def test_amx_gives_what_float32_gives(sizes: Any, attrs: Any) -> None:
    hold_amx(sizes, **attrs)


@needs_amx
@pytest.mark.parametrize("sizes", AMX_SIZES, ids=str)
@pytest.mark.parametrize("kind", ["flags", "numbers", "lengths"])
def test_amx_hides_keys(sizes: Any, kind: str) -> None:
    random = np.random.default_rng(sizes[4])
    n, h, _, t, s = sizes[:5]
    optional = {
        "flags": {"mask": random.random((n, 1, t, s)) < 0.6},
        "numbers": {"mask": random.standard_normal((1, h, t, s)).astype(np.float32)},
        "lengths": {"valid_length": random.integers(0, s + 1, n).astype(np.int32)},
    }[kind]
    hold_amx(sizes, optional)


@needs_amx
def test_amx_reads_no_key_behind_the_last() -> None:
    keys = np.full((2, 1, 200, 64), np.nan, np.float32)
    keys[:, :, :70] = 1
    q = nd.ones((2, 1, 40, 64), dtype="bfloat16")
    k = nd.array(keys, dtype="bfloat16")
    for x in (q, k):
        x.attach_grad()
    with autograd.record():
        out = nd.scaled_dot_product_attention(q, k, k, valid_length=nd.array([70, 70]))
    out.backward()
    np.testing.assert_array_equal(out.asnumpy().astype(np.float32), 1)
    np.testing.assert_array_equal(q.grad.asnumpy().astype(np.float32), 0)
    grad = k.grad.asnumpy().astype(np.float32)
    np.testing.assert_allclose(grad[:, :, :70], 40 / 70, rtol=2**-8)
    np.testing.assert_array_equal(grad[:, :, 70:], 0)


@needs_amx
def test_amx_adds_to_no_keys_of_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two shares of 300 keys, neither of them a multiple of 32, give what one gives."""
    monkeypatch.setattr(attention, "_FEWEST_KEYS", 100)
    for _ in range(5):
        hold_amx((1, 1, 1, 300, 310, 64, 64))


@needs_amx
def test_amx_reads_views_with_gaps_in_a_graph() -> None:
    """Queries, keys and values are slices of one projection, as a hybridized layer has them."""

    class Attend(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            parts = F.split(F.reshape(x, shape=(0, 0, 3, 2, 32)), num_outputs=3, axis=2)
            q, k, v = (F.reshape(part, shape=(0, 0, 2, 32)) for part in parts)
            return F.scaled_dot_product_attention(q, k, v, layout="NTHC")

    values = np.random.default_rng(0).standard_normal((2, 70, 192)).astype(ml_dtypes.bfloat16)
    net = Attend()
    net.hybridize(static_alloc=True)
    exact = net(nd.array(values.astype(np.float32))).asnumpy()
    found = net(nd.array(values.astype(np.float32), dtype="bfloat16")).asnumpy()
    np.testing.assert_allclose(found.astype(np.float32), exact, rtol=0, atol=2**-7)


@needs_amx
def test_amx_is_used_where_it_can_be() -> None:
    assert supports_amx(64, 32, 0.1)
    assert not supports_amx(48, 64, 0.1)
    assert not supports_amx(64, 48, 0.1)
    assert not supports_amx(64, 64, -0.1)
