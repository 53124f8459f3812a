"""rotary_embedding: values, gradients, scaling kinds, layouts, positions, kernels and refusals."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import rotary as fast
from gluonish.ops.attention.rotary import ROTARY_EMBEDDING
from gluonish.ops.attention.rotary_frequencies import factor_of_tables, frequencies
from tests.checking.check_operator import check_operator
from tests.checking.values import run_kernel, spec_of

_GOLDEN = np.load(Path(__file__).resolve().parents[2] / "golden" / "transformer_operators.npz")
_RANDOM = np.random.default_rng(7)
_compiled = pytest.mark.skipif(not available(), reason="llvmlite is not there")
SCALINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "linear": {"scaling": "linear", "factor": 4},
    "dynamic": {"scaling": "dynamic", "factor": 2, "original_max_position_embeddings": 32},
    "llama3": {
        "scaling": "llama3",
        "base": 5e5,
        "factor": 8,
        "low_freq_factor": 1,
        "high_freq_factor": 4,
        "original_max_position_embeddings": 512,
    },
    "yarn": {
        "scaling": "yarn",
        "base": 1e6,
        "factor": 4,
        "original_max_position_embeddings": 512,
    },
    "yarn-untruncated": {
        "scaling": "yarn",
        "base": 150000,
        "factor": 32,
        "truncate": False,
        "original_max_position_embeddings": 4096,
    },
}
_PERMUTATIONS = {"NHTC": (0, 1, 2, 3), "NTHC": (0, 2, 1, 3), "TNHC": (2, 0, 1, 3)}


def _attrs(**given: Any) -> dict[str, Any]:
    return ROTARY_EMBEDDING.schema.parse("rotary_embedding", given)


def _normal(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape)


def _exact(x: Any, positions: Any, pairing: str = "halves", dim: int | None = None) -> Any:
    """Rotate the pairs of (..., T, C) in float64, as complex numbers."""
    dim = x.shape[-1] if dim is None else dim
    assert dim is not None
    rotated = np.asarray(x[..., :dim], np.float64)
    if pairing == "halves":
        pairs = rotated[..., : dim // 2] + 1j * rotated[..., dim // 2 :]
    else:
        pairs = rotated[..., ::2] + 1j * rotated[..., 1::2]
    pairs = pairs * np.exp(1j * positions[..., None] * 10000.0 ** (-np.arange(0, dim, 2) / dim))
    if pairing == "halves":
        made = np.concatenate([pairs.real, pairs.imag], -1)
    else:
        made = np.stack([pairs.real, pairs.imag], -1).reshape(rotated.shape)
    return np.concatenate([made, x[..., dim:]], -1)


@pytest.mark.parametrize("pairing", ["halves", "neighbours"])
@pytest.mark.parametrize("dim", [None, 4])
def test_pairs_are_rotated(pairing: str, dim: int | None) -> None:
    check_operator(
        ROTARY_EMBEDDING,
        [_normal(2, 3, 5, 6)],
        {"pairing": pairing, "dim": dim, "offset": 3},
        lambda x: _exact(x, np.arange(3, 8), pairing, dim),
        zero_size=[_normal(2, 0, 5, 6)],
    )


@pytest.mark.parametrize("shape", [(5, 4), (2, 5, 4), (2, 3, 2, 5, 4)])
def test_any_number_of_leading_axes(shape: tuple[int, ...]) -> None:
    check_operator(ROTARY_EMBEDDING, [_normal(*shape)], {}, lambda x: _exact(x, np.arange(5)))


@pytest.mark.parametrize("layout", _PERMUTATIONS)
@pytest.mark.parametrize("by_sample", [False, True])
def test_positions_in_each_layout(layout: str, by_sample: bool) -> None:
    axes = _PERMUTATIONS[layout]
    positions = _RANDOM.integers(0, 90, (2, 5) if by_sample else (5,))
    data = _normal(2, 3, 5, 6)
    seen = positions[:, None] if by_sample else positions
    wanted = _exact(data, seen).transpose(axes)
    attrs = {"layout": layout, "use_positions": True}
    inputs = [np.ascontiguousarray(data.transpose(axes)), positions]
    check_operator(ROTARY_EMBEDDING, inputs, attrs, wanted, wrt=[0], half=False)


@pytest.mark.parametrize("case", SCALINGS)
def test_scaling_is_that_of_transformers(case: str) -> None:
    x = _GOLDEN[f"rotary-{case}.x0"]
    attrs = _attrs(**SCALINGS[case])
    found = frequencies(np, 32, attrs, 48)
    np.testing.assert_allclose(found, _GOLDEN[f"rotary-{case}.frequencies"], rtol=2e-6)
    np.testing.assert_allclose(factor_of_tables(attrs), _GOLDEN[f"rotary-{case}.factor"], rtol=1e-6)
    wanted = _GOLDEN[f"rotary-{case}.y"]
    for positions in (None, mx.nd.arange(48, dtype="int32")):
        got = mx.nd.rotary_embedding(mx.nd.array(x), positions, **SCALINGS[case])
        assert np.abs(got.asnumpy() - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_dynamic_scaling_begins_behind_the_original_length() -> None:
    x = mx.nd.array(_normal(1, 2, 40, 8))
    attrs = SCALINGS["dynamic"]
    plain, scaled = (mx.nd.rotary_embedding(x, **kind).asnumpy() for kind in ({}, attrs))
    assert not np.allclose(plain[..., 1:, :], scaled[..., 1:, :])
    short = x[:, :, :32]
    np.testing.assert_array_equal(
        mx.nd.rotary_embedding(short, **attrs).asnumpy(), mx.nd.rotary_embedding(short).asnumpy()
    )


@pytest.mark.parametrize("hybridize", [False, True])
def test_the_gradient_rotates_back(hybridize: bool) -> None:
    attrs = {"attention_factor": 1.5, "offset": 2}
    net = mx.gluon.nn.HybridLambda(lambda F, x: F.rotary_embedding(x, **attrs))
    net.hybridize(hybridize)
    x, head = (mx.nd.array(_normal(2, 3, 16, 8)) for _ in "xh")
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    y.backward(head)
    wanted = 1.5 * _exact(head.asnumpy(), -np.arange(2.0, 18.0))
    np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def _run(inputs: list[Any], attrs: dict[str, Any]) -> Any:
    kernel = ROTARY_EMBEDDING.select_fast("cpu", [spec_of(x) for x in inputs], attrs)
    assert kernel is not None
    assert kernel.name == "generated.rotary_embedding"
    return run_kernel(ROTARY_EMBEDDING, kernel.kernel, inputs, attrs, attrs)[0]


@_compiled
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("pairing", ["halves", "neighbours"])
@pytest.mark.parametrize("layout", _PERMUTATIONS)
@pytest.mark.parametrize("given", [None, (21,), (3, 21)], ids=str)
def test_the_generated_kernel(dtype: str, pairing: str, layout: str, given: Any) -> None:
    axes = _PERMUTATIONS[layout]
    data = _normal(3, 4, 21, 34).astype(getattr(ml_dtypes, dtype, dtype))
    inputs = [np.ascontiguousarray(data.transpose(axes))]
    seen = np.arange(9, 30)
    if given:
        positions = _RANDOM.integers(0, 4000, given)
        inputs.append(positions.astype(np.float32))
        seen = (positions if len(given) == 1 else positions[:, None]) + 9
    attrs = _attrs(
        layout=layout,
        pairing=pairing,
        dim=32,
        offset=9,
        use_positions=bool(given),
    )
    wanted = _exact(data.astype(np.float64), seen, pairing, 32).transpose(axes)
    tolerance = 1e-6 if dtype == "float32" else 4e-3
    got = _run(inputs, attrs).astype(np.float64)
    assert np.abs(got - wanted).max() < tolerance * np.abs(wanted).max()
    strided = [np.repeat(inputs[0], 2, -1)[..., ::2], *inputs[1:]]
    got = _run(strided, attrs).astype(np.float64)
    assert np.abs(got - wanted).max() < tolerance * np.abs(wanted).max()


@_compiled
def test_tables_grow_and_far_positions_have_their_own() -> None:
    fast._kept.clear()
    for length in (20, 600, 40):
        got = _run([_normal(1, 1, length, 32).astype(np.float32)], _attrs())
        assert got.shape[2] == length
    (table,) = fast._kept.values()
    assert table.shape == (1024, 2, 16)
    x, far = _normal(1, 2, 10, 32).astype(np.float32), 3_000_000
    got = _run([x], _attrs(offset=far))
    wanted = _exact(x, np.arange(far, far + 10))
    assert np.abs(got - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert [len(kept) for kept in fast._kept.values()] == [1024]


@_compiled
def test_threads_do_not_change_a_bit() -> None:
    x = _normal(4, 8, 100, 64).astype(np.float32)
    before = openmp.team().threads()
    found = []
    try:
        for threads in (1, 2, 3):
            openmp.team().set_threads(threads)
            found.append(_run([x], _attrs()))
    finally:
        openmp.team().set_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_numpy_arrays_are_taken() -> None:
    x = mx.np.array(_normal(2, 5, 4))
    got = mx.npx.rotary_embedding(x, mx.np.arange(5), pairing="neighbours").asnumpy()
    wanted = _exact(x.asnumpy(), np.arange(5), "neighbours")
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "attrs", "message"),
    [
        ((2, 3, 4), {"dim": 3}, "expected an even dim up to the width 4 of data, got 3"),
        ((2, 3, 4), {"dim": 6}, "expected an even dim up to the width 4"),
        ((2, 3, 5), {}, "expected an even dim up to the width 5 of data, got 5"),
        ((2, 3, 4), {"layout": "NTHC"}, r"expected data \(N, T, H, C\), got shape \(2, 3, 4\)"),
        ((4,), {}, r"expected data \(\.\.\., T, C\)"),
        ((2, 4), {"offset": -1}, "offset"),
        ((2, 4), {"base": 0}, "expected base above 0, got 0"),
        ((2, 4), {"scaling": "linear", "factor": -1}, "expected factor above 0"),
        ((2, 4), {"scaling": "yarn"}, "expected original_max_position_embeddings"),
        (
            (2, 4),
            {"scaling": "llama3", "low_freq_factor": 4, "original_max_position_embeddings": 9},
            "expected low_freq_factor below high_freq_factor, got 4.0 and 4.0",
        ),
        (
            (2, 2),
            {"scaling": "dynamic", "original_max_position_embeddings": 9},
            "expected dim above 2 with scaling 'dynamic'",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    shape: tuple[int, ...], attrs: dict[str, Any], message: str
) -> None:
    with pytest.raises(OperatorError, match=f"rotary_embedding: .*{message}"):
        mx.nd.rotary_embedding(mx.nd.ones(shape), **attrs)


def test_positions_that_do_not_fit_are_refused() -> None:
    x = mx.nd.ones((2, 3, 16, 8))
    with pytest.raises(OperatorError, match=r"expected positions \(16,\) or \(2, 16\) of numbers"):
        mx.nd.rotary_embedding(x, mx.nd.arange(3))
    with pytest.raises(OperatorError, match="expected positions of at least 0, got -5"):
        mx.nd.rotary_embedding(x, mx.nd.arange(16) - 5).asnumpy()
    with pytest.raises(OperatorError, match="expected floating data, got int32"):
        mx.nd.rotary_embedding(x.astype("int32"))


class _Sliced(mx.gluon.HybridBlock):
    """Rotates a part of the columns of an array, as attention does with a joined projection."""

    def __init__(self, layout: str, **attrs: Any) -> None:
        super().__init__()
        self._attrs = {"layout": layout, **attrs}

    def hybrid_forward(self, F: Any, x: Any, positions: Any) -> Any:
        part = F.slice_axis(x, axis=-1, begin=64, end=64 + 4 * 32)
        heads = F.reshape(part, shape=(0, 0, 4, 32))
        if self._attrs["layout"] == "NHTC":
            heads = F.transpose(heads, axes=(0, 2, 1, 3))
        return F.rotary_embedding(heads, positions, **self._attrs)


@_compiled
@pytest.mark.parametrize("kind", ["int32", "int64", "float32"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("layout", _PERMUTATIONS)
@pytest.mark.parametrize("pairing", ["halves", "neighbours"])
def test_a_graph_gives_what_single_operators_give(
    pairing: str, layout: str, dtype: str, kind: str
) -> None:
    net = _Sliced(layout, pairing=pairing, dim=16)
    x = mx.nd.random.normal(shape=(3, 5, 256)).astype(dtype)
    steps = 3 if layout == "TNHC" else 5
    # Later calls have positions of the table, then far ones, and different ones for each sample.
    starts = (0, 7, 7, 600, 100_000)
    calls = [mx.nd.arange(start, start + steps).astype(kind) for start in starts]
    samples = _RANDOM.integers(0, 2000, (x.size // 256 // steps, steps))
    calls += [mx.nd.array(samples, dtype=kind)] * 2
    single = [net(x, positions).astype("float32").asnumpy() for positions in calls]
    net.hybridize(static_alloc=True, static_shape=True)
    for want, positions in zip(single, calls, strict=True):
        assert np.array_equal(net(x, positions).astype("float32").asnumpy(), want)


@_compiled
def test_negative_positions_are_refused_by_replays() -> None:
    net = _Sliced("NTHC")
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.normal(shape=(3, 5, 256))
    for _ in range(3):
        net(x, mx.nd.arange(5, dtype="int32")).wait_to_read()
    with pytest.raises(OperatorError, match="at least 0, got -2"):
        net(x, mx.nd.array([0, 1, -2, 3, 4], dtype="int32")).wait_to_read()
