"""Losses that are operators of their own."""

from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT64
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.families.indexing import bounded
from gluonish.onnx.exporting.steps import (
    concat,
    reduced,
    reshaped,
    select,
    sliced,
    softmax,
    squeezed,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Body, Tensor
from gluonish.ops.nn.cross_entropy import Terms
from gluonish.ops.nn.linear_cross_entropy import saves_gradients
from gluonish.ops.support.precision import accumulator

_NEVER = -1e30  # the logarithm of a probability of 0, finite so that sums are not NaN
_LAST = np.iinfo(np.int64).max


def _softmax_cross_entropy(call: Call) -> Tensor:
    x, label = call.inputs
    logs = softmax(x, 1, log=True)
    indices = unsqueezed(bounded(label, x, 1), 1)
    picked = call("GatherElements", logs, indices, axis=1)
    return reshaped(-reduced("ReduceSum", picked), [1])


def _log_sum(*terms: Tensor) -> Tensor:
    """Return the log-sum-exp of the terms, elementwise."""
    emitter = terms[0].emitter
    largest = emitter("Max", *terms)
    total = emitter("Sum", *[emitter("Exp", term - largest) for term in terms])
    return largest + emitter("Log", total)


def _ctc(call: Call) -> list[Tensor | None]:
    """CTC loss: the forward recursion of Graves et al., 2006, over labels separated by blanks."""
    x, label = call.inputs[0], call.inputs[1].to(INT64)
    first, classes = call["blank_label"] == "first", call.x.size(2)
    steps, count = call.x.known_shape[0], call.inputs[1].size(1)
    blank = 0 if first else classes - 1
    more = list(call.inputs[2:])
    lengths = more.pop(0).to(INT64) if call["use_data_lengths"] else None
    wide = FLOAT64 if x.dtype == FLOAT64 else FLOAT32
    if call["use_label_lengths"]:
        sizes = more.pop(0).to(INT64)
    else:
        ended = label.equals(0 if first else -1).to(INT64)
        before = call("CumSum", ended, call.constant(1)).equals(0).to(INT64)
        sizes = reduced("ReduceSum", before, [1])
    word = call.constant(blank)
    clean = call("Clip", label, call.constant(0), call.constant(classes - 1))
    blanks = clean * 0 + word
    pairs = concat([unsqueezed(blanks, 2), unsqueezed(clean, 2)], 2)
    last = sliced(blanks, [0], [1], [1])
    # (N, 2 L + 1): a blank before, between and after the labels.
    states = concat([reshaped(pairs, [0, 2 * count]), last], 1)
    skips = _skips(call, states, word)
    logs = softmax(x.to(wide), 2, log=True)
    index = unsqueezed(states, 0) + call("Shape", x, start=0, end=1) * 0
    return [_run(call, logs, index, skips, lengths, sizes, count, wide), None] if steps else []


def _skips(call: Call, states: Tensor, blank: Tensor) -> Tensor:
    """Return 0 where a state can be reached by skipping one, else a large negative number."""
    earlier = call("Pad", sliced(states, [0], [-2], [1]), [0, 2, 0, 0], call.constant(-1))
    may = ~call("Equal", states, blank) & ~call("Equal", states, earlier)
    return select(may, call.constant(0.0, FLOAT32), call.constant(_NEVER, FLOAT32))


def _run(
    call: Call,
    logs: Tensor,
    states: Tensor,
    skips: Tensor,
    lengths: Tensor | None,
    sizes: Tensor,
    count: int,
    dtype: Any,
) -> Tensor:
    body, word = call.emitter.body(), call.emitter.word
    alpha, number, row = (
        Tensor(body, body.unique(f"{word}_{name}"), kind)
        for name, kind in (("alpha", dtype), ("number", INT64), ("row", dtype))
    )
    never = body.constant(_NEVER, dtype)
    one = body("Pad", sliced(alpha, [0], [-1], [1]), [0, 1, 0, 0], never)
    two = body("Pad", sliced(alpha, [0], [-2], [1]), [0, 2, 0, 0], never)
    index = body("Squeeze", Tensor(body, states.name, INT64), [0])
    own = body("GatherElements", row, index, axis=1)
    skipped = two + Tensor(body, skips.name, FLOAT32).to(dtype)
    after = body("Max", _log_sum(alpha, one, skipped) + own, never)
    if lengths is not None:
        going = number < Tensor(body, lengths.name, INT64)
        after = body("Where", body("Unsqueeze", going, [1]), after, alpha)
    following = number + 1
    begin = _first_state(call, sizes, count, dtype)
    zero = call.constant(0)
    found = call.emitter.several(
        "Scan",
        2,
        *(begin, zero, logs),
        num_scan_inputs=1,
        body=Body(body, [alpha, number, row], [after, following]),
        dtypes=[dtype, INT64],
    )
    return _ended(call, found[0], sizes, dtype)


def _first_state(call: Call, sizes: Tensor, count: int, dtype: Any) -> Tensor:
    row = np.full((1, 2 * count + 1), _NEVER)
    row[0, 0] = 0.0
    return call.constant(row, dtype) + unsqueezed((sizes * 0).to(dtype), 1)


def _ended(call: Call, alpha: Tensor, sizes: Tensor, dtype: Any) -> Tensor:
    ends = unsqueezed(sizes * 2, 1)
    zero = call.constant(0)
    both = [
        squeezed(call("GatherElements", alpha, call("Max", place, zero), axis=1), 1)
        for place in (ends, ends - 1)
    ]
    both[1] = select(sizes.equals(0), _NEVER, both[1])
    total = _log_sum(*both)
    return select(total < _NEVER / 10, 0.0, -total)


def _cross_entropy(call: Call) -> Tensor:
    scores, label = call.inputs
    wide = scores.to(accumulator(call.x.dtype))
    return _row_losses(call, wide, label, scores.size(-1))


def _linear_cross_entropy(call: Call) -> list[Tensor | None]:
    """Compute the scores as a whole."""
    wide = accumulator(call.x.dtype)
    x, weight, *others = (
        value if i == 2 else value.to(wide) for i, value in enumerate(call.inputs)
    )
    scores = call("MatMul", x, transposed(weight, [1, 0]))
    if call["use_bias"]:
        scores = scores + others[1]
    hidden = [None] * (3 + call["use_bias"]) if saves_gradients(call.attrs) else []
    return [_row_losses(call, scores, others[0], weight.size(0)), *hidden]


def _row_losses(call: Call, scores: Tensor, label: Tensor, classes: int) -> Tensor:
    """Compute the loss of scores, in the dtype of sums, as `gluonish.ops.nn.cross_entropy` does."""
    terms = Terms.of(call.attrs, classes)
    logs = softmax(scores, -1, log=True)
    chosen = label.to(INT64)
    keep = None
    if call["ignore_label"] is not None:
        keep = ~chosen.equals(call["ignore_label"])
        chosen = select(keep, chosen, call.constant(0))
    last = call.x.rank - 1
    picked = call("GatherElements", logs, unsqueezed(chosen, last), axis=last)
    found = squeezed(picked, last) * -terms.chosen
    if terms.spread:
        found = found - reduced("ReduceSum", logs, [-1]) * terms.spread
    if terms.square:
        log_sum = reduced("ReduceLogSumExp", scores, [-1])
        found = found + log_sum * log_sum * terms.square
    if keep is not None:
        found = select(keep, found, 0.0)
    if call["reduction"] == "none":
        return found
    total = reduced("ReduceSum", found)
    if call["reduction"] == "mean":
        counted = (chosen * 0 + 1) if keep is None else keep.to(INT64)
        count = call("Max", reduced("ReduceSum", counted), call.constant(1))
        total = total / count.to(found.dtype)
    return reshaped(total, [1])


TABLE: dict[str, Any] = {
    "cross_entropy": _cross_entropy,
    "linear_cross_entropy": _linear_cross_entropy,
    "softmax_cross_entropy": _softmax_cross_entropy,
    "CTCLoss": _ctc,
}
