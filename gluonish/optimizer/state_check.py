"""Whether states that come from a file are such as an optimizer's rule takes."""

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

    An optimizer without a rule, such as a user's own, may have any. Dtypes need not be the
    weights', which a program may cast yet, nor does whether there are float32 weights among them.

    Args:
        optimizer: Whose states they are to be.
        states: From index to state.
        weights: From index to weight, of those that are known.
        name: What the error message calls the file.

    Raises:
        FileFormatError: A state has another number of arrays, or arrays of another shape than its
            weight, or of numbers that are none.
    """
    if not isinstance(optimizer, RuleOptimizer) or not optimizer.takes_all:
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
    """Return a state's arrays, with a float32 weight or without."""
    try:
        return optimizer.arrays_of(state, mixed=False)
    except OperatorError:
        if not optimizer.multi_precision:
            raise
        return optimizer.arrays_of(state, mixed=True)
