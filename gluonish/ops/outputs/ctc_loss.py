"""CTCLoss: negative log-likelihood of a label sequence without a known alignment.

References:
    A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, Connectionist Temporal Classification:
        Labelling Unsegmented Sequence Data with Recurrent Neural Networks, 2006.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import AutogradError, OperatorError
from gluonish.core.schema import Schema, boolean, choice
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.indexing.pick import along_grid
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.host import add_at
from gluonish.ops.support.precision import widen


def _active(attrs: Attrs) -> tuple[str, ...]:
    names = ["data", "label"]
    names += ["data_lengths"] * attrs["use_data_lengths"]
    names += ["label_lengths"] * attrs["use_label_lengths"]
    return tuple(names)


def _infer(
    data: Spec,
    label: Spec,
    *lengths: Spec,
    use_data_lengths: bool,
    use_label_lengths: bool,
    blank_label: str,
) -> tuple[Spec, Spec]:
    if len(data.shape) != 3 or not data.shape[2] or not is_floating(data.dtype):
        raise OperatorError(
            "CTCLoss: expected floating data of 3 axes, (T, N, classes) or, by the layout of the "
            f"loss, (N, T, classes), got {data}"
        )
    steps, batch, _ = data.shape
    if len(label.shape) != 2 or label.shape[0] != batch or label.shape[1] > steps:
        raise OperatorError(
            f"CTCLoss: expected label ({batch}, at most {steps} labels) for data {data.shape}, "
            f"got {label.shape}"
        )
    attrs = {"use_data_lengths": use_data_lengths, "use_label_lengths": use_label_lengths}
    for name, spec in zip(_active(attrs)[2:], lengths, strict=True):
        if spec.shape != (batch,):
            raise OperatorError(f"CTCLoss: expected {name} ({batch},), got {spec.shape}")
    return Spec((batch,), data.dtype), data


def lengths_of(
    xp: ModuleType, data: Any, label: Any, lengths: Any, attrs: Attrs
) -> tuple[Any, Any]:
    """Return the frames and the labels of every sequence, (N,) each, as int64.

    Without lengths, padding ends the labels: 0 where the blank is the first class, else -1.
    """
    steps, batch, _ = data.shape
    given = list(lengths)
    frames = xp.full(batch, steps, dtype=xp.int64)
    if attrs["use_data_lengths"]:
        frames = xp.clip(given.pop(0).astype(xp.int64), 0, steps)
    if attrs["use_label_lengths"]:
        return frames, xp.clip(given.pop(0).astype(xp.int64), 0, label.shape[1])
    padding = 0 if attrs["blank_label"] == "first" else -1
    before_padding = xp.cumsum(label.astype(xp.int64) == padding, axis=1) == 0
    return frames, before_padding.sum(axis=1).astype(xp.int64)


def whole_labels(xp: ModuleType, label: Any, counts: Any, classes: int) -> Any:
    """Return the labels as int64, 0 after the end of each sequence.

    Raises:
        OperatorError: A label is not a class index.
    """
    inside = xp.arange(label.shape[1])[None, :] < counts[:, None]
    labels = xp.where(inside, label.astype(xp.int64), 0)
    if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
        raise OperatorError(
            f"CTCLoss: expected labels in [0, {classes}), the classes, got some from "
            f"{int(labels.min())} to {int(labels.max())}"
        )
    return labels


def _log_probabilities(xp: ModuleType, data: Any) -> Any:
    wide = widen(data)
    shifted = wide - wide.max(axis=2, keepdims=True)
    return shifted - xp.log(xp.exp(shifted).sum(axis=2, keepdims=True))


def _join(xp: ModuleType, a: Any, b: Any, skip: Any, may_skip: Any) -> Any:
    """Return the log of the summed probabilities of staying, stepping and skipping."""
    return xp.logaddexp(xp.logaddexp(a, b), xp.where(may_skip, skip, -xp.inf))


def _shifted(xp: ModuleType, x: Any, by: int) -> Any:
    """Shift x by ``by`` states along axis 1, filling with -inf."""
    moved = xp.full_like(x, -xp.inf)
    if by > 0:
        moved[:, by:] = x[:, :-by]
    else:
        moved[:, :by] = x[:, -by:]
    return moved


def _forward(xp: ModuleType, emitted: Any, may_skip: Any) -> Any:
    """Return the forward variables (T, N, S): log probability of the frames up to t, in state s."""
    alpha = xp.full_like(emitted, -xp.inf)
    alpha[0, :, :2] = emitted[0, :, :2]
    for t in range(1, len(emitted)):
        last = alpha[t - 1]
        stepped = _shifted(xp, last, 1)
        alpha[t] = _join(xp, last, stepped, _shifted(xp, last, 2), may_skip) + emitted[t]
    return alpha


def _backward(xp: ModuleType, emitted: Any, may_skip: Any, frames: Any, ends: Any) -> Any:
    """Return the backward variables (T, N, S): log probability of the frames after t, from s."""
    beta = xp.full_like(emitted, -xp.inf)
    skipping = xp.zeros_like(may_skip)
    skipping[:, :-2] = may_skip[:, 2:]
    final = xp.where(ends, emitted.dtype.type(0), emitted.dtype.type(-xp.inf))
    for t in range(len(emitted) - 1, -1, -1):
        found = xp.full_like(final, -xp.inf)
        if t + 1 < len(emitted):
            after = beta[t + 1] + emitted[t + 1]
            stepped = _shifted(xp, after, -1)
            found = _join(xp, after, stepped, _shifted(xp, after, -2), skipping)
        beta[t] = xp.where((frames == t + 1)[:, None], final, found)
    return beta


def states_of(
    xp: ModuleType, labels: Any, counts: Any, blank_label: str, classes: int
) -> tuple[Any, Any, Any]:
    """Return the states (blank, label, blank, ...) of every sequence, (N, S) each.

    Returns:
        Their classes; whether the previous label may skip the blank; and whether a sequence may
        end there.
    """
    blank = 0 if blank_label == "first" else classes - 1
    batch, width = labels.shape
    states = xp.full((batch, 2 * width + 1), blank, dtype=xp.int64)
    states[:, 1::2] = labels
    may_skip = xp.zeros(states.shape, dtype=bool)
    may_skip[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    place = xp.arange(states.shape[1])[None, :]
    last = 2 * counts[:, None]
    return states, may_skip, (place == last) | (place == last - 1)


def _kernel(
    xp: ModuleType, outputs: tuple[Any, Any], data: Any, label: Any, *lengths: Any, **attrs: Any
) -> None:
    loss, grad = outputs
    steps, _, classes = data.shape
    frames, counts = lengths_of(xp, data, label, lengths, attrs)
    labels = whole_labels(xp, label, counts, classes)
    if not data.size:
        loss[...] = 0
        return
    states, may_skip, ends = states_of(xp, labels, counts, attrs["blank_label"], classes)
    log_p = _log_probabilities(xp, data)
    emitted = log_p[along_grid(xp, xp.broadcast_to(states, (steps, *states.shape)), 2)]
    joint = _forward(xp, emitted, may_skip) + _backward(xp, emitted, may_skip, frames, ends)
    top = joint[0].max(axis=1)
    possible = top > -xp.inf
    top = xp.where(possible, top, 0)
    total = xp.log(xp.exp(joint[0] - top[:, None]).sum(axis=1)) + top
    total = xp.where(possible, total, 0)
    loss[...] = 0 - total
    occupied = xp.exp(joint - total[:, None])
    probability = xp.zeros_like(log_p)
    every = xp.broadcast_to(states, occupied.shape)
    add_at(xp, probability, along_grid(xp, every, 2), occupied)
    live = (xp.arange(steps)[:, None] < frames) & possible
    grad[...] = xp.where(live[..., None], xp.exp(log_p) - probability, 0)


def _gradient(g: tuple[Any, Any], data: V, label: V, *rest: Any, **_: object) -> tuple[Any, ...]:
    if g[1] is not None:
        raise AutogradError("CTCLoss: expected a first derivative, got a second (not supported)")
    if g[0] is None:
        return (None,) * (len(rest))
    shape: Shape = (1, data.shape[1], 1)
    return (reshape(g[0], shape) * rest[-1], *(None,) * (len(rest) - 1))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    data = inputs[0]
    dtype = data.dtype or outputs[0].dtype
    inputs[0] = PartialSpec(data.shape, dtype)
    for i in range(1, len(inputs)):
        inputs[i] = PartialSpec(inputs[i].shape, inputs[i].dtype or dtype)
    batch = UNKNOWN if data.shape is None or len(data.shape) != 3 else data.shape[1]
    outputs[0] = PartialSpec(outputs[0].shape or (batch,), dtype)
    for i in range(1, len(outputs)):
        outputs[i] = inputs[0]


CTC_LOSS = register(
    Operator(
        "CTCLoss",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "CTC loss: negative logarithm of the probability of each label sequence, over all\n"
            "its alignments with the frames.\n\n"
            "data holds logits, before the softmax. The blank is class 0 (first) or classes - 1\n"
            "(last). Without label_lengths labels end at the first 0 (first) or -1 (last). A\n"
            "sequence with too few frames for its labels has loss and gradient 0.\n\n"
            "Shapes: data (T, N, classes), label (N, L) with L up to T, data_lengths and\n"
            "label_lengths (N,), output (N,)."
        ),
        inputs=("data", "label", "data_lengths", "label_lengths"),
        active_inputs=_active,
        schema=Schema(
            use_data_lengths=boolean(False),
            use_label_lengths=boolean(False),
            blank_label=choice("first", "last", default="first"),
        ),
        aliases=("_contrib_CTCLoss", "_contrib_ctc_loss", "ctc_loss"),
        outputs=2,
        visible=1,
        output_names=("output0", "output1"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)
