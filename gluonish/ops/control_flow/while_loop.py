"""_while_loop: run a body while a condition on its variables holds.

_foreach: run a body for each slice of arrays along their first axis, and carry states.
"""

from collections.abc import Sequence
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, shape
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec, merge_shapes
from gluonish.ops.control_flow.loop import (
    Loop,
    check_states,
    group_arrays,
    iterate,
    loop_gradient,
    loop_outputs,
)
from gluonish.ops.control_flow.subgraph import (
    Key,
    Subgraph,
    any_draws,
    drop_first,
    inner_key,
    num_visible,
    saves_values,
    slice_spec,
)
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.work import endless

# First random key of the condition; the function's keys are below it.
_CONDITION_KEYS = 1 << 40


def _bodies(attrs: Attrs) -> tuple[Subgraph, Subgraph]:
    if "subgraphs" not in attrs:
        raise OperatorError("_while_loop: expected subgraphs, got none; use contrib.while_loop")
    condition, function = attrs["subgraphs"]
    return condition, function


def _order(attrs: Attrs) -> list[int]:
    """Return the indices of the function's inputs: variables first, then loop constants."""
    variables = list(attrs["func_var_locs"])
    others = (i for i in range(len(attrs["func_input_locs"])) if i not in variables)
    return [*variables, *others]


def _counts(attrs: Attrs) -> tuple[int, int, int]:
    return 0, len(attrs["func_var_locs"]), attrs["num_out_data"]


def _input_indices(attrs: Attrs) -> list[int]:
    """Return the indices of the variables, then of the loop constants, among the node's inputs."""
    return [attrs["func_input_locs"][i] for i in _order(attrs)]


def _function(attrs: Attrs) -> Subgraph:
    """Return the function with its inputs reordered: variables first."""
    return _bodies(attrs)[1].reordered(tuple(_order(attrs)))


