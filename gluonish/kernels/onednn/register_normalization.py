"""oneDNN's normalizations and softmax."""

from typing import Any

from gluonish.core.dtype import UINT8
from gluonish.core.spec import Spec
from gluonish.kernels.onednn.batch_norm import batch_norm, batch_norm_apply, batch_norm_backward
from gluonish.kernels.onednn.binding import is_supported
from gluonish.kernels.onednn.layer_norm import layer_norm, layer_norm_backward
from gluonish.kernels.onednn.register import planned
from gluonish.kernels.onednn.softmax import log_softmax, softmax, softmax_backward
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD
from gluonish.ops.normalization.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD
from gluonish.ops.normalization.batch_norm_relu import BATCH_NORM_RELU, BATCH_NORM_RELU_BACKWARD
from gluonish.ops.normalization.fold_batch_norm import BATCH_NORM_APPLY
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD

# Elements below which NumPy is as fast as the call into the library, one thread each.
_SMALL_SOFTMAX = 1 << 8
_SMALL_SOFTMAX_BACKWARD = 1 << 13
_SMALL_LAYER_NORM = 1 << 11


def _supports_batch_norm(data: Spec, *rest: Spec, axis: int, **_: Any) -> bool:
    rank = len(data.shape)
    return 2 <= rank <= 5 and axis % rank == 1 and is_supported(data)


def _supports_softmax(
    *specs: Spec, temperature: float | None, use_length: bool | None, **_: Any
) -> bool:
    data = specs[0]
    return (
        not use_length
        and temperature in (None, 1)
        and data.size >= _SMALL_SOFTMAX
        and is_supported(data)
    )


def _supports_softmax_backward(grad: Spec, out: Spec, *, factor: float, **_: Any) -> bool:
    return grad.size >= _SMALL_SOFTMAX_BACKWARD and factor == 1 and is_supported(grad, out)


def _supports_layer_norm(*specs: Spec, axis: int, **_: Any) -> bool:
    rank = len(specs[0].shape)
    large = specs[0].size >= _SMALL_LAYER_NORM
    # Gradient and data come first; parameters and statistics share a dtype.
    rows = [spec for spec in specs if spec.shape == specs[0].shape and rank > 1]
    others = [spec for spec in specs if spec.shape != specs[0].shape or rank == 1]
    return large and axis % rank == rank - 1 and is_supported(*rows) and is_supported(*others)


# Operator, name of the kernel, predicate, and plan.
KERNELS = planned(
    (BATCH_NORM, "batch_norm", _supports_batch_norm, batch_norm),
    (BATCH_NORM_BACKWARD, "batch_norm_backward", _supports_batch_norm, batch_norm_backward),
    (BATCH_NORM_APPLY, "batch_norm_apply", _supports_batch_norm, batch_norm_apply),
    (BATCH_NORM_RELU, "batch_norm_relu", _supports_batch_norm, batch_norm, (UINT8,)),
    (
        BATCH_NORM_RELU_BACKWARD,
        "batch_norm_relu_backward",
        _supports_batch_norm,
        batch_norm_backward,
    ),
    (SOFTMAX, "softmax", _supports_softmax, softmax),
    (LOG_SOFTMAX, "log_softmax", _supports_softmax, log_softmax),
    (SOFTMAX_BACKWARD, "softmax_backward", _supports_softmax_backward, softmax_backward),
    (LAYER_NORM, "layer_norm", _supports_layer_norm, layer_norm),
    (LAYER_NORM_BACKWARD, "layer_norm_backward", _supports_layer_norm, layer_norm_backward),
)
