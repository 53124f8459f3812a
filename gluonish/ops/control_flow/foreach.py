"""_foreach: run a body for each slice of arrays along their first axis, and carry states."""

from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, shape
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec, merge_shapes
from gluonish.ops.control_flow.loop import (
    check_states,
    group_arrays,
    iterate,
    loop_gradient,
    loop_outputs,
)
from gluonish.ops.control_flow.subgraph import (
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


def _counts(attrs: Attrs) -> tuple[int, int, int]:
    return len(attrs["in_data_locs"]), len(attrs["in_state_locs"]), attrs["num_out_data"]


def _body(attrs: Attrs) -> Subgraph:
    if "subgraphs" not in attrs:
        raise OperatorError("_foreach: expected a subgraph, got none; use contrib.foreach")
    body: Subgraph = attrs["subgraphs"][0]
    return body


def _infer(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    data, states, outs = _counts(attrs)
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


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data, states, outs = _counts(attrs)
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


def _kernel(xp: Any, out: Any, *arrays: Any, **attrs: Any) -> None:
    loop = group_arrays(arrays, out, _counts(attrs))
    length = len(arrays[0])
    order = range(length)
    if not length:
        iterate(xp, lambda args, key: None, order, loop, lambda n: (0, 0))
        return
    each = [*[x[0, ...] for x in loop.data], *loop.states, *loop.remain]
    step, count = _body(attrs).step(xp, each, train=attrs["train"], keep=saves_values(attrs))
    key = attrs.get("key") or (0, 0)
    iterate(xp, step, order, loop, lambda n: inner_key(key, n * count))


def _gradient(g: Any, *values: Any, train: bool, **attrs: Any) -> tuple[Any, ...]:
    end = len(values) - _num_outputs(attrs)
    arrays = values[:end], values[end:]
    return tuple(loop_gradient(g, _body(attrs), *arrays, _counts(attrs), train=train))


def _num_outputs(attrs: Attrs) -> int:
    hidden = len(attrs["in_state_locs"]) + _body(attrs).num_saved if saves_values(attrs) else 0
    return num_visible(attrs) + hidden


FOREACH = register(
    Operator(
        "_foreach",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
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
        outputs=_num_outputs,
        visible=num_visible,
        execution=Execution(
            mutates=lambda attrs: _body(attrs).mutated if "subgraphs" in attrs else (),
            train_dependent=True,
            random=any_draws,
            heavy=endless,
            live=True,
        ),
        shapes=ShapeFacts(complete=_complete),
    )
)
