import threading
from typing import Any

import numpy as np

from gluonish import autograd
from gluonish import ndarray as nd


def test_deep_graph_needs_no_deep_stack() -> None:
    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        y = x
        for _ in range(6000):
            y = y + 1
        z = y * y
    z.backward()
    assert x.grad.tolist() == [2 * 6001]
    del y, z


def test_deep_graph_that_is_never_walked_goes_without_a_deep_stack() -> None:
    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        y = x
        for _ in range(20000):
            y = y * 1
    del y


def test_value_used_many_times_adds_up() -> None:
    x = nd.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x
        for _ in range(10):
            y = y + y * x
    y.backward()
    # y = x (1 + x)^10
    np.testing.assert_allclose(x.grad.asnumpy(), [3**10 + 2 * 10 * 3**9])


def test_graph_with_many_paths_is_walked_once() -> None:
    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        y = x
        for _ in range(60):  # 2**60 paths
            y = y + y
    y.backward()
    assert x.grad.tolist() == [2.0**60]


def test_threads_record_and_differentiate_on_their_own() -> None:
    found: dict[int, list[float]] = {}
    ready = threading.Barrier(4, timeout=30)

    def work(number: int) -> None:
        x = nd.array([1.0, 2.0]) * number
        x.attach_grad()
        ready.wait()
        for _ in range(20):
            with autograd.record():
                y = x * x
            y.backward()
        found[number] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == {number: [2.0 * number, 4.0 * number] for number in range(4)}


def test_leaf_that_is_a_head_and_is_read_gets_both_gradients() -> None:
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * 3
    autograd.backward([x, y])
    assert x.grad.tolist() == [4.0, 4.0]


class Greedy(autograd.Function):
    """Overwrites the gradient that it is given, which it should not."""

    def forward(self, x: Any) -> Any:
        return x * 2

    def backward(self, dy: Any) -> Any:
        dy[:] = 7
        return dy


def test_head_gradient_that_a_user_overwrites_is_not_used_again() -> None:
    x = nd.ones((3,))
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = Greedy()(x)
        y.backward()
        with autograd.record():
            y = x * 3
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3, 3])


def test_gradients_of_two_calls_share_no_memory() -> None:
    x = nd.ones((3,))
    x.attach_grad()
    found = []
    for _ in range(2):
        with autograd.record():
            y = x + 1  # its rule hands the head's gradient on
        found.append(autograd.grad(y, x)[0])
    found[0][:] = 7
    np.testing.assert_array_equal(found[1].asnumpy(), [1, 1, 1])
