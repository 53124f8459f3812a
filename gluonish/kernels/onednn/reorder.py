"""Copies between layouts and dtypes: transpose, make contiguous, cast between float32 and
bfloat16."""

from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import signature
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.ops.kernel import Array

__all__ = ["reorder", "supports_reorder"]


def supports_reorder(out: Array, data: Array) -> bool:
    """Whether `reorder` takes these arrays.

    Args:
        out: Any shape of 1 to 12 axes.
        data: The shape of ``out``.

    Returns:
        True for supported dtypes (they may differ) and layouts that can be described.
    """
    same_shape = out.shape == data.shape and 1 <= out.ndim <= 12
    return same_shape and supported(out) and supported(data)


def reorder(out: Array, data: Array) -> None:
    """Copy ``data`` into ``out``, element by element; arguments as in `supports_reorder`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    key = ("reorder", signature(out), signature(data))
    plans.get(key, _plan, out, data).run(out, data)


def _plan(engine: Engine, out: Array, data: Array) -> Plan:
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    builder.reorder(builder.operand(engine.describe(data)), target)
    return builder.build()
