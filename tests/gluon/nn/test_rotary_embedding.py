"""nn.RotaryEmbedding: transformers' values, positions, devices, dtypes and refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, GluonishError

_GOLDEN = np.load(Path(__file__).resolve().parents[2] / "golden" / "transformer_operators.npz")
nn = mx.gluon.nn
_LLAMA3 = {
    "base": 5e5,
    "scaling": "llama3",
    "factor": 8,
    "low_freq_factor": 1,
    "high_freq_factor": 4,
    "original_max_position_embeddings": 512,
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(("case", "kwargs"), [("default", {}), ("llama3", _LLAMA3)])
def test_the_layer_is_that_of_transformers(
    case: str, kwargs: dict[str, Any], hybridize: bool
) -> None:
    net = nn.RotaryEmbedding(**kwargs)
    net.hybridize(hybridize)
    wanted = _GOLDEN[f"rotary-{case}.y"]
    for device in (mx.cpu(0), mx.cpu(1)):
        x = mx.nd.array(_GOLDEN[f"rotary-{case}.x0"], ctx=device)
        for positions in ((), (mx.nd.arange(48, ctx=device),)):
            got = net(x, *positions)
            assert got.context == device
            assert np.abs(got.asnumpy() - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_a_step_at_its_position_is_the_step_of_the_whole() -> None:
    net = nn.RotaryEmbedding(layout="NTHC")
    net.hybridize()
    x = mx.nd.random.normal(shape=(2, 9, 3, 8))
    whole = net(x).asnumpy()
    for t in range(9):
        step = net(x[:, t : t + 1], mx.nd.array([t])).asnumpy()
        np.testing.assert_array_equal(step, whole[:, t : t + 1])


def test_products_depend_on_distances() -> None:
    net = nn.RotaryEmbedding()
    q, k = (mx.nd.random.normal(shape=(1, 1, 1, 16)) for _ in "qk")
    scores = [
        (net(q, mx.nd.array([first])) * net(k, mx.nd.array([first + 3]))).sum().asscalar()
        for first in (0, 5, 500)
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-4, atol=1e-5)


def test_16_bits_are_rotated_in_float32() -> None:
    x = mx.nd.random.normal(shape=(1, 2, 300, 64))
    net = nn.RotaryEmbedding()
    net.cast("bfloat16")
    exact = net(x).asnumpy()
    got = net(x.astype("bfloat16"))
    assert got.dtype == x.astype("bfloat16").dtype
    difference = np.abs(got.astype("float32").asnumpy() - exact)
    assert difference.max() < 2.0**-7 * np.abs(exact).max()


def test_there_is_nothing_to_save(tmp_path: Path) -> None:
    net = nn.RotaryEmbedding()
    net.save_parameters(str(tmp_path / "x.params"))
    net.load_parameters(str(tmp_path / "x.params"))
    assert list(net.collect_params()) == []


def test_the_repr_says_what_is_not_default() -> None:
    assert repr(nn.RotaryEmbedding()) == "RotaryEmbedding()"
    shown = repr(nn.RotaryEmbedding(32, base=5e5, scaling="linear", factor=2))
    assert shown == "RotaryEmbedding(dim=32, base=500000.0, scaling=linear, factor=2)"


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"pairing": "thirds"}, "expected pairing among halves, neighbours, got 'thirds'"),
        ({"layout": "NT"}, "expected layout among NHTC, NTHC, TNHC, got 'NT'"),
        ({"scaling": "longer"}, "expected scaling among none, linear, dynamic, llama3, yarn"),
    ],
)
def test_other_choices_are_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=f"RotaryEmbedding: {message}"):
        nn.RotaryEmbedding(**kwargs)


@pytest.mark.parametrize("hybridize", [False, True])
def test_negative_positions_are_refused(hybridize: bool) -> None:
    net = nn.RotaryEmbedding()
    net.hybridize(hybridize)
    with pytest.raises(GluonishError, match="expected positions of at least 0, got -1"):
        net(mx.nd.ones((1, 2, 8, 64)), mx.nd.arange(8) - 1).asnumpy()
