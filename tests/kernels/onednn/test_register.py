"""Every kernel that is hung on an operator, against the operator's reference kernel."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.config import (
    MXNET_CPU_TEMP_COPY,
    MXNET_MKLDNN_CACHE_NUM,
    MXNET_MKLDNN_ENABLED,
)
from gluonish.core.spec import Spec
from gluonish.kernels import onednn
from gluonish.kernels.onednn import register
from gluonish.kernels.onednn.plan import Plan
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Operator, all_operators, find_operator
from gluonish.ops.support.refusals import refusals
from tests.checking.values import run_kernel, runtime_attrs, spec_of

SERVED = (
    "Convolution",
    "_fused_convolution",
    "_fused_dense",
    "batch_dot",
    "Pooling",
    "FullyConnected",
    "dot",
    "BatchNorm",
)


@pytest.fixture(autouse=True)
def _needs_the_library() -> None:
    if not register.enabled():
        pytest.skip(f"oneDNN is not there: {onednn.status().reason}")


def _values(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _fast(op: Operator) -> FastKernel:
    (found,) = [
        fast
        for fast in op.fast_kernels
        if fast.back_end is BackEnd.ONEDNN and not fast.name.startswith("onednn.blas_")
    ]
    return found


def _attrs(op: Operator, given: dict[str, Any]) -> dict[str, Any]:
    return op.schema.parse(op.name, given)


CASES: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "convolution": (
        "Convolution",
        [_values(2, 4, 9, 8), _values(6, 2, 3, 3), _values(6)],
        {"kernel": (3, 3), "num_filter": 6, "num_group": 2, "pad": (1, 1), "stride": (2, 1)},
    ),
    "convolution in 1d without bias": (
        "Convolution",
        [_values(2, 3, 9), _values(5, 3, 2)],
        {"kernel": (2,), "num_filter": 5, "no_bias": True, "dilate": (2,)},
    ),
    "convolution in a layout that ends in C": (
        "Convolution",
        [_values(2, 9, 8, 4), _values(6, 3, 3, 2), _values(6)],
        {"kernel": (3, 3), "num_filter": 6, "num_group": 2, "layout": "NHWC", "pad": (1, 0)},
    ),
    "fused convolution in a layout that ends in C": (
        "_fused_convolution",
        [_values(2, 9, 4), _values(6, 3, 4), _values(2, 7, 6)],
        {
            "kernel": (3,),
            "num_filter": 6,
            "layout": "NWC",
            "no_bias": True,
            "with_sum": True,
            "activation": "tanh",
        },
    ),
    "max pooling": (
        "Pooling",
        [_values(2, 3, 9, 8)],
        {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 0), "pool_type": "max"},
    ),
    "average pooling": (
        "Pooling",
        [_values(2, 3, 9, 8)],
        {
            "kernel": (3, 3),
            "pad": (1, 1),
            "pool_type": "avg",
            "count_include_pad": False,
            "pooling_convention": "full",
            "stride": (2, 2),
        },
    ),
    "global pooling": ("Pooling", [_values(2, 3, 9, 8)], {"global_pool": True, "pool_type": "avg"}),
    "dense": (
        "FullyConnected",
        [_values(64, 10, 20), _values(128, 200), _values(128)],
        {"num_hidden": 128},
    ),
    "dense on the last axis": (
        "FullyConnected",
        [_values(40, 16, 64), _values(64, 64)],
        {"num_hidden": 64, "no_bias": True, "flatten": False},
    ),
    "fused dense": (
        "_fused_dense",
        [_values(64, 10, 20), _values(128, 200), _values(128), _values(64, 128)],
        {"num_hidden": 128, "with_sum": True, "activation": "relu", "packed": True},
    ),
    "dot": ("dot", [_values(100, 120), _values(120, 110)], {}),
    "dot of transposes": (
        "dot",
        [_values(120, 100), _values(110, 120)],
        {"transpose_a": True, "transpose_b": True},
    ),
    "dot of arrays of more axes": (
        "dot",
        [_values(20, 5, 120), _values(10, 11, 120)],
        {"transpose_b": True},
    ),
    "batch dot": (
        "batch_dot",
        [_values(6, 70, 60), _values(6, 70, 80)],
        {"transpose_a": True},
    ),
    "batch norm": (
        "BatchNorm",
        [_values(4, 3, 5, 5), _values(3), _values(3), _values(3), np.abs(_values(3))],
        {"fix_gamma": False, "eps": 1e-3},
    ),
    "batch norm with gamma fixed": (
        "BatchNorm",
        [_values(4, 3, 5), _values(3), _values(3), _values(3), np.abs(_values(3))],
        {"momentum": 0.7},
    ),
    "softmax": ("softmax", [_values(40, 33)], {}),
    "log_softmax of images": (
        "log_softmax",
        [_values(2, 9, 8, 12)],
        {"axis": 3},
    ),
    "layer norm": ("LayerNorm", [_values(8, 5, 65), _values(65), _values(65)], {"eps": 1e-3}),
    "deconvolution": (
        "Deconvolution",
        [_values(2, 4, 9, 8), _values(4, 3, 3, 3), _values(6)],
        {"kernel": (3, 3), "num_filter": 6, "num_group": 2, "stride": (2, 1), "no_bias": False},
    ),
    "deconvolution in a layout that ends in C": (
        "Deconvolution",
        [_values(2, 9, 8, 4), _values(4, 3, 3, 3), _values(6)],
        {
            "kernel": (3, 3),
            "num_filter": 6,
            "num_group": 2,
            "adj": (1, 0),
            "stride": (2, 1),
            "no_bias": False,
            "layout": "NHWC",
        },
    ),
    "pooling in a layout that ends in C": (
        "Pooling",
        [_values(2, 9, 8, 16)],
        {"kernel": (3, 2), "stride": (2, 2), "pool_type": "avg", "layout": "NHWC"},
    ),
    "sum of rows": ("sum", [_values(64, 8, 80)], {"axis": (-1,)}),
    "sum of images": ("sum", [_values(40, 5, 16, 16)], {"axis": (0, 1), "exclude": True}),
    "mean of rows": ("mean", [_values(64, 8, 80)], {"axis": (1, 2), "keepdims": True}),
    "prelu": ("LeakyReLU", [_values(4, 16, 8, 9), _values(16)], {"act_type": "prelu"}),
}


def _compare(op: Operator, inputs: list[Any], given: dict[str, Any], train: bool) -> None:
    attrs = _attrs(op, given)
    runtime = runtime_attrs(op, attrs, train)
    fast = _fast(op)
    assert fast.supports(*[spec_of(x) for x in inputs], **runtime)
    before = refusals()
    own, theirs = ([x.copy(order="K") for x in inputs] for _ in range(2))
    got = run_kernel(op, fast.kernel, own, attrs, runtime)
    want = run_kernel(op, op.kernel, theirs, attrs, runtime)
    for x, y in zip([*got, *own], [*want, *theirs], strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)
    assert refusals() == before


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_gives_what_the_reference_gives(name: str, train: bool) -> None:
    op_name, inputs, given = CASES[name]
    _compare(find_operator(op_name), inputs, given, train)


def test_batch_norm_with_global_statistics() -> None:
    op_name, inputs, given = CASES["batch norm"]
    _compare(find_operator(op_name), inputs, {**given, "use_global_stats": True}, True)


_WINDOW = {
    "kernel": (3, 3),
    "num_filter": 6,
    "num_group": 2,
    "pad": (1, 1),
    "stride": (2, 1),
    "no_bias": True,
}
_POOL = {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 0), "pool_type": "max"}
BACKWARD: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "data of a convolution": (
        "_convolution_backward_data",
        [_values(2, 6, 5, 8), _values(6, 2, 3, 3)],
        {**_WINDOW, "data_shape": (2, 4, 9, 8)},
    ),
    "weight of a convolution": (
        "_convolution_backward_weight",
        [_values(2, 6, 5, 8), _values(2, 4, 9, 8)],
        {**_WINDOW, "weight_shape": (6, 2, 3, 3)},
    ),
    "weight and bias of a convolution": (
        "_convolution_backward_weight_bias",
        [_values(2, 6, 5, 8), _values(2, 4, 9, 8)],
        {**_WINDOW, "weight_shape": (6, 2, 3, 3)},
    ),
    "weight and bias of a convolution in a layout that ends in C": (
        "_convolution_backward_weight_bias",
        [_values(2, 5, 8, 6), _values(2, 9, 8, 4)],
        {**_WINDOW, "weight_shape": (6, 3, 3, 2), "layout": "NHWC"},
    ),
    "batch norm": (
        "_batch_norm_backward",
        [_values(4, 3, 5), _values(4, 3, 5), _values(3), _values(3), np.abs(_values(3)) + 0.5],
        {"fix_gamma": False},
    ),
    "batch norm with gamma fixed": (
        "_batch_norm_backward",
        [_values(4, 3, 5), _values(4, 3, 5), _values(3), _values(3), np.abs(_values(3)) + 0.5],
        {"fix_gamma": True, "use_global_stats": True},
    ),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_a_backward_kernel_gives_what_the_reference_gives(name: str) -> None:
    op_name, inputs, given = BACKWARD[name]
    _compare(find_operator(op_name), inputs, given, train=True)


@pytest.mark.parametrize("pool_type", ["max", "avg"])
def test_the_backward_kernel_of_pooling_gives_what_the_reference_gives(pool_type: str) -> None:
    op = find_operator("Pooling")
    given = {**_POOL, "pool_type": pool_type}
    data = _values(2, 3, 9, 8)
    (pooled,) = run_kernel(op, op.kernel, [data], _attrs(op, given), _attrs(op, given))
    inputs = [_values(*pooled.shape), data, pooled]
    _compare(find_operator("_pooling_backward"), inputs, given, train=True)


@pytest.mark.parametrize("pool_type", ["max", "avg"])
def test_the_backward_kernel_of_pooling_in_a_layout_that_ends_in_c(pool_type: str) -> None:
    op = find_operator("Pooling")
    given = {**_POOL, "pool_type": pool_type, "layout": "NHWC"}
    data = _values(2, 9, 8, 3)
    (pooled,) = run_kernel(op, op.kernel, [data], _attrs(op, given), _attrs(op, given))
    inputs = [_values(*pooled.shape), data, pooled]
    _compare(find_operator("_pooling_backward"), inputs, given, train=True)


def test_every_kernel_hangs_on_its_operator_once() -> None:
    found = [
        (op.name, fast.name)
        for op in all_operators()
        for fast in op.fast_kernels
        if fast.back_end is BackEnd.ONEDNN
    ]
    assert len(found) == len(set(found)) > 30


@pytest.mark.parametrize("name", SERVED)
def test_what_the_library_does_not_know_is_not_taken(name: str) -> None:
    op_name, inputs, given = next(case for case in CASES.values() if case[0] == name)
    op = find_operator(op_name)
    runtime = runtime_attrs(op, _attrs(op, given), True)
    doubles = [Spec(x.shape, np.dtype(np.float64)) for x in inputs]
    assert not _fast(op).supports(*doubles, **runtime)
    empty = [Spec((0, *x.shape[1:]), x.dtype) for x in inputs]
    assert not _fast(op).supports(*empty, **runtime)


def test_small_products_go_to_numpy() -> None:
    op = find_operator("dot")
    attrs = _attrs(op, {})
    assert not _fast(op).supports(
        Spec((4, 4), np.dtype("float32")), *[spec_of(_values(4, 4))], **attrs
    )


def test_batch_norm_over_another_axis_goes_to_the_reference() -> None:
    op = find_operator("BatchNorm")
    specs = [spec_of(_values(4, 3, 5)), *[spec_of(_values(5))] * 4]
    assert not _fast(op).supports(*specs, **_attrs(op, {"axis": 2}))


def test_bfloat16_is_taken() -> None:
    op = find_operator("Convolution")
    inputs = [_values(2, 4, 6, 6, dtype=ml_dtypes.bfloat16), _values(3, 4, 3, 3)]
    inputs[1] = inputs[1].astype(ml_dtypes.bfloat16)
    attrs = _attrs(op, {"kernel": (3, 3), "num_filter": 3, "no_bias": True})
    assert _fast(op).supports(*map(spec_of, inputs), **attrs)
    got = run_kernel(op, _fast(op).kernel, inputs, attrs, attrs)[0].astype(np.float32)
    want = run_kernel(op, op.kernel, inputs, attrs, attrs)[0].astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=0.05, atol=0.1)


def test_the_environment_switches_the_library_off() -> None:
    op = find_operator("Convolution")
    _, inputs, given = CASES["convolution"]
    specs = [spec_of(x) for x in inputs]
    attrs = _attrs(op, given)
    assert op.select_kernel("cpu", specs, attrs) is _fast(op).kernel
    with MXNET_MKLDNN_ENABLED.override(False):
        assert op.select_kernel("cpu", specs, attrs) is not _fast(op).kernel
    assert op.select_kernel("cpu", specs, attrs) is _fast(op).kernel


def test_the_environment_bounds_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "_loaded", [])
    with MXNET_MKLDNN_CACHE_NUM.override(5), MXNET_CPU_TEMP_COPY.override(3):
        assert register.enabled()
    backend = onednn.current()
    assert backend.engine.workspaces.per_device == 3
    op = find_operator("Convolution")
    attrs = _attrs(op, {"kernel": (3, 3), "num_filter": 3, "no_bias": True})
    weight = _values(3, 2, 3, 3)
    for i in range(40):
        data = _values(1, 2, 4 + i % 8, 4 + i // 8)
        (got,) = run_kernel(op, _fast(op).kernel, [data, weight], attrs, attrs)
        (want,) = run_kernel(op, op.kernel, [data, weight], attrs, attrs)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    assert len(backend.plans) == 5


def test_arrays_that_the_library_cannot_describe_go_to_the_reference() -> None:
    op = find_operator("dot")
    wide = _values(100, 240)[:, ::2]
    rhs = _values(120, 110)
    out = np.empty((100, 110), np.float32)
    before = refusals().get("matmul", 0)
    _fast(op).kernel(np, out, wide, rhs, **_attrs(op, {}))
    np.testing.assert_allclose(out, wide @ rhs, rtol=1e-4, atol=1e-4)
    assert refusals()["matmul"] == before + 1


def test_failure_of_the_library_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arrays: Any) -> None:
        raise onednn.OneDNNError(
            "oneDNN: expected dnnl_primitive_execute to succeed, got 'runtime'"
        )

    monkeypatch.setattr(Plan, "run", fail)
    op = find_operator("dot")
    lhs, rhs = _values(100, 120), _values(120, 110)
    before = refusals()
    with pytest.raises(onednn.OneDNNError, match="expected dnnl_primitive_execute to succeed"):
        _fast(op).kernel(np, np.empty((100, 110), np.float32), lhs, rhs, **_attrs(op, {}))
    assert refusals() == before


@pytest.mark.parametrize("name", ["LRN", "UpSampling"])
def test_images_with_channels_last(name: str) -> None:
    op = find_operator(name)
    more = {"LRN": {"nsize": 5}, "UpSampling": {"scale": 2, "sample_type": "nearest"}}[name]
    attrs = _attrs(op, {**more, **({} if op.variadic is None else {op.variadic: 1})})  # type: ignore[dict-item]
    data = _values(2, 17, 16, 32).transpose(0, 3, 1, 2)
    assert _fast(op).supports(spec_of(data), **attrs)
    before = refusals()
    results = []
    for kernel in (_fast(op).kernel, op.kernel):
        shape = op.infer(spec_of(data), **attrs)[0].shape
        out = np.empty((shape[0], *shape[2:], shape[1]), np.float32).transpose(0, 3, 1, 2)
        kernel(np, out if op.single else (out, np.zeros(1, np.float32)), data, **attrs)
        results.append(out)
    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-4)
    assert refusals() == before


def test_large_concatenations_are_taken_with_channels_last_only() -> None:
    op = find_operator("Concat")
    attrs = {"num_args": 2, "dim": 1}
    spec = Spec((4, 64, 64, 64), np.dtype(np.float32))
    assert _fast(op).supports(spec, spec, **attrs)
    assert not _fast(op).supports(spec, spec, num_args=2, dim=0)
    arrays = [_values(1, 3, 4, 5), _values(1, 3, 4, 5)]
    before = refusals().get("concat", 0)
    _fast(op).kernel(np, np.empty((1, 6, 4, 5), np.float32), *arrays, **attrs)
    assert refusals()["concat"] == before + 1


def test_softmax_with_a_temperature_or_lengths_goes_to_the_reference() -> None:
    op = find_operator("softmax")
    spec = Spec((64, 64), np.dtype(np.float32))
    assert _fast(op).supports(spec, **_attrs(op, {}))
    assert not _fast(op).supports(spec, **_attrs(op, {"temperature": 2.0}))
    lengths = Spec((64,), np.dtype(np.int32))
    assert not _fast(op).supports(spec, lengths, **_attrs(op, {"use_length": True}))


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((256, 256), (0,)), ((8, 64, 64), (1,)), ((16, 65536), (1,)), ((9, 9), (1,))],
)
def test_other_reductions_go_to_the_reference(
    name: str, shape: tuple[int, ...], axis: tuple[int, ...]
) -> None:
    op = find_operator(name)
    spec = Spec(shape, np.dtype(np.float32))
    assert not _fast(op).supports(spec, **_attrs(op, {"axis": axis}))


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_reductions_keep_what_is_not_a_number(name: str) -> None:
    op = find_operator(name)
    data = _values(64, 1024)
    data[3, 5], data[4, 7], data[5, 8] = np.nan, np.inf, -np.inf
    attrs = _attrs(op, {"axis": (1,)})
    got, want = (
        run_kernel(op, kernel, [data], attrs, attrs)[0] for kernel in (_fast(op).kernel, op.kernel)
    )
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_reductions_of_channels_that_are_last_in_memory_go_to_the_reference() -> None:
    op = find_operator("mean")
    data = _values(8, 16, 16, 32).transpose(0, 3, 1, 2)
    attrs = _attrs(op, {"axis": (2, 3)})
    assert _fast(op).supports(spec_of(data), **attrs)
    before = refusals().get("mean", 0)
    (got,) = run_kernel(op, _fast(op).kernel, [data], attrs, attrs)
    np.testing.assert_allclose(got, data.mean((2, 3)), rtol=1e-4, atol=1e-6)
    assert refusals()["mean"] == before + 1


def test_one_slope_for_all_channels_is_left_to_others() -> None:
    op = find_operator("LeakyReLU")
    attrs = _attrs(op, {"act_type": "prelu"})
    data = Spec((8, 32, 28, 28), np.dtype(np.float32))
    taken = [_fast(op).supports(data, Spec((n,), data.dtype), **attrs) for n in (32, 1)]
    assert taken == [True, False]


def test_sums_are_taken_sooner_in_bfloat16() -> None:
    op = find_operator("add_n")
    specs = [Spec((256, 256), np.dtype(name)) for name in (np.float32, ml_dtypes.bfloat16)]
    attrs = {"num_args": 2}
    assert [_fast(op).supports(spec, spec, **attrs) for spec in specs] == [False, True]
