"""IdentityAttachKLSparseReg: its moving average and its gradient, as MXNet 1.9.1 gave them."""

import numpy as np

import gluonish as mx


def test_average_moves_and_pushes_the_gradient() -> None:
    data = mx.nd.array([[0.1, 0.5, 0.9], [0.3, 0.2, 0.6]])
    average = mx.nd.array([0.2, 0.3, 0.4])
    data.attach_grad()
    with mx.autograd.record():
        out = mx.nd.IdentityAttachKLSparseReg(
            data, average, sparseness_target=0.2, penalty=0.01, momentum=0.8
        )
    out.backward(mx.nd.full((2, 3), 2.0))
    assert data.grad is not None
    np.testing.assert_allclose(average.asnumpy(), [0.2, 0.31, 0.47], rtol=1e-6)
    np.testing.assert_allclose(
        data.grad.asnumpy(), [[2.0, 2.0051427, 2.010839]] * 2, rtol=1e-6, atol=1e-7
    )


def test_average_stays_outside_training() -> None:
    average = mx.nd.array([0.2, 0.3, 0.4])
    mx.nd.IdentityAttachKLSparseReg(mx.nd.full((2, 3), 0.9), average).wait_to_read()
    np.testing.assert_allclose(average.asnumpy(), [0.2, 0.3, 0.4], rtol=1e-7)
