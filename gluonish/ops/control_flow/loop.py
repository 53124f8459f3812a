"""Iterations over raw arrays, and ``_scan``: the operator that gradients of loops are made of."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import Spec
from gluonish.ops.control_flow.subgraph import (
    Key,
    Step,
    Subgraph,
    keeps,
    slice_spec,
    spec_of,
    stacked,
)
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.registry import Attrs, Operator, V, apply, find_operator, register
from gluonish.ops.support.work import endless


class Loop(NamedTuple):
    """The arrays of a loop, raw or as values of a gradient rule.

    Attributes:
        data: What is cut along the first axis, a slice for each iteration.
        states: What the first iteration starts from.
        remain: What every iteration reads whole.
        outs: Results of each iteration, stacked.
        finals: The states after the last one.
        history: The states before each one, stacked; none where no gradient is wanted.
        kept: What the body keeps of each one, stacked; likewise.
    """

    data: Sequence[Any]
    states: Sequence[Any]
    remain: Sequence[Any]
    outs: Sequence[Any]
    finals: Sequence[Any]
    history: Sequence[Any]
    kept: Sequence[Any]


class _Heads(NamedTuple):
    """Gradients of a loop's results, None where there are none."""

    outs: Sequence[Any]
    finals: Sequence[Any]
    history: Sequence[Any]
    kept: Sequence[Any]


def sorted_arrays(
    inputs: Sequence[Any], results: Sequence[Any], counts: tuple[int, int, int]
) -> Loop:
    """Return the arrays of a loop by their parts.

    Args:
        inputs: Data, states, remaining inputs.
        counts: How many data, states, and outputs of each iteration.
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


def _sorted_heads(g: Sequence[Any], counts: tuple[int, int, int]) -> _Heads:
    """Return the gradients of a loop's results by their parts."""
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
        name: The operator, for messages.
        inputs: What one iteration reads: slices of data, states, remaining inputs.
        length: How many iterations there are at most.
        num_states: How many states.
        num_outs: How many outputs an iteration has.
        keep: Whether history and kept values are wanted.

    Raises:
        OperatorError: The body's new states are not like those before.
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
    """Refuse states that change their shape or dtype.

    Raises:
        OperatorError: naming the operator and the state.
    """
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            raise OperatorError(f"{name}: expected state {i} to stay {old}, got {new}")


def iterate(
    xp: Any, step: Step, order: Sequence[int], arrays: Loop, key: Callable[[int], Key]
) -> None:
    """Run a loop.

    Args:
        step: The body.
        order: Which slice each iteration reads and writes.
        arrays: Raw arrays; outputs of slices behind those in ``order`` become zero.
        key: Gives the random key of each iteration.
    """
    data, states, remain, outs, finals, history, kept = arrays
    for y in (*outs, *history, *kept):
        y[len(order) :] = 0
    if not order:
        for final, state in zip(finals, states, strict=True):
            final[...] = state
        return
    for past, state in zip(history, states, strict=False):
        past[order[0], ...] = state
    spare = [] if history or len(order) == 1 else [xp.empty_like(final) for final in finals]
    current = states
    last = len(order) - 1
    for n, t in enumerate(order):
        if history:
            current = [past[t, ...] for past in history]
        following: Sequence[Any] = finals
        if n < last and history:
            following = [past[order[n + 1], ...] for past in history]
        elif (last - n) % 2:
            following = spare
        step(
            [
                *[x[t, ...] for x in data],
                *current,
                *remain,
                *[y[t, ...] for y in outs],
                *following,
                *[y[t, ...] for y in kept],
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
    """Return gradients of a loop's data, states and remaining inputs, None where none flows.

    The way back is a loop itself, over the iterations in the opposite order. It computes each
    iteration once more from the states before it, so that it needs no more than those and what the
    body keeps.

    Args:
        g: Gradients of the results.
        body: The loop's body.
        inputs: Data, states, remaining inputs.
        counts: How many data, states, and outputs of each iteration.
        ran: How many iterations ran, if fewer than there are slices: an array of one number.
        reverse: Whether the loop began at the last slice.
    """
    arrays = sorted_arrays(inputs, results, counts)
    heads = _sorted_heads(g, counts)
    specs = [
        *[slice_spec(spec_of(x)) for x in arrays.data],
        *[spec_of(x) for x in (*arrays.states, *arrays.remain)],
    ]
    given = [*heads.outs, *heads.history, *heads.kept]
    back = body.loop_gradient(
        specs,
        (len(arrays.data), len(arrays.states)),
        [head is not None for head in given],
        train=train,
    )
    data = [*arrays.data, *arrays.history, *arrays.kept, *[x for x in given if x is not None]]
    carries = [
        *[
            _zeros_like(arrays.states[i]) if heads.finals[i] is None else heads.finals[i]
            for i in back.states
        ],
        *[_zeros_like(arrays.remain[i]) for i in back.remain],
    ]
    attrs = {
        "num_data": len(data),
        "num_states": len(carries),
        "num_outs": len(back.data),
        "reverse": not reverse,
        "counted": ran is not None,
        "training": train,
        "subgraphs": (back.body,),
    }
    found = iter(_run(() if ran is None else (ran,), [*data, *carries, *arrays.remain], attrs))
    return [
        *_spread(back.data, found, len(arrays.data)),
        *_spread(back.states, found, len(arrays.states)),
        *_spread(back.remain, found, len(arrays.remain)),
    ]


def _run(count: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    if not attrs["num_states"] + attrs["num_outs"]:
        return []
    found = apply(SCAN, (*count, *inputs), attrs)
    return found if isinstance(found, list) else [found]


def _spread(positions: Sequence[int], values: Any, length: int) -> list[Any]:
    """Return values at their positions, None elsewhere."""
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
    return loop_outputs("_scan", body, each, length, states, outs, keep=keeps(attrs))


def _kernel(xp: Any, out: Any, *arrays: Any, **attrs: Any) -> None:
    inputs = arrays[attrs["counted"] :]
    loop = sorted_arrays(inputs, out, _counts(attrs))
    length = len(inputs[0])
    if attrs["counted"]:
        length = min(length, int(arrays[0][0]))
    order = range(length)
    each = [
        *[x[0, ...] if len(x) else _empty_slice(xp, x) for x in loop.data],
        *loop.states,
        *loop.remain,
    ]
    step, _ = attrs["subgraphs"][0].step(xp, each, train=attrs["training"], keep=keeps(attrs))
    iterate(xp, step, order[::-1] if attrs["reverse"] else order, loop, lambda _: (0, 0))


def _empty_slice(xp: Any, x: Any) -> Any:
    return xp.empty(x.shape[1:], x.dtype)


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
    hidden = attrs["num_states"] + attrs["subgraphs"][0].num_kept if keeps(attrs) else 0
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
        doc="Run a body for each slice of arrays; the gradient of a loop.",
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
