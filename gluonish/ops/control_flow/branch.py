"""_cond: run one of two bodies, selected by a condition; and its gradient, ``_branch``."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gluonish.core.dtype import BOOL
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, shape
from gluonish.core.spec import PartialSpec, Spec, merge_dtypes, merge_shapes
from gluonish.ops.control_flow.subgraph import (
    Key,
    Subgraph,
    any_draws,
    inner_key,
    saves_values,
    spec_of,
)
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, apply, register
from gluonish.ops.support.work import endless


class _Choice(NamedTuple):
    """The two bodies of a branch, and which of the operator's inputs each of them reads."""

    bodies: tuple[Subgraph, Subgraph]
    indices: tuple[Sequence[int], Sequence[int]]

    def inputs_of(self, values: Sequence[Any], which: int) -> list[Any]:
        return [values[i] for i in self.indices[which]]


def _choice(attrs: Attrs) -> _Choice:
    if "subgraphs" not in attrs:
        raise OperatorError("_cond: expected subgraphs, got none; use contrib.cond")
    *_, then, otherwise = attrs["subgraphs"]
    return _Choice((then, otherwise), (attrs["then_input_locs"], attrs["else_input_locs"]))


def _outputs(name: str, choice: _Choice, specs: Sequence[Spec], attrs: Attrs) -> tuple[Spec, ...]:
    count = attrs["num_outputs"]
    found = [body.infer(choice.inputs_of(specs, i)) for i, body in enumerate(choice.bodies)]
    then, otherwise = (results[:count] for results in found)
    if then != otherwise:
        raise OperatorError(
            f"{name}: expected both branches to return the same shapes and dtypes, got "
            f"{', '.join(map(str, then))} and {', '.join(map(str, otherwise))}"
        )
    hidden = [spec for results in found for spec in results[count:]] if saves_values(attrs) else []
    return (*then, *hidden)


def _run(
    xp: Any, selected: int, results: Sequence[Any], arrays: Sequence[Any], attrs: Attrs, key: Key
) -> None:
    """Run body 0 or 1, and fill the other body's saved values with zeros."""
    choice, count = _choice(attrs), attrs["num_outputs"]
    saved: list[Sequence[Any]] = [(), ()]
    if saves_values(attrs):
        end = count + choice.bodies[0].num_saved
        saved = [results[count:end], results[end:]]
    for y in saved[1 - selected]:
        y[...] = 0
    args = choice.inputs_of(arrays, selected)
    step, _ = choice.bodies[selected].step(xp, args, train=attrs["train"], keep=saves_values(attrs))
    step([*args, *results[:count], *saved[selected]], key)


def _branch_gradient(
    decision: Any, heads: Sequence[Any], inputs: Sequence[Any], saved: Sequence[Any], attrs: Attrs
) -> list[Any]:
    """Return the gradients of the inputs, None for inputs without a gradient."""
    choice, count = _choice(attrs), attrs["num_outputs"]
    counts = [body.num_saved for body in choice.bodies]
    split_saved = [saved[: counts[0]], saved[counts[0] :]]
    saved_heads = heads[count:] or [None] * sum(counts)
    body_heads = [
        [*heads[:count], *saved_heads[: counts[0]]],
        [*heads[:count], *saved_heads[counts[0] :]],
    ]
    reached: set[int] = set()
    for which, body in enumerate(choice.bodies):
        specs = [spec_of(x) for x in choice.inputs_of(inputs, which)]
        has_head = [head is not None for head in body_heads[which]]
        found = body.branch_gradient(specs, has_head, None, train=attrs["train"])
        reached.update(choice.indices[which][i] for i in found.flows)
    flows = sorted(reached)
    if not flows:
        return [None] * len(inputs)
    values: list[Any] = [decision]
    bodies, indices = [], []
    for which, body in enumerate(choice.bodies):
        # A body also receives the inputs it does not read, to return zeros of their shape.
        order = [*choice.indices[which], *(i for i in flows if i not in choice.indices[which])]
        widened = body.widened(len(order) - len(choice.indices[which]))
        specs = [spec_of(inputs[i]) for i in order]
        has_head = [head is not None for head in body_heads[which]]
        targets = [order.index(i) for i in flows]
        bodies.append(widened.branch_gradient(specs, has_head, targets, train=attrs["train"]).body)
        args = [inputs[i] for i in order]
        args += [*split_saved[which], *(head for head in body_heads[which] if head is not None)]
        indices.append(tuple(range(len(values) - 1, len(values) - 1 + len(args))))
        values += args
    branch_attrs = {
        "num_outputs": len(flows),
        "then_input_locs": indices[0],
        "else_input_locs": indices[1],
        "train": attrs["train"],
        "subgraphs": tuple(bodies),
    }
    results = apply(BRANCH, values, branch_attrs)
    totals: list[Any] = [None] * len(inputs)
    for i, gradient in zip(flows, results if isinstance(results, list) else [results], strict=True):
        totals[i] = gradient
    return totals


