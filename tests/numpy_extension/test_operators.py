import inspect
from typing import Any

import pytest

from gluonish import autograd, gluon
from gluonish import ndarray as nd
from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.numpy_extension.operators import IMAGE_NAMES, NAMES
from gluonish.ops.registry import all_names


@pytest.mark.parametrize("name", [name for name in NAMES if NAMES[name] in all_names()])
def test_function_has_a_docstring_and_a_signature(name: str) -> None:
    function = getattr(npx, name)
    assert function.__name__ == name
    assert "Args:" in function.__doc__
    assert inspect.signature(function).parameters


def test_names_are_listed() -> None:
    assert "softmax" in dir(npx)
    assert set(dir(npx.image)) == {*IMAGE_NAMES, "random_crop", "random_resized_crop"}


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'nonsense'"):
        npx.nonsense  # type: ignore[attr-defined]  # noqa: B018  # the access is what is tested


def test_array_of_nd_is_refused_by_the_rules_of_mxnet_1() -> None:
    before = follow_mxnet()
    try:
        with pytest.raises(ArgumentTypeError, match=r"^relu: expected arrays of mx\.np"):
            npx.relu(nd.ones((2,)))
    finally:
        follow_mxnet(before)


def test_sparse_array_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^relu: expected arrays of mx\.np"):
        npx.relu(nd.ones((2, 2)).tostype("csr"))


def test_arrays_of_nd_are_taken_and_keep_their_gradients() -> None:
    x, out = nd.array([-1.0, 2.0]), nd.zeros(2)
    x.attach_grad()
    with autograd.record():
        y = npx.relu(x) * 3
    assert type(y) is np.ndarray
    assert y.tolist() == [0, 6]
    y.backward()
    assert x.grad.tolist() == [0, 3]
    assert npx.relu(data=x, out=out) is out
    assert out.tolist() == [0, 2]


@pytest.mark.parametrize("hybridizes", [False, True])
def test_blocks_use_operators_of_npx_on_arrays_of_nd(hybridizes: bool) -> None:
    class Positive(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return npx.relu(x) + np.square(x)

    net = Positive()
    net.hybridize(hybridizes)
    y = net(nd.array([-1.0, 2.0]))
    assert type(y) is np.ndarray
    assert y.tolist() == [1, 6]


def test_result_is_an_array_of_np() -> None:
    x = np.array([[1.0, 2.0]])
    assert type(npx.softmax(x)) is np.ndarray
    assert npx.nonzero(x > 1).tolist() == [[0, 1]]
    assert npx.fully_connected(x, np.ones((3, 2)), num_hidden=3, no_bias=True).shape == (1, 3)


def test_check_of_a_constraint_fails_when_it_is_waited_for() -> None:
    assert npx.constraint_check(np.array([True, True], dtype="bool")).item() is True
    with pytest.raises(Exception, match="too large"):
        npx.constraint_check(np.array([True, False], dtype="bool"), msg="too large").asnumpy()


def test_samplers_give_shapes() -> None:
    v = np.array([0.1, 0.5, 0.9])
    assert npx.random.bernoulli(prob=v).shape == (3,)
    assert npx.random.bernoulli(logit=0.5, size=(2, 2)).shape == (2, 2)
    assert npx.random.uniform_n(0, 1, batch_shape=(2,)).shape == (2,)
    assert npx.random.normal_n(v, 1, batch_shape=2).shape == (2, 3)
    with pytest.raises(ArgumentError, match=r"^bernoulli: expected prob or logit"):
        npx.random.bernoulli()


def test_seed_repeats_numbers() -> None:
    npx.random.seed(3)
    first = np.random.uniform(size=4).tolist()
    npx.random.seed(3)
    assert np.random.uniform(size=4).tolist() == first
