import pickle

import mxnet as mx
import numpy as onp
from mxnet import np, npx

from tests.programs_2_0.errors import error


def comparisons_give_bool():
    x, y = np.array([1, 2, 3]), np.array([3, 2, 1])
    return x == y, x != y, x < y, x <= 2, x > y, x <= 2


def in_place_arithmetic():
    x = np.array([1.0, 2.0, 3.0])
    y = x
    x += 1
    x *= 2
    x -= np.ones(3)
    x /= 2
    x **= 2
    return x, y is x


def in_place_modulo():
    x = np.array([5.0, 7.0])
    x %= 4
    return x


def in_place_keeps_dtype():
    x = np.array([1, 2], dtype="int32")
    x += 1
    return x


def in_place_bits():
    x = np.array([6, 5], dtype="int32")
    x |= 1
    x &= 5
    x ^= 3
    return x


def reflected_operators():
    x = np.array([1.0, 2.0, 4.0])
    return 1 - x, 2 / x, 2**x, 5 % x, 3 * x, 1 + x


def operators_with_numpy():
    x = np.ones(3)
    return x + onp.arange(3, dtype="float32")


def numpy_scalars_in_operators():
    x = np.ones(2)
    return x + onp.float32(2), x * onp.int64(3), x / onp.float64(2)


def numpy_on_the_left():
    y = onp.ones(2, "float32") + np.ones(2)
    return isinstance(y, np.ndarray), y


def negation_and_abs():
    x = np.array([-1, 2], dtype="int32")
    return -x, abs(x), ~x


def logical_on_bools():
    a, b = np.array([1, 1, 0]) > 0, np.array([1, 0, 0]) > 0
    return np.logical_and(a, b), np.logical_or(a, b), np.logical_not(a), a.dtype.name


def bit_operators_on_bools():
    a, b = np.array([1, 1, 0]) > 0, np.array([1, 0, 0]) > 0
    return a & b, a | b, a ^ b, ~a


def matmul_operator():
    a, b = np.arange(6).reshape(2, 3), np.ones((3, 2))
    return a @ b, a @ np.ones(3), error(lambda: a @ a)


def mixed_float_dtypes():
    f32, f64 = np.ones(2), np.ones(2, dtype="float64")
    return f32 + f64, f64 * f32, f32 - f64


def mixed_float_and_int():
    f32, i32 = np.ones(2), np.ones(2, dtype="int32")
    return f32 + i32, i32 * f32, f32 / i32, i32 / i32


def mixed_with_half():
    f16 = np.ones(2, dtype="float16")
    return f16 + np.ones(2), f16 * np.ones(2, dtype="int32"), f16 + 1


def mixed_int_dtypes():
    a, b = np.ones(2, dtype="int32"), np.ones(2, dtype="int64")
    return a + b, np.ones(2, dtype="int8") + a, a * True


def bool_arithmetic():
    a = np.array([1, 0]) > 0
    return a * 2.0, a + np.ones(2), a + np.ones(2, dtype="int32"), a.sum()


def scalar_dtypes():
    i = np.ones(2, dtype="int32")
    return i + 1, i + 1.5, i * 2.0, i / 2, i**2


def true_divide_ints():
    a = np.array([1, 2], dtype="int32")
    return a / a, np.true_divide(a, 2), np.array([1], dtype="int64") / 2


def power_negative_exponents():
    return np.array([2.0, 4.0]) ** -1, np.power(np.array([2.0]), np.array([0.5]))


def repr_and_str():
    x = np.array([[1, 2.5], [3, 4]])
    return repr(x), str(x), repr(np.array(1.0)), str(np.array(2))


def repr_of_dtypes():
    return repr(np.array([1], dtype="int32")), repr(np.ones(1) > 0), repr(np.ones(1, "float16"))


def repr_of_zero_size():
    return repr(np.zeros((0, 2))), str(np.zeros((0,)))


def format_of_scalars():
    return f"{np.array(1.5).item():.2f}", f"{float(np.array(2.0)):.3f}"


def pickled_array():
    x = np.arange(4, dtype="int32").reshape(2, 2)
    y = pickle.loads(pickle.dumps(x))
    return y, type(y).__name__


def class_names():
    x = np.ones(1)
    return type(x).__name__, isinstance(x, mx.nd.NDArray), np.ndarray.__name__


def conversion_between_faces():
    x = np.arange(3)
    y = x.as_nd_ndarray()
    z = y.as_np_ndarray()
    return type(y).__name__, type(z).__name__, z


