"""`mx.contrib`: experimental operators and tools; modules are loaded on first access."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.core.lazy import lists as _lists

__all__ = [
    "amp",
    "autograd",
    "io",
    "lora",
    "nd",
    "ndarray",
    "onnx",
    "quant",
    "quantization",
    "svrg_optimization",
    "sym",
    "symbol",
    "tensorboard",
    "tensorrt",
    "text",
]
__dir__ = _lists(__all__)

if TYPE_CHECKING:
    import gluonish.contrib.quantization as quant
    import gluonish.ndarray.contrib as nd
    import gluonish.ndarray.contrib as ndarray
    import gluonish.symbol.contrib as sym
    import gluonish.symbol.contrib as symbol
    from gluonish.contrib import (
        amp,
        autograd,
        io,
        lora,
        onnx,
        quantization,
        svrg_optimization,
        tensorboard,
        tensorrt,
        text,
    )
else:
    __getattr__ = _attach(__name__, __all__)
