"""Gradients by finite differences, and checks of a Symbol's gradients against them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.creation import array
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.binding import bind
from gluonish.symbol.executor import Executor
from gluonish.symbol.symbol import Symbol
from gluonish.test_utils.comparison import assert_almost_equal, on_host
from gluonish.test_utils.random_arrays import normal, uniform
from gluonish.test_utils.symbolic import (
    Location,
    bound_arrays,
    float_dtype,
    gradient_requests,
    start_gradients,
)
from gluonish.test_utils.tolerances import Tolerance, default_numeric_eps

Array = np.ndarray[Any, Any]


def numeric_grad(
    executor: Executor,
    location: Mapping[str, Any],
    aux_states: Mapping[str, Any] | None = None,
    eps: float = 1e-4,
    use_forward_train: bool = True,
    dtype: Any = np.float32,
) -> dict[str, Array]:
    """Estimate the gradient of the sum of an executor's outputs by central differences.

    Args:
        executor: The executor; its arguments are set to ``location``.
        location: Arrays by argument name: the point at which to differentiate, and the arguments
            to differentiate with respect to.
        aux_states: Auxiliary states by name, restored before each pass.
        eps: Distance between the two points of a difference.
        use_forward_train: Whether operators run in training mode.
        dtype: Element type of the gradients.

    Raises:
        ArgumentError: The executor has no argument or state of this name.
    """
    return _slopes(executor, location, aux_states or {}, eps, use_forward_train, dtype, None)


def _slopes(
    executor: Executor,
    location: Mapping[str, Any],
    aux_states: Mapping[str, Any],
    eps: float,
    train: bool,
    dtype: Any,
    weights: Sequence[Array] | None,
) -> dict[str, Array]:
    """Return the gradients of the elementwise weighted sum of the outputs."""
    for key in (*location, *aux_states):
        if key not in executor.arg_dict and key not in executor.aux_dict:
            raise ArgumentError(
                f"numeric_grad: expected names among {list(executor.arg_dict)}, got {key!r}"
            )
    point = {key: np.array(on_host(value)) for key, value in location.items()}
    states = {key: np.array(on_host(value)) for key, value in aux_states.items()}
    for key, value in point.items():
        executor.arg_dict[key][:] = value

    def total() -> float:
        for key, value in states.items():
            executor.aux_dict[key][:] = value
        outputs = [y.asnumpy().astype(np.float64) for y in executor.forward(is_train=train)]
        if weights is None:
            return float(sum(y.sum() for y in outputs))
        return float(sum((y * w).sum() for y, w in zip(outputs, weights, strict=True)))

    gradients = {}
    for key, value in point.items():
        target = executor.arg_dict[key]
        if is_floating(np.dtype(target.dtype)):
            gradients[key] = _element_slopes(total, target, value, eps).astype(dtype)
        else:
            gradients[key] = np.zeros(value.shape, dtype)
    return gradients


def _element_slopes(total: Callable[[], float], target: NDArray, start: Array, eps: float) -> Array:
    """Return the derivatives of ``total`` with respect to each element of an array, in float64."""
    value = start.astype(target.dtype)
    slopes = np.zeros(value.size, np.float64)
    for i in range(value.size):
        center = value.flat[i]
        ends = []
        for side in (0.5, -0.5):
            value.flat[i] = center + side * eps
            target[:] = value
            ends.append((total(), float(value.flat[i])))
        value.flat[i] = center
        # Divide by the distance after rounding to the dtype, which may differ from eps.
        (ahead, right), (behind, left) = ends
        slopes[i] = (ahead - behind) / (right - left or eps)
    target[:] = value
    return slopes.reshape(value.shape)


def check_numeric_gradient(
    sym: Symbol,
    location: Location,
    aux_states: Location | None = None,
    numeric_eps: float | None = None,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    grad_nodes: Sequence[str] | Mapping[str, str] | None = None,
    use_forward_train: bool = True,
    ctx: Context | None = None,
    grad_stype_dict: Mapping[str, str] | None = None,
    dtype: Any = np.float32,
) -> None:
    """Check the gradients of a Symbol's arguments against finite differences.

    The function differentiated is the sum of all outputs, each element weighted by a random number
    from 0.1 to 1.1, so that swapped elements are detected, too.

    Args:
        sym: The graph.
        location: Arrays of its arguments, in order or by name.
        aux_states: Arrays of its auxiliary states, in order or by name.
        numeric_eps: Distance between the two points of a difference; None for the default of the
            dtype.
        rtol: Relative tolerance, as in `assert_almost_equal`.
        atol: Absolute tolerance.
        grad_nodes: Names of the arguments to check, all by default; or a dict from name to
            ``"write"``, ``"add"`` or ``"null"``, whose effect is checked, too.
        use_forward_train: Whether the differences are computed in training mode.
        ctx: Device; `default_context` by default.
        grad_stype_dict: Storage types of gradients, by argument name.
        dtype: float16, float32 or float64, which NumPy arrays are converted to.

    Raises:
        AssertionError: A gradient exceeds the tolerance.
        ArgumentError: Arrays are missing, or names are unknown.
    """
    name = "check_numeric_gradient"
    kind = float_dtype(name, dtype) or np.dtype(np.float32)
    context, arguments, states = bound_arrays(name, sym, location, aux_states, ctx, kind)
    names = sym.list_arguments()
    requests = gradient_requests(name, _nodes(grad_nodes, names), names)
    checked = [key for key in names if grad_nodes is None or key in grad_nodes]
    start = {key: normal(size=arguments[key].shape) for key in checked}
    gradients = start_gradients(start, arguments, grad_stype_dict or {})
    aux_values = {key: value.asnumpy() for key, value in states.items()}

    executor = bind(sym, context, arguments, gradients, requests, states)
    outputs = executor.forward(is_train=True)
    weights = [_weights(y) for y in outputs]
    heads = [array(w, y.context, y.dtype) for w, y in zip(weights, outputs, strict=True)]
    executor.backward(heads)
    found = {key: gradient.asnumpy() for key, gradient in gradients.items()}

    eps = default_numeric_eps()[kind] if numeric_eps is None else numeric_eps
    point = {key: arguments[key].asnumpy() for key in checked if requests[key] != "null"}
    forward_only = bind(sym, context, arguments, aux_states=states)
    slopes = _slopes(forward_only, point, aux_values, eps, use_forward_train, kind, weights)
    for key in checked:
        before = start[key].astype(found[key].dtype)
        want = slopes[key] if key in slopes else np.zeros_like(before)
        got = found[key] if requests[key] == "write" else found[key] - before
        assert_almost_equal(want, got, rtol, atol, (f"NUMERICAL_{key}", f"BACKWARD_{key}"))


def _nodes(grad_nodes: Any, names: Sequence[str]) -> dict[str, str]:
    if grad_nodes is None:
        return dict.fromkeys(names, "write")
    if isinstance(grad_nodes, Mapping):
        return dict(grad_nodes)
    if isinstance(grad_nodes, list | tuple):
        return dict.fromkeys(grad_nodes, "write")
    raise ArgumentTypeError(
        "check_numeric_gradient: expected grad_nodes as a list or dict, got "
        f"{type(grad_nodes).__name__}"
    )


def _weights(output: NDArray) -> Array:
    """Return a random weight from 0.1 to 1.1 for each element, rounded to the output's dtype."""
    values = np.asarray(uniform(0.1, 1.1, output.shape))
    return values.astype(output.dtype).astype(np.float64)
