"""The optimizers of SVRG: assignment of full gradients, and dispatch by name."""

from typing import Any

from gluonish.ndarray import NDArray
from gluonish.optimizer import Optimizer, create

__all__: list[str] = []


class _AssignmentOptimizer(Optimizer):
    """Replaces the weight by the gradient, so that a KVStore can sum full gradients."""

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Replace the weight by the gradient."""
        weight[:] = grad


class _SVRGOptimizer(Optimizer):
    """Updates weights with another optimizer, but replaces weights named ``..._full``.

    Args:
        default_optimizer: The other optimizer, or its name.
        **kwargs: Arguments of the other optimizer.

    Raises:
        TypeError: The other optimizer does not accept an argument.
    """

    def __init__(self, default_optimizer: str | Optimizer, **kwargs: Any) -> None:
        own = {
            name: kwargs[name]
            for name in ("rescale_grad", "param_idx2name", "wd", "clip_gradient")
            if name in kwargs
        }
        rate = {"learning_rate": kwargs["learning_rate"]} if "learning_rate" in kwargs else {}
        super().__init__(**own, **rate)
        if isinstance(default_optimizer, Optimizer):
            self.default_opt = default_optimizer
        else:
            self.default_opt = create(default_optimizer, **kwargs)
        self.aux_opt = _AssignmentOptimizer()

    def _check_index(self, index: Any) -> str:
        """Return the name of a weight, identified by its index or name."""
        return str(self.idx2name.get(index, index))

    def _is_full(self, index: Any) -> bool:
        return self._check_index(index).endswith("_full")

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """Return the state of the optimizer that updates a weight."""
        chosen = self.aux_opt if self._is_full(index) else self.default_opt
        return chosen.create_state(index, weight)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Update a weight with its optimizer."""
        chosen = self.aux_opt if self._is_full(index) else self.default_opt
        chosen.update(index, weight, grad, state)

    def _set_current_context(self, device_id: int) -> None:
        super()._set_current_context(device_id)
        for optimizer in (self.default_opt, self.aux_opt):  # both count updates per device
            optimizer._set_current_context(device_id)


class _OptimizerView(_SVRGOptimizer):
    """Wraps the optimizer of a `SVRGModule`, as MXNet does.

    All attributes are read from and written to the wrapped optimizer, ``default_opt``.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        vars(self).update(default_opt=optimizer, aux_opt=_AssignmentOptimizer())

    def __getattr__(self, name: str) -> Any:
        if "default_opt" not in vars(self):  # during a copy
            raise AttributeError(name)
        return getattr(self.default_opt, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.default_opt, name, value)
