"""CTCLoss: how improbable the scores make a label sequence, over all its alignments."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.loss.base import Loss
from gluonish.gluon.nn.tensor import Tensor

__all__ = ["CTCLoss"]


class CTCLoss(Loss):
    """Connectionist temporal classification; the last class is the blank.

    Args:
        layout: Axes of ``pred``: ``"NTC"`` or ``"TNC"``.
        label_layout: Axes of ``label``: ``"NT"`` or ``"TN"``.
        weight: Constant that the loss is multiplied by; None for 1.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: (N, T, C) in the layout, scores before the softmax.
        label: (N, L) in the layout with L at most T: class indices below C - 1, padded with -1.
        pred_lengths: (N,), number of time steps of each sequence; all of them if omitted.
        label_lengths: (N,), number of labels of each sequence; those before the first -1 if
            omitted.
        sample_weight: optional weight of each sample, (N,).

    Outputs:
        loss: (N,).

    Raises:
        ArgumentError: A layout is not one of those listed.

    References:
        A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal classification:
        labelling unsegmented sequence data with recurrent neural networks", 2006.
    """

    def __init__(
        self,
        layout: str = "NTC",
        label_layout: str = "NT",
        weight: float | None = None,
        **kwargs: Any,
    ) -> None:
        if layout not in ("NTC", "TNC"):
            raise ArgumentError(f"CTCLoss: expected layout 'NTC' or 'TNC', got {layout!r}")
        if label_layout not in ("NT", "TN"):
            raise ArgumentError(
                f"CTCLoss: expected label_layout 'NT' or 'TN', got {label_layout!r}"
            )
        super().__init__(weight, label_layout.find("N"), **kwargs)
        self._layout = layout
        self._label_layout = label_layout

    def hybrid_forward(
        self,
        F: ModuleType,
        pred: Tensor,
        label: Tensor,
        pred_lengths: Tensor | None = None,
        label_lengths: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> Any:
        """Return the CTC loss of each sequence.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: (N, T, C) in the layout, scores before the softmax.
            label: (N, L) in the layout with L at most T: class indices below C - 1, padded with
                -1.
            pred_lengths: Number of time steps of each sequence; None for all.
            label_lengths: Number of labels of each sequence; None to count up to the first -1.
            sample_weight: Weight of each sample; None for 1.
        """
        if self._layout == "NTC":
            pred = F.swapaxes(pred, 0, 1)
        if self._label_layout == "TN":
            label = F.swapaxes(label, 0, 1)
        loss = F.CTCLoss(
            pred,
            label,
            pred_lengths,
            label_lengths,
            use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None,
            blank_label="last",
        )
        return self._weighted(F, loss, sample_weight, batch_axis=0)
