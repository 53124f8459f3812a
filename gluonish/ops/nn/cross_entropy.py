"""cross_entropy: the loss of softmax scores and class indices, with the options of language models.

The loss of a row with scores x, class y, V classes, s = label_smoothing and L = log sum exp x is
``L - (1 - s) x[y] - s mean(x) + z_loss L^2``. Its gradient in x is
``softmax(x) (1 + 2 z_loss L) - s / V``, minus ``1 - s`` at y. Rows of the label ``ignore_label``
have neither loss nor gradient. Reference kernels pass over slices of rows, so that no temporary
array is as large as the scores.

References:
    C. Szegedy et al., Rethinking the Inception Architecture for Computer Vision, 2016 (smoothing).
    A. Chowdhery et al., PaLM: Scaling Language Modeling with Pathways, 2022 (z_loss).
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.schema import Schema, choice, integer, number, optional
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import Execution
from gluonish.ops.indexing.pick import pick
from gluonish.ops.nn.softmax import log_softmax
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen

_SLICE = 48 << 20  # bytes of a slice of scores
_FEWEST_ROWS = 64  # of a slice, for products of full speed

LOSS_ATTRIBUTES = {
    "ignore_label": optional(integer()),
    "label_smoothing": number(0.0),
    "z_loss": number(0.0),
    "reduction": choice("none", "mean", "sum", default="none"),
}
_SCHEMA = Schema(**LOSS_ATTRIBUTES)


class Terms(NamedTuple):
    """The factors of a loss's terms.

    Attributes:
        chosen: Factor of the score of the class.
        spread: Factor of each score.
        square: Factor of the squared log-sum.
    """

    chosen: float
    spread: float
    square: float

    @classmethod
    def of(cls, attrs: Attrs, classes: int) -> "Terms":
        """Return the factors that an operator's attributes describe."""
        smoothing = attrs["label_smoothing"]
        return cls(1.0 - smoothing, smoothing / classes, attrs["z_loss"])


def check_loss(name: str, scores: Shape, label: Spec, attrs: Attrs) -> None:
    """Check labels and attributes against scores of a shape (..., V).

    Raises:
        OperatorError: The message names the argument, what was expected, and what it is.
    """
    if not scores or not scores[-1]:
        raise OperatorError(f"{name}: expected scores (..., classes) with classes, got {scores}")
    if label.shape != scores[:-1]:
        raise OperatorError(f"{name}: expected label {scores[:-1]}, got {label.shape}")
    if label.dtype.kind not in "iu" and not is_floating(label.dtype):
        raise OperatorError(f"{name}: expected label of numbers, got {label.dtype.name}")
    if not 0 <= attrs["label_smoothing"] <= 1:
        raise OperatorError(
            f"{name}: expected label_smoothing in [0, 1], got {attrs['label_smoothing']}"
        )
    if not attrs["z_loss"] >= 0:
        raise OperatorError(f"{name}: expected z_loss of at least 0, got {attrs['z_loss']}")


def loss_spec(label: Spec, dtype: np.dtype[Any], attrs: Attrs) -> Spec:
    """Return the spec of the loss: of the label's shape, or (1,) if it is reduced."""
    shape = label.shape if attrs["reduction"] == "none" else (1,)
    return Spec(shape, accumulator(dtype))


