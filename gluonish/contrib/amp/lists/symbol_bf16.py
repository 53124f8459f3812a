"""Which operators compute in bfloat16.

bfloat16 has the range of float32, and every operator takes it here, so that more stay in it than in
float16: products of all kinds and recurrent layers compute in it, softmax and layers that normalize
take it as it is and add up in float32 inside. (MXNet has bfloat16 for convolutions and dense layers
only, and computes nearly all else in float32.)
"""

from gluonish.contrib.amp.lists import symbol_fp16 as _fp16

__all__ = [
    "BF16_FP32_FUNCS",
    "BF16_FUNCS",
    "BF16_USE_FP32_PARAMS",
    "CONDITIONAL_FP32_FUNCS",
    "FP32_FUNCS",
    "LOSS_OUTPUT_FUNCTIONS",
    "WIDEST_TYPE_CASTS",
]

_PRODUCTS = [
    "batch_dot",
    "dot",
    "linalg_gemm2",
    "_linalg_gemm2",
    "_npi_einsum",
    "LayerNorm",
    "_contrib_interleaved_matmul_encdec_qk",
    "_contrib_interleaved_matmul_encdec_valatt",
    "_contrib_interleaved_matmul_selfatt_qk",
    "_contrib_interleaved_matmul_selfatt_valatt",
    "_contrib_sldwin_atten_score",
    "_contrib_sldwin_atten_context",
]

_SUMS_INSIDE = ["softmax", "SoftmaxActivation", "_contrib_SyncBatchNorm", "argsort", "topk"]

# Computed in bfloat16.
BF16_FUNCS = [*_fp16.FP16_FUNCS, *_PRODUCTS]

# Computed in the dtype that their inputs have.
BF16_FP32_FUNCS = [*_fp16.FP16_FP32_FUNCS, "BatchNormWithReLU", *_SUMS_INSIDE]

# Inputs that stay in float32 while the others are cast; "" stands for one without a name.
BF16_USE_FP32_PARAMS = {
    "BatchNormWithReLU": ["", "gamma", "beta", "moving_mean", "moving_var"],
    "BatchNorm": ["", "gamma", "beta", "moving_mean", "moving_var"],
    "LayerNorm": ["", "gamma", "beta"],
}

_moved = {*_PRODUCTS, *_SUMS_INSIDE}

# Computed in float32.
FP32_FUNCS = [name for name in _fp16.FP32_FUNCS if name not in _moved]

# Computed in float32 where an attribute has one of some values: operator, attribute, values.
CONDITIONAL_FP32_FUNCS = list(_fp16.CONDITIONAL_FP32_FUNCS)

# Computed in the widest dtype among their inputs.
WIDEST_TYPE_CASTS = [name for name in _fp16.WIDEST_TYPE_CASTS if name not in _moved]

# Layers that are losses: their gradient is not that of what they return.
LOSS_OUTPUT_FUNCTIONS = list(_fp16.LOSS_OUTPUT_FUNCTIONS)
