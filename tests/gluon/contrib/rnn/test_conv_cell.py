"""Convolutional cells: layouts, state shapes and refusals; numbers are in test_cells_golden."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib import rnn as contrib
from gluonish.ndarray import NDArray, array

KINDS = ("RNN", "LSTM", "GRU")
LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def fill(name: str, values: NDArray) -> None:
    wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
    values[:] = array(wave * 0.4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_layouts_differ_by_their_axes_only(rank: int, kind: str) -> None:
    make: Any = getattr(contrib, f"Conv{rank}D{kind}Cell")
    shape = (2, 5, 4, 3)[: rank + 1]
    one = make(shape, 3, 3, 3, i2h_pad=1)
    two = make((*shape[1:], shape[0]), 3, 3, 3, i2h_pad=1, conv_layout=LAST[rank])
    one.initialize(init="one")
    two.initialize(init="one")
    for name, parameter in one._collect_params_with_prefix().items():
        fill(name, parameter.data())
        value = parameter.data().asnumpy()
        moved = np.moveaxis(value, 1, -1) if value.ndim > 1 else value
        two._collect_params_with_prefix()[name].set_data(array(moved))
    x = np.random.default_rng(0).standard_normal((2, 3, *shape)).astype(np.float32)
    want, states = one.unroll(3, array(x), merge_outputs=True)
    found, last = two.unroll(3, array(np.moveaxis(x, 2, -1)), merge_outputs=True)
    np.testing.assert_allclose(
        np.moveaxis(found.asnumpy(), -1, 2), want.asnumpy(), rtol=1e-4, atol=1e-5
    )
    assert last[0].shape == two.state_info(2)[0]["shape"]
    assert states[0].shape == one.state_info(2)[0]["shape"]
    assert repr(two) == repr(one).replace(one._conv_layout, LAST[rank])


def test_the_state_has_the_extents_of_the_inputs_convolution() -> None:
    cell = contrib.Conv2DLSTMCell((3, 9, 8), 4, (3, 2), 3, i2h_pad=(0, 1), i2h_dilate=(2, 1))
    assert cell.state_info(5) == [{"shape": (5, 4, 5, 9), "__layout__": "NCHW"}] * 2


X = nd.ones((1, 3, 8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: contrib.Conv1DGRUCell((3, 8), 4, 3, 2), "expected odd sizes in h2h_kernel, g"),
        (lambda: contrib.Conv2DGRUCell((3, 8, 8), 4, 3, (3, 4)), "odd sizes in h2h_kernel"),
        (lambda: contrib.Conv2DGRUCell((3, 8), 4, 3, 3), "Conv2DGRUCell input_shape: expected"),
        (lambda: contrib.Conv2DGRUCell((3, 8, 8), 4, (3,), 3), "Conv2DGRUCell i2h_kernel: expect"),
        (
            lambda: contrib.Conv1DRNNCell((3, 2), 4, 3, 3)(X, []),
            r"at least the size of i2h_kernel \(3,\), got",
        ),
        (
            lambda: contrib.Conv1DRNNCell((3, 8), 0, 3, 3)(X, []),
            "expected 1 channel or more, got 3 of",
        ),
        (
            lambda: contrib.Conv2DRNNCell((3, 8, 8), 4, 3, 3, conv_layout="NCW"),
            "Conv2DRNNCell: expected layout NCHW or NHWC, got 'NCW'",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()


def test_hybridized_steps_equal_imperative_ones() -> None:
    cell = contrib.Conv2DLSTMCell((2, 4, 4), 3, 3, 3, i2h_pad=1)
    cell.initialize(init="one")
    x = nd.ones((2, 2, 4, 4))
    want, _ = cell(x, cell.begin_state(2))
    cell.hybridize()
    found, _ = cell(x, cell.begin_state(2))
    np.testing.assert_allclose(found.asnumpy(), want.asnumpy(), atol=1e-6)
