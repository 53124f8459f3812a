"""SAM: sharpness-aware minimization, by a second gradient at perturbed weights."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import gluonish.ndarray as nd
from gluonish.autograd import pause
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import check_numbers
from gluonish.core.object_repr import default_repr
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.trainer.gradients import stale_error
from gluonish.gluon.trainer.trainables import parameter_list
from gluonish.ndarray import NDArray

__all__ = ["SAM"]

_INFINITY = float("inf")
_TINY = 1e-12  # against a division by a norm of 0


class SAM:
    """Sharpness-aware minimization: gradients of the loss where it is largest near the weights.

    After the first backward pass `perturbed` moves the weights by ``rho * g / norm(g)``, where g
    are the gradients of all parameters. A second backward pass writes the gradients there. At the
    end of the scope the weights are as before, bit for bit, and `Trainer.step` updates them, with
    any optimizer and option except ``accumulate``. A step takes twice the time. There is no state
    to save.

    Gradients of any scale give the same perturbation, so neither a batch size nor a loss scale is
    needed; gradients that overflow in the first pass give none. Each device and each process
    perturbs its weights by its own gradients, as in the paper (m-sharpness). BatchNorm's running
    statistics are those of the first pass.

    With ``adaptive`` the perturbation is ``rho * t**2 * g / norm(t * g)`` with
    ``t = abs(weight) + eta`` (ASAM), which does not depend on the scale of the weights.

    Args:
        params: The Parameters, as for a `Trainer`.
        rho: Norm of the perturbation, above 0. The paper's is 0.05; ASAM's is 0.5.
        adaptive: Whether to scale the perturbation by the weights.
        eta: Constant added to the absolute values of weights, 0 or more; only for ``adaptive``.

    Raises:
        ArgumentError: ``rho`` or ``eta`` is out of its range.
        ArgumentTypeError: ``params`` is neither a list nor a dict of Parameters.

    References:
        P. Foret et al., "Sharpness-Aware Minimization for Efficiently Improving Generalization",
        2021; J. Kwon et al., "ASAM: Adaptive Sharpness-Aware Minimization for Scale-Invariant
        Learning of Deep Neural Networks", 2021.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> loss, x, y = mx.gluon.loss.L2Loss(), mx.nd.ones((4, 2)), mx.nd.ones((4, 1))
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        >>> sam = mx.gluon.utils.SAM(net.collect_params(), rho=0.05)
        >>> def backward():
        ...     with mx.autograd.record():
        ...         value = loss(net(x), y)
        ...     value.backward()
        >>> backward()
        >>> with sam.perturbed():
        ...     backward()
        >>> trainer.step(batch_size=4)
    """

    __repr__ = default_repr

    def __init__(
        self,
        params: ParameterDict | Mapping[str, Parameter] | Sequence[Parameter],
        rho: float = 0.05,
        adaptive: bool = False,
        eta: float = 0.01,
    ) -> None:
        self._params = parameter_list(params)
        check_numbers("SAM", rho=rho, eta=eta)
        if not 0 < rho < float("inf"):
            raise ArgumentError(f"SAM: expected a finite rho above 0, got {rho}")
        if not 0 <= eta < float("inf"):
            raise ArgumentError(f"SAM: expected a finite eta of 0 or more, got {eta}")
        self.rho = rho
        self.adaptive = adaptive
        self.eta = eta

    def perturbed(self) -> "_Perturbed":
        """Return a context manager, in which the weights are perturbed by their gradients.

        Gradients count as used when the scope begins, so that a step without a second backward
        pass raises an error.

        Raises:
            ArgumentError: Gradients of a parameter are added up (``grad_req="add"``); or, at the
                end of the scope, `Trainer.step` or something else has changed the weights in it.
            StaleGradientError: There was no backward pass since the last step or scope.
        """
        return _Perturbed(self)

    def _perturb(self) -> list[tuple[NDArray, NDArray]]:
        """Perturb the weights; return what the scope changes, with copies."""
        trained = [param for param in self._params if param.grad_req != "null"]
        for param in trained:
            if param.grad_req == "add":
                raise ArgumentError(
                    "SAM: expected gradients that each backward pass replaces, got grad_req 'add' "
                    f"of {param._full_name}; use a Trainer with accumulate=1"
                )
        weights = [x for param in trained for x in param._list_arrays()]
        if weights and not any(x._fresh_grad for x in weights):
            raise stale_error(weights, self._params)
        statistics = [
            x
            for param in self._params
            if not param._differentiable and param._arrays is not None
            for x in param._list_arrays()
        ]
        with pause():
            saved = [(x, x.copy()) for x in (*weights, *statistics)]
            by_device: dict[Any, list[NDArray]] = {}
            for x in weights:
                if x._fresh_grad:
                    by_device.setdefault(x.context, []).append(x)
            for xs in by_device.values():
                self._move(xs)
        for x in weights:
            x._fresh_grad = False
        return saved

    def _move(self, weights: Sequence[NDArray]) -> None:
        """Add the perturbation to the weights of a device, which need not be waited for."""
        # In float32 or more, as squares of scaled gradients of 16 bits may overflow.
        wide = [_wide(x.grad.tostype("default")) for x in weights]
        sizes: list[NDArray] = []
        if self.adaptive:
            sizes = [abs(_wide(x)) + self.eta for x in weights]
            wide = [g * t for g, t in zip(wide, sizes, strict=True)]
        squares = [(g**2).sum() for g in wide]
        norm = nd.sqrt(nd.add_n(*(x.astype("float64") for x in squares)))
        scale = nd.where(norm < _INFINITY, self.rho / (norm + _TINY), nd.zeros_like(norm))
        for i, x in enumerate(weights):
            step = (wide[i] * sizes[i] if self.adaptive else wide[i]) * scale.astype(wide[i].dtype)
            # A scale of 0 times infinity is NaN.
            step = nd.where(abs(step) < _INFINITY, step, nd.zeros_like(step))
            x += step.astype(x.dtype)


class _Perturbed:
    """The scope of `SAM.perturbed`."""

    def __init__(self, sam: SAM) -> None:
        self._sam = sam
        self._saved: list[tuple[NDArray, NDArray]] = []
        self._versions: list[tuple[NDArray, int]] = []

    def __enter__(self) -> SAM:
        if self._saved:
            raise ArgumentError("SAM: expected one scope of perturbed at a time, got two")
        self._saved = self._sam._perturb()
        # Writes that were pushed so far; the running statistics may change.
        trained = [x for x, _ in self._saved if x.grad is not None]
        self._versions = [(x, x._var.version) for x in trained]
        return self._sam

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        saved, self._saved = self._saved, []
        changed = any(x._var.version != version for x, version in self._versions)
        self._versions = []
        with pause():
            for array, values in saved:
                array[:] = values
        if changed and kind is None:
            raise ArgumentError(
                "SAM: expected weights that stay as they are within perturbed, got a change, which "
                "its end undid; call Trainer.step after the scope"
            )


def _wide(array: NDArray) -> NDArray:
    return array.astype("float32") if array._spec.dtype.itemsize < 4 else array
