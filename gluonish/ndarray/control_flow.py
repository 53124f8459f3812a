"""``nd.contrib``: control flow (`foreach`, `while_loop`, `cond`), `isnan` and `rand_zipfian`.

On arrays, Python runs the loop. While a ``forward`` is traced, the function becomes the body of one
node of the graph.
"""

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.namespace import operator_function
from gluonish.ndarray.ndarray import NDArray

__all__ = ["cond", "foreach", "isfinite", "isinf", "isnan", "rand_zipfian", "while_loop"]


def _leaves(nested: Any) -> list[Any]:
    if isinstance(nested, list | tuple):
        return [leaf for item in nested for leaf in _leaves(item)]
    return [nested]


def _mapped(function: Callable[[Any], Any], nested: Any) -> Any:
    """Apply a function to the leaves of nested lists; tuples become lists."""
    if isinstance(nested, list | tuple):
        return [_mapped(function, item) for item in nested]
    return function(nested)


def _graph_functions(*groups: Any) -> Any:
    """Return the control-flow functions for graph values if any argument is one, else None."""
    for group in groups:
        for leaf in _leaves(group):
            functions = getattr(type(leaf), "__control_flow__", None)
            if functions is not None:
                return functions
    return None


def _check_arrays(what: str, nested: Any) -> None:
    for leaf in _leaves(nested):
        if not isinstance(leaf, NDArray):
            raise ArgumentTypeError(
                f"{what}: expected NDArrays or nested lists of them, got {leaf!r} of "
                f"{type(leaf).__name__}"
            )


def foreach(
    body: Callable[..., Any], data: Any, init_states: Any, name: str = "foreach"
) -> tuple[Any, Any]:
    """Loop over slices of the data along axis 0, passing states from one iteration to the next.

    Args:
        body: ``body(data, states)`` returns outputs and new states.
        data: Array, or nested list of arrays, of equal length along axis 0.
        init_states: Initial states: an array, or a nested list of arrays.
        name: Accepted; graphs name their nodes themselves.

    Returns:
        The outputs of all iterations, stacked along axis 0, and the final states.

    Raises:
        ArgumentTypeError: An input is not an array.
        ArgumentError: The data have different lengths, or there are none.
    """
    functions = _graph_functions(data, init_states)
    if functions is not None:
        results: tuple[Any, Any] = functions.foreach(body, data, init_states)
        return results
    _check_arrays("foreach", data)
    _check_arrays("foreach", init_states)
    lengths = {x.shape[:1] for x in _leaves(data)}
    if len(lengths) != 1 or lengths & {(), (0,)}:
        shapes = [x.shape for x in _leaves(data)]
        raise ArgumentError(
            f"foreach: expected data of equal length of axis 0, at least 1, got {shapes}"
        )
    states = init_states
    steps = []
    for i in range(_leaves(data)[0].shape[0]):
        outputs, states = check_pair("foreach", body(_mapped(itemgetter(i), data), states))
        steps.append(outputs)
    return _stacked(steps, len(steps)), states


def check_pair(what: str, result: Any) -> Sequence[Any]:
    """Return a body's result after checking that it is a pair of outputs and states."""
    if not isinstance(result, list | tuple) or len(result) != 2:
        raise ArgumentError(
            f"{what}: expected a function that returns a pair of outputs and states, got "
            f"{type(result).__name__}"
        )
    return result


def _stacked(steps: Sequence[Any], length: int) -> Any:
    """Stack the outputs of all iterations, and pad them with zeros to ``length``."""
    columns = zip(*(_leaves(step) for step in steps), strict=True)
    stacked = iter([_padded(_stack(column), length) for column in columns])
    return _mapped(lambda _: next(stacked), steps[0])


def _stack(arrays: Sequence[Any]) -> Any:
    """Stack arrays of equal shape along a new first axis."""
    return operator_function("stack")(*arrays, axis=0)


