import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutogradError,
    GraphError,
    NotSupportedError,
)
from gluonish.gluon import HybridBlock, nn


class ProductAndSum(autograd.Function):
    def forward(self, x: nd.NDArray, y: nd.NDArray) -> Any:
        self.save_for_backward(x, y)
        return x * y, x + y

    def backward(self, product_grad: nd.NDArray, sum_grad: nd.NDArray) -> Any:
        x, y = self.saved_tensors
        return product_grad * y + sum_grad, product_grad * x + sum_grad


class Returning(autograd.Function):
    def __init__(self, forward: Any, backward: Any) -> None:
        self.results = forward, backward

    def forward(self, x: nd.NDArray) -> Any:
        return self.results[0]

    def backward(self, dy: nd.NDArray) -> Any:
        return self.results[1]


def leaves() -> tuple[nd.NDArray, nd.NDArray]:
    x, y = nd.array([1, 2, 3]), nd.array([4, 5, 6])
    x.attach_grad()
    y.attach_grad()
    return x, y


def test_own_gradient_is_used() -> None:
    x, y = leaves()
    with autograd.record():
        product, total = ProductAndSum()(x, y)
        z = product * 2 + total
    z.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([9, 11, 13], [3, 5, 7])


def test_output_that_nothing_uses_has_gradient_zero() -> None:
    x, y = leaves()
    with autograd.record():
        product, _ = ProductAndSum()(x, y)
    product.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([4, 5, 6], [1, 2, 3])


def test_forward_is_not_recorded_and_keeps_the_training_mode() -> None:
    seen = []

    class Look(autograd.Function):
        def forward(self, x: nd.NDArray) -> nd.NDArray:
            seen.append((autograd.is_recording(), autograd.is_training()))
            return x

    with autograd.record():
        Look()(nd.ones(1))
    with autograd.record(train_mode=False):
        Look()(nd.ones(1))
    assert seen == [(False, True), (False, False)]


def test_outside_recording_it_is_only_called() -> None:
    product, total = ProductAndSum()(*leaves())
    assert (product._edge, total.tolist()) == (None, [5, 7, 9])


def test_second_order_goes_through_operators_of_backward() -> None:
    x, y = leaves()
    with autograd.record():
        product, _ = ProductAndSum()(x, y)
        (first,) = autograd.grad(product, x, create_graph=True)
        z = first * first
    z.backward()
    assert y.grad.tolist() == [8, 10, 12]


def test_instance_serves_one_call() -> None:
    function = ProductAndSum()
    function(*leaves())
    with pytest.raises(
        AutogradError, match="ProductAndSum: expected one call of each instance"
    ) as info:
        function(*leaves())
    assert isinstance(info.value, AssertionError)  # what MXNet raises


@pytest.mark.parametrize("gradient", [nd.ones(5), [nd.ones(3), nd.ones(3)], []])
def test_gradients_that_do_not_fit_the_inputs_are_refused(gradient: Any) -> None:
    x, _ = leaves()
    with autograd.record():
        y = Returning(nd.ones(3), gradient)(x)
    with pytest.raises(ArgumentError, match="Returning: expected backward to return a gradient"):
        y.backward()


def test_results_that_are_no_arrays_are_refused() -> None:
    x, _ = leaves()
    with pytest.raises(ArgumentTypeError, match=r"Returning\.forward: expected to return"):
        Returning(3, None)(x)
    with autograd.record():
        y = Returning(nd.ones(3), None)(x)
    with pytest.raises(ArgumentTypeError, match=r"Returning\.backward: expected to return"):
        y.backward()


def test_freed_function_is_refused_and_its_arrays_are_gone() -> None:
    x, y = leaves()
    gc.disable()
    try:
        function = ProductAndSum()
        kept = weakref.ref(function)
        with autograd.record():
            z, _ = function(x, y)
        del function
        z.backward()
        assert kept() is None
    finally:
        gc.enable()
    with pytest.raises(AutogradError, match="pass retain_graph=True"):
        z.backward()


def test_missing_member_is_told_by_name() -> None:
    class Forward(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 2

    x, _ = leaves()
    with pytest.raises(NotSupportedError, match=r"expected a subclass that defines forward\(self"):
        autograd.Function()(x)
    with autograd.record():
        y = Forward()(x)
    with pytest.raises(NotSupportedError, match=r"Forward: expected .* defines backward\(self"):
        y.backward()


class Scaled(autograd.Function):
    """Three times the first input plus the second, whose gradient is said to be nothing."""

    def forward(self, x: nd.NDArray, y: nd.NDArray) -> Any:
        return [x * 3 + y, y * 2]

    def backward(self, first: nd.NDArray, second: nd.NDArray) -> Any:
        return first * 3, None


def test_input_may_have_no_gradient() -> None:
    x, y = leaves()
    y.grad[:] = 7
    with autograd.record():
        outputs = Scaled()(x, y)
    assert isinstance(outputs, list)
    outputs[0].backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3, 3, 3], [0, 0, 0])


def test_input_that_is_no_array_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="ProductAndSum: expected NDArrays, got float"):
        ProductAndSum()(nd.ones(3), 2.0)  # type: ignore[arg-type]


class Straight(autograd.Function):
    """The sign, with the gradient of the identity; it reads numbers, which no trace has."""

    def forward(self, x: nd.NDArray) -> nd.NDArray:
        return nd.array(np.sign(x.asnumpy()))

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        return dy


class Forward(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dense = nn.Dense(3, in_units=3, weight_initializer="one")

    def forward(self, x: Any) -> Any:
        return Straight()(self.dense(x)) * x


class Hybrid(HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return Straight()(x * 2) * x


@pytest.mark.parametrize("make", [Forward, Hybrid])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("static", [False, True])
def test_function_in_a_hybridized_block_runs_it_imperatively(
    make: type[HybridBlock], inside: bool, static: bool
) -> None:
    net, plain = make(), make()
    results = []
    for inner in (net, plain):
        block: HybridBlock = inner
        if inside:
            block = nn.HybridSequential()
            block.add(nn.Dense(3, in_units=3, weight_initializer="one"), inner)
        block.initialize()
        if inner is net:
            block.hybridize(static_alloc=static)
        for _ in range(2):
            x = nd.array([[1, -2, 3]])
            x.attach_grad()
            with autograd.record():
                y = block(x)
            y.backward()
        results.append((y.tolist(), x.grad.tolist()))
    assert results[0] == results[1]


def test_block_with_a_function_has_no_graph_to_write(tmp_path: Path) -> None:
    net = Forward(prefix="net_")
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 3)))
    with pytest.raises(GraphError, match=r"cannot be traced: Straight: expected NDArrays, got a"):
        net.export(str(tmp_path / "net"))


def test_function_around_a_hybridized_block() -> None:
    net = nn.Dense(1, in_units=2, use_bias=False, weight_initializer="one")
    net.initialize()
    net.hybridize()

    class Around(autograd.Function):
        def forward(self, x: nd.NDArray) -> nd.NDArray:
            self.save_for_backward(x)
            return net(x)

        def backward(self, dy: nd.NDArray) -> nd.NDArray:
            (x,) = self.saved_tensors
            x.attach_grad()
            with autograd.record():
                y = net(x)
            (gradient,) = autograd.grad(y, x, dy)
            return gradient * 10

    x = nd.array([[2, 3]])
    x.attach_grad()
    with autograd.record():
        y = Around()(x * 2)
    y.backward()
    assert (y.tolist(), x.grad.tolist()) == ([[10]], [[20, 20]])
