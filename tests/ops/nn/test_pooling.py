from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec
from gluonish.ops.nn.pooling import POOLING
from gluonish.ops.registry import apply
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

_RANDOM = np.random.default_rng(5)


def _pool(data: Any, **attrs: Any) -> Any:
    return apply(POOLING, [ArrayValue(data)], POOLING.schema.parse("Pooling", attrs)).array


@pytest.mark.parametrize("kind", ["max", "avg", "sum", "lp"])
@pytest.mark.parametrize(
    ("shape", "attrs"),
    [
        ((2, 3, 7), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
        ((1, 2, 5, 6), {"kernel": (2, 3), "stride": (2, 2), "pooling_convention": "full"}),
        (
            (1, 5, 4, 2),
            {"kernel": (3, 2), "layout": "NHWC", "count_include_pad": False, "pad": (1, 1)},
        ),
        ((1, 2, 3, 4, 3), {"kernel": (2, 2, 2), "stride": (1, 2, 1)}),
        ((1, 2, 4, 3), {"global_pool": True}),
        ((1, 2, 5), {"kernel": (2,), "stride": (2,), "pooling_convention": "same"}),
    ],
)
def test_gradients_agree_with_differences_to_second_order(
    kind: str, shape: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    p = {"p_value": 2} if kind == "lp" else {}
    data = _RANDOM.permutation(int(np.prod(shape))).reshape(shape) / 8 + 0.5
    check_operator(POOLING, [data], {**attrs, "pool_type": kind, **p}, half_tolerance=3e-2)


@pytest.mark.parametrize("p", [1, 3])
def test_other_norms_are_differentiable(p: int) -> None:
    data = _RANDOM.uniform(0.5, 2, (1, 2, 6))
    check_operator(
        POOLING,
        [data],
        {"kernel": (3,), "stride": (3,), "pool_type": "lp", "p_value": p},
        lambda x: (x.reshape(1, 2, 2, 3) ** p).sum(-1) ** (1 / p),
    )


def test_a_window_of_zeros_has_a_zero_norm_gradient() -> None:
    data = ArrayValue(np.zeros((1, 1, 4)))
    attrs = POOLING.schema.parse("Pooling", {"kernel": (2,), "pool_type": "lp", "p_value": 2})
    out = apply(POOLING, [data], attrs)
    assert not POOLING.gradient(out + 1.0, data, out, **attrs)[0].array.any()  # type: ignore[misc]


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    data = ArrayValue(np.ones((1, 1, 5)))
    attrs = POOLING.schema.parse("Pooling", {"kernel": (3,)})
    out = apply(POOLING, [data], attrs)
    found = POOLING.gradient(out, data, out, **attrs)[0].array  # type: ignore[misc]
    assert found.tolist() == [[[1, 1, 1, 0, 0]]]


def test_padding_never_is_the_maximum() -> None:
    assert _pool(-np.ones((1, 1, 4)), kernel=(3,), pad=(1,)).tolist() == [[[-1.0] * 4]]


def test_integers_have_maxima_and_no_means() -> None:
    data = np.array([[[1, 4, 2]]], np.uint8)
    assert _pool(data, kernel=(2,)).tolist() == [[[4, 4]]]
    with pytest.raises(OperatorError, match="expected floating data for pool_type='avg'"):
        _pool(data, kernel=(2,), pool_type="avg")


def test_the_same_convention_covers_every_element() -> None:
    data = np.arange(1.0, 8).reshape(1, 1, 7)
    found = _pool(data, kernel=(2,), stride=(3,), pool_type="sum", pooling_convention="same")
    assert found.tolist() == [[[3, 9, 7]]]


@pytest.mark.parametrize(
    ("shape", "attrs", "message"),
    [
        ((1, 2, 4), {"kernel": (6,)}, "kernel of at most 4, the padded size, got 6"),
        ((1, 2, 4), {"kernel": (2,), "pad": (2,)}, "pad smaller than kernel"),
        ((1, 2, 4), {"kernel": (2, 2)}, "expected a kernel of 1 axes"),
        ((2, 4), {"kernel": ()}, "expected data of 3 to 5 axes"),
        ((1, 2, 4), {"kernel": (2,), "pool_type": "lp"}, "expected p_value 1, 2 or 3"),
        ((1, 2, 4), {"kernel": (2,), "pad": (1,), "pooling_convention": "same"}, "expected no pad"),
    ],
)
def test_attributes_that_do_not_fit_are_refused(
    shape: tuple[int, ...], attrs: dict[str, Any], message: str
) -> None:
    with pytest.raises(OperatorError, match=message):
        POOLING.infer(Spec(shape, np.dtype(np.float32)), **POOLING.schema.parse("Pooling", attrs))


def test_an_empty_batch_is_pooled() -> None:
    assert _pool(np.zeros((0, 2, 4)), kernel=(2,)).shape == (0, 2, 3)


def test_an_unknown_batch_stays_unknown() -> None:
    inputs, outputs = [PartialSpec((UNKNOWN, 3, 8, 8), None)], [PartialSpec()]
    POOLING.complete(  # type: ignore[misc]
        inputs, outputs, POOLING.schema.parse("Pooling", {"kernel": (2, 2), "stride": (2, 2)})
    )
    assert outputs[0].shape == (UNKNOWN, 3, 4, 4)


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_nothing_to_pool_is_refused(kind: str) -> None:
    with pytest.raises(OperatorError, match=r"expected elements to pool, got sizes \(0, 3\)"):
        _pool(np.zeros((1, 2, 0, 3), np.float32), pool_type=kind, global_pool=True)


@pytest.mark.parametrize("kind", ["max", "avg", "sum"])
def test_one_axis_reads_no_more_than_the_first_step_and_padding(kind: str) -> None:
    x = mx.nd.array(np.arange(8, dtype=np.float32).reshape(1, 1, 8) % 5)
    given = {"kernel": (3,), "stride": (2, 3), "pad": (1, 0, 2), "pool_type": kind}
    plain = {**given, "stride": (2,), "pad": (1,)}
    found, expected = mx.nd.Pooling(x, **given), mx.nd.Pooling(x, **plain)
    assert found.asnumpy().tolist() == expected.asnumpy().tolist()
    same = mx.nd.Pooling(x, kernel=(3,), pad=(0, 0, 0), pooling_convention="same", pool_type=kind)
    assert same.shape == (1, 1, 8)
    with pytest.raises(mx.MXNetError, match="expected no pad"):
        mx.nd.Pooling(x, kernel=(3,), pad=(0, 0, 1), pooling_convention="same", pool_type=kind)
