"""Dropout whose factors are drawn again from a stored key: programs, and layers in all modes."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    GLUONISH_CUDA_VECTORS,
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.core.dtype import INT64
from gluonish.core.spec import Spec
from gluonish.ops.fused.pointwise import FUSED_POINTWISE_RANDOM, Instruction, Program
from gluonish.ops.nn.dropout import DROPOUT, DROPOUT_FACTORS, DROPOUT_KEYED
from gluonish.ops.registry import find_operator
from tests.checking.values import KEY
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = [COMPILED, pytest.mark.timeout(180)]

SHAPES = [(1,), (5,), (3, 7), (4, 40), (2, 3, 64), (3, 1000)]
_MULTIPLY, _ADD = find_operator("broadcast_mul"), find_operator("broadcast_add")


def normal(shape: Any, dtype: Any, seed: int = 3) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_those_of_dropout(device: OneDevice, shape: Any, dtype: Any, p: float) -> None:
    data = normal(shape, dtype)
    out, mask = device.run(DROPOUT, data, p=p, mode="always")
    found, drawn = device.run(DROPOUT_KEYED, data, p=p)
    np.testing.assert_array_equal(found, out)
    assert drawn.tolist() == list(KEY)
    attrs = {"p": p, "shape": shape, "dtype": np.dtype(dtype).name}
    (again,) = device.run(DROPOUT_FACTORS, drawn, **attrs)
    np.testing.assert_array_equal(again, mask)
    assert device.launches_of(DROPOUT_KEYED, data, p=p) == 1
    assert device.launches_of(DROPOUT_FACTORS, drawn, **attrs) == 1


def program(shape: Any, dtype: Any) -> Program:
    """Return ``drop(x) * old(k) + old(l)``, with its new key before and behind other outputs."""
    spec = {"shape": shape, "dtype": np.dtype(dtype)}
    return Program(
        3,  # x, k and l
        [
            Instruction(DROPOUT_KEYED, (0,), {"p": 0.4}),  # 3, 4
            Instruction(DROPOUT_FACTORS, (1,), {"p": 0.3, **spec}),  # 5
            Instruction(_MULTIPLY, (3, 5), {}),  # 6
            Instruction(DROPOUT_FACTORS, (2,), {"p": 0.2, **spec}),  # 7
            Instruction(_ADD, (6, 7), {}),  # 8
        ],
        [8, 3, 4],
    )


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 7), (2, 3, 64), (2, 8, 3, 5)])
def test_several_dropouts_in_one_program(
    device: OneDevice, shape: Any, dtype: Any, last: bool, vectors: bool
) -> None:
    x = device.upload(normal(shape, dtype))
    if last and len(shape) == 4:  # in another order of memory
        x = device.upload(normal((shape[0], *shape[2:], shape[1]), dtype)).transpose(0, 3, 1, 2)
    keys = [np.array(key, np.int64) for key in ((5, 1), (-(2**62), 77))]
    made = program(shape, dtype)
    specs = [Spec(shape, np.dtype(dtype)), *[Spec((2,), INT64)] * 2]
    attrs = {"num_args": 3, "program": made, "key": KEY}
    out, dropped = (device.upload(np.zeros(shape, dtype)) for _ in range(2))
    drawn = device.upload(np.zeros(2, np.int64))
    with GLUONISH_CUDA_VECTORS.override(vectors):
        fast = FUSED_POINTWISE_RANDOM.select_fast("gpu", specs, attrs)
        assert fast is not None
        inputs = (x, *map(device.upload, keys))
        before = device.launches
        fast.kernel(device.cupy, (out, dropped, drawn), *inputs, **attrs)
        assert device.launches == before + 1
    values = np.ascontiguousarray(x._raw)
    wanted, _ = device.run(DROPOUT, values, p=0.4, mode="always")
    np.testing.assert_array_equal(dropped._raw, wanted)
    assert drawn._raw.tolist() == list(KEY)
    attrs = {"shape": shape, "dtype": np.dtype(dtype).name}
    one, other = (
        device.run(DROPOUT_FACTORS, key, p=p, **attrs)[0]
        for key, p in zip(keys, (0.3, 0.2), strict=True)
    )
    product = (wanted.astype(np.float64) * one).astype(dtype)
    total = (product.astype(np.float64) + other.astype(np.float64)).astype(dtype)
    np.testing.assert_array_equal(out._raw, total)


class Net(mx.gluon.HybridBlock):
    """Dense layers with dropouts: one that branches, two in a row, shared axes, always."""

    def __init__(self, p: float) -> None:
        super().__init__()
        nn = mx.gluon.nn
        self.one, self.two = (nn.Dense(24, in_units=24, flatten=False) for _ in range(2))
        self.drop = nn.Dropout(p)
        self.shared = nn.Dropout(p, axes=(1,))

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # Gluon's name
        y = self.drop(F.relu(self.one(x)))
        y = self.drop(y) * self.drop(F.tanh(y))
        y = self.shared(self.two(y)) + F.Dropout(x, p=0.25, mode="always")
        return self.drop(y) + y


def net(p: float, dtype: str, **options: Any) -> Any:
    mx.random.seed(3)
    made = Net(p)
    made.initialize(mx.init.Normal(0.3), ctx=mx.gpu(0))
    made.cast(dtype)
    made.hybridize(**options)
    return made


_STATIC = {"static_alloc": True, "static_shape": True}
_OFF = frozenset({"redraw_masks"})


def run(
    made: Any, dtype: str, req: str = "write", train: bool = True, steps: int = 4
) -> list[list[Any]]:
    """Return outputs, and gradients of data and parameters, of some steps."""
    found = []
    mx.random.seed(9)
    parameters = made.collect_params().values()
    for parameter in parameters:
        parameter.grad_req = req
    x = nd.array(normal((3, 5, 24), np.float32), ctx=mx.gpu(0)).astype(dtype)
    x.attach_grad(grad_req=req)
    for _ in range(steps):
        with autograd.record(train_mode=train):
            y = made(x)
        y.backward()
        arrays = (y, x.grad, *[p.grad() for p in parameters])
        found.append([a.astype("float32").asnumpy() for a in arrays])
    return found


def same(got: Any, want: Any) -> None:
    for ours, theirs in zip(got, want, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_layers_have_the_same_bits_with_stored_masks(
    machine: Machine, dtype: str, graphs: bool, streams: int
) -> None:
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(streams),
        MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        found = run(net(0.3, dtype, **_STATIC), dtype)
        same(found, run(net(0.3, dtype, **_STATIC), dtype))
        assert len({x[0].tobytes() for x in found}) == len(found)  # drawn anew
        with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
            same(found, run(net(0.3, dtype, **_STATIC), dtype))


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("p", [0.0, 0.3])
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("req", ["write", "add"])
def test_modes(gpu: Machine, p: float, mirror: bool, req: str, train: bool) -> None:
    with MXNET_BACKWARD_DO_MIRROR.override(mirror):
        found = run(net(p, "float32"), "float32", req, train)
        with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
            same(found, run(net(p, "float32"), "float32", req, train))
    same(found, run(net(p, "float32"), "float32", req, train))


def test_without_fusion_masks_are_stored(gpu: Machine) -> None:
    found = run(net(0.3, "float32"), "float32")
    with MXNET_DISABLED_GRAPH_PASSES.override(frozenset({"fuse_pointwise"})):
        wanted = run(net(0.3, "float32"), "float32")
    for one, other in zip(found, wanted, strict=True):  # tanh is another function
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_symbol_executors(gpu: Machine) -> None:
    def outputs() -> list[Any]:
        x = mx.sym.Variable("x")
        out = mx.sym.Dropout(mx.sym.tanh(mx.sym.Dropout(x, p=0.3)), p=0.4)
        bound = out.simple_bind(mx.gpu(0), x=(4, 40), grad_req="add")
        bound.arg_arrays[0][:] = normal((4, 40), np.float32)
        mx.random.seed(1)
        for _ in range(2):
            bound.forward(is_train=True)
            bound.backward(nd.array(normal((4, 40), np.float32, 4), ctx=mx.gpu(0)))
        return [[a.asnumpy() for a in (*bound.outputs, *bound.grad_arrays)]]

    found = outputs()
    with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
        same(found, outputs())
