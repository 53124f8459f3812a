"""Convolutions by cuDNN on the double: values of the reference kernels, in one launch."""

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
)
from gluonish.gluon import nn
from gluonish.kernels.cupy import convolution, cudnn, cudnn_graph
from gluonish.ops.fused.operator import FUSED_CONVOLUTION
from gluonish.ops.kernel import RefusedError
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from gluonish.ops.registry import Operator
from tests.checking.values import run_kernel, runtime_attrs, spec_of
from tests.kernels.cupy.arrays import allocate
from tests.kernels.cupy.one_device import COMPILED, OneDevice
from tests.ops.operator_runs import calls_of

OPERATORS = (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
    DECONVOLUTION,
)
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32]
WINDOWS: dict[str, dict[str, Any]] = {
    "3x3": {"kernel": (3, 3), "pad": (1, 1)},
    "1x1": {"kernel": (1, 1)},
    "1x1 in steps": {"kernel": (1, 1), "stride": (2, 2)},
    "uneven": {"kernel": (3, 2), "stride": (2, 1), "dilate": (1, 2), "pad": (0, 3)},
    "all": {"kernel": (7, 6)},
    "rows": {"kernel": (3,), "stride": (2,), "pad": (1,), "dilate": (2,)},
    "space": {"kernel": (3, 2, 2), "stride": (1, 2, 1), "pad": (1, 0, 1)},
}
NUMBERS = np.random.default_rng(5)


ALONE = pytest.mark.usefixtures("by_cudnn_alone")


