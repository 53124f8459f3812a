"""Attention by cuDNN: in graphs of a layer, and on arrays directly."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_CUDNN_ENABLED,
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.core.spec import Spec
from gluonish.kernels.cupy import cudnn, cudnn_attention
from gluonish.kernels.cupy.random_numbers import store_key
from gluonish.ops.attention.scaled_dot_product import ATTENTION, ATTENTION_BACKWARD, MASKED
from gluonish.ops.kernel import RefusedError
from tests.checking.values import spec_of
from tests.kernels.cupy import cudnn_attention_double
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, OneDevice

pytestmark = [COMPILED, pytest.mark.timeout(120)]

_HEADS, _UNITS, _LENGTH = 2, 32, 5


class Layer(mx.gluon.HybridBlock):
    """Self-attention with two heads, in the usual operators."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.project = mx.gluon.nn.Dense(3 * _UNITS, flatten=False, in_units=_UNITS)
        self.drop = mx.gluon.nn.Dropout(dropout)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # Gluon's name
        q, k, v = (self._split(F, part) for part in F.split(self.project(x), 3, axis=2))
        weights = F.softmax(F.batch_dot(q, k, transpose_b=True) * 0.25)
        mixed = F.batch_dot(self.drop(weights), v)
        mixed = F.reshape(mixed, shape=(-4, -1, _HEADS, 0, 0))
        return F.reshape(F.transpose(mixed, axes=(0, 2, 1, 3)), shape=(0, 0, -3))

    def _split(self, F: Any, x: Any) -> Any:  # Gluon's name
        x = F.transpose(F.reshape(x, shape=(0, 0, _HEADS, -1)), axes=(0, 2, 1, 3))
        return F.reshape(x, shape=(-3, 0, 0))


def layer(dtype: str, dropout: float = 0.0) -> Any:
    """Return a layer on a GPU with weights that are always the same."""
    mx.random.seed(3)
    net = Layer(dropout)
    net.initialize(mx.init.Normal(0.3), ctx=mx.gpu(0))
    net.cast(dtype)
    return net


def run(net: Any, steps: int = 5, dtype: str = "bfloat16") -> list[tuple[Any, ...]]:
    """Return outputs, and gradients of data and weight, of some steps."""
    found = []
    random = np.random.default_rng(7)
    mx.random.seed(9)
    factors = nd.array(random.standard_normal((3, _LENGTH, _UNITS)), ctx=mx.gpu(0)).astype(dtype)
    for _ in range(steps):
        x = nd.array(random.standard_normal((3, _LENGTH, _UNITS)), ctx=mx.gpu(0)).astype(dtype)
        x.attach_grad()
        with autograd.record():
            y = net(x)
            loss = (y * factors).sum()
        loss.backward()
        weight = net.project.weight.grad()
        arrays = (y, x.grad, weight)
        found.append(tuple(a.astype("float32").asnumpy() for a in arrays))
    return found


# Attributes of the gradient, but for the dropout.
BACKWARD = {**ATTENTION_BACKWARD.schema.defaults, "scale": 0.3}
del BACKWARD["dropout"]


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_hybridized_layer_computes_the_same_by_cudnn(
    machine: Machine, dtype: str, graphs: bool, streams: int
) -> None:
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(streams),
        MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        net = layer(dtype)
        expected = run(net, dtype=dtype)
        before = machine.cudnn.built  # type: ignore[attr-defined]  # of the double
        net.hybridize(static_alloc=True, static_shape=True)
        got = run(net, dtype=dtype)
        assert machine.cudnn.built == before + 2  # type: ignore[attr-defined]
        for ours, theirs in zip(got, expected, strict=True):
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=0.03 * np.abs(b).max())


def test_layer_needs_fewer_launches(gpu: Machine) -> None:
    def launches() -> int:
        net = layer("bfloat16", dropout=0.2)
        net.hybridize(static_alloc=True, static_shape=True)
        run(net)
        before = gpu.counts.launches
        run(net, steps=1)
        return gpu.counts.launches - before

    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        fused = launches()
        with MXNET_DISABLED_GRAPH_PASSES.override(frozenset({"fuse_attention"})):
            separate = launches()
    assert separate - fused >= 9


