"""AdamW and LAMB updates of ``nd.contrib``, with arrays grouped by role and a gradient scale."""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.ndarray.creation import full
from gluonish.ndarray.namespace import operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.support.adam_functions import AdamFunctions

Arrays = Sequence[NDArray]


def _scale(rescale_grad: NDArray | float, weight: NDArray) -> NDArray:
    """Return the gradient's factor as an array on the weight's device."""
    if isinstance(rescale_grad, NDArray):
        return rescale_grad
    return full((1,), rescale_grad, weight.context)


_FUNCTIONS = AdamFunctions(operator_function, _scale)
adamw_update = _FUNCTIONS.adamw_update
mp_adamw_update = _FUNCTIONS.mp_adamw_update


def multi_adamw_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    rescale_grad: NDArray | float,
    lrs: Sequence[float],
    wds: Sequence[float],
    etas: Sequence[float],
    out: Arrays | None = None,
    name: str | None = None,
    size: int = 0,
    **kwargs: Any,
) -> Any:
    """Update several weights by one AdamW step; each list has one entry per weight.

    Args:
        weights: The weights.
        grads: Their gradients.
        mean: Running means of the gradients.
        var: Running means of their squares.
        rescale_grad: Factor of all gradients, a number or an array (1,).
        lrs: Learning rates.
        wds: Weight decays.
        etas: Factors of the steps.
        out: Arrays that the new weights are written to.
        name: Accepted; only Symbols have names.
        size: Number of weights; None for the length of the list.
        **kwargs: Further attributes of the operator.

    Returns:
        The new weights.
    """
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": size or len(weights)}
    return _many("_multi_adamw_update", (weights, grads, mean, var), rescale_grad)(
        out=out, **rates, **kwargs
    )


def multi_mp_adamw_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    weights32: Arrays,
    rescale_grad: NDArray | float,
    lrs: Sequence[float],
    wds: Sequence[float],
    etas: Sequence[float],
    out: Arrays | None = None,
    name: str | None = None,
    size: int = 0,
    **kwargs: Any,
) -> Any:
    """Like `multi_adamw_update`, on 16-bit weights and their float32 copies.

    Args:
        weights: The weights in 16 bits.
        grads: Their gradients.
        mean: Running means of the gradients, float32.
        var: Running means of their squares, float32.
        weights32: The weights in float32, which are updated in place.
        rescale_grad: Factor of all gradients, a number or an array (1,).
        lrs: Learning rates.
        wds: Weight decays.
        etas: Factors of the steps.
        out: Arrays that the new weights are written to.
        name: Accepted; only Symbols have names.
        size: Number of weights; None for the length of the list.
        **kwargs: Further attributes of the operator.

    Returns:
        The new weights.
    """
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": size or len(weights)}
    groups = (weights, grads, mean, var, weights32)
    return _many("_multi_mp_adamw_update", groups, rescale_grad)(out=out, **rates, **kwargs)


def multi_lamb_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    step_count: Sequence[int],
    lrs: Sequence[float],
    wds: Sequence[float],
    out: Arrays | None = None,
    num_tensors: int = 0,
    **kwargs: Any,
) -> Any:
    """Update several weights by one LAMB step; each list has one entry per weight.

    Args:
        weights: The weights.
        grads: Their gradients.
        mean: Running means of the gradients.
        var: Running means of their squares.
        step_count: Number of the step for each weight, from 1.
        lrs: Learning rates.
        wds: Weight decays.
        out: Arrays that the new weights are written to.
        num_tensors: Number of weights; 0 for the length of the list.
        **kwargs: Further attributes of the operator.

    Returns:
        The new weights.
    """
    rates = {"learning_rates": lrs, "wds": wds, "step_count": step_count}
    return _many("_multi_lamb_update", (weights, grads, mean, var))(
        out=out, num_tensors=num_tensors or len(weights), **rates, **kwargs
    )


def multi_mp_lamb_update(
    weights: Arrays,
    grads: Arrays,
    mean: Arrays,
    var: Arrays,
    weights32: Arrays,
    step_count: Sequence[int],
    lrs: Sequence[float],
    wds: Sequence[float],
    out: Arrays | None = None,
    num_tensors: int = 0,
    **kwargs: Any,
) -> Any:
    """Like `multi_lamb_update`, on 16-bit weights and their float32 copies.

    Args:
        weights: The weights in 16 bits.
        grads: Their gradients.
        mean: Running means of the gradients, float32.
        var: Running means of their squares, float32.
        weights32: The weights in float32, which are updated in place.
        step_count: Number of the step for each weight, from 1.
        lrs: Learning rates.
        wds: Weight decays.
        out: Arrays that the new weights are written to.
        num_tensors: Number of weights; None for the length of the list.
        **kwargs: Further attributes of the operator.

    Returns:
        The new weights.
    """
    rates = {"learning_rates": lrs, "wds": wds, "step_count": step_count}
    return _many("_multi_mp_lamb_update", (weights, grads, mean, var, weights32))(
        out=out, num_tensors=num_tensors or len(weights), **rates, **kwargs
    )


def _many(
    name: str, groups: Sequence[Arrays], rescale_grad: NDArray | float | None = None
) -> Callable[..., Any]:
    """Return an operator's function bound to its arrays, ordered by weight."""
    arrays = [array for entry in zip(*groups, strict=True) for array in entry]
    if rescale_grad is not None:
        arrays.append(_scale(rescale_grad, groups[0][0]))
    function = operator_function(name)
    return lambda **attrs: function(*arrays, **attrs)
