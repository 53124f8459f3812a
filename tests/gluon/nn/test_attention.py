"""MultiHeadAttention: options, masks, the cache, dtypes, files, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OperatorError
from gluonish.gluon import nn

RANDOM = np.random.default_rng(8)
N, T, S, UNITS = 2, 5, 7, 12


def normal(*shape: int) -> Any:
    return mx.nd.array(RANDOM.standard_normal(shape).astype(np.float32))


def made(*args: Any, **options: Any) -> Any:
    net = nn.MultiHeadAttention(*args, **options)
    net.initialize(mx.init.Normal(0.5))
    return net


def numpy_of(net: Any) -> dict[str, np.ndarray]:
    parameters = net._collect_params_with_prefix()
    return {name: p.data().asnumpy().astype(np.float64) for name, p in parameters.items()}


def expected(
    net: Any, query: Any, key: Any = None, visible: Any = True, added: Any = 0.0, **o: Any
) -> np.ndarray:
    """Compute attention in float64, a head at a time."""
    p, heads, groups = numpy_of(net), o["heads"], o["groups"]
    query = query.asnumpy().astype(np.float64)
    key = query if key is None else key.asnumpy().astype(np.float64)
    width = p["output.weight"].shape[1] // heads
    rows = np.split(p["qkv.weight"], [heads * width, (heads + groups) * width])
    biases = np.split(p["qkv.bias"], [heads * width, (heads + groups) * width])
    q, k, v = (
        (x @ w.T + b).reshape(*x.shape[:2], -1, width)
        for x, w, b in zip((query, key, key), rows, biases, strict=True)
    )
    if o.get("norm"):
        q, k = (
            x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * p[f"{name}_norm.gamma"]
            for x, name in ((q, "query"), (k, "key"))
        )
    out = np.zeros(q.shape)
    for head in range(heads):
        group = head // (heads // groups)
        scores = q[:, :, head] @ k[:, :, group].swapaxes(1, 2) * o.get("scale", width**-0.5)
        if "softcap" in o:
            scores = np.tanh(scores / o["softcap"]) * o["softcap"]
        weights = np.exp(scores + added) * visible
        total = weights.sum(-1, keepdims=True)
        out[:, :, head] = weights / np.where(total == 0, 1, total) @ v[:, :, group]
    flat = out.reshape(*out.shape[:2], -1)
    return np.asarray(flat @ p["output.weight"].T + p["output.bias"])


def hold(found: Any, wanted: np.ndarray, tolerance: float = 2e-5) -> None:
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=0, atol=tolerance * scale)


def reach(before: int, after: int, queries: int = T, keys: int = T) -> np.ndarray:
    distance = np.arange(keys) - np.arange(queries)[:, None] - (keys - queries)
    return (distance >= -before) & (distance <= after)


OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"num_kv_heads": 2}, {"groups": 2}),
    ({"num_kv_heads": 1, "head_units": 5}, {"groups": 1}),
    ({"causal": True}, {"visible": reach(T, 0)}),
    ({"window": 2}, {"visible": reach(1, 1)}),
    ({"causal": True, "window": 3}, {"visible": reach(2, 0)}),
    ({"softcap": 0.7}, {"softcap": 0.7}),
    ({"scale": 1.0}, {"scale": 1.0}),
    ({"qk_norm": True}, {"norm": True}),
]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(("options", "meaning"), OPTIONS)
def test_options_against_float64(options: Any, meaning: Any, hybridize: bool) -> None:
    net, x = made(UNITS, 4, **options), normal(N, T, UNITS)
    net.hybridize(hybridize)
    hold(net(x), expected(net, x, **{"heads": 4, "groups": 4, **meaning}))


def test_causality_with_fewer_queries_than_keys_is_aligned_to_the_end() -> None:
    net, x, memory = made(UNITS, 3, causal=True), normal(N, T, UNITS), normal(N, S, UNITS)
    visible = reach(S, 0, T, S)
    hold(net(x, memory), expected(net, x, memory, visible, heads=3, groups=3))


@pytest.mark.parametrize("hybridize", [False, True])
def test_masks_and_lengths_together(hybridize: bool) -> None:
    net, x = made(UNITS, 3), normal(N, T, UNITS)
    net.hybridize(hybridize)
    mask = RANDOM.random((N, 1, T, T)) > 0.3
    lengths = np.array([3, 0])
    visible = mask[:, 0] & (np.arange(T) < lengths[:, None])[:, None]
    found = net(x, mask=mx.nd.array(mask, dtype=bool), valid_length=mx.nd.array(lengths))
    wanted = expected(net, x, None, visible, heads=3, groups=3)
    hold(found, wanted)
    bias = net.output.bias.data().asnumpy()  # of a sample without keys
    np.testing.assert_allclose(found.asnumpy()[1], np.tile(bias, (T, 1)), rtol=1e-6)
    added = RANDOM.standard_normal((T, T)).astype(np.float32)
    hold(net(x, mask=mx.nd.array(added)), expected(net, x, added=added, heads=3, groups=3))


def test_self_attention_is_one_product() -> None:
    net = made(UNITS, 3)
    operators = [node["op"] for node in json.loads(net(mx.sym.var("x")).tojson())["nodes"]]
    assert operators.count("FullyConnected") == 2  # with the output's


@pytest.mark.parametrize("hybridize", [False, True])
def test_keys_of_another_width(hybridize: bool) -> None:
    net = made(UNITS, 3, fused=False)
    net.hybridize(hybridize)
    net(normal(N, T, 4), normal(N, S, 6), normal(N, S, 5))
    shapes = [layer.weight.shape for layer in (net.query, net.key, net.value)]
    assert shapes == [(UNITS, 4), (UNITS, 6), (UNITS, 5)]


def test_shapes_are_inferred_from_a_call_with_keys() -> None:
    for hybridize in (False, True):
        net = made(UNITS, 3)
        net.hybridize(hybridize)
        net(normal(N, T, 4), normal(N, S, 4))
        assert net.qkv.weight.shape == (3 * UNITS, 4)


def rotated(x: np.ndarray, positions: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """Rotate halves of heads (N, T, H, C)."""
    half = x.shape[-1] // 2
    angles = positions[..., None, None] * base ** (-np.arange(half) / half)
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("given", [None, [4, 0, 1, 9, 2], [[0, 1, 2, 3, 4], [3, 5, 7, 9, 11]]])
def test_rotation_of_queries_and_keys(given: Any, hybridize: bool) -> None:
    net, x = made(UNITS, 3, rotary={"base": 100.0}), normal(N, T, UNITS)
    net.hybridize(hybridize)
    positions = np.arange(T) if given is None else np.array(given)
    found = net(x) if given is None else net(x, positions=mx.nd.array(positions))
    p = numpy_of(net)
    values = x.asnumpy().astype(np.float64) @ p["qkv.weight"].T + p["qkv.bias"]
    q, k, v = np.split(values.reshape(N, T, 9, 4), 3, axis=2)
    places = np.broadcast_to(positions, (N, T))
    q, k = (rotated(heads, places, 100.0) for heads in (q, k))
    scores = np.einsum("nthc,nshc->nhts", q, k) / 2
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    out = np.einsum("nhts,nshc->nthc", weights, v).reshape(N, T, UNITS)
    hold(found, out @ p["output.weight"].T + p["output.bias"])


CACHED: list[dict[str, Any]] = [
    {},
    {"num_kv_heads": 2},
    {"window": 3, "qk_norm": True},
    {"rotary": {}, "head_units": 4},
    {"rotary": {"dim": 2}, "head_units": 4, "layout": "TNC"},
    {"layout": "TNC"},
    {"fused": False, "softcap": 1.0},
]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("chunks", [[1] * T, [3, 2]])
@pytest.mark.parametrize("options", CACHED)
def test_cache_gives_what_the_whole_gives(
    options: dict[str, Any], chunks: list[int], hybridize: bool
) -> None:
    net = made(UNITS, 4, causal=True, **options)
    axis = 0 if "layout" in options else 1
    x = normal(*((T, N) if axis == 0 else (N, T)), UNITS)
    wanted = net(x).asnumpy()
    net.hybridize(hybridize, static_alloc=True)
    for _ in range(2):
        cache, found = net.begin_cache(N, 9), []
        for count in chunks:
            start = int(cache.position.asscalar())
            part = mx.nd.slice_axis(x, axis=axis, begin=start, end=start + count)
            found.append(net(part, cache=cache).asnumpy())
            cache.position[:] += count
        np.testing.assert_allclose(np.concatenate(found, axis), wanted, rtol=0, atol=1e-5)
    if hybridize:
        assert len(net._graphs) == 1  # no position has a graph of its own


def test_cache_with_a_position_for_each_sample() -> None:
    net, x = made(UNITS, 4, causal=True, head_units=4, rotary={}), normal(N, T, UNITS)
    wanted = net(x).asnumpy()
    cache = net.begin_cache(N, 9)
    net(x[:, :4], cache=cache)
    starts = mx.nd.array([2, 4], dtype="int32")
    new = mx.nd.stack(x[0, 2:3], x[1, 4:5])
    found = net(new, cache=cache._replace(position=starts)).asnumpy()
    np.testing.assert_allclose(found[:, 0], [wanted[0, 2], wanted[1, 4]], rtol=0, atol=1e-5)


@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_a_complete_cache_spares_the_projection_of_keys(layout: str) -> None:
    net = made(UNITS, 4, fused=False, qk_norm=True, layout=layout)
    shapes = [(N, T, 6), (N, S, 5)]
    x, memory = (normal(*((s[1], s[0], s[2]) if layout == "TNC" else s)) for s in shapes)
    lengths = mx.nd.array([3, 7])
    wanted = net(x, memory, valid_length=lengths).asnumpy()
    cache = net.fill_cache(memory)
    for hybridize in (False, True):
        net.hybridize(hybridize)
        found = net(x, cache=cache, valid_length=lengths).asnumpy()
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


def test_begin_cache_has_the_dtype_of_the_layer() -> None:
    net = made(UNITS, 4, num_kv_heads=2)
    net.cast("float16")
    cache = net.begin_cache(N, 9)
    assert cache.keys.shape == cache.values.shape == (N, 2, 9, 3)
    assert cache.keys.dtype == np.float16
    assert net.begin_cache(N, 9, dtype="float32").keys.dtype == np.float32
    assert cache.position.dtype == np.int32
    assert net(normal(N, T, UNITS).astype("float16"), cache=cache).dtype == np.float16


@pytest.mark.parametrize("hybridize", [False, True])
def test_bfloat16_stays_close_to_float32(hybridize: bool) -> None:
    net, x = made(UNITS, 4, causal=True, qk_norm=True, in_units=UNITS), normal(N, T, UNITS)
    wanted = net(x).asnumpy()
    net.cast("bfloat16")
    net.hybridize(hybridize)
    found = net(x.astype("bfloat16"))
    assert found.dtype == mx.nd.zeros(1, dtype="bfloat16").dtype
    hold(found.astype("float32"), wanted, 3e-2)


@pytest.mark.parametrize("hybridize", [False, True])
def test_mixed_precision(hybridize: bool) -> None:
    net, x = made(UNITS, 4, in_units=UNITS), normal(N, T, UNITS)
    wanted = net(x).asnumpy()
    net.hybridize(hybridize)
    with mx.contrib.amp.autocast("bfloat16"):
        hold(net(x).astype("float32"), wanted, 3e-2)


@pytest.mark.parametrize("hybridize", [False, True])
def test_cache_under_mixed_precision(hybridize: bool) -> None:
    net, x = made(UNITS, 4, causal=True, qk_norm=True, in_units=UNITS), normal(N, T, UNITS)
    wanted = net(x).asnumpy()
    net.hybridize(hybridize)
    cache, found = net.begin_cache(N, 9, dtype="bfloat16"), []
    with mx.contrib.amp.autocast("bfloat16"):
        for i in range(T):
            found.append(net(x[:, i : i + 1], cache=cache).astype("float32"))
            cache.position[:] += 1
    hold(mx.nd.concat(*found, dim=1), wanted, 3e-2)


def test_dropout_is_equal_in_equal_runs_and_absent_outside_training() -> None:
    net, x = made(UNITS, 4, dropout=0.5, in_units=UNITS), normal(N, T, UNITS)
    results = []
    for _ in range(2):
        mx.random.seed(3)
        with mx.autograd.record():
            results.append(net(x).asnumpy())
    np.testing.assert_array_equal(*results)
    assert not np.allclose(results[0], net(x).asnumpy())
    hold(net(x), expected(net, x, heads=4, groups=4))


def test_save_and_load(tmp_path: Path) -> None:
    net, x = made(UNITS, 4, qk_norm=True), normal(N, T, UNITS)
    wanted = net(x).asnumpy()
    net.save_parameters(str(tmp_path / "net.params"))
    other = nn.MultiHeadAttention(UNITS, 4, qk_norm=True)
    other.load_parameters(str(tmp_path / "net.params"))
    np.testing.assert_array_equal(other(x).asnumpy(), wanted)


def test_export_and_import_as_symbol(tmp_path: Path) -> None:
    net, x = made(UNITS, 4, causal=True), normal(N, T, UNITS)
    net.hybridize()
    wanted = net(x).asnumpy()
    files = net.export(str(tmp_path / "net"))
    again = nn.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_array_equal(again(x).asnumpy(), wanted)


def test_arrays_of_numpy() -> None:
    net, x = made(UNITS, 4), normal(N, T, UNITS)
    wanted = net(x).asnumpy()
    for hybridize in (False, True):
        net.hybridize(hybridize)
        found = net(x.as_np_ndarray())
        assert isinstance(found, mx.np.ndarray)
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=0, atol=1e-6)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"num_heads": 5}, ArgumentError, "expected num_heads that divides units 12, got 5"),
    ({"num_heads": 0}, ArgumentError, "expected num_heads of 1 or more, got 0"),
    ({"num_heads": 1.5}, ArgumentTypeError, "expected num_heads to be an int, got 1.5"),
    (
        {"num_kv_heads": 3},
        ArgumentError,
        "expected num_kv_heads that divides num_heads 4, got 3",
    ),
    ({"dropout": 1.0}, ArgumentError, r"expected dropout in \[0, 1\), got 1.0"),
    ({"dropout": -0.1}, ArgumentError, r"expected dropout in \[0, 1\), got -0.1"),
    ({"dropout": "a"}, ArgumentTypeError, "expected dropout to be a number, got 'a'"),
    ({"window": -1}, ArgumentError, "expected window of 1 or more, got -1"),
    ({"softcap": 0}, ArgumentError, "expected softcap above 0, got 0"),
    (
        {"rotary": nn.RotaryEmbedding()},
        ArgumentError,
        "expected rotary with layout NTHC, got NHTC",
    ),
    ({"layout": "NCT"}, ArgumentError, "expected layout NTC or TNC, got 'NCT'"),
]


@pytest.mark.parametrize(("options", "kind", "message"), REFUSED)
def test_wrong_options_are_refused(options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"MultiHeadAttention: {message}"):
        nn.MultiHeadAttention(UNITS, **{"num_heads": 4, **options})


@pytest.mark.parametrize("hybridize", [False, True])
def test_wrong_calls_are_refused(hybridize: bool) -> None:
    net, x = made(UNITS, 4, fused=False, in_units=UNITS), normal(N, T, UNITS)
    net(x)
    net.hybridize(hybridize)
    with pytest.raises(OperatorError, match="expected as many heads and positions in value as in"):
        net(x, normal(N, S, UNITS), normal(N, T, UNITS)).wait_to_read()
    with pytest.raises(OperatorError, match=r"a mask that broadcasts to \(2, 4, 5, 5\)"):
        net(x, mask=mx.nd.ones((3, 1, 5, 5))).wait_to_read()
    with pytest.raises(OperatorError, match="a boolean mask"):
        net(x, mask=mx.nd.ones((5, 5), dtype="int32")).wait_to_read()
    with pytest.raises(OperatorError, match=r"expected valid_length \(2,\)"):
        net(x, valid_length=mx.nd.ones((3,))).wait_to_read()
    with pytest.raises(ArgumentError, match="expected a key with value"):
        net(x, None, x)
    cache = net.begin_cache(N, 9)
    with pytest.raises(ArgumentError, match="expected no key with a cache"):
        net(x, x, cache=cache)
    with pytest.raises(ArgumentError, match="expected no valid_length with a growing cache"):
        net(x, valid_length=mx.nd.ones((2,)), cache=cache)
    with pytest.raises(OperatorError, match="expected a position from 0 to 4, for 5 new keys"):
        net(x, cache=cache._replace(position=mx.nd.array([5], dtype="int32"))).wait_to_read()
    with pytest.raises(ArgumentError, match="expected fused=False of a layer that reads"):
        made(UNITS, 4)(x, cache=cache._replace(position=None))
    with pytest.raises(ArgumentError, match="expected a layer with fused=False"):
        made(UNITS, 4).fill_cache(x)
    with pytest.raises(ArgumentError, match="expected length of 1 or more, got 0"):
        net.begin_cache(N, 0)


@pytest.mark.parametrize("hybridize", [False, True])
def test_positions_behind_256_are_exact_in_bfloat16(hybridize: bool) -> None:
    net = made(UNITS, 3, causal=True, rotary={}, in_units=UNITS)
    x = normal(1, 310, UNITS)
    wanted = net(x).asnumpy()[:, -1:]
    net.cast("bfloat16")
    net.hybridize(hybridize)
    cache, x = net.begin_cache(1, 400), x.astype("bfloat16")
    net(x[:, :309], cache=cache)
    cache.position[:] = 309
    hold(net(x[:, 309:], cache=cache).astype("float32"), wanted, 5e-2)


def test_weights_are_those_of_a_call_with_a_complete_cache() -> None:
    net = made(UNITS, 3, fused=False, rotary={"base": 100.0})
    x, memory = normal(N, T, UNITS), normal(N, S, UNITS)
    net(x, memory)
    cache = net.fill_cache(memory)
    weights = net.attention_weights(x, cache=cache).asnumpy()
    assert weights.shape == (N, 3, T, S)
    values = cache.values.asnumpy().transpose(0, 2, 1, 3)
    want = net(x, cache=cache).asnumpy()
    found = (weights @ values).transpose(0, 2, 1, 3).reshape(N, T, UNITS)
    found = found @ net.output.weight.data().asnumpy().T + net.output.bias.data().asnumpy()
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


def test_weights_of_sixteen_bits_are_computed_in_float32() -> None:
    net = made(UNITS, 3, in_units=UNITS, dtype="bfloat16")
    weights = net.attention_weights(normal(N, T, UNITS).astype("bfloat16"))
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights.asnumpy().sum(-1), 1, rtol=1e-5)


def test_a_query_that_attends_to_nothing_has_weights_of_zero() -> None:
    net = made(UNITS, 3)
    lengths = mx.nd.array([0, 2], dtype="int32")
    weights = net.attention_weights(normal(N, T, UNITS), valid_length=lengths).asnumpy()
    assert (weights[0] == 0).all()
    np.testing.assert_allclose(weights[1, ..., :2].sum(-1), 1, rtol=1e-5)


def test_weights_with_a_growing_cache_are_refused() -> None:
    net = made(UNITS, 3, in_units=UNITS)
    with pytest.raises(ArgumentError, match="attention_weights: expected no growing cache"):
        net.attention_weights(normal(N, T, UNITS), cache=net.begin_cache(N, 8))
