from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.autograd import record
from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.gluon.loss import (
    CosineEmbeddingLoss,
    CTCLoss,
    HingeLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    L2Loss,
    LogisticLoss,
    Loss,
    PoissonNLLLoss,
    SigmoidBCELoss,
    SoftmaxCELoss,
    SquaredHingeLoss,
)


def test_weight_that_is_no_number_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="L2Loss: expected weight to be a number"):
        L2Loss(weight="a")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="L2Loss: expected weight to be a number"):
        L2Loss(weight=nd.array([1.0]))  # type: ignore[arg-type]


def test_weight_zero_is_a_weight() -> None:
    assert L2Loss(weight=0)(nd.ones((2, 3)), nd.zeros((2, 3))).asnumpy().tolist() == [0, 0]


def test_user_may_derive_a_loss() -> None:
    class Cubed(Loss):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(None, 0, **kwargs)

        def hybrid_forward(self, F: ModuleType, pred: Any, label: Any) -> Any:
            return F.mean((pred - label) ** 3, axis=self._batch_axis, exclude=True)

    compute = Cubed(prefix="cubed_")
    assert compute.name == "cubed"
    assert repr(compute) == "Cubed(batch_axis=0, w=None)"
    assert compute(nd.full((2, 3), 3.0), nd.ones((2, 3))).asnumpy().tolist() == [8, 8]


@pytest.mark.parametrize("make", [list, tuple])
def test_sample_weight_silences_samples(make: Callable[..., Any]) -> None:
    result = L2Loss()(nd.ones((2, 3)), nd.zeros((2, 3)), nd.array(make([[1], [0]])))
    np.testing.assert_allclose(result.asnumpy(), [0.5, 0])


# Square on purpose: weights of the last axis would fit as well.
PRED = np.random.default_rng(0).random((3, 3)).astype(np.float32)
SIGN = np.where(np.arange(9).reshape(3, 3) % 2, 1, -1).astype(np.float32)
CLASSES = np.array([0, 2, 1], np.float32)
LOSSES: dict[str, tuple[Loss, tuple[Any, ...]]] = {
    "L1": (L1Loss(), (PRED, PRED.T)),
    "L2": (L2Loss(), (PRED, PRED.T)),
    "Huber": (HuberLoss(), (PRED, PRED.T)),
    "Hinge": (HingeLoss(), (PRED, SIGN)),
    "SquaredHinge": (SquaredHingeLoss(), (PRED, SIGN)),
    "Logistic": (LogisticLoss(), (PRED, SIGN)),
    "SigmoidBCE": (SigmoidBCELoss(), (PRED, PRED.T)),
    "SoftmaxCE": (SoftmaxCELoss(), (PRED, CLASSES)),
    "SoftmaxCE of logits": (SoftmaxCELoss(from_logits=True), (PRED, CLASSES)),
    "SoftmaxCE of vectors": (SoftmaxCELoss(sparse_label=False), (PRED, PRED.T)),
    "KLDiv": (KLDivLoss(), (PRED, PRED.T)),
    "CosineEmbedding": (CosineEmbeddingLoss(), (PRED, PRED.T, SIGN[0])),
    "CTC": (CTCLoss(), (np.ones((3, 4, 5), np.float32), np.ones((3, 2), np.float32), None, None)),
}
WEIGHTS = np.array([1, 2, 5], np.float32)


@pytest.mark.parametrize("way", ["imperative", "hybridized", "np", "symbol"])
@pytest.mark.parametrize("name", LOSSES)
def test_each_sample_has_its_own_weight(name: str, way: str) -> None:
    compute, given = LOSSES[name]
    expected = compute(*(None if x is None else nd.array(x) for x in given)).asnumpy()
    expected = expected * WEIGHTS.reshape((3,) + (1,) * (expected.ndim - 1))
    for shape in ((3,), (3, 1)):
        arrays = [None if x is None else nd.array(x) for x in (*given, WEIGHTS.reshape(shape))]
        if way == "symbol":
            names = [None if x is None else f"x{i}" for i, x in enumerate(arrays)]
            output = compute(*(None if word is None else sym.var(word) for word in names))
            values = {w: x for w, x in zip(names, arrays, strict=True) if w is not None}
            found = output.eval(**values)[0]
        elif way == "np":
            found = compute(*(None if x is None else x.as_np_ndarray() for x in arrays))
        else:
            compute.hybridize(way == "hybridized")
            found = compute(*arrays)
            compute.hybridize(False)
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5)


def test_the_mean_over_the_batch_weighs_each_sample_too() -> None:
    pred, target = nd.array(PRED), nd.array(PRED.T)
    found = PoissonNLLLoss()(pred, target, nd.array(WEIGHTS))
    each = np.exp(PRED) - PRED.T * PRED
    np.testing.assert_allclose(found.asnumpy(), [(each * WEIGHTS[:, None]).mean()], rtol=1e-5)


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_samples_on_another_axis_have_their_own_weights(shape: tuple[int, ...]) -> None:
    compute = L2Loss(batch_axis=1)
    found = compute(nd.array(PRED), nd.zeros((3, 3)), nd.array(WEIGHTS.reshape(shape)))
    np.testing.assert_allclose(found.asnumpy(), (PRED**2 / 2).mean(0) * WEIGHTS, rtol=1e-5)


def test_gradients_are_those_of_weighted_samples() -> None:
    pred, weight = nd.array(PRED), nd.array(WEIGHTS)
    pred.attach_grad()
    weight.attach_grad()
    with record():
        loss = L2Loss()(pred, nd.zeros((3, 3)), weight)
    loss.backward()
    np.testing.assert_allclose(pred.grad.asnumpy(), PRED * WEIGHTS[:, None] / 3, rtol=1e-5)
    np.testing.assert_allclose(weight.grad.asnumpy(), (PRED**2 / 2).mean(1), rtol=1e-5)


def test_weights_that_are_not_of_the_samples_are_refused_with_the_shape_that_is_meant() -> None:
    message = r"L2Loss.*expected one weight for each of 4 samples, \(4,\)"
    with pytest.raises(OperatorError, match=message):
        L2Loss()(nd.ones((4, 3)), nd.ones((4, 3)), nd.ones((3,)))


def test_weights_of_a_symbol_survive_its_file() -> None:
    names = ["pred", "label", "weight"]
    output = sym.load_json(L2Loss()(*map(sym.var, names)).tojson())
    given = (PRED, 0 * PRED, WEIGHTS)
    values = {word: nd.array(x) for word, x in zip(names, given, strict=True)}
    expected = (PRED**2 / 2).mean(1) * WEIGHTS
    np.testing.assert_allclose(output.eval(**values)[0].asnumpy(), expected, rtol=1e-5)


def test_under_the_name_mxnet_weights_broadcast_to_the_last_axis() -> None:
    follow_mxnet(True)
    try:
        found = L2Loss()(nd.array(PRED), nd.zeros((3, 3)), nd.array(WEIGHTS))
    finally:
        follow_mxnet(False)
    np.testing.assert_allclose(found.asnumpy(), (PRED**2 / 2 * WEIGHTS).mean(1), rtol=1e-5)
