"""Every layer and loss: hybridized equals imperative, on all kernels, engines and devices."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish import random as mx_random
from gluonish.core.config import MXNET_MKLDNN_ENABLED
from gluonish.core.context import Context, cpu
from gluonish.core.errors import NotSupportedError
from gluonish.engine import use_engine
from gluonish.gluon import loss, nn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib import cnn as contrib_cnn
from gluonish.gluon.contrib import nn as contrib_nn
from gluonish.ndarray import NDArray, array
from tests.gluon.nn.rows import CONTRIB, LAYERS, LOSSES, Row
from tests.gluon.rnn.rows import RECURRENT

ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
ALL = {
    f"{name}-{i}": row
    for name, rows in {**LAYERS, **CONTRIB, **LOSSES, **RECURRENT}.items()
    for i, row in enumerate(rows)
}
HEADS = np.random.default_rng(11).standard_normal(20000).astype(np.float32)
# Both modes with gradients, and a call that records nothing.
MODES = ("train", "predict", "plain")
CALLS = ((3, 0), (3, 1), (5, 2), (3, 3))

Results = dict[str, Any]


def fill(name: str, values: NDArray) -> None:
    """Initialize by the shape alone, so that blocks made apart are equal."""
    wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
    values[:] = array(np.abs(wave) + 0.5 if name.endswith("_var") else wave * 0.5)


def made(row: Row, known: bool, ctx: Any = None, **options: Any) -> HybridBlock:
    block = row.make(known)
    for parameter in block.collect_params().values():
        parameter.initialize(init=fill, ctx=ctx)
    if options:
        block.hybridize(**options)
    return block


def call(block: HybridBlock, row: Row, values: list[Any], mode: str, ctx: Context) -> Results:
    """Run once and return all that can be seen of it."""
    inputs = [array(value, ctx) for value in values]
    for x in inputs[: row.differentiable]:
        x.attach_grad()
    mx_random.seed(7, ctx)
    if mode == "plain":
        return {"output": block(*inputs).asnumpy()}
    with autograd.record(train_mode=mode == "train"):
        output = block(*inputs)
    head = array(HEADS[: output.size].reshape(output.shape), ctx)
    parameters = block._collect_params_with_prefix()
    trained = {path: p for path, p in parameters.items() if p.grad_req != "null"}
    if row.differentiable or trained:
        autograd.backward([output], [head], train_mode=mode == "train")
    return {
        "output": output.asnumpy(),
        **{f"input {i}": x.grad.asnumpy() for i, x in enumerate(inputs[: row.differentiable])},
        **{f"gradient of {path}": p.grad(ctx).asnumpy() for path, p in trained.items()},
        **{path: p.data(ctx).asnumpy() for path, p in parameters.items()},
    }


def check_equal(found: Results, expected: Results, tolerance: float, what: str) -> None:
    assert found.keys() == expected.keys(), what
    for name, value in expected.items():
        assert found[name].dtype == value.dtype, (what, name)
        assert value.dtype in (np.float32, np.int8), (what, name)
        np.testing.assert_allclose(
            found[name], value, rtol=tolerance, atol=tolerance, err_msg=f"{what}: {name}"
        )


def check_calls(row: Row, one: HybridBlock, two: HybridBlock, tolerance: float = 1e-5) -> None:
    """Call two blocks with other data each time, in all modes, and compare."""
    for n, seed in CALLS:
        values = row.inputs(np.random.default_rng(seed), n)
        for mode in MODES:
            found = call(two, row, values, mode, cpu())
            check_equal(found, call(one, row, values, mode, cpu()), tolerance, f"{mode} {n}")


def hybrid_layers(module: ModuleType) -> dict[str, type[HybridBlock]]:
    layers = [getattr(module, name) for name in module.__all__]
    return {layer.__name__: layer for layer in layers if issubclass(layer, HybridBlock)}


def test_every_hybrid_layer_and_loss_has_a_row() -> None:
    layers = hybrid_layers(nn)
    contrib = hybrid_layers(contrib_nn) | hybrid_layers(contrib_cnn)
    assert set(LAYERS) == set(layers)
    assert set(CONTRIB) == {name for name, layer in contrib.items() if layers.get(name) != layer}
    assert set(LOSSES) == set(loss.__all__) - {"SDMLLoss"}


def test_loss_that_needs_the_batch_size_is_not_hybridized() -> None:
    compute = loss.SDMLLoss()
    compute.hybridize()
    with pytest.raises(NotSupportedError, match="SDMLLoss: expected NDArrays"):
        compute(nd.ones((2, 3)), nd.ones((2, 3)))


@pytest.mark.parametrize("static_alloc", [False, True])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_hybridized_equals_imperative(name: str, known: bool, static_alloc: bool) -> None:
    row = ALL[name]
    check_calls(row, made(row, known), made(row, known, static_alloc=static_alloc))


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_reference_kernels_equal_onednn(name: str, hybridize: bool) -> None:
    row = ALL[name]
    fast, plain = (made(row, True, active=hybridize) for _ in range(2))
    for n, seed in CALLS[:2]:
        values = row.inputs(np.random.default_rng(seed), n)
        for mode in MODES:
            found = call(fast, row, values, mode, cpu())
            with MXNET_MKLDNN_ENABLED.override(False):
                expected = call(plain, row, values, mode, cpu())
            check_equal(found, expected, 1e-4, mode)


@pytest.mark.parametrize("name", ALL)
def test_each_of_several_devices_equals_one(name: str) -> None:
    row, devices = ALL[name], [cpu(0), cpu(1)]
    several = made(row, False, devices, static_alloc=True)
    singles = [made(row, False) for _ in devices]  # running statistics move on each device apart
    for n, seed in CALLS[:2]:
        for i, device in enumerate(devices):
            values = row.inputs(np.random.default_rng(seed + 10 * i), n)
            for mode in ("train", "predict"):
                found = call(several, row, values, mode, device)
                expected = call(singles[i], row, values, mode, cpu())
                check_equal(found, expected, 1e-5, f"{device} {mode}")


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("name", ALL)
def test_engines_agree(name: str, kind: str) -> None:
    row = ALL[name]
    values = row.inputs(np.random.default_rng(3), 4)
    with use_engine(kind):
        one, two = made(row, False), made(row, False, static_alloc=True)
        found = [call(block, row, values, "train", cpu()) for block in (one, two)]
    with use_engine("NaiveEngine"):
        expected = call(made(row, False), row, values, "train", cpu())
    for results in found:
        check_equal(results, expected, 1e-5, kind)
