"""Lists of the operators that compute in bfloat16.

bfloat16 has the range of float32, and every operator supports it, so more operators use it than
float16. Products of all kinds and recurrent layers compute in bfloat16. Softmax and normalization
layers accept bfloat16 inputs, and accumulate in float32 internally. (MXNet has bfloat16 for
convolutions and dense layers only, and computes nearly all other operators in float32.)
"""

from gluonish.gluon.mixed_precision import float16_lists as _fp16

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
    "rms_norm",
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

# Computed in the dtype of their inputs.
BF16_FP32_FUNCS = [*_fp16.FP16_FP32_FUNCS, "BatchNormWithReLU", *_SUMS_INSIDE]

# Inputs that stay in float32 while the others are cast; "" stands for the unnamed input.
BF16_USE_FP32_PARAMS = {
    "BatchNormWithReLU": ["", "gamma", "beta", "moving_mean", "moving_var"],
    "BatchNorm": ["", "gamma", "beta", "moving_mean", "moving_var"],
    "LayerNorm": ["", "gamma", "beta"],
    "rms_norm": ["", "gamma"],
}

_moved = {*_PRODUCTS, *_SUMS_INSIDE}

# Computed in float32.
FP32_FUNCS = [name for name in _fp16.FP32_FUNCS if name not in _moved]

# Computed in float32 if an attribute has one of the listed values: operator, attribute, values.
CONDITIONAL_FP32_FUNCS = list(_fp16.CONDITIONAL_FP32_FUNCS)

# Computed in the widest dtype among their inputs.
WIDEST_TYPE_CASTS = [name for name in _fp16.WIDEST_TYPE_CASTS if name not in _moved]

# Output layers that are losses: their gradient is not the gradient of their output.
LOSS_OUTPUT_FUNCTIONS = list(_fp16.LOSS_OUTPUT_FUNCTIONS)
