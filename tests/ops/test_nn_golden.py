"""Operators of neural networks against results of MXNet 1.9.1 (tests/golden/make_nn_ops.py)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.ops.nn.activation
import gluonish.ops.nn.convolution
import gluonish.ops.nn.deconvolution
import gluonish.ops.nn.embedding
import gluonish.ops.nn.leaky_relu
import gluonish.ops.nn.pooling
import gluonish.ops.nn.softmax
import gluonish.ops.normalization.batch_norm
import gluonish.ops.normalization.batch_norm_relu
import gluonish.ops.normalization.group_norm
import gluonish.ops.normalization.layer_norm
import gluonish.ops.outputs.softmax_output  # noqa: F401  # imported for what they register
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.core.spec import Spec
from gluonish.ops.registry import Operator, find_operator
from gluonish.ops.support.composite import input_gradients
from tests.checking.values import ArrayValue

_FILE = np.load(Path(__file__).parents[1] / "golden" / "nn_ops.npz")
GOLDEN = {name: _FILE[name] for name in _FILE.files}
CASES = json.loads(str(GOLDEN["cases"]))


def _run(op: Operator, inputs: list[Any], attrs: dict[str, Any]) -> list[Any]:
    specs = op.infer(*[Spec(x.shape, x.dtype) for x in inputs], **attrs)
    outputs = [
        np.full(spec.shape, np.nan if spec.dtype.kind == "f" else 0, spec.dtype) for spec in specs
    ]
    runtime = dict(attrs)
    if op.train_dependent:
        runtime["train"] = True
    if op.random:
        runtime["key"] = (1, 0)
    op.kernel(np, outputs[0] if op.single else tuple(outputs), *inputs, **runtime)
    return outputs


@pytest.fixture(autouse=True)
def _rules(request: pytest.FixtureRequest) -> Iterator[None]:
    call = getattr(request.node, "callspec", None)
    looks_up = call is not None and call.params["case"][1] == "Embedding"
    before = follow_mxnet(looks_up)  # by whose rules ids outside the table are clipped
    yield
    follow_mxnet(before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]}-{case[0]}")
def test_results_and_gradients_are_those_of_mxnet(case: list[Any]) -> None:
    name, operator, given, count, differentiable = case
    op = find_operator(operator)
    attrs = op.schema.parse(operator, given)
    inputs = [GOLDEN[f"{name}.in{i}"].copy() for i in range(count)]
    outputs = _run(op, inputs, attrs)
    for i in range(op.num_visible(attrs)):
        np.testing.assert_allclose(outputs[i], GOLDEN[f"{name}.out{i}"], rtol=2e-5, atol=2e-5)
    for i, position in enumerate(op.mutated_inputs(attrs)):
        np.testing.assert_allclose(inputs[position], GOLDEN[f"{name}.moved{i}"], rtol=1e-5)
    heads = [ArrayValue(GOLDEN[f"{name}.head"]), *[None] * (len(outputs) - 1)]
    wanted = [i in differentiable for i in range(count)]
    found = input_gradients(
        op, heads, [*map(ArrayValue, inputs)], [*map(ArrayValue, outputs)], attrs, wanted
    )
    for i in differentiable:
        np.testing.assert_allclose(found[i].array, GOLDEN[f"{name}.grad{i}"], rtol=5e-5, atol=2e-5)


def test_every_operator_of_the_family_has_golden_results() -> None:
    assert {case[1] for case in CASES} == {
        "Activation",
        "BatchNorm",
        "Convolution",
        "Deconvolution",
        "Embedding",
        "GroupNorm",
        "InstanceNorm",
        "LayerNorm",
        "LeakyReLU",
        "Pooling",
        "SoftmaxOutput",
        "_contrib_BatchNormWithReLU",
        "log_softmax",
        "softmax",
        "softmin",
    }