class Rows(NamedTuple):
    """What a loss knows about its rows before their scores.

    Attributes:
        classes: (rows,) int64, in range; -1 where the row is ignored.
        factors: (rows,) factor of each row's loss: 0 if it is ignored, 1 / count in a mean.
    """

    classes: Any
    factors: Any

    @classmethod
    def of(
        cls, xp: ModuleType, name: str, label: Any, count: int, dtype: Any, attrs: Attrs
    ) -> "Rows":
        """Return the rows of labels.

        On GPUs a class out of range makes the loss NaN, because reading the labels would wait.

        Raises:
            OperatorIndexError: A class is out of range, on CPUs.
        """
        classes = label.reshape(-1).astype(xp.int64)
        ignored = xp.zeros(classes.shape, dtype=bool)
        if attrs["ignore_label"] is not None:
            ignored = classes == attrs["ignore_label"]
        wrong = ((classes < 0) | (classes >= count)) & ~ignored
        if xp is np and wrong.any():
            raise OperatorIndexError(
                f"{name}: expected labels in [0, {count})"
                + ("" if attrs["ignore_label"] is None else f" or {attrs['ignore_label']}")
                + f", got {int(classes[wrong.argmax()])}"
            )
        factors = xp.where(ignored, dtype.type(0), dtype.type(1))
        if attrs["reduction"] == "mean":
            factors = factors / xp.maximum(factors.sum(), dtype.type(1))
        if xp is not np:
            factors = xp.where(wrong, dtype.type(np.nan), factors)
        return cls(xp.where(ignored, -1, xp.minimum(xp.maximum(classes, 0), count - 1)), factors)

    def times(self, xp: ModuleType, grad: Any, attrs: Attrs) -> "Rows":
        """Return the rows with the loss's gradient in their factors."""
        head = widen(grad).reshape(-1)
        return self._replace(factors=(self.factors * head).astype(self.factors.dtype, copy=False))

    def part(self, part: slice) -> "Rows":
        """Return some of the rows."""
        return Rows(self.classes[part], self.factors[part])


