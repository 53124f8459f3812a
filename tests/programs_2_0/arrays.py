import copy
import pickle

import mxnet as mx
import numpy as onp
from mxnet import np, npx

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


def boolean_mask_reads():
    x = np.arange(6).reshape(2, 3)
    return x[x > 2], x[np.array([True, False], dtype=bool)], x[x > 100].shape


def boolean_mask_with_slice():
    x = np.arange(12).reshape(3, 4)
    m = np.array([True, False, True])
    return x[m, 1:], x[m][:, 0]


def boolean_mask_writes():
    x = np.arange(6).reshape(2, 3)
    x[x > 3] = 0
    x[x == 1] = -1
    return x


def boolean_mask_writes_array():
    x = np.zeros(4)
    x[np.array([True, False, True, False], dtype=bool)] = 7
    return x


def basic_assignment():
    x = np.zeros((3, 3))
    x[0] = 1
    x[:, 1] = np.array([7, 8, 9])
    x[2, 2] = 5
    x[1:, :1] = onp.array([[3], [4]])
    return x


def assignment_broadcasts():
    x = np.zeros((2, 3))
    x[:] = np.arange(3)
    y = np.zeros((2, 3))
    y[...] = 4
    return x, y


def assignment_advanced():
    x = np.zeros((3, 3))
    x[[0, 2], [1, 1]] = np.array([1, 2])
    x[np.array([1], dtype="int32")] = 9
    return x


def assignment_of_lists():
    x = np.zeros((2, 2))
    x[0] = [1, 2]
    x[1] = (3, 4)
    return x


def assignment_zero_dim():
    x = np.array(1.0)
    x[()] = 4
    y = x[()]
    return x, y


def assignment_step():
    x = np.arange(8)
    x[::3] = -1
    x[-1:-3:-1] = np.array([10, 20])
    return x


def views_share_memory():
    x = np.zeros((2, 3))
    y = x[0]
    y[:] = 5
    z = x.reshape(3, 2)
    z[2, 1] = 9
    return x


def slices_of_columns_are_copies():
    x = np.zeros((2, 3))
    y = x[:, 1]
    y[:] = 5
    return x, y


def detach_shares():
    x = np.ones(3)
    y = x.detach()
    y += 1
    return x, y


def copy_is_own():
    x = np.ones(2)
    y, z, w = x.copy(), copy.copy(x), copy.deepcopy(x)
    x[:] = 3
    return y, z, w


def copyto_other():
    x = np.array([1, 2, 3])
    y = np.zeros(3)
    x.copyto(y)
    z = x.copyto(mx.cpu())
    return y, z


def astype_forms():
    x = np.array([1.7, -1.7, 300])
    return x.astype("int32"), x.astype(onp.int64), x.astype(bool)


def astype_copy_false():
    x = np.ones(2)
    return x.astype("float32", copy=False) is x, x.astype("float32") is x


def reshape_forms():
    x = np.arange(6)
    return x.reshape(2, 3), x.reshape((3, -1)), x.reshape(-1, 2), np.reshape(x, (1, 6))


def reshape_order():
    x = np.arange(6).reshape(2, 3)
    return x.reshape(-1), error(x.reshape, (6,), order="F")


def reshape_wrong():
    return error(np.ones(6).reshape, (4, 2)), error(np.ones(6).reshape, (-1, 4))


def npx_reshape_codes():
    x = np.ones((2, 3, 4))
    return [
        npx.reshape(x, s).shape for s in [(-2, -1), (-2, -2, -2), (-4,), (-5, 4), (-6, 1, 2, -4)]
    ]


def npx_reshape_removing_ones():
    return npx.reshape(np.ones((1, 3, 4)), (-3, -4)).shape


def transpose_forms():
    x = np.arange(6).reshape(1, 2, 3)
    return x.T.shape, x.transpose(1, 0, 2).shape, x.transpose((2, 0, 1)), np.transpose(x).shape


def swap_and_move():
    x = np.ones((2, 3, 4))
    return (
        x.swapaxes(0, 2).shape,
        np.moveaxis(x, 0, -1).shape,
        np.moveaxis(x, [0, 1], [1, 2]).shape,
        np.rollaxis(x, 2).shape,
    )


def squeeze_and_expand():
    x = np.ones((1, 2, 1, 3))
    return (
        x.squeeze().shape,
        x.squeeze(0).shape,
        np.squeeze(x, axis=(0, 2)).shape,
        np.expand_dims(x, 1).shape,
        np.expand_dims(np.ones(3), -1).shape,
        error(np.squeeze, x, axis=1),
    )


def flatten_and_ravel():
    x = np.arange(4).reshape(2, 2)
    return x.flatten(), np.ravel(x.T), np.ravel(x)


def broadcast_forms():
    x = np.arange(3)
    a, b = np.broadcast_arrays(np.ones((2, 1)), x)
    return x.broadcast_to((2, 3)), np.broadcast_to(x, (2, 1, 3)).shape, a, b


def repeat_and_tile():
    x = np.array([[1, 2], [3, 4]])
    return x.repeat(2), np.repeat(x, 2, axis=1), np.tile(x, 2), np.tile(x, (2, 1)), x.repeat(2, 0)


