"""Parameters that are shared, constant or changed on the way, with and without a graph."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish.core.context import cpu
from gluonish.core.errors import FileFormatError, ParameterError
from gluonish.gluon import nn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.parameter import Constant
from gluonish.ndarray import NDArray, array, ones, zeros

BOTH = pytest.mark.parametrize("hybridize", [False, True])
X = np.array([[1, 2, 3], [4, 5, 7]], np.float32)


class Tied(HybridBlock):
    """One weight in two places, and a third that reads it by its own name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(3, in_units=3, use_bias=False)
            self.second = nn.Dense(3, in_units=3, use_bias=False, params=self.first.params)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]  # one input
        return self.second(self.first(x))


class Weighted(HybridBlock):
    """A constant and a weight."""

    def __init__(self, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.factors = self.params.get_constant("factors", value)
            self.weight = self.params.get("weight", shape=(3,), init="ones")

    def hybrid_forward(self, F: Any, x: Any, factors: Any, weight: Any) -> Any:  # type: ignore[override]  # one input
        return F.broadcast_mul(F.broadcast_mul(x, factors), weight)


def ready(block: Any, hybridize: bool, **options: Any) -> Any:
    block.initialize(**options)
    block.hybridize(hybridize)
    return block


def step(net: Any, x: NDArray) -> None:
    """Run forward and backward once."""
    with autograd.record():
        y = net(x)
    autograd.backward([y])


@BOTH
def test_tied_weight_has_the_sum_of_both_gradients(hybridize: bool) -> None:
    net = ready(Tied(), hybridize, init="ones")
    step(net, array(X))
    weight, head = np.ones((3, 3)), np.ones((2, 3))
    expected = head.T @ (X @ weight.T) + (head @ weight).T @ X
    np.testing.assert_allclose(net.first.weight.grad().asnumpy(), expected, rtol=1e-6)
    assert net.first.weight is net.second.weight
    assert len(list(net.collect_params())) == 1


@BOTH
def test_networks_that_share_see_one_value(hybridize: bool) -> None:
    one = ready(nn.Dense(2, in_units=3), hybridize)
    two = nn.Dense(2, in_units=3, params=one.params)
    two.hybridize(hybridize)
    np.testing.assert_array_equal(one(array(X)).asnumpy(), two(array(X)).asnumpy())
    two.weight.set_data(ones((2, 3)))
    assert one(array(X)).asnumpy().tolist() == [[6, 6], [16, 16]]
    step(two, array(X))
    assert one.weight.grad().asnumpy().tolist() == [[5, 7, 10]] * 2


@BOTH
def test_whole_networks_share_through_their_prefix(hybridize: bool) -> None:
    def make(**kwargs: Any) -> nn.HybridSequential:
        net = nn.HybridSequential(**kwargs)
        with net.name_scope():
            net.add(nn.Dense(3, activation="relu"), nn.BatchNorm(), nn.Dense(2))
        return net

    one = ready(make(prefix="net_"), hybridize)
    two = make(prefix="net_", params=one.collect_params())
    two.hybridize(hybridize)
    expected = one(array(X)).asnumpy()
    np.testing.assert_array_equal(two(array(X)).asnumpy(), expected)
    assert [id(p) for p in one.collect_params().values()] == [
        id(p) for p in two.collect_params().values()
    ]


@BOTH
def test_deferred_shape_of_a_shared_weight_is_settled_for_both(hybridize: bool) -> None:
    one = ready(nn.Dense(2), hybridize)
    two = nn.Dense(2, params=one.params)
    two.hybridize(hybridize)
    two(array(X))
    assert one.weight.shape == (2, 3)
    assert one(array(X)).shape == (2, 2)


def test_two_parameters_of_one_name_are_refused() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3, prefix="same_"), nn.Dense(2, in_units=2, prefix="same_"))
    with pytest.raises(ParameterError, match="two called 'same_weight'"):
        net.collect_params()


def test_constant_has_no_gradient_and_is_not_moved() -> None:
    results = []
    for hybridize in (False, True):
        net = ready(Weighted([2, 3, 4]), hybridize, init="zeros")
        step(net, array(X))
        results.append(net.weight.grad().asnumpy())
        assert net.factors.grad_req == "null"
        assert net.factors.data().asnumpy().tolist() == [2, 3, 4]
        assert net(array(X)).asnumpy().tolist() == (X * [2, 3, 4]).tolist()
    np.testing.assert_array_equal(results[0], results[1])


@BOTH
def test_constant_is_on_every_device(hybridize: bool) -> None:
    net = ready(Weighted(np.array([2, 3, 4])), hybridize, ctx=[cpu(0), cpu(1)])
    for device in (cpu(0), cpu(1)):
        assert net(array(X, device)).asnumpy().tolist() == (X * [2, 3, 4]).tolist()


def test_constant_is_exported_and_saved_with_its_value(tmp_path: Path) -> None:
    net = ready(Weighted([2, 3, 4], prefix="w_"), True)
    expected = net(array(X)).asnumpy()
    symbol, params = net.export(tmp_path / "net")
    imported = SymbolBlock.imports(symbol, ["data"], params)
    np.testing.assert_array_equal(imported(array(X)).asnumpy(), expected)
    net.save_parameters(tmp_path / "x.params")
    again = Weighted([0, 0, 0])
    again.load_parameters(tmp_path / "x.params")
    assert isinstance(again.factors, Constant)
    np.testing.assert_array_equal(again(array(X)).asnumpy(), expected)


