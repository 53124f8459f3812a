"""Lists of the operators that compute in bfloat16, under MXNet's name."""

from gluonish.gluon.mixed_precision.bfloat16_lists import (
    BF16_FP32_FUNCS,
    BF16_FUNCS,
    BF16_USE_FP32_PARAMS,
    CONDITIONAL_FP32_FUNCS,
    FP32_FUNCS,
    LOSS_OUTPUT_FUNCTIONS,
    WIDEST_TYPE_CASTS,
)

__all__ = [
    "BF16_FP32_FUNCS",
    "BF16_FUNCS",
    "BF16_USE_FP32_PARAMS",
    "CONDITIONAL_FP32_FUNCS",
    "FP32_FUNCS",
    "LOSS_OUTPUT_FUNCTIONS",
    "WIDEST_TYPE_CASTS",
]
