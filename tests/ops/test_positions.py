"""Operators that give positions, in every dtype and over rows short and long: right, or refused.

MXNet 1.9.1 gave 44 for position 300 in uint8, 5000 for 4999 and inf for 69999 in float16.
"""

import sys
from subprocess import run
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.dtype import exact_up_to, normalize_dtype
from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follow_mxnet

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64")
LARGEST = {
    "bool": 1,
    "int8": 127,
    "uint8": 255,
    "int32": 2**31 - 1,
    "int64": 2**63 - 1,
    "float16": 2**11,
    "bfloat16": 2**8,
    "float32": 2**24,
    "float64": 2**53,
}
LENGTHS = (2, 128, 129, 256, 257, 258, 500, 2049, 2050, 5000, 70000)


@pytest.mark.parametrize("dtype", LARGEST)
def test_dtype_holds_whole_numbers_up_to(dtype: str) -> None:
    assert exact_up_to(normalize_dtype(dtype)) == LARGEST[dtype]


def row(length: int, dtype: str) -> Any:
    """Two rows, whose one extreme value is at the end and before it."""
    values = np.ones((2, length), np.int64)
    values[0, -1] = values[1, -2] = 3
    return nd.array(values, dtype="float32").astype(dtype)


def right_or_refused(name: str, length: int, dtype: str, call: Any) -> None:
    if length - 1 > LARGEST[dtype]:
        message = (
            f"{name}: expected a dtype that holds the positions of {length} elements, got {dtype}, "
            f"which is exact up to {LARGEST[dtype]}; "
        )
        with pytest.raises(OperatorError) as caught:
            call()
        assert str(caught.value).startswith(message)
        return
    found = call()
    assert np.dtype(found.dtype).name == dtype
    assert found.astype("float64").asnumpy().ravel().tolist() == [length - 1, length - 2]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_positions_in_the_dtype_of_data_are_right_or_refused(dtype: str, length: int) -> None:
    x = row(length, dtype)
    right_or_refused("argmax", length, dtype, lambda: nd.argmax(x, axis=1))
    right_or_refused("argmin", length, dtype, lambda: nd.argmin(4 - x, axis=1))
    right_or_refused("argmax_channel", length, dtype, lambda: nd.argmax_channel(x))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_positions_in_a_dtype_that_is_named_are_right_or_refused(dtype: str, length: int) -> None:
    x = row(length, "float32")
    right_or_refused("topk", length, dtype, lambda: nd.topk(x, dtype=dtype))
    both = {"ret_typ": "both", "dtype": dtype}
    right_or_refused("topk", length, dtype, lambda: nd.topk(x, **both)[1])
    right_or_refused(
        "argsort", length, dtype, lambda: nd.argsort(x, is_ascend=False, dtype=dtype)[:, :1]
    )
    likely = nd.array(x.asnumpy() == 3)
    right_or_refused(
        "sample_multinomial", length, dtype, lambda: nd.sample_multinomial(likely, dtype=dtype)
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_masks_have_no_positions(dtype: str) -> None:
    x = row(5000, dtype)
    assert (
        nd.topk(x, ret_typ="value", dtype="uint8").astype("int32").asnumpy().tolist() == [[3]] * 2
    )
    assert int(nd.topk(x, ret_typ="mask", dtype="uint8").astype("int32").sum().asscalar()) == 2
    np.testing.assert_array_equal(nd.sort(x).astype("int32").asnumpy()[:, -2:], [[1, 3]] * 2)


def test_positions_among_all_elements_count_them_all() -> None:
    x = nd.ones((3, 100), dtype="int8")
    assert nd.argmax(x, axis=1).asnumpy().tolist() == [0, 0, 0]
    with pytest.raises(OperatorError, match="positions of 300 elements, got int8"):
        nd.argmax(x)
    with pytest.raises(OperatorError, match="positions of 300 elements, got uint8"):
        nd.topk(x, axis=None, dtype="uint8")


def test_pairs_of_half_precision_are_refused_beyond_what_it_holds() -> None:
    scores = nd.ones((1, 2050), dtype="float16")
    with pytest.raises(OperatorError, match="positions of 2050 elements, got float16"):
        nd.contrib.bipartite_matching(scores, threshold=0.5)
    assert nd.contrib.bipartite_matching(scores[:, 1:], threshold=0.5)[0].asnumpy().tolist() == [0]


# Numbers of a dtype in steps of 1, and one more than it holds; with others that are all right.
HELD = {"float16": 2049, "bfloat16": 257, "float32": 2**24 + 1, "int8": 128, "uint8": 256}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8"])
def test_arange_like_is_right_or_refused(dtype: str, hybridize: bool) -> None:
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.contrib.arange_like(x, axis=1)

    net = Net()
    net.hybridize(hybridize)
    count = HELD[dtype]
    found = net(nd.zeros((2, count)).astype(dtype)).astype("float64")
    np.testing.assert_array_equal(found.asnumpy(), np.arange(count))
    with pytest.raises(OperatorError, match=f"arange_like: expected .*{dtype}.*; cast the data"):
        net(nd.zeros((2, count + 1)).astype(dtype))


def test_arange_like_in_float32_beyond_2_to_the_24() -> None:
    with pytest.raises(OperatorError, match=r"arange_like: .* to 16777217"):
        nd.contrib.arange_like(nd.zeros(2), start=2**24)
    with pytest.raises(OperatorError, match="arange_like"):
        mx.npx.arange_like(mx.np.zeros(3000, dtype="float16"), step=0.1)
    found = nd.contrib.arange_like(nd.zeros(3), start=2**24, step=2).asnumpy()
    assert found.tolist() == [2**24, 2**24 + 2, 2**24 + 4]
    found = nd.contrib.arange_like(nd.zeros(4), start=2**24 - 1, repeat=2).asnumpy()
    assert found.tolist() == [2**24 - 1, 2**24 - 1, 2**24, 2**24]
    (shape,) = mx.sym.contrib.arange_like(mx.sym.var("x")).infer_shape(x=(3, 4))[1]
    assert shape == (3, 4)


RANGES = {
    "nd": lambda: nd.arange(2**24, 2**24 + 3),
    "np": lambda: mx.np.arange(2**24, 2**24 + 3),
    "half": lambda: nd.arange(2051, dtype="float16"),
    "bytes": lambda: nd.arange(257, dtype="uint8"),
    "below 0": lambda: mx.np.arange(-1, 2, dtype="uint8"),
    "linspace": lambda: mx.np.linspace(0, 2050, 2051, dtype="float16"),
}


@pytest.mark.parametrize("name", RANGES)
def test_a_range_that_its_dtype_does_not_hold_warns(name: str) -> None:
    with pytest.warns(RuntimeWarning, match="expected a dtype that holds") as found:
        RANGES[name]()
    assert found[0].filename == __file__  # those of gluonish's own lines are ignored


def test_the_warning_of_a_range_is_shown_to_a_program() -> None:
    program = "from gluonish import nd; nd.arange(2051, dtype='float16')"
    shown = run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "<string>:1: RuntimeWarning: arange: expected a dtype that holds" in shown.stderr


def test_ranges_that_are_held_do_not_warn() -> None:
    assert nd.arange(2049, dtype="float16").shape == (2049,)
    assert mx.np.arange(2**24, 2**24 + 3, dtype="int64").asnumpy()[-1] == 2**24 + 2
    assert mx.np.linspace(0, 1, 3000, dtype="float16").shape == (3000,)
    assert nd.arange(0, 2**25, 2**24).shape == (2,)
    before = follow_mxnet()
    try:
        assert nd.arange(2050, dtype="float16").shape == (2050,)
        assert nd.contrib.arange_like(nd.zeros(2060, dtype="float16")).shape == (2060,)
    finally:
        follow_mxnet(before)


def test_flat_indices_beyond_the_dtype_of_coordinates_are_refused() -> None:
    at = nd.array([[4999], [4999]])
    with pytest.raises(OperatorError, match="ravel_multi_index: expected a dtype that holds"):
        nd.ravel_multi_index(at, shape=(5000, 5000))
    found = nd.ravel_multi_index(at.astype("int64"), shape=(5000, 5000))
    assert found.asscalar() == 5000 * 5000 - 1
    assert nd.ravel_multi_index(at, shape=(-1, 5000)).shape == (1,)


def test_cumulative_sums_of_ones_go_on_beyond_2_to_the_24() -> None:
    step = 2**20
    x = np.full(step + 77, 64, np.float32)  # 2 ** 26 in all
    exact = np.arange(1, x.size + 1) * 64
    for found in (nd.cumsum(nd.array(x)), mx.np.cumsum(mx.np.array(x).reshape(-1, 1), axis=0)):
        np.testing.assert_array_equal(found.asnumpy().ravel(), exact.astype(np.float32))
