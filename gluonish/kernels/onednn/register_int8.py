"""oneDNN's kernels on int8."""

from typing import Any

from gluonish.core.dtype import FLOAT32, INT8, INT32, UINT8
from gluonish.core.spec import Spec
from gluonish.kernels.onednn.int8 import (
    int8_convolution,
    int8_dense,
    int8_pooling,
    int8_quantize,
)
from gluonish.kernels.onednn.register import planned
from gluonish.ops.quantization.layers import INT8_CONVOLUTION, INT8_DENSE
from gluonish.ops.quantization.range_preserving import INT8_POOLING
from gluonish.ops.quantization.scales import INT8_QUANTIZE

# Elements below which NumPy is as fast as the call into the library.
_SMALL = 1 << 10
_MAKES = (FLOAT32, INT8, UINT8, INT32)


def _supports(*specs: Spec, **attrs: Any) -> bool:
    return all(0 not in spec.shape for spec in specs)


def _supports_many(*specs: Spec, **attrs: Any) -> bool:
    return specs[0].size >= _SMALL


def _supports_pooling(*specs: Spec, **attrs: Any) -> bool:
    convention = attrs["pooling_convention"] in ("valid", "full")
    return convention and _supports(*specs) and len(specs[0].shape) >= 3


KERNELS = planned(
    (INT8_CONVOLUTION, "int8_convolution", _supports, int8_convolution, _MAKES),
    (INT8_DENSE, "int8_dense", _supports, int8_dense, _MAKES),
    (INT8_POOLING, "int8_pooling", _supports_pooling, int8_pooling),
    (INT8_QUANTIZE, "int8_quantize", _supports_many, int8_quantize, _MAKES),
)
