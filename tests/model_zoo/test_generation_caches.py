"""Caches of generation: rings of layers with a window, and other dtypes."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo.generation.batching import BatchGenerator
from gluonish.model_zoo.generation.cache import Cache, Ring
from gluonish.model_zoo.text import CausalLM, Llama

WINDOW = 40
RING = 576  # rows: the window and the longest piece, up to a multiple of 64
WINDOWS = {"all": WINDOW, "some": (WINDOW, None)}
LONG = (np.arange(1500) * 7919 % 1013 % 31).tolist()
LENGTHS = (3, 530, 577, 700, 1100)  # the ring is full behind 576


def network(kind: str = "some") -> Any:
    return _network(kind, mx.current_context())


@cache
def _network(kind: str, ctx: mx.Context) -> Any:
    return new_network(WINDOWS[kind], ctx)


def new_network(windows: Any, ctx: mx.Context) -> Any:
    sizes: dict[str, Any] = {"units": 32, "hidden_units": 32, "num_layers": 2, "num_heads": 2}
    net = CausalLM(Llama(31, windows=windows, max_length=2048, **sizes))
    mx.random.seed(3)
    net.initialize(mx.init.Normal(0.3), ctx=ctx)
    return net


@pytest.fixture(autouse=True)
def _on_new_devices() -> None:
    """Forget networks on GPUs, which tests on the double of CuPy have for themselves."""
    if mx.current_context().device_type == "gpu":
        _network.cache_clear()


@cache
def _uncached(kind: str, ctx: mx.Context, length: int, count: int) -> list[int]:
    net, row = _network(kind, ctx), LONG[:length]
    for _ in range(count):
        scores = net(mx.nd.array([row], dtype="int32"))
        row = [*row, int(scores[0, -1].argmax().asscalar())]
    return row[length:]


def uncached(kind: str, length: int, count: int = 6) -> list[int]:
    """Return what follows a part of the long text, by calls on the whole."""
    return _uncached(kind, mx.current_context(), length, count)


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("length", LENGTHS)
def test_texts_with_rings_are_those_without_a_cache(kind: str, length: int) -> None:
    assert network(kind).generate(LONG[:length], 6) == uncached(kind, length)


@pytest.mark.parametrize("kind", WINDOWS)
def test_rows_of_a_batch_with_rings_get_the_tokens_that_they_get_alone(kind: str) -> None:
    prompts = [LONG[:length] for length in LENGTHS]
    wanted = [uncached(kind, length) for length in LENGTHS]
    assert network(kind).generate(prompts, 6) == wanted


@pytest.mark.parametrize("kind", WINDOWS)
def test_changing_batches_with_rings(kind: str) -> None:
    batch = BatchGenerator(network(kind), max_batch=2, max_new_tokens=6)
    found: dict[int, list[int]] = {batch.insert(LONG[:length]): [] for length in LENGTHS}
    while batch.is_busy:
        for number, token, _ in batch.step():
            found[number].append(token)
    assert list(found.values()) == [uncached(kind, length) for length in LENGTHS]


@pytest.mark.parametrize("kind", WINDOWS)
def test_guesses_and_beams_with_rings(kind: str) -> None:
    net = network(kind)
    for length in (560, 700):
        want = uncached(kind, length)
        assert net.generate(LONG[:length], 6, prompt_lookup=True) == want
        assert net.generate(LONG[:length], 6, assistant_model=net) == want
    held = [net.generate(LONG[:700], 6, num_beams=n) for n in (1, 3)]
    assert held[0] == uncached(kind, 700)
    assert total(net, 700, held[1]) >= total(net, 700, held[0]) - 1e-4


def total(net: Any, length: int, text: list[int]) -> float:
    """Return the sum of the log probabilities of a text behind a part of the long one."""
    row = LONG[:length] + text
    scores = net(mx.nd.array([row], dtype="int32"))[0].log_softmax(axis=-1).asnumpy()
    return float(sum(scores[length - 1 + i, token] for i, token in enumerate(text)))


def test_rings_have_rows_for_the_window_and_a_piece() -> None:
    net = network("some")
    held = net.new_cache()
    assert held.lengths == (256, 256)
    net.generate(LONG[:1100], 4, cache=held)
    assert held.lengths == (RING, 2048)
    assert held.length == 2048
    assert held.nbytes == 2 * 4 * 32 * (RING + 2048)
    assert held.copy().lengths == held.lengths


def test_a_network_of_rings_makes_no_plan_for_a_longer_text() -> None:
    net = new_network(WINDOW, mx.current_context())
    net.generate(LONG[:1030], 4)
    plans, graphs = net.runner.num_plans, net.runner.num_graphs
    for length in (1029, 1500):
        net.generate(LONG[:length], 4)
    assert net.runner.num_plans == plans
    assert net.runner.num_graphs == graphs


@pytest.mark.parametrize("kind", WINDOWS)
def test_a_cache_with_rings_goes_on_and_begins_again_where_it_has_to(kind: str) -> None:
    net = network(kind)
    held = net.new_cache()
    assert net.generate(LONG[:700], 6, cache=held) == uncached(kind, 700)
    early = held.copy()
    assert net.generate(LONG[:1100], 6, cache=held) == uncached(kind, 1100)
    # The rings no longer have what these need: they are computed from the first token on.
    for length in (1099, 530, 700):
        again = held.copy()
        assert net.generate(LONG[:length], 6, cache=again) == uncached(kind, length)
    read: list[int] = []
    run = net.runner._run

    def counted(cache: Any, tokens: Any, places: Any, piece: int, last: Any) -> Any:
        read.append(int(last[0].asscalar()) + 1)
        return run(cache, tokens, places, piece, last)

    net.runner._run = counted
    try:
        assert net.generate(LONG[:700], 6, cache=early) == uncached(kind, 700)
    finally:
        del net.runner._run
    assert read == [1] * 6  # the last token of the prompt, and five steps


def test_a_cut_that_a_ring_cannot_follow_is_refused() -> None:
    net = network()
    held = net.new_cache()
    net.generate(LONG[:1100], 4, cache=held)
    with pytest.raises(
        mx.base.MXNetError, match=r"length of 0, or of \d+ or more for row 0, whose"
    ):
        held.cut(300)
    assert held.tokens[0][:1100] == LONG[:1100]
    least = held.least(0)
    assert 1100 - RING < least <= 1100
    assert net.generate(LONG[:1100], 6, cache=held.copy().cut(least)) == uncached("some", 1100)
    assert held.cut(0).tokens == [[]]
    assert net.generate(LONG[:700], 6, cache=held) == uncached("some", 700)
    assert held.cut(600).tokens == [LONG[:600]]


@pytest.mark.parametrize("length", [30, 570, 700, 1100])
def test_rings_are_saved_and_loaded(length: int, tmp_path: Path) -> None:
    net = network()
    held = net.new_cache()
    net.generate(LONG[:length], 4, cache=held)
    path = tmp_path / "prompt.safetensors"
    held.save(path)
    again = Cache.load(path, mx.current_context())
    assert again.tokens == held.tokens
    for further in (length, 1100):
        want = uncached("some", further)
        assert net.generate(LONG[:further], 6, cache=again.copy()) == want
    if length == 1100:
        with pytest.raises(mx.base.MXNetError, match="keep what is in reach only, got 300"):
            again.cut(300)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("rings", "{", "expected rings as JSON"),
        ("rings", [None], "expected rings of 2 layers"),
        ("rings", [[WINDOW, RING], [1, 2]], r"512 longer or more, got \[1, 2\]"),
        ("rings", [[0, RING], None], "512 longer or more"),
        ("rings", [[WINDOW, 10**30 + 0.5], None], "512 longer or more"),
        ("rings", [[WINDOW, RING + 64], None], "expected layer 0 with 1103 rows"),
        ("ends", [3], "an end of 1103 tokens or more, got 3"),
        ("ends", [1 << 40], "an end of 1103 tokens or more"),
        ("ends", [1, 2], "expected ends of 1 rows"),
        ("ends", "nothing", "expected ends of 1 rows"),
        ("tokens", [[1] * 3000], "an end of 3000 tokens"),
        ("tokens", [[1], [2]], r"'0.keys' of shape \(2, heads"),
        ("tokens", [], r"a file of Cache\.save"),
    ],
)
def test_files_whose_rings_do_not_fit_are_refused(
    name: str, value: Any, message: str, tmp_path: Path
) -> None:
    net = network()
    held = net.new_cache()
    net.generate(LONG[:1100], 4, cache=held)
    path = str(tmp_path / "prompt.safetensors")
    held.save(path)
    arrays: Any = mx.nd.load(path)
    metadata = dict(mx.nd.load_metadata(path))
    text = value if isinstance(value, str) and value == "{" else json.dumps(value)
    mx.nd.save(path, arrays, metadata={**metadata, name: text})
    with pytest.raises(mx.base.MXNetError, match=message):
        Cache.load(path)


def test_files_of_rounded_caches_whose_arrays_do_not_fit_are_refused(tmp_path: Path) -> None:
    net = network()
    held = net.new_cache(dtype="int8")
    net.generate(LONG[:9], 4, cache=held)
    path = str(tmp_path / "prompt.safetensors")
    held.save(path)
    arrays: Any = mx.nd.load(path)
    metadata = mx.nd.load_metadata(path)
    for key, changed, message in (
        ("1.key_scales", arrays["1.key_scales"][:, :1], r"'1.key_scales' float32\(1, 2, 12\)"),
        ("0.values", arrays["0.values"].astype("float32"), r"'0.values' .* int8, got float32"),
        ("1.values", arrays["1.values"][:, :, :5], r"'1.values' of shape \(1, heads"),
        ("1.other", arrays["1.values"], r"a file of Cache\.save"),
    ):
        mx.nd.save(path, {**arrays, key: changed}, metadata=metadata)
        with pytest.raises(mx.base.MXNetError, match=message):
            Cache.load(path)


def scores(net: Any, dtype: str | None, length: int, steps: int = 4) -> np.ndarray:
    """Return the scores behind a part of the long text, token by token."""
    held = net.new_cache(1, length + steps, dtype)
    made = [net.runner.read(held, [LONG[:length]]).scores.asnumpy()]
    made += [
        net.runner.step(held, [token]).scores.asnumpy() for token in LONG[length : length + steps]
    ]
    return np.concatenate(made)


@pytest.mark.parametrize(
    ("dtype", "share"), [("bfloat16", 0.02), ("float16", 0.002), ("int8", 0.06)]
)
@pytest.mark.parametrize("length", [9, 700])
def test_scores_with_other_dtypes_are_near_those_with_float32(
    dtype: str, share: float, length: int
) -> None:
    # bfloat16 has 8 bits of each number, int8 steps of 1/127 of the greatest magnitude of a row:
    # rows of 16 numbers are wrong by 0.2 % and 0.4 % of their lengths. Scores of attention reach 10
    # here, so that a weight is wrong by ten times that.
    net = network()
    exact, found = scores(net, None, length), scores(net, dtype, length)
    error = np.linalg.norm(found - exact, axis=-1) / np.linalg.norm(exact, axis=-1)
    assert 0 < error.max() < share


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_batches_with_other_dtypes_get_the_tokens_that_rows_get_alone(dtype: str) -> None:
    net = network()
    prompts = [LONG[:length] for length in (3, 40, 700)]
    alone = [net.generate(prompt, 6, cache_dtype=dtype) for prompt in prompts]
    assert net.generate(prompts, 6, cache_dtype=dtype) == alone
    batch = BatchGenerator(net, max_batch=2, max_new_tokens=6, cache_dtype=dtype)
    found: dict[int, list[int]] = {batch.insert(prompt): [] for prompt in prompts}
    while batch.is_busy:
        for number, token, _ in batch.step():
            found[number].append(token)
    assert list(found.values()) == alone
    assert batch._cache.dtype.name == dtype


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_caches_of_other_dtypes_are_kept_and_saved(dtype: str, tmp_path: Path) -> None:
    net = network()
    held = net.new_cache(dtype=dtype)
    want = [net.generate(LONG[:n], 6, cache_dtype=dtype) for n in (9, 700)]
    assert net.generate(LONG[:9], 6, cache=held) == want[0]
    path = tmp_path / "prompt.safetensors"
    held.save(path)
    again = Cache.load(path, mx.current_context())
    assert again.dtype == held.dtype
    assert net.generate(LONG[:700], 6, cache=again) == want[1]
    assert net.generate(LONG[:700], 6, cache=held, cache_dtype=dtype) == want[1]
    plain = net.new_cache()
    net.generate(LONG[:700], 6, cache=plain)
    assert held.lengths == plain.lengths
    assert held.nbytes == plain.nbytes / 4 * (2 if dtype == "bfloat16" else 1 + 4 / 16)


def test_dtypes_that_do_not_fit_are_refused() -> None:
    net = network()
    for options, message in (
        ({"cache_dtype": "int4"}, "cache_dtype among float32, bfloat16, float16, int8, got 'int4'"),
        ({"cache_dtype": 8}, "cache_dtype among"),
        ({"cache_dtype": ["int8"]}, "cache_dtype among"),
        ({"cache_dtype": "int8", "cache": net.new_cache()}, "cache of cache_dtype 'int8', got one"),
    ):
        with pytest.raises(mx.base.MXNetError, match=message):
            net.generate(LONG[:3], 2, **options)
    with pytest.raises(mx.base.MXNetError, match="a floating dtype or int8, got int32"):
        net.new_cache(dtype="int32")
    batch = BatchGenerator(net)
    with pytest.raises(mx.base.MXNetError, match="cache_dtype in the constructor"):
        batch.insert([1], cache_dtype="int8")


def test_rings_of_windows_leave_room_for_a_piece_and_a_token() -> None:
    assert Ring.of(1).length == 576
    assert Ring.of(512).length == 1024
    assert Ring.of(4096).length == 4608