def _padded(x: Any, length: int) -> Any:
    missing = length - x.shape[0]
    if not missing:
        return x
    zeros = operator_function("zeros_like")(x[:1]).broadcast_to((missing, *x.shape[1:]))
    return operator_function("concat")(x, zeros, dim=0)


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str = "while_loop",
) -> tuple[Any, Any]:
    """Loop while a condition is true, passing the loop variables from one iteration to the next.

    Args:
        cond: ``cond(*loop_vars)`` returns an array of one number; the loop ends when it is 0.
        func: ``func(*loop_vars)`` returns outputs (None for none) and the new loop variables.
        loop_vars: Initial loop variables: an array, or a list of arrays.
        max_iterations: Largest number of iterations.
        name: Accepted; graphs name their nodes themselves.

    Returns:
        The outputs, stacked along axis 0 and padded with zeros to ``max_iterations`` (an empty list
        if there was no iteration), and the final loop variables.

    Raises:
        ArgumentError: ``max_iterations`` is missing, there are no loop variables, or their number
            changes.
        ArgumentTypeError: An input is not an array.
    """
    if max_iterations is None:
        raise ArgumentError("while_loop: expected max_iterations, got none")
    functions = _graph_functions(loop_vars)
    if functions is not None:
        results: tuple[Any, Any] = functions.while_loop(cond, func, loop_vars, max_iterations)
        return results
    if not _leaves(loop_vars):
        raise ArgumentError("while_loop: expected at least one loop variable, got none")
    _check_arrays("while_loop", loop_vars)
    try:
        limit = int(max_iterations)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"while_loop: expected max_iterations to be an int, got {max_iterations!r}"
        ) from None
    variables = loop_vars
    steps: list[Any] = []
    while len(steps) < limit and bool(cond(*_unpacked(variables))):
        outputs, new = check_pair("while_loop", func(*_unpacked(variables)))
        new, count = _unpacked(new), len(_unpacked(loop_vars))
        if len(new) != count:
            raise ArgumentError(
                f"while_loop: expected {count} loop variables after an iteration, got {len(new)}"
            )
        variables = list(new) if isinstance(loop_vars, list | tuple) else new[0]
        steps.append([] if outputs is None else outputs)
    if isinstance(loop_vars, list | tuple):  # whatever func returns
        variables = list(_unpacked(variables))
    elif isinstance(variables, list | tuple):
        (variables,) = variables
    return (_stacked(steps, limit) if steps else []), variables


def _unpacked(variables: Any) -> Sequence[Any]:
    return variables if isinstance(variables, list | tuple) else [variables]


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """Call one of two functions, depending on a condition; the other is not called.

    Args:
        pred: The condition: an array of one number.
        then_func: Called where ``pred`` is not 0.
        else_func: Called where it is 0.

    Raises:
        ArgumentError: ``pred`` has more than one element.
    """
    functions = _graph_functions(pred)
    if functions is not None:
        return functions.cond(pred, then_func, else_func)
    return then_func() if bool(pred) else else_func()


def isinf(data: Any) -> Any:
    """Return 1 where elements are infinite, else 0, in the dtype of the data."""
    return data.abs() == math.inf


def isfinite(data: Any) -> Any:
    """Return 1 where elements are finite, else 0, in the dtype of the data."""
    return (data == data) * (data.abs() != math.inf)  # NaN is not equal to itself


def isnan(data: Any) -> Any:
    """Return 1 where elements are NaN, else 0, in the dtype of the data."""
    return data != data


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Context | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Sample classes from the log-uniform (Zipfian) distribution, with replacement.

    Args:
        true_classes: Array of the true classes.
        num_sampled: Number of classes to sample.
        range_max: Number of classes; samples are from 0 to ``range_max - 1``.
        ctx: Device; the current context by default.

    Returns:
        The sampled classes (int64), the expected count of each true class, and the expected count
        of each sampled class (float64).
    """
    log_range = math.log(range_max + 1)
    uniform = operator_function("_random_uniform")
    drawn = uniform(low=0, high=log_range, shape=(num_sampled,), dtype="float64", ctx=ctx)
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes: Any) -> Any:
        exact = classes.as_in_context(sampled.context).astype("float64")
        return ((exact + 2.0) / (exact + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)


document_arguments(globals(), __all__)
