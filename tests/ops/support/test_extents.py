from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Shape, Spec
from gluonish.ops.registry import find_operator
from gluonish.ops.support.shape_rules import limited

HUGE = (10**6, 10**6)
FLOAT = np.dtype(np.float32)


def infer(name: str, *shapes: Shape, **attrs: Any) -> Shape:
    op = find_operator(name)
    known = op.schema.parse(name, attrs)
    return op.infer(*(Spec(shape, FLOAT) for shape in shapes), **known)[0].shape


def test_an_extent_of_zero_hides_nothing() -> None:
    assert limited("op", (0, 2**31 - 1)) == (0, 2**31 - 1)
    with pytest.raises(OperatorError, match=r"op: expected an output of at most 2147483647 el"):
        limited("op", (0, 2**16, 2**15))


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"pad": HUGE}, "padded data"),
        ({"pad": HUGE, "stride": HUGE}, "padded data"),
        ({"stride": (2**31, 1)}, "stride to be ints of at most"),
        ({"dilate": (1, 10**30)}, "dilate to be ints of at most"),
    ],
)
def test_convolutions_refuse_huge_attributes(attrs: dict[str, Any], message: str) -> None:
    with pytest.raises(OperatorError, match=f"Convolution: expected {message}"):
        infer("Convolution", (1, 1, 8, 8), (1, 1, 3, 3), (1,), kernel=(3, 3), num_filter=1, **attrs)


def test_a_huge_stride_that_needs_no_memory_is_taken() -> None:
    attrs = {"kernel": (3, 3), "num_filter": 1, "stride": HUGE, "no_bias": True}
    assert infer("Convolution", (1, 1, 8, 8), (1, 1, 3, 3), **attrs) == (1, 1, 1, 1)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("attrs", [{}, {"pad": (3500000, 3500000)}])
def test_deconvolutions_refuse_huge_attributes(attrs: dict[str, Any], layout: str) -> None:
    shapes = [(1, 1, 8, 8), (1, 1, 3, 3)] if layout == "NCHW" else [(1, 8, 8, 1), (1, 3, 3, 1)]
    given = {"kernel": (3, 3), "num_filter": 1, "stride": HUGE, "layout": layout, **attrs}
    with pytest.raises(OperatorError, match="Deconvolution: expected padded data of at most"):
        infer("Deconvolution", *shapes, **given)


@pytest.mark.parametrize(
    "attrs",
    [
        {"kernel": HUGE, "pad": (999999, 999999), "stride": HUGE},
        {"kernel": HUGE, "pooling_convention": "same"},
        {"kernel": (3, 3), "stride": HUGE, "pooling_convention": "full"},
    ],
)
def test_pooling_refuses_huge_attributes(attrs: dict[str, Any]) -> None:
    with pytest.raises(OperatorError, match="Pooling: expected padded data of at most"):
        infer("Pooling", (1, 1, 8, 8), **attrs)


def test_pooling_refuses_a_huge_output() -> None:
    with pytest.raises(OperatorError, match="Pooling: expected"):
        infer("Pooling", (2**11, 2**10, 2**5, 2**5), kernel=(1, 1))
