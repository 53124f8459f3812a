"""`mx.contrib.quantization`: 8-bit networks of trained ones; nothing of it is there yet."""

from gluonish.contrib.later import later

__all__ = [
    "calib_graph",
    "combine_histogram",
    "quantize_graph",
    "quantize_model",
    "quantize_model_mkldnn",
    "quantize_net",
    "quantize_net_v2",
]

_FLOAT = "until then run the network in float32 or bfloat16"

calib_graph = later("contrib.quantization.calib_graph", _FLOAT)
combine_histogram = later("contrib.quantization.combine_histogram", _FLOAT)
quantize_graph = later("contrib.quantization.quantize_graph", _FLOAT)
quantize_model = later("contrib.quantization.quantize_model", _FLOAT)
quantize_model_mkldnn = later("contrib.quantization.quantize_model_mkldnn", _FLOAT)
quantize_net = later("contrib.quantization.quantize_net", _FLOAT)
quantize_net_v2 = later("contrib.quantization.quantize_net_v2", _FLOAT)
