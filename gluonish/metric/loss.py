"""The mean of what a loss returns: Loss, and its two old names."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.metric.base import EvalMetric, register
from gluonish.ndarray import NDArray

__all__ = ["Caffe", "Loss", "Torch"]


@register
class Loss(EvalMetric):
    """Mean of the network's outputs, for networks that output a loss; labels are ignored.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the outputs that `update_dict` uses; None for all.
        label_names: Accepted for compatibility; has no effect.
    """

    def __init__(
        self,
        name: str = "loss",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]  # MXNet's names
        self, _: Any, preds: Any
    ) -> None:
        """Add the losses of one batch.

        Args:
            _: Labels, which are ignored.
            preds: A list of loss arrays, or one array.
        """
        for pred in [preds] if isinstance(preds, NDArray | np.ndarray) else preds:
            self._tally(_add_up, (), [pred])


def _add_up(xp: ModuleType, totals: Any, pred: Any) -> None:
    # float32 is summed in pairs, which is as good; narrower types overflow.
    wide = pred.dtype.kind == "f" and pred.dtype.itemsize > 2
    totals[0] += pred.sum(dtype=pred.dtype if wide else xp.float64)
    totals[1] += pred.size


@register
class Torch(Loss):
    """`Loss` under another name, for programs that used Torch criterions.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the outputs that `update_dict` uses; None for all.
        label_names: Accepted without effect.
    """

    def __init__(
        self,
        name: str = "torch",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """`Loss` under another name, for programs that used Caffe losses.

    Args:
        name: Name of the metric, as `get` returns it.
        output_names: Names of the outputs that `update_dict` uses; None for all.
        label_names: Accepted without effect.
    """

    def __init__(
        self,
        name: str = "caffe",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)
