"""NDArray and the ``nd`` namespace: creation, files, random numbers, a function per operator."""

from gluonish.ndarray import _internal as _internal
from gluonish.ndarray import contrib, image, linalg, op, random, sparse
from gluonish.ndarray import methods as _methods  # noqa: F401  # completes the class
from gluonish.ndarray import sync_batch_norm as _sync_batch_norm  # noqa: F401  # diverts calls
from gluonish.ndarray.creation import (
    arange,
    array,
    concatenate,
    empty,
    eye,
    full,
    linspace,
    moveaxis,
    ones,
    zeros,
)
from gluonish.ndarray.dlpack import (
    from_dlpack,
    from_numpy,
    to_dlpack_for_read,
    to_dlpack_for_write,
)
from gluonish.ndarray.functions import (
    add,
    divide,
    equal,
    greater,
    greater_equal,
    histogram,
    imdecode,
    lesser,
    lesser_equal,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    modulo,
    multiply,
    not_equal,
    onehot_encode,
    power,
    split_v2,
    subtract,
    true_divide,
    waitall,
)
from gluonish.ndarray.functions import new_empty_handle as _new_empty_handle  # noqa: F401
from gluonish.ndarray.indexing_keys import (
    get_indexing_dispatch_code,
    get_oshape_of_gather_nd_op,
    indexing_key_expand_implicit_axes,
)
from gluonish.ndarray.mxnet_numbers import DTYPE_NUMBERS as _DTYPE_NP_TO_MX  # noqa: F401  # by
from gluonish.ndarray.mxnet_numbers import DTYPES as _DTYPE_MX_TO_NP  # noqa: F401  # the names
from gluonish.ndarray.mxnet_numbers import GRAD_REQS as _GRAD_REQ_MAP  # noqa: F401  # that
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPE_NUMBERS as _STORAGE_TYPE_STR_TO_ID  # noqa: F401
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPES as _STORAGE_TYPE_ID_TO_STR  # noqa: F401
from gluonish.ndarray.mxnet_numbers import integer_types, py_slice  # noqa: F401
from gluonish.ndarray.namespace import names as __dir__  # noqa: F401  # PEP 562
from gluonish.ndarray.namespace import operator_function as __getattr__  # noqa: F401
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.serialization import load, load_frombuffer, load_metadata, save

__all__ = [
    "NDArray",
    "add",
    "arange",
    "array",
    "concatenate",
    "contrib",
    "divide",
    "empty",
    "equal",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "get_indexing_dispatch_code",
    "get_oshape_of_gather_nd_op",
    "greater",
    "greater_equal",
    "histogram",
    "image",
    "imdecode",
    "indexing_key_expand_implicit_axes",
    "lesser",
    "lesser_equal",
    "linalg",
    "linspace",
    "load",
    "load_frombuffer",
    "load_metadata",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "modulo",
    "moveaxis",
    "multiply",
    "not_equal",
    "onehot_encode",
    "ones",
    "op",
    "power",
    "random",
    "save",
    "sparse",
    "split_v2",
    "subtract",
    "to_dlpack_for_read",
    "to_dlpack_for_write",
    "true_divide",
    "waitall",
    "zeros",
]
