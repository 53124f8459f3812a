"""Networks of the zoo on the fast kernels, planned, against the reference kernels one by one."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish.core.config import MXNET_MKLDNN_ENABLED, MXNET_USE_FUSION
from gluonish.ndarray import array
from tests.golden.zoo_values import images, simplify
from tests.model_zoo.networks import distance, filled

SHAPE = (2, 3, 64, 64)
# How far gradients may be off in float32: some ten times what another kernel's round-off makes,
# which switches one or the other unit.
TRAINED = {"resnet18_v1": 0.02, "resnet18_v2": 0.02, "inception_bn": 0.05, "mobilenetv2_0.25": 0.05}


def _run(name: str, dtype: str, hybridize: bool) -> tuple[list[Any], list[Any]]:
    """Return the prediction, and output and gradients of training."""
    net = filled(name, SHAPE, trained=True, change=simplify)
    net.cast(dtype)
    net.hybridize(hybridize, static_alloc=True)
    x = array(images(SHAPE), dtype=dtype)
    predicted = [net(x).asnumpy().astype(np.float32)]
    with autograd.record():
        y = net(x)
    autograd.backward([y], [array(images(y.shape), dtype=dtype)])
    grads = [p.grad() for p in net.collect_params().values() if p.grad_req != "null"]
    return predicted, [v.asnumpy().astype(np.float32) for v in (y, *grads)]


@cache
def _reference(name: str, dtype: str) -> tuple[list[Any], list[Any]]:
    with MXNET_MKLDNN_ENABLED.override(False), MXNET_USE_FUSION.override(False):
        return _run(name, dtype, hybridize=False)


@pytest.mark.parametrize("name", TRAINED)
def test_float32_gives_what_the_reference_kernels_give(name: str) -> None:
    predicted, trained = _reference(name, "float32")
    found_predicted, found_trained = _run(name, "float32", hybridize=True)
    assert distance(found_predicted, predicted) < 1e-4
    assert distance(found_trained[:1], trained[:1]) < 1e-3
    assert distance(found_trained[1:], trained[1:]) < TRAINED[name]


@pytest.mark.parametrize("name", TRAINED)
def test_bfloat16_is_no_further_from_float32_than_the_reference_kernels_are(name: str) -> None:
    exact, narrow = _reference(name, "float32"), _reference(name, "bfloat16")
    found = _run(name, "bfloat16", hybridize=True)
    compared = [slice(0, 1), slice(1, None)]  # the output of training, and the gradients
    if name == "inception_bn":
        # Eight values a channel in its last stage: round-off alone moves the output by 0.4, and the
        # gradients of the reference kernels by as much as they are long. They tell nothing.
        compared.pop()
    pairs = [(found[0], narrow[0], exact[0])]
    pairs += [(found[1][part], narrow[1][part], exact[1][part]) for part in compared]
    for mine, theirs, truth in pairs:
        assert distance(mine, truth) < 1.2 * distance(theirs, truth) + 0.01