@BOTH
def test_constant_of_an_integer_type_counts_as_such(hybridize: bool) -> None:
    class Chosen(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.rows = self.params.get_constant("rows", array([1, 0, 1], dtype="int32"))

        def hybrid_forward(self, F: Any, x: Any, rows: Any) -> Any:  # type: ignore[override]  # one input
            return F.take(x, rows)

    net = ready(Chosen(), hybridize)
    assert net(array(X)).asnumpy().tolist() == X[[1, 0, 1]].tolist()


@BOTH
def test_attribute_of_selected_parameters_is_set(hybridize: bool) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=3), nn.BatchNorm(in_channels=3), nn.Dense(2, in_units=3))
    ready(net, hybridize)
    step(net, array(X))
    net.collect_params(".*weight").setattr("lr_mult", 0.5)
    net.collect_params(".*bias|.*beta").setattr("grad_req", "null")
    net.collect_params(".*gamma").setattr("grad_req", "add")
    found = {(n.rsplit("_", 1)[-1], p.lr_mult, p.grad_req) for n, p in net.collect_params().items()}
    assert ("weight", 0.5, "write") in found
    assert ("bias", 1.0, "null") in found
    assert ("beta", 1.0, "null") in found
    assert ("gamma", 1.0, "add") in found


@BOTH
def test_grad_req_may_change_after_the_first_call(hybridize: bool) -> None:
    net = ready(nn.Dense(2, in_units=3), hybridize, init="ones")
    step(net, array(X))
    written = net.weight.grad().asnumpy().tolist()
    net.collect_params().setattr("grad_req", "add")
    for _ in range(3):
        step(net, array(X))
    assert net.weight.grad().asnumpy().tolist() == (3 * np.array(written)).tolist()
    net.weight.grad_req = "null"
    step(net, array(X))
    assert net.bias.grad().asnumpy().tolist() == [8, 8]
    with pytest.raises(ParameterError, match="got 'null'"):
        net.weight.grad()
    net.weight.grad_req = "write"
    step(net, array(X))
    assert net.weight.grad().asnumpy().tolist() == written


@BOTH
def test_new_values_are_used_by_the_next_call(hybridize: bool, tmp_path: Path) -> None:
    net = ready(nn.Dense(2, in_units=3), hybridize, init="ones")
    net.save_parameters(tmp_path / "ones.params")
    before = net(array(X)).asnumpy()
    net.initialize(init="zeros", force_reinit=True)
    assert net(array(X)).asnumpy().tolist() == [[0, 0], [0, 0]]
    net.load_parameters(tmp_path / "ones.params")
    np.testing.assert_array_equal(net(array(X)).asnumpy(), before)
    net.weight.set_data(zeros((2, 3)))
    assert net(array(X)).asnumpy().tolist() == [[0, 0], [0, 0]]
    net.weight.data()[:] = 2
    np.testing.assert_array_equal(net(array(X)).asnumpy(), 2 * before)


@BOTH
def test_network_moves_to_other_devices(hybridize: bool) -> None:
    net = ready(nn.Dense(2, in_units=3), hybridize, init="ones")
    expected = net(array(X)).asnumpy()
    net.collect_params().reset_ctx([cpu(1), cpu(2)])
    for device in (cpu(1), cpu(2)):
        y = net(array(X, device))
        assert y.context == device
        np.testing.assert_array_equal(y.asnumpy(), expected)
    with pytest.raises(ParameterError, match=r"got cpu\(0\)"):
        net(array(X))


@BOTH
def test_network_is_cast_after_the_first_call(hybridize: bool) -> None:
    net = ready(nn.Dense(2, in_units=3), hybridize, init="ones")
    expected = net(array(X)).asnumpy()
    net.cast("float64")
    y = net(array(X, dtype="float64"))
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y.asnumpy(), expected)
    step(net, array(X, dtype="float64"))
    assert net.weight.grad().dtype == np.float64


@BOTH
def test_layer_may_be_replaced_after_the_first_call(hybridize: bool) -> None:
    class Net(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.layer = nn.Dense(2, in_units=3)

        def hybrid_forward(self, F: Any, x: Any) -> Any:  # type: ignore[override]  # one input
            return self.layer(x)

    net = ready(Net(), hybridize, init="ones")
    net(array(X))
    with net.name_scope():
        net.layer = nn.Dense(4, in_units=3)
    net.layer.initialize(init="zeros")
    assert net(array(X)).asnumpy().tolist() == [[0] * 4] * 2
    assert list(net.collect_params()) == [net.layer.weight.name, net.layer.bias.name]


@BOTH
def test_call_without_values_is_refused_by_name(hybridize: bool) -> None:
    net = nn.Dense(2, in_units=3, prefix="mine_")
    net.hybridize(hybridize)
    with pytest.raises(ParameterError, match=r"mine_weight: .*call initialize"):
        net(array(X))


@pytest.mark.parametrize("content", [b"", b"not a params file", bytes(100)])
def test_file_of_another_kind_is_refused_and_changes_nothing(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "x.params").write_bytes(content)
    net = ready(nn.Dense(2, in_units=3), False, init="ones")
    with pytest.raises(FileFormatError, match=r"x\.params"):
        net.load_parameters(tmp_path / "x.params")
    assert net.weight.data().asnumpy().tolist() == [[1, 1, 1]] * 2


def test_missing_file_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.params"):
        nn.Dense(2).load_parameters(tmp_path / "none.params")
