"""Loops over raw arrays, and ``_scan``, the operator that computes gradients of loops."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import Spec
from gluonish.ops.control_flow.subgraph import (
    Key,
    Step,
    Subgraph,
    saves_values,
    slice_spec,
    spec_of,
    stacked,
)
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.registry import Attrs, Operator, V, apply, find_operator, register
from gluonish.ops.support.work import endless


class Loop(NamedTuple):
    """The arrays of a loop: raw arrays in a kernel, symbolic values in a gradient rule.

    Attributes:
        data: Inputs sliced along the first axis, one slice for each iteration.
        states: Initial states.
        remain: Inputs that every iteration reads unsliced.
        outs: Outputs of the iterations, stacked.
        finals: Final states.
        history: States before each iteration, stacked; empty if no gradient is needed.
        saved: Saved values of each iteration, stacked; empty if no gradient is needed.
    """

    data: Sequence[Any]
    states: Sequence[Any]
    remain: Sequence[Any]
    outs: Sequence[Any]
    finals: Sequence[Any]
    history: Sequence[Any]
    saved: Sequence[Any]


class _Heads(NamedTuple):
    """Gradients of a loop's results; None for results without a gradient."""

    outs: Sequence[Any]
    finals: Sequence[Any]
    history: Sequence[Any]
    saved: Sequence[Any]


def group_arrays(
    inputs: Sequence[Any], results: Sequence[Any], counts: tuple[int, int, int]
) -> Loop:
    """Group the arrays of a loop by role.

    Args:
        inputs: Data inputs, states and remaining inputs, in this order.
        counts: Number of data inputs, states, and outputs of an iteration.
    """
    data, states, outs = counts
    shown = outs + states
    history = shown + (states if len(results) > shown else 0)
    return Loop(
        inputs[:data],
        inputs[data : data + states],
        inputs[data + states :],
        results[:outs],
        results[outs:shown],
        results[shown:history],
        results[history:],
    )


def _group_heads(g: Sequence[Any], counts: tuple[int, int, int]) -> _Heads:
    """Group the gradients of a loop's results by role."""
    _, num_states, num_outs = counts
    shown = num_outs + num_states
    end = shown + num_states
    return _Heads(g[:num_outs], g[num_outs:shown], g[shown:end], g[end:])


def loop_outputs(
    name: str,
    body: Subgraph,
    inputs: Sequence[Spec],
    length: int,
    num_states: int,
    num_outs: int,
    *,
    keep: bool,
) -> tuple[Spec, ...]:
    """Return the specs of a loop's results.

    Args:
        inputs: Inputs of one iteration: slices of data, states, remaining inputs.
        length: Maximum number of iterations.
        num_outs: Number of outputs of an iteration.
        keep: Whether to add history and saved values.
    """
    found = body.infer(inputs)
    shown = num_outs + num_states
    states = found[num_outs:shown]
    return (
        *stacked(length, found[:num_outs]),
        *states,
        *(stacked(length, states) if keep else ()),
        *(stacked(length, found[shown:]) if keep else ()),
    )


def check_states(name: str, before: Sequence[Spec], after: Sequence[Spec]) -> None:
    """Raise OperatorError for a state that changes its shape or dtype."""
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            raise OperatorError(f"{name}: expected state {i} to remain {old}, got {new}")


def iterate(
    xp: Any, step: Step, order: Sequence[int], arrays: Loop, key: Callable[[int], Key]
) -> None:
    """Run a loop.

    Args:
        step: Runs the body once.
        order: Index of the slice that each iteration reads and writes.
        arrays: Raw arrays; output slices beyond those in ``order`` are filled with zeros.
        key: Returns the random key of an iteration.
    """
    data, states, remain, outs, finals, history, saved = arrays
    for y in (*outs, *history, *saved):
        y[len(order) :] = 0
    if not order:
        for final, state in zip(finals, states, strict=True):
            final[...] = state
        return
    for past, state in zip(history, states, strict=False):
        past[order[0], ...] = state
    scratch = [] if history or len(order) == 1 else [xp.empty_like(final) for final in finals]
    current = states
    last = len(order) - 1
    for n, t in enumerate(order):
        if history:
            current = [past[t, ...] for past in history]
        following: Sequence[Any] = finals
        if n < last and history:
            following = [past[order[n + 1], ...] for past in history]
        elif (last - n) % 2:
            following = scratch
        step(
            [
                *[x[t, ...] for x in data],
                *current,
                *remain,
                *[y[t, ...] for y in outs],
                *following,
                *[y[t, ...] for y in saved],
            ],
            key(n),
        )
        current = following