def _infer(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    condition, _ = _bodies(attrs)
    _, states, outs = _counts(attrs)
    (decision, *_) = condition.infer([specs[i] for i in attrs["cond_input_locs"]])
    if decision.size != 1:
        raise OperatorError(f"_while_loop: expected a condition of one element, got {decision}")
    each = [specs[i] for i in _input_indices(attrs)]
    found = loop_outputs(
        *("_while_loop", _function(attrs), each, attrs["max_iterations"], states, outs),
        keep=saves_values(attrs),
    )
    check_states("_while_loop", each[:states], found[outs : outs + states])
    return (*found, Spec((1,), INT64)) if saves_values(attrs) else found


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    _, states, outs = _counts(attrs)
    each = [inputs[i] for i in _input_indices(attrs)]
    results = [PartialSpec(drop_first(spec.shape), spec.dtype) for spec in outputs[:outs]]
    results += each[:states]
    _function(attrs).complete(each, results)
    for index, spec in zip(_input_indices(attrs), each, strict=True):
        inputs[index] = spec
    length = attrs["max_iterations"]
    for i, spec in enumerate(results):
        if i < outs and spec.shape is not None:
            outputs[i] = PartialSpec((length, *spec.shape), spec.dtype)
        elif i >= outs:
            outputs[i] = spec


def _kernel(xp: Any, out: Any, *arrays: Any, **attrs: Any) -> None:
    results, ran = (out[:-1], out[-1]) if saves_values(attrs) else (out, None)
    ordered = [arrays[i] for i in _input_indices(attrs)]
    loop = group_arrays(ordered, results, _counts(attrs))
    count = _run(xp, arrays, loop, attrs)
    for y in (*loop.outs, *loop.history, *loop.saved):
        y[count:] = 0
    if ran is not None:
        ran[0] = count


def _run(xp: Any, arrays: Sequence[Any], loop: Loop, attrs: Attrs) -> int:
    """Run the loop, and return the number of iterations."""
    condition, _ = _bodies(attrs)
    train, keep = attrs["train"], saves_values(attrs)
    tested = [arrays[i] for i in attrs["cond_input_locs"]]
    test, test_keys = condition.step(xp, tested, train=train, keep=False)
    step, step_keys = _function(attrs).step(
        xp, [*loop.states, *loop.remain], train=train, keep=keep
    )
    (spec, *_) = condition.infer([Spec(x.shape, x.dtype) for x in tested])
    decision = xp.empty(spec.shape, spec.dtype)
    variables = dict(zip(_input_indices(attrs), loop.states, strict=False))
    key: Key = attrs.get("key") or (0, 0)
    current: Sequence[Any] = loop.states
    if keep and attrs["max_iterations"]:
        for past, state in zip(loop.history, loop.states, strict=True):
            past[0, ...] = state
    scratch = [[xp.empty_like(x) for x in loop.finals] for _ in range(0 if keep else 2)]
    n = 0
    while n < attrs["max_iterations"]:
        now = dict(zip(variables, current, strict=True))
        args = [now.get(i, arrays[i]) for i in attrs["cond_input_locs"]]
        test([*args, decision], inner_key(key, _CONDITION_KEYS + n * test_keys))
        if not decision.item():
            break
        following: Sequence[Any] = loop.finals
        if not keep:
            following = scratch[n % 2]
        elif n + 1 < attrs["max_iterations"]:
            following = [past[n + 1, ...] for past in loop.history]
        step(
            [
                *current,
                *loop.remain,
                *[y[n, ...] for y in loop.outs],
                *following,
                *[y[n, ...] for y in loop.saved],
            ],
            inner_key(key, n * step_keys),
        )
        current = following
        n += 1
    for final, state in zip(loop.finals, current, strict=True):
        if final is not state:
            final[...] = state
    return n


def _gradient(g: Any, *values: Any, train: bool, **attrs: Any) -> tuple[Any, ...]:
    end = len(values) - _num_outputs(attrs)
    indices = _input_indices(attrs)
    arrays = [values[i] for i in indices], values[end:-1]
    found = loop_gradient(
        *(g[:-1], _function(attrs), *arrays, _counts(attrs)), ran=values[-1], train=train
    )
    totals: list[Any] = [None] * end
    for index, gradient in zip(indices, found, strict=True):
        if gradient is not None:
            present = totals[index]
            totals[index] = gradient if present is None else present + gradient
    return tuple(totals)


def _num_outputs(attrs: Attrs) -> int:
    if not saves_values(attrs):
        return num_visible(attrs)
    return num_visible(attrs) + len(attrs["func_var_locs"]) + _bodies(attrs)[1].num_saved + 1


def _mutated(attrs: Attrs) -> tuple[int, ...]:
    if "subgraphs" not in attrs:
        return ()
    condition, function = _bodies(attrs)
    indices = [attrs["cond_input_locs"][i] for i in condition.mutated]
    indices += [attrs["func_input_locs"][i] for i in function.mutated]
    return tuple(sorted(set(indices)))


WHILE_LOOP = register(
    Operator(
        "_while_loop",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Run a function repeatedly on its results while a condition holds.\n\n"
            "The outputs of the iterations are stacked, with zeros for iterations that did not\n"
            "run. Created by contrib.while_loop.\n\n"
            "Shapes: variables any; outputs (max_iterations, ...), and variables of unchanged\n"
            "shape."
        ),
        active_inputs=lambda attrs: tuple(f"data{i}" for i in range(attrs["num_args"] - 2)),
        schema=Schema(
            num_args=integer(low=2),
            num_outputs=integer(low=0),
            num_out_data=integer(low=0),
            max_iterations=integer(low=0),
            cond_input_locs=shape(),
            func_input_locs=shape(),
            func_var_locs=shape(),
        ),
        outputs=_num_outputs,
        visible=num_visible,
        execution=Execution(
            mutates=_mutated, train_dependent=True, random=any_draws, heavy=endless, live=True
        ),
        shapes=ShapeFacts(complete=_complete),
    )
)


def _counts_foreach(attrs: Attrs) -> tuple[int, int, int]:
    return len(attrs["in_data_locs"]), len(attrs["in_state_locs"]), attrs["num_out_data"]


def _body(attrs: Attrs) -> Subgraph:
    if "subgraphs" not in attrs:
        raise OperatorError("_foreach: expected a subgraph, got none; use contrib.foreach")
    body: Subgraph = attrs["subgraphs"][0]
    return body


