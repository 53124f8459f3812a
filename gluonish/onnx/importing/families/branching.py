"""If, Loop and Scan: operators with inner graphs.

If a condition is known during tracing, the branch is chosen then, and a loop of few iterations is
unrolled. Other cases use gluonish's control flow operators, or run without a graph if shapes change
between iterations.
"""

from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import BOOL, INT64
from gluonish.core.errors import ArgumentError, OperatorError, UntraceableError
from gluonish.ndarray import control_flow, recording
from gluonish.onnx.importing import running
from gluonish.onnx.importing.arrays import array_of, axis_of, filled, host, integer, is_known, plain
from gluonish.onnx.importing.elements import element
from gluonish.onnx.importing.nodes import Call, Rule
from gluonish.onnx.importing.running import Program

_MOST_UNROLLED = 256  # iterations of a loop in a traced network
_ENDLESS = 1 << 31


def _truth(value: Any) -> bool:
    return bool(host(value).reshape(-1)[0])


def _if(call: Call, condition: Any) -> Any:
    branches = [call.attr("else_branch"), call.attr("then_branch")]
    if is_known(condition):
        return tuple(running.run(branches[_truth(condition)], (), call.scope))

    def branch(program: Program) -> Any:
        def values() -> list[Any]:
            found = [plain(x) for x in running.run(program, (), call.scope)]
            if any(x is None or isinstance(x, list) for x in found):
                raise UntraceableError("ONNX If: expected arrays of both branches, got others")
            return found

        return values

    flag = mnp.reshape(plain(condition), (1,)).astype(np.float32)
    try:
        found = control_flow.cond(flag, branch(branches[1]), branch(branches[0]))
    except (ArgumentError, OperatorError) as error:  # branches with other shapes or dtypes
        raise UntraceableError(f"ONNX If: {error}") from error
    return tuple(found) if isinstance(found, list | tuple) else found


def _loop(call: Call, most: Any = None, condition: Any = None, *carried: Any) -> tuple[Any, ...]:
    """Run the body while the condition holds, up to a limit, and stack the iterations' outputs."""
    body: Program = call.attr("body")
    limit = _ENDLESS if most is None else integer(most)
    going = condition if condition is not None else filled((), True, BOOL)
    values, steps = list(carried), []
    number = 0
    while number < limit and _goes_on(going, number):
        given = [array_of(number, INT64), going, *values]
        going, *results = running.run(body, given[: len(body.inputs)], call.scope)
        values = results[: len(carried)]
        steps.append(results[len(carried) :])
        number += 1
    first = 1 + len(carried)
    outs = range(len(body.outputs) - first)
    return (*values, *[_stacked(call, body, steps, i, first + i) for i in outs])


def _goes_on(going: Any, number: int) -> bool:
    """Whether a loop continues.

    Raises:
        UntraceableError: While tracing: the condition is not known, or there are too many
            iterations.
    """
    if not is_known(going):
        raise UntraceableError(
            "ONNX Loop: expected an end that does not depend on values, got one that does"
        )
    if number >= _MOST_UNROLLED and recording.tracer.get() is not None:
        raise UntraceableError(f"ONNX Loop: expected at most {_MOST_UNROLLED} rounds, got more")
    return _truth(going)


def _stacked(call: Call, body: Program, steps: list[list[Any]], i: int, index: int) -> Any:
    """Stack an output of all iterations; without iterations, return an empty array."""
    if steps:
        return mnp.stack([plain(step[i]) for step in steps], axis=0)
    tensor = body.declared[index].type.tensor_type
    shape = [max(0, int(dim.dim_value)) for dim in tensor.shape.dim]
    kind = element(tensor.elem_type, call.node.where) if tensor.elem_type else None
    return filled((0, *shape), 0, np.float32 if kind is None else kind.dtype)


def _scan(call: Call, *given: Any) -> tuple[Any, ...]:
    """Run the body on each slice of the inputs, with states carried along."""
    if call.version < 9:
        return _batched_scan(call, *given)
    return _scan_once(call, given)


def _batched_scan(call: Call, lengths: Any, *given: Any) -> tuple[Any, ...]:
    """Run a Scan of opset 8, separately for each sequence of the batch."""
    if lengths is not None:
        call.refuse("expected sequences of full length, got lengths")
    found = [_scan_once(call, [x[i] for x in given]) for i in range(given[0].shape[0])]
    return tuple(mnp.stack(chunks, axis=0) for chunks in zip(*found, strict=True))


def _scan_once(call: Call, given: Any) -> tuple[Any, ...]:
    body: Program = call.attr("body")
    count = call.attr("num_scan_inputs")
    states, data = list(given[: len(given) - count]), list(given[len(given) - count :])
    outs = len(body.outputs) - len(states)
    zeros = [0] * max(count, outs)
    axes = call.attr("scan_input_axes") or zeros
    turned = call.attr("scan_input_directions") or call.attr("directions") or zeros
    rows = [_by_steps(x, axes[i], turned[i]) for i, x in enumerate(data)]

    def step(slices: Any, carried: Any) -> Any:
        results = running.run(body, [*carried, *slices], call.scope)
        return [plain(x) for x in results[len(states) :]], [
            plain(x) for x in results[: len(states)]
        ]

    unrolled = not outs or not body.uses_all_inputs() or rows[0].shape[0] == 0
    found, last = (
        _unrolled(step, rows, states) if unrolled else control_flow.foreach(step, rows, states)
    )
    out_axes = call.attr("scan_output_axes") or zeros
    out_turned = call.attr("scan_output_directions") or zeros
    shown = [_to_axis(x, out_axes[i], out_turned[i]) for i, x in enumerate(found)]
    return (*last, *shown)


def _unrolled(step: Any, rows: list[Any], states: list[Any]) -> tuple[list[Any], list[Any]]:
    """Unroll a Scan that `foreach` does not support: no outputs, steps, or uses of an input."""
    found = []
    if rows[0].shape[0] > _MOST_UNROLLED and recording.tracer.get() is not None:
        raise UntraceableError(f"ONNX Scan: expected at most {_MOST_UNROLLED} rounds, got more")
    for i in range(rows[0].shape[0]):
        outputs, states = step([x[i] for x in rows], states)
        found.append(outputs)
    return [mnp.stack(chunks, axis=0) for chunks in zip(*found, strict=True)], states


def _by_steps(x: Any, axis: int, turned: int) -> Any:
    rows = mnp.moveaxis(x, axis_of(axis, len(x.shape)), 0)
    return mnp.flip(rows, axis=0) if turned else rows


def _to_axis(x: Any, axis: int, turned: int) -> Any:
    rows = mnp.flip(x, axis=0) if turned else x
    return mnp.moveaxis(rows, 0, axis_of(axis, len(x.shape)))


RULES: dict[str, Rule] = {"If": _if, "Loop": _loop, "Scan": _scan}
