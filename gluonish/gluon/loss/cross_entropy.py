"""Classification losses: cross-entropies, and connectionist temporal classification."""

import sys
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.numpy_mode import is_np_array
from gluonish.core.tracebacks import shorten
from gluonish.gluon.loss.base import Loss, finite_log
from gluonish.gluon.loss.label_check import LabelCheck, unchecked_labels
from gluonish.gluon.loss.repeated_rows import repeated_rows
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ndarray import NDArray, recording
from gluonish.symbol import Symbol

_EPSILON = 1e-12  # keeps the logarithm of a probability finite


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy of softmax and labels: ``-log softmax(pred)[label]``.

    Args:
        axis: Axis of the classes in ``pred``.
        sparse_label: Whether labels are class indices; if False, they are probabilities of all
            classes.
        from_logits: Whether ``pred`` already holds log-probabilities; if False, softmax is applied.
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        ignore_label: Label whose positions have a loss of 0, such as padding; they count in the
            average, as with ``sample_weight``, where PyTorch's mean leaves them out. None for no
            such label. For class indices only.
        label_smoothing: Part s of the target that all classes share, in [0, 1]: the target is
            1 - s for the label's class, plus s divided by the number of classes for each class.
            Labels that are probabilities are multiplied by 1 - s instead of the 1.
        z_loss: Factor of the squared logarithm of the sum of exponentials, which is added to the
            loss of each position and keeps scores near 0.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Raises:
        ArgumentError: ``label_smoothing`` is outside [0, 1]; ``ignore_label`` is given with labels
            that are probabilities; or ``z_loss`` is given, but labels are probabilities, ``pred``
            holds log-probabilities, or ``axis`` is not the last.

    Inputs:
        pred: any shape, unnormalized scores (logits).
        label: the shape of ``pred`` without ``axis``; with ``sparse_label=False`` as many elements
            as ``pred``.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it with size 1 along ``axis``.

    Outputs:
        loss: (batch,), the mean over the other axes.

    References:
        C. Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2016 (label
        smoothing).

    Example:
        >>> import gluonish as mx
        >>> loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        >>> scores = mx.nd.array([[5, 0, 0], [0, 0, 0]])
        >>> loss_function(scores, mx.nd.array([0, 2])).asnumpy().round(2)
        array([0.01, 1.1 ], dtype=float32)
    """

    _label_check = LabelCheck(active=False)  # of a loss that an older gluonish pickled

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        *,
        ignore_label: int | None = None,
        label_smoothing: float = 0.0,
        z_loss: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits
        self._terms: dict[str, Any] = {}
        if ignore_label is not None or label_smoothing or z_loss:
            self._terms = {
                "ignore_label": ignore_label,
                "label_smoothing": label_smoothing,
                "z_loss": z_loss,
            }
            self._check_terms(ignore_label, label_smoothing, z_loss)
        is_checked = sparse_label and ignore_label is None and not self._has_operator()
        self._label_check = LabelCheck(type(self) is SoftmaxCrossEntropyLoss and is_checked)

    def _has_operator(self) -> bool:
        """Whether one operator, which refuses labels out of range, computes the extra terms."""
        is_plain = self._sparse_label and not self._from_logits and self._axis == -1
        return bool(self._terms) and is_plain

    def _check_terms(self, ignore_label: int | None, label_smoothing: float, z_loss: float) -> None:
        """Raise ArgumentError for options out of range or that do not go together."""
        name = type(self).__name__
        if not 0 <= label_smoothing <= 1:
            raise ArgumentError(
                f"{name}: expected label_smoothing in [0, 1], got {label_smoothing}"
            )
        if ignore_label is not None and not self._sparse_label:
            raise ArgumentError(
                f"{name}: expected sparse_label=True with ignore_label, got False; use "
                "sample_weight with labels that are probabilities"
            )
        if z_loss and not self._has_operator():
            raise ArgumentError(
                f"{name}: expected sparse_label=True, from_logits=False and axis=-1 with z_loss, "
                f"got sparse_label={self._sparse_label}, from_logits={self._from_logits} and "
                f"axis={self._axis}"
            )

    def label_problem(self, pred: Any, label: Any) -> str:
        """Wait for labels; return what is wrong with them, or nothing after a warning.

        Args:
            pred: Scores.
            label: Class indices.
        """
        return self._label_check.problem(self, pred, label, self._axis)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the loss; labels out of range raise a warning once.

        Args:
            *args: Arguments of `hybrid_forward` without ``F``.
            **kwargs: Arguments by keyword.

        Raises:
            OperatorIndexError: A label is out of range while values are checked.
        """
        if len(args) == 2 and not kwargs:
            # Without a call of Python, where labels are on a GPU.
            check, label = self._label_check, args[1]
            if (
                check.active
                and isinstance(label, NDArray)
                and not label.is_traced
                and (recording.checks.get() is not None or label._device.is_host)
                and check.is_due()
            ):
                check.check(self, args[0], label, self._axis)
        elif recording.checks.get() is not None:
            with unchecked_labels():
                return super().__call__(*args, **kwargs)
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            shorten(error, sys._getframe(1))
            raise

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the softmax cross-entropy of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape, unnormalized scores (logits).
            label: The shape of ``pred`` without ``axis``; with ``sparse_label=False`` as many
                elements as ``pred``.
            sample_weight: Weight of each sample; None for 1.
        """
        if self._terms:
            compute = self._of_operator if self._has_operator() else self._of_terms
            loss = compute(F, pred, label)
            return self._mean(F, self._weighted(F, loss, sample_weight))
        along = {"axis": self._axis, "keepdims": True}
        if self._sparse_label and not self._from_logits and not isinstance(pred, Symbol):
            # Symbols use MXNet's operators, which files contain and graphs fuse to the same effect.
            if sample_weight is None and self._has_rows(pred):
                loss = repeated_rows(pred, label)
                if loss is None:
                    loss = F._log_softmax_pick(pred, label, axis=-1, scale=-1.0)
                return loss if self._weight is None else self._weighted(F, loss, None)
            loss = F._log_softmax_pick(pred, label, scale=-1.0, **along)
            return self._mean(F, self._weighted(F, loss, sample_weight))
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, **along)
        else:
            loss = -F.sum(pred * F.reshape_like(label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, self._weighted(F, loss, sample_weight))

    def _has_rows(self, pred: Any) -> bool:
        """Whether each row of scores is a sample, so that there is nothing to take a mean of."""
        is_plain = self._axis in (1, -1) and self._batch_axis in (0, -2)
        return is_plain and isinstance(pred, NDArray) and pred.ndim == 2

    def _of_operator(self, F: ModuleType, pred: Tensor, label: Tensor) -> Any:
        functions = F.npx if is_np_array() else F
        return functions.cross_entropy(pred, label, **self._terms).expand_dims(-1)

    def _of_terms(self, F: ModuleType, pred: Tensor, label: Tensor) -> Any:
        """Return the loss of each position with smoothing and ignored labels, on any axis."""
        ignored, smoothing = self._terms["ignore_label"], self._terms["label_smoothing"]
        along = {"axis": self._axis, "keepdims": True}
        is_counted = None if ignored is None else label != ignored
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if not self._sparse_label:
            loss = -F.sum(pred * F.reshape_like(label, pred), **along)
        elif is_counted is None:
            loss = -F.pick(pred, label, **along)
        else:
            loss = -F.pick(pred, F.where(is_counted, label, F.zeros_like(label)), **along)
        if smoothing:
            loss = (1 - smoothing) * loss - smoothing * F.mean(pred, **along)
        if is_counted is None:
            return loss
        # Not a product: the loss of an ignored position may be infinite.
        return F.where(F.reshape_like(is_counted, loss), loss, F.zeros_like(loss))


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Binary cross entropy: ``-(label * log p + (1 - label) * log(1 - p))``.

    p is the sigmoid of ``pred``; the computation does not overflow.

    Args:
        from_sigmoid: Whether ``pred`` already holds the probabilities p.
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``, in 0..1.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.
        pos_weight: optional factor of the term of positive labels, broadcastable to ``pred``.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(
        self,
        from_sigmoid: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(
        self,
        F: ModuleType,
        pred: Tensor,
        label: Tensor,
        sample_weight: Tensor | None = None,
        pos_weight: Tensor | None = None,
    ) -> Any:
        """Return the binary cross-entropy of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: As many elements as ``pred``, in 0..1.
            sample_weight: Weight of each sample; None for 1.
            pos_weight: Weight of the positive term; None for 1.
        """
        label = F.reshape_like(label, pred)
        compute = self._of_probability if self._from_sigmoid else self._of_score
        loss = compute(F, pred, label, pos_weight)
        return self._mean(F, self._weighted(F, loss, sample_weight))

    def _of_score(
        self, F: ModuleType, pred: Tensor, label: Tensor, pos_weight: Tensor | None
    ) -> Any:
        # -log sigmoid(x) = log1p_exp + relu(-x), where log(1 + exp(-|x|)) cannot overflow.
        log1p_exp = F.Activation(-F.abs(pred), act_type="softrelu")
        if pos_weight is None:
            return F.relu(pred) - pred * label + log1p_exp
        factor = 1 + F.broadcast_mul(label, pos_weight - 1)
        return pred - pred * label + factor * (log1p_exp + F.relu(-pred))

    def _of_probability(
        self, F: ModuleType, pred: Tensor, label: Tensor, pos_weight: Tensor | None
    ) -> Any:
        positive = finite_log(F, pred, _EPSILON) * label
        if pos_weight is not None:
            positive = F.broadcast_mul(positive, pos_weight)
        negative = finite_log(F, 1.0 - pred, _EPSILON) * (1.0 - label)
        return -(positive + negative)


SoftmaxCELoss = SoftmaxCrossEntropyLoss
SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class CTCLoss(Loss):
    """Connectionist temporal classification; the last class is the blank.

    Args:
        layout: Axes of ``pred``: ``"NTC"`` or ``"TNC"``.
        label_layout: Axes of ``label``: ``"NT"`` or ``"TN"``.
        weight: Constant factor of the loss; None for 1.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: (N, T, C) in the layout, scores before the softmax.
        label: (N, L) in the layout with L at most T: class indices below C - 1, padded with -1.
        pred_lengths: (N,), number of time steps of each sequence; by default T.
        label_lengths: (N,), number of labels of each sequence; by default those before the first
            -1.
        sample_weight: optional weight of each sample, (N,).

    Outputs:
        loss: (N,).

    Raises:
        ArgumentError: A layout is not supported.

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
