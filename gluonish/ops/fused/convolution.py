"""Convolution with a fused addend and activation."""

from gluonish.ops.fused.operator import register_fused
from gluonish.ops.nn.convolution import CONVOLUTION

FUSED_CONVOLUTION = register_fused(
    CONVOLUTION,
    "_fused_convolution",
    "activation(Convolution(data, weight, bias) + addend).\n\n"
    "Inputs and attributes of Convolution; with with_sum, addend has the shape of the output,\n"
    "which may alias it. alpha and beta are parameters of the activation: the slope of leaky\n"
    "and elu, the bounds of clip, the factor in swish.",
)
