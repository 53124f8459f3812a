"""Calls of every function of mx.np, as text, that MXNet 2.0.0b1 and gluonish both evaluate.

`CALLS` has them by function; `DEFAULTS` are those that are evaluated with `npx.set_np(dtype=True)`,
too. The calls name the arrays of np_face_calls.py and of `more_inputs`. It imports NumPy alone,
since both interpreters run it (MXNet's is Python 3.8).
"""

from __future__ import annotations

import numpy

# Elementwise functions: those of all numbers, of positive ones, of those in (0, 1), above 1.
_UNARY = {
    **dict.fromkeys(
        (
            *("abs", "absolute", "arctan", "atan", "arcsinh", "asinh", "cbrt", "ceil", "cos"),
            *("cosh", "deg2rad", "degrees", "exp", "expm1", "fabs", "fix", "floor", "isfinite"),
            *("isinf", "isnan", "isneginf", "isposinf", "logical_not", "negative", "rad2deg"),
            *("radians", "rint", "sign", "sin", "sinh", "square", "tan", "tanh", "trunc"),
        ),
        "a",
    ),
    **dict.fromkeys(("log", "log10", "log1p", "log2", "reciprocal", "sqrt"), "p"),
    **dict.fromkeys(("arccos", "acos", "arcsin", "asin", "arctanh", "atanh"), "s"),
    **dict.fromkeys(("arccosh", "acosh"), "p"),
}
_BINARY = (
    *("add", "subtract", "multiply", "divide", "true_divide", "power", "pow", "maximum"),
    *("minimum", "fmax", "fmin", "hypot", "arctan2", "atan2", "copysign", "mod", "remainder"),
    *("fmod", "floor_divide", "logaddexp", "ldexp"),
)
_COMPARISONS = (
    *("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"),
    *("logical_and", "logical_or", "logical_xor"),
)
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
_WHOLE = (*_BITS, "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm")
_REDUCED = ("sum", "prod", "mean", "max", "min", "amax", "amin", "std", "var")
_OPERATORS = (
    *("i + a", "i + h", "f + u", "f + i", "u + i", "i + k", "h + a", "a + d", "m + f", "m + m"),
    *("i + 2.5", "f + 2.5", "m + 1", "m + 1.5", "u + 1", "f * 300", "i / 2", "i / j", "f / f"),
    *("i // 2", "i // 2.0", "i % 2.5", "2**i", "i**2", "a**2", "-a", "abs(a)", "~i", "i & j"),
    *("i << 1", "i >> 1", "a @ b.T", "v @ w", "a > b", "a == b", "i == a[0]", "a != 0", "m & m"),
    *("a[0]", "a[-1, 1]", "a[:, 1]", "a[..., None]", "a[1:, ::-1]", "a[a > 0]", "a[m]", "a[()]"),
    *("a[i % 2]", "a[[0, 1], [1, 2]]", "a[:, [0, 2]]", "a[np.array([True, False])]", "z[()]"),
    *("e[0:0]", "a[0:0]", "a[5:]", "a.T", "a.size", "a.ndim", "z.item()", "i.tolist()", "a.sort()"),
    *("a.argsort()", "a.flatten()", "a.reshape(3, -1)", "a.reshape((3, 2))", "a.astype('int32')"),
    *("a.clip(-1, 1)", "a.cumsum(axis=1)", "a.dot(v)", "a.squeeze()", "a.swapaxes(0, 1)"),
    *("a.transpose(1, 0)", "a.take(j)", "a.repeat(2)", "a.copy()", "a.round()", "i.mean()"),
    *("a.argmax(axis=1)", "a.any()", "m.all()", "a.nonzero()", "t.diagonal()", "v.tile(2)"),
    *("float(z)", "int(c)", "bool(z)", "len(a)", "np.sin(2)", "np.add(1, 2)", "np.exp(1.0)"),
    *("numpy.sum(a)", "numpy.mean(a, axis=0)", "numpy.concatenate([a, b])", "numpy.add(a, 1)"),
    *("put(a, 0, 5)", "put(a, (slice(None), 1), v[:2])", "put(a, a > 0, 0)", "put(a, m, 1.5)"),
    *("put(a, Ellipsis, b)", "put(a, (0, 1), z)", "put(a, [0, 1], v)", "put(a, 1, a[0])"),
    *("put(i, 0, 2.7)", "put(e, slice(None), 1)", "put(z, (), 3)", "put(a, (m,), a[m] * 2)"),
    *("inplace(a, '+=', b)", "inplace(a, '*=', 2)", "inplace(a, '-=', z)", "inplace(i, '//=', 2)"),
    *("inplace(a, '/=', 3)", "inplace(i, '+=', j)", "inplace(a, '**=', 2)", "inplace(i, '|=', j)"),
)


