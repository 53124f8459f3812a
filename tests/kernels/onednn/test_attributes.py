"""What a primitive does to its result, against the fused operators' reference kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.convolution import convolution
from gluonish.kernels.onednn.inner_product import fully_connected
from gluonish.kernels.onednn.primitive import ELTWISE
from gluonish.ops.fused.activation import ACTIVATIONS
from gluonish.ops.fused.operator import FUSED_CONVOLUTION, FUSED_DENSE
from gluonish.ops.kernel import Array
from gluonish.ops.registry import Operator
from tests.checking.values import spec_of
from tests.kernels.onednn.planned import (
    LAYOUTS,
    Layout,
    channels_last,
    contiguous,
    parsed,
    random,
    run,
)

Close = Callable[[Array, Array], None]

NUMBERS = {
    "leaky": {"alpha": 0.1},
    "elu": {"alpha": 0.7},
    "clip": {"alpha": 0.0, "beta": 6.0},
    "hard_sigmoid": {"alpha": 0.2, "beta": 0.5},
    "swish": {"alpha": 1.5},
}

# Shapes of data and weight, and the window.
WINDOWS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "3x3": ((2, 5, 8, 9), (7, 5, 3, 3), {"pad": (1, 1)}),
    "1x1": ((2, 16, 5, 5), (32, 16, 1, 1), {}),
    "one channel": ((4, 1, 12, 12), (6, 1, 5, 5), {}),
    "first layer": ((1, 3, 20, 20), (16, 3, 7, 7), {"stride": (2, 2), "pad": (3, 3)}),
    "dilated": ((1, 4, 12, 12), (6, 4, 3, 3), {"dilate": (2, 3), "pad": (2, 1)}),
    "groups": ((2, 6, 7, 7), (9, 2, 3, 3), {"num_group": 3}),
    "depthwise": ((2, 16, 9, 9), (16, 1, 3, 3), {"num_group": 16, "stride": (2, 2)}),
    "1-D": ((3, 4, 15), (5, 4, 4), {"stride": (2,), "pad": (1,), "dilate": (2,)}),
    "3-D": ((1, 3, 5, 6, 7), (4, 3, 2, 3, 2), {"stride": (1, 2, 2), "pad": (0, 1, 1)}),
}


def _finish(activation: str | None) -> dict[str, Any]:
    return {"activation": activation, **NUMBERS.get(activation or "", {})}


def _convolution(name: str, dtype: Any, **given: Any) -> tuple[list[Array], dict[str, Any]]:
    """Inputs without an addend, and attributes."""
    data, weight, window = WINDOWS[name]
    attrs = {"kernel": weight[2:], "num_filter": weight[0], **window, **given}
    inputs = [random(*data, dtype=dtype), random(*weight, dtype=dtype, seed=1)]
    if not given.get("no_bias"):
        inputs.append(random(weight[0], dtype=dtype, seed=2))
    return inputs, parsed(FUSED_CONVOLUTION, **attrs)


def _reference(op: Operator, inputs: list[Array], attrs: dict[str, Any]) -> Array:
    """What the reference kernel computes in float32."""
    wide = [x.astype(np.float32) for x in inputs]
    (spec,) = op.infer(*map(spec_of, wide), **attrs)
    out = np.full(spec.shape, np.nan, spec.dtype)
    op.kernel(np, out, *wide, **attrs)
    return out.astype(np.float64)


def _compare(
    op: Operator,
    plan: Any,
    inputs: list[Array],
    attrs: dict[str, Any],
    close: Close,
    layout: Layout = contiguous,
) -> None:
    want = _reference(op, inputs, attrs)
    laid_out = [x if x.ndim == 1 else layout(x) for x in inputs]
    out = layout(np.full(want.shape, np.nan, inputs[0].dtype))
    run(plan, [out], laid_out, attrs)
    close(out, want)


def test_the_library_has_all_activations() -> None:
    assert set(ELTWISE) == set(ACTIVATIONS)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_each_activation_after_a_convolution(activation: str, dtype: Any, close: Close) -> None:
    inputs, attrs = _convolution("3x3", dtype, **_finish(activation))
    _compare(FUSED_CONVOLUTION, convolution, inputs, attrs, close, channels_last)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_each_activation_after_a_dense_layer(activation: str, dtype: Any, close: Close) -> None:
    inputs = [random(20, 30, dtype=dtype), random(12, 30, dtype=dtype, seed=1)]
    attrs = parsed(FUSED_DENSE, num_hidden=12, no_bias=True, **_finish(activation))
    _compare(FUSED_DENSE, fully_connected, inputs, attrs, close)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("name", WINDOWS)
def test_convolution_with_a_function(
    name: str, no_bias: bool, layout: Layout, dtype: Any, close: Close
) -> None:
    inputs, attrs = _convolution(name, dtype, no_bias=no_bias, activation="relu")
    _compare(FUSED_CONVOLUTION, convolution, inputs, attrs, close, layout)


def _with_addend(inputs: list[Array], attrs: dict[str, Any]) -> tuple[list[Array], Array]:
    """Inputs with an addend, and the expected output."""
    specs = FUSED_CONVOLUTION.infer(*map(spec_of, inputs), **{**attrs, "with_sum": False})
    every = [*inputs, random(*specs[0].shape, dtype=specs[0].dtype, seed=3)]
    return every, _reference(FUSED_CONVOLUTION, every, attrs)


@pytest.mark.parametrize("layouts", [(a, b) for a in LAYOUTS for b in LAYOUTS])
@pytest.mark.parametrize("name", WINDOWS)
def test_convolution_with_a_sum(
    name: str, layouts: tuple[Layout, Layout], dtype: Any, close: Close
) -> None:
    inputs, attrs = _convolution(name, dtype, activation="relu", with_sum=True)
    every, want = _with_addend(inputs, attrs)
    out = layouts[0](np.full(want.shape, np.nan, dtype))
    laid_out = [x if x.ndim == 1 else layouts[1](x) for x in every]
    run(convolution, [out], laid_out, attrs)
    close(out, want)


@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", WINDOWS)
def test_a_sum_in_the_memory_of_the_addend(
    name: str, layout: Layout, no_bias: bool, dtype: Any, close: Close
) -> None:
    inputs, attrs = _convolution(name, dtype, no_bias=no_bias, activation="tanh", with_sum=True)
    every, want = _with_addend(inputs, attrs)
    laid_out = [x if x.ndim == 1 else layout(x) for x in every]
    run(convolution, [laid_out[-1]], laid_out, attrs)
    close(laid_out[-1], want)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_dense_with_a_sum(
    rows: int, no_bias: bool, packed: bool, in_place: bool, dtype: Any, close: Close
) -> None:
    inputs = [random(rows, 30, dtype=dtype), random(12, 30, dtype=dtype, seed=1)]
    if not no_bias:
        inputs.append(random(12, dtype=dtype, seed=2))
    inputs.append(random(rows, 12, dtype=dtype, seed=3))
    given: dict[str, Any] = {
        "no_bias": no_bias,
        "packed": packed,
        "with_sum": True,
        "activation": "relu",
    }
    attrs = parsed(FUSED_DENSE, num_hidden=12, **given)
    want = _reference(FUSED_DENSE, inputs, attrs)
    out = inputs[-1] if in_place else np.full((rows, 12), np.nan, dtype)
    run(fully_connected, [out], inputs, attrs)
    close(out, want)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shape", [(6, 8, 3, 4), (3, 5, 7), (20, 4, 2, 2, 2), (1, 8, 3, 4)])
def test_dense_on_data_with_channels_last(
    shape: tuple[int, ...], packed: bool, dtype: Any, close: Close
) -> None:
    features = int(np.prod(shape[1:]))
    inputs = [random(*shape, dtype=dtype), random(12, features, dtype=dtype, seed=1)]
    attrs = parsed(FUSED_DENSE, num_hidden=12, no_bias=True, packed=packed, activation="relu")
    _compare(FUSED_DENSE, fully_connected, inputs, attrs, close, channels_last)


@pytest.mark.parametrize("with_sum", [False, True])
@pytest.mark.parametrize("no_bias", [False, True])
@pytest.mark.parametrize("rank", [2, 3])
def test_dense_layers_of_all_forms_have_a_kernel(rank: int, no_bias: bool, with_sum: bool) -> None:
    random = np.random.default_rng(3)
    rows = (4, 8)[: rank - 1] if rank == 3 else (32,)
    shapes = [(*rows, 96), (160, 96), *[(160,)] * (not no_bias), *[(*rows, 160)] * with_sum]
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    given = {"num_hidden": 160, "flatten": False, "no_bias": no_bias, "with_sum": with_sum}
    attrs = parsed(FUSED_DENSE, **given)
    kernel = FUSED_DENSE.select_fast("cpu", [spec_of(x) for x in inputs], attrs)
    assert kernel is not None
    assert kernel.name == "onednn.fused_dense"
    out = np.full((*rows, 160), np.nan, np.float32)
    kernel.plan((out,), inputs, attrs).plan.run(out, *inputs)
    expected = inputs[0].astype(np.float64) @ inputs[1].T
    expected = expected + sum(x.astype(np.float64) for x in inputs[2:])
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("in_place", [False, True])
def test_dense_on_the_last_axis_with_a_sum(in_place: bool, close: Close) -> None:
    inputs = [random(4, 5, 30), random(12, 30, seed=1), random(12, seed=2), random(4, 5, 12)]
    attrs = parsed(FUSED_DENSE, num_hidden=12, flatten=False, with_sum=True)
    want = _reference(FUSED_DENSE, inputs, attrs)
    out = inputs[-1] if in_place else np.full((4, 5, 12), np.nan, np.float32)
    run(fully_connected, [out], inputs, attrs)
    close(out, want)


def test_a_clip_without_an_end(close: Close) -> None:
    inputs, attrs = _convolution(
        "3x3", np.float32, activation="clip", alpha=-1.0, beta=float("inf")
    )
    _compare(FUSED_CONVOLUTION, convolution, inputs, attrs, close)


@pytest.mark.parametrize("sum_in_place", [False, True])
def test_channels_last_in_and_out_costs_no_reorder_but_that_of_the_weight(
    sum_in_place: bool,
) -> None:
    inputs, attrs = _convolution("1x1", np.float32, activation="relu", with_sum=True)
    every, want = _with_addend(inputs, attrs)
    laid_out = [x if x.ndim == 1 else channels_last(x) for x in every]
    out = laid_out[-1] if sum_in_place else channels_last(np.empty(want.shape, np.float32))
    plan = run(convolution, [out], laid_out, attrs)
    assert len(plan.implementations) == 2
    assert not any("ref" in name for name in plan.implementations)


def test_an_addend_in_place_that_is_read_as_data_too_is_refused() -> None:
    data, weight = random(2, 4, 5, 5), random(4, 4, 1, 1, seed=1)
    window: dict[str, Any] = {"kernel": (1, 1), "num_filter": 4, "no_bias": True}
    attrs = parsed(FUSED_CONVOLUTION, **window, with_sum=True)
    with pytest.raises(RefusedError, match="expected an addend that is not an operand too"):
        run(convolution, [data], [data, weight, data], attrs)
