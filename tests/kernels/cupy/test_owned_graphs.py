"""Operators that run graphs or users' code give on ``gpu(0)`` what they give on ``cpu(0)``."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from tests.graph.control_flow_blocks import Recurrence, TracedSearch

pytestmark = pytest.mark.timeout(120)


def _results(kind: type[gluon.HybridBlock], ctx: mx.Context) -> list[Any]:
    """Return the output and all gradients of a hybridized block."""
    rng = np.random.default_rng(5)
    net = kind(prefix="net_")
    net.initialize(ctx=ctx)
    for parameter in net.collect_params().values():
        parameter.set_data(nd.array(rng.standard_normal(parameter.shape) * 0.5))
    net.hybridize()
    given = [nd.array(rng.standard_normal(s), ctx=ctx) for s in ((6, 2, 3), (2, 4))]
    for x in given:
        x.attach_grad()
    with autograd.record():
        y = net(*given)
    y.backward()
    grads = [x.grad for x in given] + [p.grad(ctx) for p in net.collect_params().values()]
    return [x.asnumpy() for x in (y, *grads)]


@pytest.mark.parametrize("kind", [Recurrence, TracedSearch])
def test_loops_and_branches_run_on_a_gpu(gpus: Any, kind: type[gluon.HybridBlock]) -> None:
    for got, want in zip(_results(kind, mx.gpu(0)), _results(kind, mx.cpu()), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


class _Scaled(mx.operator.CustomOp):
    """Twice the input, and a count of the calls."""

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        """Double."""
        self.assign(out_data[0], req[0], in_data[0] * 2)
        aux[0][:] = aux[0] + 1

    def backward(
        self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        """Double."""
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register("scaled_on_a_gpu")
class _ScaledProp(mx.operator.CustomOpProp):
    """What it takes."""

    def list_auxiliary_states(self) -> list[str]:
        """The count."""
        return ["count"]

    def infer_shape(self, in_shape: list[Any]) -> tuple[Any, ...]:
        """One number more."""
        return in_shape, in_shape, [(1,)]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> _Scaled:
        """Make it."""
        return _Scaled()


def test_operator_of_a_user_runs_on_a_gpu(gpus: Any) -> None:
    x = nd.array([1, 2, 3], ctx=mx.gpu(0))
    count = nd.zeros((1,), ctx=mx.gpu(0))
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, count, op_type="scaled_on_a_gpu")
        z = y * y
    z.backward()
    assert y.context == mx.gpu(0)
    np.testing.assert_array_equal(y.asnumpy(), [2, 4, 6])
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.asnumpy(), [8, 16, 24])
    assert count.asscalar() == 1
