"""hawkesll: log likelihood of a multivariate Hawkes process.

References:
    A. G. Hawkes, Spectra of Some Self-Exciting and Mutually Exciting Point Processes, 1971.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.elementwise.unary import EXP, LOG
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import widen

_NAME = "_contrib_hawkesll"
_INPUTS = ("lda", "alpha", "beta", "state", "lags", "marks", "valid_length", "max_time")


def _infer(*arrays: Spec) -> tuple[Spec, Spec]:
    lda, lags, marks = arrays[0], arrays[4], arrays[5]
    if len(lda.shape) != 2 or len(lags.shape) != 2 or not is_floating(lda.dtype):
        raise OperatorError(
            f"{_NAME}: expected floating lda (N, K) and lags (N, T), got {lda} and {lags}"
        )
    batch, types = lda.shape
    rates, events, per_type = (batch, types), (batch, lags.shape[1]), (types,)
    samples = (batch,)
    shapes: tuple[Shape, ...] = (
        *(rates, per_type, per_type, rates),
        *(events, events, samples, samples),
    )
    for name, spec, shape in zip(_INPUTS, arrays, shapes, strict=True):
        dtype = INT32 if spec is marks else lda.dtype
        if spec != Spec(shape, dtype):
            raise OperatorError(f"{_NAME}: expected {name} {Spec(shape, dtype)}, got {spec}")
    return Spec((batch,), lda.dtype), lda


def _events(xp: ModuleType, marks: Any, valid_length: Any, types: int, dtype: Any) -> Any:
    """Return 1 where an event of a type occurred, else 0: (T, N, K)."""
    valid = xp.arange(marks.shape[1])[None, :] < widen(valid_length)[:, None]
    hit = marks[..., None] == xp.arange(types)
    return xp.moveaxis(hit & valid[..., None], 1, 0).astype(dtype)


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    lda: Any,
    alpha: Any,
    beta: Any,
    state: Any,
    lags: Any,
    marks: Any,
    valid_length: Any,
    max_time: Any,
) -> None:
    lda, alpha, beta, state = (widen(x) for x in (lda, alpha, beta, state))
    if marks.size and not 0 <= int(marks.min()) <= int(marks.max()) < lda.shape[1]:
        raise OperatorError(
            f"{_NAME}: expected marks in [0, {lda.shape[1]}), got marks from {int(marks.min())} "
            f"to {int(marks.max())}"
        )
    total = xp.zeros(lda.shape, dtype=lda.dtype)
    last = xp.zeros_like(total)
    time = xp.zeros((len(lda), 1), dtype=lda.dtype)
    for t, hit in enumerate(_events(xp, marks, valid_length, lda.shape[1], lda.dtype)):
        time = time + widen(lags)[:, t : t + 1]
        since = time - last
        decay = xp.exp(-beta * since)
        intensity = xp.where(hit, lda + alpha * beta * state * decay, 1)
        total += hit * (xp.log(intensity) - lda * since - alpha * state * (1 - decay))
        state = xp.where(hit, 1 + state * decay, state)
        last = xp.where(hit, time, last)
    since = widen(max_time)[:, None] - last
    decay = xp.exp(-beta * since)
    total -= lda * since + alpha * state * (1 - decay)
    outputs[0][...] = total.sum(axis=1)
    outputs[1][...] = state * decay


def _events_kernel(xp: ModuleType, out: Any, lda: Any, marks: Any, valid_length: Any) -> None:
    out[...] = _events(xp, marks, valid_length, lda.shape[1], out.dtype)


_EVENTS = register(
    Operator(
        "_hawkes_events",
        lambda lda, marks, valid_length: (Spec((marks.shape[1], *lda.shape), lda.dtype),),
        _events_kernel,
        zero_gradient,
        doc="Return 1 where an event of a type occurred, else 0: (T, N, K).",
        inputs=("lda", "marks", "valid_length"),
        schema=Schema(),
    )
)


def _likelihood(
    lda: V, alpha: V, beta: V, state: V, lags: V, marks: V, valid_length: V, max_time: V
) -> tuple[Any, Any]:
    """Compute `_kernel` with operators."""
    batch, types = lda.shape

    def spread(x: Any, shape: tuple[int, int]) -> Any:
        return broadcast_to(reshape(x, shape), (batch, types))

    alpha, beta = spread(alpha, (1, types)), spread(beta, (1, types))
    events = apply(_EVENTS, (lda, marks, valid_length), {})
    last: Any = zeros_like(lda)
    time, total = last, last
    for t in range(lags.shape[1]):
        hit = reshape(slice_axis(events, 0, t, t + 1), (batch, types))
        miss = 1.0 - hit
        time = time + spread(slice_axis(lags, 1, t, t + 1), (batch, 1))
        since = time - last
        decay = EXP(-(beta * since))
        # 1, whose logarithm is 0, where no event occurred.
        intensity = hit * (lda + alpha * beta * state * decay) + miss
        total = total + LOG(intensity) - hit * (lda * since + alpha * state * (1.0 - decay))
        state = hit * (1.0 + state * decay) + miss * state
        last = hit * time + miss * last
    since = spread(max_time, (batch, 1)) - last
    decay = EXP(-(beta * since))
    total = total - (lda * since + alpha * state * (1.0 - decay))
    return sum_(total, (1,)), state * decay


_likelihood_gradient = composite_gradient(_likelihood)


def _gradient(g: Any, *arrays: Any) -> tuple[Any, ...]:
    if g[0] is None and g[1] is None:
        return (None,) * 8
    return (*_likelihood_gradient(g, *arrays)[:4], *(None,) * 4)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    dtype = next((x.dtype for i, x in enumerate(inputs) if i != 5 and x.dtype is not None), None)
    for i, x in enumerate(inputs):
        inputs[i] = PartialSpec(x.shape, x.dtype or (INT32 if i == 5 else dtype))
    for i, x in enumerate(outputs):
        outputs[i] = PartialSpec(x.shape, x.dtype or dtype)


HAWKESLL = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Compute the log-likelihood of event sequences under a Hawkes process, in which each\n"
            "event temporarily raises the rate of its type.\n\n"
            "lda holds the background rates; alpha the mean number of events caused by an event,\n"
            "beta the decay rate of that effect; state the excitation from earlier events; lags\n"
            "the times between events; marks their types as int32; valid_length the number of\n"
            "events; max_time the duration of each sequence. The outputs are the log-likelihood\n"
            "and the state at max_time. lda, alpha, beta and state have gradients.\n\n"
            "Shapes: lda and state (N, K), alpha and beta (K,), lags and marks (N, T),\n"
            "valid_length and max_time (N,), outputs (N,) and (N, K)."
        ),
        inputs=_INPUTS,
        outputs=2,
        output_names=("output", "out_state"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)
