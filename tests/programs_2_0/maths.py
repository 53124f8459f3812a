import numpy as onp
from mxnet import autograd, np, npx

from tests.programs_2_0.errors import error

X = onp.array([[-1.5, 0.25, 2.0], [0.5, -0.75, 1.0]], "float32")


def unary_on_floats():
    x = np.array(X)
    names = ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh")
    return [getattr(np, name)(x) for name in names]


def unary_on_positive():
    x = np.array([0.5, 1.0, 2.5])
    return [getattr(np, name)(x) for name in ("log", "log2", "log10", "log1p", "sqrt", "cbrt")]


def unary_on_unit_interval():
    x = np.array([-0.5, 0.0, 0.75])
    return [getattr(np, name)(x) for name in ("arcsin", "arccos", "arctanh")]


def rounding():
    x = np.array([-2.5, -0.5, 0.5, 1.5, 2.7])
    return np.round(x), np.rint(x), np.floor(x), np.ceil(x), np.trunc(x), np.fix(x), np.around(x)


def rounding_decimals():
    return np.around(np.array([1.2345, 12.345]), 2), np.round(np.array([1234.5]), -2)


def sign_abs_square():
    x = np.array(X)
    return np.sign(x), np.abs(x), np.absolute(x), np.fabs(x), np.square(x), np.negative(x)


def reciprocal_and_degrees():
    x = np.array([1.0, 2.0, 4.0])
    return np.reciprocal(x), np.degrees(x), np.radians(x), np.rad2deg(x), np.deg2rad(x)


def integers_in_unary():
    x = np.array([1, 2, 3], dtype="int32")
    return np.exp(x), np.sqrt(x), np.abs(x), np.square(x), np.sign(x), np.floor(x)


def unary_of_python_numbers():
    return np.exp(1.0), np.sqrt(4), np.abs(-3), np.floor(2.5), np.sin(0)


def unary_in_float64_and_16():
    x = np.array([0.5, 1.5], dtype="float64")
    return np.exp(x), np.log(x), np.tanh(x.astype("float16")), np.sqrt(x.astype("float16"))


def binary_on_floats():
    a, b = np.array([1.0, -2.0, 3.5]), np.array([2.0, 2.0, -1.5])
    names = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "hypot", "arctan2")
    return [getattr(np, name)(a, b) for name in names]


def remainders():
    a, b = np.array([5.5, -5.5, 7.0]), np.array([2.0, 2.0, -3.0])
    return np.mod(a, b), np.remainder(a, b), np.fmod(a, b), a % b


def powers():
    a = np.array([1.0, 2.0, 3.0])
    return np.power(a, 2), np.power(2, a), np.power(a, a), np.copysign(a, -1), np.ldexp(a, 2)


def gcd_and_lcm():
    a, b = np.array([12, 18], dtype="int32"), np.array([8, 27], dtype="int32")
    return np.lcm(a, b), np.gcd(a, b), np.lcm(a, 5)


def bitwise():
    a, b = np.array([6, 5], dtype="int32"), np.array([3, 9], dtype="int32")
    return np.bitwise_and(a, b), np.bitwise_or(a, b), np.bitwise_xor(a, b), np.bitwise_not(a)


def shifts():
    a = np.array([1, 2, 8], dtype="int32")
    return np.bitwise_left_shift(a, 2), np.bitwise_right_shift(a, 1)


def fmax_and_fmin():
    a = np.array([1.0, onp.nan, 3.0])
    return np.fmax(a, 2), np.fmin(a, 2), np.maximum(a, 2)


def heaviside_and_ldexp():
    return np.ldexp(np.array([1.0, 2.0]), np.array([3, 4])), np.hypot(3, 4)


def comparisons():
    a, b = np.array([1.0, 2.0]), np.array([2.0, 2.0])
    names = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
    return [getattr(np, name)(a, b) for name in names]


def comparisons_with_numbers():
    a = np.array([1, 2, 3], dtype="int64")
    return np.equal(a, 2), np.greater(a, 1.5), np.less_equal(2, a)


def logical_functions():
    a, b = np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0])
    return np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b), np.logical_not(a)