def slices_of(rows: int, classes: int, itemsize: int) -> Iterator[slice]:
    """Yield the slices of rows whose scores are in memory at once, about equally long."""
    most = max(_FEWEST_ROWS, _SLICE // max(1, classes * itemsize))
    step = -(-rows // max(1, -(-rows // most)) // 8) * 8
    for begin in range(0, rows, max(1, step)):
        yield slice(begin, min(begin + step, rows))


def fill_rows(
    xp: ModuleType, scores: Any, rows: Rows, losses: Any, grads: Any, terms: Terms
) -> None:
    """Compute the losses of rows, and the gradients of their scores.

    Args:
        scores: (rows, classes); computed in the dtype of sums.
        losses: (rows,) to fill with losses times factors.
        grads: None, or an array like the scores to fill; it may be the scores.
    """
    x = widen(scores)
    if not x.size:
        return
    top = x.max(axis=1, keepdims=True)
    shifted = x - top
    log_total = xp.log(xp.exp(shifted).sum(axis=1, keepdims=True))
    log_sum = top + log_total
    classes = xp.maximum(rows.classes, 0)[:, None]
    each = x.dtype.type
    found = log_total - each(terms.chosen) * xp.take_along_axis(shifted, classes, 1)
    if terms.spread:
        found -= each(terms.spread) * shifted.sum(axis=1, keepdims=True)
    if terms.square:
        found += each(terms.square) * log_sum * log_sum
    ignored = (rows.classes < 0)[:, None]
    factors = rows.factors[:, None]
    losses[...] = xp.where(ignored, each(0), factors * found)[:, 0]
    if grads is None:
        return
    shifted -= log_total
    weights = xp.exp(shifted, out=shifted)
    weights *= factors * (1 + 2 * each(terms.square) * log_sum)
    weights -= factors * each(terms.spread)
    at = (xp.arange(len(x)), classes[:, 0])
    weights[at] -= rows.factors * each(terms.chosen)  # one class per row
    grads[...] = xp.where(ignored, each(0), weights)


def reduced(xp: ModuleType, out: Any, losses: Any, attrs: Attrs) -> None:
    """Fill a loss with the losses of rows, or with their sum."""
    if attrs["reduction"] == "none":
        out[...] = losses.reshape(out.shape)
    else:
        out[...] = losses.sum(dtype=np.float64)


def _infer(data: Spec, label: Spec, **attrs: Any) -> tuple[Spec]:
    if not is_floating(data.dtype):
        raise OperatorError(
            f"cross_entropy: expected floating data, got {data.dtype.name}; cast it"
        )
    check_loss("cross_entropy", data.shape, label, attrs)
    return (loss_spec(label, data.dtype, attrs),)


def _kernel(xp: ModuleType, out: Any, data: Any, label: Any, **attrs: Any) -> None:
    run_on_scores(xp, fill_rows, out, None, data, label, None, attrs)


def _backward_kernel(
    xp: ModuleType, out: Any, grad: Any, data: Any, label: Any, **attrs: Any
) -> None:
    run_on_scores(xp, fill_rows, None, out, data, label, grad, attrs)


def run_on_scores(
    xp: ModuleType, fill: Any, loss: Any, grads: Any, data: Any, label: Any, head: Any, attrs: Attrs
) -> None:
    """Compute the loss of whole scores, or their gradient.

    Args:
        fill: `fill_rows`, or a faster function that does the same.
        loss: The loss to fill, or None.
        grads: The gradient to fill, or None; it may be the scores.
        head: Gradient of the loss, for ``grads``.
    """
    classes = data.shape[-1]
    dtype = accumulator(data.dtype)
    rows = Rows.of(xp, "cross_entropy", label, classes, dtype, attrs)
    if head is not None:
        rows = rows.times(xp, head, attrs)
    scores = data.reshape(-1, classes)
    target = None if grads is None else grads.reshape(-1, classes)
    losses = xp.zeros(len(scores), dtype=dtype)
    terms = Terms.of(attrs, classes)
    for part in slices_of(len(scores), classes, dtype.itemsize):
        some = None if target is None else target[part]
        fill(xp, scores[part], rows.part(part), losses[part], some, terms)
    if loss is not None:
        reduced(xp, loss, losses, attrs)


def composed_loss(scores: V, label: V, attrs: Attrs) -> Any:
    """Compute the loss of scores (..., V) with operators, each of which holds them whole.

    Args:
        scores: In the dtype of sums.
    """
    classes = scores.shape[-1]
    terms = Terms.of(attrs, classes)
    logs = log_softmax(scores, axis=-1)
    found = pick(logs, label, axis=-1) * -terms.chosen
    if terms.spread:
        found = found - sum_(logs, (-1,)) * terms.spread
    if terms.square:
        log_sum = sum_(scores - logs, (-1,)) * (1.0 / classes)
        found = found + log_sum * log_sum * terms.square
    rows = int(np.prod(found.shape))
    found = reshape(found, (rows,))
    keep = None
    if attrs["ignore_label"] is not None:
        keep = reshape(cast(label != attrs["ignore_label"], found.dtype), (rows,))
        found = found * keep
    if attrs["reduction"] == "none":
        return reshape(found, scores.shape[:-1])
    total = reshape(sum_(found, (0,)), (1,))
    if attrs["reduction"] == "sum":
        return total
    if keep is None:
        return total * (1.0 / max(1, rows))
    count = reshape(sum_(keep, (0,)), (1,))
    return total / (count + cast(count == 0, keep.dtype))


def _gradient(g: V, data: V, label: V, **attrs: Any) -> tuple[Any, None]:
    return (lambda: apply(CROSS_ENTROPY_BACKWARD, (g, data, label), attrs)), None


def _composed(grad: Any, data: Any, label: Any, **attrs: Any) -> Any:
    """Compute `_backward_kernel`'s result with operators."""

    def loss(x: Any, label: Any) -> Any:
        return composed_loss(cast(x, accumulator(x.dtype)), label, attrs)

    return composite_gradient(loss)(grad, data, label)[0]


CROSS_ENTROPY = register(
    Operator(
        "cross_entropy",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Cross entropy of softmax(data) over the last axis with the classes in label.\n\n"
            "The logarithms of the softmax are not saved. Rows labelled ignore_label have no loss\n"
            "and no gradient, and do not count in a mean; without other rows it is 0. With\n"
            "label_smoothing s the target is 1 - s for the class plus s / V for each class.\n"
            "z_loss times the square of the logarithm of each row's sum of exponentials is added,\n"
            "which keeps scores near 0. A class out of range is an error; on GPUs it makes the\n"
            "loss NaN. The loss of 16-bit scores is float32.\n\n"
            "Shapes: data (..., V), label (...), output like label, or (1,) for mean and sum."
        ),
        inputs=("data", "label"),
        schema=_SCHEMA,
        aliases=("_npx_cross_entropy",),
        execution=Execution(heavy=True),
    )
)

CROSS_ENTROPY_BACKWARD = register(
    Operator(
        "_cross_entropy_backward",
        lambda grad, data, label, **_: (data,),
        _backward_kernel,
        composite_gradient(_composed),
        doc="Gradient of cross_entropy's data.",
        inputs=("grad", "data", "label"),
        schema=_SCHEMA,
        execution=Execution(overwrites=lambda attrs: 1, heavy=True),
    )
)
