import numpy as np
import pytest

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
