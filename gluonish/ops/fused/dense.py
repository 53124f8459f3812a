"""FullyConnected with a fused addend and activation."""

from gluonish.core.schema import boolean
from gluonish.ops.fused.operator import register_fused
from gluonish.ops.nn.dense import FULLY_CONNECTED

FUSED_DENSE = register_fused(
    FULLY_CONNECTED,
    "_fused_dense",
    (
        "activation(FullyConnected(data, weight, bias) + addend).\n\n"
        "Inputs and attributes of FullyConnected; with with_sum, addend has the shape of the\n"
        "output, which may alias it. alpha and beta are parameters of the activation: the\n"
        "slope of leaky and elu, the bounds of clip, the factor in swish. packed: whether the\n"
        "weight rarely changes, so that a kernel may pack it in advance."
    ),
    packed=boolean(False),
)
