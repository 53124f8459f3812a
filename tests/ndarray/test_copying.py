import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.core.context import Context, cpu, cpu_pinned, cpu_shared
from gluonish.core.errors import ArgumentError, ArgumentTypeError, AutogradError, DeviceError
from gluonish.gluon import nn
from gluonish.gluon.loss import L2Loss
from gluonish.ndarray import array, concatenate


def test_copy_to_a_device_is_a_new_array() -> None:
    x = nd.array([1, 2])
    y = x.copyto(cpu(1))
    y[0] = 9
    assert y.context == cpu(1)
    assert x.tolist() == [1, 2]


def test_copy_into_an_array_converts_and_returns_it() -> None:
    target = nd.zeros(2, ctx=cpu(1), dtype="int32")
    assert nd.array([1.7, 2]).copyto(target) is target
    assert target.tolist() == [1, 2]


def test_copy_into_itself_changes_nothing() -> None:
    x = nd.array([1, 2])
    assert x.copyto(x).tolist() == [1, 2]


def test_as_in_context_returns_the_array_itself_where_it_is() -> None:
    x = nd.ones(2)
    assert x.as_in_context(cpu(0)) is x
    assert x.as_in_ctx(cpu(1)).context == cpu(1)


def test_other_shape_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"copyto: expected a target of shape \(2,\), got"):
        nd.ones(2).copyto(nd.ones(3))


@pytest.mark.parametrize("method", ["copyto", "as_in_context"])
def test_target_that_is_neither_array_nor_device_is_refused(method: str) -> None:
    with pytest.raises(ArgumentTypeError, match="expected an NDArray or a Context, got int"):
        getattr(nd.ones(2), method)(0)


@pytest.mark.parametrize("method", ["copyto", "as_in_context"])
def test_a_device_may_be_text(method: str) -> None:
    assert getattr(nd.ones(2), method)("cpu(1)").context == cpu(1)
    with pytest.raises(ArgumentError, match="got 'cuda'; gpu is its name here"):
        getattr(nd.ones(2), method)("cuda")


def test_gradient_flows_back_over_devices() -> None:
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x.as_in_context(cpu(1))
        z = (y * y).copyto(cpu(2))
    z.backward()
    assert x.grad.tolist() == [2, 4]
    assert x.grad.context == cpu(0)


def test_gradient_flows_back_over_dtypes() -> None:
    x = nd.array([1, 2])
    x.attach_grad()
    target = nd.zeros(2, dtype="float64")
    with autograd.record():
        x.copyto(target)
        z = target * target
    z.backward()
    assert x.grad.tolist() == [2, 4]
    assert x.grad.dtype == np.float32


def test_second_derivative_flows_back_over_devices() -> None:
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x.as_in_context(cpu(1))
        (first,) = autograd.grad(y * y * y, x, create_graph=True)
    first.backward()
    assert x.grad.tolist() == [6, 12]


def test_copy_into_a_recorded_array_is_refused() -> None:
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record(), pytest.raises(AutogradError, match="copyto"):
        nd.zeros(2).copyto(x)


@pytest.mark.parametrize("context", [cpu_pinned(0), cpu_shared(0)], ids=str)
@pytest.mark.parametrize("hybridize", [False, True])
def test_pinned_and_shared_batches_feed_a_network_on_the_cpu(
    context: Context, hybridize: bool
) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=2), nn.BatchNorm(in_channels=3))
    net.initialize()
    if hybridize:
        net.hybridize()
    plain = array([[1.0, 2.0], [3.0, -4.0]])
    batch = plain.as_in_context(context)
    with autograd.record():
        loss = L2Loss()(net(batch), array([[0.0] * 3] * 2, ctx=context))
    loss.backward()
    got = [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
    with autograd.record():
        expected = L2Loss()(net(plain), array([[0.0] * 3] * 2))
    expected.backward()
    want = [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
    assert loss.context == cpu(0)
    np.testing.assert_array_equal(loss.asnumpy(), expected.asnumpy())
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_pinned_arrays_do_not_join_two_cpus() -> None:
    x, y, z = array([1.0], ctx=cpu(0)), array([1.0], ctx=cpu(1)), array([1.0], ctx=cpu_pinned(0))
    with pytest.raises(DeviceError, match="expected arrays on one device"):
        concatenate([x, y, z], axis=0)