def finiteness():
    x = np.array([1.0, onp.inf, -onp.inf, onp.nan])
    return np.isnan(x), np.isinf(x), np.isfinite(x), np.isposinf(x), np.isneginf(x)


def nan_to_num():
    x = np.array([onp.nan, onp.inf, -onp.inf, 2.0])
    return np.nan_to_num(x, nan=1.0, posinf=5.0, neginf=-5.0), np.nan_to_num(x[:1])


def clip_forms():
    x = np.arange(6)
    return np.clip(x, 1, 4), np.clip(x, None, 3), np.clip(x, 2, None), x.clip(0.5, 2.5)


def clip_integers():
    return np.clip(np.array([1, 5, 9], dtype="int32"), 2, 6)


def sums():
    x = np.array(X)
    return np.sum(x), np.sum(x, 0), np.sum(x, axis=(0, 1)), np.sum(x, axis=-1, keepdims=True)


def sums_of_integers():
    x = np.array([[1, 2], [3, 4]], dtype="int32")
    return x.sum(), np.sum(x, axis=0), np.sum(x, dtype="float32"), x.mean(), np.prod(x)


def sums_of_int8_and_bool():
    return (
        np.sum(np.ones(4, dtype="int8")),
        np.sum(np.array([True, True])),
        np.ones(3, "uint8").sum(),
    )


def products_and_cumulative():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    return np.prod(x), np.cumsum(x), np.cumsum(x.reshape(2, 2), axis=0)


def cumsum_of_integers():
    return np.cumsum(np.array([1, 2, 3], dtype="int32")), np.cumsum(np.array([[1, 2], [3, 4]]))


def extremes():
    x = np.array(X)
    return np.max(x), np.min(x, axis=0), np.amax(x, 1), np.amin(x)


def extremes_of_integers():
    x = np.array([[3, 9], [7, 1]], dtype="int64")
    return np.max(x), np.min(x, axis=1), np.argmax(x), np.argmin(x, axis=0)


def argmax_forms():
    x = np.array(X)
    return np.argmax(x), np.argmax(x, axis=0), np.argmin(x, axis=1), np.argmax(x, 1, keepdims=True)


def argmax_takes_the_first():
    return np.argmax(np.array([1.0, 3.0, 3.0])), np.argmin(np.array([2.0, 1.0, 1.0]))


def means_and_spreads():
    x = np.array(X)
    return np.mean(x), np.mean(x, axis=1), np.std(x), np.var(x, axis=0), np.var(x, ddof=1)


def mean_of_integers():
    x = np.array([1, 2, 4], dtype="int32")
    return np.mean(x), np.std(x), np.var(x), np.mean(x, dtype="float64")


def averages():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    w = np.array([3.0, 1.0])
    return (
        np.average(x),
        np.average(x, axis=0),
        np.average(x, axis=1, weights=w),
        np.average(x, axis=0, weights=w, returned=True),
    )


def medians():
    x = np.array([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
    return np.median(x), np.median(x, axis=1), np.median(x, axis=0, keepdims=True)


def quantiles():
    x = np.arange(11)
    return (
        np.quantile(x, 0.25),
        np.percentile(x, 30),
        np.quantile(x, np.array([0.1, 0.5])),
        np.percentile(x, 33, interpolation="lower"),
    )


def histograms():
    x = np.array([0.0, 1.0, 1.5, 2.0, 4.0])
    counts, edges = np.histogram(x, bins=np.array([0.0, 1.0, 2.0, 4.0]))
    return counts, edges


def bincounts():
    x = np.array([0, 1, 1, 3], dtype="int32")
    return np.bincount(x), np.bincount(x, minlength=6), np.bincount(x, weights=np.ones(4) * 0.5)


def differences_of_arrays():
    x = np.array([[1.0, 4.0, 9.0], [2.0, 3.0, 5.0]])
    return np.diff(x), np.diff(x, axis=0), np.diff(x, n=2), np.ediff1d(x)


def ediff_with_ends():
    x = np.array([1.0, 3.0, 6.0])
    return np.ediff1d(x, to_begin=0, to_end=np.array([9.0, 9.0]))


def interpolation():
    xp, fp = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 0.0])
    return np.interp(np.array([0.0, 1.5, 2.5, 9.0]), xp, fp), np.interp(2.5, xp, fp)