@pytest.mark.parametrize("graphs", [False, True])
def test_dropout_draws_anew_each_step_and_the_same_in_equal_runs(
    machine: Machine, graphs: bool
) -> None:
    with (
        MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):

        def outputs() -> list[Any]:
            net = layer("bfloat16", dropout=0.5)
            net.hybridize(static_alloc=True, static_shape=True)
            mx.random.seed(5)
            x = nd.array(np.random.default_rng(1).standard_normal((3, 5, _UNITS)), ctx=mx.gpu(0))
            x = x.astype("bfloat16")
            found = []
            for _ in range(6):
                x.attach_grad()
                with autograd.record():
                    y = net(x)
                y.backward()
                found.append(
                    np.stack([y.astype("f4").asnumpy().sum(), x.grad.astype("f4").asnumpy().sum()])
                )
            return found

        first, second = outputs(), outputs()
        np.testing.assert_array_equal(first, second)
        assert len({tuple(x) for x in map(tuple, first)}) == 6


def test_without_cudnn_the_parts_run(gpu: Machine) -> None:
    with MXNET_CUDNN_ENABLED.override(False):
        net = layer("bfloat16")
        expected = run(net)
        net.hybridize(static_alloc=True, static_shape=True)
        got = run(net)
    assert not gpu.cudnn.built  # type: ignore[attr-defined]
    np.testing.assert_allclose(got[0][0], expected[0][0], rtol=0, atol=0.02)


def attention_of(device: OneDevice, arrays: Sequence[Any], p: float = 0.0, key: Any = None) -> Any:
    """Return the outputs of cuDNN's kernel for queries, keys and values."""
    q, k, v = arrays
    attrs = {**ATTENTION.schema.defaults, "scale": 0.3, "dropout": p, "mode": "always"}
    specs = ATTENTION.infer(spec_of(q._raw), spec_of(k._raw), spec_of(v._raw), **attrs)
    outputs = tuple(device.cupy.empty(*spec) for spec in specs)
    attrs["train"] = False
    cudnn_attention.attention(device.cupy, outputs, q, k, v, key=key, **attrs)
    return outputs


@pytest.mark.parametrize("stack", [(3,), (2, 3)])
@pytest.mark.parametrize("p", [0.0, 0.4])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_gradient_is_that_of_the_forward_pass(
    device: OneDevice, dtype: Any, p: float, stack: tuple[int, ...]
) -> None:
    """By differences of the forward pass along random directions."""
    shapes = [(*stack, 7, 16), (*stack, 9, 16), (*stack, 9, 8)]
    arrays = [device.normal(*shape, dtype=dtype) for shape in shapes]
    key = (3, 8) if p else None
    outputs = attention_of(device, arrays, p, key)
    grad = device.normal(*stack, 7, 8, dtype=dtype)
    made = tuple(device.cupy.empty(x.shape, x.dtype) for x in arrays)
    cudnn_attention.backward(device.cupy, made, grad, *arrays, *outputs, **BACKWARD, dropout=p)
    step = 2.0**-3 if dtype == ml_dtypes.bfloat16 else 2.0**-5
    for i, array in enumerate(arrays):
        values = array._raw.astype(np.float64)
        direction = device.random.choice([-1.0, 1.0], array.shape)
        sides = []
        for sign in (1, -1):
            moved = list(arrays)
            moved[i] = device.upload((values + sign * step * direction).astype(dtype))
            out = attention_of(device, moved, p, key)[0]._raw.astype(np.float64)
            actual = moved[i]._raw.astype(np.float64) - values
            sides.append(((out * grad._raw.astype(np.float64)).sum(), (actual * direction).mean()))
        slope = (sides[0][0] - sides[1][0]) / (sides[0][1] - sides[1][1])
        along = (made[i]._raw.astype(np.float64) * direction).sum()
        scale = np.abs(made[i]._raw.astype(np.float64)).sum()
        assert abs(slope - along) <= 0.05 * scale, (i, slope, along)


