"""Operators on quantized arrays: bytes, and the range of numbers that they stand for."""

from gluonish.ops.quantization.batch_norm import QUANTIZED_BATCH_NORM
from gluonish.ops.quantization.dequantize import DEQUANTIZE, REQUANTIZE
from gluonish.ops.quantization.entropy import CALIBRATE_ENTROPY
from gluonish.ops.quantization.joining import (
    QUANTIZED_CONCAT,
    QUANTIZED_ELEMWISE_ADD,
    QUANTIZED_ELEMWISE_MUL,
)
from gluonish.ops.quantization.passing import (
    QUANTIZED_ACT,
    QUANTIZED_EMBEDDING,
    QUANTIZED_FLATTEN,
    QUANTIZED_POOLING,
)
from gluonish.ops.quantization.products import QUANTIZED_CONV, QUANTIZED_FULLY_CONNECTED
from gluonish.ops.quantization.quantize import QUANTIZE, QUANTIZE_ASYM, QUANTIZE_V2
from gluonish.ops.quantization.rnn import QUANTIZED_RNN

__all__ = [
    "CALIBRATE_ENTROPY",
    "DEQUANTIZE",
    "QUANTIZE",
    "QUANTIZED_ACT",
    "QUANTIZED_BATCH_NORM",
    "QUANTIZED_CONCAT",
    "QUANTIZED_CONV",
    "QUANTIZED_ELEMWISE_ADD",
    "QUANTIZED_ELEMWISE_MUL",
    "QUANTIZED_EMBEDDING",
    "QUANTIZED_FLATTEN",
    "QUANTIZED_FULLY_CONNECTED",
    "QUANTIZED_POOLING",
    "QUANTIZED_RNN",
    "QUANTIZE_ASYM",
    "QUANTIZE_V2",
    "REQUANTIZE",
]
