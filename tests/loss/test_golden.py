"""Every loss and its gradients against MXNet 1.9.1; tests/golden/loss/make.py wrote them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd, loss

CASES = json.loads((Path(__file__).parents[1] / "golden" / "loss" / "loss.json").read_text("utf-8"))
HYBRID = [case for case in CASES if case["loss"] != "SDMLLoss"]


def ids(case: dict[str, Any]) -> str:
    return f"{case['loss']}-{case['arguments']}"


def check(case: dict[str, Any], hybrid: bool) -> None:
    compute = getattr(loss, case["loss"])(**case["arguments"])
    if hybrid:
        compute.hybridize()
    inputs = [None if values is None else nd.array(values) for values in case["inputs"]]
    wanted = inputs[: len(case["gradients"])]
    for x in wanted:
        x.attach_grad()
    with autograd.record():
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
