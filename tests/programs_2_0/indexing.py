import copy

import mxnet as mx
import numpy as onp
from mxnet import np, npx

from tests.programs_2_0.errors import error


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
