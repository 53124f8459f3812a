import mxnet as mx
import numpy as onp
from mxnet import np

from tests.programs_2_0.errors import error


def default_dtypes():
    return [np.zeros(2), np.ones((1, 2)), np.array([1, 2]), np.array(3), np.full((2,), 7)]


def array_of_bools():
    return np.array([True, False]), np.array(onp.array([True, False]))


def array_of_numpy_keeps_dtype():
    return [np.array(onp.ones(2, t)) for t in ("float64", "int64", "int32", "uint8", "float16")]


def array_with_dtype():
    return [np.array([1, 2], dtype=t) for t in ("float16", "int8", "int32", onp.int64, bool)]


def array_from_nested_arrays():
    return np.array([[1, 2], [3, 4]]), np.array([np.ones(2), np.zeros(2)])


def array_from_tuple_and_range():
    return np.array((1.5, 2.5)), np.array(list(range(4)))


def arange_forms():
    return np.arange(5), np.arange(2, 5), np.arange(1, 2, 0.25), np.arange(5, dtype="int32")


def arange_negative_step():
    return np.arange(5, 0, -1), np.arange(3, 3)


def linspace_forms():
    a, step = np.linspace(0, 1, 5, retstep=True)
    return a, step, np.linspace(0, 1, 4, endpoint=False), np.linspace(1, 1, 3)


def logspace_and_eye():
    return np.logspace(0, 2, 3), np.eye(3), np.eye(2, 4, 1), np.eye(3, k=-1), np.identity(2)


def eye_integer():
    return np.eye(2, dtype="int32"), np.identity(3, dtype="int64")


def like_functions():
    x = np.array([[1, 2], [3, 4]], dtype="int32")
    return np.zeros_like(x), np.ones_like(x), np.full_like(x, 9), np.empty_like(x).shape


def full_like_with_dtype():
    return np.full_like(np.ones((2, 2)), 3, dtype="int64"), np.zeros_like(np.ones(2), dtype="int8")


def full_with_bool():
    return np.full((2,), True), np.full((2, 1), 1.5), np.full(3, 2, dtype="float16")


def tri_functions():
    x = np.arange(9).reshape(3, 3)
    return np.tri(3), np.tril(x), np.triu(x, 1), np.tril(x, -1)


def meshgrid_both():
    a, b = np.meshgrid(np.arange(2), np.arange(3))
    c, d = np.meshgrid(np.arange(2), np.arange(3), indexing="ij")
    return a, b, c, d


def indices_of_grid():
    return np.indices((2, 3)), np.indices((2, 2), dtype="int32")


def zero_dim_array():
    x = np.array(2.5)
    return x, x.ndim, x.size, x.shape, x.item(), float(x), int(x), bool(x)


def zero_size_array():
    x = np.zeros((0, 3))
    return x, x.size, x.sum(), x.sum(axis=0), np.concatenate([x, np.ones((1, 3))])


def shape_attributes():
    x = np.ones((2, 3, 4))
    return x.shape, x.ndim, x.size, len(x), x.itemsize if hasattr(x, "itemsize") else 4


def device_attributes():
    x = np.ones(2)
    return str(x.device), str(x.ctx), str(x.context), x.device == mx.cpu(), x.stype


def item_and_tolist():
    x = np.array([[1, 2], [3, 4]], dtype="int32")
    return x.tolist(), x.item(3), x.item((0, 1)), x[0, 0].item()


def asnumpy_is_a_copy():
    x = np.ones(3)
    y = x.asnumpy()
    y[0] = 5
    return x, y


def asscalar_of_one_element():
    return np.array([3]).item(), error(np.array([1, 2]).item)


def basic_indexing():
    x = np.arange(24).reshape(2, 3, 4)
    return x[1], x[1, 2], x[:, 1], x[..., -1], x[0, ::2, 1:3], x[-1, -1, -1]


def indexing_newaxis():
    x = np.arange(6).reshape(2, 3)
    return x[None].shape, x[:, np.newaxis].shape, x[..., None].shape, x[None, :, None].shape


def negative_steps():
    x = np.arange(6)
    return x[::-1], x[4:1:-1], x[::-2], x[-2:]


def advanced_indexing():
    x = np.arange(12).reshape(3, 4)
    return x[[0, 2]], x[np.array([2, 0], dtype="int32")], x[[0, 1], [2, 3]], x[:, [1, 1]]


def advanced_with_slices():
    x = np.arange(24).reshape(2, 3, 4)
    i = np.array([1, 0], dtype="int64")
    return x[i, :, i], x[:, i, 1:3], x[..., i], x[i, 1]


def advanced_negative():
    x = np.arange(5)
    return x[np.array([-1, -2], dtype="int32")], x[[-1]]


def advanced_two_dim_index():
    x = np.arange(10) * 2
    return x[np.array([[1, 2], [3, 4]], dtype="int64")]


def float_index_arrays():
    x = np.arange(4)
    return x[np.array([1.0, 2.0])]
