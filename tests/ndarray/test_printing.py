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
