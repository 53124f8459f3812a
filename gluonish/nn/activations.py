"""The activation layers, under the name of the module that Gluon has them in."""

from gluonish.nn.activation import Activation
from gluonish.nn.leaky_relu import ELU, GELU, SELU, LeakyReLU, PReLU
from gluonish.nn.swish import Swish

__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "Swish"]
