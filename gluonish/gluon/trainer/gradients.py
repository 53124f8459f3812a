"""Gradients of a training step: new or stale, and clipping."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import compress
from typing import Protocol

import numpy as np

import gluonish.ndarray as nd
from gluonish.autograd import pause
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.paths import described
from gluonish.ndarray import NDArray, zeros


class StaleGradientError(ParameterError, UserWarning):
    """Raised if a parameter has no new gradient since the last step; a UserWarning in MXNet."""


class DeviceSteps(Protocol):
    """Steps that the device may skip."""

    def end(self) -> None:
        """End the step that was begun."""
        raise NotImplementedError


class LossScaler(Protocol):
    """The interface of a loss scaler, which `contrib.amp` attaches to a Trainer."""

    def has_overflow(
        self, params: Sequence[Parameter], any_of: Callable[[bool], bool] = bool
    ) -> bool:
        """Whether a gradient is infinite or NaN, so that the step must be skipped.

        Args:
            params: Parameters with new gradients.
            any_of: Reduces a flag by logical or over all processes.
        """
        raise NotImplementedError


def stale_error(stale: Sequence[NDArray], params: Sequence[Parameter]) -> StaleGradientError:
    """Return the error for weights on devices with a stale gradient; there is at least one."""
    first = stale[0]
    names = [described(p) for p in params if any(x is y for x in p._list_arrays() for y in stale)]
    more = ""
    if len(names) > 1:
        several = f" and {len(names) - 6} more" if len(names) > 6 else ""
        more = f", nor of {', '.join(names[1:6])}{several}"
        if len(names) == sum(p.grad_req != "null" for p in params):
            more = ", nor of any other parameter"
    return StaleGradientError(
        f"Trainer: expected backward to have written the gradient of {names[0]} on "
        f"{first.context} since the last step, got none{more}; call backward before step, and "
        "check that the loss on this device depends on it: detach() and asnumpy() cut the graph. "
        "If it should not, call step with ignore_stale_grad=True, or set its grad_req to 'null' to "
        "freeze it"
    )


def new_gradients(param: Parameter, remote: bool = False) -> list[NDArray] | None:
    """Return the gradients with stale ones replaced by zeros; None if none is replaced.

    None is replaced if all are new, or if all are stale in every process (``remote`` is False).
    """
    updated = [data._fresh_grad for data in param._list_arrays()]
    if all(updated) or not (remote or any(updated)):
        return None
    return [
        gradient if is_updated else _zeros_like(gradient)
        for gradient, is_updated in zip(param.list_grad(), updated, strict=True)
    ]


def zero_stale(param: Parameter, remote: bool = False) -> None:
    """Set stale gradients to 0 if the gradient is new on another device or process."""
    new = new_gradients(param, remote)
    if new is not None:
        for gradient, value in zip(param.list_grad(), new, strict=True):
            if value is not gradient:
                gradient[:] = value


def zero_all_stale(members: Iterable[tuple[int, Parameter]], remote: Collection[int]) -> None:
    """Call `zero_stale` for several parameters.

    Args:
        members: Pairs of position and parameter.
        remote: Positions of parameters whose gradient is new in another process only.
    """
    for i, param in members:
        zero_stale(param, i in remote)


def only_updated(
    indices: Sequence[int], gradients: Sequence[NDArray], weights: Sequence[NDArray]
) -> tuple[Sequence[int], Sequence[NDArray], Sequence[NDArray]]:
    """Select the indices, gradients and weights on one device whose gradients are new."""
    updated = [weight._fresh_grad for weight in weights]
    if all(updated):
        return indices, gradients, weights
    return (
        tuple(compress(indices, updated)),
        tuple(compress(gradients, updated)),
        tuple(compress(weights, updated)),
    )


def _zeros_like(gradient: NDArray) -> NDArray:
    return zeros(gradient.shape, gradient.context, gradient.dtype, gradient.stype)


def groups(
    items: Sequence[tuple[int, Parameter]], size: int
) -> Iterator[Sequence[tuple[int, Parameter]]]:
    """Yield chunks of at most ``size`` parameters, in order."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def clip_global_norm(
    arrays: Sequence[NDArray], max_norm: float, check_isfinite: bool = True
) -> np.float32 | float | NDArray:
    """Scale arrays in place so that their joint 2-norm is at most ``max_norm``.

    To clip the gradients of a Trainer, call this between `Trainer.allreduce_grads` and
    `Trainer.update`, once for the gradients on each device. At that point they are sums over all
    devices and processes.

    Args:
        arrays: The arrays, on any devices.
        max_norm: Largest norm allowed, above 0.
        check_isfinite: Whether to wait for the norm and warn if it is not finite; if False, the
            call returns without waiting.

    Returns:
        The norm before scaling: a ``numpy.float32``, a ``float`` by the rules of MXNet 2.0, or
        without ``check_isfinite`` an array (1,).

    Raises:
        ArgumentError: ``arrays`` is empty.
        ArgumentTypeError: An element is no array.

    Example:
        >>> import gluonish as mx
        >>> x = mx.nd.array([3, 4])
        >>> float(mx.gluon.utils.clip_global_norm([x], max_norm=1.0))
        5.0
        >>> x.asnumpy().round(2)
        array([0.6, 0.8], dtype=float32)
    """
    if not arrays:
        raise ArgumentError("clip_global_norm: expected at least one array, got none")
    for x in arrays:
        if not isinstance(x, NDArray):
            raise ArgumentTypeError(
                f"clip_global_norm: expected arrays, got {type(x).__name__}; pass gradients: "
                "[p.grad() for p in net.collect_params().values()]"
            )
    ctx = arrays[0].context
    with pause():
        squares = [(x.astype("float32") ** 2).sum().as_in_context(ctx) for x in arrays]
        total = squares[0]
        for square in squares[1:]:
            total = total + square
        norm: NDArray = nd.sqrt(total)
        if check_isfinite and not math.isfinite(norm.asscalar()):
            warnings.warn(
                f"clip_global_norm: expected a finite norm, got {norm.asscalar()}; the arrays will "
                "hold values that are not finite",
                UserWarning,
                stacklevel=2,
            )
        # MXNet's epsilon, against division by a norm of 0.
        scale = nd.minimum(max_norm / (norm + 1e-8), 1.0)
        with np.errstate(all="ignore"):  # the warning above is enough
            for x in arrays:
                x *= scale.as_in_context(x.context).astype(x.dtype)
    if not check_isfinite:
        return norm
    found: np.float32 = norm.asscalar()
    return float(found) if follows_mxnet2() else found
