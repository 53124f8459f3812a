"""The functions of `mx.contrib.amp`."""

from typing import Any

from gluonish.contrib.amp.conversion import convert_hybrid_block, convert_model, convert_symbol
from gluonish.gluon.mixed_precision.loss_scaler import LossScaler
from gluonish.gluon.mixed_precision.operator_lists import (
    list_conditional_fp32_ops,
    list_fp32_ops,
    list_loss_output_functions,
    list_lp16_fp32_ops,
    list_lp16_ops,
    list_lp16_use_fp32_params,
    list_widest_type_cast,
)
from gluonish.gluon.mixed_precision.training import (
    autocast,
    init,
    init_trainer,
    is_initialized,
    scale_loss,
    unscale,
)

__all__ = [
    "LossScaler",
    "autocast",
    "convert_hybrid_block",
    "convert_model",
    "convert_symbol",
    "init",
    "init_trainer",
    "list_conditional_fp32_ops",
    "list_fp32_ops",
    "list_loss_output_functions",
    "list_lp16_fp32_ops",
    "list_lp16_ops",
    "list_lp16_use_fp32_params",
    "list_widest_type_cast",
    "scale_loss",
    "unscale",
]


def __getattr__(name: str) -> Any:
    if name == "_amp_initialized":  # programs read it
        return is_initialized()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