def polynomials():
    return np.polyval(np.array([3.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0]))


def searching_and_sorting():
    x = np.array([3.0, 1.0, 2.0])
    return np.sort(x), np.argsort(x), np.sort(x)[::-1]


def products_of_arrays():
    a, b = np.arange(3), np.arange(3) + 1
    return np.dot(a, b), np.inner(a, b), np.outer(a, b), np.vdot(a, b), np.cross(a, b)


def products_of_matrices():
    a = np.arange(6).reshape(2, 3)
    b = np.arange(12).reshape(3, 4)
    return np.dot(a, b), np.matmul(a, b), np.inner(a, a), np.kron(a[:1], np.ones((1, 2)))


def batched_matmul():
    a, b = np.arange(12).reshape(2, 2, 3), np.arange(6).reshape(3, 2)
    return np.matmul(a, b), np.dot(a, b).shape, np.matmul(a, np.ones(3))


def tensordot_forms():
    a = np.arange(24).reshape(2, 3, 4)
    b = np.arange(12).reshape(4, 3)
    return (
        np.tensordot(a, b, axes=1),
        np.tensordot(a, b, axes=([1, 2], [1, 0])),
        np.tensordot(np.arange(2), np.arange(2), axes=0),
    )


def einsum_forms():
    a = np.arange(6).reshape(2, 3)
    b = np.arange(12).reshape(3, 4)
    return (
        np.einsum("ij,jk->ik", a, b),
        np.einsum("ij->ji", a),
        np.einsum("ij->", a),
        np.einsum("ii->i", np.ones((2, 2))),
        np.einsum("ij,ij->i", a, a),
        np.einsum("ij,jk", a, b),
        np.einsum("...j,jk->...k", a, b),
    )


def einsum_optimized():
    a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2))
    return np.einsum("ij,jk,kl->il", a, b, c, optimize=True)


def windows():
    return np.hanning(5), np.hamming(5), np.blackman(5)


def constants():
    return np.pi, np.e, np.inf, np.nan != np.nan, np.newaxis is None, np.PZERO, np.NINF


def dtype_names():
    return [onp.dtype(t).name for t in (np.float32, np.int8, np.uint8, np.int64, np.float64)]


def dtype_of_arrays():
    x = np.ones(1)
    return x.dtype == onp.float32, x.dtype == np.float32, x.dtype == "float32", str(x.dtype)


def divide_by_zero():
    a = np.array([1.0, -1.0, 0.0])
    return a / 0, np.log(np.array([0.0, -1.0])), np.sqrt(np.array([-1.0]))


def floor_of_division():
    a = np.array([7.0, -7.0])
    return np.floor(a / 2)


def where_with_broadcast():
    c = np.array([[1], [0]]) > 0
    return np.where(c, np.ones((2, 3)), np.zeros(3))


def functions_of_wrong_things():
    return error(np.exp, [1.0, 2.0]), error(np.sum, "abc")


def numpy_functions_on_arrays():
    x = np.array([1.0, 4.0])
    return onp.sqrt(x), onp.mean(x), onp.concatenate([x, x])


def numpy_functions_fall_back():
    x = np.array([3.0, 1.0, 2.0])
    return onp.median(x), onp.sort(x)


def softplus_by_hand():
    x = np.array(X)
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def log_sum_exp():
    x = np.array([[1000.0, 1000.5], [-1000.0, -999.0]])
    top = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=1, keepdims=True)) + top


def pairwise_distances():
    x = np.arange(6).reshape(3, 2)
    return np.sqrt(((np.expand_dims(x, 1) - np.expand_dims(x, 0)) ** 2).sum(-1))


def standardized_columns():
    x = np.array(X)
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-5)


def one_hot_by_comparison():
    y = np.array([0, 2, 1])
    return (y.reshape(-1, 1) == np.arange(3)).astype("float32"), npx.one_hot(y, 3)


def gradient_of_many():
    x = np.array([0.3, 0.6])
    x.attach_grad()
    grads = []
    for name in ("exp", "log", "sin", "tanh", "sqrt", "arcsin", "expm1", "cbrt", "reciprocal"):
        with autograd.record():
            y = getattr(np, name)(x)
        y.backward()
        grads.append(x.grad.copy())
    return grads


