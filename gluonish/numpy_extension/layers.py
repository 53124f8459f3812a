"""Functions of layers with other arguments than their operators."""

from typing import Any

from gluonish.numpy.calls import call
from gluonish.numpy_extension.operators import operator_function

__all__ = ["activation", "group_norm"]

_OTHER_ACTIVATIONS = ("log_sigmoid", "mish")


def activation(data: Any, act_type: str = "relu", **kwargs: Any) -> Any:
    """Apply an activation function to each element.

    Args:
        data: Array of a floating type.
        act_type: ``"relu"``, ``"sigmoid"``, ``"log_sigmoid"``, ``"mish"``, ``"softrelu"``
            (log(1 + e^data)), ``"softsign"`` or ``"tanh"``.
        **kwargs: ``out``: array that the result is written to; ``name``: accepted.

    Raises:
        OperatorError: There is no such function.
    """
    if act_type in _OTHER_ACTIVATIONS:
        return call(act_type, (data,), {}, kwargs.get("out"), "activation")
    return operator_function("activation")(data, act_type=act_type, **kwargs)


def group_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    num_groups: int = 1,
    eps: float = 1e-3,
    output_mean_var: bool = False,
) -> Any:
    """Normalize groups of channels, and scale and shift the channels.

    ``y = (data - mean) / sqrt(variance + eps) * gamma + beta``, with the mean and variance of each
    group of each sample.

    Args:
        data: (N, C, ...), of at least 3 axes.
        gamma: Scale of each channel (C,); or, as in MXNet 1.9, of each group (num_groups,).
        beta: Offset, with the shape of ``gamma``.
        num_groups: Number of groups, which divides C.
        eps: Small constant added to the variance to avoid division by zero.
        output_mean_var: Whether to return a list of the result, the means and the standard
            deviations (N, num_groups).

    Raises:
        OperatorError: A shape does not match.
    """
    params = {"num_groups": num_groups, "eps": eps, "output_mean_var": output_mean_var}
    return call("GroupNorm", (data, gamma, beta), params, what="group_norm")
