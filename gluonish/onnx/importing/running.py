"""Programs, which ONNX graphs are compiled into, and how they run, on arrays or traced arrays.

Also finds the rules of operators in the tables of all families, and handles narrow types.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from gluonish.core.errors import FileFormatError, GluonishError, NotSupportedError
from gluonish.core.loading import load
from gluonish.onnx.importing.arrays import constant
from gluonish.onnx.importing.elements import Narrow
from gluonish.onnx.importing.nodes import Call, Node, Rule, Scope
from gluonish.onnx.importing.tensors import Stored

_FAMILIES = (
    "arithmetic",
    "attention",
    "texts",
    "detection",
    "signals",
    "learning",
    "recurrent",
    "resizing",
    "rotary",
    "sampling",
    "quantization",
    "drawing",
    "sequences",
    "branching",
    "convolution",
    "pooling",
    "normalization",
    "pointwise",
    "reductions",
    "indexing",
    "casting",
    "shapes",
)
# Operators whose rules support narrow types.
TAKES_NARROW = frozenset(
    (
        *("BitCast", "Cast", "CastLike", "ConcatFromSequence", "ConstantOfShape"),
        *("DequantizeLinear", "Identity", "If", "Loop", "Optional", "OptionalGetElement"),
        *("OptionalHasElement", "QLinearMatMul", "QuantizeLinear", "Scan", "SequenceAt"),
        *("SequenceConstruct", "SequenceErase", "SequenceInsert", "SequenceLength", "Shape"),
        "Size",
    )
)
# Operators that only move elements, so that their rules apply to the carrier: outputs have the type
# of the input.
KEEPS_NARROW = frozenset(
    (
        *("Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND"),
        *("Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Trilu"),
        "Unsqueeze",
    )
)


@cache
def all_rules() -> Mapping[tuple[str, str], Rule]:
    """Return the rules by domain and operator."""
    rules: dict[tuple[str, str], Rule] = {}
    for family in _FAMILIES:
        module = load(f"gluonish.onnx.importing.families.{family}")
        for name, rule in module.RULES.items():
            domain, _, kind = name.rpartition("/")
            rules[domain, kind] = rule
    return rules


def find_rule(node: Node) -> Rule | None:
    """Return the rule of a node's operator, or None."""
    if node.kind == "Attention" and any(node.outputs[3:]):
        return None  # kernels hold no scores to return
    return all_rules().get((node.domain, node.kind))


class Program(NamedTuple):
    """A compiled graph, which can be run.

    Attributes:
        name: Name of the graph.
        nodes: Nodes in topological order.
        inputs: Names of the inputs.
        outputs: Names of the outputs.
        constants: Tensors in the file, by name.
        free: Names that the graph reads from enclosing graphs.
        declared: Declarations of the outputs (ValueInfoProto).
    """

    name: str
    nodes: Sequence[Node]
    inputs: Sequence[str]
    outputs: Sequence[str]
    constants: Mapping[str, Stored]
    free: frozenset[str]
    declared: Sequence[Any] = ()

    def uses_all_inputs(self) -> bool:
        """Whether each input is read by a node, or is an output."""
        read = {*self.outputs}.union(*map(reads_of, self.nodes))
        return read.issuperset(self.inputs)


def reads_of(node: Node) -> set[str]:
    """Return the names that a node reads, directly or by graphs in its attributes."""
    names = set(node.inputs) - {""}
    for value in node.attrs.values():
        if isinstance(value, Program):
            names |= value.free
    return names


def run(
    program: Program,
    arguments: Sequence[Any],
    outer: Scope | None = None,
    parameters: Mapping[str, Any] = {},
) -> list[Any]:
    """Run a program and return its outputs.

    Args:
        program: The compiled graph.
        arguments: Values of the inputs; None for the value in the file.
        outer: Scope of the enclosing graph.
        parameters: Values that replace tensors of the file, by name.

    Raises:
        FileFormatError: The file violates ONNX's rules.
        NotSupportedError: A node cannot be converted.
        UntraceableError: While tracing, a rule needs numbers of a traced array.
    """
    if len(arguments) > len(program.inputs):
        raise FileFormatError(
            f"ONNX graph {program.name!r}: expected {len(program.inputs)} inputs, "
            f"{list(program.inputs)}, got {len(arguments)}"
        )
    scope = Scope(outer)
    for name, stored in program.constants.items():
        scope[name] = parameters[name] if name in parameters else constant(stored)
    for name, value in zip(program.inputs, arguments, strict=False):
        if name not in program.constants or value is not None:
            scope[name] = value
    for node in program.nodes:
        _compute(node, scope)
        scope.free(node.frees)
    return [scope[name] if name else None for name in program.outputs]


def _compute(node: Node, scope: Scope) -> None:
    inputs = [scope[name] if name else None for name in node.inputs]
    try:
        results = _results(node, scope, inputs)
    except GluonishError as error:
        if error.args and "ONNX " not in str(error.args[0]):
            error.args = (f"{error.args[0]}; in {node.where}", *error.args[1:])
        raise
    except MemoryError as error:
        raise NotSupportedError(
            f"{node.where}: expected arrays that fit into memory, got {error}"
        ) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{node.where}: expected inputs and attributes that the operator takes, got {error!r}"
        ) from error
    several = results if isinstance(results, tuple) else (results,)
    for name, value in zip(node.outputs, several, strict=False):
        if name:
            scope[name] = value


def _results(node: Node, scope: Scope, inputs: list[Any]) -> Any:
    call, rule = Call(node, scope), node.rule
    assert rule is not None  # set by the compiler
    narrow = next((x for x in inputs if isinstance(x, Narrow)), None)
    takes = node.kind in TAKES_NARROW or getattr(rule, "takes_narrow", False)
    if narrow is None or (takes and not node.domain) or getattr(rule, "takes_narrow", False):
        return rule(call, *inputs)
    if node.kind not in KEEPS_NARROW:
        call.refuse(f"expected elements that arrays here can have, got {narrow.element.name}")
    results = rule(call, *[x.array if isinstance(x, Narrow) else x for x in inputs])
    if isinstance(results, tuple):
        return tuple(Narrow(x, narrow.element) for x in results)
    return Narrow(results, narrow.element)
