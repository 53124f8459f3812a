"""Convolution that adds an array to its result and applies a function to it."""

from gluonish.ops.fused.operator import register_fused
from gluonish.ops.nn.convolution import CONVOLUTION

FUSED_CONVOLUTION = register_fused(
    CONVOLUTION,
    "_fused_convolution",
    "activation(Convolution(data, weight, bias) + addend).\n\n"
    "Inputs and attributes of Convolution; addend, with with_sum, has the shape of the output,\n"
    "whose memory may be the addend's. alpha and beta are parameters of the activation: the\n"
    "slope of leaky and elu, the ends of clip, the factor in swish.",
)
