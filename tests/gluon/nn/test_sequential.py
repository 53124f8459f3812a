from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon import nn
from gluonish.ndarray import ones


@pytest.mark.parametrize("kind", [nn.Sequential, nn.HybridSequential])
class TestBoth:
    def test_layers_run_one_after_the_other(self, kind: type[nn.Sequential]) -> None:
        net = kind()
        net.add(nn.Dense(3, in_units=2), nn.Dense(1, in_units=3))
        net.initialize(init="ones")
        assert net(ones((1, 2))).asnumpy().tolist() == [[6]]

    def test_it_is_a_list_of_layers(self, kind: type[nn.Sequential]) -> None:
        net = kind()
        layers = [nn.Dense(3), nn.Dense(4), nn.Dense(5)]
        net.add(*layers)
        assert len(net) == 3
        assert list(net) == layers
        assert net[1] is layers[1]
        assert net[-1] is layers[2]
        with pytest.raises(IndexError):
            net[3]

    def test_slice_is_a_network_of_the_same_layers(self, kind: type[nn.Sequential]) -> None:
        net = kind(prefix="n_")
        net.add(nn.Dense(3), nn.Dense(4))
        part = net[:1]
        assert type(part) is kind
        assert (part.name, len(part)) == ("n", 1)
        assert part[0] is net[0]

    def test_repr_is_that_of_mxnet(self, kind: type[nn.Sequential]) -> None:
        net, inner = kind(), kind()
        assert repr(net) == f"{kind.__name__}(\n\n)"
        inner.add(nn.Flatten())
        net.add(inner)
        assert repr(net) == (f"{kind.__name__}(\n  (0): {kind.__name__}(\n    (0): Flatten\n  )\n)")

    def test_what_is_no_block_is_refused(self, kind: type[nn.Sequential]) -> None:
        with pytest.raises(ArgumentTypeError, match="got int"):
            kind().add(3)  # type: ignore[arg-type]  # the mistake


def test_hybridizing_only_hybrid_layers_one_by_one_warns() -> None:
    net = nn.Sequential()
    net.add(nn.Dense(3))
    with pytest.warns(UserWarning, match="HybridSequential"):
        net.hybridize()
    assert net[0]._active  # type: ignore[attr-defined]  # a HybridBlock


def test_plain_block_is_no_part_of_a_graph() -> None:
    with pytest.raises(ArgumentTypeError, match="Lambda"):
        nn.HybridSequential().add(nn.Lambda("relu"))


def test_hybridized_network_gives_the_same() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="relu"), nn.LayerNorm(), nn.Dense(2))
    net.initialize()
    x = ones((2, 4))
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [nn.Sequential, nn.HybridSequential])
class TestLayersOfTheConstructor:
    def test_they_equal_those_of_add(self, kind: Any) -> None:
        added = kind(prefix="net_")
        with added.name_scope():
            added.add(nn.Dense(3, in_units=2), nn.Dense(1, in_units=3))
        given = kind(nn.Dense(3, in_units=2), nn.Dense(1, in_units=3), prefix="net_")
        for net in (added, given):
            net.initialize(mx.init.One())
        x = mx.nd.ones((1, 2))
        assert added(x).tolist() == given(x).tolist()
        assert list(added._collect_params_with_prefix()) == list(
            given._collect_params_with_prefix()
        )

    def test_lists_are_accepted(self, kind: Any) -> None:
        first, second, third = (nn.Dense(2) for _ in range(3))
        net = kind([first, second], third)
        net.add([nn.Dense(1)])
        assert [*net][:3] == [first, second, third]
        assert len(net) == 4

    def test_a_prefix_by_position_stays_one(self, kind: Any) -> None:
        shared = nn.Dense(2, prefix="d_").params
        assert kind("net_").prefix == "net_"
        net = kind("net_", shared)
        assert net.params.prefix == "d_"
        assert kind(None, None).prefix.startswith(kind.__name__.lower())
        assert len(kind("net_", nn.Dense(1))) == 1

    def test_a_slice_and_a_subclass_take_no_layers(self, kind: Any) -> None:
        class Net(kind):  # type: ignore[misc]  # a parameter of the test
            def __init__(self, units: int, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                self.add(nn.Dense(units))

        assert len(Net(3)) == 1
        assert len(kind(nn.Dense(1), nn.Dense(2))[1:]) == 1

    def test_an_index_beyond_the_layers_is_an_index_error(self, kind: Any) -> None:
        with pytest.raises(IndexError, match=f"{kind.__name__}: expected an index below 1, got 1"):
            kind(nn.Dense(1))[1]

    def test_a_layer_can_be_replaced(self, kind: Any) -> None:
        net = kind(nn.Dense(3, in_units=2), nn.Dense(1, in_units=3))
        net.initialize(init="ones")
        assert net(ones((1, 2))).asnumpy().tolist() == [[6]]
        net[-1] = nn.Dense(2, in_units=3)
        net[1].initialize(init="ones")
        assert net(ones((1, 2))).asnumpy().tolist() == [[6, 6]]
        assert list(net._collect_params_with_prefix()) == [
            *("0.weight", "0.bias", "1.weight", "1.bias")
        ]

    def test_a_layer_can_be_deleted(self, kind: Any) -> None:
        layers = [nn.Dense(3, in_units=2), nn.Dense(3, in_units=3), nn.Dense(1, in_units=3)]
        net = kind(layers)
        net.initialize(init="ones")
        del net[1]
        assert list(net) == [layers[0], layers[2]]
        assert list(net._children) == ["0", "1"]
        assert net(ones((1, 2))).asnumpy().tolist() == [[6]]

    @pytest.mark.parametrize("index", [1, -2, "0"])
    def test_an_index_of_no_layer_is_refused(self, kind: Any, index: Any) -> None:
        net = kind(nn.Dense(1))
        with pytest.raises(IndexError, match=r"expected an index below 1, got .*net\.add"):
            net[index] = nn.Dense(2)
        with pytest.raises(IndexError, match="expected an index below 1"):
            del net[index]
        with pytest.raises(ArgumentTypeError, match=f"{kind.__name__}: expected children to be"):
            net[0] = "relu"


def test_a_hybridized_network_follows_its_layers() -> None:
    net = nn.HybridSequential(nn.Dense(3, in_units=2), nn.Dense(1, in_units=3))
    net.initialize(init="ones")
    net.hybridize()
    assert net(ones((1, 2))).asnumpy().tolist() == [[6]]
    net[1] = nn.Dense(2, in_units=3)
    net[1].initialize(init="ones")
    assert net(ones((1, 2))).asnumpy().tolist() == [[6, 6]]
    del net[1]
    assert net(ones((1, 2))).asnumpy().tolist() == [[2, 2, 2]]
