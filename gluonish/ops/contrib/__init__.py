"""Operators that stand for themselves: contrib, mixed precision, and MXNet's internal ones."""

from gluonish.ops.contrib.allclose import ALLCLOSE
from gluonish.ops.contrib.boolean_mask import BOOLEAN_MASK
from gluonish.ops.contrib.copies import (
    COPYTO,
    CROSS_DEVICE_COPY,
    IDENTITY_LIKE_RHS,
    ZEROS_WITHOUT_DTYPE,
)
from gluonish.ops.contrib.counting_like import ARANGE_LIKE, INDEX_ARRAY
from gluonish.ops.contrib.diag import DIAG
from gluonish.ops.contrib.finite import ALL_FINITE, MULTI_ALL_FINITE
from gluonish.ops.contrib.fourier import FFT, IFFT
from gluonish.ops.contrib.group_adagrad import GROUP_ADAGRAD_UPDATE
from gluonish.ops.contrib.hawkesll import HAWKESLL
from gluonish.ops.contrib.histogram import HISTOGRAM
from gluonish.ops.contrib.index_copy import INDEX_COPY
from gluonish.ops.contrib.many_arrays import MULTI_LARS, MULTI_SUM_SQ, RESET_ARRAYS
from gluonish.ops.contrib.mixed_precision import AMP_CAST, AMP_MULTICAST
from gluonish.ops.contrib.quadratic import QUADRATIC
from gluonish.ops.contrib.row_elements import FILL_ELEMENT_0INDEX, ONEHOT_ENCODE
from gluonish.ops.contrib.scatter_set_nd import SCATTER_SET_ND
from gluonish.ops.contrib.shape_array import SHAPE_ARRAY, SIZE_ARRAY
from gluonish.ops.contrib.straight_through import GRADIENT_MULTIPLIER, ROUND_STE, SIGN_STE
from gluonish.ops.contrib.sync_batch_norm import SYNC_BATCH_NORM

__all__ = [
    "ALLCLOSE",
    "ALL_FINITE",
    "AMP_CAST",
    "AMP_MULTICAST",
    "ARANGE_LIKE",
    "BOOLEAN_MASK",
    "COPYTO",
    "CROSS_DEVICE_COPY",
    "DIAG",
    "FFT",
    "FILL_ELEMENT_0INDEX",
    "GRADIENT_MULTIPLIER",
    "GROUP_ADAGRAD_UPDATE",
    "HAWKESLL",
    "HISTOGRAM",
    "IDENTITY_LIKE_RHS",
    "IFFT",
    "INDEX_ARRAY",
    "INDEX_COPY",
    "MULTI_ALL_FINITE",
    "MULTI_LARS",
    "MULTI_SUM_SQ",
    "ONEHOT_ENCODE",
    "QUADRATIC",
    "RESET_ARRAYS",
    "ROUND_STE",
    "SCATTER_SET_ND",
    "SHAPE_ARRAY",
    "SIGN_STE",
    "SIZE_ARRAY",
    "SYNC_BATCH_NORM",
    "ZEROS_WITHOUT_DTYPE",
]
