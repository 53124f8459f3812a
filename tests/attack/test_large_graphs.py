"""Graphs of many thousand operators: nothing recurses, and nothing takes time by their square."""

import copy
import gc
import io
import pickle
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest

import gluonish as mx
from gluonish import autograd, nd, sym
from gluonish.gluon.nn import HybridBlock

pytestmark = pytest.mark.slow

_LENGTH = 20_000
# Quadratic work on so many nodes takes minutes.
_LIMIT_S = 60.0


def _timed(function: Callable[[], Any]) -> Any:
    start = time.process_time()
    found = function()
    taken_s = time.process_time() - start
    assert taken_s < _LIMIT_S, taken_s
    return found


@pytest.fixture(scope="module")
def chain() -> sym.Symbol:
    y = sym.var("x")
    for _ in range(_LENGTH // 2):
        y = sym.tanh(y + 1.0)
    return y


def _summary(symbol: sym.Symbol) -> None:
    with redirect_stdout(io.StringIO()):
        mx.viz.print_summary(symbol, shape={"x": (2, 3)})


def _run(symbol: sym.Symbol) -> None:
    executor = symbol.simple_bind(mx.cpu(), x=(2, 3))
    executor.forward(is_train=True)
    executor.backward(nd.ones((2, 3)))
    executor.grad_arrays[0].asnumpy()


_USES: dict[str, Callable[[sym.Symbol], object]] = {
    "infer_shape": lambda y: y.infer_shape(x=(2, 3)),
    "infer_type": lambda y: y.infer_type(x="float32"),
    "file": lambda y: sym.load_json(y.tojson()),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda y: pickle.loads(pickle.dumps(y)),
    "compose": lambda y: y(x=sym.var("z")),
    "internals": lambda y: y.get_internals().list_outputs(),
    "debug_str": lambda y: y.debug_str(),
    "summary": _summary,
    "bind": _run,
}


@pytest.mark.parametrize("use", _USES)
def test_chain_of_a_symbol_is_used(chain: sym.Symbol, use: str) -> None:
    _timed(lambda: _USES[use](chain))


class _Net(HybridBlock):
    def __init__(self, compute: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.compute = compute

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.compute(F, x)


def _wide(F: Any, x: Any) -> Any:
    parts = [F.relu(x * (1.0 + i)) for i in range(5000)]
    return F.add_n(*parts) + sum(parts[1:], parts[0])


def _deep(F: Any, x: Any) -> Any:
    for _ in range(_LENGTH // 4):
        x = F.softmax(F.tanh(x + 1.0))
    return x


@pytest.mark.parametrize("compute", [_wide, _deep])
def test_large_block_is_planned_and_run(compute: Callable[[Any, Any], Any]) -> None:
    net, plain = _Net(compute), _Net(compute)
    net.hybridize()
    results = []
    for block in (net, plain):
        x = nd.array([[0.1 * i for i in range(32)]] * 64)
        x.attach_grad()

        def step(block: HybridBlock = block, x: Any = x) -> Any:
            with autograd.record():
                y = block(x)
            y.backward()
            gradient = x.grad
            assert gradient is not None
            return y.asnumpy(), gradient.asnumpy()

        results.append(_timed(step))
    for found, expected in zip(*results, strict=True):
        assert abs(found - expected).max() <= 1e-4 * abs(expected).max()


@pytest.mark.parametrize("backward", [True, False])
def test_recorded_chain_is_freed(backward: bool) -> None:
    x = nd.ones((2, 3))
    x.attach_grad()

    def step() -> None:
        with autograd.record():
            y = x
            for _ in range(5 * _LENGTH):
                y = y + 1.0
        if backward:
            y.backward()
            assert x.grad is not None
            assert x.grad.asnumpy().tolist() == [[1.0] * 3] * 2
        del y
        gc.collect()

    _timed(step)
