"""Calls of mx.np and mx.npx, as text, that MXNet 1.9.1 and gluonish both evaluate.

`inputs` gives the arrays by the names that the calls use. It imports NumPy alone, since both
interpreters run it.
"""

from __future__ import annotations

import numpy

_ELEMENTWISE = (
    *("abs", "absolute", "arctan", "arcsinh", "cbrt", "ceil", "cos", "cosh", "degrees"),
    *("exp", "expm1", "fabs", "fix", "floor", "isfinite", "isinf", "isnan", "isneginf"),
    *("isposinf", "logical_not", "negative", "radians", "reciprocal", "rint", "sign"),
    *("sin", "sinh", "square", "tan", "tanh", "trunc"),
)
_POSITIVE = ("log", "log10", "log1p", "log2", "sqrt", "arccosh")
_SMALL = ("arccos", "arcsin", "arctanh")
_PAIRS = (
    *("add", "subtract", "multiply", "divide", "true_divide", "power", "maximum", "minimum"),
    *("hypot", "arctan2", "copysign", "mod", "remainder", "equal", "not_equal", "greater"),
    *("greater_equal", "less", "less_equal"),
)
_WHOLE = ("bitwise_and", "bitwise_or", "bitwise_xor", "lcm")

CALLS = (
    *(f"np.{name}(a)" for name in _ELEMENTWISE),
    *(f"np.{name}(p)" for name in _POSITIVE),
    *(f"np.{name}(s)" for name in _SMALL),
    *(f"np.{name}(p, q)" for name in _PAIRS),
    *(f"np.{name}(p, 2)" for name in _PAIRS),
    *(f"np.{name}(2.5, p)" for name in _PAIRS),
    *(f"np.{name}(i, j)" for name in _WHOLE),
    *(f"np.{name}(i, 3)" for name in _WHOLE),
    *("np.ldexp(a, p)", "np.ldexp(a, 2)", "np.invert(i)", "np.bitwise_not(m)"),
    # Python's operators
    *("a + b", "a - 1", "2 - a", "a * b", "a / b", "i / 2", "1 / p", "a % 2", "5 % p", "a ** 2"),
    *("2 ** i", "-a", "-m", "abs(a)", "~i", "i & j", "i | 2", "i ^ j", "a @ b.T", "a > b"),
    *("a >= 0", "a < b", "a <= 0.5", "a == b", "a != 0", "i + 1.5", "i + a", "h + a", "d + a"),
    *("i * k", "m + m", "m + 1", "m * a", "h * 2", "u + i", "round(a)", "float(z)", "int(z)"),
    # reductions
    *("np.sum(a)", "np.sum(a, axis=1)", "np.sum(a, axis=(0, 1), keepdims=True)", "np.sum(h)"),
    *("np.sum(i)", "np.sum(m)", "np.sum(a, axis=0, dtype='float64')", "a.sum(axis=-1)"),
    *("np.prod(p)", "np.prod(p, axis=0)", "p.prod(axis=1, keepdims=True)", "np.mean(a)"),
    *("np.mean(i)", "np.mean(a, axis=0)", "a.mean(axis=1, keepdims=True)", "np.std(a)"),
    *("np.std(a, axis=1)", "np.var(a, axis=0, ddof=1)", "a.var()", "np.max(a)", "np.max(a, 0)"),
    *("np.min(a, axis=1)", "a.min()", "np.amax(a, 1)", "np.amin(a, 0, True)", "np.argmax(a)"),
    *("np.argmax(a, axis=0)", "a.argmin(axis=1)", "np.argmin(a)", "np.cumsum(a)", "np.all(a)"),
    *("np.cumsum(a, axis=1)", "a.cumsum(0)", "np.any(m)", "m.all(axis=0)", "np.average(a)"),
    *("np.average(a, axis=1, weights=w)", "np.average(a, axis=0, returned=True)"),
    *("np.percentile(a, 30)", "np.percentile(a, 30, axis=1, interpolation='lower')"),
    *("np.quantile(a, 0.5, axis=0)", "np.quantile(a, s[0, :2])", "np.bincount(j)"),
    *("np.bincount(j, weights=v, minlength=9)", "np.histogram(v, bins=3, range=(-2, 2))"),
    *("np.histogram(v, bins=np.array([-3., 0., 3.]))", "np.sum(z)", "np.sum(e)", "np.mean(z)"),
    # shapes
    *("np.reshape(a, (3, 2))", "a.reshape(-1)", "a.reshape(3, -1)", "a.reshape((1, 6))"),
    *("np.transpose(t)", "t.transpose(1, 0, 2)", "t.transpose((2, 0, 1))", "a.T", "np.ravel(a)"),
    *("np.swapaxes(t, 0, 2)", "np.moveaxis(t, 0, -1)", "np.moveaxis(t, (0, 1), (1, 2))"),
    *("np.expand_dims(a, 0)", "np.squeeze(a[None])", "np.squeeze(a[None], axis=0)"),
    *("np.broadcast_to(v, (2, 3))", "np.flip(a)", "np.flip(a, 1)", "np.fliplr(a)"),
    *("np.flipud(a)", "np.rot90(a)", "np.rot90(a, 3)", "np.roll(a, 1)", "np.roll(a, 1, axis=1)"),
    *("np.roll(a, (1, 2), axis=(0, 1))", "np.tile(a, 2)", "np.tile(v, (2, 1))", "a.flatten()"),
    *("np.repeat(a, 2)", "np.repeat(a, 2, axis=0)", "np.resize(v, (2, 4))", "np.pad(v, (1, 2))"),
    *("np.pad(a, ((1, 0), (2, 1)))", "np.pad(v, (1, 2), mode='edge')", "np.diag(v)"),
    *("np.pad(a, ((1, 1), (0, 0)), mode='reflect', reflect_type='even')", "np.diag(a, 1)"),
    *("np.diag(v, -1)", "np.diagflat(a)", "np.diagonal(t)", "np.diagonal(t, 1, 1, 2)"),
    *("np.trace(a)", "np.trace(t, axis1=0, axis2=2)", "np.tril(a)", "np.tril(a, -1)"),
    *("np.diag_indices_from(x)", "np.atleast_1d(z)", "np.atleast_2d(v)", "np.atleast_3d(a)"),
    *("np.atleast_2d(v, z)", "np.meshgrid(v, s[0])", "np.meshgrid(v, w, indexing='ij')"),
    *(
        "np.broadcast_arrays(v, a)",
        "np.copy(a)",
        "a.copy()",
        "np.shape(t)",
        "np.reshape(e, (3, 0))",
    ),
    # joining and cutting
    *("np.concatenate((a, b))", "np.concatenate([a, b], axis=1)", "np.append(a, b)"),
    *("np.concatenate((a, b), axis=None)", "np.append(a, b, axis=0)", "np.stack([a, b])"),
    *("np.stack((a, b), axis=-1)", "np.vstack((v, w))", "np.row_stack((v, w))"),
    *("np.hstack((a, b))", "np.hstack((v, w))", "np.dstack((a, b))", "np.column_stack((v, w))"),
    *("np.split(v, 3)", "np.split(a, [1], axis=1)", "np.split(a, [1, 1], axis=1)"),
    *("np.array_split(v, 2)", "np.hsplit(a, 3)", "np.vsplit(a, 2)", "np.dsplit(t, 2)"),
    *("np.concatenate((e, e))", "np.hsplit(v, [1])"),
    # elements
    *("np.take(v, j)", "np.take(a, np.array([0, 1]), axis=1, mode='clip')", "np.sort(a)"),
    *("np.take(v, np.array([-1, 4]), mode='wrap')", "np.sort(a, axis=0)", "np.argsort(a)"),
    *("np.argsort(a, axis=0)", "np.where(m, a, b)", "np.where(m, a, 0)", "np.where(m, 1.5, a)"),
    *("np.where(m, 1, 0)", "np.where(m)", "np.nonzero(a)", "a.nonzero()", "np.unique(i)"),
    *("np.unique(i, return_counts=True)", "np.unique(i, True, True, True)", "np.clip(a, -1, 1)"),
    *("np.delete(v, 1)", "np.delete(a, 0, axis=1)", "np.delete(v, slice(0, 2))"),
    *("np.insert(v, 1, 5.)", "np.insert(v, 1, w)"),
    *("np.unravel_index(np.array([1, 5], dtype='int64'), (2, 3))", "np.clip(a, None, 0.5)"),
    *("np.around(a)", "np.around(a, 1)", "np.round(a * 10, -1)", "a.round(2)", "np.diff(a)"),
    *("np.nan_to_num(n)", "np.nan_to_num(n, nan=1., posinf=2., neginf=3.)", "np.diff(v, 2)"),
    *("np.diff(a, axis=0)", "np.ediff1d(a)", "np.ediff1d(v, 5)"),
    *("np.ediff1d(v, to_begin=w)", "np.ediff1d(v, w, 2)"),
    # products
    *("np.dot(v, w)", "np.dot(a, v)", "np.matmul(x, x)", "np.matmul(t, t.swapaxes(1, 2))"),
    *("np.inner(a, b)", "np.outer(v, w)", "np.vdot(a, b)", "np.tensordot(a, b)", "a.dot(v)"),
    *("np.tensordot(a, b, axes=([0], [0]))", "v @ x"),
    *("np.einsum('ij,kj->ik', a, b)", "np.einsum('ij->j', a)", "np.einsum('ii', x)"),
    *("np.einsum('ij,jk,kl', x, x, x, optimize=True)", "np.polyval(v, a)"),
    # creation
    *("np.array([1, 2])", "np.array([[1, 2], [3, 4]], dtype='int64')", "np.array(3)"),
    *("np.array(i)", "np.array([v, w])", "np.zeros((2, 3))", "np.ones(3, dtype='int32')"),
    *("np.full((2,), 3)", "np.full((2,), True)", "np.full((2, 3), v)", "np.full_like(i, 3.5)"),
    *("np.zeros_like(i)", "np.ones_like(a, dtype='int32')", "np.arange(3)", "np.arange(3.5)"),
    *("np.arange(1, 7, 2)", "np.arange(5, dtype='int32')", "np.linspace(0, 1, 5)", "np.eye(2)"),
    *("np.linspace(0, 1, 5, endpoint=False)", "np.linspace(0, 1, 3, retstep=True)"),
    *("np.logspace(0, 1, 3)", "np.eye(2, 3, 1)", "np.identity(2)", "np.indices((2, 3))"),
    *("np.blackman(5)", "np.hamming(5)", "np.hanning(5)", "np.zeros((0, 3))", "np.zeros(())"),
    # linear algebra
    *("np.linalg.norm(a)", "np.linalg.norm(a, axis=1)", "np.linalg.norm(a, ord='fro')"),
    *("np.linalg.norm(v, ord=1)", "np.linalg.norm(v, ord=3)", "np.linalg.norm(a, 'nuc')"),
    *("np.linalg.norm(a, 2)", "np.linalg.norm(a, -2)", "np.linalg.norm(a, 1)"),
    *("np.linalg.norm(x, axis=(0, 1), keepdims=True)", "np.linalg.norm(t, axis=-1)"),
    *("np.linalg.inv(x)", "np.linalg.det(x)", "np.linalg.slogdet(x)", "np.linalg.cholesky(x)"),
    *("np.linalg.eigvalsh(x)", "np.linalg.solve(x, v)", "np.linalg.pinv(a)", "np.linalg.svd(a)[1]"),
    *(
        "np.linalg.tensorinv(y, ind=1)",
        "np.linalg.tensorsolve(y, y[:, 0, 0])",
        "np.linalg.eigh(x)[0]",
    ),
    *("np.linalg.pinv(a, rcond=np.array(1e-5))", "np.linalg.matrix_rank(x)", "np.linalg.cond(x)"),
    *("np.linalg.matrix_power(x, 2)", "np.linalg.multi_dot([x, x])", "np.linalg.eigvals(x).sum()"),
    # NumPy's own
    *("np.cov(a)", "np.allclose(a, a)", "np.array_equal(a, b)", "np.isclose(a, b)", "np.ptp(a)"),
    *("np.count_nonzero(a)", "np.nanmax(n)", "np.searchsorted(np.array([1., 2, 3]), 2.5)"),
    *("np.ix_(np.arange(2), np.arange(3))", "np.trim_zeros(np.array([0., 1, 0]))", "np.size(a)"),
    *("np.piecewise(a, [a > 0], [1., 2.])", "np.select([a > 0], [a])", "np.ndim(t)"),
    *("np.divmod(p, 2)", "np.modf(a)", "np.signbit(a)", "np.positive(a)", "np.lexsort((v, w))"),
    *("np.interp(v, np.array([0., 1]), np.array([2., 3]))", "np.in1d(i, j)", "np.msort(a)"),
    *("np.trapz(a)", "np.rollaxis(t, 2)", "np.flatnonzero(a)", "np.argwhere(a)", "np.vander(v)"),
    *("np.take_along_axis(a, np.argsort(a), 1)", "np.digitize(v, np.array([0., 1]))"),
    *("np.partition(v, 1)[1]", "np.unwrap(v * 5)", "np.compress([True, False, True], v)"),
    *("np.setdiff1d(i, j)", "np.union1d(i, j)", "np.intersect1d(i, j)", "np.polyadd(v, w)"),
    # NumPy's functions on arrays of MXNet's
    *("numpy.sum(a)", "numpy.add(a, 1)", "numpy.sin(a)", "numpy.concatenate([a, b])"),
    *("numpy.linalg.norm(a)", "numpy.cov(a)", "numpy.mean(a, axis=1)", "numpy.transpose(a)"),
    # indexing
    *("a[0]", "a[0, 1]", "a[-1]", "a[:, 1]", "a[..., 0]", "a[None]", "a[:, None, 1:]"),
    *("a[1:, ::-1]", "a[()]", "a[a > 0]", "a[m]", "a[np.array([1, 0], dtype='int32')]"),
    *("a[[0, 1]]", "a[[0, 1], [1, 2]]", "a[numpy.array([0])]", "a[True]", "t[:, 1, ::2]"),
    *("a[:, [0, 2]]", "a[[True, False]]", "e[0:0]", "v[v.argmax()]", "a[0:0]", "t[..., None, 1]"),
    "put(a, 0, 5)",
    "put(a, (slice(None), 1), v[:2])",
    "put(a, a > 0, 0)",
    "put(a, numpy.array([0]), 1.5)",
    "put(a, Ellipsis, b)",
    "put(a, (0, 1), z)",
    # npx
    *("npx.relu(a)", "npx.sigmoid(a)", "npx.softmax(a)", "npx.log_softmax(a, axis=0)"),
    *("npx.topk(a, k=2)", "npx.topk(a, k=2, ret_typ='both')", "npx.one_hot(j, 5)", "npx.erf(a)"),
    *("npx.pick(a, np.array([0, 2]))", "npx.nonzero(m)", "npx.reshape(a, (-2, -1))"),
    *("npx.reshape(t, (-5, -4))", "npx.reshape(t, (-6, 1, 2, -4))", "npx.batch_flatten(t)"),
    *("npx.activation(a, act_type='tanh')", "npx.batch_dot(t, t, transpose_b=True)"),
    *("npx.shape_array(t)", "npx.gather_nd(a, np.array([[0, 1], [1, 2]]))", "npx.gammaln(p)"),
    *("npx.arange_like(a, axis=1)", "npx.smooth_l1(a, scalar=1.)", "npx.reshape_like(a, x[:2])"),
    *("npx.fully_connected(a, b, num_hidden=2, no_bias=True)", "npx.cast(a, dtype='int32')"),
    *(
        "npx.leaky_relu(a, act_type='elu')",
        "npx.layer_norm(a, v, w)",
        "npx.slice(a, (0, 1), (2, 3))",
    ),
    *("npx.embedding(j, x, input_dim=3, output_dim=3)", "npx.sequence_mask(a, value=1.)"),
)

