"""LinearCrossEntropyLoss: Dense and SoftmaxCrossEntropyLoss in one; options of the latter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.errors import ArgumentError, OperatorIndexError
from gluonish.gluon import nn

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((4, 6, 16)).astype(np.float32)
LABEL = RANDOM.integers(0, 700, (4, 6))


def step(net: Any, *inputs: Any) -> Any:
    with autograd.record():
        loss = net(*inputs)
    loss.backward()
    return loss


@pytest.mark.parametrize("hybrid", [None, {}, {"static_alloc": True, "static_shape": True}])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("use_bias", [False, True])
def test_equals_dense_and_softmax_cross_entropy(
    hybrid: Any, reduction: str, use_bias: bool
) -> None:
    dense = nn.Dense(700, use_bias=use_bias, flatten=False, in_units=16)
    dense.initialize(mx.init.Normal(0.5))
    loss = gluon.loss.LinearCrossEntropyLoss(700, use_bias, reduction=reduction)
    loss.initialize()
    plain = gluon.loss.SoftmaxCrossEntropyLoss(batch_axis=0)
    ours, other, label = nd.array(X), nd.array(X), nd.array(LABEL)
    for x in (ours, other):
        x.attach_grad()
    if hybrid is not None:
        loss.hybridize(**hybrid)
    loss(ours, label)  # infers the shape of the weight
    loss.weight.set_data(dense.weight.data())
    step(loss, ours, label)
    found = step(loss, ours, label)
    with autograd.record():
        rows = plain(dense(other).reshape((-1, 700)), label.reshape(-1))
        want = {"none": rows.reshape((4, 6)), "mean": rows.mean(), "sum": rows.sum()}[reduction]
    want.backward()
    np.testing.assert_allclose(found.asnumpy(), want.asnumpy(), rtol=1e-5)
    pairs = [(ours.grad, other.grad), (loss.weight.grad(), dense.weight.grad())]
    if loss.bias is not None and dense.bias is not None:
        pairs.append((loss.bias.grad(), dense.bias.grad()))
    for a, b in pairs:
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=0, atol=2e-5)


def test_the_weight_is_shared_with_an_embedding() -> None:
    embedding = nn.Embedding(700, 16)
    loss = gluon.loss.LinearCrossEntropyLoss(700, in_units=16, params=embedding.params)
    embedding.initialize()
    assert loss.weight is embedding.weight
    step(lambda label: loss(embedding(label), label), nd.array(LABEL))
    assert embedding.weight.grad().asnumpy().any()


@pytest.mark.parametrize("hybrid", [False, True])
def test_smoothing_ignored_labels_and_z_loss(hybrid: bool) -> None:
    label = LABEL.copy()
    label[1, 2:] = -1
    options = {"ignore_label": -1, "label_smoothing": 0.1, "z_loss": 1e-3}
    loss = gluon.loss.SoftmaxCrossEntropyLoss(**options)
    if hybrid:
        loss.hybridize()
    scores = RANDOM.standard_normal((4, 6, 700)).astype(np.float32)
    found = loss(nd.array(scores), nd.array(label)).asnumpy()
    x = scores.astype(np.float64)
    log_sum = np.log(np.exp(x).sum(-1, keepdims=True))
    target = np.eye(700)[np.maximum(label, 0)] * 0.9 + 0.1 / 700
    rows = -((x - log_sum) * target).sum(-1) + 1e-3 * log_sum[..., 0] ** 2
    np.testing.assert_allclose(found, (rows * (label >= 0)).mean(1), rtol=1e-5)
    assert loss(nd.array(scores), nd.array(label), nd.zeros(4)).asnumpy().tolist() == [0.0] * 4


def test_numpy_arrays() -> None:
    loss = gluon.loss.LinearCrossEntropyLoss(700)
    plain = gluon.loss.SoftmaxCrossEntropyLoss(label_smoothing=0.1)
    with mx.util.np_array(True):
        loss.initialize()
        found = loss(mx.np.array(X), mx.np.array(LABEL))
        assert isinstance(found, mx.np.ndarray)
        assert plain(mx.np.array(X), mx.np.array(LABEL % 16)).shape == (4,)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits(dtype: str) -> None:
    loss = gluon.loss.LinearCrossEntropyLoss(700, in_units=16)
    loss.initialize(mx.init.Normal(0.5))
    exact = loss(nd.array(X), nd.array(LABEL)).asscalar()
    loss.cast(dtype)
    x = nd.array(X, dtype=dtype)
    x.attach_grad()
    found = step(loss, x, nd.array(LABEL))
    assert found.dtype == np.float32
    assert found.asscalar() == pytest.approx(exact, rel=1e-2)
    assert loss.weight.grad().dtype == x.dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_labels_stay_whole_in_mixed_precision(dtype: str) -> None:
    """Labels above 2048 are rounded in 16 bits."""
    net = gluon.loss.LinearCrossEntropyLoss(5000, in_units=16)
    net.initialize(mx.init.Normal(1))
    net.hybridize()
    label = nd.array(np.full((4, 6), 4099), dtype="float32")
    exact = net(nd.array(X), label).asscalar()
    narrow = mx.contrib.amp.convert_hybrid_block(net, dtype)
    assert narrow(nd.array(X), label).asscalar() == pytest.approx(exact, rel=2e-2)


def test_two_devices() -> None:
    loss = gluon.loss.LinearCrossEntropyLoss(700, in_units=16)
    loss.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    for i in (0, 1):
        x, label = (nd.array(a, ctx=mx.cpu(i)) for a in (X, LABEL))
        assert step(loss, x, label).context == mx.cpu(i)
    a, b = (g.asnumpy() for g in loss.weight.list_grad())
    np.testing.assert_array_equal(a, b)


def test_saved_and_loaded(tmp_path: Path) -> None:
    loss, other = (gluon.loss.LinearCrossEntropyLoss(9, True, in_units=16) for _ in range(2))
    loss.initialize()
    loss.save_parameters(str(tmp_path / "loss.params"))
    other.load_parameters(str(tmp_path / "loss.params"))
    for x in (loss, other):
        assert repr(x) == "LinearCrossEntropyLoss(16 -> 9)"
    found = [x(nd.array(X), nd.array(LABEL % 9)).asscalar() for x in (loss, other)]
    assert found[0] == found[1]


def test_refusals() -> None:
    make = gluon.loss.LinearCrossEntropyLoss
    with pytest.raises(ArgumentError, match="expected classes of 1 or more, got 0"):
        make(0)
    with pytest.raises(ArgumentError, match=r"expected reduction .* got 'batch'"):
        make(3, reduction="batch")
    wrongs: Any = ({"sparse_label": False}, {"from_logits": True}, {"axis": 1})
    for wrong in wrongs:
        with pytest.raises(ArgumentError, match=r"expected sparse_label=True.* with z_loss"):
            gluon.loss.SoftmaxCrossEntropyLoss(z_loss=0.1, **wrong)
    loss = make(9, in_units=16)
    loss.initialize()
    loss.hybridize()
    with pytest.raises(OperatorIndexError, match=r"expected labels in \[0, 9\), got"):
        loss(nd.array(X), nd.array(LABEL)).wait_to_read()
