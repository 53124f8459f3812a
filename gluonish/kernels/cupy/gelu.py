"""LeakyReLU's GELU, and its gradient, in one launch each."""

from types import ModuleType
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.source import contiguous, launch


def supports_gelu(*_: Spec, act_type: str, **attrs: Any) -> bool:
    """Whether a call of LeakyReLU is GELU."""
    return act_type == "gelu"


def gelu(xp: ModuleType, outputs: Any, data: Any, **_: Any) -> None:
    """Compute GELU; 16-bit floats in float32, rounded once."""
    (out,) = outputs
    launch(xp, "gelu", "gelu", data.dtype, (contiguous(data), out), data.size)


def gelu_backward(xp: ModuleType, out: Any, grad: Any, data: Any) -> None:
    """Compute the gradient of the data, with the rounding of `gelu`."""
    arrays = (contiguous(grad), contiguous(data), out)
    launch(xp, "gelu", "gelu_backward", data.dtype, arrays, data.size)
