"""SyncBatchNorm: batch normalization with statistics over all devices."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, text
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.elementwise.unary import RSQRT
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.normalization.batch_norm import (
    BATCH_NORM,
    BATCH_NORM_BACKWARD,
    chosen_statistics,
    infer_normalized,
    mutates_moving_at,
)
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.across_ranks import ranks_sum

_INPUTS = ("data", "gamma", "beta", "moving_mean", "moving_var")


def _infer(data: Spec, *parameters: Spec, **_: object) -> tuple[Spec, Spec, Spec]:
    name = "_contrib_SyncBatchNorm"
    if len(data.shape) < 2:
        raise OperatorError(f"{name}: expected data (N, C, ...), got {data}")
    return infer_normalized(name, data, *parameters, axis=1)


def _synchronizes(attrs: Attrs) -> bool:
    """Return whether training statistics include other devices or processes."""
    if attrs["use_global_stats"]:
        return False
    return attrs["ndev"] > 1 or ranks_sum() is not None


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    *,
    eps: float,
    fix_gamma: bool,
    **attrs: Any,
) -> None:
    if attrs["train"] and _synchronizes(attrs):
        raise OperatorError(
            "_contrib_SyncBatchNorm: expected an eager call or a hybridized block in training with "
            f"ndev {attrs['ndev']} or several processes, got a planned graph; create the Trainer "
            "or the dist_sync store before the first call of the network"
        )
    out, mean, variance = outputs
    found = chosen_statistics(xp, data, moving_mean, moving_var, attrs)
    mean[...], variance[...] = found
    scratch = xp.empty_like(mean), xp.empty_like(mean)
    norm_attrs = {"eps": eps, "fix_gamma": fix_gamma, "axis": 1}
    arrays = (data, gamma, beta, mean, variance)
    BATCH_NORM.kernel(
        xp, (out, *scratch), *arrays, use_global_stats=True, train=False, **norm_attrs
    )


def _gradient(g: tuple[Any, ...], *values: V, train: bool = True, **attrs: Any) -> Any:
    if g[0] is None:
        return (None,) * 5
    data, gamma = values[:2]
    mean, variance = values[6:]
    norm_attrs = {
        "eps": attrs["eps"],
        "fix_gamma": attrs["fix_gamma"],
        "use_global_stats": attrs["use_global_stats"] or not train,
        "axis": 1,
    }
    inverse_std = RSQRT(variance + attrs["eps"])
    found = apply(BATCH_NORM_BACKWARD, (g[0], data, gamma, mean, inverse_std), norm_attrs)
    return (*found, None, None)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    if BATCH_NORM.complete is not None:
        BATCH_NORM.complete(inputs, outputs, {**attrs, "axis": 1})


SYNC_BATCH_NORM = register(
    Operator(
        "_contrib_SyncBatchNorm",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Compute (data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for\n"
            "each channel over all devices.\n\n"
            "In training, data provides the statistics, and each moving statistic becomes\n"
            "momentum * moving + (1 - momentum) * batch. Otherwise, and with use_global_stats,\n"
            "the moving statistics are used. fix_gamma treats gamma as 1. output_mean_var also\n"
            "returns mean and variance. In training with ndev above 1, the statistics cover the\n"
            "data of all ndev calls with the same key: call it once for each device, from one\n"
            "thread or several, before any result is read. With a dist_sync store they cover\n"
            "all processes, which must make the same calls.\n\n"
            "Shapes: data (N, C, ...), the others (C,), in float32 if data is a 16-bit float,\n"
            "output that of data."
        ),
        inputs=_INPUTS,
        schema=Schema(
            eps=number(0.001),
            momentum=number(0.9),
            fix_gamma=boolean(True),
            use_global_stats=boolean(False),
            output_mean_var=boolean(False),
            ndev=integer(1, low=1),
            key=text(),
        ),
        outputs=3,
        visible=lambda attrs: 3 if attrs["output_mean_var"] else 1,
        output_names=("output", "mean", "var"),
        execution=Execution(
            mutates=mutates_moving_at(3, 4),
            train_dependent=True,
            heavy=True,
            across_devices=_synchronizes,
        ),
        shapes=ShapeFacts(complete=_complete),
    )
)