def _infer_branch(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    return _outputs("_branch", _choice(attrs), specs[1:], attrs)


def _branch_kernel(xp: Any, out: Any, decision: Any, *arrays: Any, **attrs: Any) -> None:
    selected = 0 if decision.item() else 1
    _run(xp, selected, out, arrays, attrs, (0, 0))


def _gradient_of_branch(g: Any, decision: Any, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    total = _num_branch_outputs(attrs)
    inputs, results = values[: len(values) - total], values[len(values) - total :]
    saved = results[attrs["num_outputs"] :]
    return (None, *_branch_gradient(decision, g, inputs, saved, attrs))


def _num_branch_outputs(attrs: Attrs) -> int:
    hidden = sum(body.num_saved for body in _choice(attrs).bodies) if saves_values(attrs) else 0
    count: int = attrs["num_outputs"] + hidden
    return count


def _infer_cond(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    choice = _choice(attrs)
    (decision, *_) = attrs["subgraphs"][0].infer([specs[i] for i in attrs["cond_input_locs"]])
    if decision.size != 1:
        raise OperatorError(f"_cond: expected a condition of one element, got {decision}")
    found = _outputs("_cond", choice, specs, attrs)
    return (*found, Spec((1,), BOOL)) if saves_values(attrs) else found


def _complete_cond(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    choice, count = _choice(attrs), attrs["num_outputs"]
    args = [inputs[i] for i in attrs["cond_input_locs"]]
    attrs["subgraphs"][0].complete(args, [PartialSpec()])
    for index, spec in zip(attrs["cond_input_locs"], args, strict=True):
        inputs[index] = _merged(inputs[index], spec)
    for which, body in enumerate(choice.bodies):
        args = choice.inputs_of(inputs, which)
        results = outputs[:count]
        body.complete(args, results)
        for index, spec in zip(choice.indices[which], args, strict=True):
            inputs[index] = _merged(inputs[index], spec)
        outputs[:count] = [_merged(a, b) for a, b in zip(outputs[:count], results, strict=True)]


def _merged(a: PartialSpec, b: PartialSpec) -> PartialSpec:
    return PartialSpec(
        merge_shapes(a.shape, b.shape, "_cond"), merge_dtypes(a.dtype, b.dtype, "_cond")
    )


def _cond_kernel(xp: Any, out: Any, *arrays: Any, **attrs: Any) -> None:
    results = out
    key: Key = attrs.get("key") or (0, 0)
    condition: Subgraph = attrs["subgraphs"][0]
    tested = [arrays[i] for i in attrs["cond_input_locs"]]
    (spec, *_) = condition.infer([Spec(x.shape, x.dtype) for x in tested])
    decision = xp.empty(spec.shape, spec.dtype)
    step, count = condition.step(xp, tested, train=attrs["train"], keep=False)
    step([*tested, decision], inner_key(key, 0))
    selected = 0 if decision.item() else 1
    if saves_values(attrs):
        results, chosen = results[:-1], results[-1]
        chosen[0] = not selected
    _run(xp, selected, results, arrays, attrs, inner_key(key, count))


def _gradient_of_cond(g: Any, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    total = _num_cond_outputs(attrs)
    inputs, results = values[: len(values) - total], values[len(values) - total :]
    saved = results[attrs["num_outputs"] : -1]
    return tuple(_branch_gradient(results[-1], g[:-1], inputs, saved, attrs))


def _num_cond_outputs(attrs: Attrs) -> int:
    return _num_branch_outputs(attrs) + saves_values(attrs)


def _num_visible(attrs: Attrs) -> int:
    count: int = attrs["num_outputs"]
    return count


def _mutated(attrs: Attrs) -> tuple[int, ...]:
    if "subgraphs" not in attrs:
        return ()
    choice = _choice(attrs)
    found = {
        choice.indices[which][i] for which, body in enumerate(choice.bodies) for i in body.mutated
    }
    return tuple(sorted(found))


def _branch_inputs(attrs: Attrs) -> tuple[str, ...]:
    last = max((*attrs["then_input_locs"], *attrs["else_input_locs"]), default=-1)
    return ("decision", *(f"data{i}" for i in range(last + 1)))


BRANCH = register(
    Operator(
        "_branch",
        _infer_branch,
        _branch_kernel,
        Gradient(_gradient_of_branch, uses_output=True),
        doc="Run one of two branches, for the gradient of a conditional.",
        active_inputs=_branch_inputs,
        schema=Schema(
            num_outputs=integer(),
            then_input_locs=shape(),
            else_input_locs=shape(),
            train=boolean(),
        ),
        outputs=_num_branch_outputs,
        visible=_num_visible,
        execution=Execution(heavy=endless, live=True),
    )
)

COND = register(
    Operator(
        "_cond",
        _infer_cond,
        _cond_kernel,
        Gradient(_gradient_of_cond, uses_output=True),
        doc=(
            "Run one of two branches, depending on a condition. Created by contrib.cond.\n\n"
            "Shapes: as in the subgraphs; the outputs of both branches have the same shapes."
        ),
        active_inputs=lambda attrs: tuple(f"data{i}" for i in range(attrs["num_args"] - 3)),
        schema=Schema(
            num_args=integer(low=3),
            num_outputs=integer(low=0),
            cond_input_locs=shape(),
            then_input_locs=shape(),
            else_input_locs=shape(),
        ),
        outputs=_num_cond_outputs,
        visible=_num_visible,
        execution=Execution(
            mutates=_mutated, train_dependent=True, random=any_draws, heavy=endless, live=True
        ),
        shapes=ShapeFacts(complete=_complete_cond),
    )
)
