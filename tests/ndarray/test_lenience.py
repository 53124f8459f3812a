"""What MXNet 1.9.1 accepts or shares, though no documentation promises it."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import ArgumentError, AutogradError, OperatorError


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (lambda x: x.expand_dims(0, inplace=True), (1, 1, 2, 1)),
        (lambda x: x.expand_dims(axis=-1, inplace=True), (1, 2, 1, 1)),
        (lambda x: x.flatten(inplace=True), (1, 2)),
        (lambda x: x.flatten(True), (1, 2)),
        (lambda x: x.expand_dims(1, True), (1, 1, 2, 1)),
        (lambda x: x.squeeze(inplace=True), (2,)),
        (lambda x: x.squeeze(0, inplace=True), (2, 1)),
    ],
)
def test_inplace_changes_of_axes_share_memory(change: Any, shape: tuple[int, ...]) -> None:
    x = nd.zeros((1, 2, 1))
    y = change(x)
    assert y.shape == shape
    y[:] = 1
    assert x.asnumpy().ravel().tolist() == [1, 1]
    x[:] = 5
    assert y.asnumpy().ravel().tolist() == [5, 5]


def test_without_inplace_they_copy_and_with_it_they_are_recorded() -> None:
    x = nd.zeros((1, 2))
    x.expand_dims(0)[:] = 1
    assert x.asnumpy().tolist() == [[0, 0]]
    x.attach_grad()
    with autograd.record():
        y = x.expand_dims(0, inplace=True) * 3
    y.backward()
    assert x.grad.asnumpy().tolist() == [[3, 3]]


def test_the_method_broadcast_like_takes_more_axes() -> None:
    assert nd.arange(3).broadcast_like(nd.ones((2, 3))).asnumpy().tolist() == [[0, 1, 2]] * 2
    with pytest.raises(OperatorError):
        nd.broadcast_like(nd.arange(3), nd.ones((2, 3)))


PLAIN = (
    "exp relu negative zeros_like ones_like identity BlockGrad shape_array"  # unary
    " broadcast_maximum broadcast_add elemwise_add elemwise_mul"
)


@pytest.mark.parametrize("name", PLAIN.split())
def test_operators_without_attributes_ignore_any(name: str) -> None:
    x = nd.array([[1, 2]])
    inputs = (x, x) if "elemwise" in name or "broadcast" in name else (x,)
    function = getattr(nd, name)
    plain, found = function(*inputs), function(*inputs, dtype="int32", axis=1)
    assert found.dtype == plain.dtype
    assert found.asnumpy().tolist() == plain.asnumpy().tolist()
    getattr(mx.sym, name)(*map(mx.sym.var, "ab"[: len(inputs)]), axis=1)


@pytest.mark.parametrize("name", ["sum", "dot", "softmax", "argmax", "add_n"])
def test_operators_with_attributes_refuse_unknown_ones(name: str) -> None:
    x = nd.ones((2, 2))
    with pytest.raises(OperatorError, match="'foo'"):
        getattr(nd, name)(*((x, x) if name in ("dot", "add_n") else (x,)), foo=1)


def test_both_triangles_can_be_factors() -> None:
    a = nd.array([[4, 2], [2, 3]])
    lower = nd.linalg.potrf(a, lower=True).asnumpy()
    np.testing.assert_allclose(lower, [[2, 0], [1, 2**0.5]], rtol=1e-6)
    np.testing.assert_allclose(nd.linalg.potrf(a, lower=False).asnumpy(), lower.T, rtol=1e-6)
    for given, is_lower in ((lower, True), (lower.T, False)):
        inverse = nd.linalg.potri(nd.array(given), lower=is_lower).asnumpy()
        np.testing.assert_allclose(inverse @ a.asnumpy(), np.eye(2), atol=1e-6)


def test_gradients_of_an_upper_factor_are_those_of_the_lower_one() -> None:
    def gradient(lower: bool) -> Any:
        a = nd.array([[4, 2], [2, 3]])
        heads = np.array([[1, 0], [3, 2]], np.float32)
        a.attach_grad()
        with autograd.record():
            y = nd.linalg.potri(nd.linalg.potrf(a, lower=lower), lower=lower)
        y.backward(nd.array(heads + heads.T))
        return a.grad.asnumpy()

    np.testing.assert_allclose(gradient(False), gradient(True), rtol=1e-5)


def test_a_vector_is_normalized_number_by_number() -> None:
    assert nd.L2Normalization(nd.array([3, -4])).asnumpy().tolist() == [1, -1]


def test_an_unknown_activation_is_refused_when_it_is_called() -> None:
    layer = mx.gluon.nn.Activation("nosuch")
    mx.gluon.nn.Dense(2, activation="nosuch")
    with pytest.raises(OperatorError, match="nosuch"):
        layer(nd.ones(2))


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("key", [1, slice(None)])
def test_a_write_inside_a_recording_says_what_mxnet_says(leaf: bool, key: Any) -> None:
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        y = x if leaf else x * 2
        with pytest.raises(AutogradError) as caught:
            y[key] = 3
    for words in (
        "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd",
        "Assigning to NDArrays that are already in a computational graph will cause undefined "
        "behavior when evaluating gradients",
    ):
        assert words in str(caught.value)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("face", ["nd", "np"])
def test_a_trainer_takes_an_array_of_one_number(optimizer: str, face: str) -> None:
    found = []
    for samples in (5, getattr(mx, face).array([2, 3]).sum()):
        net = mx.gluon.nn.Dense(1, in_units=1)
        net.initialize(mx.init.One())
        trainer = mx.gluon.Trainer(net.collect_params(), optimizer)
        with autograd.record():
            y = net(nd.ones((1, 1)))
        y.backward()
        trainer.step(samples)
        found.append(net.weight.data().asscalar())
    assert found[0] == found[1]


def test_a_csr_matrix_is_split_by_rows() -> None:
    matrix = nd.array(np.arange(8).reshape(4, 2)).tostype("csr")
    for parts in (
        mx.gluon.utils.split_data(matrix, 2),
        mx.gluon.utils.split_and_load(matrix, [mx.cpu(0), mx.cpu(1)]),
    ):
        assert [part.stype for part in parts] == ["csr", "csr"]
        assert [part.asnumpy().tolist() for part in parts] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


@pytest.mark.parametrize("make", [nd.sparse.csr_matrix, nd.sparse.row_sparse_array])
def test_two_shapes_that_differ_are_refused(make: Any) -> None:
    assert make((2, 2), shape=(2, 2)).shape == (2, 2)
    with pytest.raises(ArgumentError, match="once"):
        make((2, 2), shape=(3, 2))


def test_none_stands_for_steps_of_one() -> None:
    assert mx.np.arange(1, 5, None).tolist() == [1, 2, 3, 4]
    assert mx.npx.slice(mx.np.ones((2, 3)), begin=(), end=(), step=None).shape == (2, 3)


def test_functions_of_numpy_call_methods_with_words_of_their_own() -> None:
    x = mx.nd.array([[3.25, 1.75], [2.5, 9.0]])
    for found, values in (
        (np.mean(x), [4.125]),
        (np.mean(x, axis=0), [2.875, 5.375]),
        (np.round(x), [[3, 2], [3, 9]]),
        (np.around(x), [[3, 2], [3, 9]]),
        (np.argsort(x), [[1, 0], [0, 1]]),
        (np.argsort(x, axis=0), [[1, 0], [0, 1]]),
        (x.sum(axis=1, dtype=None), [5, 11.5]),  # type: ignore[call-arg]
    ):
        assert type(found) is mx.nd.NDArray
        assert found.tolist() == values
    assert float(np.mean(mx.nd.array([2.0]))) == 2
    assert np.round(x, 1).tolist() == np.round(x.asnumpy(), 1).tolist()
    assert type(np.round(x, 1)) is np.ndarray
    with pytest.raises(mx.MXNetError, match="dtype"):
        x.mean(dtype="float64")  # type: ignore[call-arg]


def test_reshape_of_numpy_goes_its_own_way() -> None:
    # NumPy passes `order`; MXNet's TypeError has it convert the array.
    with pytest.raises(TypeError, match="got NumPy's order"):
        mx.nd.ones(2).reshape((2, 1), order="C")
    found = np.reshape(mx.nd.array([1, 2]), (2, 1))
    assert type(found) is np.ndarray
    assert found.tolist() == [[1], [2]]


def test_numbers_of_many_elements_are_type_errors_as_in_mxnet() -> None:
    for kind in (int, float):
        with pytest.raises(TypeError, match=rf"{kind.__name__}: expected an array of size 1"):
            kind(mx.nd.ones((3,)))
    with pytest.raises(ValueError, match="expected an array of size 1"):
        bool(mx.nd.ones((3,)))


def test_histogram_is_a_tuple_without_a_range() -> None:
    x = mx.nd.array([1, 2, 3])
    assert type(mx.nd.histogram(x, bins=3)) is tuple
    assert type(mx.nd.histogram(x, bins=3, range=(0, 4))) is list


def test_element_types_of_positions_one_by_one() -> None:
    assert mx.nd.sparse.zeros("csr", (2, 2))._aux_type(1) is np.int64  # type: ignore[attr-defined]