# Calls whose gradients by the arrays that they name are stored too.
GRADIENTS = (
    *("a + b", "a * b", "a / b", "2 - a", "1 / p", "p ** q", "a ** 2", "np.sin(a)", "a @ b.T"),
    *("np.exp(a) * a", "np.sum(a * a)", "a.mean(axis=1)", "np.max(a, 0)"),
    *("a.reshape(3, 2) @ a", "a.T * 2", "np.concatenate((a, b), axis=1)", "np.stack([a, b])"),
    *("np.split(a, 3, axis=1)[1]", "np.where(a > 0, a, b)", "a[0]", "a[0, 1]"),
    *("a[:, None, 1:]", "a[a > 0]", "a[[0, 1], [1, 2]]", "a[numpy.array([0, 1, 1])]", "-a"),
    *("np.dot(a, v)", "np.tensordot(a, b)", "np.einsum('ij,kj->ik', a, b)", "np.tile(a, 2)"),
    *("np.linalg.norm(a)", "np.linalg.inv(x)", "np.linalg.det(x)", "np.prod(p, axis=0)"),
    *("np.pad(a, ((1, 0), (2, 1)))", "np.cumsum(a, axis=1)", "np.diff(a)", "np.clip(a, -1, 1)"),
    *("np.broadcast_to(v, (2, 3)) * a", "np.take(a, np.array([0, 1]), axis=1)", "np.tril(a)"),
    *("npx.softmax(a) * b", "npx.relu(a)", "npx.sigmoid(a)", "npx.reshape(a, (-1,)) * 3"),
    *("a.as_nd_ndarray().as_np_ndarray() * 2", "np.maximum(a, b)", "np.arctan2(p, q)", "abs(a)"),
    *("np.sqrt(p) + p * i", "h * a", "np.flip(a, 1) * b", "np.expand_dims(a, 0) * a"),
)


