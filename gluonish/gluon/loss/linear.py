"""LinearCrossEntropyLoss: the output layer of a language model and its loss in one Block."""

from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.numpy_mode import is_np_array
from gluonish.gluon.loss.base import Loss
from gluonish.gluon.nn.tensor import Tensor, check_ints
from gluonish.gluon.parameter.parameter import Init

_REDUCTIONS = ("mean", "sum", "none")


class LinearCrossEntropyLoss(Loss):
    """Cross entropy of a dense layer's scores, ``-log softmax(x W^T + b)[label]``, without them.

    The scores of all positions never exist at once, neither in forward nor in backward: with a
    vocabulary of 50,257 and 4,096 positions they take 0.8 GB, and their gradient as much again. The
    time is that of `Dense` and `SoftmaxCrossEntropyLoss`.

    A dense layer or an embedding shares its weight by ``params``, in either direction::

        embedding = nn.Embedding(50257, 768)
        loss = gluon.loss.LinearCrossEntropyLoss(50257, params=embedding.params)

    Args:
        classes: Number of classes.
        use_bias: Whether to add the bias ``b``.
        ignore_label: Label without loss, such as padding; its positions do not count in the mean.
            None for no such label.
        label_smoothing: Part s of the target that all classes share: it is 1 - s for the label's
            class, plus s divided by ``classes`` for each class.
        z_loss: Factor of the squared logarithm of the sum of exponentials, which is added to the
            loss of each position and keeps scores near 0.
        reduction: ``"mean"`` or ``"sum"`` over the positions with loss, or ``"none"``.
        recompute: Whether backward computes the scores again; if False, forward computes the
            gradients. It saves the memory of one gradient of the weight, and a step takes a third
            more time. Set it if the weight is frozen, whose gradient is then not computed in vain.
            With ``reduction="none"`` backward always does so.
        dtype: Element type of the parameters.
        weight_initializer: Initializer of ``weight`` (classes, in_units); None uses the one passed
            to `initialize`.
        bias_initializer: Initializer of ``bias`` (classes,).
        in_units: Number of features; 0 infers it from the first batch.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Raises:
        ArgumentError: ``classes`` is below 1, or ``reduction`` is not one of the three.
        ArgumentTypeError: ``classes`` or ``in_units`` is not an int.
        OperatorIndexError: In the call on CPUs, if a label is neither a class nor ignored. On GPUs
            the loss is then NaN.

    Inputs:
        x: (..., in_units), features.
        label: (...), class indices of any dtype.

    Outputs:
        loss: (1,); the shape of ``label`` with ``reduction="none"``. float32 for 16-bit features.
    """

    def __init__(
        self,
        classes: int,
        use_bias: bool = False,
        *,
        ignore_label: int | None = None,
        label_smoothing: float = 0.0,
        z_loss: float = 0.0,
        reduction: str = "mean",
        recompute: bool = False,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(None, 0, **kwargs)
        name = type(self).__name__
        check_ints(name, classes=classes, in_units=in_units)
        if classes < 1:
            raise ArgumentError(f"{name}: expected classes of 1 or more, got {classes}")
        if reduction not in _REDUCTIONS:
            raise ArgumentError(f"{name}: expected reduction of {_REDUCTIONS}, got {reduction!r}")
        self._classes = classes
        self._terms = {
            "ignore_label": ignore_label,
            "label_smoothing": label_smoothing,
            "z_loss": z_loss,
            "reduction": reduction,
            "recompute": recompute,
        }
        with self.name_scope():
            declare = partial(self.params._declare, dtype=dtype)
            self.weight = declare("weight", (classes, in_units), weight_initializer)
            self.bias = declare("bias", (classes,), bias_initializer) if use_bias else None

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        label: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
    ) -> Any:
        """Return the loss.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (..., in_units), features.
            label: (...), class indices.
            weight: The parameter ``weight``.
            bias: The parameter ``bias``; None without one.
        """
        functions = F.npx if is_np_array() else F
        given = () if bias is None else (bias,)
        return functions.linear_cross_entropy(x, weight, label, *given, **self._terms)

    def __repr__(self) -> str:
        shape = self.weight.shape
        in_units = (shape[1] if shape else 0) or None
        return f"{type(self).__name__}({in_units} -> {self._classes})"
