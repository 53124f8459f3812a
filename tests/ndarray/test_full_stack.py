"""A stack that is full in the middle of a call: what the program caught does not come again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.gluon import nn

def network(hybrid):
    net = nn.HybridSequential()
    net.add(nn.Dense(4), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    if hybrid:
        net.hybridize()
    return net, gluon.Trainer(net.collect_params(), "adam")

small, large = nd.ones((3, 3)), nd.ones((300, 300))
store = mx.kv.create("device")
store.init(3, small)

def step(net, trainer):
    with autograd.record():
        loss = net(small).sum()
    loss.backward()
    trainer.step(1)

def push():
    store.push(3, [small, small])
    store.pull(3, nd.zeros((3, 3)))

plain, hybrid = network(False), network(True)
CALLS = {
    "dot": lambda: nd.dot(large, large),
    "add": lambda: small + small,
    "random": lambda: nd.random.normal(shape=(300, 300)),
    "in place": lambda: small.__iadd__(0),
    "eager": lambda: plain[0](small),
    "hybrid": lambda: hybrid[0](small),
    "step": lambda: step(*plain),
    "hybrid step": lambda: step(*hybrid),
    "kvstore": push,
}

def depth():
    frame, count = sys._getframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count

def at(levels, call):
    if levels:
        return at(levels - 1, call)
    return call()

caught = 0
for name, call in CALLS.items():
    call()
    nd.waitall()
    for margin in range(4, 100, 2):
        try:
            at(sys.getrecursionlimit() - depth() - margin, call)
        except RecursionError:
            caught += 1
        except mx.MXNetError:
            pass  # of an argument that could not be read with so little stack
        try:
            nd.waitall()
        except mx.MXNetError as error:
            sys.exit(f"{name}, {margin} levels from the limit: {error}")
        call()
        nd.waitall()
print(caught)
"""


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEnginePerDevice"])
def test_a_full_stack_that_was_caught_does_not_come_again(kind: str) -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "engine")])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": paths, "MXNET_ENGINE_TYPE": kind},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 30
