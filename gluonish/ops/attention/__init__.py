"""Products of attention: interleaved projections, and windows that slide over the sequence."""

from gluonish.ops.attention.div_sqrt_dim import DIV_SQRT_DIM
from gluonish.ops.attention.interleaved import (
    ENCDEC_QK,
    ENCDEC_VALATT,
    SELFATT_QK,
    SELFATT_VALATT,
)
from gluonish.ops.attention.sliding_window import (
    SLDWIN_CONTEXT,
    SLDWIN_MASK_LIKE,
    SLDWIN_SCORE,
)

__all__ = [
    "DIV_SQRT_DIM",
    "ENCDEC_QK",
    "ENCDEC_VALATT",
    "SELFATT_QK",
    "SELFATT_VALATT",
    "SLDWIN_CONTEXT",
    "SLDWIN_MASK_LIKE",
    "SLDWIN_SCORE",
]
