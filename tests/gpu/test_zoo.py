"""Every network of the zoo on a GPU: outputs and gradients of the CPU, and equal bits again."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.model_zoo.registry import model_names
from tests.golden.zoo_values import freeze, simplify, training_shape
from tests.model_zoo.networks import EXACT, SWITCHED, TRAINED, check_close, distance, filled
from tests.model_zoo.networks import trained as step

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]

GPU = mx.gpu(0)
HOWS: dict[str, dict[str, bool]] = {
    "imperative": {"active": False},
    "hybridized": {},
    "static": {"static_alloc": True, "static_shape": True},
}
# The first runs as it is; with static shapes one of the next is captured, the last are replays.
CALLS = {"imperative": 2, "hybridized": 2, "static": 4}


def _shape(name: str) -> tuple[int, ...]:
    return (2, 3, 32, 32) if name.startswith("cifar_") else training_shape(name)


@lru_cache(maxsize=1)
def _expected(name: str, shape: tuple[int, ...], change: Callable[[Any], None]) -> dict[str, Any]:
    """What a CPU gives, once for all the ways of a network, which run one after the other."""
    found = step(filled(name, shape, trained=True, change=change), shape)
    for value in found.values():
        value.flags.writeable = False
    return found


@lru_cache(maxsize=1)
def _network(name: str, shape: tuple[int, ...], change: Callable[[Any], None]) -> Any:
    """A network on the GPU, and its moving statistics."""
    net = filled(name, shape, trained=True, change=change, ctx=GPU)
    parameters = net.collect_params().values()
    return net, [(p, p.data().asnumpy()) for p in parameters if p.grad_req == "null"]


def _fresh(name: str, shape: tuple[int, ...], change: Callable[[Any], None]) -> Any:
    """The network that all its ways share, with the statistics that it was made with."""
    net, statistics = _network(name, shape, change)
    for parameter, value in statistics:
        parameter.set_data(mx.nd.array(value))
    return net


@pytest.fixture(scope="module", autouse=True)
def _cleared() -> Iterator[None]:
    yield
    _expected.cache_clear()
    _network.cache_clear()


def _steps(net: Any, shape: tuple[int, ...], how: str) -> dict[str, Any]:
    """What the first of some equal calls gives, which is what each of the others gives."""
    net.hybridize(**HOWS[how])
    calls = [step(net, shape, GPU) for _ in range(CALLS[how])]
    for later in calls[1:]:
        assert later.keys() == calls[0].keys()
        for path, value in later.items():
            if not path.endswith(("running_mean", "running_var")):
                assert value.tobytes() == calls[0][path].tobytes(), path
    return calls[0]


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", model_names("mxnet"))
def test_outputs_and_gradients_are_those_of_the_cpu(name: str, how: str) -> None:
    shape = _shape(name)
    expected = _expected(name, shape, freeze)
    found = _steps(_fresh(name, shape, freeze), shape, how)
    assert found.keys() == expected.keys()
    for path, value in expected.items():
        bound = EXACT if path == "output" else SWITCHED
        assert distance([found[path]], [value]) < bound, path


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", TRAINED)
def test_training_by_statistics_of_batches_equals_the_cpu(name: str, how: str) -> None:
    shape = (4, 3, 64, 64)
    expected = _expected(name, shape, simplify)
    found = _steps(_fresh(name, shape, simplify), shape, how)
    exact = ["output", *[path for path in expected if "running" in path]]
    for path in exact:
        check_close(found[path], expected[path], path, 1e-3)
    others = [path for path in expected if path not in exact]
    apart = distance([found[path] for path in others], [expected[path] for path in others])
    assert apart < TRAINED[name]


@pytest.mark.parametrize("name", model_names("mxnet"))
def test_predictions_are_those_of_the_cpu(name: str) -> None:
    shape = _shape(name)
    x = np.random.default_rng(3).standard_normal(shape)
    net = filled(name, shape, change=simplify)
    want = net(mx.nd.array(x)).asnumpy()
    net = filled(name, shape, change=simplify, ctx=GPU)
    for how, flags in HOWS.items():
        net.hybridize(**flags)
        for _ in range(CALLS[how]):
            got = net(mx.nd.array(x, ctx=GPU)).asnumpy()
            check_close(got, want, how, EXACT)
