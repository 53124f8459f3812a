"""Control flow: foreach as Scan, while_loop as Loop, cond as If."""

from collections.abc import Sequence

import numpy as np

from gluonish.core.dtype import BOOL, INT64
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import concat, sliced
from gluonish.onnx.exporting.tensors import Body, Emitter, Extent, Tensor


def _fresh(body: Emitter, x: Tensor, shape: tuple[Extent, ...]) -> Tensor:
    """Return a new input of a body, for slices or states."""
    return Tensor(body, body.unique(f"{body.word}_in"), x.dtype, shape)


def _inside(body: Emitter, x: Tensor) -> Tensor:
    """Return a tensor of the enclosing graph, so that nodes which read it go into the body."""
    return Tensor(body, x.name, x.dtype, x.shape)


def _own(body: Emitter, outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the outputs of a body, each from a separate node."""
    return [body("Identity", _inside(body, y)) for y in outputs]


def _foreach(call: Call) -> list[Tensor]:
    data, states = len(call["in_data_locs"]), len(call["in_state_locs"])
    outs = call["num_out_data"]
    (graph,) = call["subgraphs"]
    body, word = call.emitter.body(), call.emitter.word
    slices = [_fresh(body, x, x.known_shape[1:]) for x in call.inputs[:data]]
    carried = [_fresh(body, x, x.known_shape) for x in call.inputs[data : data + states]]
    rest = [_inside(body, x) for x in call.inputs[data + states :]]
    found = call.translate(body, graph, [*slices, *carried, *rest])
    body.word = word
    results = _own(body, [*found[outs : outs + states], *found[:outs]])
    kinds = [spec.dtype for spec in call.outputs[: outs + states]]
    made = call.emitter.several(
        "Scan",
        outs + states,
        *(*call.inputs[data : data + states], *call.inputs[:data]),
        num_scan_inputs=data,
        body=Body(body, [*carried, *slices], results),
        dtypes=[*kinds[outs:], *kinds[:outs]],
    )
    return [*made[states:], *made[:states]]


def _decision(call: Call, emitter: Emitter, inputs: Sequence[Tensor]) -> Tensor:
    """Return the condition as a boolean scalar."""
    word = emitter.word
    (found, *_) = call.translate(emitter, call["subgraphs"][0], inputs)
    emitter.word = word
    value = _inside(emitter, found)
    test = value if value.dtype == BOOL else ~value.equals(0)
    return emitter("Reshape", test, emitter.constant(np.zeros(0, np.int64)))


def _while_loop(call: Call) -> list[Tensor]:
    variables = list(call["func_var_locs"])
    indices = list(call["func_input_locs"])
    outs, count = call["num_out_data"], len(variables)
    states = [call.inputs[indices[i]] for i in variables]
    first = _decision(call, call.emitter, [call.inputs[i] for i in call["cond_input_locs"]])
    body, word = call.emitter.body(), call.emitter.word
    number = Tensor(body, body.unique(f"{word}_number"), INT64, ())
    before = Tensor(body, body.unique(f"{word}_go_on"), BOOL, ())
    carried = [_fresh(body, x, x.known_shape) for x in states]
    inner = [_inside(body, call.inputs[i]) for i in indices]
    for index, x in zip(variables, carried, strict=True):
        inner[index] = x
    found = call.translate(body, call["subgraphs"][1], inner)
    body.word = word
    after = found[outs : outs + count]
    now = {indices[i]: _inside(body, x) for i, x in zip(variables, after, strict=True)}
    tested = [now.get(i, _inside(body, call.inputs[i])) for i in call["cond_input_locs"]]
    for x, like in zip(now.values(), states, strict=True):
        x.shape = like.shape
    results = [_decision(call, body, tested), *_own(body, [*after, *found[:outs]])]
    kinds = [spec.dtype for spec in call.outputs[: outs + count]]
    made = call.emitter.several(
        "Loop",
        count + outs,
        *(call.constant(int(call["max_iterations"])), first, *states),
        body=Body(body, [number, before, *carried], results),
        dtypes=[*kinds[outs:], *kinds[:outs]],
    )
    padded = [
        _filled_up(call, x, spec.rank, int(call["max_iterations"]))
        for x, spec in zip(made[count:], call.outputs, strict=False)
    ]
    return [*padded, *made[:count]]


def _filled_up(call: Call, x: Tensor, rank: int, length: int) -> Tensor:
    """Pad stacked outputs with zeros, for iterations that did not run."""
    missing = call.constant([length]) - sliced(call("Shape", x), [0], [1], [0])
    zeros = [call.constant([0] * count) for count in (rank, rank - 1)]
    pads = concat([zeros[0], missing, *([zeros[1]] if rank > 1 else [])], 0)
    return call("Pad", x, pads)


def _cond(call: Call) -> list[Tensor]:
    inputs = [call.inputs[i] for i in call["cond_input_locs"]]
    decision = _decision(call, call.emitter, inputs)
    branches = []
    for graph, locations in zip(
        call["subgraphs"][1:], (call["then_input_locs"], call["else_input_locs"]), strict=True
    ):
        body, word = call.emitter.body(), call.emitter.word
        found = call.translate(body, graph, [_inside(body, call.inputs[i]) for i in locations])
        body.word = word
        branches.append(Body(body, [], _own(body, found[: call["num_outputs"]])))
    return call.emitter.several(
        "If",
        call["num_outputs"],
        decision,
        then_branch=branches[0],
        else_branch=branches[1],
        dtypes=[spec.dtype for spec in call.outputs[: call["num_outputs"]]],
    )


def _graph(call: Call) -> list[Tensor]:
    (body,) = call["subgraphs"]
    return call.translate(call.emitter, body, call.inputs)


TABLE = {"_foreach": _foreach, "_while_loop": _while_loop, "_cond": _cond, "_CachedOp": _graph}
