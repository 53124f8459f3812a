"""SyncBatchNorm: batch normalization of channels, with the variance as an output."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, text
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD, batch_statistics, move
from gluonish.ops.precision import accumulator
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.unary import RSQRT

__all__ = ["SYNC_BATCH_NORM"]

_INPUTS = ("data", "gamma", "beta", "moving_mean", "moving_var")


def _infer(data: Spec, *parameters: Spec, **_: object) -> tuple[Spec, Spec, Spec]:
    name = "_contrib_SyncBatchNorm"
    if not is_floating(data.dtype) or len(data.shape) < 2:
        raise OperatorError(f"{name}: expected floating data (N, C, ...), got {data}")
    statistic = Spec(data.shape[1:2], accumulator(data.dtype))
    for word, spec in zip(_INPUTS[1:], parameters, strict=True):
        if spec != statistic:
            raise OperatorError(f"{name}: expected {word} {statistic} for {data}, got {spec}")
    return data, statistic, statistic


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
    momentum: float,
    fix_gamma: bool,
    use_global_stats: bool,
    train: bool,
    **_: object,
) -> None:
    out, mean, variance = outputs
    if train and not use_global_stats:
        mean[...], variance[...] = batch_statistics(xp, data, 1)
        if data.size:
            move(moving_mean, mean, momentum)
            move(moving_var, variance, momentum)
    else:
        mean[...], variance[...] = moving_mean, moving_var
    spare = xp.empty_like(mean), xp.empty_like(mean)
    attrs = {"eps": eps, "momentum": momentum, "fix_gamma": fix_gamma, "axis": 1}
    arrays = (data, gamma, beta, mean, variance)
    BATCH_NORM.kernel(xp, (out, *spare), *arrays, use_global_stats=True, train=False, **attrs)


def _gradient(g: tuple[Any, ...], *values: V, train: bool = True, **attrs: Any) -> Any:
    if g[0] is None:
        return (None,) * 5
    data, gamma = values[:2]
    mean, variance = values[6:]
    plain = {
        "eps": attrs["eps"],
        "fix_gamma": attrs["fix_gamma"],
        "use_global_stats": attrs["use_global_stats"] or not train,
        "axis": 1,
    }
    inverse_std = RSQRT(variance + attrs["eps"])
    found = apply(BATCH_NORM_BACKWARD, (g[0], data, gamma, mean, inverse_std), plain)
    return (*found, None, None)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    if BATCH_NORM.complete is not None:
        BATCH_NORM.complete(inputs, outputs, {**attrs, "axis": 1})


def _mutates(attrs: Attrs) -> tuple[int, ...]:
    reads_only = "train" in attrs and (not attrs["train"] or attrs["use_global_stats"])
    return () if reads_only else (3, 4)


SYNC_BATCH_NORM = register(
    Operator(
        "_contrib_SyncBatchNorm",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "(data - mean) / sqrt(variance + eps) * gamma + beta, for each index of axis 1.\n\n"
            "Shapes: data (N, C, ...), the others (C,), float32 if data has 16 bits. In\n"
            "training the statistics are those of data, and the moving ones become momentum\n"
            "times themselves plus (1 - momentum) times these; else, and with\n"
            "use_global_stats, they are the moving ones. fix_gamma takes gamma as 1.\n"
            "output_mean_var also returns mean and variance. Statistics are not shared\n"
            "between devices: each call has those of its own data, whatever ndev and key say."
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
        mutates=_mutates,
        complete=_complete,
        gradient_uses_output=True,
        train_dependent=True,
        heavy=True,
    )
)
