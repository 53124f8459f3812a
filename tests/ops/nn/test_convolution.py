from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
)
from gluonish.ops.registry import apply
from gluonish.ops.support import windows
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

_RANDOM = np.random.default_rng(3)


def _normal(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape)


def _attrs(**given: Any) -> dict[str, Any]:
    return CONVOLUTION.schema.parse("Convolution", given)


def _specs(*shapes: tuple[int, ...]) -> list[Spec]:
    return [Spec(shape, np.dtype(np.float32)) for shape in shapes]


def _direct(data: Any, weight: Any, bias: Any) -> Any:
    out = np.zeros((len(data), len(weight), data.shape[2] - 1, data.shape[3] - 2))
    for y in range(out.shape[2]):
        for x in range(out.shape[3]):
            patch = data[:, None, :, y : y + 2, x : x + 3]
            out[:, :, y, x] = (patch * weight).sum((2, 3, 4)) + bias
    return out


def test_two_axes_equal_the_sum_over_patches() -> None:
    check_operator(
        CONVOLUTION,
        [_normal(2, 3, 4, 5), _normal(2, 3, 2, 3), _normal(2)],
        {"kernel": (2, 3), "num_filter": 2},
        _direct,
        half_tolerance=5e-2,
        zero_size=[_normal(0, 3, 4, 5), _normal(2, 3, 2, 3), _normal(2)],
    )


@pytest.mark.parametrize(
    ("data", "weight", "attrs"),
    [
        ((2, 2, 7), (3, 2, 3), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
        ((1, 4, 5, 5), (4, 2, 2, 2), {"kernel": (2, 2), "num_group": 2, "dilate": (2, 1)}),
        ((1, 2, 4, 3, 3), (2, 2, 2, 2, 1), {"kernel": (2, 2, 1), "stride": (1, 1, 2)}),
        ((1, 4, 5, 2), (3, 2, 2, 2), {"kernel": (2, 2), "layout": "NHWC", "pad": (1, 0)}),
        ((2, 3, 4, 4), (2, 3, 1, 1), {"kernel": (1, 1), "stride": (2, 3)}),
    ],
)
def test_gradients_agree_with_differences_to_second_order(
    data: tuple[int, ...], weight: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    given = {"num_filter": weight[0], "no_bias": True, **attrs}
    check_operator(CONVOLUTION, [_normal(*data), _normal(*weight)], given, half=False)
    out = apply(
        CONVOLUTION, [ArrayValue(_normal(*data)), ArrayValue(_normal(*weight))], _attrs(**given)
    )
    grad = _normal(*out.shape)
    check_operator(
        CONVOLUTION_BACKWARD_DATA,
        [grad, _normal(*weight)],
        {**given, "data_shape": data},
        half=False,
    )
    check_operator(
        CONVOLUTION_BACKWARD_WEIGHT,
        [grad, _normal(*data)],
        {**given, "weight_shape": weight},
        half=False,
    )


def test_channels_last_equals_channels_first() -> None:
    data, weight = _normal(2, 4, 6, 5), _normal(6, 2, 3, 2)
    attrs = {"kernel": (3, 2), "num_filter": 6, "num_group": 2, "no_bias": True, "stride": (2, 1)}
    first = apply(CONVOLUTION, [ArrayValue(data), ArrayValue(weight)], _attrs(**attrs))
    last = apply(
        CONVOLUTION,
        [ArrayValue(np.moveaxis(data, 1, -1)), ArrayValue(np.moveaxis(weight, 1, -1))],
        _attrs(**attrs, layout="NHWC"),
    )
    np.testing.assert_allclose(np.moveaxis(last.array, -1, 1), first.array)


def test_samples_in_chunks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [ArrayValue(_normal(3, 2, 5)), ArrayValue(_normal(4, 2, 3))]
    attrs = _attrs(kernel=(3,), num_filter=4, no_bias=True)
    backward = {**attrs, "weight_shape": (4, 2, 3)}
    whole = apply(CONVOLUTION, inputs, attrs)
    grad = apply(CONVOLUTION_BACKWARD_WEIGHT, [whole, inputs[0]], backward)
    monkeypatch.setattr(windows, "_CHUNK_ELEMENTS", 1)
    np.testing.assert_allclose(apply(CONVOLUTION, inputs, attrs).array, whole.array)
    parts = apply(CONVOLUTION_BACKWARD_WEIGHT, [whole, inputs[0]], backward)
    np.testing.assert_allclose(parts.array, grad.array)


def test_an_empty_batch_has_a_zero_weight_gradient() -> None:
    attrs = {**_attrs(kernel=(2,), num_filter=3, no_bias=True), "weight_shape": (3, 2, 2)}
    inputs = [ArrayValue(np.zeros((0, 3, 4))), ArrayValue(np.zeros((0, 2, 5)))]
    assert not apply(CONVOLUTION_BACKWARD_WEIGHT, inputs, attrs).array.any()


@pytest.mark.parametrize(
    ("shapes", "attrs", "message"),
    [
        (((1, 2, 4, 4), (3, 2, 2, 3)), {}, r"expected weight \(3, 2, 2, 2\)"),
        (((1, 2, 1, 4), (3, 2, 2, 2)), {}, "at least as large as the kernel"),
        (((1, 2, 4), (3, 2, 2, 2)), {}, "expected data of 4 axes"),
        (((1, 2, 4, 4), (3, 2, 2, 2)), {"stride": (2,)}, "expected stride to be 2 ints"),
        (((1, 2, 4, 4), (3, 2, 2, 2)), {"num_group": 2}, "num_group=2 divides"),
        (((1, 2, 4, 4), (3, 2, 2, 2)), {"layout": "NCW"}, "expected layout NCHW or NHWC"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    shapes: tuple[tuple[int, ...], ...], attrs: dict[str, Any], message: str
) -> None:
    with pytest.raises(OperatorError, match=message):
        CONVOLUTION.infer(
            *_specs(*shapes), **_attrs(kernel=(2, 2), num_filter=3, no_bias=True, **attrs)
        )


def test_mixed_dtypes_are_refused() -> None:
    data, weight = _specs((1, 2, 4), (3, 2, 2))
    with pytest.raises(OperatorError, match="data's dtype float16"):
        CONVOLUTION.infer(
            Spec(data.shape, np.dtype(np.float16)),
            weight,
            **_attrs(kernel=(2,), num_filter=3, no_bias=True),
        )


def test_parameters_follow_from_the_data() -> None:
    inputs = [PartialSpec((UNKNOWN, 8, 6, 6), np.dtype(np.float32)), PartialSpec(), PartialSpec()]
    outputs = [PartialSpec()]
    attrs = _attrs(kernel=(3, 3), num_filter=4, num_group=2, pad=(1, 1))
    CONVOLUTION.complete(inputs, outputs, attrs)  # type: ignore[misc]
    assert inputs[1] == PartialSpec((4, 4, 3, 3), np.dtype(np.float32))
    assert inputs[2].shape == (4,)
    assert outputs[0].shape == (UNKNOWN, 4, 6, 6)


def test_the_batch_may_follow_from_the_output() -> None:
    inputs = [PartialSpec((UNKNOWN, 2, 5), np.dtype(np.float32)), PartialSpec(), PartialSpec()]
    outputs = [PartialSpec((3, UNKNOWN, UNKNOWN))]
    CONVOLUTION.complete(inputs, outputs, _attrs(kernel=(3,), num_filter=4))  # type: ignore[misc]
    assert inputs[0].shape == (3, 2, 5)
    assert outputs[0].shape == (3, 4, 3)
