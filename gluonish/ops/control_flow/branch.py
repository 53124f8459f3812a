"""_cond: one of two bodies, as a condition says; and ``_branch``, its gradient."""

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
    keeps,
    spec_of,
)
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, apply, register
from gluonish.ops.support.work import endless


class _Choice(NamedTuple):
    """The two bodies, and where their inputs stand among the operator's."""

    bodies: tuple[Subgraph, Subgraph]
    places: tuple[Sequence[int], Sequence[int]]

    def given(self, values: Sequence[Any], which: int) -> list[Any]:
        """Return a body's inputs."""
        return [values[i] for i in self.places[which]]


def _choice(attrs: Attrs) -> _Choice:
    if "subgraphs" not in attrs:
        raise OperatorError("_cond: expected bodies, got none; use contrib.cond")
    *_, then, otherwise = attrs["subgraphs"]
    return _Choice((then, otherwise), (attrs["then_input_locs"], attrs["else_input_locs"]))


def _outputs(name: str, choice: _Choice, specs: Sequence[Spec], attrs: Attrs) -> tuple[Spec, ...]:
    count = attrs["num_outputs"]
    found = [body.infer(choice.given(specs, i)) for i, body in enumerate(choice.bodies)]
    then, otherwise = (results[:count] for results in found)
    if then != otherwise:
        raise OperatorError(
            f"{name}: expected both branches to give the same shapes and dtypes, got "
            f"{', '.join(map(str, then))} and {', '.join(map(str, otherwise))}"
        )
    hidden = [spec for results in found for spec in results[count:]] if keeps(attrs) else []
    return (*then, *hidden)


def _run(
    xp: Any, taken: int, results: Sequence[Any], arrays: Sequence[Any], attrs: Attrs, key: Key
) -> None:
    """Run one body, 0 or 1; what the other one keeps becomes zero."""
    choice, count = _choice(attrs), attrs["num_outputs"]
    kept: list[Sequence[Any]] = [(), ()]
    if keeps(attrs):
        end = count + choice.bodies[0].num_kept
        kept = [results[count:end], results[end:]]
    for y in kept[1 - taken]:
        y[...] = 0
    given = choice.given(arrays, taken)
    step, _ = choice.bodies[taken].step(xp, given, train=attrs["train"], keep=keeps(attrs))
    step([*given, *results[:count], *kept[taken]], key)


def _branch_gradient(
    decision: Any, heads: Sequence[Any], inputs: Sequence[Any], kept: Sequence[Any], attrs: Attrs
) -> list[Any]:
    """Return gradients of the inputs, None where none flows."""
    choice, count = _choice(attrs), attrs["num_outputs"]
    counts = [body.num_kept for body in choice.bodies]
    saved = [kept[: counts[0]], kept[counts[0] :]]
    kept_heads = heads[count:] or [None] * sum(counts)
    own = [
        [*heads[:count], *kept_heads[: counts[0]]],
        [*heads[:count], *kept_heads[counts[0] :]],
    ]
    reached: set[int] = set()
    for which, body in enumerate(choice.bodies):
        specs = [spec_of(x) for x in choice.given(inputs, which)]
        there = [head is not None for head in own[which]]
        found = body.branch_gradient(specs, there, None, train=attrs["train"])
        reached.update(choice.places[which][i] for i in found.flows)
    flows = sorted(reached)
    if not flows:
        return [None] * len(inputs)
    values: list[Any] = [decision]
    bodies, places = [], []
    for which, body in enumerate(choice.bodies):
        # A body that does not read an input gets it all the same: it gives zeros of its shape.
        order = [*choice.places[which], *(i for i in flows if i not in choice.places[which])]
        widened = body.widened(len(order) - len(choice.places[which]))
        specs = [spec_of(inputs[i]) for i in order]
        there = [head is not None for head in own[which]]
        wanted = [order.index(i) for i in flows]
        bodies.append(widened.branch_gradient(specs, there, wanted, train=attrs["train"]).body)
        given = [inputs[i] for i in order]
        given += [*saved[which], *(head for head in own[which] if head is not None)]
        places.append(tuple(range(len(values) - 1, len(values) - 1 + len(given))))
        values += given
    made = {
        "num_outputs": len(flows),
        "then_input_locs": places[0],
        "else_input_locs": places[1],
        "train": attrs["train"],
        "subgraphs": tuple(bodies),
    }
    results = apply(BRANCH, values, made)
    totals: list[Any] = [None] * len(inputs)
    for i, gradient in zip(flows, results if isinstance(results, list) else [results], strict=True):
        totals[i] = gradient
    return totals


