"""`device=` and its kin, MXNet 2.0's names for `ctx=`."""

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon import nn

ONE = mx.cpu(1)


def test_device_is_the_context() -> None:
    assert mx.Device is mx.device.Device is mx.npx.Device is mx.Context
    with mx.Device("cpu", 1):
        assert mx.current_device() == mx.device.current_device() == ONE


@pytest.mark.parametrize(
    "call",
    [
        "zeros(2, device=ONE)",
        "ones(2, device=ONE)",
        "empty(2, device=ONE)",
        "full(2, 3, device=ONE)",
        "array([1], device=ONE)",
        "arange(3, device=ONE)",
        "linspace(0, 1, 3, device=ONE)",
        "logspace(0, 1, 3, device=ONE)",
        "eye(2, device=ONE)",
        "identity(2, device=ONE)",
        "indices((2, 2), device=ONE)",
        "hanning(3, device=ONE)",
        "random.uniform(size=2, device=ONE)",
        "random.normal(size=2, device=ONE)",
        "random.randint(3, size=2, device=ONE)",
        "random.gamma(1.0, size=2, device=ONE)",
        "random.choice(3, size=2, device=ONE)",
        "random.exponential(size=2, device=ONE)",
    ],
)
def test_functions_of_np_take_a_device(call: str) -> None:
    assert eval(f"np.{call}", {"np": mx.np, "ONE": ONE}).device == ONE


def test_arrays_move_to_a_device() -> None:
    for array in (mx.np.ones(2), mx.nd.ones(2)):
        assert array.device == mx.cpu(0)
        assert array.to_device(mx.cpu(0)) is array
        assert array.to_device(ONE).device == ONE


def test_parameters_take_and_list_devices() -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize(device=[mx.cpu(0), ONE])
    assert net.weight.list_device() == [mx.cpu(0), ONE]
    assert net.weight.data(device=ONE).device == ONE
    assert net.weight.grad(device=ONE).device == ONE
    net.reset_device(ONE)
    assert net.weight.list_device() == net.collect_params().list_device() == [ONE]
    net.weight.reset_device(mx.cpu(0))
    assert net.weight.list_ctx() == [mx.cpu(0)]
    for moved in (net, net.weight, net.collect_params()):
        moved.reset_device(device=ONE)
        assert net.weight.list_ctx() == [ONE]
        moved.reset_ctx(ctx=mx.cpu(0))  # 1.9's name
        assert net.weight.list_ctx() == [mx.cpu(0)]


def test_files_are_loaded_onto_a_device(tmp_path) -> None:  # type: ignore[no-untyped-def]  # pytest's
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.save_parameters(tmp_path / "net.params")
    other = nn.Dense(2, in_units=3)
    other.load_parameters(tmp_path / "net.params", device=ONE)
    assert other.weight.list_device() == [ONE]


def test_an_empty_list_of_devices_is_refused() -> None:
    with pytest.raises(Exception, match="at least one context"):
        nn.Dense(2, in_units=3).initialize(ctx=[], device=ONE)


def test_zero_grad_and_setattr() -> None:
    net = nn.Dense(1, in_units=2)
    net.initialize()
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 2))).sum()
    loss.backward()
    assert net.weight.grad().asnumpy().any()
    net.zero_grad()
    assert not net.weight.grad().asnumpy().any()
    net.setattr("grad_req", "null")
    assert {p.grad_req for p in net.collect_params().values()} == {"null"}


def test_shared_parameters_are_the_same_objects() -> None:
    def network() -> nn.HybridSequential:
        net = nn.HybridSequential()
        net.add(nn.Dense(3, in_units=2), nn.Dense(2, in_units=3))
        net.initialize()
        return net

    source, net = network(), network()
    net.hybridize()
    x = mx.np.ones((1, 2))
    before = net(x)
    assert net.share_parameters(source.collect_params()) is net
    assert net[1].weight is source[1].weight
    assert (net(x) == source(x)).all()
    assert not (net(x) == before).all()
    assert set(net.collect_params().values()) == set(source.collect_params().values())


def test_shared_parameters_by_path() -> None:
    source, net = nn.Dense(3, in_units=2), nn.Dense(3, in_units=2)
    net.share_parameters({"weight": source.weight})
    assert net.weight is source.weight
    assert net.bias is not source.bias
    with pytest.warns(UserWarning, match="Dense has no parameter 'other'"):
        net.share_parameters({"other": source.weight})
    with pytest.raises(ArgumentTypeError, match=r"^share_parameters: expected a dict"):
        net.share_parameters([source.weight])  # type: ignore[arg-type]  # refused


def test_drop_grad_ends_recording() -> None:
    x = mx.np.ones(2)
    x.attach_grad()
    x.drop_grad()
    assert x.grad is None
    with mx.autograd.record():
        y = x * 2
    with pytest.raises(Exception, match="attach_grad"):
        y.backward()


def test_default_dtype_of_numpy() -> None:
    mx.npx.set_np(dtype=True)
    try:
        assert mx.util.is_np_default_dtype()
        for call in ("ones(2)", "array([1.5])", "eye(2)", "random.normal(size=2)", "full(2, 0.5)"):
            assert eval(f"np.{call}", {"np": mx.np}).dtype == "float64"
        assert mx.np.arange(3).dtype == mx.np.full(2, 3).dtype == "int64"
        with mx.util.np_default_dtype(False):
            assert mx.np.ones(2).dtype == "float32"
    finally:
        mx.npx.reset_np()
    assert mx.np.ones(2).dtype == "float32"
    assert mx.util.use_np_default_dtype(lambda: mx.np.ones(2).dtype)() == "float64"


def test_layers_of_2_0_under_nn_and_rnn() -> None:
    for name in ("SyncBatchNorm", "PixelShuffle2D", "DeformableConvolution"):
        assert hasattr(nn, name)
    assert mx.gluon.rnn.LSTMPCell is mx.gluon.contrib.rnn.LSTMPCell
    x = mx.np.array([-1.0, 2.0])
    log_sigmoid, mish = nn.Activation("log_sigmoid"), nn.Activation("mish")
    assert log_sigmoid(x).asnumpy() == pytest.approx([-1.3132617, -0.126928], rel=1e-5)
    assert mish(x).asnumpy() == pytest.approx([-0.303401, 1.943959], rel=1e-5)