def concatenation():
    a, b = np.ones((2, 2)), np.zeros((2, 2))
    return (
        np.concatenate([a, b]),
        np.concatenate((a, b), axis=1),
        np.concatenate([a, b], axis=None),
        np.concatenate([a, b], axis=-1).shape,
    )


def stacking():
    a, b = np.arange(2), np.arange(2) + 5
    return (
        np.stack([a, b]),
        np.stack([a, b], axis=1),
        np.vstack([a, b]),
        np.hstack([a, b]),
        np.dstack([a, b]),
        np.column_stack([a, b]),
    )


def atleast():
    return np.atleast_1d(np.array(1.0)), np.atleast_2d(np.arange(2)), np.atleast_3d(np.arange(2))


def splitting():
    x = np.arange(6)
    return (
        np.split(x, 3),
        np.split(x, [1, 4]),
        np.array_split(x, 4),
        np.hsplit(x.reshape(2, 3), 3),
        np.vsplit(x.reshape(2, 3), 2),
        error(np.split, x, 4),
    )


def dsplit_and_flip():
    x = np.arange(8).reshape(2, 2, 2)
    return np.dsplit(x, 2), np.flip(x, 0), np.flip(x), np.fliplr(x), np.flipud(x)


def roll_and_rot():
    x = np.arange(6).reshape(2, 3)
    return np.roll(x, 1), np.roll(x, 1, axis=1), np.roll(x, (1, 1), axis=(0, 1)), np.rot90(x)


def insert_delete_append():
    x = np.arange(4)
    return np.insert(x, 1, 9), np.delete(x, 2), np.append(x, np.array([7.0]))


def pad_modes():
    x = np.arange(4).reshape(2, 2)
    return [
        np.pad(x, ((1, 1), (1, 1)), mode=m) for m in ("constant", "edge", "reflect", "symmetric")
    ]


def pad_widths_and_values():
    x = np.ones((2, 2))
    return np.pad(x, ((1, 0), (0, 2)), constant_values=5), np.pad(x, ((0, 0), (1, 1)), "maximum")


def unique_forms():
    x = np.array([3, 1, 1, 2, 3], dtype="int32")
    return np.unique(x), np.unique(x, return_index=True, return_inverse=True, return_counts=True)


def unique_axis():
    return np.unique(np.array([[1, 0], [1, 0], [2, 3]]), axis=0)


def nonzero_forms():
    x = np.array([[1, 0], [0, 2]])
    return np.nonzero(x), x.nonzero(), np.flatnonzero(x), np.argwhere(x), npx.nonzero(x)


def where_forms():
    x = np.arange(4)
    return np.where(x > 1, x, -x), np.where(x > 1, 1.0, 0.0), np.where(x > 1), np.where(x, x, 5)


def take_modes():
    x = np.arange(5) * 10
    i = np.array([0, 6, -1])
    return (
        np.take(x, i, mode="clip"),
        np.take(x, i, mode="wrap"),
        x.take(np.array([1, 2])),
        np.take(x.reshape(1, 5), np.array([1]), axis=1),
    )


def take_out_of_range():
    return error(np.take, np.arange(3), np.array([5]))


def picking():
    x = np.array([[1, 2], [3, 4], [5, 6]])
    return npx.pick(x, np.array([0, 1, 0])), npx.pick(x, np.array([1, 0]), axis=0)


def picking_keeps_axis():
    x = np.array([[3, 1, 2], [6, 5, 4]])
    return np.argsort(x, axis=1), npx.pick(x, np.array([0, 2]), keepdims=True)


def diag_forms():
    x = np.arange(9).reshape(3, 3)
    return np.diag(x), np.diag(np.arange(2)), np.diagonal(x, 1), np.trace(x), np.diag(x, k=-1)


def diag_flat():
    return np.diagflat(np.array([1, 2])), np.diagflat(np.array([[1, 2], [3, 4]]), 1)


def diag_indices():
    return np.diag_indices_from(np.ones((2, 2))), np.tril_indices(2), np.triu_indices(3, 1)


def fill_diagonal_in_place():
    x = np.zeros((3, 3))
    np.fill_diagonal(x, 5)
    return x


def iteration():
    return [float(row.sum()) for row in np.arange(6).reshape(3, 2)], list(map(int, np.arange(3)))


def iteration_over_zero_dim():
    return error(lambda: list(np.array(1.0))), error(lambda: len(np.array(1.0)))


def truth_values():
    return bool(np.array([1])), error(lambda: bool(np.array([1, 2]))), bool(np.array(0.0))


def truth_of_nothing():
    return error(lambda: bool(np.zeros(0)))


def contains_element():
    x = np.arange(4)
    return 2 in x, 7 in x


def as_python_index():
    i = np.array(1, dtype="int64")
    return [10, 20, 30][i], list(range(int(np.array(3.0))))


def index_with_array_scalar():
    x = np.arange(5) * 3
    return x[np.array(2, dtype="int32")]


def slice_with_array_scalar():
    return np.arange(5)[np.array(1, dtype="int64") : 4]


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
