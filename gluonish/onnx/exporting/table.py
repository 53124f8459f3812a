"""Which function translates which operator."""

from collections.abc import Mapping
from functools import cache

from gluonish.core.loading import load
from gluonish.graph.ir import Node
from gluonish.onnx.exporting.call import Translator

__all__ = ["FAMILIES", "translator_of", "translators", "unread_inputs"]

# Modules of gluonish.onnx.exporting.families. Each has a TABLE of operators by their registry name.
FAMILIES = (
    *("elementwise", "binary", "layers", "normalization", "outputs", "reduction", "shapes"),
    *("joining", "rearrangement", "indexing", "numpy_indexing", "matrices"),
    *("recurrent", "control_flow", "attention", "vision", "boxes", "losses"),
    *("quantization", "fused_layers", "byte_layers", "sampling"),
)

# Inputs that only gradients read: labels, which no caller of the exported network brings along.
_UNREAD = {
    **dict.fromkeys(
        (
            *("SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput"),
            *("MAERegressionOutput", "SVMOutput"),
        ),
        frozenset({1}),
    ),
    "IdentityAttachKLSparseReg": frozenset({1}),
}
_NONE: frozenset[int] = frozenset()


@cache
def translators() -> Mapping[str, Translator]:
    """Return the functions that translate operators, by the operators' registry names."""
    found: dict[str, Translator] = {}
    for family in FAMILIES:
        module = load(f"gluonish.onnx.exporting.families.{family}")
        found.update(module.TABLE)
    return found


def translator_of(op: str) -> Translator | None:
    """Return what translates an operator; None if nothing does."""
    return translators().get(op)


def unread_inputs(node: Node) -> frozenset[int]:
    """Return the places of the inputs of a node that its outputs do not depend on."""
    return _NONE if node.op is None else _UNREAD.get(node.op.name, _NONE)
