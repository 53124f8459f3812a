"""Convolutional cells whose input channels are not told."""

import pytest

import gluonish as mx


@pytest.mark.parametrize("hybridize", [False, True])
def test_no_channels_mean_those_of_the_first_input(hybridize):
    cell = mx.gluon.contrib.rnn.Conv1DLSTMCell((0, 7), 10, 3, 3, i2h_pad=1)
    cell.initialize()
    if hybridize:
        cell.hybridize()
    out, _ = cell(mx.nd.ones((2, 5, 7)), cell.begin_state(2))
    assert cell.i2h_weight.shape == (40, 5, 3)  # type: ignore[attr-defined]
    assert out.shape == (2, 10, 7)
