"""The layers of this package, under the name of the module that Gluon has them in."""

from gluonish.gluon.contrib.cnn.deformable_convolution import (
    DeformableConvolution,
    ModulatedDeformableConvolution,
)

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
