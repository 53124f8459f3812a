"""Every sampler and Dropout under a seed: the same numbers again, eager and hybridized, after other
work, and while other threads draw and compute.
"""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.context import cpu
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray.eager import source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import Operator, apply, find_operator
from tests.golden.case import Case
from tests.ops.fuzz_draws import valid_cases

pytestmark = pytest.mark.slow


def _is_drawn(op: Operator, case: Case) -> bool:
    attrs = dict(case.attrs)
    if op.variadic is not None:
        attrs.setdefault(op.variadic, len(case.inputs))
    return op.draws(op.schema.parse(op.name, attrs))


CASES = [
    (name, case)
    for name, cases in valid_cases().items()
    for case in cases
    if find_operator(name).random and _is_drawn(find_operator(name), case)
]


def _call(case: Case) -> tuple[Operator, dict[str, Any], list[NDArray]]:
    op = find_operator(case.op)
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, len(case.inputs))
    arrays = [mx.nd.array(x, dtype=x.dtype) for x in case.arrays()]
    return op, op.schema.parse(op.name, given), arrays


def _listed(made: Any) -> list[Any]:
    return [y.asnumpy() for y in (made if isinstance(made, list | tuple) else [made])]


def _drawn(case: Case) -> list[Any]:
    op, attrs, arrays = _call(case)
    with mx.autograd.train_mode():
        return _listed(apply(op, arrays, attrs) if arrays else source(op, attrs, cpu()))


def _same(a: list[Any], b: list[Any]) -> bool:
    return all(
        np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True)
    )


@pytest.mark.parametrize(("name", "case"), CASES, ids=lambda x: x if isinstance(x, str) else x.key)
def test_operator_draws_the_same_again(name: str, case: Case) -> None:
    mx.random.seed(11)
    first, second = _drawn(case), _drawn(case)
    mx.nd.dot(mx.nd.ones((200, 200)), mx.nd.ones((200, 200)))
    mx.random.seed(11)
    assert _same(first, _drawn(case))
    assert _same(second, _drawn(case))


@pytest.mark.parametrize(("name", "case"), CASES, ids=lambda x: x if isinstance(x, str) else x.key)
def test_hybridized_operator_draws_the_same_again(name: str, case: Case) -> None:
    op, attrs, arrays = _call(case)
    if not arrays or op.measure is not None:
        pytest.skip("a trace needs arrays, and shapes that do not depend on values")

    class Net(HybridBlock):
        def forward(self, *x: Any) -> Any:
            made = apply(op, x, attrs)
            return tuple(made) if isinstance(made, list) else made

    net = Net()
    net.hybridize()
    results = []
    for _ in range(2):
        mx.random.seed(11)
        with mx.autograd.train_mode():
            results.append([_listed(net(*arrays)) for _ in range(3)])
    for first, again in zip(*results, strict=True):
        assert _same(first, again)


def _stream(draw: Callable[[], Any], count: int) -> list[Any]:
    return [draw().asnumpy() for _ in range(count)]


SIZES = [(7,), (3, 333), (300, 301)]
DRAWS: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "uniform": lambda s: mx.nd.random.uniform(-1, 2, shape=s),
    "normal": lambda s: mx.nd.random.normal(1, 2, shape=s),
    "gamma": lambda s: mx.nd.random.gamma(2, 2, shape=s),
    "exponential": lambda s: mx.nd.random.exponential(2, shape=s),
    "poisson": lambda s: mx.nd.random.poisson(4, shape=s),
    "negative_binomial": lambda s: mx.nd.random.negative_binomial(3, 0.4, shape=s),
    "randint": lambda s: mx.nd.random.randint(0, 1000, shape=s),
    "shuffle": lambda s: mx.nd.random.shuffle(mx.nd.arange(s[0] * 3)),
    "multinomial": lambda s: mx.nd.random.multinomial(mx.nd.array([0.2, 0.5, 0.3]), shape=s),
    "np.choice": lambda s: mx.np.random.choice(50, size=s),
    "np.normal": lambda s: mx.np.random.normal(size=s),
    "np.randint": lambda s: mx.np.random.randint(0, 9, size=s),
}


@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("name", DRAWS)
def test_stream_is_the_same_while_other_threads_compute(name: str, shape: tuple[int, ...]) -> None:
    draw = DRAWS[name]
    mx.random.seed(5)
    alone = _stream(lambda: draw(shape), 4)
    stop = threading.Event()

    def work() -> None:
        x = mx.nd.ones((150, 150))
        while not stop.is_set():
            mx.nd.softmax(mx.nd.dot(x, x)).wait_to_read()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        mx.random.seed(5)
        beside = _stream(lambda: draw(shape), 4)
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
    assert _same(alone, beside)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("axes", [(), (0,), (1,)])
@pytest.mark.parametrize("shape", [(5, 7), (300, 400)])
def test_dropout_repeats_with_its_gradient(
    hybridize: bool, axes: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dropout(0.4, axes=axes), mx.gluon.nn.Dropout(0.2))
    net.initialize()
    if hybridize:
        net.hybridize()
    x = mx.nd.ones(shape)
    x.attach_grad()
    results = []
    for _ in range(3):
        mx.random.seed(3)
        with mx.autograd.record():
            y = net(x)
        y.backward()
        results.append((y.asnumpy(), x.grad.asnumpy()))
        mx.nd.random.normal(shape=(50,)).wait_to_read()
    for y, gradient in results[1:]:
        np.testing.assert_array_equal(y, results[0][0])
        np.testing.assert_array_equal(gradient, results[0][1])
    np.testing.assert_allclose(results[0][0], results[0][1], rtol=1e-6)  # of ones
    assert 0 < np.count_nonzero(results[0][0]) < x.size
