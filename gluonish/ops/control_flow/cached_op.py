"""_CachedOp: the graph of a hybridized block as one node of a recorded computation."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import NotSupportedError, OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.control_flow.subgraph import Subgraph
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register


def _body(attrs: Attrs) -> Subgraph:
    if "subgraphs" not in attrs:
        raise OperatorError("_CachedOp: expected a subgraph, got none; hybridize a Block")
    body: Subgraph = attrs["subgraphs"][0]
    return body


def _infer(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    body = _body(attrs)
    return body.infer(specs)[: len(body.output_names)]


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    _body(attrs).complete(inputs, outputs)


def _kernel(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    raise NotSupportedError(
        "_CachedOp: expected a Symbol, got arrays; use eval or bind of the Symbol"
    )


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    count = _body(attrs).num_inputs if "subgraphs" in attrs else 0
    return tuple(f"data{i}" for i in range(count))


def _num_outputs(attrs: Attrs) -> int:
    return len(_body(attrs).output_names) if "subgraphs" in attrs else 1


def _output_names(attrs: Attrs) -> tuple[str, ...]:
    return _body(attrs).output_names


def _mutated(attrs: Attrs) -> tuple[int, ...]:
    return _body(attrs).mutated if "subgraphs" in attrs else ()


CACHED_OP = register(
    Operator(
        "_CachedOp",
        _infer,
        _kernel,
        None,
        doc=(
            "Run the graph of a hybridized block. Created by autograd.get_symbol.\n\n"
            "Shapes: as in the graph."
        ),
        active_inputs=_inputs,
        outputs=_num_outputs,
        output_names=_output_names,
        execution=Execution(mutates=_mutated),
        shapes=ShapeFacts(complete=_complete),
    )
)
