"""LeakyReLU with ``act_type="gelu"``, and its gradient, in one launch each."""

from types import ModuleType
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.memory_layout import contiguous_target
from gluonish.kernels.cupy.source import contiguous, launch


def supports_gelu(*_: Spec, act_type: str, **attrs: Any) -> bool:
    """Whether a call of LeakyReLU is GELU."""
    return act_type == "gelu"


def gelu(xp: ModuleType, outputs: Any, data: Any, **_: Any) -> None:
    """Compute GELU; 16-bit floats are computed in float32 and rounded once."""
    (out,) = outputs
    with contiguous_target(xp, out) as target:
        launch(xp, "gelu", "gelu", data.dtype, (contiguous(data), target), data.size)


def gelu_backward(xp: ModuleType, out: Any, grad: Any, data: Any) -> None:
    """Compute the gradient of the data, rounded as in `gelu`."""
    with contiguous_target(xp, out) as target:
        arrays = (contiguous(grad), contiguous(data), target)
        launch(xp, "gelu", "gelu_backward", data.dtype, arrays, data.size)
