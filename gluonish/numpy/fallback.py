"""Functions of `np` that are computed by NumPy on the host; see `gluonish.numpy.official`."""

from gluonish.numpy.official import gone, official_function

__all__ = [
    "allclose",
    "alltrue",
    "apply_along_axis",
    "apply_over_axes",
    "argpartition",
    "argwhere",
    "array_equal",
    "array_equiv",
    "choose",
    "compress",
    "corrcoef",
    "correlate",
    "count_nonzero",
    "cov",
    "digitize",
    "divmod",
    "extract",
    "flatnonzero",
    "frexp",
    "genfromtxt",
    "heaviside",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "i0",
    "in1d",
    "interp",
    "intersect1d",
    "isin",
    "ix_",
    "lexsort",
    "min_scalar_type",
    "mirr",
    "modf",
    "nanargmax",
    "nanargmin",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "ndim",
    "npv",
    "packbits",
    "partition",
    "piecewise",
    "pmt",
    "poly",
    "polyadd",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "ppmt",
    "promote_types",
    "pv",
    "rate",
    "roots",
    "searchsorted",
    "select",
    "setdiff1d",
    "setxor1d",
    "signbit",
    "size",
    "spacing",
    "tril_indices_from",
    "trim_zeros",
    "triu_indices_from",
    "union1d",
    "unpackbits",
    "unwrap",
    "vander",
]

allclose = official_function("allclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False")
alltrue = official_function("alltrue", "*args, **kwargs")
apply_along_axis = official_function("apply_along_axis", "func1d, axis, arr, *args, **kwargs")
apply_over_axes = official_function("apply_over_axes", "func, a, axes")
argpartition = official_function("argpartition", "a, kth, axis=-1, kind='introselect', order=None")
argwhere = official_function("argwhere", "a")
array_equal = official_function("array_equal", "a1, a2, equal_nan=False")
array_equiv = official_function("array_equiv", "a1, a2")
choose = official_function("choose", "a, choices, out=None, mode='raise'")
compress = official_function("compress", "condition, a, axis=None, out=None")
corrcoef = official_function(
    "corrcoef", "x, y=None, rowvar=True, bias=..., ddof=..., *, dtype=None"
)
correlate = official_function("correlate", "a, v, mode='valid'")
count_nonzero = official_function("count_nonzero", "a, axis=None, *, keepdims=False")
cov = official_function(
    "cov",
    "m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None",
)
digitize = official_function("digitize", "x, bins, right=False")
divmod = official_function("divmod")
extract = official_function("extract", "condition, arr")
flatnonzero = official_function("flatnonzero", "a")
frexp = official_function("frexp")
genfromtxt = official_function("genfromtxt", "*args, **kwargs")
heaviside = official_function("heaviside")
histogram2d = official_function(
    "histogram2d", "x, y, bins=10, range=None, normed=None, weights=None, density=None"
)
histogram_bin_edges = official_function(
    "histogram_bin_edges", "a, bins=10, range=None, weights=None"
)
histogramdd = official_function(
    "histogramdd", "sample, bins=10, range=None, normed=None, weights=None, density=None"
)
i0 = official_function("i0", "x")
in1d = official_function("in1d", "ar1, ar2, assume_unique=False, invert=False")
interp = official_function("interp", "x, xp, fp, left=None, right=None, period=None")
intersect1d = official_function(
    "intersect1d", "ar1, ar2, assume_unique=False, return_indices=False"
)
isin = official_function("isin", "element, test_elements, assume_unique=False, invert=False")
ix_ = official_function("ix_", "*args")
lexsort = official_function("lexsort")
min_scalar_type = official_function("min_scalar_type")
mirr = gone("mirr")
modf = official_function("modf")
nanargmax = official_function("nanargmax", "a, axis=None, out=None, *, keepdims=...")
nanargmin = official_function("nanargmin", "a, axis=None, out=None, *, keepdims=...")
nanmedian = official_function(
    "nanmedian", "a, axis=None, out=None, overwrite_input=False, keepdims=..."
)
nanpercentile = official_function(
    "nanpercentile",
    "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=..., *, "
    "interpolation=None",
)
nanquantile = official_function(
    "nanquantile",
    "a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=..., *, "
    "interpolation=None",
)
ndim = official_function("ndim", "a")
npv = gone("npv")
packbits = official_function("packbits")
partition = official_function("partition", "a, kth, axis=-1, kind='introselect', order=None")
piecewise = official_function("piecewise", "x, condlist, funclist, *args, **kw")
pmt = gone("pmt")
poly = official_function("poly", "seq_of_zeros")
polyadd = official_function("polyadd", "a1, a2")
polydiv = official_function("polydiv", "u, v")
polyfit = official_function("polyfit", "x, y, deg, rcond=None, full=False, w=None, cov=False")
polyint = official_function("polyint", "p, m=1, k=None")
polymul = official_function("polymul", "a1, a2")
polysub = official_function("polysub", "a1, a2")
ppmt = gone("ppmt")
promote_types = official_function("promote_types")
pv = gone("pv")
rate = gone("rate")
roots = official_function("roots", "p")
searchsorted = official_function("searchsorted", "a, v, side='left', sorter=None")
select = official_function("select", "condlist, choicelist, default=0")
setdiff1d = official_function("setdiff1d", "ar1, ar2, assume_unique=False")
setxor1d = official_function("setxor1d", "ar1, ar2, assume_unique=False")
signbit = official_function("signbit")
size = official_function("size", "a, axis=None")
spacing = official_function("spacing")
tril_indices_from = official_function("tril_indices_from", "arr, k=0")
trim_zeros = official_function("trim_zeros", "filt, trim='fb'")
triu_indices_from = official_function("triu_indices_from", "arr, k=0")
union1d = official_function("union1d", "ar1, ar2")
unpackbits = official_function("unpackbits")
unwrap = official_function("unwrap", "p, discont=None, axis=-1, *, period=6.283185307179586")
vander = official_function("vander", "x, N=None, increasing=False")
