"""Neighbouring oneDNN steps run as one: with equal results, wherever arrays lie, and messages."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd, profiler
from gluonish.gluon import nn
from gluonish.graph.chains import Chain, unchained
from gluonish.graph.executable import Executable
from gluonish.graph.instructions import PlannedInstruction
from gluonish.kernels.onednn import register

pytestmark = pytest.mark.skipif(not register.enabled(), reason="chains are of oneDNN's steps")


def convolutions(count: int = 5) -> nn.HybridSequential:
    """Return layers whose steps are of oneDNN, one behind the other."""
    mx.random.seed(7)
    net = nn.HybridSequential()
    for _ in range(count):
        net.add(nn.Conv2D(8, 3, padding=1, in_channels=8, activation="relu"))
    net.initialize(mx.init.Xavier())
    return net


def inputs(count: int) -> list[nd.NDArray]:
    values = np.random.default_rng(3).standard_normal((count, 2, 8, 9, 9)).astype("float32")
    return [nd.array(value) for value in values]


@pytest.fixture
def chains(monkeypatch: pytest.MonkeyPatch) -> list[Chain]:
    """Collects the chains that run."""
    seen: list[Chain] = []
    run = Chain.run

    def noted(self: Chain, *args: Any) -> None:
        seen.append(self)
        run(self, *args)

    monkeypatch.setattr(Chain, "run", noted)
    return seen


@pytest.mark.parametrize("static", [False, True])
def test_chain_gives_what_its_steps_give(static: bool, chains: list[Chain]) -> None:
    net = convolutions()
    given = inputs(6)
    expected = [net(x).asnumpy() for x in given]
    net.hybridize(static_alloc=static, static_shape=static)
    for _ in range(3):
        kept = [net(x) for x in given]  # all outputs stay alive: each lies elsewhere
        for got, want in zip(kept, expected, strict=True):
            np.testing.assert_array_equal(got.asnumpy(), want)
    assert {len(chain.instructions) for chain in chains} == {5}
    assert len(chains) == 18


def test_training_runs_in_chains(chains: list[Chain]) -> None:
    nets = [convolutions(), convolutions()]
    nets[1].hybridize(static_alloc=True, static_shape=True)
    gradients = []
    for net in nets:
        for x in inputs(3):
            with mx.autograd.record():
                y = net(x)
            y.backward()
        gradients.append([p.grad().asnumpy() for p in net.collect_params().values()])
    assert chains
    for got, want in zip(*gradients, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_threads_share_a_chain() -> None:
    net = convolutions()
    given = inputs(8)
    expected = [net(x).asnumpy() for x in given]
    net.hybridize(static_alloc=True)

    def repeated(number: int) -> bool:
        found = [net(given[number]).asnumpy() for _ in range(20)]
        return all((y == expected[number]).all() for y in found)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(repeated, range(8)))


def test_profiler_sees_the_steps_and_chains_go_on(chains: list[Chain], tmp_path: Path) -> None:
    net = convolutions()
    x, other = inputs(2)
    want = net(other).asnumpy()
    net.hybridize(static_alloc=True)
    net(x).wait_to_read()
    net(x).wait_to_read()
    count = len(chains)
    assert count
    file = str(tmp_path / "profile.json")
    profiler.set_config(profile_all=True, aggregate_stats=True, filename=file)
    profiler.set_state("run")
    try:
        np.testing.assert_array_equal(net(other).asnumpy(), want)
        nd.waitall()
    finally:
        profiler.set_state("stop")
    assert len(chains) == count, "the profiler runs steps one by one"
    assert "_fused_convolution" in profiler.dumps(reset=True)
    np.testing.assert_array_equal(net(other).asnumpy(), want)
    assert len(chains) == count + 1


def test_primitive_that_fails_in_a_chain_tells_between_which_layers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gluonish.kernels.onednn.engine import ThreadState

    net = convolutions()
    net.hybridize(static_alloc=True)
    (x,) = inputs(1)
    want = net(x).asnumpy()
    net(x).wait_to_read()

    def broken(self: ThreadState, steps: Sequence[Any]) -> None:
        self._api.check(2, "dnnl_primitive_execute")

    with monkeypatch.context() as patch:
        patch.setattr(ThreadState, "run", broken)
        with pytest.raises(mx.MXNetError, match=r"one of 5 steps from \w+_fwd to \w+_fwd: \w"):
            net(x).asnumpy()
    np.testing.assert_array_equal(net(x).asnumpy(), want)


def test_step_that_fails_at_its_first_call_is_named_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gluonish.kernels.onednn.plan import Attached

    net = convolutions()
    net.hybridize(static_alloc=True)
    (x,) = inputs(1)
    calls = 0

    def broken(self: Attached, arrays: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise ValueError("on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(Attached, "run", broken)
        with pytest.raises(mx.MXNetError, match="on purpose") as caught:
            net(x).asnumpy()
    third = [layer.name for layer in net][2]
    assert f"{third}_fwd: _fused_convolution failed" in str(caught.value)
    assert "one of" not in str(caught.value)


def test_unchained_gives_the_steps_in_order() -> None:
    found: list[Executable] = []
    start = Executable.submit

    def noted(self: Executable, *args: Any, **named: Any) -> Any:
        found.append(self)
        return start(self, *args, **named)

    net = convolutions()
    net.hybridize()
    (x,) = inputs(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Executable, "submit", noted)
        net(x).wait_to_read()
    (executable,) = found
    ((chain,),) = executable._runs
    assert isinstance(chain, Chain)
    assert unchained([chain]) == list(executable.segments[0])
    assert all(isinstance(step, PlannedInstruction) for step in executable.segments[0])
