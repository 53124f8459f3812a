"""Cases of contrib's operators, mixed precision and MXNet's internal ones."""

import numpy as np

from tests.golden.case import Case, distinct, integers, normal, uniform, values

_FORWARD = {"differentiable": False}
_GPU_ONLY = "runs on a GPU only"
_UNCAST = "oneDNN refuses the dtype"
_NO_DTYPE = "cannot infer the dtype"
_HALF = {"dtype": "float16"}


def _fft(x):
    points = np.fft.fft(x.astype("float64"))
    return np.stack([points.real, points.imag], -1).reshape(*x.shape[:-1], -1).astype(x.dtype)


def _ifft(x):
    pairs = x.astype("float64")
    points = np.fft.ifft(pairs[..., 0::2] + 1j * pairs[..., 1::2])
    return (points.real * points.shape[-1]).astype(x.dtype)


def _to_float32(*arrays):
    return [x.astype("float32") for x in arrays]


def _to_float16(*arrays):
    return [x.astype("float16") for x in arrays]


def _adagrad(weight, grad, history):
    g = np.clip(grad * 0.5, -1, 1)
    history = history + (g * g).mean(axis=1, keepdims=True)
    return weight - 0.1 * g / np.sqrt(history + 1e-3)


def _batch_norm(train):
    def expected(x, gamma, beta, mean, var):
        if train:
            mean, var = x.mean(axis=(0, 2)), x.var(axis=(0, 2))
        shape = (1, -1, 1)
        scale = 1 / np.sqrt(var + 1e-3).reshape(shape)
        return (x - mean.reshape(shape)) * scale * gamma.reshape(shape) + beta.reshape(shape)

    return expected


def _set_points(lhs, rhs, indices):
    out = lhs.copy()
    out[tuple(indices.astype("int64"))] = rhs
    return out


_NORM = [normal(2, 3, 2), uniform(1, 2, 3), normal(3), normal(3), uniform(1, 2, 3)]
_FIXED = [_NORM[0], values([1, 1, 1]), *_NORM[2:]]
_HAWKES = [
    uniform(0.1, 0.9, 2, 2),
    uniform(0.1, 0.9, 2),
    uniform(0.5, 1.5, 2),
    uniform(0, 0.5, 2, 2),
    uniform(0.1, 0.9, 2, 3),
    values([[0, 1, 0], [1, 1, 0]], "int32"),
    values([3, 2]),
    values([4, 3.5]),
]
_OTHER_DTYPES = [normal(2, dtype="float16"), normal(3)]