def _infer_foreach(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    data, states, outs = _counts_foreach(attrs)
    lengths = {spec.shape[:1] for spec in specs[:data]}
    if len(lengths) != 1 or () in lengths:
        shapes = [spec.shape for spec in specs[:data]]
        raise OperatorError(f"_foreach: expected data of equal length along axis 0, got {shapes}")
    each = [*map(slice_spec, specs[:data]), *specs[data:]]
    found = loop_outputs(
        *("_foreach", _body(attrs), each, specs[0].shape[0], states, outs), keep=saves_values(attrs)
    )
    check_states("_foreach", specs[data : data + states], found[outs : outs + states])
    return found


def _complete_foreach(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data, states, outs = _counts_foreach(attrs)
    shown = outs + states
    length = UNKNOWN
    for spec in (*inputs[:data], *outputs[:outs]):
        if spec.shape:
            length = max(length, spec.shape[0])
    each = [PartialSpec(drop_first(spec.shape), spec.dtype) for spec in inputs[:data]] + inputs[
        data:
    ]
    results = [PartialSpec(drop_first(spec.shape), spec.dtype) for spec in outputs[:outs]]
    results += outputs[outs:shown]
    # A state has the same shape and dtype before and after an iteration.
    for i in range(states):
        each[data + i] = results[outs + i] = _merged(each[data + i], results[outs + i])
    _body(attrs).complete(each, results)
    inputs[:data] = [_stacked(length, spec) for spec in each[:data]]
    inputs[data:] = each[data:]
    outputs[:outs] = [_stacked(length, spec) for spec in results[:outs]]
    outputs[outs:shown] = results[outs:]


def _merged(a: PartialSpec, b: PartialSpec) -> PartialSpec:
    return PartialSpec(
        merge_shapes(a.shape, b.shape, "_foreach"), b.dtype if a.dtype is None else a.dtype
    )


def _stacked(length: int, spec: PartialSpec) -> PartialSpec:
    return PartialSpec(None if spec.shape is None else (length, *spec.shape), spec.dtype)


def _kernel_foreach(xp: Any, out: Any, *arrays: Any, **attrs: Any) -> None:
    loop = group_arrays(arrays, out, _counts_foreach(attrs))
    length = len(arrays[0])
    order = range(length)
    if not length:
        iterate(xp, lambda args, key: None, order, loop, lambda n: (0, 0))
        return
    each = [*[x[0, ...] for x in loop.data], *loop.states, *loop.remain]
    step, count = _body(attrs).step(xp, each, train=attrs["train"], keep=saves_values(attrs))
    key = attrs.get("key") or (0, 0)
    iterate(xp, step, order, loop, lambda n: inner_key(key, n * count))


def _gradient_foreach(g: Any, *values: Any, train: bool, **attrs: Any) -> tuple[Any, ...]:
    end = len(values) - _num_outputs_foreach(attrs)
    arrays = values[:end], values[end:]
    return tuple(loop_gradient(g, _body(attrs), *arrays, _counts_foreach(attrs), train=train))


def _num_outputs_foreach(attrs: Attrs) -> int:
    hidden = len(attrs["in_state_locs"]) + _body(attrs).num_saved if saves_values(attrs) else 0
    return num_visible(attrs) + hidden


FOREACH = register(
    Operator(
        "_foreach",
        _infer_foreach,
        _kernel_foreach,
        Gradient(_gradient_foreach, uses_output=True),
        doc=(
            "Run a body for each slice of the data along axis 0, and pass states from one\n"
            "iteration to the next. Created by contrib.foreach.\n\n"
            "Shapes: data (T, ...), states any; outputs (T, ...), and states of unchanged shape."
        ),
        active_inputs=lambda attrs: tuple(f"data{i}" for i in range(attrs["num_args"] - 1)),
        schema=Schema(
            num_args=integer(low=1),
            num_outputs=integer(low=0),
            num_out_data=integer(low=0),
            in_state_locs=shape(),
            in_data_locs=shape(),
            remain_locs=shape(),
        ),
        outputs=_num_outputs_foreach,
        visible=num_visible,
        execution=Execution(
            mutates=lambda attrs: _body(attrs).mutated if "subgraphs" in attrs else (),
            train_dependent=True,
            random=any_draws,
            heavy=endless,
            live=True,
        ),
        shapes=ShapeFacts(complete=_complete_foreach),
    )
)
