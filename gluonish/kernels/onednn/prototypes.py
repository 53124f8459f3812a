"""Prototypes of the functions that create primitive descriptors, for `gluonish.kernels.onednn.api`.

Those of convolution, pooling, dense, matrix product, batch norm and reorder are in that module.
"""

import ctypes
from typing import Any

__all__ = ["PRIMITIVES"]

_H = ctypes.c_void_p
_I = ctypes.c_int
_F = ctypes.c_float
_U = ctypes.c_uint
_L = ctypes.c_int64
_D = ctypes.POINTER(ctypes.c_int64)
_HP = ctypes.POINTER(ctypes.c_void_p)
_FP = ctypes.POINTER(ctypes.c_float)

# First the place for the new handle, then the engine; last the attributes, and before them, for a
# backward, the forward's primitive descriptor.
PRIMITIVES: dict[str, tuple[Any, ...]] = {
    "dnnl_deconvolution_forward_primitive_desc_create": (
        *(_HP, _H, _I, _I, _H, _H, _H, _H, _D, _D, _D, _D, _H),
    ),
    "dnnl_eltwise_forward_primitive_desc_create": (_HP, _H, _I, _I, _H, _H, _F, _F, _H),
    "dnnl_eltwise_backward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _F, _F, _H, _H),
    "dnnl_softmax_forward_primitive_desc_create": (_HP, _H, _I, _I, _H, _H, _I, _H),
    "dnnl_softmax_backward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _I, _H, _H),
    "dnnl_layer_normalization_forward_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _H, _F, _U, _H),
    ),
    "dnnl_layer_normalization_backward_primitive_desc_create": (
        *(_HP, _H, _I, _H, _H, _H, _H, _F, _U, _H, _H),
    ),
    "dnnl_lrn_forward_primitive_desc_create": (_HP, _H, _I, _I, _H, _H, _L, _F, _F, _F, _H),
    "dnnl_lrn_backward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _L, _F, _F, _F, _H, _H),
    "dnnl_prelu_forward_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _H),
    "dnnl_prelu_backward_primitive_desc_create": (_HP, _H, _H, _H, _H, _H, _H, _H, _H),
    "dnnl_resampling_forward_primitive_desc_create": (_HP, _H, _I, _I, _FP, _H, _H, _H),
    "dnnl_resampling_backward_primitive_desc_create": (_HP, _H, _I, _FP, _H, _H, _H, _H),
    "dnnl_binary_primitive_desc_create": (_HP, _H, _I, _H, _H, _H, _H),
    "dnnl_reduction_primitive_desc_create": (_HP, _H, _I, _H, _H, _F, _F, _H),
    "dnnl_concat_primitive_desc_create": (_HP, _H, _H, _I, _I, _HP, _H),
    "dnnl_sum_primitive_desc_create": (_HP, _H, _H, _I, _FP, _HP, _H),
}
