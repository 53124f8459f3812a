import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, engine
from gluonish import ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError

THREADED = ("ThreadedEngine", "ThreadedEnginePerDevice")


def arithmetic() -> list[nd.NDArray]:
    x = nd.arange(300 * 300).reshape((300, 300)) / 1000
    for i in range(1, 5):
        x = (x * x - i) / (x + i)
        x[i] = x[i - 1] + x[:, i]
        x += 1
    return [x, x.sum(), x.T[3]]


def views() -> list[nd.NDArray]:
    x = nd.zeros((64, 2048))
    row, flat = x[3], x.reshape(-1)
    for i in range(20):
        row += i
        flat[i::7] = i
        x[i] = row * 2
    return [x, row, flat]


def gradients() -> list[nd.NDArray]:
    w = nd.arange(256 * 256).reshape((256, 256)) / 65536
    w.attach_grad("add")
    for _ in range(3):
        with autograd.record():
            loss = (nd.dot(w, w).tanh() * w[nd.arange(256) % 5]).sum()
        loss.backward()
        w -= 0.01 * w.grad
    return [w, w.grad]


def devices() -> list[nd.NDArray]:
    parts = [nd.ones((300, 300), ctx=cpu(i)) * i for i in range(3)]
    total = nd.zeros((300, 300))
    for _ in range(4):
        for i, part in enumerate(parts):
            part += total.as_in_context(cpu(i))
        total = parts[0] + parts[1].as_in_context(cpu(0)) + parts[2].copyto(cpu(0))
    return [total, *parts]


def random_numbers() -> list[nd.NDArray]:
    nd.random.seed(7)
    x = nd.random.normal(shape=(300, 300))
    return [x, nd.random.uniform(shape=(5,), ctx=cpu(1)), nd.random.shuffle(x)]


@pytest.mark.parametrize("kind", THREADED)
@pytest.mark.parametrize("program", [arithmetic, views, gradients, devices, random_numbers])
def test_program_computes_what_it_does_on_the_naive_engine(
    program: Callable[[], list[nd.NDArray]], kind: str
) -> None:
    with engine.use_engine("NaiveEngine"):
        expected = [x.asnumpy() for x in program()]
    with engine.use_engine(kind):
        found = [x.asnumpy() for x in program()]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_scope_gives_the_engine_back() -> None:
    outside = engine.current_engine()
    with engine.use_engine("NaiveEngine") as inside:
        assert engine.current_engine() is inside
    assert engine.current_engine() is outside


def test_engine_is_the_one_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "NaiveEngine")
    monkeypatch.setattr(engine, "_engine", None)
    assert type(engine.current_engine()).__name__ == "NaiveEngine"


def test_bulk_size_is_set_and_given_back() -> None:
    before = engine.set_bulk_size(3)
    with engine.bulk(10):
        assert engine.set_bulk_size(10) == 10
    assert engine.set_bulk_size(before) == 3


@pytest.mark.parametrize("scope", [engine.bulk, engine.set_bulk_size])
def test_wrong_bulk_size_is_refused(scope: Callable[[Any], object]) -> None:
    with pytest.raises(ArgumentTypeError, match="bulk: expected size to be an int, got 'a'"):
        scope("a")
    with pytest.raises(ArgumentError, match="bulk: expected a size of at least 0, got -1"):
        scope(-1)


def test_bulked_operators_compute_the_same() -> None:
    x = nd.ones((300, 300))
    with engine.bulk(16):
        for _ in range(40):
            x = x + 1
    assert x.asnumpy()[0, 0] == 41


def test_threads_share_the_engine() -> None:
    results: dict[int, float] = {}

    def work(number: int) -> None:
        x = nd.full((200, 200), number)
        results[number] = (x * x).sum().asscalar()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == {number: 40000.0 * number**2 for number in range(4)}
