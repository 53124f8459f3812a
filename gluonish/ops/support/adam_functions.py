"""AdamFunctions: the AdamW updates of ``nd.contrib`` and ``sym.contrib``."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")  # an NDArray or a Symbol


class AdamFunctions(Generic[T]):
    """AdamW updates whose gradient scale is a number or a tensor.

    Args:
        operator: Returns the namespace's function of an operator.
        scale: Converts a gradient scale to a tensor on the weight's device.
    """

    def __init__(
        self,
        operator: Callable[[str], Callable[..., T]],
        scale: Callable[[T | float, T], T],
    ) -> None:
        self._operator = operator
        self._scale = scale

    def adamw_update(
        self,
        weight: T,
        grad: T,
        mean: T,
        var: T,
        rescale_grad: T | float,
        lr: float,
        eta: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        wd: float = 0,
        clip_gradient: float = -1,
        out: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> T:
        """Make one step of AdamW; ``mean`` and ``var`` are updated in place.

        Args:
            grad: Gradient of the weight, of the same shape.
            mean: Running mean of the gradient.
            var: Running mean of its square.
            rescale_grad: Factor of the gradient, a number or a tensor (1,); if it is 0, infinite or
                NaN, the step is skipped.
            lr: Learning rate, without the factor ``eta``.
            eta: Factor of the whole step.
            beta1: Decay rate of ``mean``.
            beta2: Decay rate of ``var``.
            epsilon: Added to the root of ``var``.
            wd: Weight decay.
            clip_gradient: Limit of the absolute value of each element of the gradient; -1 for none.
            out: Destination of the new weight; pass ``weight`` to update in place. Ignored by
                Symbols.
            name: Name of a Symbol's node.
            **kwargs: Further attributes of the operator.

        Returns:
            The new weight.
        """
        rates = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
        scale = self._scale(rescale_grad, weight)
        return self._operator("_adamw_update")(
            weight,
            grad,
            mean,
            var,
            scale,
            clip_gradient=clip_gradient,
            out=out,
            name=name,
            **rates,
            **kwargs,
        )

    def mp_adamw_update(
        self,
        weight: T,
        grad: T,
        mean: T,
        var: T,
        weight32: T,
        rescale_grad: T | float,
        lr: float,
        eta: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        wd: float = 0,
        clip_gradient: float = -1,
        out: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> T:
        """Make one step of AdamW on a 16-bit weight and its float32 copy ``weight32``.

        Args:
            weight: The weight in 16 bits.
            grad: Gradient of the weight.
            mean: Running mean of the gradient, float32.
            var: Running mean of its square, float32.
            weight32: The weight in float32, which is updated in place.
            rescale_grad: See `adamw_update`.
            lr: See `adamw_update`.
            eta: See `adamw_update`.
            beta1: See `adamw_update`.
            beta2: See `adamw_update`.
            epsilon: See `adamw_update`.
            wd: See `adamw_update`.
            clip_gradient: See `adamw_update`.
            out: Destination of the new weight; pass ``weight`` to update in place. Ignored by
                Symbols.
            name: Name of a Symbol's node.
            **kwargs: Further attributes of the operator.

        Returns:
            The new weight.
        """
        rates = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
        return self._operator("_mp_adamw_update")(
            weight,
            grad,
            mean,
            var,
            weight32,
            self._scale(rescale_grad, weight),
            clip_gradient=clip_gradient,
            out=out,
            name=name,
            **rates,
            **kwargs,
        )
