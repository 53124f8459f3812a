"""`npx.foreach`, `npx.while_loop` and `npx.cond`, as MXNet 2.0 defines them."""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.ndarray import control_flow
from gluonish.ndarray.control_flow import foreach, while_loop
from gluonish.numpy.calls import is_value

__all__ = ["cond", "foreach", "while_loop"]


def cond(
    pred: Any,
    then_func: Callable[..., Any],
    else_func: Callable[..., Any],
    inputs: Any = (),
    name: str = "cond",
) -> Any:
    """Call one of two functions, depending on a condition; the other is not called.

    Args:
        pred: Function of the inputs that returns an array of one number; or this array.
        then_func: Called with the inputs where ``pred`` is not 0.
        else_func: Called with the inputs where it is 0.
        inputs: An array, or a list of arrays.
        name: Accepted; graphs name their nodes themselves.

    Raises:
        ArgumentError: ``pred`` has more than one element.

    Example:
        >>> import gluonish as mx
        >>> a, b = mx.np.array([1]), mx.np.array([2])
        >>> mx.npx.cond(lambda a, b: a < b, lambda a, b: a + b, lambda a, b: a - b, [a, b]).item()
        3.0
    """
    given: Sequence[Any] = [inputs] if is_value(inputs) else list(inputs)
    found = pred if is_value(pred) or not callable(pred) else pred(*given)
    return control_flow.cond(found, lambda: then_func(*given), lambda: else_func(*given))
