"""The rules of operators: the tables of all families, and support of narrow types."""

from collections.abc import Mapping
from functools import cache

from gluonish.core.loading import load
from gluonish.onnx.importing.nodes import Node, Rule

_FAMILIES = (
    "arithmetic",
    "texts",
    "detection",
    "signals",
    "learning",
    "recurrent",
    "resizing",
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
# Operators that move numbers about, so that the carrier's rule is right: outputs are of the type
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
    return all_rules().get((node.domain, node.kind))
