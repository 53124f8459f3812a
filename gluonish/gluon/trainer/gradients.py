"""Gradients of a step: fresh or stale, summed over devices, clipped."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import compress
from typing import Protocol

import numpy as np

import gluonish.ndarray as nd
from gluonish.autograd import pause
from gluonish.core.errors import ArgumentError, ParameterError
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.places import described
from gluonish.ndarray import NDArray, zeros


class StaleGradientError(ParameterError, UserWarning):
    """A parameter got no new gradient since the last step; MXNet raises a UserWarning."""


class LossScaler(Protocol):
    """What a Trainer asks of a loss scaler, which `contrib.amp` attaches to it."""

    def has_overflow(
        self, params: Sequence[Parameter], any_of: Callable[[bool], bool] = bool
    ) -> bool:
        """Whether a gradient is infinite or no number, so that this step has to be skipped.

        Args:
            params: Parameters with new gradients.
            any_of: Returns whether something holds in any process, by whether it does in this.
        """
        raise NotImplementedError


def stale_error(stale: NDArray, params: Sequence[Parameter]) -> StaleGradientError:
    """Return the error of a parameter that the last backward pass left out.

    Args:
        stale: Its array on the device where the gradient is old.
        params: All parameters of the trainer.
    """
    param = next(p for p in params if any(x is stale for x in p._held()))
    return StaleGradientError(
        f"Trainer: expected backward to have written the gradient of {described(param)} on "
        f"{stale.context} since the last step, got none; call backward before step, and see that "
        "the loss of this device depends on it. If it need not, call step with "
        "ignore_stale_grad=True, or set its grad_req to 'null' to leave it as it is"
    )


def new_gradients(param: Parameter, elsewhere: bool = False) -> list[NDArray] | None:
    """Return gradients with zeros for devices whose gradient is not new; None if all are.

    Args:
        param: The parameter.
        elsewhere: Whether its gradient is new in another process; if not there either, the old ones
            of all devices are meant.
    """
    fresh = [data._fresh_grad for data in param._held()]
    if all(fresh) or not (elsewhere or any(fresh)):
        return None
    return [
        gradient if is_fresh else _zeros_like(gradient)
        for gradient, is_fresh in zip(param.list_grad(), fresh, strict=True)
    ]


def clear_old(param: Parameter, elsewhere: bool = False) -> None:
    """Set gradients that are not new to 0, as they count, where one elsewhere or here is new."""
    new = new_gradients(param, elsewhere)
    if new is not None:
        for gradient, value in zip(param.list_grad(), new, strict=True):
            if value is not gradient:
                gradient[:] = value


def clear_all_old(members: Iterable[tuple[int, Parameter]], elsewhere: Collection[int]) -> None:
    """Do as `clear_old` for several parameters.

    Args:
        members: Positions and parameters.
        elsewhere: Positions of those whose gradient is new in another process only.
    """
    for i, param in members:
        clear_old(param, i in elsewhere)


def only_new(
    indices: Sequence[int], gradients: Sequence[NDArray], weights: Sequence[NDArray]
) -> tuple[Sequence[int], Sequence[NDArray], Sequence[NDArray]]:
    """Return those of one device's weights whose gradients are new on it.

    Args:
        indices: Positions of parameters.
        gradients: Their gradients on the device.
        weights: Their weights on the device.
    """
    fresh = [weight._fresh_grad for weight in weights]
    if all(fresh):
        return indices, gradients, weights
    return (
        tuple(compress(indices, fresh)),
        tuple(compress(gradients, fresh)),
        tuple(compress(weights, fresh)),
    )


def _zeros_like(gradient: NDArray) -> NDArray:
    return zeros(gradient.shape, gradient.context, gradient.dtype, gradient.stype)


def groups(
    items: Sequence[tuple[int, Parameter]], size: int
) -> Iterator[Sequence[tuple[int, Parameter]]]:
    """Yield parts of at most ``size`` parameters, in order."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def clip_global_norm(
    arrays: Sequence[NDArray], max_norm: float, check_isfinite: bool = True
) -> np.float32 | NDArray:
    """Scale arrays in place so that their joint 2-norm is at most ``max_norm``.

    To clip the gradients of a Trainer, call it between `Trainer.allreduce_grads` and
    `Trainer.update`, once for the gradients of each device. At that point they are sums over all
    devices and processes.

    Args:
        arrays: The arrays, on any devices.
        max_norm: Largest norm allowed, above 0.
        check_isfinite: Whether to wait for the norm and warn if it is not finite; if not, the call
            returns without waiting.

    Returns:
        The norm before scaling: a ``numpy.float32``, or without ``check_isfinite`` an array (1,).

    Raises:
        ArgumentError: ``arrays`` is empty.

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
        # The small number is MXNet's: it keeps a norm of 0 from dividing.
        scale = nd.minimum(max_norm / (norm + 1e-8), 1.0)
        with np.errstate(all="ignore"):  # of a norm that is not finite, the one warning is enough
            for x in arrays:
                x *= scale.as_in_context(x.context).astype(x.dtype)
    if not check_isfinite:
        return norm
    found: np.float32 = norm.asscalar()
    return found
