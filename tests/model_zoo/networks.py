"""Networks of the zoo with seeded weights, what they compute, and how far results are apart."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gluonish import autograd
from gluonish.core.context import Context
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.model_zoo.registry import get_model
from gluonish.ndarray import array, zeros
from tests.golden.zoo_values import images, values

__all__ = ["EXACT", "SWITCHED", "TRAINED", "check_close", "distance", "filled", "trained"]

# Among so many units, the round-off of another kernel switches one or the other, and all gradients
# before that unit move; those of the last layer do not.
EXACT, SWITCHED = 2e-5, 0.1
# How far gradients may be off where batches give the statistics: ten times what a change of the
# image in the seventh digit makes, and more.
TRAINED = {
    "resnet18_v1": 1e-3,
    "vgg11_bn": 1e-3,
    "inception_bn": 1e-2,
    "mobilenet0.25": 0.05,
    "densenet121": 0.05,
}


@lru_cache(maxsize=1)
def _drawn(name: str) -> dict[tuple[str, tuple[int, ...]], Any]:
    """The values drawn so far for the network that was filled last, by path and shape."""
    return {}


def filled(
    name: str,
    shape: tuple[int, ...],
    trained: bool = False,
    change: Callable[[Block], None] = lambda layer: None,
    ctx: Context | None = None,
) -> HybridBlock:
    """A network with the weights that follow from the parameters' paths."""
    net = get_model(name)
    net.apply(change)
    net.infer_shape(zeros(shape))
    drawn = _drawn(name)
    for path, parameter in net._collect_params_with_prefix().items():
        assert parameter.shape is not None
        if not trained:
            parameter.grad_req = "null"
        parameter.initialize(init="zeros", ctx=ctx)
        at = path, parameter.shape
        if at not in drawn:
            drawn[at] = values(name, *at)
        parameter.set_data(array(drawn[at]))
    return net


def check_close(found: Any, expected: Any, what: str, tolerance: float = 1e-5) -> None:
    """Compare within a part of the largest expected number."""
    scale = np.abs(expected).max()
    assert np.isfinite(scale), what
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale, err_msg=what)


def distance(found: list[Any], expected: list[Any]) -> float:
    """Return how far arrays are apart, in the Euclidean norm, as a part of the expected ones."""
    pairs = zip(found, expected, strict=True)
    apart = sum(float(np.square(a - b, dtype=np.float64).sum()) for a, b in pairs)
    return float(np.sqrt(apart / sum(np.square(b, dtype=np.float64).sum() for b in expected)))


def trained(net: HybridBlock, shape: tuple[int, ...], ctx: Context | None = None) -> dict[str, Any]:
    """Output, gradients and moved statistics of one call, by name."""
    x = array(images(shape), ctx=ctx)
    x.attach_grad()
    with autograd.record():
        y = net(x)
    autograd.backward([y], [array(images(y.shape), ctx=ctx)])
    assert x.grad is not None
    found = {"output": y.asnumpy(), "input": x.grad.asnumpy()}
    for path, parameter in net._collect_params_with_prefix().items():
        moved = parameter.grad_req == "null"
        found[path] = (parameter.data() if moved else parameter.grad()).asnumpy()
    return found
