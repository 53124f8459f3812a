import copy
import pickle

import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError


def test_facts_of_an_array() -> None:
    x = nd.zeros((2, 3), ctx=cpu(1), dtype="int32")
    assert (x.shape, x.dtype, x.size, x.ndim) == ((2, 3), np.int32, 6, 2)
    assert x.context == x.ctx == cpu(1)
    assert (x.stype, x.writable) == ("default", True)
    assert x.T.shape == (3, 2)


def test_attributes_cannot_be_invented() -> None:
    with pytest.raises(AttributeError):
        nd.ones(2).foo = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("convert", [float, int, bool, complex])
def test_one_element_converts_to_a_python_number(convert: type) -> None:
    value = convert(nd.array([3.0])) if convert is not complex else convert(float(nd.array([3.0])))
    assert value == convert(3.0)
    assert type(value) is convert


def test_asscalar_keeps_the_dtype_and_item_does_not() -> None:
    assert type(nd.array([2]).asscalar()) is np.float32
    assert type(nd.array([2]).item()) is float


def test_asscalar_of_many_elements_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"asscalar: expected an array of size 1, got shape"):
        nd.ones(2).asscalar()


def test_integer_array_serves_as_an_index_and_a_float_one_does_not() -> None:
    assert list(range(5))[nd.array([2], dtype="int32")] == 2
    with pytest.raises(ArgumentTypeError, match="integer array"):
        list(range(5))[nd.array([2.0])]


def test_truth_value_of_many_elements_is_refused() -> None:
    with pytest.raises(ArgumentError, match="truth value"):
        bool(nd.ones(2))


def test_array_without_elements_is_false() -> None:
    assert not nd.zeros((0,))


def test_iteration_gives_the_rows() -> None:
    rows = [row.asnumpy().tolist() for row in nd.array([[1, 2], [3, 4]])]
    assert rows == [[1, 2], [3, 4]]
    assert len(nd.ones((4, 2))) == 4


def test_length_of_a_scalar_array_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="len"):
        len(nd.array(3))


def test_asnumpy_gives_a_copy() -> None:
    x = nd.ones(2)
    x.asnumpy()[:] = 7
    assert x.tolist() == [1, 1]


def test_numpy_reads_an_array() -> None:
    x = nd.array([1, 2])
    assert np.asarray(x).dtype == np.float32
    assert np.array(x, dtype="int64").tolist() == [1, 2]
    assert np.concatenate([x, x]).tolist() == [1, 2, 1, 2]
    with pytest.raises(ValueError, match="copy"):
        np.array(x, copy=False)
    assert not hasattr(x, "__array_interface__")  # which NumPy would prefer, and is for PIL only


def test_pickle_keeps_values_and_dtype_and_drops_gradient() -> None:
    x = nd.array([[1, 2]], dtype="int32")
    x.attach_grad()
    y = pickle.loads(pickle.dumps(x))
    assert (y.dtype, y.tolist(), y.grad) == (np.int32, [[1, 2]], None)


@pytest.mark.parametrize("shape", [(), (0, 3)])
def test_pickle_keeps_scalars_and_empty_arrays(shape: tuple[int, ...]) -> None:
    assert pickle.loads(pickle.dumps(nd.zeros(shape))).shape == shape


def test_pickled_state_is_the_record_that_mxnet_writes() -> None:
    state = nd.array([1]).__getstate__()
    assert state["handle"].startswith(b"\xc9\xfa\x93\xf9")
    assert state["handle"].endswith(b"\x00\x00\x80?")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_share_no_memory_and_stay_on_the_device(duplicate: object) -> None:
    x = nd.array([1, 2], ctx=cpu(1))
    y = duplicate(x)  # type: ignore[operator]
    y[0] = 9
    assert x.tolist() == [1, 2]
    assert y.context == cpu(1)


def test_deepcopy_keeps_one_array_for_one_array() -> None:
    x = nd.ones(2)
    a, b = copy.deepcopy([x, x])
    assert a is b


def test_attach_grad_makes_zeros() -> None:
    x = nd.ones((2, 3))
    assert x.grad is None
    x.attach_grad()
    assert x.grad.asnumpy().tolist() == np.zeros((2, 3)).tolist()  # type: ignore[attr-defined]


def test_attach_grad_again_starts_from_zeros() -> None:
    x = nd.ones(2)
    x.attach_grad()
    x.grad[:] = 5
    x.attach_grad()
    assert x.grad.tolist() == [0, 0]


@pytest.mark.parametrize(("keyword", "value"), [("grad_req", "foo"), ("stype", "thin")])
def test_attach_grad_refuses_unknown_words(keyword: str, value: str) -> None:
    with pytest.raises(ArgumentError, match=f"attach_grad: expected {keyword}"):
        nd.ones(2).attach_grad(**{keyword: value})


def test_detached_array_shares_memory_and_has_no_gradient() -> None:
    x = nd.ones(2)
    x.attach_grad()
    y = x.detach()
    y[0] = 5
    assert x.tolist() == [5, 1]
    assert y.grad is None


def test_array_is_hashable_and_equal_arrays_are_different_keys() -> None:
    x, y = nd.ones(1), nd.ones(1)
    assert {x: 1, y: 2}[y] == 2


def test_waiting_returns_when_values_are_there() -> None:
    x = nd.ones((300, 300))
    y = nd.dot(x, x)
    y.wait_to_read()
    y.wait_to_write()
    nd.waitall()
    assert y.asnumpy()[0, 0] == 300
