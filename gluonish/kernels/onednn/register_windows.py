"""oneDNN's pooling, LRN, resampling and deconvolution."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.onednn.binding import channels_last, is_supported
from gluonish.kernels.onednn.deconvolution import deconvolution
from gluonish.kernels.onednn.lrn import has_exact_backward, lrn, lrn_backward
from gluonish.kernels.onednn.pooling import nearest, nearest_backward, pooling, pooling_backward
from gluonish.kernels.onednn.register import planned
from gluonish.ops.kernel import Array, Bound, RefusedError
from gluonish.ops.nn.deconvolution import DECONVOLUTION
from gluonish.ops.nn.pooling import POOLING, POOLING_BACKWARD
from gluonish.ops.nn.upsampling import UPSAMPLING, UPSAMPLING_BACKWARD
from gluonish.ops.normalization.lrn import LRN, LRN_BACKWARD
from gluonish.ops.registry import Attrs

# Elements below which NumPy is as fast as the call into the library, one thread each.
_SMALL_LRN = 1 << 12
_SMALL_RESAMPLING = 1 << 14


def _supports_pooling(*specs: Spec, **attrs: Any) -> bool:
    return (
        is_supported(*specs)
        and attrs["pool_type"] in ("max", "avg")
        and attrs["pooling_convention"] in ("valid", "full")
    )


def _supports_lrn(*specs: Spec, nsize: int, **_: Any) -> bool:
    data = specs[0]
    return nsize >= 3 and len(data.shape) == 4 and data.size >= _SMALL_LRN and is_supported(*specs)


def _supports_lrn_backward(grad: Spec, data: Spec, *, nsize: int, **attrs: Any) -> bool:
    return _supports_lrn(grad, data, nsize=nsize, **attrs) and has_exact_backward(
        data.dtype, data.shape[1], nsize
    )


def _supports_deconvolution(*specs: Spec, **_: Any) -> bool:
    return is_supported(*specs)


def _supports_nearest(*specs: Spec, **attrs: Any) -> bool:
    return (
        attrs.get("sample_type", "nearest") == "nearest"
        and len(specs) == 1
        and specs[0].size >= _SMALL_RESAMPLING
        and is_supported(*specs)
    )


def _nearest(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    _require_channels_last(outputs, inputs)
    return nearest(outputs, inputs, attrs)


def _nearest_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    _require_channels_last(outputs, inputs)
    return nearest_backward(outputs, inputs, attrs)


def _require_channels_last(outputs: Sequence[Array], inputs: Sequence[Array]) -> None:
    """Reject contiguous arrays: NumPy is as fast for them, and much faster for the gradient."""
    if not all(map(channels_last, (*outputs, *inputs))):
        raise RefusedError("UpSampling: expected arrays with channels last, got another layout")


# Operator, name of the kernel, predicate, and plan.
KERNELS = planned(
    (POOLING, "pooling", _supports_pooling, pooling),
    (POOLING_BACKWARD, "pooling_backward", _supports_pooling, pooling_backward),
    (LRN, "lrn", _supports_lrn, lrn),
    (LRN_BACKWARD, "lrn_backward", _supports_lrn_backward, lrn_backward),
    (UPSAMPLING, "nearest", _supports_nearest, _nearest),
    (UPSAMPLING_BACKWARD, "nearest_backward", _supports_nearest, _nearest_backward),
    (DECONVOLUTION, "deconvolution", _supports_deconvolution, deconvolution),
)
