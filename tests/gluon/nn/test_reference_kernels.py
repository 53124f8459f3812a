"""Every layer and loss, on batches large enough for all fast kernels, against reference kernels."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import random as mx_random
from gluonish.core.config import MXNET_MKLDNN_ENABLED, MXNET_USE_FUSION
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray import NDArray, array
from tests.gluon.nn.rows import LAYERS, LOSSES, Row

ALL = {
    f"{name}-{i}": row for name, rows in {**LAYERS, **LOSSES}.items() for i, row in enumerate(rows)
}
BATCH = 160
# Euclidean distance, as a part of the expected array's length. In bfloat16 each operator rounds to
# 8 bits, and a fused one rounds once.
BOUNDS = {"float32": 2e-5, "bfloat16": 0.03}
# oneDNN adds up a convolution's bias gradient in float32 while it reads for that of the weight, and
# so MXNet does (1e-4 for sums that nearly cancel); a pass of its own would cost time.
CONVOLUTION_BIAS = 2e-4


def fill(name: str, values: NDArray) -> None:
    """Initialize by the shape alone, so that blocks made apart are equal."""
    wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
    values[:] = array(np.abs(wave) + 0.5 if name.endswith("_var") else wave * 0.5)


def results(block: HybridBlock, row: Row, dtype: str, train: bool) -> dict[str, Any]:
    """Run twice, and return all that can be seen of the second time, in float64."""
    for _ in range(2):
        values = row.inputs(np.random.default_rng(4), BATCH)
        inputs = [array(x, dtype=dtype) for x in values]
        for x in inputs[: row.differentiable]:
            x.attach_grad()
        mx_random.seed(7)
        with autograd.record(train_mode=train):
            output = block(*inputs)
        parameters = block._collect_params_with_prefix()
        trained = {path: p for path, p in parameters.items() if p.grad_req != "null"}
        if row.differentiable or trained:
            head = np.cos(np.arange(output.size) * 0.7).reshape(output.shape)
            autograd.backward([output], [array(head, dtype=output.dtype)], train_mode=train)
    found = {
        "output": output,
        **{f"input {i}": x.grad for i, x in enumerate(inputs[: row.differentiable])},
        **{f"gradient of {path}": p.grad() for path, p in trained.items()},
        **{path: p.data() for path, p in parameters.items()},
    }
    return {key: x.asnumpy().astype(np.float64) for key, x in found.items()}


def made(row: Row, dtype: str) -> HybridBlock:
    block = row.make(True)
    for parameter in block.collect_params().values():
        parameter.initialize(init=fill)
    block.cast(dtype)
    return block


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("name", ALL)
def test_fast_kernels_give_what_the_reference_kernels_give(
    name: str, dtype: str, train: bool
) -> None:
    row = ALL[name]
    fast = made(row, dtype)
    fast.hybridize(static_alloc=True)
    found = results(fast, row, dtype, train)
    with MXNET_MKLDNN_ENABLED.override(False), MXNET_USE_FUSION.override(False):
        expected = results(made(row, dtype), row, dtype, train)
    assert found.keys() == expected.keys()
    for key, want in expected.items():
        scale = want
        if key.endswith("key.bias"):  # 0 but for rounding: it shifts all scores of a query alike
            scale = expected[f"{key.removesuffix('bias')}weight"]
        length = max(float(np.linalg.norm(scale)), 1e-3 * np.sqrt(want.size))
        bound = BOUNDS[dtype]
        if name.startswith("Conv") and key == "gradient of bias":
            bound = max(bound, CONVOLUTION_BIAS)
        assert np.linalg.norm(found[key] - want) <= bound * length, key
