import gluonish as mx
from gluonish.gluon import nn


def test_sparse_gradient_holds_the_rows_looked_up() -> None:
    net = nn.Embedding(5, 2, sparse_grad=True)
    net.initialize()
    with mx.autograd.record():
        y = net(mx.nd.array([3, 1, 3]))
    y.backward()
    grad = net.weight.grad()
    assert grad.stype == "row_sparse"
    assert grad.indices.asnumpy().tolist() == [1, 3]  # type: ignore[attr-defined]
    assert grad.data.asnumpy().tolist() == [[1, 1], [2, 2]]  # type: ignore[attr-defined]
