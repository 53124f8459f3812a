"""The CuPy back end: GPU contexts on streams, and kernels where CuPy's own are slow or missing."""

from gluonish.kernels.cupy.device import GPUDevice
from gluonish.kernels.cupy.stream import DeviceStream
from gluonish.kernels.cupy.support import CuPySupport

__all__ = ["CuPySupport", "DeviceStream", "GPUDevice"]
