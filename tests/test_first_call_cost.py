"""Tracing and planning take time that grows with the graph, and not with its square."""

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.nn import HybridBlock

# Twice the branches may cost this many times the calls, of Python and of C functions. A pass that
# looks at all nodes for each of them costs up to four times as many.
LIMIT = 2.3


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
