import base64
import io
import re
import time
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from tests.notebook_html import check_html, text_of


@pytest.mark.parametrize("package", [mx.nd, mx.np])
def test_an_array_shows_shape_dtype_device_and_values(package: Any) -> None:
    array = package.array([[1, 2], [3, 6]], dtype="float32")
    text = text_of(check_html(array._repr_html_()))
    name = type(array).__name__
    assert (
        text == f"{name} (2, 2) · float32 · cpu(0) · 16 B · min 1, mean 3, max 6 [[1. 2.] [3. 6.]]"
    )


def test_a_gradient_and_the_device_are_shown() -> None:
    array = nd.ones((2,), ctx=mx.cpu(1))
    array.attach_grad()
    assert "cpu(1) · 8 B · with gradient" in text_of(array._repr_html_())


def test_not_finite_values_are_counted() -> None:
    array = nd.array([1, np.nan, 3, np.inf, np.nan])
    assert "min 1, mean 2, max 3, 2 NaN, 1 infinite" in text_of(array._repr_html_())
    assert "· 2 NaN [nan nan]" in text_of(nd.array([np.nan, np.nan])._repr_html_())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "bool", "float64"])
def test_each_dtype_is_shown(dtype: str) -> None:
    text = text_of(check_html(mx.np.array([0, 1, 1], dtype=dtype)._repr_html_()))
    assert f"ndarray (3,) · {dtype} · cpu(0)" in text


def test_scalars_and_empty_arrays_are_shown() -> None:
    assert text_of(mx.np.array(2.5)._repr_html_()) == "ndarray () · float32 · cpu(0) · 4 B 2.5"
    assert "NDArray (0, 3)" in text_of(check_html(nd.zeros((0, 3))._repr_html_()))


def test_of_more_than_two_axes_the_first_are_shown() -> None:
    html = nd.array(np.arange(24).reshape((2, 3, 2, 2)))._repr_html_()
    assert "x[0, 0]: [[0. 1.] [2. 3.]]" in text_of(html)
    assert len(check_html(nd.zeros((50, 50, 50))._repr_html_())) < 3000


def test_a_huge_array_shows_a_corner_sooner_than_its_copy() -> None:
    array = nd.zeros((6000, 6000))
    array[0, 1] = 7
    start = time.perf_counter()
    array.asnumpy()
    copied = time.perf_counter()
    html = check_html(array._repr_html_())
    shown = time.perf_counter()
    assert "[0. 7. 0. 0. 0. 0.]" in html
    assert shown - copied < copied - start + 0.5


def picture(html: str) -> np.ndarray:
    image = pytest.importorskip("PIL.Image")
    encoded = re.search(r'base64,([^"]+)"', html)
    assert encoded is not None
    return np.asarray(image.open(io.BytesIO(base64.b64decode(encoded[1]))))


def test_an_image_of_bytes_is_shown() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    html = check_html(nd.array(pixels, dtype="uint8")._repr_html_())
    assert (picture(html) == pixels).all()
    assert "min " in text_of(html)


def test_a_large_image_is_shown_smaller() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (1000, 700, 3), np.uint8)
    html = check_html(nd.array(pixels, dtype="uint8")._repr_html_())
    assert (picture(html) == pixels[::3, ::3]).all()


@pytest.mark.parametrize(
    "values", [np.zeros((20, 30, 3), np.float32), np.zeros((20, 30, 2), np.uint8)]
)
def test_other_arrays_are_no_images(values: np.ndarray) -> None:
    assert "<img" not in str(nd.array(values, dtype=values.dtype)._repr_html_())


def test_sparse_arrays_show_what_they_store() -> None:
    dense = np.zeros((4, 5), np.float32)
    dense[1, 2], dense[3, 0] = 1.5, -2
    csr = text_of(check_html(nd.sparse.csr_matrix(dense)._repr_html_()))
    assert "CSRNDArray (4, 5) · float32 · cpu(0) · 2 stored values (10.00%)" in csr
    assert "(1, 2) 1.5 (3, 0) -2" in csr
    rows = nd.sparse.row_sparse_array(nd.array(dense))
    text = text_of(check_html(rows._repr_html_()))
    assert "row 1: [0. 0. 1.5 0. 0. ] row 3: [-2. 0. 0. 0. 0.]" in text
    for empty in (nd.sparse.zeros("csr", (3, 4)), nd.sparse.zeros("row_sparse", (3, 4))):
        assert "0 stored values" in text_of(check_html(empty._repr_html_()))


def test_without_values_the_text_is_left_to_say_why() -> None:
    seen = []

    class Net(mx.gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            seen.append(x._repr_html_())
            return x * 2

    net = Net()
    net.hybridize()
    net(nd.ones(2))
    assert seen[0] is None
