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


def insert_slice_axis():
    x = np.arange(6).reshape(2, 3)
    return np.insert(x, 1, 5, axis=1)


def pad_modes():
    x = np.arange(4).reshape(2, 2)
    return [np.pad(x, ((1, 1), (1, 1)), mode=m) for m in ("constant", "edge", "reflect", "symmetric")]


def pad_widths_and_values():
    x = np.ones((2, 2))
    return np.pad(x, ((1, 0), (0, 2)), constant_values=5), np.pad(x, ((0, 0), (1, 1)), "maximum")