def _hiding(device: OneDevice, case: str, stack: tuple[int, ...], dtype: Any) -> Any:
    """Return attributes and inputs that hide keys of 7 queries and 9 keys, or 9 if causal."""
    random = np.random.default_rng(3)
    masks = {
        "keys": (stack[0], *[1] * len(stack), 9),
        "queries": (stack[0], *[1] * (len(stack) - 1), 7, 9),
        "heads": (1, *stack[1:], 7, 9),
        "all": (*stack, 7, 9),
    }
    lengths = np.array([[7, 0, 7], [9, 1, 4]], np.int32)
    attrs: dict[str, Any] = {"causal": "causal" in case}
    rest = []
    if case in masks:
        values = np.where(random.random(masks[case]) < 0.4, MASKED, random.random(masks[case]))
        values[..., 0] = 0.0
        rest.append(values.astype(dtype))
    if "lengths" in case:
        rest.append(lengths)
    attrs |= {"use_mask": case in masks, "use_length": "lengths" in case, "bounded": True}
    return attrs, [device.upload(x) for x in rest]


_HIDINGS = ["keys", "queries", "heads", "all", "lengths", "causal", "causal lengths"]


@pytest.mark.parametrize("version", [92500, 91000])
@pytest.mark.parametrize("stack", [(3,), (3, 2)])
@pytest.mark.parametrize("case", _HIDINGS)
def test_hidden_keys_are_those_of_the_reference(
    device: OneDevice, case: str, stack: tuple[int, ...], version: int
) -> None:
    dtype = np.dtype(ml_dtypes.bfloat16)
    device.machine.cudnn.version = version  # type: ignore[attr-defined]  # of the double
    attrs, rest = _hiding(device, case, stack, dtype)
    queries = 9 if case == "causal lengths" else 7
    q, k, v = (
        device.normal(*stack, n, width, dtype=dtype)
        for n, width in ((queries, 16), (9, 16), (9, 8))
    )
    specs = [spec_of(x._raw) for x in (q, k, v, *rest)]
    attrs = {**BACKWARD, "dropout": 0.0, **attrs}
    made = [
        tuple(device.cupy.empty(*s) for s in ATTENTION.infer(*specs, **attrs)) for _ in range(2)
    ]
    more = {"mode": "always", "train": False}
    cudnn_attention.attention(device.cupy, made[0], q, k, v, *rest, **attrs, **more)
    ATTENTION.kernel(device.cupy, made[1], q, k, v, *rest, **attrs, **more)
    got, want = (np.asarray(x[0]._raw, np.float64) for x in made)
    np.testing.assert_allclose(got, want, rtol=2e-2, atol=2e-2 * np.abs(want).max())
    grad = device.normal(*stack, queries, 8, dtype=dtype)
    results = [tuple(device.cupy.empty(x.shape, x.dtype) for x in (q, k, v)) for _ in range(2)]
    operands = (grad, q, k, v, *made[0], *rest)
    cudnn_attention.backward(device.cupy, results[0], *operands, **attrs)
    ATTENTION_BACKWARD.kernel(device.cupy, results[1], *operands, **attrs)
    for ours, reference in zip(*results, strict=True):
        got, want = (np.asarray(x._raw, np.float64) for x in (ours, reference))
        np.testing.assert_allclose(got, want, rtol=0, atol=2e-2 * np.abs(want).max())


