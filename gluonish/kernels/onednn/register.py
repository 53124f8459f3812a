"""oneDNN's kernels on the operators that they serve: importing this module hangs them on.

The library is loaded when a call or a plan first asks for a kernel, as ``MXNET_MKLDNN_ENABLED``,
``MXNET_LIBRARY_PATH`` and ``MXNET_MKLDNN_CACHE_NUM`` then say. Predicates see specs only; what the
library refuses in spite of them, or arrays laid out in a way it does not know, go to the reference
kernel, and `refusals` counts them.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import (
    MXNET_LIBRARY_PATH,
    MXNET_MKLDNN_CACHE_NUM,
    MXNET_MKLDNN_ENABLED,
    LoadEnvironment,
)
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels import onednn
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.onednn.plan import Bound
from gluonish.ops.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD
from gluonish.ops.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
)
from gluonish.ops.dense import FULLY_CONNECTED
from gluonish.ops.matmul import DOT
from gluonish.ops.pooling import POOLING, POOLING_BACKWARD
from gluonish.ops.registry import Attrs, FastKernel, Operator

__all__ = ["enabled", "hang", "refusals", "serve"]

_DTYPES = (FLOAT32, BFLOAT16)
# Multiplications below which NumPy's product is faster than the call into the library.
_SMALL_PRODUCT = 96**3
# How often a thread of libgomp looks for work before it sleeps. Its default is ten times as much,
# with which threads spin against each other on a busy machine: three processes beside it on two
# cores, the demo's small steps took 1.5 times as long (medians of three runs each).
_SPIN_COUNT = "30000"

_LOG = logging.getLogger("gluonish")

_lock = threading.Lock()  # guards loading and the counts
_loaded: list[bool] = []
_refusals: Counter[str] = Counter()


def enabled() -> bool:
    """Whether oneDNN is switched on and there; loads it at the first call."""
    if not MXNET_MKLDNN_ENABLED.value:
        return False
    if not _loaded:
        with _lock:
            if not _loaded:
                path = MXNET_LIBRARY_PATH.value or None
                with LoadEnvironment("OMP_WAIT_POLICY", GOMP_SPINCOUNT=_SPIN_COUNT):
                    found = onednn.load(path, cache_capacity=MXNET_MKLDNN_CACHE_NUM.value)
                _loaded.append(found.backend is not None)
    return _loaded[0]


def _plain(*specs: Spec) -> bool:
    """Whether all arrays have one dtype that the library computes in, and elements."""
    dtype = specs[0].dtype
    return dtype in _DTYPES and all(s.dtype == dtype and 0 not in s.shape for s in specs)


def _require(name: str, known: bool) -> None:
    if not known:
        raise RefusedError(f"{name}: expected arrays that oneDNN can address, got others")


def _window(attrs: dict[str, Any]) -> dict[str, Any]:
    return {name: attrs[name] for name in ("kernel", "stride", "dilate", "pad", "num_group")}


def _takes_convolution(*specs: Spec, **attrs: Any) -> bool:
    return _plain(*specs) and attrs["layout"] in (None, "NCW", "NCHW", "NCDHW")


def _convolution(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    window = _window(attrs)
    _require("convolution", onednn.supports_convolution(out, data, weight, bias, **window))
    onednn.convolution(out, data, weight, bias, **window)


def _convolution_backward_data(
    xp: ModuleType, out: Any, grad: Any, weight: Any, **attrs: Any
) -> None:
    window = _window(attrs)
    _require("convolution", onednn.supports_convolution(grad, out, weight, **window))
    onednn.convolution_backward_data(out, grad, weight, **window)


def _convolution_backward_weight(
    xp: ModuleType, out: Any, grad: Any, data: Any, **attrs: Any
) -> None:
    window = _window(attrs)
    _require("convolution", onednn.supports_convolution(grad, data, out, **window))
    onednn.convolution_backward_weight(out, grad, data, **window)


_POOLING = (
    "kernel",
    "stride",
    "pad",
    "pool_type",
    "pooling_convention",
    "count_include_pad",
    "global_pool",
)


def _takes_pooling(*specs: Spec, **attrs: Any) -> bool:
    return (
        _plain(*specs)
        and attrs["layout"] in (None, "NCW", "NCHW", "NCDHW")
        and attrs["pool_type"] in ("max", "avg")
        and attrs["pooling_convention"] in ("valid", "full")
    )


def _pooling(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    window = {name: attrs[name] for name in _POOLING}
    _require("pooling", onednn.supports_pooling(out, data, **window))
    onednn.pooling(out, data, **window)


def _pooling_backward(
    xp: ModuleType, out: Any, grad: Any, data: Any, pooled: Any, **attrs: Any
) -> None:
    window = {name: attrs[name] for name in _POOLING}
    _require("pooling", onednn.supports_pooling(grad, data, **window))
    onednn.pooling_backward(out, grad, data, **window)


def _takes_dense(data: Spec, weight: Spec, *bias: Spec, **attrs: Any) -> bool:
    rows = data.size // max(1, weight.shape[1])
    return _plain(data, weight, *bias) and rows * weight.size >= _SMALL_PRODUCT


def _dense(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    rows = data.reshape(-1, weight.shape[1])
    target = out.reshape(-1, weight.shape[0])
    _require("dense", onednn.supports_fully_connected(target, rows, weight, bias))
    onednn.fully_connected(target, rows, weight, bias)


def _takes_dot(lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, **_: Any) -> bool:
    if not (_plain(lhs, rhs) and len(lhs.shape) == len(rhs.shape) == 2):
        return False
    return lhs.size * rhs.shape[0 if transpose_b else 1] >= _SMALL_PRODUCT


def _dot(
    xp: ModuleType, out: Any, lhs: Any, rhs: Any, *, transpose_a: bool, transpose_b: bool, **_: Any
) -> None:
    flips = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    _require("dot", onednn.supports_matmul(out, lhs, rhs, **flips))
    onednn.matmul(out, lhs, rhs, **flips)


def _takes_batch_norm(data: Spec, *rest: Spec, axis: int, **_: Any) -> bool:
    rank = len(data.shape)
    return 2 <= rank <= 5 and axis % rank == 1 and data.dtype in _DTYPES and 0 not in data.shape


def _batch_norm(
    xp: ModuleType,
    outputs: Any,
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    *,
    eps: float,
    momentum: float,
    fix_gamma: bool,
    use_global_stats: bool,
    train: bool,
    **_: Any,
) -> None:
    out, mean, inverse_std = outputs
    scale = np.ones_like(gamma) if fix_gamma else gamma
    _require(
        "batch_norm",
        onednn.supports_batch_norm((out, data), (scale, beta, moving_mean, moving_var)),
    )
    if not train or use_global_stats:
        onednn.batch_norm_inference(out, data, scale, beta, moving_mean, moving_var, eps=eps)
        mean[...] = moving_mean
        np.divide(1, np.sqrt(moving_var + np.float32(eps)), out=inverse_std)
        return
    variance = np.empty_like(mean)
    onednn.batch_norm_train(out, mean, variance, data, scale, beta, eps=eps)
    keep, take = np.float32(momentum), np.float32(1 - momentum)
    moving_mean *= keep
    moving_mean += take * mean
    moving_var *= keep
    moving_var += take * variance
    np.divide(1, np.sqrt(variance + np.float32(eps)), out=inverse_std)


def _batch_norm_backward(
    xp: ModuleType,
    outputs: Any,
    grad: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    inverse_std: Any,
    *,
    eps: float,
    fix_gamma: bool,
    use_global_stats: bool,
    **_: Any,
) -> None:
    dx, dgamma, dbeta = outputs
    scale = np.ones_like(gamma) if fix_gamma else gamma
    variance = np.maximum(1 / np.square(inverse_std) - np.float32(eps), 0)
    channels = (scale, mean, variance, dgamma, dbeta)
    _require("batch_norm", onednn.supports_batch_norm((dx, grad, data), channels))
    onednn.batch_norm_backward(
        *(dx, dgamma, dbeta, grad, data, scale, mean, variance),
        eps=eps,
        use_global_stats=use_global_stats,
    )
    if fix_gamma:
        dgamma.fill(0)


def refusals() -> dict[str, int]:
    """Return how many calls of each kernel went to the reference after all, by its name."""
    with _lock:
        return dict(_refusals)


def _with_fallback(op: Operator, name: str, kernel: Callable[..., None]) -> Callable[..., None]:
    """Return a kernel that hands what the library refuses to the reference kernel, and counts it.

    What fails in the library is an error like any other.
    """
    reference = op.kernel

    def run(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        try:
            kernel(xp, out, *inputs, **attrs)
        except RefusedError as error:
            with _lock:
                _refusals[name] += 1
            _LOG.debug("%s goes to the reference kernel: %s", op.name, error)
            reference(xp, out, *inputs, **attrs)

    return run


def serve(
    op: Operator,
    name: str,
    takes: Callable[..., bool],
    plan: Callable[[Sequence[Any], Sequence[Any], Attrs], Bound],
) -> None:
    """Hang a kernel that is one plan on an operator, in front of those that are there.

    Args:
        op: The operator.
        name: The kernel's, without the library.
        takes: Called with the input specs and the attributes; True if the kernel can run them.
        plan: Called with the outputs, the inputs and the attributes; finds or builds the plan.
            It raises RefusedError for arrays that the library cannot take.
    """

    def kernel(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        outputs = (out,) if op.single else out
        arrays = (*outputs, *inputs)
        bound = plan(outputs, inputs, attrs)
        bound.plan.run(*[arrays[i] for i in bound.operands])

    fast = FastKernel(f"onednn.{name}", takes, _with_fallback(op, name, kernel), enabled, plan)
    op.fast_kernels = (fast, *op.fast_kernels)


_KERNELS: tuple[tuple[Operator, str, Callable[..., bool], Callable[..., None]], ...] = (
    (CONVOLUTION, "convolution", _takes_convolution, _convolution),
    (
        CONVOLUTION_BACKWARD_DATA,
        "convolution_backward_data",
        _takes_convolution,
        _convolution_backward_data,
    ),
    (
        CONVOLUTION_BACKWARD_WEIGHT,
        "convolution_backward_weight",
        _takes_convolution,
        _convolution_backward_weight,
    ),
    (POOLING, "pooling", _takes_pooling, _pooling),
    (POOLING_BACKWARD, "pooling_backward", _takes_pooling, _pooling_backward),
    (FULLY_CONNECTED, "fully_connected", _takes_dense, _dense),
    (DOT, "matmul", _takes_dot, _dot),
    (BATCH_NORM, "batch_norm", _takes_batch_norm, _batch_norm),
    (BATCH_NORM_BACKWARD, "batch_norm_backward", _takes_batch_norm, _batch_norm_backward),
)


def hang() -> None:
    """Hang the kernels on their operators, in front of those that are there."""
    for op, name, takes, kernel in _KERNELS:
        fast = FastKernel(f"onednn.{name}", takes, _with_fallback(op, name, kernel), enabled)
        op.fast_kernels = (fast, *op.fast_kernels)


hang()