def _unary(name: str, values: str) -> list[str]:
    half = "h + 1.5" if values == "p" else "h / 4"
    given = [values, half, "d / 4", "i", "f", "u", "m", "z", "e"]
    if values == "s":
        given = [values, "s.astype('float16')", "s.astype('float64')", "m", "z / 5", "e"]
    return [f"np.{name}({x})" for x in given] + [f"np.{name}({values}, out=a * 0)"]


def _binary(name: str) -> list[str]:
    pairs = ("p, q", "p, 2", "2.5, p", "p, w * w + 1", "i, j + 1", "i, 2", "f, u + 1", "i, p[0]")
    more = ("i, 2.5", "h, 2", "h, p", "d, p", "z, 2", "e, v", "f, 1.5", "p, q, out=a * 0")
    return [f"np.{name}({pair})" for pair in pairs + more]


def _reduction(name: str) -> list[str]:
    given = ("a", "h", "d", "i", "f", "u", "m", "z", "t, axis=(0, 2)", "a, axis=1, keepdims=True")
    more = ("t, -1", "e, axis=1", "a, axis=()", "a, axis=0, out=v * 0")
    methods = [] if name.startswith("am") else [f"a.{name}()", f"i.{name}(axis=0)"]
    return [f"np.{name}({x})" for x in given + more] + methods


