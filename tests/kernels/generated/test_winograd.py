from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluonish.core.config import MXNET_USE_FUSION, MXNET_WINOGRAD_CONVOLUTION
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels import onednn
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import winograd
from gluonish.kernels.onednn import RefusedError
from gluonish.ops.fused.operator import FUSED_CONVOLUTION
from gluonish.ops.kernel import FastKernel
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.registry import Operator

pytestmark = pytest.mark.skipif(
    not available() or onednn.load().backend is None, reason="oneDNN or llvmlite is not there"
)

# Of the largest magnitude of the result: some units of round-off of a sum of 300 to 1000 terms.
TOLERANCE = 3e-6


def winograd_of(op: Operator) -> FastKernel:
    return next(fast for fast in op.fast_kernels if fast.name.startswith("generated.winograd"))


def last(array: Any) -> Any:
    """A copy whose channels are last in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def images(shape: tuple[int, ...], seed: int) -> Any:
    return last(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def attributes(op: Operator, padding: int, filters: int, **given: Any) -> dict[str, Any]:
    every = {"kernel": (3, 3), "pad": (padding, padding), "num_filter": filters, "no_bias": True}
    return op.schema.parse(op.name, every | given)


def expect(op: Operator, results: list[Any], inputs: list[Any], attrs: dict[str, Any]) -> None:
    """Compare with the reference kernel in float64."""
    exact = [np.zeros(result.shape) for result in results]
    wide = [x.astype(np.float64) for x in inputs]
    op.kernel(np, exact[0] if op.single else tuple(exact), *wide, **attrs)
    for result, right in zip(results, exact, strict=True):
        assert np.abs(result - right).max() <= TOLERANCE * np.abs(right).max()


def planned(op: Operator, outputs: list[Any], inputs: list[Any], attrs: dict[str, Any]) -> str:
    """Run the plan; return what class it has."""
    plan = winograd_of(op).plan
    assert plan is not None
    bound = plan(tuple(outputs), tuple(inputs), attrs)
    arrays = (*outputs, *inputs)
    bound.plan.run(*bound.order(arrays))
    return type(bound.plan).__name__


SHAPES = {
    "even": ((2, 32, 16, 18), 48, 1),
    "odd": ((3, 48, 13, 11), 32, 1),
    "without padding": ((2, 32, 17, 18), 32, 0),
    "wide padding": ((2, 32, 15, 16), 32, 2),
    "several passes": ((2, 64, 40, 44), 32, 1),
    "a tile more than the threads share": ((1, 32, 18, 18), 32, 1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_outputs_are_those_of_the_sums(name: str) -> None:
    shape, filters, pad = SHAPES[name]
    data, weight = images(shape, 1), images((filters, shape[1], 3, 3), 2).copy()
    attrs = attributes(CONVOLUTION, pad, filters)
    grown = 2 * pad - 2
    out = last(np.full((shape[0], filters, shape[2] + grown, shape[3] + grown), np.nan, FLOAT32))
    assert planned(CONVOLUTION, [out], [data, weight], attrs) == "OutputPlan"
    expect(CONVOLUTION, [out], [data, weight], attrs)


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_of_data_are_those_of_the_sums(name: str) -> None:
    shape, filters, pad = SHAPES[name]
    grown = 2 * pad - 2
    grad = images((shape[0], filters, shape[2] + grown, shape[3] + grown), 3)
    weight = np.ascontiguousarray(images((filters, shape[1], 3, 3), 4))
    attrs = attributes(CONVOLUTION_BACKWARD_DATA, pad, filters, data_shape=shape)
    out = last(np.full(shape, np.nan, FLOAT32))
    planned(CONVOLUTION_BACKWARD_DATA, [out], [grad, weight], attrs)
    expect(CONVOLUTION_BACKWARD_DATA, [out], [grad, weight], attrs)


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_of_filters_are_those_of_the_sums(name: str) -> None:
    shape, filters, pad = SHAPES[name]
    grown = 2 * pad - 2
    grad = images((shape[0], filters, shape[2] + grown, shape[3] + grown), 5)
    data = images(shape, 6)
    attrs = attributes(
        CONVOLUTION_BACKWARD_WEIGHT, pad, filters, weight_shape=(filters, shape[1], 3, 3)
    )
    out = np.full((filters, shape[1], 3, 3), np.nan, FLOAT32)
    planned(CONVOLUTION_BACKWARD_WEIGHT, [out], [grad, data], attrs)
    expect(CONVOLUTION_BACKWARD_WEIGHT, [out], [grad, data], attrs)


def test_the_gradient_of_a_bias_comes_with_that_of_the_filters() -> None:
    grad, data = images((2, 48, 16, 16), 7), images((2, 32, 16, 16), 8)
    op = CONVOLUTION_BACKWARD_WEIGHT_BIAS
    attrs = attributes(op, 1, 48, weight_shape=(48, 32, 3, 3))
    outs = [np.full((48, 32, 3, 3), np.nan, FLOAT32), np.full(48, np.nan, FLOAT32)]
    planned(op, outs, [grad, data], attrs)
    expect(op, outs, [grad, data], attrs)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize("addend", [None, "beside", "in place"])
@pytest.mark.parametrize("no_bias", [True, False])
def test_outputs_are_finished(
    layout: str, activation: str | None, addend: str | None, no_bias: bool
) -> None:
    op = FUSED_CONVOLUTION
    attrs = attributes(
        op,
        1,
        32,
        no_bias=no_bias,
        with_sum=addend is not None,
        activation=activation,
        layout=layout,
    )
    inputs = [images((2, 48, 17, 16), 1), images((32, 48, 3, 3), 2)]
    inputs += [] if no_bias else [np.random.default_rng(3).standard_normal(32).astype(np.float32)]
    more = images((2, 32, 17, 16), 4)
    out = more.copy(order="K") if addend == "in place" else np.zeros_like(more)
    inputs += [] if addend is None else [out if addend == "in place" else more]
    if layout == "NHWC":
        inputs = [np.moveaxis(x, 1, -1) if x.ndim == 4 else x for x in inputs]
        out, more = np.moveaxis(out, 1, -1), np.moveaxis(more, 1, -1)
        inputs[-1] = out if addend == "in place" else inputs[-1]
    assert planned(op, [out], inputs, attrs) == "OutputPlan"
    if addend == "in place":
        inputs[-1] = more
    expect(op, [out], inputs, attrs)


def test_filters_transformed_ahead_give_the_same() -> None:
    data, weight = images((1, 64, 14, 14), 1), np.ascontiguousarray(images((96, 64, 3, 3), 2))
    attrs = attributes(CONVOLUTION, 1, 96)
    plan = winograd_of(CONVOLUTION).plan
    assert plan is not None
    out = last(np.zeros((1, 96, 14, 14), np.float32))
    bound = plan((out,), (data, weight), attrs)
    packing = bound.plan.packing([2])
    attached = bound.plan.attach(bound.order((0, 1, 2)), [out, data, weight], (), packing)
    attached.pack([out, data, weight])
    for seed in (1, 2):
        fresh = images((1, 64, 14, 14), seed)
        attached.run([out, fresh, np.full_like(weight, np.nan)])
        expect(CONVOLUTION, [out], [fresh, weight], attrs)


def test_few_tiles_go_the_direct_way_unless_filters_are_transformed_ahead() -> None:
    inputs = [images((1, 64, 14, 14), 1), np.ascontiguousarray(images((96, 64, 3, 3), 2))]
    out = last(np.zeros((1, 96, 14, 14), np.float32))
    attrs = attributes(CONVOLUTION, 1, 96)
    assert planned(CONVOLUTION, [out], inputs, attrs) == "WhenPacked"
    expect(CONVOLUTION, [out], inputs, attrs)


@settings(max_examples=15, deadline=None)
@given(
    samples=st.integers(1, 3),
    extents=st.tuples(st.integers(10, 24), st.integers(10, 24)),
    channels=st.tuples(st.sampled_from([32, 48, 64]), st.sampled_from([32, 48, 64])),
    pad=st.integers(0, 2),
    seed=st.integers(0, 1000),
)
def test_any_shape(
    samples: int, extents: tuple[int, int], channels: tuple[int, int], pad: int, seed: int
) -> None:
    shape = (samples, channels[0], *extents)
    inputs = [images(shape, seed), images((channels[1], channels[0], 3, 3), seed + 1)]
    attrs = attributes(CONVOLUTION, pad, channels[1])
    spatial = (extent + 2 * pad - 2 for extent in extents)
    out = last(np.zeros((samples, channels[1], *spatial), np.float32))
    planned(CONVOLUTION, [out], inputs, attrs)
    expect(CONVOLUTION, [out], inputs, attrs)


def test_nothing_is_written_beside_the_output() -> None:
    frame = np.full((1, 19, 19, 96), 7, np.float32)
    out = np.moveaxis(frame.reshape(-1)[32 * 19 :][: 17 * 17 * 32].reshape(1, 17, 17, 32), -1, 1)
    inputs = [images((1, 32, 17, 17), 1), images((32, 32, 3, 3), 2)]
    planned(CONVOLUTION, [out], inputs, attributes(CONVOLUTION, 1, 32))
    flat = frame.reshape(-1)
    assert (flat[: 32 * 19] == 7).all()
    assert (flat[32 * 19 + out.size :] == 7).all()


def test_not_a_number_stays_where_its_windows_are() -> None:
    data = images((1, 32, 20, 20), 1)
    data[0, :, 19, 19] = np.nan
    out = last(np.zeros((1, 32, 20, 20), np.float32))
    attrs = attributes(CONVOLUTION, 1, 32)
    planned(CONVOLUTION, [out], [data, images((32, 32, 3, 3), 2)], attrs)
    assert np.isnan(out[0, :, 18:, 18:]).all()
    # One number spoils the tiles that read it, whose outputs begin at most three before it.
    assert np.isfinite(out[0, :, :16]).all()


TAKEN = {
    "usual": (True, {}),
    "stride": (False, {"stride": (2, 2)}),
    "dilation": (False, {"dilate": (2, 2)}),
    "groups": (False, {"num_group": 2}),
    "uneven padding": (False, {"pad": (1, 0)}),
}


@pytest.mark.parametrize("name", TAKEN)
def test_which_windows_are_taken(name: str) -> None:
    taken, given_attrs = TAKEN[name]
    groups = given_attrs.get("num_group", 1)  # type: ignore[attr-defined]
    specs = [Spec((4, 64, 28, 28), FLOAT32), Spec((64, 64 // groups, 3, 3), FLOAT32)]
    attrs = attributes(CONVOLUTION, 1, 64, **given_attrs)
    assert winograd_of(CONVOLUTION).supports(*specs, **attrs) is taken


@pytest.mark.parametrize(
    ("data", "weight", "dtype"),
    [
        ((1, 64, 6, 6), (64, 64, 3, 3), FLOAT32),  # few tiles
        ((4, 3, 28, 28), (64, 3, 3, 3), FLOAT32),  # few channels
        ((4, 40, 28, 28), (64, 40, 3, 3), FLOAT32),  # no whole vectors
        ((4, 64, 28, 28), (64, 64, 3, 3), BFLOAT16),
    ],
)
def test_what_does_not_pay_is_left_to_others(data: Any, weight: Any, dtype: Any) -> None:
    attrs = attributes(CONVOLUTION, 1, 64)
    assert not winograd_of(CONVOLUTION).supports(Spec(data, dtype), Spec(weight, dtype), **attrs)


def test_contiguous_images_and_other_activations_are_refused() -> None:
    data, weight = images((2, 32, 16, 16), 1), images((32, 32, 3, 3), 2)
    out = np.zeros_like(data)
    plan = winograd.outputs_plan
    with pytest.raises(RefusedError, match="channels last"):
        plan((out.copy(),), (np.ascontiguousarray(data), weight), attributes(CONVOLUTION, 1, 32))
    attrs = attributes(FUSED_CONVOLUTION, 1, 32, activation="tanh")
    with pytest.raises(RefusedError, match="relu"):
        plan((out,), (data, weight), attrs)


def test_what_is_refused_goes_to_the_next_kernel() -> None:
    data = np.ascontiguousarray(images((2, 32, 16, 16), 1))
    weight = np.ascontiguousarray(images((32, 32, 3, 3), 2))
    attrs = attributes(CONVOLUTION, 1, 32)
    out = np.zeros_like(data)
    winograd_of(CONVOLUTION).kernel(np, out, data, weight, **attrs)
    expect(CONVOLUTION, [out], [data, weight], attrs)


@pytest.mark.parametrize("flag", [MXNET_WINOGRAD_CONVOLUTION, MXNET_USE_FUSION])
def test_a_variable_switches_it_off(flag: Any) -> None:
    specs = [Spec((4, 64, 28, 28), FLOAT32), Spec((64, 64, 3, 3), FLOAT32)]
    attrs = attributes(CONVOLUTION, 1, 64)
    chosen = CONVOLUTION.select_fast("cpu", specs, attrs)
    assert chosen is not None
    assert chosen.name == "generated.winograd"
    with flag.override(False):
        chosen = CONVOLUTION.select_fast("cpu", specs, attrs)
    assert chosen is not None
    assert chosen.name == "onednn.convolution"
