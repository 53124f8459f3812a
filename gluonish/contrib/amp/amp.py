"""The functions of `mx.contrib.amp`, none of which is there yet."""

from gluonish.contrib.amp.loss_scaler import LossScaler
from gluonish.contrib.later import later

__all__ = [
    "LossScaler",
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

# Whether `init` was called, for programs that ask.
_amp_initialized = False

_CAST = (
    "until then net.cast('float16') and an optimizer with multi_precision=True train in half "
    "precision"
)
_FULL = "until then train in float32, where no loss needs a scale"
_LISTS = "until then nothing is converted by these lists"

convert_hybrid_block = later("contrib.amp.convert_hybrid_block", _CAST)
convert_model = later("contrib.amp.convert_model", _CAST)
convert_symbol = later("contrib.amp.convert_symbol", _CAST)
init = later("contrib.amp.init", _CAST)
init_trainer = later("contrib.amp.init_trainer", _FULL)
list_conditional_fp32_ops = later("contrib.amp.list_conditional_fp32_ops", _LISTS)
list_fp32_ops = later("contrib.amp.list_fp32_ops", _LISTS)
list_loss_output_functions = later("contrib.amp.list_loss_output_functions", _LISTS)
list_lp16_fp32_ops = later("contrib.amp.list_lp16_fp32_ops", _LISTS)
list_lp16_ops = later("contrib.amp.list_lp16_ops", _LISTS)
list_lp16_use_fp32_params = later("contrib.amp.list_lp16_use_fp32_params", _LISTS)
list_widest_type_cast = later("contrib.amp.list_widest_type_cast", _LISTS)
scale_loss = later("contrib.amp.scale_loss", _FULL)
unscale = later("contrib.amp.unscale", _FULL)
