"""Loss: the base class of losses, with weighting and the mean over all axes but the batch axis."""

import inspect
import re
from collections.abc import Iterator, Sequence
from numbers import Number
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.core.habits import described_value
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.numpy_mode import is_np_array
from gluonish.gluon.block.block_errors import described_block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ndarray import NDArray
from gluonish.ops.nn.sample_weight import SAMPLE_WEIGHT, is_aligned
from gluonish.ops.registry import apply
from gluonish.symbol import Symbol

# The operators that combine labels and predictions, at the start of their messages.
_MISMATCH = re.compile(r": (_log_softmax_pick|pick|reshape_like)(?=:)")
_LEAST = 6e-8  # the smallest float16 above 0


def finite_log(F: ModuleType, x: Tensor, epsilon: float) -> Any:
    """Return ``log(x + epsilon)`` for x >= 0, finite also in float16, where epsilon rounds to 0."""
    shifted = x + epsilon
    if (
        isinstance(x, NDArray)
        and isinstance(epsilon, float)
        and np.dtype(x.dtype).type(epsilon) > 0
    ):
        return F.log(shifted)
    return F.log(shifted + (shifted == 0) * (shifted + _LEAST))


def _is_ready(sample_weight: Any, loss: Any) -> bool:
    """Whether weights need no reshaping before they are multiplied with a loss."""
    if isinstance(sample_weight, NDArray) and isinstance(loss, NDArray):
        return is_aligned(sample_weight.shape, loss.shape) or follows_mxnet()
    return not isinstance(sample_weight, NDArray | Symbol) or follows_mxnet()


def _apply_weighting(
    F: ModuleType, loss: Tensor, weight: float | None = None, sample_weight: Tensor | None = None
) -> Any:
    """Return losses times their weights; a private name of MXNet that user-defined losses import.

    Args:
        F: `gluonish.ndarray` or `gluonish.symbol`.
        loss: The loss of each element.
        weight: Constant factor, or None.
        sample_weight: Factors that broadcast to the loss, or None.

    Raises:
        ArgumentTypeError: ``weight`` is neither None nor a number.
    """
    if sample_weight is not None:
        loss = loss * sample_weight if is_np_array() else F.broadcast_mul(loss, sample_weight)
    if weight is None:
        return loss
    if not isinstance(weight, Number):
        raise ArgumentTypeError(f"Loss: expected weight to be a number or None, got {weight!r}")
    return loss * weight


def _reshape_like(F: ModuleType, x: Tensor, y: Tensor) -> Any:
    """Reshape ``x`` to the shape of ``y``; a private name of MXNet that user-defined losses import.

    Args:
        F: `gluonish.ndarray` or `gluonish.symbol`.
        x: The array to reshape.
        y: The array with the target shape.
    """
    return F.npx.reshape_like(x, y) if is_np_array() else F.reshape_like(x, y)


class Loss(HybridBlock):
    """Base class of losses; a subclass defines ``hybrid_forward(F, pred, label, ...)``.

    Args:
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples. Most losses are averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Raises:
        ArgumentTypeError: ``weight`` is neither None nor a number.
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if weight is not None and not isinstance(weight, Number):
            name = type(self).__name__
            if isinstance(weight, NDArray):
                raise ArgumentTypeError(
                    f"{name}: expected weight to be a number or None, got an NDArray; create the "
                    f"loss, then call it: {name}()(pred, label)"
                )
            raise ArgumentTypeError(
                f"{name}: expected weight to be a number or None, got {weight!r}"
            )
        self._weight = weight
        self._batch_axis = batch_axis

    def _explain(self, error: OperatorError, args: Sequence[Any]) -> None:
        """State the mismatch in the names of the loss's inputs, and their shapes."""
        self._refuse_inputs(args)
        named = [(name, x) for (name, _), x in self._inputs(args) if isinstance(x, NDArray)]
        if not named:  # the error of a graph
            return
        text = str(error)
        operator = _MISMATCH.search(text)
        if operator is not None and "one-hot" not in text and len(named) > 1:
            (_, pred), (label_name, label) = named[:2]
            advice = ""
            if operator[1].endswith("pick"):
                expected = f"one class index for each row of pred {pred.shape}"
                if label.ndim > pred.ndim:
                    advice = "; predictions come first: loss(net(x), label)"
            else:
                expected = f"as many elements as pred {pred.shape}"
            start = text[: operator.start()]
            error.args = (
                f"{start}: expected {label_name} of {expected}, got {label.shape}{advice}",
            )
            return
        shapes = ", ".join(f"{name} {x.shape}" for name, x in named)
        error.args = (f"{text}; the arguments have the shapes {shapes}",)

    def _inputs(self, args: Sequence[Any]) -> Iterator[tuple[tuple[str, bool], Any]]:
        """Yield the name of each input of a call, whether it is optional, and the value."""
        signature = inspect.signature(self.hybrid_forward).parameters.values()
        names = [(p.name, p.default is not p.empty) for p in signature][1:]
        return zip(names, args, strict=False)

    def _refuse_inputs(self, args: Sequence[Any]) -> None:
        """Raise an error if an input is no array.

        Raises:
            ArgumentTypeError: The error.
        """
        for (name, optional), x in self._inputs(args):
            if not isinstance(x, NDArray | Symbol | np.ndarray | Number) and not (
                x is None and optional
            ):
                raise ArgumentTypeError(
                    f"{described_block(self)}: expected {name} to be an NDArray, got "
                    f"{described_value(x)}"
                ) from None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _weighted(
        self,
        F: ModuleType,
        loss: Tensor,
        sample_weight: Tensor | None,
        weight: float | None = None,
        batch_axis: int | None = None,
    ) -> Any:
        """Return the loss times ``sample_weight`` and the weight.

        A ``sample_weight`` of one axis has a weight for each sample; MXNet multiplies it with the
        last axis instead.

        Args:
            F: `gluonish.ndarray` or `gluonish.symbol`.
            loss: The loss of each element.
            sample_weight: Factors, or None.
            weight: Replaces the weight of the Loss if not None.
            batch_axis: Axis of the samples in ``loss``, if other than in the inputs.
        """
        if sample_weight is not None and not _is_ready(sample_weight, loss):
            axis = self._batch_axis if batch_axis is None else batch_axis
            sample_weight = apply(SAMPLE_WEIGHT, (sample_weight, loss), {"batch_axis": axis})
        return _apply_weighting(F, loss, self._weight if weight is None else weight, sample_weight)

    def _mean(self, F: ModuleType, loss: Tensor) -> Any:
        """Return the mean over all axes but the batch axis."""
        mean: Tensor = F.mean(loss, axis=self._batch_axis, exclude=True)
        return mean
