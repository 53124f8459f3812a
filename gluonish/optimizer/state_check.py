"""Checks of loaded states against an optimizer's rule."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import FileFormatError, OperatorError
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index, Optimizer, State
from gluonish.optimizer.rule_optimizer import RuleOptimizer


def check_states(
    optimizer: Optimizer, states: Mapping[Index, State], weights: Mapping[Any, NDArray], name: str
) -> None:
    """Refuse states with which the next step would fail.

    Optimizers without a rule, such as user-defined ones, accept any states. Dtypes and the presence
    of float32 weights are not compared with the weights, which may be cast later.

    Args:
        optimizer: The optimizer that will use the states.
        states: Dict from index to state.
        weights: Dict from index to weight, as far as known.
        name: Name of the file in the error message.

    Raises:
        FileFormatError: A state has a wrong number of arrays, or arrays that are not floating or
            not of their weight's shape.
    """
    if not isinstance(optimizer, RuleOptimizer) or not optimizer.supports_apply:
        return
    for index, state in states.items():
        try:
            arrays = _arrays(optimizer, state)
        except OperatorError as error:
            raise FileFormatError(f"{name}: {error}, for weight {index!r}") from error
        weight = weights.get(index)
        for array in arrays if optimizer._rule().states else ():
            if not is_floating(array._spec.dtype):
                raise FileFormatError(
                    f"{name}: expected floating states of weight {index!r}, got {array.dtype}"
                )
            if weight is not None and array.shape != weight.shape:
                raise FileFormatError(
                    f"{name}: expected states of the shape {weight.shape} of weight {index!r}, "
                    f"got {array.shape}; they belong to another network"
                )


def _arrays(optimizer: RuleOptimizer, state: State) -> tuple[NDArray, ...]:
    """Return a state's arrays, with or without a float32 weight."""
    try:
        return optimizer.arrays_of(state, mixed=False)
    except OperatorError:
        if not optimizer.multi_precision:
            raise
        return optimizer.arrays_of(state, mixed=True)