def _infer_branch(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    return _outputs("_branch", _choice(attrs), specs[1:], attrs)


def _branch_kernel(xp: Any, out: Any, decision: Any, *arrays: Any, **attrs: Any) -> None:
    taken = 0 if decision.item() else 1
    _run(xp, taken, out, arrays, attrs, (0, 0))


def _gradient_of_branch(g: Any, decision: Any, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    total = _num_branch_outputs(attrs)
    inputs, results = values[: len(values) - total], values[len(values) - total :]
    kept = results[attrs["num_outputs"] :]
    return (None, *_branch_gradient(decision, g, inputs, kept, attrs))


def _num_branch_outputs(attrs: Attrs) -> int:
    hidden = sum(body.num_kept for body in _choice(attrs).bodies) if keeps(attrs) else 0
    count: int = attrs["num_outputs"] + hidden
    return count


def _infer_cond(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    choice = _choice(attrs)
    (decision, *_) = attrs["subgraphs"][0].infer([specs[i] for i in attrs["cond_input_locs"]])
    if decision.size != 1:
        raise OperatorError(f"_cond: expected the condition to be one number, got {decision}")
    found = _outputs("_cond", choice, specs, attrs)
    return (*found, Spec((1,), BOOL)) if keeps(attrs) else found


def _complete_cond(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    choice, count = _choice(attrs), attrs["num_outputs"]
    given = [inputs[i] for i in attrs["cond_input_locs"]]
    attrs["subgraphs"][0].complete(given, [PartialSpec()])
    for place, spec in zip(attrs["cond_input_locs"], given, strict=True):
        inputs[place] = _merged(inputs[place], spec)
    for which, body in enumerate(choice.bodies):
        given = choice.given(inputs, which)
        results = outputs[:count]
        body.complete(given, results)
        for place, spec in zip(choice.places[which], given, strict=True):
            inputs[place] = _merged(inputs[place], spec)
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
    taken = 0 if decision.item() else 1
    if keeps(attrs):
        results, chosen = results[:-1], results[-1]
        chosen[0] = not taken
    _run(xp, taken, results, arrays, attrs, inner_key(key, count))


def _gradient_of_cond(g: Any, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    total = _num_cond_outputs(attrs)
    inputs, results = values[: len(values) - total], values[len(values) - total :]
    kept = results[attrs["num_outputs"] : -1]
    return tuple(_branch_gradient(results[-1], g[:-1], inputs, kept, attrs))


def _num_cond_outputs(attrs: Attrs) -> int:
    return _num_branch_outputs(attrs) + keeps(attrs)


def _num_visible(attrs: Attrs) -> int:
    count: int = attrs["num_outputs"]
    return count


def _mutated(attrs: Attrs) -> tuple[int, ...]:
    if "subgraphs" not in attrs:
        return ()
    choice = _choice(attrs)
    found = {
        choice.places[which][i] for which, body in enumerate(choice.bodies) for i in body.mutated
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
        doc="Run one of two branches; the gradient of a conditional.",
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
            "Run one of two branches, depending on a condition. Made by contrib.cond.\n\n"
            "Shapes: those of the graphs; the outputs of both branches have the same shapes."
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
