"""The activation layers, under the name of the module that Gluon has them in."""

from gluonish.gluon.nn.activation import Activation
from gluonish.gluon.nn.leaky_relu import ELU, GELU, SELU, LeakyReLU, PReLU
from gluonish.gluon.nn.swish import Swish

__all__ = ["ELU", "GELU", "SELU", "Activation", "LeakyReLU", "PReLU", "Swish"]
