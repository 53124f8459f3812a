"""Mixed-precision training: casts globally or in a scope, and loss scaling."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.object_repr import default_repr
from gluonish.gluon.mixed_precision.loss_scaler import LossScaler, multiplied
from gluonish.gluon.mixed_precision.operator_lists import Conditional, policy_of
from gluonish.gluon.trainer import Trainer
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.autocasting import install
from gluonish.ndarray.value_checks import pause_values
from gluonish.ops.autocast import OFF, PolicyScope, set_everywhere, state
from gluonish.optimizer import Optimizer


def init(
    target_dtype: Any = "float16",
    target_precision_ops: Iterable[str] | None = None,
    conditional_fp32_ops: Iterable[Conditional] | None = None,
    fp32_ops: Iterable[str] | None = None,
    layout_optimization: bool = False,
) -> None:
    """Turn mixed precision on: operators cast their floating-point inputs according to the lists.

    This affects eager calls, Symbols composed and networks called from now on, in all threads.
    Parameters and their gradients stay float32; float64 arrays are not cast.

    Args:
        target_dtype: 16-bit dtype to compute in: ``"float16"`` or ``"bfloat16"``.
        target_precision_ops: Names of the operators that compute in ``target_dtype``; by default
            `list_lp16_ops`.
        conditional_fp32_ops: Tuples (operator, attribute, values): with these values the operator
            computes in float32; by default `list_conditional_fp32_ops`.
        fp32_ops: Names of the operators that compute in float32; by default `list_fp32_ops`.
        layout_optimization: Has no effect: layouts are always chosen automatically.

    Raises:
        ArgumentError: ``target_dtype`` is neither, or a name is not an operator or is in two lists.
        ArgumentTypeError: An argument is not a list.
    """
    policy = policy_of("init", target_dtype, target_precision_ops, conditional_fp32_ops, fp32_ops)
    logging.info("Using AMP")
    install()
    set_everywhere(policy)


def is_initialized() -> bool:
    """Whether `init` was called."""
    return state.policy is not None


class autocast(PolicyScope):  # a scope, called like a function as `mx.autograd.record` is
    """Scope in which this thread computes in mixed precision, eagerly and in hybridized networks.

    A hybridized network has separate graphs inside and outside the scope. Backward passes may run
    inside or outside; they compute in the dtypes of the forward pass.

    Args:
        target_dtype: ``"bfloat16"`` or ``"float16"``.
        enabled: False turns casts off in the scope, inside another scope or after `init`.
        target_precision_ops: As for `init`.
        conditional_fp32_ops: As for `init`.
        fp32_ops: As for `init`.

    Raises:
        ArgumentError: As for `init`.
        ArgumentTypeError: As for `init`.

    Example::

        with mx.autograd.record(), mx.contrib.amp.autocast("bfloat16"):
            loss = loss_function(net(x), y)
        loss.backward()
        trainer.step(len(x))
    """

    __repr__ = default_repr

    __slots__ = ()

    def __init__(
        self,
        target_dtype: Any = "bfloat16",
        enabled: bool = True,
        target_precision_ops: Iterable[str] | None = None,
        conditional_fp32_ops: Iterable[Conditional] | None = None,
        fp32_ops: Iterable[str] | None = None,
    ) -> None:
        lists = (target_precision_ops, conditional_fp32_ops, fp32_ops)
        policy = policy_of("autocast", target_dtype, *lists)
        super().__init__(policy if enabled else OFF)

    def __enter__(self) -> "autocast":
        install()
        super().__enter__()
        return self


def _trainer(what: str, trainer: Any) -> Trainer:
    if isinstance(trainer, Trainer):
        return trainer
    if isinstance(trainer, Optimizer):
        raise ArgumentTypeError(
            f"{what}: expected a gluon Trainer, got an optimizer, {type(trainer).__name__}; create "
            "a Trainer with it"
        )
    raise ArgumentTypeError(f"{what}: expected a gluon Trainer, got {type(trainer).__name__}")


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Add a dynamic loss scale to a Trainer.

    A step whose new gradients overflow is skipped, and the scale halves; after 2000 steps without
    overflow it doubles. float16 needs it; bfloat16, with the range of float32, does not.

    Args:
        optimizer_or_trainer: The Trainer.

    Raises:
        ArgumentTypeError: ``optimizer_or_trainer`` is not a Trainer.
    """
    trainer = _trainer("init_trainer", optimizer_or_trainer)
    if trainer._amp_loss_scaler is None:  # else `_scale` may include a step's loss scale
        trainer._amp_original_scale = trainer._scale
    trainer._scale = trainer._amp_original_scale
    trainer._amp_loss_scaler = LossScaler()


@contextmanager
def scale_loss(
    loss: NDArray | Sequence[NDArray], optimizer_or_trainer: Any
) -> Iterator[NDArray | list[NDArray]]:
    """Scope that yields the loss multiplied by the loss scale, for ``backward``.

    The trainer's next step divides gradients by the scale. Call it inside ``autograd.record()``::

        with mx.autograd.record():
            loss = loss_function(net(x), y)
            with amp.scale_loss(loss, trainer) as scaled:
                mx.autograd.backward(scaled)
        trainer.step(len(x))

    Args:
        loss: The loss, or a list of losses: one for each device.
        optimizer_or_trainer: The Trainer, after `init_trainer`.

    Raises:
        ArgumentTypeError: ``optimizer_or_trainer`` is not a Trainer.
        ArgumentError: `init_trainer` was not called for the Trainer.
    """
    trainer = _trainer("scale_loss", optimizer_or_trainer)
    scaler: Any = trainer._amp_loss_scaler
    if scaler is None:
        raise ArgumentError(
            "scale_loss: expected a Trainer with a loss scale, got one without; call "
            "amp.init_trainer(trainer) first"
        )
    before = trainer._scaling
    many = isinstance(loss, list | tuple)
    losses: Any = loss if many else [loss]
    # A step that overflows is skipped.
    paused: Any = nullcontext if recording.checks.get() is None else pause_values
    with paused():
        if isinstance(scaler, LossScaler) and scaler.is_on_device:
            scaled = [scaler.scaled(x) for x in losses]
            trainer._scaling = (trainer._amp_original_scale, True)
        else:
            scaled = [x * scaler.loss_scale for x in losses]
            trainer._scale = trainer._amp_original_scale / scaler.loss_scale
    try:
        with paused():
            yield scaled if many else scaled[0]
    except BaseException:  # there are no gradients of the scaled loss
        trainer._scaling = before
        raise


def unscale(optimizer_or_trainer: Any) -> None:
    """Divide the gradients by the loss scale now instead of in the next step, as for clipping.

    Args:
        optimizer_or_trainer: The Trainer, after a backward pass.

    Raises:
        ArgumentTypeError: ``optimizer_or_trainer`` is not a Trainer.
    """
    trainer = _trainer("unscale", optimizer_or_trainer)
    scale, on_device = trainer._scaling
    scaler = trainer._amp_loss_scaler
    for param in trainer._params:
        if param.grad_req != "null":
            for grad in param.list_grad():
                if on_device and isinstance(scaler, LossScaler) and scaler.is_on_device:
                    grad[:] = multiplied(grad, scale / scaler.device_divisor)
                else:
                    grad *= trainer._scale
    trainer._scale = 1.0
