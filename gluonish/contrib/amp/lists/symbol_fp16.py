"""Lists of the operators that compute in float16, under MXNet's name."""

from gluonish.gluon.mixed_precision.float16_lists import (
    CONDITIONAL_FP32_FUNCS,
    FP16_FP32_FUNCS,
    FP16_FUNCS,
    FP32_FUNCS,
    LOSS_OUTPUT_FUNCTIONS,
    WIDEST_TYPE_CASTS,
)

__all__ = [
    "CONDITIONAL_FP32_FUNCS",
    "FP16_FP32_FUNCS",
    "FP16_FUNCS",
    "FP32_FUNCS",
    "LOSS_OUTPUT_FUNCTIONS",
    "WIDEST_TYPE_CASTS",
]
