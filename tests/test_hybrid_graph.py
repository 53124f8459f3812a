from typing import Any

import numpy as np
import pytest

from gluonish.autograd import record
from gluonish.core.errors import ParameterError
from gluonish.core.random_state import seed
from gluonish.hybrid_block import HybridBlock
from gluonish.hybrid_graph import HybridGraph, is_symbolic
from gluonish.ndarray import ones
from gluonish.nn import ELU, GELU, BatchNorm, Dense, Dropout, HybridSequential, LeakyReLU


class Forward(HybridBlock):
    def forward(self, x: Any) -> Any:
        return x


def _graph(net: HybridBlock) -> HybridGraph:
    net.hybridize()
    net(ones((2, 3)))
    (graph,) = net._graphs.values()
    return graph


def test_a_block_is_symbolic_if_all_in_it_compute_by_hybrid_forward() -> None:
    net = HybridSequential()
    net.add(Dense(2))
    assert is_symbolic(net)
    net.add(Forward())
    assert not is_symbolic(net)


def test_parameters_are_looked_up_again_only_when_their_arrays_are_new() -> None:
    net = Dense(2, in_units=3)
    net.initialize()
    graph = _graph(net)
    device = ones((1,))._device
    arrays = graph._parameter_arrays(device)
    net.weight.set_data(ones((2, 3)))
    assert graph._parameter_arrays(device) is arrays
    net.cast("float64")
    assert graph._parameter_arrays(device)[0].dtype == np.float64


def test_named_parameters_tell_arguments_from_auxiliary_states() -> None:
    net = BatchNorm(prefix="bn_", in_channels=3)
    net.initialize()
    assert list(_graph(net).named_parameters()) == [
        "arg:bn_gamma",
        "arg:bn_beta",
        "aux:bn_running_mean",
        "aux:bn_running_var",
    ]


@pytest.mark.parametrize("shape", [(7,), (3, 700)])
def test_a_hybridized_network_draws_what_it_draws_without(shape: tuple[int, ...]) -> None:
    net = HybridSequential()
    net.add(GELU(), Dropout(0.5), ELU(), LeakyReLU(0.1), Dropout(0.3))

    def results() -> list[Any]:
        seed(5)
        with record():
            return [net(ones(shape)).asnumpy() for _ in range(2)]

    eager = results()
    net.hybridize()
    np.testing.assert_allclose(results(), eager, rtol=1e-6)


def test_a_shape_that_does_not_follow_from_the_inputs_is_refused() -> None:
    class Open(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = self.params.get("w", shape=(0, 3), allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
            return F.dot(x, w, transpose_b=True)

    net = Open()
    net.initialize()
    net.hybridize()
    with pytest.raises(ParameterError, match=r"_w: expected a .*shape.*give in_units"):
        net(ones((2, 3)))
