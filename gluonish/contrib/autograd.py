"""`mx.contrib.autograd`: MXNet's autograd interface before `mx.autograd`."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Self

from gluonish.autograd import backward as _backward
from gluonish.autograd import mark_variables, set_recording, set_training
from gluonish.autograd.scopes import ModeScope, is_training, pause, record
from gluonish.core.errors import ArgumentTypeError
from gluonish.core.object_repr import default_repr
from gluonish.ndarray import NDArray, zeros_like

__all__ = [
    "TrainingStateScope",
    "backward",
    "compute_gradient",
    "grad",
    "grad_and_loss",
    "mark_variables",
    "set_is_training",
    "test_section",
    "train_section",
]


def set_is_training(is_train: bool) -> bool:
    """Turn both recording and training mode on or off; return whether training mode was on.

    Args:
        is_train: Whether to turn them on.
    """
    before = is_training()
    set_training(is_train)
    set_recording(is_train)
    return before


class TrainingStateScope:
    """Context manager that turns both recording and training mode on or off.

    Args:
        enter_state: Whether to turn them on.
    """

    __repr__ = default_repr

    def __init__(self, enter_state: bool) -> None:
        self._scope: ModeScope = record() if enter_state else pause()

    def __enter__(self) -> Self:
        self._scope.__enter__()
        return self

    def __exit__(self, ptype: object, value: object, trace: object) -> None:
        self._scope.__exit__(ptype, value, trace)


def train_section() -> TrainingStateScope:
    """Return a context manager that records operators for `backward`, in training mode."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """Return a context manager in which nothing is recorded, in prediction mode."""
    return TrainingStateScope(False)


# Programs import it by name: pytest must not collect it as a test.
test_section.__test__ = False  # type: ignore[attr-defined]  # functions take any attribute


def backward(
    outputs: Sequence[NDArray],
    out_grads: Sequence[NDArray | None] | None = None,
    retain_graph: bool = False,
) -> None:
    """Compute gradients of recorded arrays, and store them in the arrays of `mark_variables`.

    Args:
        outputs: List of arrays.
        out_grads: Gradient with respect to each output; None for ones.
        retain_graph: Whether to keep the recorded graph for another `backward`.

    Raises:
        ArgumentTypeError: ``outputs`` is not a list or tuple.
        AutogradError: Nothing was recorded.
    """
    if not isinstance(outputs, list | tuple):
        raise ArgumentTypeError(
            f"backward: expected outputs to be a list or tuple of NDArrays, got {type(outputs)}"
        )
    _backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs: Sequence[NDArray]) -> None:
    """Older name of `backward`.

    Args:
        outputs: List of arrays.
    """
    backward(outputs)


def grad_and_loss(
    func: Callable[..., Any], argnum: int | Sequence[int] | None = None
) -> Callable[..., tuple[list[NDArray], Any]]:
    """Return a function that returns the gradients of ``func``, and its result.

    Args:
        func: Function of arrays that returns an array, or a list of arrays whose sum is
            differentiated.
        argnum: Indices of the arguments to differentiate with respect to; None for all.

    Returns:
        The function. It raises `ArgumentTypeError` if an argument is not an NDArray.

    Example:
        >>> import gluonish as mx
        >>> square_grad = mx.contrib.autograd.grad_and_loss(lambda x: x * x)
        >>> grads, value = square_grad(mx.nd.array([1, 2, 3]))
        >>> grads[0].tolist(), value.tolist()
        ([2.0, 4.0, 6.0], [1.0, 4.0, 9.0])
    """

    @functools.wraps(func)
    def wrapped(*args: Any) -> tuple[list[NDArray], Any]:
        variables: list[Any] = list(args)
        if argnum is not None:
            indices = [argnum] if isinstance(argnum, int) else argnum
            variables = [args[i] for i in indices]
        for variable in variables:
            if not isinstance(variable, NDArray):
                raise ArgumentTypeError(
                    f"{getattr(func, '__name__', 'function')}: expected NDArrays as arguments, "
                    f"got {type(variable)}"
                )
        gradients = [zeros_like(variable) for variable in variables]
        mark_variables(variables, gradients)
        with train_section():
            outputs = func(*args)
        compute_gradient([outputs] if isinstance(outputs, NDArray) else outputs)
        return gradients, outputs

    return wrapped


def grad(
    func: Callable[..., Any], argnum: int | Sequence[int] | None = None
) -> Callable[..., list[NDArray]]:
    """Return a function that returns the gradients of ``func``.

    Args:
        func: Function of arrays that returns an array, or a list of arrays whose sum is
            differentiated.
        argnum: Indices of the arguments to differentiate with respect to; None for all.

    Returns:
        The function. It raises `ArgumentTypeError` if an argument is not an NDArray.
    """
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def wrapped(*args: Any) -> list[NDArray]:
        return both(*args)[0]

    return wrapped
