"""group_adagrad_update: history in place, one entry a row, as MXNet 1.9.1 moved it."""

import numpy as np
import pytest

import gluonish as mx


@pytest.mark.parametrize("shape", [(3, 1), (3,)], ids=str)
def test_history_gains_the_mean_square_of_each_row(shape: tuple[int, ...]) -> None:
    weight = mx.nd.array([[2.2697546, -1.4543657], [0.0457585, -0.1871839], [1.5327792, 1.4693588]])
    grad = mx.nd.array([[0.5, -2], [0, 0], [3, 0.1]])
    history = mx.nd.array([0.1, 0.2, 0.3]).reshape(shape)
    mx.nd.contrib.group_adagrad_update(
        weight,
        grad,
        history,
        lr=0.1,
        clip_gradient=1.0,
        rescale_grad=0.5,
        epsilon=1e-3,
        out=weight,
    )
    moved = [[2.2383137, -1.328602], [0.0457585, -0.1871839], [1.4211327, 1.4637765]]
    np.testing.assert_allclose(weight.asnumpy(), moved, rtol=1e-5)
    np.testing.assert_allclose(history.asnumpy().ravel(), [0.63125, 0.2, 0.80125], rtol=1e-6)
