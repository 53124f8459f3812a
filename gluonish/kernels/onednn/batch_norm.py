"""Batch normalization over axis 1: training, inference and backward.

Data may be float32 or bfloat16; gamma, beta, the statistics and their gradients are float32 always.
"""

from typing import Any

import numpy as np

from gluonish.kernels.onednn.api import Argument, NormalizationFlag, PropagationKind
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Array, signature
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor

__all__ = [
    "batch_norm_backward",
    "batch_norm_inference",
    "batch_norm_train",
    "supports_batch_norm",
]

_AFFINE = NormalizationFlag.USE_SCALE | NormalizationFlag.USE_SHIFT
_FIXED_STATISTICS = _AFFINE | NormalizationFlag.USE_GLOBAL_STATS


def supports_batch_norm(arrays: tuple[Array, ...], channels: tuple[Array, ...]) -> bool:
    """Whether the batch norm kernels take these arrays.

    Args:
        arrays: Data, output and gradients of one shape (N, C, *spatial), whichever the kernel has.
        channels: gamma, beta, mean, variance and gradients of shape (C,), whichever the kernel has.

    Returns:
        True for 2 to 5 axes, one supported dtype in ``arrays``, contiguous float32 in ``channels``.
    """
    if not 2 <= arrays[0].ndim <= 5 or not supported(*arrays):
        return False
    return all(array.dtype == np.float32 and array.flags.c_contiguous for array in channels)


def batch_norm_train(
    out: Array, mean: Array, var: Array, data: Array, gamma: Array, beta: Array, *, eps: float
) -> None:
    """Fill ``out``, ``mean`` and ``var`` from ``data``.

    Args:
        out: (N, C, *spatial), to be filled.
        mean: (C,), to be filled.
        var: (C,), to be filled with the biased variance.
        data: (N, C, *spatial).
        gamma: (C,).
        beta: (C,).
        eps: Added to the variance.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    arrays = (out, mean, var, data, gamma, beta)
    plans = current().plans
    key = ("batch_norm_train", *map(signature, arrays), eps)
    plans.get(key, _plan_train, arrays, eps).run(*arrays)


def batch_norm_inference(
    out: Array, data: Array, gamma: Array, beta: Array, mean: Array, var: Array, *, eps: float
) -> None:
    """Fill ``out`` from ``data`` with the given statistics; shapes as in `batch_norm_train`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    arrays = (out, data, gamma, beta, mean, var)
    plans = current().plans
    key = ("batch_norm_inference", *map(signature, arrays), eps)
    plans.get(key, _plan_inference, arrays, eps).run(*arrays)


def batch_norm_backward(
    dx: Array,
    dgamma: Array,
    dbeta: Array,
    grad: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    var: Array,
    *,
    eps: float,
    use_global_stats: bool = False,
) -> None:
    """Fill the three gradients.

    Args:
        dx: (N, C, *spatial), to be filled.
        dgamma: (C,), to be filled.
        dbeta: (C,), to be filled.
        grad: Gradient of the output, (N, C, *spatial).
        data: (N, C, *spatial).
        gamma: (C,).
        mean: (C,), as `batch_norm_train` gave it.
        var: (C,), as `batch_norm_train` gave it.
        eps: Added to the variance.
        use_global_stats: The statistics are constants, not functions of the data.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    arrays = (dx, dgamma, dbeta, grad, data, gamma, mean, var)
    plans = current().plans
    key = ("batch_norm_backward", *map(signature, arrays), eps, use_global_stats)
    plans.get(key, _plan_backward, arrays, eps, use_global_stats).run(*arrays)


def _forward(
    engine: Engine, kind: PropagationKind, out: Array, data: Array, eps: float, flags: int
) -> PrimitiveDescriptor:
    source, target = engine.agreed(data, out)
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_batch_normalization_forward_primitive_desc_create",
        *(engine.handle, kind, source.handle, target.handle, eps, flags, engine.attributes),
    )


def _plan_train(engine: Engine, arrays: tuple[Array, ...], eps: float) -> Plan:
    out, data = arrays[0], arrays[3]
    kind = PropagationKind.FORWARD_TRAINING
    descriptor = _forward(engine, kind, out, data, eps, _AFFINE)
    writes = (Argument.DST, Argument.MEAN, Argument.VARIANCE)
    reads = (Argument.SRC, Argument.SCALE, Argument.SHIFT)
    return _plan(engine, descriptor, arrays, writes, reads)


def _plan_inference(engine: Engine, arrays: tuple[Array, ...], eps: float) -> Plan:
    out, data = arrays[:2]
    kind = PropagationKind.FORWARD_INFERENCE
    descriptor = _forward(engine, kind, out, data, eps, _FIXED_STATISTICS)
    affine = (Argument.SCALE, Argument.SHIFT)
    reads = (Argument.SRC, *affine, Argument.MEAN, Argument.VARIANCE)
    return _plan(engine, descriptor, arrays, (Argument.DST,), reads)


def _plan_backward(
    engine: Engine, arrays: tuple[Array, ...], eps: float, use_global_stats: bool
) -> Plan:
    dx, grad, data = arrays[0], arrays[3], arrays[4]
    flags = _FIXED_STATISTICS if use_global_stats else _AFFINE
    hint = _forward(engine, PropagationKind.FORWARD_TRAINING, grad, data, eps, flags)
    layouts = engine.agreed(dx, grad, data)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_batch_normalization_backward_primitive_desc_create",
        *(engine.handle, PropagationKind.BACKWARD, *(layout.handle for layout in layouts)),
        *(eps, flags, hint.handle, engine.attributes),
    )
    writes = (Argument.DIFF_SRC, Argument.DIFF_SCALE, Argument.DIFF_SHIFT)
    statistics = (Argument.MEAN, Argument.VARIANCE)
    reads = (Argument.DIFF_DST, Argument.SRC, Argument.SCALE, *statistics)
    return _plan(engine, descriptor, arrays, writes, reads)


def _plan(
    engine: Engine,
    descriptor: PrimitiveDescriptor,
    arrays: tuple[Array, ...],
    writes: tuple[Any, ...],
    reads: tuple[Any, ...],
) -> Plan:
    """One step; ``arrays`` are first those for ``writes``, then those for ``reads``."""
    builder = Builder(engine)
    slots = [builder.operand(engine.describe(array)) for array in arrays]
    filled = dict(zip(writes, slots, strict=False))
    taken = dict(zip(reads, slots[len(writes) :], strict=True))
    builder.step(descriptor, taken, filled)
    return builder.build()