CALLS: dict[str, list[str]] = {
    **{name: _unary(name, values) for name, values in _UNARY.items()},
    **{name: _binary(name) for name in _BINARY},
    **{
        name: [
            f"np.{name}({x})" for x in ("p, q", "p, 2", "2, i", "i, j", "m, m", "z, e", "i, p[0]")
        ]
        for name in _COMPARISONS
    },
    **{
        name: [f"np.{name}({x})" for x in ("i, j", "i, 2", "3, j", "f, f", "u, u", "c, i", "k, i")]
        for name in _WHOLE
    },
    **{
        name: [f"np.{name}({x})" for x in ("i", "f", "u", "m", "c")]
        for name in ("invert", "bitwise_not", "bitwise_invert")
    },
    **{name: _reduction(name) for name in _REDUCED},
    "operators": list(_OPERATORS),
}
# Arguments by function; with = whole expressions.
_MORE = """
any: (a) ; (m) ; (m, axis=0) ; (i, axis=0, keepdims=True) ; (e) ; (z) ; (e, axis=0)
all: (a) ; (m) ; (m, axis=0) ; (i, axis=0, keepdims=True) ; (e) ; (z) ; (e, axis=0)
sometrue: (a) ; (m, axis=0)
argmax: (a) ; (a, axis=0) ; (i) ; (t, axis=1, keepdims=True) ; (z) ; (h, axis=-1) ; (f)
argmin: (a) ; (a, axis=0) ; (i) ; (t, axis=1, keepdims=True) ; (z) ; (h, axis=-1) ; (f)
cumsum: (a) ; (a, axis=1) ; (i) ; (f) ; (m) ; (h) ; (z) ; (e, axis=0)
cumsum: (a, axis=0, dtype='float64')
cumprod: (a) ; (a, axis=1) ; (i) ; (f) ; (u) ; (z) ; (e, axis=0) ; (a, axis=0, dtype='float64')
product: (a) ; (a, axis=1)
average: (a) ; (a, axis=0) ; (a, axis=1, weights=w) ; (a, axis=0, returned=True) ; (h) ; (d)
median: (a) ; (a, axis=0) ; (a, axis=1, keepdims=True) ; (t, axis=(0, 1)) ; (i) ; (h) ; (d) ; (n)
percentile: (a, 30) ; (a, 30, axis=1, interpolation='lower') ; (a, q[0] * 10) ; (i, 50)
percentile: (h, 25) ; (d, 25)
quantile: (a, 0.3) ; (a, 0.3, axis=1, interpolation='higher') ; (a, s[0]) ; (i, 0.5)
quantile: (d, 0.25, keepdims=True)
bincount: (j) ; (j, weights=v) ; (j, minlength=5) ; (k)
histogram: (v, bins=3, range=(-2, 2)) ; (v, bins=np.array([-3., 0., 3.]))
reshape: (a, (3, 2)) ; (a, -1) ; (a, (3, -1)) ; (e, (3, 0)) ; (z, (1, 1)) ; (i, (3, 1))
ravel: (a) ; (z) ; (e) ; (i)
transpose: (t) ; (t, (1, 0, 2)) ; (z) ; (e) ; (i)
permute_dims: (t) ; (t, (1, 0, 2))
swapaxes: (t, 0, 2) ; (e, 0, 1)
moveaxis: (t, 0, -1) ; (t, (0, 1), (1, 2))
rollaxis: (t, 2)
expand_dims: (a, 0) ; (z, 0) ; (e, -1) ; (a, (0, 3))
squeeze: (a[None]) ; (a[None], axis=0) ; (z) ; (x=a[None])
broadcast_to: (v, (2, 3)) ; (z, (2, 2)) ; (i, (2, 3)) ; (e, (2, 0, 3))
broadcast_arrays: (v, a) ; (z, i)
flip: (a) ; (a, 1) ; (e) ; (i)
fliplr: (a)
flipud: (a)
rot90: (a) ; (a, 3) ; (t, 1, (1, 2))
roll: (a, 1) ; (a, 1, axis=1) ; (a, (1, 2), axis=(0, 1)) ; (e, 1) ; (i, -1)
tile: (a, 2) ; (v, (2, 1)) ; (z, 3) ; (a, (2, 1, 2))
repeat: (a, 2) ; (a, 2, axis=0) ; (v, [1, 0, 2])
resize: (v, (2, 4)) ; (a, 4)
pad: (v, (1, 2)) ; (a, ((1, 0), (2, 1))) ; (v, (1, 2), mode='edge')
pad: (a, ((1, 1), (0, 0)), mode='reflect', reflect_type='even')
pad: (v, (1, 2), mode='symmetric', reflect_type='even') ; (a, ((1, 1), (0, 0)), mode='maximum')
pad: (i, (1, 1), mode='constant', constant_values=7)
diag: (v) ; (a) ; (a, 1) ; (v, -1) ; (v=v) ; (i)
diagflat: (a) ; (v, 1) ; (v=v)
diagonal: (t) ; (t, 1, 1, 2)
diag_indices_from: (x)
trace: (a) ; (t, axis1=0, axis2=2) ; (i[:, None] + j)
tri: (3) ; (3, 2) ; (2, 3, 1) ; (3, 3, -1, dtype='int32')
tril: (a) ; (a, -1) ; (t) ; (i)
triu: (a) ; (a, 1) ; (t)
tril_indices: (3) ; (3, 1, 2) ; (2, -1)
triu_indices: (3) ; (3, 1, 2) ; (2, -1)
tril_indices_from: (x)
triu_indices_from: (x)
atleast_1d: (z) ; (a, z)
atleast_2d: (v) ; (z) ; (v, z)
atleast_3d: (a) ; (v) ; (z)
meshgrid: (v, w[:2]) ; (v, w, indexing='ij') ; (v, w, sparse=True)
indices: ((2, 3)) ; ((2,), dtype='int32')
copy: (a) ; (z) ; (e) ; (i)
shape: (t) ; (3)
concatenate: ((a, b)) ; ([a, b], axis=1) ; ((a, b), axis=None) ; ((e, a)) ; ((i, k)) ; ((h, a))
concat: ((a, b)) ; ([a, b], axis=1)
append: (a, b) ; (a, b, axis=0) ; (z, v)
stack: ([a, b]) ; ((a, b), axis=-1) ; ([z, z])
vstack: ((v, w)) ; ((a, b))
row_stack: ((v, w))
hstack: ((a, b)) ; ((v, w))
dstack: ((a, b)) ; ((v, w))
column_stack: ((v, w)) ; ((v, a.T))
split: (v, 3) ; (a, [1], axis=1) ; (a, (1, 1), axis=1)
array_split: (v, 2) ; (a, [1, 2], axis=1)
hsplit: (a, 3) ; (v, [1])
vsplit: (a, 2)
dsplit: (t, 2)
take: (v, j) ; (a, j, axis=1, mode='clip') ; (v, np.array([-1, 4], dtype='int64'), mode='wrap')
take: (a, 1, axis=0) ; (i, j)
take_along_axis: (a, np.argsort(a), 1)
sort: (a) ; (a, axis=0) ; (a, 1, True) ; (a, None) ; (i) ; (h) ; (e)
argsort: (a) ; (a, axis=0) ; (a, 1, True) ; (i) ; (h)
msort: (a)
partition: (v, 1)
argpartition: (np.array([3., 1., 2.]), 1)
lexsort: ((v, w))
where: (m, a, b) ; (m, a, 0) ; (m, 1.5, a) ; (m, 1, 0) ; (m) ; (i > 1, i, 2) ; (i > 1, i, 2.5)
where: (m, a, i) ; (m, h, a) ; (z > 0, a, b) ; (m, f, u)
nonzero: (a) ; (m) ; (e) ; (i - 1)
flatnonzero: (a - a[0])
argwhere: (m)
count_nonzero: (m) ; (m, axis=0)
unique: (i) ; (i, return_counts=True) ; (i, True, True, True) ; (a) ; (e)
unique_all: (i)
unique_inverse: (i)
unique_values: (i)
clip: (a, -1, 1) ; (a, None, 0.5) ; (i, 1, 2) ; (h, 0, 1) ; (z, 0, 1) ; (a, -1, 1, out=a * 0)
delete: (v, 1) ; (a, 0, axis=1) ; (v, slice(0, 2)) ; (v, np.array([0, 2], dtype='int64'))
delete: (i, [0])
insert: (v, 1, 5.) ; (v, 1, w) ; (a, 1, v, axis=0) ; (i, 0, 9)
unravel_index: (np.array([1, 5], dtype='int64'), (2, 3))
around: (a) ; (a, 1) ; (a * 10, -1) ; (i) ; (h, 1)
round: (a) ; (a, 1) ; (i, -1)
round_: (a, 1)
diff: (a) ; (v, 2) ; (a, axis=0) ; (a, prepend=0) ; (v, append=w) ; (i)
ediff1d: (a) ; (v, 5) ; (v, w, 2) ; (i)
nan_to_num: (n) ; (n, nan=1., posinf=2., neginf=3.) ; (i)
dot: (v, w) ; (a, v) ; (a, b.T) ; (z, a)
matmul: (x, x) ; (t, t.swapaxes(1, 2)) ; (v, x) ; (x, v) ; (v, w) ; (h, h.T) ; (e.T, e)
inner: (a, b) ; (v, w)
outer: (v, w) ; (a, b) ; (i, j)
vdot: (a, b) ; (v, w)
tensordot: (a, b) ; (a, b, axes=([0], [0])) ; (t, t, ([2], [2])) ; (v, w, 0)
kron: (a, x) ; (v, w) ; (z, a)
cross: (v, w) ; (a, b) ; (a[:, :2], b[:, :2]) ; (a[:, :2], b) ; (a.T, b.T, axis=0)
einsum: ('ij,kj->ik', a, b) ; ('ij->j', a) ; ('ii', x) ; ('ij,jk,kl', x, x, x, optimize=True)
einsum: ('i,i', i, j)
polyval: (v, a) ; (v, z)
array: ([1, 2]) ; ([1.5, 2]) ; ([True, False]) ; (3) ; (True) ; (3.5) ; (numpy.array([1., 2.]))
array: (numpy.array([1, 2])) ; (numpy.array([1, 2], 'int8')) ; (numpy.array([True]))
array: (numpy.float64(1.5)) ; (numpy.int32(1)) ; ([numpy.array([1, 2]), numpy.array([3, 4])])
array: ([d[0]]) ; (i) ; (d) ; (h) ; ((1, 2), dtype=int) ; ([1], dtype=bool) ; ([])
array: (numpy.ones(2, 'float16')) ; (numpy.array([1., 2.]), dtype='float64')
asarray: (numpy.array([1., 2.])) ; (numpy.array([1, 2])) ; ([1, 2]) ; (i) ; (d) ; (3) ; (3.5)
asarray: (i, dtype='float32')
zeros: ((2, 3)) ; (2, dtype=int) ; (2, dtype=bool) ; ((0, 3)) ; (()) ; (3, 'int8')
ones: ((2, 3)) ; (2, dtype='bool') ; (2, dtype='float16')
full: ((2,), 3) ; ((2,), 3.5) ; ((2,), True) ; ((2,), 3, dtype='int8') ; ((2, 3), v)
full: ((2,), numpy.int32(3)) ; ((), 2)
full_like: (i, 3.5) ; (a, 2) ; (a, 2, dtype='int8') ; (m, True) ; (e, 1)
zeros_like: (i) ; (a) ; (m) ; (a, dtype='int32')
ones_like: (i) ; (a) ; (m) ; (f, dtype='float64')
empty: ((0, 2)) ; ((0,), dtype='int8')
empty_like: (e) ; (e, dtype='int32')
arange: (3) ; (3.5) ; (1, 7, 2) ; (5, dtype='int32') ; (0, 1, 0.25) ; (0) ; (3, dtype='float64')
arange: (2, 0, -1)
linspace: (0, 1, 5) ; (0, 1, 5, endpoint=False) ; (0, 1, 3, retstep=True)
linspace: (0, 4, 3, dtype='int32') ; (1, 2, 0)
logspace: (0, 1, 3) ; (0, 3, 4, base=2.0) ; (0, 1, 2, dtype='float64')
eye: (2) ; (2, 3, 1) ; (2, dtype='int32')
identity: (2) ; (2, dtype='int8')
blackman: (5) ; (1)
hamming: (5) ; (1)
hanning: (5) ; (1)
fill_diagonal: =put_diagonal(a, 7) ; =put_diagonal(x, 1.5)
can_cast: ('int32', 'float64') ; (i, 'int8') ; ('float64', 'float32')
result_type: (a, d) ; (i, a) ; (f, u) ; (i, h)
promote_types: ('int8', 'uint8') ; ('float32', 'float64')
min_scalar_type: (10)
may_share_memory: (a, b)
shares_memory: (a, b)
cov: (a)
corrcoef: (a)
correlate: (v, w)
allclose: (a, a) ; (a, b)
isclose: (a, a)
array_equal: (a, a) ; (a, b)
array_equiv: (a, a[None])
alltrue: (m, axis=0)
apply_along_axis: (lambda r: r.sum(), 1, numpy.ones((2, 3)))
apply_over_axes: (numpy.sum, numpy.ones((2, 3)), [0])
choose: (np.array([0, 1, 1], dtype='int64'), [v, w])
compress: ([True, False, True], v)
digitize: (v, np.array([0., 1]))
divmod: (p, 2)
extract: (m, a)
float_power: (p, 2)
frexp: (p)
heaviside: (a, 0.5)
histogram2d: (v, w, bins=2)
histogram_bin_edges: (v, bins=3)
histogramdd: (a.T, bins=2)
i0: (s)
in1d: (i, j)
isin: (i, j)
interp: (v, np.array([0., 1]), np.array([2., 3]))
intersect1d: (i, j)
ix_: (np.array([0, 1], dtype='int64'), np.array([0, 2], dtype='int64'))
modf: (a)
nanargmax: (a) ; (a, axis=0)
nanargmin: (a)
nancumprod: (n[:2]) ; (a, axis=0)
nancumsum: (n[:2]) ; (a, axis=0)
nanmax: (n) ; (a, axis=0)
nanmin: (n) ; (a, axis=0)
nanmedian: (n[:2])
nanpercentile: (n[:2], 50)
nanquantile: (n[:2], 0.5)
nanprod: (n[:2]) ; (a, axis=0) ; (a, axis=1, keepdims=True)
nansum: (n[:2]) ; (a, axis=0) ; (a, axis=1, keepdims=True) ; (i) ; (h)
nanstd: (n[:2]) ; (a, axis=0) ; (a, axis=1, ddof=1)
nanvar: (n[:2]) ; (a, axis=0) ; (a, axis=1, ddof=1) ; (h)
ndim: (t) ; (3)
packbits: (m)
unpackbits: (u)
piecewise: (a, [a > 0], [1., 2.])
poly: (v)
polyadd: (v, w)
polydiv: (v, w[:2])
polyfit: (v, w, 1)
polyint: (v)
polymul: (v, w)
polysub: (v, w)
positive: (a)
ptp: (a) ; (a, axis=0)
real: (a)
roots: (np.array([1., -3., 2.]))
searchsorted: (np.array([1., 2, 3]), 2.5)
select: ([a > 0], [a])
setdiff1d: (i, j)
setxor1d: (i, j)
union1d: (i, j)
signbit: (a)
size: (a) ; (a, 1)
spacing: (p)
trapz: (a)
trim_zeros: (np.array([0., 1, 0]))
unwrap: (v * 5)
vander: (v)
linalg.norm: (a) ; (a, axis=1) ; (a, ord='fro') ; (v, ord=1) ; (v, ord=3) ; (a, 'nuc') ; (a, 2)
linalg.norm: (a, -2) ; (a, 1) ; (x, axis=(0, 1), keepdims=True) ; (t, axis=-1) ; (h) ; (d)
linalg.norm: (v, numpy.inf)
linalg.inv: (x) ; (x.astype('float64'))
linalg.det: (x) ; (x[None])
linalg.slogdet: (x)
linalg.cholesky: (x) ; (x, upper=True) ; (x.astype('float64'))
linalg.eigvalsh: (x) ; (x, True) ; (x, UPLO='U')
linalg.eigvals: (np.array([[2., 1], [0, 3]]))
linalg.eigh: =np.linalg.eigh(x)[0] ; =np.linalg.eigh(x, upper=True)[0]
linalg.eig: =np.sort(np.linalg.eig(x)[0])
linalg.solve: (x, v) ; (x, x)
linalg.pinv: (a) ; (a, rcond=1e-5) ; (a, rtol=1e-5)
linalg.svd: =np.linalg.svd(a)[1]
linalg.svdvals: (a)
linalg.tensorinv: (y, ind=1)
linalg.tensorsolve: (y, y[:, 0, 0])
linalg.matrix_rank: (x) ; (M=x) ; (a)
linalg.cond: (x)
linalg.matrix_power: (x, 2) ; (x, 0) ; (x, 5) ; (x, -1)
linalg.multi_dot: ([x, x]) ; ([a, x, b.T, v[:2]]) ; ([v, x, x, v])
linalg.lstsq: =np.linalg.lstsq(x, v, rcond=None)[0]
linalg.qr: =abs(numpy.linalg.qr(x.asnumpy())[1])
linalg.cross: (v, w)
linalg.diagonal: (t) ; (t, offset=1) ; (a=x)
linalg.trace: (t) ; (x) ; (a=x)
linalg.matmul: (x, x)
linalg.outer: (v, w)
linalg.tensordot: (a, b)
linalg.matrix_norm: (x) ; (t, ord=1) ; (x, keepdims=True)
linalg.matrix_transpose: (t) ; (a=x)
linalg.vector_norm: (v) ; (a) ; (a, axis=1) ; (a, ord=1, axis=0)
linalg.vector_norm: (a, ord=numpy.inf, keepdims=True)
"""
for _line in _MORE.strip().split("\n"):
    _name, _given = _line.split(": ", 1)
    CALLS.setdefault(_name, []).extend(
        _text[1:] if _text.startswith("=") else f"np.{_name}{_text}"
        for _text in _given.split(" ; ")
    )

# Calls that are evaluated with NumPy's default dtypes (`npx.set_np(dtype=True)`), too.
DEFAULTS = [
    call
    for name in (
        *("array", "asarray", "zeros", "ones", "full", "empty", "arange", "linspace", "logspace"),
        *("eye", "identity", "indices", "tri", "blackman", "mean", "sum", "cumsum", "true_divide"),
        *("median", "quantile", "sin", "where"),
    )
    for call in CALLS[name]
]


def more_inputs() -> dict[str, numpy.ndarray]:
    """Return the arrays that the calls name beside those of np_face_calls.py."""
    return {
        "c": numpy.array(5, "int32"),
        "f": numpy.array([3, 1, 7], "int8"),
    }