def conversion_shares():
    x = np.zeros(2)
    x.as_nd_ndarray()[:] = 3
    return x


def index_errors():
    x = np.ones((2, 2))
    return (
        error(lambda: x[2]),
        error(lambda: x[0, 0, 0]),
        error(lambda: x[-3]),
        error(lambda: x["a"]),
    )


def mask_of_wrong_shape():
    x = np.ones((2, 2))
    return error(lambda: x[np.ones(3) > 0])


def shape_errors():
    a, b = np.ones((2, 3)), np.ones((3, 2))
    return (
        error(lambda: a + b),
        error(np.concatenate, [a, b]),
        error(np.stack, [a, b]),
        error(np.broadcast_to, a, (3, 3)),
        error(np.dot, a, a),
    )


def creation_errors():
    return error(np.array, "text"), error(np.ones, (2,), dtype="nothing")


def to_device_and_as_in():
    x = np.ones(2)
    return x.to_device(mx.cpu()) is x, x.as_in_ctx(mx.cpu(0)) is x, x.as_in_context(mx.cpu()) is x


def wait_functions():
    x = np.ones(2)
    x.wait_to_read()
    npx.waitall()
    mx.nd.waitall()
    return x


def array_methods():
    x = np.array([[1.0, 5.0], [3.0, 2.0]])
    return (
        x.sum(),
        x.mean(axis=0),
        x.max(axis=1),
        x.min(),
        x.argmax(),
        x.argmin(axis=1),
        x.std(),
        x.var(axis=0),
        x.cumsum(axis=1),
        x.clip(2, 4),
        x.round(),
    )


def sort_methods():
    x = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    return np.sort(x), x.sort(axis=0), x.argsort(), np.argsort(x, axis=0), np.sort(x, axis=None)


def dot_method():
    return np.arange(3).dot(np.arange(3)), np.ones((2, 3)).dot(np.ones(3))


def any_and_all():
    x = np.array([[1, 0], [1, 1]]) > 0
    return x.any(), x.all(), x.all(axis=1), np.any(np.array([0, 1])), np.all(np.ones(2), axis=0)


def keepdims_methods():
    x = np.ones((2, 3))
    return x.sum(axis=1, keepdims=True).shape, x.mean(axis=(0, 1), keepdims=True).shape


def out_arguments():
    out = np.zeros(3)
    r = np.add(np.ones(3), np.ones(3), out=out)
    return out.copy(), r is out, np.exp(np.zeros(3), out=out), out


def out_of_sum():
    out = np.zeros(2)
    np.sum(np.ones((3, 2)), axis=0, out=out)
    return out


def shared_memory():
    x = np.ones(3)
    return np.may_share_memory(x, x), np.shares_memory(x, np.ones(3))


def slice_assignment_with_step_rows():
    x = np.zeros((4, 2))
    x[1::2] += 1
    x[[0]] += 5
    return x


def augmented_item():
    x = np.arange(4)
    x[1] += 10
    x[2:] *= 2
    return x


def array_equal_functions():
    a = np.ones(2)
    return np.array_equal(a, a.copy()), np.allclose(a, a + 1e-9), np.array_equal(a, np.ones(3))


def rows_by_condition():
    x = np.arange(8).reshape(4, 2)
    keep = x[:, 1] > 3
    return x[keep], keep.sum(), x[keep].mean(axis=0)


def windows_by_slices():
    x = np.arange(6)
    return np.stack([x[i : i + 3] for i in range(4)])


def swap_rows():
    x = np.arange(4).reshape(2, 2)
    x[[0, 1]] = x[[1, 0]]
    return x


def last_axis_ellipsis_assignment():
    x = np.zeros((2, 2, 2))
    x[..., 0] = 1
    x[0, ..., 1] = np.array([5.0, 6.0])
    return x


def column_by_none_index():
    x = np.arange(3)
    return x[:, None] * x[None, :], x[:, None].shape


def concatenation_of_dtypes():
    return np.concatenate([np.ones(1, dtype="int32"), np.ones(1, dtype="int32")]), np.stack(
        [np.ones(1, dtype="float64")] * 2
    )


def array_of_array_copies():
    x = np.ones(2)
    y = np.array(x)
    y[:] = 2
    return x, y


def array_from_legacy():
    return np.array(mx.nd.array([1, 2]).asnumpy()), mx.nd.ones(2).as_np_ndarray() + 1


def scalars_by_functions():
    x = np.array([1.5, 2.5])
    return float(x.sum()), int(x[0]), round(float(x[1]), 1), x.max().item(), x.mean().asnumpy()