def gradient_of_binaries():
    a, b = np.array([1.5, 2.0]), np.array([0.5, 3.0])
    a.attach_grad()
    b.attach_grad()
    grads = []
    for name in ("multiply", "divide", "power", "maximum", "hypot", "arctan2", "mod", "copysign"):
        with autograd.record():
            y = getattr(np, name)(a, b)
        y.backward()
        grads += [a.grad.copy(), b.grad.copy()]
    return grads


def gradient_of_reductions():
    x = np.array(X)
    x.attach_grad()
    grads = []
    for f in (np.sum, np.mean, np.max, np.min, np.prod, np.std, np.var):
        with autograd.record():
            y = f(x, axis=1)
        y.backward()
        grads.append(x.grad.copy())
    return grads


def gradient_of_shapes():
    x = np.arange(6).reshape(2, 3)
    x.attach_grad()
    w = np.arange(6) + 1
    grads = []
    for f in (
        lambda v: v.T.reshape(-1),
        np.ravel,
        lambda v: np.flip(v, 1).reshape(-1),
        lambda v: np.roll(v, 2).reshape(-1),
        lambda v: np.concatenate([v[0], v[1] * 2]),
    ):
        with autograd.record():
            y = f(x) * w
        y.backward()
        grads.append(x.grad.copy())
    return grads


def gradient_of_indexing():
    x = np.arange(6).reshape(2, 3)
    x.attach_grad()
    with autograd.record():
        y = x[0, 1:].sum() * 2 + x[[0, 0], [1, 1]].sum() + x[:, np.array([2, 2])].sum()
    y.backward()
    return x.grad


def gradient_of_einsum():
    a, b = np.arange(6).reshape(2, 3), np.ones((3, 2))
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = np.einsum("ij,jk->ik", a, b)
    y.backward()
    return a.grad, b.grad


def gradient_of_where():
    x = np.array([-1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = np.where(x > 0, x * x, 0.1 * x)
    y.backward()
    return x.grad


def gradient_of_sorting():
    x = np.array([3.0, 1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.sort(x) * np.array([1.0, 2.0, 3.0])
    y.backward()
    return x.grad


def gradient_of_pad_and_tile():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.pad(x, ((1, 1),)).sum() + np.tile(x, 3).sum() + np.repeat(x, 2).sum()
    y.backward()
    return x.grad


def gradient_of_split():
    x = np.arange(6)
    x.attach_grad()
    with autograd.record():
        a, b, c = np.split(x, 3)
        y = (a * 1 + b * 2 + c * 3).sum()
    y.backward()
    return x.grad


def gradient_of_cumsum_and_diff():
    x = np.array([1.0, 2.0, 4.0])
    x.attach_grad()
    with autograd.record():
        y = (np.cumsum(x) * np.array([1.0, 2.0, 3.0])).sum() + np.diff(x, n=1)[0] * 5
    y.backward()
    return x.grad


def gradient_of_matmul_and_outer():
    a, b = np.arange(4).reshape(2, 2), np.array([1.0, 3.0])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = (np.matmul(a, b) ** 2).sum() + np.outer(b, b).sum() + np.inner(b, b)
    y.backward()
    return a.grad, b.grad


def gradient_of_tensordot():
    a, b = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = np.tensordot(a, b, axes=1)
    y.backward()
    return a.grad, b.grad


def gradient_of_clip_and_abs():
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.clip(x, -1, 1).sum() + np.abs(x).sum() + np.square(x).sum()
    y.backward()
    return x.grad


def gradient_of_maximum_ties():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = np.maximum(a, b) + np.minimum(a, b) * 2
    y.backward()
    return a.grad, b.grad


def gradient_of_max_ties():
    x = np.array([2.0, 2.0, 1.0])
    x.attach_grad()
    with autograd.record():
        y = np.max(x)
    y.backward()
    return x.grad


def gradient_of_stacks():
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    a.attach_grad()
    b.attach_grad()
    w = np.array([[1.0, 2.0], [3.0, 4.0]])
    with autograd.record():
        y = (np.stack([a, b]) * w).sum() + (np.vstack([a, b]) * w).sum() + np.hstack([a, b])[3]
    y.backward()
    return a.grad, b.grad
