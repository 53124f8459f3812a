"""`mx.contrib.autograd`, the older names. Expectations are MXNet 1.9.1's."""

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd as modern
from gluonish.contrib import autograd


def mode() -> tuple[bool, bool]:
    return modern.is_recording(), modern.is_training()


def test_sections_record_and_train_or_neither() -> None:
    with autograd.train_section():
        assert mode() == (True, True)
        with autograd.test_section():
            assert mode() == (False, False)
        assert mode() == (True, True)
    assert mode() == (False, False)


def test_setting_tells_what_was_before() -> None:
    assert autograd.set_is_training(True) is False
    assert mode() == (True, True)
    assert autograd.set_is_training(False) is True
    assert mode() == (False, False)


def test_gradients_of_a_function_and_what_it_returns() -> None:
    x, y = mx.nd.array([1, 2]), mx.nd.array([3, 4])

    def product(a: mx.nd.NDArray, b: mx.nd.NDArray) -> mx.nd.NDArray:
        return a * b

    gradients, output = autograd.grad_and_loss(product)(x, y)
    np.testing.assert_array_equal(gradients[0].asnumpy(), [3, 4])
    np.testing.assert_array_equal(gradients[1].asnumpy(), [1, 2])
    np.testing.assert_array_equal(output.asnumpy(), [3, 8])
    (second,) = autograd.grad(product, 1)(x, y)
    np.testing.assert_array_equal(second.asnumpy(), [1, 2])
    first, _ = autograd.grad(lambda a, b: [a * b, a])(x, y)
    np.testing.assert_array_equal(first.asnumpy(), [4, 5])
    with pytest.raises(AssertionError, match="NDArray"):
        autograd.grad(product)(x, 3)


def test_marked_variables_gather_gradients() -> None:
    x, gradient = mx.nd.array([1, 2]), mx.nd.zeros(2)
    autograd.mark_variables([x], [gradient], "add")
    for _ in range(2):
        with autograd.train_section():
            z = x * 2
        autograd.backward([z], [mx.nd.array([1, 3])])
    np.testing.assert_array_equal(gradient.asnumpy(), [4, 12])
    with autograd.train_section():
        z = x * 2
    autograd.compute_gradient([z])
    np.testing.assert_array_equal(gradient.asnumpy(), [6, 14])


def test_outputs_come_in_a_list() -> None:
    with pytest.raises(AssertionError, match="list or tuple"):
        autograd.backward(mx.nd.ones(1))  # type: ignore[arg-type]  # that is the point
