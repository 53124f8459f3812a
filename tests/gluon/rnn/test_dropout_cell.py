"""DropoutCell: what it drops, and what it refuses."""

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import rnn


@pytest.mark.parametrize("listed", [False, True])
def test_it_drops_in_training_only(listed: bool) -> None:
    cell = rnn.DropoutCell(0.4)
    x = nd.ones((50, 4, 20))
    given = [x[:, t] for t in range(4)] if listed else x
    assert (cell.unroll(4, given, merge_outputs=True)[0].asnumpy() == 1).all()
    with autograd.record():
        output, states = cell.unroll(4, given, merge_outputs=True)
    zero = output.asnumpy() == 0
    assert abs(zero.mean() - 0.4) < 0.05
    np.testing.assert_allclose(output.asnumpy()[~zero], 1 / 0.6, rtol=1e-5)
    assert states == []


@pytest.mark.parametrize("axes", [(1,), 1])
def test_axes_share_a_decision(axes: int | tuple[int, ...]) -> None:
    cell = rnn.DropoutCell(0.5, axes=axes)
    with autograd.record():
        output, _ = cell.unroll(4, nd.ones((5, 4, 20)))
    values = output.asnumpy()
    np.testing.assert_array_equal(values, np.broadcast_to(values[:, :1], values.shape))


def test_rates_are_checked() -> None:
    with pytest.raises(ArgumentTypeError, match="expected rate to be a number, got 'a'"):
        rnn.DropoutCell("a")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"expected rate in \[0, 1\], got 1.5"):
        rnn.DropoutCell(1.5)(nd.ones((1, 2)), [])
