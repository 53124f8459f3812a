"""A step of a Trainer while values are checked; see `mx.check_values`."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from gluonish.core.training_step import count_steps_of
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.paths import described
from gluonish.ndarray import NDArray
from gluonish.ndarray.recording import Checks
from gluonish.ndarray.value_checks import non_finite, value_error

_STEPS = 3  # in a row without a gradient, or with one of 0, until a warning

# For each Parameter, the steps in a row without a gradient; a warning ends the count.
_without: WeakKeyDictionary[Parameter, int] = WeakKeyDictionary()


def checked_step(
    trainer: Any, params: Sequence[Parameter], checks: Checks, step: Callable[[], None]
) -> None:
    """Run a step between checks of gradients and of updated parameters.

    Args:
        trainer: The Trainer.
        params: Its Parameters.
        checks: What is checked.
        step: The step.

    Raises:
        NonFiniteError: A gradient or an updated parameter is NaN or infinite.
    """
    count_steps_of(trainer)
    number = trainer.steps_done + 1
    trained = [p for p in params if p.grad_req != "null" and p._arrays is not None]
    if checks.values and trainer._amp_loss_scaler is None:  # which skips steps that overflow
        for parameter, weight, gradient in _gradients(trained):
            found = non_finite(gradient) if weight._fresh_grad else None
            if found is not None:
                raise value_error(
                    f"Trainer: expected finite gradients, got {found.kind} in the gradient of "
                    f"{described(parameter)} {found}"
                )
    if checks.gradients:
        _warn_of_missing(trained)
    step()
    if not checks.values:
        return
    for parameter in trained:
        for weight in parameter.list_data():
            found = non_finite(weight)
            if found is not None:
                raise value_error(
                    f"Trainer: expected finite parameters, got {found.kind} in "
                    f"{described(parameter)} {found} after the update with learning rate "
                    f"{trainer.learning_rate:g}; use a smaller one, or clip_global_norm",
                    step=number,
                )


def _gradients(params: Sequence[Parameter]) -> Iterator[tuple[Parameter, NDArray, NDArray]]:
    for parameter in params:
        for weight, gradient in zip(parameter.list_data(), parameter.list_grad(), strict=True):
            yield parameter, weight, gradient


def _warn_of_missing(params: Sequence[Parameter]) -> None:
    """Warn once of each weight whose gradient did not arrive, or was 0, for some steps in a row."""
    arrives: dict[Parameter, bool] = {}
    for parameter, weight, gradient in _gradients(params):
        # A bias before BatchNorm has a gradient of 0.
        new = weight._fresh_grad and (gradient.ndim < 2 or _has_values(gradient))
        arrives[parameter] = arrives.get(parameter, False) or new
    late = []
    for parameter, arrived in arrives.items():
        count = 0 if arrived else _without.get(parameter, 0) + 1
        _without[parameter] = count
        if count == _STEPS:
            late.append(described(parameter))
    if late:
        more = f" and {len(late) - 5} more" if len(late) > 5 else ""
        warnings.warn(
            f"Trainer: expected a gradient for each parameter, got none or only 0 in {_STEPS} "
            f"steps in a row for {', '.join(late[:5])}{more}; detach(), BlockGrad, argmax, "
            "asnumpy() and rounding cut the graph, and a layer may be unused; to freeze a "
            "parameter, set its grad_req to 'null'",
            UserWarning,
            stacklevel=5,
        )


def _has_values(gradient: Any) -> bool:
    values = gradient.data if gradient.stype != "default" else gradient
    return bool(values.asnumpy().any())
