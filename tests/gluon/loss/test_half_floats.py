"""Losses in float16 at probabilities of 0 and 1, where their epsilon is 0."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd, gluon, nd

LOSSES = {
    "KLDivLoss": ({}, [[-1.0, -2, -3]], [[0.0, 0, 1]]),
    "SigmoidBCELoss": ({"from_sigmoid": True}, [[0.0, 1, 0.5]], [[0.0, 1, 1]]),
    "PoissonNLLLoss": ({"from_logits": False}, [[0.0, 1]], [[0.0, 0]]),
}


def _run(name: str, dtype: str, hybridize: bool) -> tuple[Any, Any]:
    attrs, pred, label = LOSSES[name]
    x, y = (nd.array(v, dtype=dtype) for v in (pred, label))
    x.attach_grad()
    loss = getattr(gluon.loss, name)(**attrs)
    loss.hybridize(hybridize)
    with autograd.record():
        found = loss(x, y)
    found.backward()
    return found.asnumpy(), x.grad.asnumpy()


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_float16_is_near_float64(name: str, hybridize: bool) -> None:
    narrow, exact = _run(name, "float16", hybridize), _run(name, "float64", hybridize)
    for got, want in zip(narrow, exact, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_an_epsilon_that_is_not_0_is_only_added(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []
    monkeypatch.setattr(nd.NDArray, "__eq__", lambda *args: compared.append(args))
    found = _run(name, dtype, hybridize=False)
    assert not compared
    monkeypatch.undo()
    for eager, graph in zip(found, _run(name, dtype, hybridize=True), strict=True):
        np.testing.assert_allclose(eager, graph, rtol=1e-6)


def test_a_probability_of_0_for_what_is_true_has_a_finite_loss() -> None:
    loss = gluon.loss.SigmoidBCELoss(from_sigmoid=True)
    found = loss(nd.zeros((1, 1), dtype="float16"), nd.ones((1, 1), dtype="float16"))
    assert 16 < float(found.asscalar()) < 17


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_cosines_of_zero_vectors_have_finite_gradients(dtype: str, hybridize: bool) -> None:
    loss = gluon.loss.CosineEmbeddingLoss()
    loss.hybridize(hybridize)
    a, b = nd.zeros((2, 3), dtype=dtype), nd.array([[0, 0, 0], [0, 0, 1]], dtype=dtype)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        found = loss(a, b, nd.array([1, -1], dtype=dtype))
    found.backward()
    assert found.asnumpy().ravel().tolist() == [1, 0]
    assert np.isfinite(a.grad.asnumpy()).all()
    assert not b.grad.asnumpy().any()
