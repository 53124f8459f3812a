"""Tracing and planning take time that grows with the graph, and not with its square."""

import gc
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.gluon.nn import HybridBlock
from gluonish.gluon.rnn import LSTMCell

# Twice the branches may cost this many times the calls, of Python and of C functions. A pass that
# looks at all nodes for each of them costs up to four times as many.
LIMIT = 2.3

# Of Python and C functions, for tracing and planning one step of two cells and its gradient.
CALLS_OF_A_STEP = 55_000  # 73,700 before equal nodes were planned once


def branches(F: ModuleType, x: Any, count: int) -> list[Any]:
    return [F.relu(x * (1.0 + i)) for i in range(count)]


def added_one_by_one(F: ModuleType, x: Any, count: int) -> Any:
    parts = branches(F, x, count)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def added_at_once(F: ModuleType, x: Any, count: int) -> Any:
    return F.add_n(*branches(F, x, count))


def joined(F: ModuleType, x: Any, count: int) -> Any:
    return F.concat(*branches(F, x, count), dim=1)


def returned(F: ModuleType, x: Any, count: int) -> Any:
    return [F.softmax(part) for part in branches(F, x, count)]


def with_layers_between(F: ModuleType, x: Any, count: int) -> Any:
    total = 0
    for part in branches(F, x, count):
        total = F.softmax(part) + total
    return total


def one_behind_the_other(F: ModuleType, x: Any, count: int) -> Any:
    for _ in range(count):
        x = F.softmax(F.tanh(x + 1.0))
    return x


class Net(HybridBlock):
    def __init__(self, compute: Callable[..., Any], count: int) -> None:
        super().__init__()
        self.compute = compute
        self.count = count

    def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
        return self.compute(F, x, self.count)


def first_call(compute: Callable[..., Any], count: int) -> Callable[[], None]:
    net = Net(compute, count)
    net.hybridize()
    x = nd.ones((128, 16))
    x.attach_grad()

    def run() -> None:
        with autograd.record():  # plans the backward pass, too
            net(x)

    return run


def calls(function: Callable[[], None]) -> int:
    found = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(previous)
    nd.waitall()
    return found


@pytest.mark.parametrize(
    "compute",
    [
        *(added_one_by_one, added_at_once, joined, returned),
        *(with_layers_between, one_behind_the_other),
    ],
)
def test_twice_the_graph_costs_hardly_more_than_twice_the_calls(
    compute: Callable[..., Any],
) -> None:
    first_call(compute, 4)()
    less = calls(first_call(compute, 100))
    more = calls(first_call(compute, 200))
    assert more < LIMIT * less, (less, more)


class Cells(HybridBlock):
    """Two cells of a recurrent network, unrolled."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps
        with self.name_scope():
            self.first = LSTMCell(16, input_size=8)
            self.second = LSTMCell(16, input_size=16)

    def hybrid_forward(self, F: ModuleType, x: Any, zeros: Any) -> Any:
        first, second = [zeros, zeros], [zeros, zeros]
        outputs = []
        for piece in F.split(x, num_outputs=self.steps, axis=1, squeeze_axis=True):
            y, first = self.first(piece, first)
            y, second = self.second(y, second)
            outputs.append(y)
        return F.concat(*outputs, dim=1)


def calls_of_cells(steps: int) -> int:
    net = Cells(steps)
    net.initialize()
    net.hybridize()
    x, zeros = nd.ones((64, steps, 8)), nd.zeros((64, 16))

    def run() -> None:
        with autograd.record():
            net(x, zeros)

    return calls(run)


def test_a_step_of_a_recurrent_network_costs_few_calls() -> None:
    calls_of_cells(2)
    step = (calls_of_cells(24) - calls_of_cells(12)) / 12
    assert step < CALLS_OF_A_STEP, step


def test_collections_do_not_grow_with_the_graph() -> None:
    first_call(with_layers_between, 4)()
    nd.waitall()
    seen = []

    def note(phase: str, info: dict[str, int]) -> None:
        seen.append((phase, info["generation"]))

    gc.collect()
    gc.callbacks.append(note)
    try:
        first_call(with_layers_between, 400)()
    finally:
        gc.callbacks.remove(note)
    nd.waitall()
    assert seen.count(("start", 0)) < 10, len(seen)
