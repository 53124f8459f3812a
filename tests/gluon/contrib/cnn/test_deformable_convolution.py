from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.gluon import nn
from gluonish.gluon.contrib.cnn import DeformableConvolution, ModulatedDeformableConvolution
from gluonish.ndarray import array

LAYERS = (DeformableConvolution, ModulatedDeformableConvolution)
X = np.random.default_rng(0).standard_normal((2, 4, 6, 7)).astype(np.float32)


@pytest.mark.parametrize("layer", LAYERS)
def test_without_offsets_it_is_a_convolution(layer: Any) -> None:
    settings: dict[str, Any] = {"strides": (2, 1), "padding": 1, "dilation": (1, 2)}
    made, plain = layer(3, (3, 2), **settings), nn.Conv2D(3, (3, 2), **settings)
    for block in (made, plain):
        block.initialize()
        block(array(X))
    plain.weight.set_data(made.deformable_conv_weight.data())
    # The offsets' convolution begins with zeros: offsets 0, and a mask of 1.
    np.testing.assert_allclose(made(array(X)).asnumpy(), plain(array(X)).asnumpy(), 1e-4, 1e-5)


def test_offset_bias_moves_what_is_read() -> None:
    made = DeformableConvolution(1, (1, 1), in_channels=4, offset_bias_initializer="ones")
    made.initialize("ones")
    expected = np.zeros((2, 1, 6, 7), np.float32)
    expected[:, 0, :-1, :-1] = X.sum(1)[:, 1:, 1:]  # one down and one to the right
    np.testing.assert_allclose(made(array(X)).asnumpy(), expected, 1e-4, 1e-5)


@pytest.mark.parametrize("layer", LAYERS)
def test_layout_with_channels_last_is_refused(layer: Any) -> None:
    with pytest.raises(ArgumentError, match=f"{layer.__name__}: expected layout NCHW, got 'NHWC'"):
        layer(2, (3, 3), layout="NHWC")


@pytest.mark.parametrize("layer", LAYERS)
def test_adj_is_refused(layer: Any) -> None:
    with pytest.raises(ArgumentError, match=f"{layer.__name__}: expected adj=None"):
        layer(2, (3, 3), adj=(1, 1))


def test_unknown_operator_is_refused() -> None:
    with pytest.raises(OperatorError, match="expected a registered name, got '_contrib_Foo'"):
        DeformableConvolution(2, (3, 3), op_name="Foo")


def test_wrong_number_of_extents_is_refused() -> None:
    with pytest.raises(ArgumentError, match="DeformableConvolution kernel_size: expected an int"):
        DeformableConvolution(2, (3, 3, 3))