CASES = [
    Case("_contrib_allclose", [values([1, np.nan, 2]), values([1.2, np.nan, 2])], check=_FORWARD),
    *[
        Case("_contrib_allclose", [values([1, np.nan, 2]), values([1.2, np.nan, 2])], attrs)
        for attrs in (
            {"equal_nan": False},
            {"rtol": 0.5},
            {"atol": 1},
            {"rtol": 0.5, "equal_nan": False},
        )
    ],
    Case("_contrib_allclose", [values([np.inf, 1]), values([np.inf, 1])]),
    Case("_contrib_allclose", [values([3, 1], "int32"), values([3, 1], "int32")]),
    Case("_contrib_allclose", [normal(2, 3), normal(3)], invalid=True),
    Case("_contrib_allclose", [normal(3), normal(3, dtype="float64")], invalid=True),
    *[
        Case("_contrib_arange_like", [normal(2, 4)], attrs)
        for attrs in (
            {},
            {"axis": 0},
            {"axis": -1},
            {"start": 2, "step": 0.5},
            {"repeat": 2},
            {"repeat": 2, "axis": 1},
            {"repeat": 7},
        )
    ],
    Case("_contrib_arange_like", [integers(0, 5, 2, 3, dtype="int32")]),
    Case("_contrib_arange_like", [normal(2, 3, dtype="float16")]),
    Case("_contrib_arange_like", [normal(2, 4)], {"axis": 5}, invalid=True),
    Case("_contrib_arange_like", [normal(2, 4)], {"repeat": 0}, invalid=True, wrong="crashes"),
    *[
        Case("_contrib_index_array", [normal(2, 3)], attrs)
        for attrs in ({}, {"axes": (1,)}, {"axes": (1, 0)}, {"axes": (-1,)}, {"axes": (0, 0)})
    ],
    Case(
        "_contrib_index_array", [normal(2, 3)], {"axes": (3,)}, invalid=True, wrong="wraps around"
    ),
    Case("_contrib_index_copy", [normal(3, 2), values([2, 0]), normal(2, 2)], grad=(0, 2)),
    Case("_contrib_index_copy", [normal(3), values([1], "int64"), normal(1)], grad=(0, 2)),
    Case("_contrib_index_copy", [normal(3, 2), values([2, 0, 1]), normal(2, 2)], invalid=True),
    Case(
        "_contrib_boolean_mask", [normal(3, 2), values([1, 0, 2])], grad=(0,), check={"wrt": (0,)}
    ),
    Case("_contrib_boolean_mask", [normal(3, 2), values([-1, 0, 0.5])], grad=(0,)),
    Case("_contrib_boolean_mask", [normal(3), values([0, 0, 1], "int32")], grad=(0,)),
    Case("_contrib_boolean_mask", [normal(3, 2), values([0, 0, 0])], grad=False),
    Case("_contrib_boolean_mask", [normal(3, 2), values([1, 0])], invalid=True),
    Case("_contrib_boolean_mask", [normal(3, 2), values([1, 0])], {"axis": 1}, invalid=True),
    Case("_contrib_quadratic", [normal(2, 3)], {"a": 2, "b": 3, "c": 1}),
    Case("_contrib_quadratic", [normal(2, 3)]),
    Case("_contrib_quadratic", [values([1, 2], "int32")], {"a": 2, "b": 3.5, "c": 1}),
    Case("_contrib_quadratic", [normal(3, dtype="float16")], {"a": 2, "b": 3, "c": 1}),
    Case("_contrib_quadratic", [normal(3)], {"a": "x"}, invalid=True),
    Case("_contrib_gradientmultiplier", [normal(3)], {"scalar": -0.5}, check=_FORWARD),
    Case("_contrib_gradientmultiplier", [values([1, 2], "int32")], {"scalar": -0.5}),
    Case("_contrib_round_ste", [values([0.5, 1.5, -0.5, -2.5, 0.2])], check=_FORWARD),
    Case("_contrib_sign_ste", [values([0.5, 0, -0.5])], check=_FORWARD),
    Case(
        "_contrib_hawkesll",
        _HAWKES,
        grad=False,
        check={"wrt": (0, 1, 2, 3), "half": False},
    ),
    Case("_contrib_hawkesll", [*_HAWKES[:5], values([[0, 1, 0]] * 2), *_HAWKES[6:]], invalid=True),
    Case("_contrib_fft", [normal(2, 4)], wrong=_GPU_ONLY, expected=_fft),
    Case("_contrib_fft", [normal(3)], {"compute_size": 2}, wrong=_GPU_ONLY, expected=_fft),
    Case("_contrib_ifft", [normal(2, 8)], wrong=_GPU_ONLY, expected=_ifft),
    Case("_contrib_ifft", [normal(2, 5)], wrong=_GPU_ONLY, invalid=True),
    Case(
        "_contrib_SyncBatchNorm",
        _NORM,
        {"key": "a", "fix_gamma": False},
        grad=(0, 1, 2),
        check={"half": False, "wrt": (0, 1, 2)},  # parameters of 16-bit data have 32 bits
    ),
    # With fix_gamma MXNet overwrites gamma with ones.
    Case("_contrib_SyncBatchNorm", _FIXED, {"key": "a"}, grad=(0, 2)),
    Case("_contrib_SyncBatchNorm", _FIXED, {"key": "a", "momentum": 0.5, "eps": 0.1}, grad=(0, 2)),
    Case(
        "_contrib_SyncBatchNorm",
        _NORM,
        {"key": "a", "fix_gamma": False, "use_global_stats": True},
        grad=(0, 1, 2),
    ),
    Case(
        "_contrib_SyncBatchNorm",
        _NORM,
        {"key": "a", "fix_gamma": False},
        train=False,
        wrong="shrinks the moving statistics, and gives gradients of unset memory",
        expected=_batch_norm(False),
        rtol=1e-4,
    ),
    Case("_contrib_SyncBatchNorm", _NORM, {}, invalid=True),
    Case(
        "_contrib_group_adagrad_update",
        [normal(3, 2), normal(3, 2), uniform(0.1, 1, 3, 1)],
        {"lr": 0.1, "clip_gradient": 1.0, "rescale_grad": 0.5, "epsilon": 1e-3},
        wrong="takes row-sparse gradients only",
        expected=_adagrad,
        check=_FORWARD,
    ),
    Case("amp_cast", [normal(3)], _HALF, check={"differentiable": False, "half": False}),
    Case("amp_cast", [values([1, 2], "int32")], _HALF),
    Case("amp_cast", [values([1, 2, -3])], {"dtype": "int32"}),
    Case("amp_cast", [normal(3)], {"dtype": "complex"}, invalid=True),
    Case("amp_cast", [normal(3)], invalid=True),
    Case("amp_multicast", [normal(3), values([1, 2], "int32")], {"num_outputs": 2}, check=False),
    Case(
        "amp_multicast",
        _OTHER_DTYPES,
        {"num_outputs": 2},
        wrong=_UNCAST,
        expected=_to_float32,
    ),
    Case(
        "amp_multicast",
        _OTHER_DTYPES,
        {"num_outputs": 2, "cast_narrow": True},
        wrong=_UNCAST,
        expected=_to_float16,
    ),
    Case("amp_multicast", [normal(2)] * 2, {"num_outputs": 3}, invalid=True),
    Case("all_finite", [normal(2, 3)], check=_FORWARD),
    Case("all_finite", [values([1, np.inf])]),
    Case("all_finite", [values([1, np.nan], "float16")]),
    Case("all_finite", [values([1, 2], "int32")], invalid=True),
    Case("multi_all_finite", [normal(2), normal(2, 3)], {"num_arrays": 2}, check=_FORWARD),
    Case("multi_all_finite", [normal(2), values([[np.nan]])], {"num_arrays": 2}),
    Case("multi_all_finite", [normal(2)]),
    Case(
        "multi_sum_sq",
        [normal(2), normal(2, 3)],
        {"num_arrays": 2},
        grad=False,
        check={**_FORWARD, "half": False},
    ),
    Case("multi_sum_sq", [normal(2, dtype="float16")], {"num_arrays": 1}, grad=False),
    Case("multi_sum_sq", [normal(2, dtype="float64")], {"num_arrays": 1}, grad=False),
    Case(
        "multi_lars",
        [normal(3), values([4, 0, 9]), values([1, 1, 0]), uniform(0, 1, 3)],
        {"eta": 0.1, "eps": 1e-3, "rescale_grad": 0.5},
        grad=False,
        check=_FORWARD,
    ),
    Case(
        "multi_lars",
        [normal(3), normal(3), normal(2), normal(3)],
        {"eta": 0.1, "eps": 1},
        invalid=True,
    ),
    Case("shape_array", [normal(2, 3)]),
    Case("shape_array", [integers(0, 5, 2, dtype="int32")]),
    Case("size_array", [normal(2, 3)]),
    Case("diag", [normal(2, 3)]),
    Case("diag", [normal(3)]),
    *[Case("diag", [normal(2, 3)], {"k": k}) for k in (-1, 1, 2)],
    *[Case("diag", [normal(2)], {"k": k}) for k in (-1, 1, 4)],
    Case("diag", [normal(2, 2, 3)], {"axis1": 1, "axis2": 2}),
    Case("diag", [normal(2, 2, 3)], {"k": 1, "axis1": -1, "axis2": 0}),
    Case("diag", [integers(0, 9, 3, 3, dtype="int32")]),
    Case("diag", [normal(2, 3)], {"k": 5}, invalid=True),
    Case("diag", [normal(2, 2, 3)], {"axis1": 1, "axis2": 1}, invalid=True),
    Case("diag", [normal(2, 2, 3)], {"axis1": 1, "axis2": 4}, invalid=True),
    Case(
        "fill_element_0index",
        [normal(2, 3), normal(2), values([1, 2])],
        grad=False,
        check=_FORWARD,
    ),
    Case("_identity_with_attr_like_rhs", [normal(2, 3), normal(2, 3)], grad=(0,)),
    Case("_identity_with_attr_like_rhs", [normal(2, 3), normal(3, 3)], invalid=True),
    Case("_zeros_without_dtype", [], {"shape": (2, 3), "dtype": 1}, wrong=_NO_DTYPE, check=False),
    Case("_copyto", [normal(2, 3)], wrong=_NO_DTYPE, expected=np.copy),
    Case("_CrossDeviceCopy", [normal(2, 3)], wrong="runs in graphs only", expected=np.copy),
    Case("_onehot_encode", [values([1, 5]), normal(2, 3)], grad=False, check=_FORWARD),
    Case(
        "_scatter_set_nd",
        [normal(3, 2), normal(2), values([[0, 2], [1, 0]])],
        {"shape": (3, 2)},
        wrong="writes into lhs only",
        expected=_set_points,
        check={"wrt": (0, 1)},
    ),
    Case("_histogram", [distinct(3, 4)], {"bin_cnt": 4, "range": (-3, 4)}, check=_FORWARD),
    Case("_histogram", [values([0, 1, 1.5, 4, 5, -1, 3.9])], {"bin_cnt": 4, "range": (0, 4)}),
    Case("_histogram", [values([0, 1, 4, 5, -1], "int32")], {"bin_cnt": 4, "range": (0, 4)}),
    Case("_histogram", [values([0, 1, 4, 5, -1], "float16")], {"bin_cnt": 4, "range": (0, 4)}),
    Case("_histogram", [values([0, 1, 1.5, 4, 5, -1]), values([0, 1, 4])], grad=False),
    Case("_histogram", [values([np.nan, np.inf, -np.inf, 1]), values([0, 1, 4])], grad=False),
    Case("_histogram", [normal(5)], {"bin_cnt": 4}, invalid=True),
    Case("_histogram", [normal(5)], {"bin_cnt": 4, "range": (4, 0)}, invalid=True),
    Case("_histogram", [normal(5, dtype="float64"), normal(3)], invalid=True),
]
