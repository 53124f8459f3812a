"""Every loss and its gradients against MXNet 1.9.1; tests/golden/loss/make.py wrote them."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.ndarray as nd
from gluonish import autograd, util
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.gluon import loss
from gluonish.numpy import array as np_array
from gluonish.numpy import ndarray

CASES = json.loads((Path(__file__).parents[2] / "golden" / "loss" / "loss.json").read_text("utf-8"))
HYBRID = [case for case in CASES if case["loss"] != "SDMLLoss"]


@pytest.fixture(autouse=True)
def _rules(case: dict[str, Any]) -> Iterator[None]:
    """Follow MXNet where it gives samples of an array the weights of its last axis."""
    weight = case["inputs"][2:3]
    mixes = case["loss"] == "SoftmaxCrossEntropyLoss" and weight and np.ndim(weight[0]) == 1
    before = follow_mxnet(bool(mixes))
    yield
    follow_mxnet(before)


def ids(case: dict[str, Any]) -> str:
    return f"{case['loss']}-{case['arguments']}"


def expects_warning(case: dict[str, Any]) -> AbstractContextManager[Any]:
    """Expect a warning where classes are out of range; MXNet counts them as the nearest class."""
    on_cpu = mx.current_context().device_type == "cpu"  # numbers on a GPU are not looked at
    if not case["loss"].startswith("SoftmaxC") or not on_cpu:
        return nullcontext()
    scores, labels = (np.array(values) for values in case["inputs"][:2])
    classes = scores.shape[case["arguments"].get("axis", -1)]
    wrong = int(((labels < 0) | (labels >= classes)).sum())
    if not wrong:
        return nullcontext()
    return pytest.warns(UserWarning, match=f"{wrong} of {labels.size} are out of range")


def check(case: dict[str, Any], hybrid: bool) -> None:
    compute = getattr(loss, case["loss"])(**case["arguments"])
    if hybrid:
        compute.hybridize()
    inputs = [None if values is None else nd.array(values) for values in case["inputs"]]
    wanted = inputs[: len(case["gradients"])]
    for x in wanted:
        x.attach_grad()
    with autograd.record(), expects_warning(case):
        result = compute(*inputs)
    autograd.backward([result])
    np.testing.assert_allclose(result.asnumpy(), case["output"], rtol=2e-5, atol=1e-6)
    for x, gradient in zip(wanted, case["gradients"], strict=True):
        np.testing.assert_allclose(x.grad.asnumpy(), gradient, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_eager_loss_and_gradients_equal_mxnet(case: dict[str, Any]) -> None:
    check(case, hybrid=False)


@pytest.mark.parametrize("case", HYBRID, ids=ids)
def test_hybridized_loss_and_gradients_equal_mxnet(case: dict[str, Any]) -> None:
    check(case, hybrid=True)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_loss_prints_as_in_mxnet(case: dict[str, Any]) -> None:
    assert repr(getattr(loss, case["loss"])(**case["arguments"])) == case["text"]


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_numpy_arrays_give_the_same_loss(case: dict[str, Any], hybrid: bool) -> None:
    """Most losses of MXNet refuse them."""
    if hybrid and case not in HYBRID:
        pytest.skip("it needs the batch size")
    compute = getattr(loss, case["loss"])(**case["arguments"])
    if hybrid:
        compute.hybridize()
    with util.np_shape(True), util.np_array(True), expects_warning(case):
        inputs = [None if values is None else np_array(values) for values in case["inputs"]]
        result = compute(*inputs)
    assert isinstance(result, ndarray)
    np.testing.assert_allclose(result.asnumpy(), case["output"], rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 2e-5), ("float16", 3e-2)])
@pytest.mark.parametrize("case", CASES, ids=ids)
def test_loss_has_the_type_of_the_prediction(
    case: dict[str, Any], dtype: str, tolerance: float
) -> None:
    compute = getattr(loss, case["loss"])(**case["arguments"])
    inputs = [None if v is None else nd.array(v, dtype=dtype) for v in case["inputs"]]
    with expects_warning(case):
        result = compute(*inputs)
    assert result.dtype == np.dtype(dtype).type
    np.testing.assert_allclose(result.asnumpy(), case["output"], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", HYBRID, ids=ids)
def test_gradient_in_float64_is_the_slope(case: dict[str, Any]) -> None:
    compute = getattr(loss, case["loss"])(**case["arguments"])
    inputs = [None if v is None else nd.array(v, dtype="float64") for v in case["inputs"]]
    x = inputs[0]
    x.attach_grad()
    with autograd.record(), expects_warning(case):
        result = compute(*inputs)
    result.backward()
    direction = nd.array(np.random.default_rng(1).standard_normal(x.shape), dtype="float64")
    sides = [compute(x + step * direction, *inputs[1:]).sum().asscalar() for step in (1e-6, -1e-6)]
    slope = (x.grad * direction).sum().asscalar()
    assert slope == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-5, abs=1e-7)