@pytest.fixture
def by_cudnn_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing else compute what cuDNN is to compute."""
    for name in ("_Windows", "multiply"):
        monkeypatch.setattr(convolution, name, None)


def _normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(dtype)


def _calls(
    window: str, dtype: Any = np.float32, groups: int = 1, last: bool = False
) -> list[tuple[Operator, list[np.ndarray], dict[str, Any]]]:
    """A forward pass with a bias, without, and the operators of its gradient."""
    kernel = WINDOWS[window]["kernel"]
    extents, per_group = ((9,) if len(kernel) == 1 else (7, 6, 5)[: len(kernel)]), 4 // groups
    layout = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[len(kernel)] if last else None
    shape = (2, *extents, 4) if last else (2, 4, *extents)
    filters = (6, *kernel, per_group) if last else (6, per_group, *kernel)
    data, weight = _normal(*shape, dtype=dtype), _normal(*filters, dtype=dtype)
    bias = _normal(6, dtype=dtype)
    attrs = {**WINDOWS[window], "num_filter": 6, "num_group": groups, "layout": layout}
    (out,) = CONVOLUTION.infer(
        *map(spec_of, (data, weight, bias)), **CONVOLUTION.schema.parse("Convolution", attrs)
    )
    grad, alone = _normal(*out.shape, dtype=dtype), {**attrs, "no_bias": True}
    of_weight = {**alone, "weight_shape": weight.shape}
    return [
        (CONVOLUTION, [data, weight, bias], attrs),
        (CONVOLUTION, [data, weight], alone),
        (CONVOLUTION_BACKWARD_DATA, [grad, weight], {**alone, "data_shape": data.shape}),
        (CONVOLUTION_BACKWARD_WEIGHT, [grad, data], of_weight),
        (CONVOLUTION_BACKWARD_WEIGHT_BIAS, [grad, data], of_weight),
    ]


@ALONE
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("window", WINDOWS)
def test_convolution_and_gradients_are_those_of_the_reference(
    device: OneDevice, window: str, groups: int, last: bool
) -> None:
    for op, inputs, attrs in _calls(window, groups=groups, last=last):
        device.check(op, *inputs, **attrs)


@ALONE
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_every_call_of_an_operator_is_that_of_the_reference(device: OneDevice, op: Any) -> None:
    done = 0
    for call in calls_of(op.name):
        specs = [spec_of(x) for x in call.inputs]
        fast = op.select_fast("gpu", specs, call.attrs)
        if fast is None or not fast.name.startswith("cupy.cudnn_"):
            assert specs[0].dtype not in DTYPES
            continue
        wanted = call.run()
        outputs = [allocate(device.machine, y.shape, y.dtype) for y in wanted]
        inputs = [device.upload(x) for x in call.inputs]
        fast.kernel(device.cupy, outputs[0] if op.single else outputs, *inputs, **call.runtime)
        for got, want in zip(outputs, wanted, strict=True):
            tolerance = 2e-2 if want.dtype.itemsize == 2 else 1e-4
            np.testing.assert_allclose(
                got._raw.astype(float), want.astype(float), rtol=tolerance, atol=tolerance
            )
        done += 1
    assert done >= 3


@ALONE
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("last", [False, True])
def test_every_type_is_computed_in_both_layouts(device: OneDevice, dtype: Any, last: bool) -> None:
    for op, inputs, attrs in _calls("3x3", dtype, last=last):
        device.check(op, *inputs, **attrs)


@ALONE
def test_one_launch_each(device: OneDevice) -> None:
    counts = [device.launches_of(op, *inputs, **attrs) for op, inputs, attrs in _calls("3x3")]
    # The gradient of the bias is two sums, and an assignment.
    assert counts == [1, 1, 1, 1, 4]


@ALONE
def test_deconvolution_is_one_launch_and_one_for_the_bias(device: OneDevice) -> None:
    data, weight, bias = _normal(2, 4, 3, 5), _normal(4, 3, 3, 2), _normal(6)
    attrs = {"kernel": (3, 2), "stride": (2, 1), "num_filter": 6, "num_group": 2, "adj": (1, 0)}
    device.check(DECONVOLUTION, data, weight, **attrs)
    device.check(DECONVOLUTION, data, weight, bias, **attrs, no_bias=False)
    assert device.launches_of(DECONVOLUTION, data, weight, **attrs) == 1
    assert device.launches_of(DECONVOLUTION, data, weight, bias, **attrs, no_bias=False) == 2


def _place(device: OneDevice, values: np.ndarray, offset: int) -> Any:
    """Return an array that starts ``offset`` elements behind an aligned address."""
    flat = allocate(device.machine, (values.size + offset,), values.dtype)
    flat._raw[offset:] = values.reshape(-1)
    return flat[offset:].reshape(values.shape)


@ALONE
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("moved", range(4))
def test_arrays_may_lie_at_any_address(device: OneDevice, dtype: Any, moved: int) -> None:
    op, values, attrs = _calls("3x3", dtype)[0]
    arrays = [_place(device, x, 1 if i == moved else 0) for i, x in enumerate(values)]
    out = _place(device, np.zeros((2, 6, 7, 6), dtype), 1 if moved == 3 else 0)
    runtime = runtime_attrs(op, op.schema.parse(op.name, attrs))
    kernel = op.select_kernel("gpu", [spec_of(x) for x in values], runtime)
    kernel(device.cupy, out, *arrays, **runtime)
    (want,) = device.run(op, *values, **attrs)
    np.testing.assert_array_equal(out._raw, want)
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    assert [problem.aligned for _, problem in opened.plans] == [False, True]


@ALONE
@pytest.mark.parametrize("gap", range(4))
def test_arrays_with_gaps_are_read_and_written(device: OneDevice, gap: int) -> None:
    op, values, attrs = _calls("3x3")[0]
    (want,) = device.run(op, *values, **attrs)

    def spread(x: np.ndarray, number: int) -> Any:
        wide = device.upload(np.repeat(x, 2, axis=0))
        return wide[::2] if number == gap else device.upload(x)

    arrays = [spread(x, i) for i, x in enumerate(values)]
    out = spread(np.zeros_like(want), 3)
    runtime = runtime_attrs(op, op.schema.parse(op.name, attrs))
    kernel = op.select_kernel("gpu", [spec_of(x) for x in values], runtime)
    kernel(device.cupy, out, *arrays, **runtime)
    np.testing.assert_array_equal(out._raw, want)


def _in_order(device: OneDevice, x: np.ndarray, last: bool) -> Any:
    """Return an array with these values, and the channels of axis 1 last in memory."""
    if not last or x.ndim < 3:
        return device.upload(x)
    array = device.upload(np.ascontiguousarray(np.moveaxis(x, 1, -1)))
    return array.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def _run_in_orders(
    device: OneDevice, call: Any, orders: tuple[bool, ...], result: bool
) -> tuple[list[np.ndarray], int]:
    """Run a call on arrays in some memory orders; return its outputs and number of launches."""
    op, values, attrs = call
    runtime = runtime_attrs(op, op.schema.parse(op.name, attrs))
    specs = [spec_of(x) for x in values]
    found = op.infer(*specs, **op.schema.parse(op.name, attrs))
    outs = [_in_order(device, np.zeros(x.shape, x.dtype), result) for x in found]
    arrays = [_in_order(device, x, last) for x, last in zip(values, orders, strict=False)]
    before = device.launches
    kernel = op.select_kernel("gpu", specs, runtime)
    kernel(device.cupy, outs[0] if op.single else tuple(outs), *arrays, **runtime)
    return [out._raw for out in outs], device.launches - before


@ALONE
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("window", WINDOWS)
def test_arrays_with_channels_last_in_memory_are_used_without_copies(
    device: OneDevice, window: str, groups: int
) -> None:
    calls = _calls(window) if groups == 4 else _calls(window, groups=groups)
    for call, launches in zip(calls, [1, 1, 1, 1, 3], strict=True):
        wanted = device.run(call[0], *call[1], **call[2])
        got, count = _run_in_orders(device, call, (True, True, True), True)
        assert count == launches
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-5)
    assert not device.machine.relayouts
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    assert all(opened.plans.values())


@ALONE
@pytest.mark.parametrize("orders", list(itertools.product([False, True], repeat=3)))
def test_arrays_in_other_orders_are_copied_to_that_of_most_bytes(
    device: OneDevice, orders: tuple[bool, ...]
) -> None:
    *read, result = orders
    for call in _calls("3x3")[:4]:
        wanted = device.run(call[0], *call[1], **call[2])
        device.machine.relayouts.clear()
        got, count = _run_in_orders(device, call, (*read, False), result)
        np.testing.assert_allclose(got[0], wanted[0], rtol=1e-6, atol=1e-5)
        moved = [shape for _, shape in device.machine.relayouts]
        assert len(moved) == (0 if len({*orders}) == 1 else 1)
        assert count == 1 + len(moved)
        sizes = [math.prod(x.shape) for x in (*call[1][:2], got[0])]
        odd = next((i for i in range(3) if orders.count(orders[i]) == 1), 0)
        assert not moved or math.prod(moved[0]) <= min(sizes[odd], sum(sizes) - sizes[odd])


@ALONE
@pytest.mark.parametrize("refused", [False, True])
def test_the_other_order_is_tried_where_cudnn_has_no_plan(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    build = cudnn_graph.build

    def of_one_order(front_end: Any, handle: int, problem: Any) -> Any:
        if problem.last == refused:
            raise front_end.cudnnGraphNotSupportedError("no")
        return build(front_end, handle, problem)

    monkeypatch.setattr(cudnn_graph, "build", of_one_order)
    for call in _calls("3x3"):
        wanted = device.run(call[0], *call[1], **call[2])
        got, _ = _run_in_orders(device, call, (refused,) * 3, refused)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-5)


@ALONE
def test_equal_calls_give_equal_bits(device: OneDevice) -> None:
    for op, inputs, attrs in _calls("3x3"):
        first, second = (device.run(op, *inputs, **attrs) for _ in range(2))
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)


@ALONE
def test_float32_is_rounded_where_that_is_allowed(device: OneDevice) -> None:
    for op, inputs, attrs in _calls("3x3"):
        (exact, *_) = device.run(op, *inputs, **attrs)
        with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
            (rounded, *_) = device.run(op, *inputs, **attrs)
            with MXNET_CUDA_ALLOW_TENSOR_CORE.override(False):
                (without, *_) = device.run(op, *inputs, **attrs)
        assert 1e-6 < np.abs(rounded - exact).max() < 5e-2
        np.testing.assert_array_equal(without, exact)


@ALONE
@pytest.mark.parametrize(
    ("options", "nbytes"),
    [
        ({}, 2 * (2 * 4 * 42 + 6 * 4 * 9 + 2 * 6 * 42)),
        ({"workspace": 0}, 0),
        ({"workspace": 0, "cudnn_tune": "off"}, 0),
        ({"workspace": 0, "cudnn_tune": "fastest"}, 2 * (2 * 4 * 42 + 6 * 4 * 9 + 2 * 6 * 42)),
    ],
)
def test_workspace_is_a_limit_unless_the_fastest_is_asked_for(
    device: OneDevice, options: dict[str, Any], nbytes: int
) -> None:
    op, inputs, attrs = _calls("3x3", np.float16)[1]
    device.check(op, *inputs, **attrs, **options)
    opened = cudnn.opened(device.cupy)
    assert opened is not None
    (plan,) = opened.plans.values()
    assert plan is not None
    assert plan.nbytes == nbytes


@COMPILED
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_matrices_compute_what_cudnn_refuses(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, dtype: Any
) -> None:
    def refuse(*args: Any) -> None:
        raise device.machine.cudnn.cudnnGraphNotSupportedError("no")  # type: ignore[attr-defined]

    monkeypatch.setattr(cudnn_graph, "build", refuse)
    for op, inputs, attrs in _calls("3x3", dtype):
        device.check(op, *inputs, **attrs)


@ALONE
def test_a_bias_is_added_by_itself_where_cudnn_has_no_plan_with_it(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = cudnn_graph.build

    def without_bias(front_end: Any, handle: int, problem: Any) -> Any:
        if problem.has_bias:
            raise front_end.cudnnGraphNotSupportedError("no")
        return build(front_end, handle, problem)

    monkeypatch.setattr(cudnn_graph, "build", without_bias)
    for last in (False, True):
        op, inputs, attrs = _calls("3x3", last=last)[0]
        device.check(op, *inputs, **attrs)
        assert device.launches_of(op, *inputs, **attrs) == 2


@COMPILED
def test_products_of_matrices_serve_where_memory_is_short(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def none_left(nbytes: int) -> None:
        asked.append(nbytes)
        raise MemoryError

    monkeypatch.setitem(vars(device.cupy.cuda), "alloc", none_left)
    for op, inputs, attrs in _calls("3x3", np.float16):
        device.check(op, *inputs, **attrs)
    assert len(asked) == 5
    assert all(asked)


@COMPILED
@pytest.mark.parametrize("how", ["flag", "attribute", "float64", "nothing"])
def test_cudnn_is_left_out(device: OneDevice, how: str) -> None:
    dtype = np.float64 if how == "float64" else np.float32
    with MXNET_CUDNN_ENABLED.override(how != "flag"):
        for op, inputs, attrs in _calls("3x3", dtype):
            if how == "nothing":
                inputs = [x[:0] if len(x) == 2 else x for x in inputs]
                attrs |= {"data_shape": (0, 4, 7, 6)} if "data_shape" in attrs else {}
            device.check(op, *inputs, **attrs, cudnn_off=how == "attribute")
    assert device.machine.cudnn.built == 0  # type: ignore[attr-defined]


@pytest.fixture
def layers() -> Any:
    """Make a small network on a context, with the same weights each time."""

    def make(context: mx.Context, dtype: str) -> Any:
        network = nn.HybridSequential()
        network.add(
            nn.Conv2D(4, 3, padding=1, activation="relu"),
            nn.Conv2D(6, 1, strides=2, use_bias=False),
            nn.Conv2DTranspose(2, 2, strides=2),
        )
        network.initialize(mx.init.Constant(0.1), ctx=context)
        network.cast(dtype)
        return network

    return make


@ALONE
@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_network_trains_on_the_gpu_as_on_the_cpu(
    gpus: Any, layers: Any, dtype: str, hybrid: bool
) -> None:
    values = _normal(2, 3, 6, 6)

    def run(context: mx.Context) -> list[np.ndarray]:
        network = layers(context, dtype)
        if hybrid:
            network.hybridize(static_alloc=True, static_shape=True)
        x = nd.array(values, context, dtype)
        x.attach_grad()
        for _ in range(2):
            with autograd.record():
                loss = (network(x) ** 2).sum()
            loss.backward()
        grads = [p.grad(context) for p in network.collect_params().values()]
        return [y.asnumpy().astype(float) for y in (loss, x.grad, *grads)]

    tolerance = {"float16": 2e-2, "float32": 1e-4}[dtype]
    for got, want in zip(run(mx.gpu(0)), run(mx.cpu(0)), strict=True):
        limit = tolerance * max(1, np.abs(want).max())
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=limit)
    opened = cudnn.opened(gpus)
    assert opened is not None
    assert {problem.kind for _, problem in opened.plans} == {"forward", "data", "weight"}
    assert all(opened.plans.values())


FUSED: list[dict[str, Any]] = [
    {"activation": "relu"},
    {"activation": "relu", "with_sum": True},
    {"with_sum": True},
    {"activation": "clip", "alpha": 0.0, "beta": 0.5, "with_sum": True},
    {"activation": "clip", "alpha": -0.5, "beta": 0.5, "with_sum": True},
    {"activation": "leaky", "alpha": 0.25},
    {"activation": "sigmoid"},
    {"activation": "tanh", "with_sum": True},
    {"activation": "swish", "alpha": 1.5, "with_sum": True},
    {"activation": "gelu", "with_sum": True},
]


def _fused_call(
    attrs: dict[str, Any], dtype: Any, channels: int, no_bias: bool
) -> tuple[Operator, list[np.ndarray], dict[str, Any]]:
    inputs = [_normal(2, channels, 5, 6, dtype=dtype), _normal(16, channels, 3, 3, dtype=dtype) / 9]
    inputs += [] if no_bias else [_normal(16, dtype=dtype)]
    inputs += [_normal(2, 16, 5, 6, dtype=dtype)] if attrs.get("with_sum") else []
    window = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 16, "no_bias": no_bias}
    return FUSED_CONVOLUTION, [x.astype(dtype) for x in inputs], {**window, **attrs}


def _check_fused(device: OneDevice, call: Any, last: bool) -> int:
    """Hold a call to the reference, and return the number of its launches."""
    op, values, attrs = call
    parsed = op.schema.parse(op.name, attrs)
    (want,) = run_kernel(op, op.kernel, list(values), parsed, runtime_attrs(op, parsed))
    orders = tuple(x.ndim == 4 and last for x in values)
    (got,), count = _run_in_orders(device, call, orders, last)
    tolerance = 4e-2 if want.dtype.itemsize == 2 else 1e-2
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=tolerance, atol=0.02)
    return count


@COMPILED
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("attrs", FUSED, ids=str)
def test_a_sum_and_a_function_are_part_of_the_launch(
    device: OneDevice, attrs: dict[str, Any], dtype: Any, no_bias: bool
) -> None:
    with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
        call = _fused_call(attrs, dtype, 8, no_bias)
        count = _check_fused(device, call, True)
        has_node = attrs.get("activation") != "gelu" and attrs.get("alpha") != -0.5
        assert count == (1 if has_node else 2)
        # What cuDNN refuses comes after the convolution, in one launch for whatever is a program.
        assert _check_fused(device, _fused_call(attrs, dtype, 3, no_bias), True) >= 2
        assert _check_fused(device, call, False) >= 2


@COMPILED
@pytest.mark.parametrize("how", ["flag", "shortage"])
@pytest.mark.parametrize("attrs", FUSED[:3], ids=str)
def test_products_of_matrices_compute_fused_convolutions(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, attrs: dict[str, Any], how: str
) -> None:
    if how == "shortage":
        monkeypatch.setattr(cudnn.Plan, "run", _short)
    with MXNET_CUDNN_ENABLED.override(how != "flag"):
        for last in (False, True):
            _check_fused(device, _fused_call(attrs, np.float32, 8, False), last)


def _short(*_: Any) -> None:
    raise RefusedError("cuDNN: expected bytes for a workspace, got none")


@COMPILED
def test_an_addend_in_the_memory_of_the_output_is_copied_first(device: OneDevice) -> None:
    op, values, attrs = _fused_call({"activation": "relu", "with_sum": True}, np.float16, 8, True)
    (want,) = device.run(op, *values, **attrs)
    parsed = op.schema.parse(op.name, attrs)
    arrays = [_in_order(device, x, True) for x in values]
    kernel = op.select_kernel("gpu", [spec_of(x) for x in values], runtime_attrs(op, parsed))
    kernel(device.cupy, arrays[-1], *arrays, **runtime_attrs(op, parsed))
    np.testing.assert_allclose(
        arrays[-1]._raw.astype(float), want.astype(float), rtol=4e-2, atol=0.02
    )