def test_mask_of_keys_is_copied_where_there_is_no_plan_for_its_strides(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    dtype = np.dtype(np.float16)
    q, k, v = (device.normal(2, 3, 8, dtype=dtype) for _ in range(3))
    mask = device.upload(np.array([[[0, MASKED, 0]], [[1, 0, 0]]], dtype))

    defaults = ATTENTION.schema.defaults

    def result() -> Any:
        outputs = tuple(
            device.cupy.empty(*s)
            for s in ATTENTION.infer(*(spec_of(x._raw) for x in (q, k, v)), **defaults)
        )
        attrs = {**defaults, "train": False, "use_mask": True, "bounded": True}
        cudnn_attention.attention(device.cupy, outputs, q, k, v, mask, **attrs)
        return outputs[0]._raw

    expected = result()
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    opened.plans.clear()
    is_supported = cudnn_attention_double.Attention.is_supported

    def dense_only(self: Any) -> bool:
        return is_supported(self) and 0 not in self.hidden.bias.stride

    monkeypatch.setattr(cudnn_attention_double.Attention, "is_supported", dense_only)
    np.testing.assert_array_equal(result(), expected)


@pytest.mark.parametrize("p", [0.0, 0.4])
def test_reference_computes_the_same(device: OneDevice, p: float) -> None:
    """Without dropout the same numbers; with it as many, since cuDNN draws others."""
    arrays = [device.normal(2, 64, 16, dtype=np.float16) for _ in range(3)]
    key = (3, 8) if p else None
    out, log_sum, _ = attention_of(device, arrays, p, key)
    specs = [spec_of(x._raw) for x in arrays]
    attrs = {**ATTENTION.schema.defaults, "scale": 0.3, "dropout": p, "mode": "always"}
    outputs = tuple(device.cupy.empty(*s) for s in ATTENTION.infer(*specs, **attrs))
    ATTENTION.kernel(device.cupy, outputs, *arrays, **attrs, train=False, key=key)
    np.testing.assert_allclose(log_sum._raw, outputs[1]._raw, rtol=1e-3, atol=1e-3)
    if not p:
        np.testing.assert_allclose(out._raw, outputs[0]._raw, rtol=5e-3, atol=5e-3)


def test_views_of_a_projection_are_read_in_place(device: OneDevice) -> None:
    projected = device.normal(2, 5, 3, 2, 16, dtype=np.float16)
    q, k, v = (projected[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    attention_of(device, (q, k, v))  # builds the plan
    before = device.launches
    out = attention_of(device, (q, k, v))[0]
    assert device.launches == before + 1
    copies = [device.upload(np.ascontiguousarray(x._raw)) for x in (q, k, v)]
    np.testing.assert_array_equal(out._raw, attention_of(device, copies)[0]._raw)


def test_rows_that_are_not_contiguous_are_copied(device: OneDevice) -> None:
    q, k, v = (device.normal(2, 16, 5, dtype=np.float16).swapaxes(1, 2) for _ in range(3))
    out = attention_of(device, (q, k, v))[0]
    copies = [device.upload(np.ascontiguousarray(x._raw)) for x in (q, k, v)]
    np.testing.assert_array_equal(out._raw, attention_of(device, copies)[0]._raw)


def test_unaligned_arrays_get_a_plan_for_them(device: OneDevice) -> None:
    flat = device.normal(3 * 2 * 5 * 16 + 1, dtype=np.float16)[1:]
    q, k, v = (flat[160 * i : 160 * (i + 1)].reshape(2, 5, 16) for i in range(3))
    out = attention_of(device, (q, k, v))[0]
    copies = [device.upload(np.array(x._raw)) for x in (q, k, v)]
    np.testing.assert_array_equal(out._raw, attention_of(device, copies)[0]._raw)


@pytest.mark.parametrize(
    ("attrs", "shapes", "dtypes"),
    [
        ({"window": 2}, [], []),
        ({"softcap": 2.0}, [], []),
        ({"use_mask": True}, [(1, 1, 7, 9)], ["bfloat16"]),
        ({"use_mask": True, "bounded": True}, [(1, 1, 7, 9)], ["float32"]),
        ({"use_mask": True, "bounded": True}, [(1, 1, 7, 1)], ["bfloat16"]),
        ({"use_length": True, "bounded": True}, [(3,)], ["int32"]),
        ({"use_length": True}, [(2, 3)], ["int32"]),
    ],
)
def test_what_would_be_nan_or_unknown_to_cudnn_is_not_tried(
    attrs: Any, shapes: Any, dtypes: Any
) -> None:
    kind = np.dtype(ml_dtypes.bfloat16)
    q, k = Spec((3, 2, 7, 16), kind), Spec((3, 2, 9, 16), kind)
    others = [Spec(x, np.dtype(y)) for x, y in zip(shapes, dtypes, strict=True)]
    attrs = {**ATTENTION.schema.defaults, **attrs}
    assert not cudnn_attention.supports(q, k, k, *others, **attrs)
    assert cudnn_attention.supports(q, k, k, **ATTENTION.schema.defaults)
    shared, causal = Spec((3, 1, 9, 16), kind), {**ATTENTION.schema.defaults, "causal": True}
    assert not cudnn_attention.supports(q, shared, shared, **ATTENTION.schema.defaults)
    assert not cudnn_attention.supports(k, q, q, **causal)


@pytest.mark.parametrize("width", [12, 136])
def test_what_cudnn_refuses_is_not_tried(device: OneDevice, width: int) -> None:
    q, k, v = (device.normal(1, 3, width, dtype=np.float16) for _ in range(3))
    assert not cudnn_attention.supports(*(spec_of(x._raw) for x in (q, k, v)))
    with pytest.raises(RefusedError, match="expected an engine for this attention, got none"):
        attention_of(device, (q, k, v))


def test_key_is_stored_as_it_was_drawn(device: OneDevice) -> None:
    stored = device.cupy.empty((2,), np.int64)
    store_key(device.cupy, stored, (2**64 - 5, 2**40))
    assert stored._raw.view(np.uint64).tolist() == [2**64 - 5, 2**40]


def test_gradient_has_as_many_kernels() -> None:
    assert len(ATTENTION.fast_kernels) == len(ATTENTION_BACKWARD.fast_kernels)


@pytest.mark.parametrize("static", [False, True])
def test_operands_are_views_of_the_projection_in_both_passes(gpu: Machine, static: bool) -> None:
    net = layer("bfloat16")
    net.hybridize(static_alloc=static, static_shape=static)
    run(net)
    names: list[str] = []
    for graph in net._graphs.values():
        for plan in graph._cached._plans.values():
            for part in (plan.forward, plan.backward):
                names += [x.op.name for x in part.layout.instructions]
    assert names.count(ATTENTION.name) == names.count(ATTENTION_BACKWARD.name) == 1
    assert not {"transpose", "SliceChannel", "Concat"} & {*names}


def test_operands_that_are_inputs_are_moved_once(gpu: Machine) -> None:
    class Attention(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, q: Any, k: Any, v: Any) -> Any:
            q, k, v = (F.transpose(x, axes=(1, 0, 2)) for x in (q, k, v))
            return F.batch_dot(F.softmax(F.batch_dot(q, k, transpose_b=True)), v)

    def results(hybridize: bool) -> list[Any]:
        net = Attention()
        if hybridize:
            net.hybridize(static_alloc=True, static_shape=True)
        random = np.random.default_rng(7)
        arrays = [
            nd.array(random.standard_normal((5, 4, 8)), ctx=mx.gpu(0)).astype("float16")
            for _ in range(3)
        ]
        for _ in range(3):
            for x in arrays:
                x.attach_grad()
            with autograd.record():
                y = net(*arrays)
                loss = (y * y).sum()
            loss.backward()
        if hybridize:
            (graph,) = net._graphs.values()
            (plan,) = graph._cached._plans.values()
            moved = [x.op.name for x in plan.backward.layout.instructions]
            assert moved.count("transpose") <= 3  # those of the gradients
        return [x.astype("float32").asnumpy() for x in (y, *(a.grad for a in arrays))]

    for got, want in zip(results(True), results(False), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=0.01 * np.abs(want).max())
