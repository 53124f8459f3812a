"""How arrays print."""

import numpy as np

from gluonish.core.dtype import BFLOAT16, STORED_DTYPES
from gluonish.ndarray.ndarray import NDArray


def array_repr(x: NDArray) -> str:
    """Return the values, shape and device, as in ``[1. 2.]`` and ``<NDArray 2 @cpu(0)>``."""
    values = x.asnumpy()
    if values.dtype == BFLOAT16 or values.dtype in STORED_DTYPES:
        values = values.astype(np.float32)
    shape = "x".join(map(str, x.shape))
    return f"\n{values}\n<{type(x).__name__} {shape} @{x.context}>"