def inputs() -> dict[str, numpy.ndarray]:
    """Return the arrays that the calls name."""
    draw = numpy.random.RandomState(7)

    def normal(*shape: int) -> numpy.ndarray:
        return draw.normal(size=shape).astype("float32")

    spread = normal(3, 3)
    solid = normal(6, 2, 3)
    return {
        "a": normal(2, 3),
        "b": normal(2, 3),
        "p": draw.uniform(1.1, 3, (2, 3)).astype("float32"),
        "q": draw.uniform(0.5, 2, (2, 3)).astype("float32"),
        "s": draw.uniform(0.1, 0.9, (2, 3)).astype("float32"),
        "t": normal(2, 3, 4),
        "v": normal(3),
        "w": normal(3),
        "x": (spread @ spread.T + 3 * numpy.eye(3)).astype("float32"),
        "y": solid,
        "z": numpy.array(2.5, "float32"),
        "e": numpy.zeros((0, 3), "float32"),
        "h": normal(2, 3).astype("float16"),
        "d": normal(2, 3).astype("float64"),
        "i": numpy.array([3, 1, 3], "int32"),
        "j": numpy.array([2, 0, 1], "int32"),
        "k": numpy.array([2, 0, 1], "int64"),
        "u": numpy.array([2, 7, 1], "uint8"),
        "m": numpy.array([[True, False, True], [False, False, True]]),
        "n": numpy.array([1, numpy.nan, numpy.inf, -numpy.inf], "float32"),
    }
