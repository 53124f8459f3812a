"""Loss scales of hybridized networks and CUDA graphs, on the device: the bits of overflow checks on
the host, and of the imperative program where hybridizing keeps the order of sums."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.contrib import amp
from gluonish.core.config import GLUONISH_DEVICE_LOSS_SCALE, MXNET_ENABLE_CUDA_GRAPHS
from gluonish.gluon import nn
from tests.contrib.amp.device_scale_runs import flat, late_outcomes
from tests.kernels.cupy import host_compiler
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Counts, Machine

STATIC = {"static_alloc": True, "static_shape": True}
STEPS = 14
GROWS_AFTER = 3  # steps without an overflow
HOWS: dict[str, dict[str, bool]] = {
    "hybridized": {},
    "static_alloc": {"static_alloc": True},
    "static": STATIC,
}

pytestmark = [
    pytest.mark.skipif(host_compiler.COMPILER is None, reason="no C++ compiler for the sources"),
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
    pytest.mark.timeout(120),
]


@pytest.fixture
def machine() -> Iterator[Machine]:
    machine = Machine()
    with importable_cupyx(), gpu_contexts(machine, "ThreadedEnginePerDevice"):
        yield machine


def _dense() -> gluon.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Dense(24, activation="relu"), nn.LayerNorm(), nn.Dense(7, in_units=24))
    return net


def _convolutional() -> gluon.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    net.add(nn.MaxPool2D(), nn.Flatten(), nn.Dense(7))
    return net


NETS = {"dense": (_dense, (4, 9)), "convolutional": (_convolutional, (4, 3, 8, 8))}


class Found(NamedTuple):
    """What a run leaves.

    Attributes:
        losses: Bits of each step's.
        state: Bits of parameters and of the optimizer's states, and the numbers of updates.
        scale: The scale, the next one, and the steps since the last overflow.
        applied: Steps that were not skipped.
        on_device: Whether the overflow checks were the device's.
        graphs: Launches of graphs in the last step.
        waits: Waits of the host in the last step.
    """

    losses: list[bytes]
    state: list[Any]
    scale: tuple[float, float, int]
    applied: int
    on_device: bool
    graphs: int
    waits: int


def _train(machine: Machine, net: str, how: str, device: bool) -> Found:
    """Train in float16 by a scale that begins far too large, and grows into overflows again."""
    make, shape = NETS[net]
    random = np.random.default_rng(5)
    with (
        GLUONISH_DEVICE_LOSS_SCALE.override(device),
        MXNET_ENABLE_CUDA_GRAPHS.override(how == "static"),
        late_outcomes(3),
        mx.gpu(0),
    ):
        mx.random.seed(3)
        made = make()
        made.initialize(mx.init.Uniform(0.3), ctx=mx.gpu(0))
        made.cast("float16")
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        if how != "imperative":
            made.hybridize(**HOWS[how])
            loss_of.hybridize(**HOWS[how])
        settings = {"learning_rate": 0.05, "momentum": 0.9, "multi_precision": True}
        trainer = gluon.Trainer(made.collect_params(), "sgd", settings)
        amp.init_trainer(trainer)
        scaler = trainer._amp_loss_scaler
        scaler._loss_scale = scaler._next_loss_scale = 2.0**21
        scaler._scale_seq_len = GROWS_AFTER
        losses = []
        for _ in range(STEPS):
            x = nd.array(random.uniform(-1, 1, shape), dtype="float16")
            y = nd.array(random.integers(0, 7, shape[0]))
            nd.waitall()
            machine.counts = Counts()
            with autograd.record():
                loss = loss_of(made(x), y)
                with amp.scale_loss(loss, trainer) as scaled:
                    autograd.backward(scaled)
            trainer.step(shape[0])
            graphs = machine.counts.graphs
            waits = machine.counts.synchronizations + machine.counts.downloads
            losses.append(loss.asnumpy().tobytes())
        on_device = scaler.is_on_device  # until the program reads numbers
        states = trainer._updaters[0].states
        state = [p.data().asnumpy().tobytes() for p in made.collect_params().values()]
        state += [flat(states[i]) for i in sorted(states)]
        numbers = (scaler.loss_scale, scaler._next_loss_scale, scaler._unskipped)
        applied = trainer._optimizer.num_update
    return Found(losses, state, numbers, applied, on_device, graphs, waits)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("net", NETS)
def test_scaled_steps_have_the_bits_of_a_check_on_the_host(
    machine: Machine, net: str, how: str
) -> None:
    plain, host, device = (
        _train(machine, net, *way) for way in (("imperative", False), (how, False), (how, True))
    )
    assert 4 <= plain.applied <= STEPS - 4, "expected steps, and steps that are skipped"
    assert len({*plain.losses}) == STEPS
    assert (host.on_device, device.on_device) == (False, True)
    assert (device.losses, device.state) == (host.losses, host.state)
    assert device.scale == host.scale == plain.scale
    assert device.applied == host.applied == plain.applied
    if net == "dense":  # BatchNorm's gradients are summed in another order in a graph
        assert (host.losses, host.state) == (plain.losses, plain.state)
    assert bool(device.graphs) == bool(host.graphs) == (how == "static")
    assert host.waits
    assert not device.waits
