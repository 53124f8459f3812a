from typing import Any

import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.context import cpu


# What MXNet 1.9.1 prints, but for arrays without axes or elements, which it cannot.
@pytest.mark.parametrize(
    ("array", "text"),
    [
        (nd.array([[1, 2, 3], [4, 5, 6]]), "\n[[1. 2. 3.]\n [4. 5. 6.]]\n<NDArray 2x3 @cpu(0)>"),
        (nd.array([1], dtype="int32", ctx=cpu(1)), "\n[1]\n<NDArray 1 @cpu(1)>"),
        (nd.array(3), "\n3.0\n<NDArray  @cpu(0)>"),
        (nd.zeros((0, 3)), "\n[]\n<NDArray 0x3 @cpu(0)>"),
        (nd.ones((2,), dtype="bfloat16"), "\n[1. 1.]\n<NDArray 2 @cpu(0)>"),
    ],
)
def test_array_prints_as_in_mxnet(array: nd.NDArray, text: str) -> None:
    assert repr(array) == text
    assert str(array) == text


def test_large_array_prints_shortened() -> None:
    assert "..." in repr(nd.zeros((100, 100)))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("spec", [".3f", ">9.1e", "+.2%", "g", "08.3f"])
def test_format_of_one_element_is_that_of_its_number(spec: str, shape: tuple[int, ...]) -> None:
    value = np.float32(1.23456)
    assert format(nd.full(shape, value), spec) == format(float(value), spec)


def test_format_of_an_integer_is_that_of_an_integer() -> None:
    array = nd.array([255], dtype="int32")
    assert f"{array:d} {array:#x} {array:.1f}" == "255 0xff 255.0"
    with pytest.raises(ValueError, match="'d' for object of type 'float'"):
        format(nd.array([1.5]), "d")


def test_format_without_a_specification_is_the_text_of_the_array() -> None:
    assert f"{nd.array([1, 2])}" == "\n[1. 2.]\n<NDArray 2 @cpu(0)>"


@pytest.mark.parametrize("size", [0, 2])
def test_number_format_of_several_elements_is_refused(size: int) -> None:
    with pytest.raises(TypeError, match=rf"'\.3f', got shape \({size},\); reduce it first, as in"):
        format(nd.zeros((size,)), ".3f")


@pytest.mark.parametrize("value", [1.23456, 2.5, 3.5, -0.5, 1e6])
def test_round_of_one_element_is_that_of_its_number(value: float) -> None:
    expected: Any = float(np.float32(value))
    for digits in (None, 0, 2, -2):
        rounded = round(nd.array([value]), digits)
        assert rounded == round(expected, digits)
        assert type(rounded) is type(round(expected, digits))


def test_round_of_several_elements_says_what_rounds_each() -> None:
    with pytest.raises(TypeError, match=r"got shape \(2,\); x\.round\(\) rounds each"):
        round(nd.zeros((2,)))
    with pytest.raises(TypeError, match=r"x\.as_np_ndarray\(\)\.round\(2\) rounds each"):
        round(nd.zeros((2,)), 2)
