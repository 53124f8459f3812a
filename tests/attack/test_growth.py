"""Long runs: memory does not grow, and eight threads compute what one does.

``ATTACK_S=600 pytest -m slow -o faulthandler_timeout=0 tests/attack/test_growth.py`` lets each run
take 600 seconds, instead of 60.
"""

import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.gluon import Trainer, loss, nn
from gluonish.gluon.block.hybrid_block import HybridBlock
from tests.gluon.data.programs import run

RUN_S = float(os.environ.get("ATTACK_S", "60"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(RUN_S + 140)]

THREADS = 8
# Trains a small network for a while; prints seconds, steps, resident bytes, objects that the
# collector knows and blocks that Python's allocator gave out, about four times a second. What grows
# must do so through the second half: caches fill in the first.
PROGRAM = """
import gc, os, random, sys, time
import numpy as np
from gluonish import autograd, nd
from gluonish.gluon import Trainer, loss, nn

kind, seconds = sys.argv[1], float(sys.argv[2])
draws = random.Random(0)
net = nn.HybridSequential()
net.add(nn.Dense(16, activation="relu", in_units=8), nn.BatchNorm(in_channels=16), nn.Dense(4))
net.initialize()
objective = loss.SoftmaxCrossEntropyLoss()
if kind != "imperative":
    net.hybridize(static_alloc=kind == "static_alloc")
    objective.hybridize()
trainer = Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
page = os.sysconf("SC_PAGE_SIZE")
begin = shown = time.monotonic()
steps = 0
while shown < begin + seconds:
    batch = draws.randrange(1, 100) if kind == "changing shapes" else 16
    x = nd.array(np.full((batch, 8), 1.0, np.float32))
    with autograd.record():
        value = objective(net(x), nd.zeros((batch,)))
    value.backward()
    trainer.step(batch)
    kept = [net(x)[0:1], x.reshape((-1,)).copy()]
    value.mean().asscalar()
    steps += 1
    if time.monotonic() > shown + 0.25:
        gc.collect()
        shown = time.monotonic()
        with open("/proc/self/statm") as file:
            resident = int(file.read().split()[1]) * page
        print(shown - begin, steps, resident, len(gc.get_objects()), sys.getallocatedblocks())
"""
# A step makes some fifty arrays, nodes and closures of a hundred bytes and more each: one that
# stays in each step is more than this. Noise of the allocator is a few pages a second.
MAX_BYTES_A_STEP = 50
MAX_OBJECTS_A_STEP = 0.01
GROWING = ("bytes", "collected objects", "blocks")


@pytest.mark.parametrize("kind", ["imperative", "hybridized", "static_alloc", "changing shapes"])
def test_memory_does_not_grow_with_steps(
    kind: str, record_property: Callable[[str, object], None]
) -> None:
    done = run(f"import sys\nsys.argv[1:] = [{kind!r}, '{RUN_S}']\n{PROGRAM}", timeout_s=RUN_S + 30)
    assert (done.returncode, done.stderr) == (0, "")
    rows = np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])
    assert len(rows) > 2 * RUN_S
    late = rows[len(rows) // 2 :]
    a_second, a_step = (np.polyfit(late[:, by], late[:, 2:], 1)[0] for by in (0, 1))
    record_property("steps", int(rows[-1, 1]))
    for name, per_second, per_step in zip(GROWING, a_second, a_step, strict=True):
        record_property(f"{name} an hour, a step", (3600 * float(per_second), float(per_step)))
    few = rows[:: len(rows) // 20]
    assert a_step[0] < MAX_BYTES_A_STEP, few
    assert max(a_step[1:]) < MAX_OBJECTS_A_STEP, few


def network(shared: HybridBlock | None = None) -> HybridBlock:
    """Return a network with the parameters of another, or of a seed."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=1), nn.BatchNorm(in_channels=4), nn.Activation("relu"))
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(5, in_units=4))
    net.initialize(mx.init.Constant(0.3) if shared is None else None)
    if shared is not None:
        theirs = shared.collect_params().values()
        for own, other in zip(net.collect_params().values(), theirs, strict=True):
            own.set_data(other.data())
    net.hybridize(static_alloc=True)
    return net


def trained(seed: int, steps: int = 12) -> list[Any]:
    """Train a network of one's own from a seed; return its parameters."""
    draws = np.random.default_rng(seed)
    net = network()
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    objective = loss.SoftmaxCrossEntropyLoss()
    for _ in range(steps):
        batch = int(draws.integers(1, 6))
        x = nd.array(draws.standard_normal((batch, 1, 6, 6)).astype(np.float32))
        labels = nd.array(draws.integers(0, 5, batch).astype(np.float32))
        with autograd.record():
            value = objective(net(x), labels)
        value.backward()
        trainer.step(batch)
    return [parameter.data().asnumpy() for parameter in net.collect_params().values()]


def in_threads(job: Callable[[random.Random], int]) -> int:
    """Repeat a job in eight threads for a while; return how many results were compared."""
    until = time.monotonic() + RUN_S
    counts = [0] * THREADS
    errors: list[BaseException] = []

    def repeat(number: int) -> None:
        draws = random.Random(number)
        try:
            while time.monotonic() < until and not errors:
                counts[number] += job(draws)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(RUN_S + 60)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]
    assert min(counts) > 0
    return sum(counts)


def test_threads_that_train_networks_of_their_own_get_what_one_gets(
    record_property: Callable[[str, object], None],
) -> None:
    expected = [trained(seed) for seed in range(20)]

    def job(draws: random.Random) -> int:
        seed = draws.randrange(len(expected))
        for found, want in zip(trained(seed), expected[seed], strict=True):
            np.testing.assert_array_equal(found, want)
        return 1

    record_property("trainings", in_threads(job))


def test_threads_that_share_a_network_get_what_one_gets(
    record_property: Callable[[str, object], None],
) -> None:
    net = network()
    net.collect_params().setattr("grad_req", "null")  # all threads would write one array
    inputs = [
        np.random.default_rng(i).standard_normal((1 + i % 5, 1, 6, 6)).astype(np.float32)
        for i in range(20)
    ]

    def called(values: Any) -> tuple[Any, Any]:
        x = nd.array(values)
        x.attach_grad()
        with autograd.record(train_mode=False):
            y = net(x)
            z = (y * y).sum()
        z.backward()
        return y.asnumpy(), x.grad.asnumpy()

    expected = [called(values) for values in inputs]

    def job(draws: random.Random) -> int:
        number = draws.randrange(len(inputs))
        for found, want in zip(called(inputs[number]), expected[number], strict=True):
            np.testing.assert_array_equal(found, want)
        return 1

    record_property("calls", in_threads(job))
