"""LeakyReLU with ``act_type="gelu"``, and its gradient, in one launch each.

For 16-bit floats, and for its approximations, generated kernels are exact enough
(`gluonish.kernels.cupy.pointwise`).
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous, contiguous_target
from gluonish.kernels.cupy.source import launch
from gluonish.ops.nn.gelu import FORM_OF


def supports_gelu(
    data: Spec, *_: Spec, act_type: str = "gelu", form: str = "erf", **attrs: Any
) -> bool:
    """Whether a call of LeakyReLU is GELU, or its gradient, in float32 or float64."""
    exact = FORM_OF.get(act_type) == form == "erf"
    return exact and data.dtype in (FLOAT32, FLOAT64)


def gelu(xp: ModuleType, outputs: Any, data: Any, **_: Any) -> None:
    """Compute GELU."""
    (out,) = outputs
    with contiguous_target(xp, out) as target:
        launch(xp, "gelu", "gelu", data.dtype, (contiguous(xp, data), target), data.size)


def gelu_backward(xp: ModuleType, out: Any, grad: Any, data: Any, **_: Any) -> None:
    """Compute the gradient of the data."""
    with contiguous_target(xp, out) as target:
        arrays = (contiguous(xp, grad), contiguous(xp, data), target)
        launch(xp, "gelu", "gelu_backward", data.dtype, arrays, data.size)
