"""Arrays whose channels come last in memory, as convolutions leave them."""

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.kernels.onednn import register

WINDOW = {"kernel": (3, 3), "num_filter": 8, "no_bias": True, "pad": (1, 1)}


def _convolved(seed: int = 0) -> tuple[nd.NDArray, np.ndarray]:
    random = np.random.default_rng(seed)
    x = nd.array(random.standard_normal((2, 4, 16, 20)))
    weight = nd.array(random.standard_normal((8, 4, 3, 3)))
    y = nd.Convolution(x, weight, **WINDOW)
    return y, y.asnumpy()


def _is_last(x: nd.NDArray) -> bool:
    return bool(np.moveaxis(x._data, 1, -1).flags.c_contiguous)


def test_a_convolution_and_what_follows_it_lie_channels_last() -> None:
    if not register.enabled():
        pytest.skip("oneDNN, whose convolutions do so, is not there")
    y, values = _convolved()
    z = nd.Pooling(nd.relu(y) + y, kernel=(2, 2), stride=(2, 2), pool_type="max")
    assert _is_last(y)
    assert _is_last(z)
    both = np.maximum(values, 0) + values
    np.testing.assert_array_equal(
        z.asnumpy(), both.reshape(2, 8, 8, 2, 10, 2).max(axis=(3, 5)), strict=True
    )


def test_on_the_host_values_are_in_the_order_of_the_shape() -> None:
    y, values = _convolved()
    assert values.flags.c_contiguous
    np.testing.assert_allclose(y.sum().asscalar(), values.sum(dtype=np.float64), rtol=1e-4)


def test_a_view_of_another_shape_shares_memory() -> None:
    y, values = _convolved()
    flat = y.reshape((-1,))
    np.testing.assert_array_equal(flat.asnumpy(), values.ravel())
    flat[:] = 3
    assert (y.asnumpy() == 3).all()


def test_an_element_of_the_batch_writes_through() -> None:
    y, values = _convolved()
    y[1][:] = 0
    values[1] = 0
    np.testing.assert_array_equal(y.asnumpy(), values)


def test_assignment_to_a_part_keeps_the_rest() -> None:
    y, values = _convolved()
    y[:, 2] = -1
    values[:, 2] = -1
    np.testing.assert_array_equal(y.asnumpy(), values)


def test_any_operator_may_fill_it() -> None:
    y, _ = _convolved()
    other = nd.array(np.random.default_rng(1).standard_normal(y.shape))
    nd.softmax(other, axis=1, out=y)
    np.testing.assert_array_equal(y.asnumpy(), nd.softmax(other, axis=1).asnumpy())
    y += 1
    np.testing.assert_allclose(y.sum(axis=1).asnumpy(), 9, rtol=1e-5)


def test_copies_and_files_hold_the_values(tmp_path) -> None:  # type: ignore[no-untyped-def]
    y, values = _convolved()
    np.testing.assert_array_equal(y.copy().asnumpy(), values)
    nd.save(str(tmp_path / "y"), [y])
    np.testing.assert_array_equal(nd.load(str(tmp_path / "y"))[0].asnumpy(), values)  # type: ignore[index]
    np.testing.assert_array_equal(np.from_dlpack(_convolved()[0]), values)


def test_gradients_flow_through_a_view_of_it() -> None:
    random = np.random.default_rng(0)
    x = nd.array(random.standard_normal((2, 4, 16, 20)))
    weight = nd.array(random.standard_normal((8, 4, 3, 3)))
    found = []
    for through in (lambda y: y.reshape((2, -1)), lambda y: y.flatten(), lambda y: y):
        x.attach_grad()
        with autograd.record():
            y = nd.Convolution(x, weight, **WINDOW)
            loss = (through(nd.relu(y)) ** 2).sum()
        loss.backward()
        found.append(x.grad.asnumpy())
    np.testing.assert_allclose(found[0], found[2], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(found[1], found[2], rtol=1e-5, atol=1e-4)


def test_a_hybridized_block_takes_it() -> None:
    y, values = _convolved()
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(3, 3, activation="relu"), mx.gluon.nn.Flatten())
    net.initialize(mx.init.Xavier())
    wanted = net(nd.array(values)).asnumpy()
    net.hybridize(static_alloc=True)
    for given in (nd.array(values), y, nd.array(values), _convolved()[0]):
        np.testing.assert_allclose(net(given).asnumpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("kernel", "groups"), [((1, 1), 1), ((3, 3), 16)])
def test_convolutions_without_windows_or_in_groups_keep_the_layout(
    kernel: tuple[int, int], groups: int
) -> None:
    data = nd.array(np.ones((2, 16, 20, 20), np.float32))
    weight = nd.array(np.ones((16, 16 // groups, *kernel), np.float32))
    out = nd.Convolution(data, weight, kernel=kernel, num_filter=16, num_group=groups, no_bias=True)
    assert out._data.flags.c_contiguous
    np.testing.assert_allclose(out.asnumpy(), 9.0 if groups > 1 else 16.0)
