"""`mx.contrib.quantization`: 8-bit integers for trained networks, or for their weights alone."""

from gluonish.contrib.quantization.collectors import (
    CalibrationCollector,
    LayerHistogramCollector,
    LayerOutputMinMaxCollector,
    combine_histogram,
)
from gluonish.contrib.quantization.graphs import calib_graph, quantize_graph
from gluonish.contrib.quantization.layer_errors import LayerError, layer_errors
from gluonish.contrib.quantization.models import quantize_model, quantize_model_mkldnn
from gluonish.contrib.quantization.models import quantize_model_mkldnn as quantize_model_onednn
from gluonish.contrib.quantization.nets import quantize_net, quantize_net_v2
from gluonish.contrib.quantization.weights import quantize_weights

__all__ = [
    "CalibrationCollector",
    "LayerError",
    "LayerHistogramCollector",
    "LayerOutputMinMaxCollector",
    "calib_graph",
    "combine_histogram",
    "layer_errors",
    "quantize_graph",
    "quantize_model",
    "quantize_model_mkldnn",
    "quantize_model_onednn",
    "quantize_net",
    "quantize_net_v2",
    "quantize_weights",
]