def loop_gradient(
    g: Sequence[Any],
    body: Subgraph,
    inputs: Sequence[Any],
    results: Sequence[Any],
    counts: tuple[int, int, int],
    *,
    ran: V | None = None,
    reverse: bool = False,
    train: bool,
) -> list[Any]:
    """Return the gradients of a loop's data, states and remaining inputs, None for no gradient.

    The backward pass is a loop over the iterations in reverse order. It recomputes each iteration
    from the states before it, so it needs only those states and the saved values.

    Args:
        g: Gradients of the results.
        inputs: Data, states, remaining inputs.
        counts: Number of data inputs, states, and outputs of an iteration.
        ran: Number of iterations that ran, as an array of one element; None for all slices.
        reverse: Whether the forward loop began at the last slice.
    """
    arrays = group_arrays(inputs, results, counts)
    heads = _group_heads(g, counts)
    specs = [
        *[slice_spec(spec_of(x)) for x in arrays.data],
        *[spec_of(x) for x in (*arrays.states, *arrays.remain)],
    ]
    grads = [*heads.outs, *heads.history, *heads.saved]
    backward = body.loop_gradient(
        specs,
        (len(arrays.data), len(arrays.states)),
        [head is not None for head in grads],
        train=train,
    )
    data = [*arrays.data, *arrays.history, *arrays.saved, *[x for x in grads if x is not None]]
    carries = [
        *[
            _zeros_like(arrays.states[i]) if heads.finals[i] is None else heads.finals[i]
            for i in backward.states
        ],
        *[_zeros_like(arrays.remain[i]) for i in backward.remain],
    ]
    attrs = {
        "num_data": len(data),
        "num_states": len(carries),
        "num_outs": len(backward.data),
        "reverse": not reverse,
        "counted": ran is not None,
        "training": train,
        "subgraphs": (backward.body,),
    }
    found = iter(_run(() if ran is None else (ran,), [*data, *carries, *arrays.remain], attrs))
    return [
        *_spread(backward.data, found, len(arrays.data)),
        *_spread(backward.states, found, len(arrays.states)),
        *_spread(backward.remain, found, len(arrays.remain)),
    ]


def _run(count: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    if not attrs["num_states"] + attrs["num_outs"]:
        return []
    found = apply(SCAN, (*count, *inputs), attrs)
    return found if isinstance(found, list) else [found]


def _spread(positions: Sequence[int], values: Any, length: int) -> list[Any]:
    """Return a list with the values at ``positions``, None elsewhere."""
    spread: list[Any] = [None] * length
    for position in positions:
        spread[position] = next(values)
    return spread


def _zeros_like(x: V) -> Any:
    return apply(find_operator("zeros_like"), (x,), {})


def _counts(attrs: Attrs) -> tuple[int, int, int]:
    return attrs["num_data"], attrs["num_states"], attrs["num_outs"]


def _infer(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    data, states, outs = _counts(attrs)
    inputs = specs[attrs["counted"] :]
    body: Subgraph = attrs["subgraphs"][0]
    each = [*map(slice_spec, inputs[:data]), *inputs[data:]]
    length = inputs[0].shape[0]
    return loop_outputs("_scan", body, each, length, states, outs, keep=saves_values(attrs))


def _kernel(xp: Any, out: Any, *arrays: Any, **attrs: Any) -> None:
    inputs = arrays[attrs["counted"] :]
    loop = group_arrays(inputs, out, _counts(attrs))
    length = len(inputs[0])
    if attrs["counted"]:
        length = min(length, int(arrays[0][0]))
    order = range(length)
    each = [
        *[x[0, ...] if len(x) else xp.empty(x.shape[1:], x.dtype) for x in loop.data],
        *loop.states,
        *loop.remain,
    ]
    step, _ = attrs["subgraphs"][0].step(
        xp, each, train=attrs["training"], keep=saves_values(attrs)
    )
    iterate(xp, step, order[::-1] if attrs["reverse"] else order, loop, lambda _: (0, 0))


def _gradient(g: Any, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    counted = int(attrs["counted"])
    end = len(values) - _num_outputs(attrs)
    found = loop_gradient(
        *(g, attrs["subgraphs"][0], values[counted:end], values[end:], _counts(attrs)),
        ran=values[0] if counted else None,
        reverse=attrs["reverse"],
        train=attrs["training"],
    )
    return (*[None] * counted, *found)


def _num_visible(attrs: Attrs) -> int:
    shown: int = attrs["num_states"] + attrs["num_outs"]
    return shown


def _num_outputs(attrs: Attrs) -> int:
    hidden = attrs["num_states"] + attrs["subgraphs"][0].num_saved if saves_values(attrs) else 0
    return _num_visible(attrs) + hidden


def _input_names(attrs: Attrs) -> tuple[str, ...]:
    count = attrs["subgraphs"][0].num_inputs if "subgraphs" in attrs else 0
    return (*(["count"] * attrs["counted"]), *(f"data{i}" for i in range(count)))


SCAN = register(
    Operator(
        "_scan",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc="Run a body for each slice of arrays, for the gradient of a loop.",
        active_inputs=_input_names,
        schema=Schema(
            num_data=integer(),
            num_states=integer(),
            num_outs=integer(),
            reverse=boolean(),
            counted=boolean(),
            training=boolean(),
        ),
        outputs=_num_outputs,
        visible=_num_visible,
        execution=Execution(heavy=endless, live=True),
    )
)
