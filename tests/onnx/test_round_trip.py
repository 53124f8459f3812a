"""What is exported and comes back computes the same, bit for bit where no operator was replaced."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from tests.onnx.exporting.subjects import LAYERS, LOSSES, RECURRENT, build, network

# In ONNX these are several operators, or one that counts otherwise; what comes back is those.
REPLACED = frozenset(
    (
        *("GlobalAvgPool1D", "GlobalAvgPool3D", "AvgPool2D-ceil", "LayerNorm-axis", "GroupNorm"),
        *("RMSNorm", "RMSNorm-axis", "GELU-tanh", "GELU-sigmoid"),
        *("RotaryEmbedding", "RotaryEmbedding-part", "RotaryEmbedding-positions"),
        *("swiglu", "swiglu-both", "geglu", "geglu-tanh"),
        *("CTCLoss", "CTCLoss-lengths", "LSTM-projected", "LSTMCell", "GRUCell", "ResidualCell"),
        *("BidirectionalCell", "LSTMPCell"),
        *("MultiHeadAttention", "MultiHeadAttention-grouped", "MultiHeadAttention-memory"),
        "MultiHeadAttention-rotary",
        *("TransformerEncoder", "TransformerDecoder", "MixtureOfExperts"),
    )
)
SUBJECTS = {**LAYERS, **LOSSES, **RECURRENT}


def _returned(path: Path, block: Any, arrays: list[Any]) -> Any:
    shapes = [x.shape for x in arrays]
    mx.onnx.export_model(block, None, shapes, np.float32, str(path))
    return mx.contrib.onnx.import_to_gluon(str(path), mx.cpu())


def _outputs(net: Any, arrays: list[Any]) -> list[Any]:
    made = net(*[mx.nd.array(x) for x in arrays])
    return [y.asnumpy() for y in (made if isinstance(made, list | tuple) else [made])]


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_comes_back_computes_the_same(name: str, tmp_path: Path) -> None:
    make, arrays = SUBJECTS[name]
    block, wanted = build(make, arrays)
    got = _outputs(_returned(tmp_path / "x.onnx", block, arrays), arrays)
    for a, b in zip(got, wanted, strict=True):
        if name in REPLACED:
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["cifar_resnet20_v1", "mobilenetv2_0.25", "resnet18_v2"])
def test_a_network_of_the_zoo_comes_back_bit_for_bit(name: str, tmp_path: Path) -> None:
    block, arrays, wanted = network(name)
    net = _returned(tmp_path / "x.onnx", block, arrays)
    net.hybridize()
    np.testing.assert_array_equal(_outputs(net, arrays)[0], wanted[0])


def test_a_network_that_came_back_trains_on(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    pictures = np.asarray(random.random((8, 3, 32, 32)), np.float32)
    labels = mx.nd.array(random.integers(0, 4, 8))
    block, _, _ = network("cifar_resnet20_v1", classes=4)
    net = _returned(tmp_path / "x.onnx", block, [pictures])
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
    loss = mx.gluon.loss.SoftmaxCELoss()
    losses = []
    for _ in range(8):
        with mx.autograd.record():
            found = loss(net(mx.nd.array(pictures)), labels).mean()
        found.backward()
        trainer.step(1)
        losses.append(float(found.asscalar()))
    assert losses[-1] < 0.7 * losses[0]
