"""A call of an operator in translation, and the table of translators."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.loading import load
from gluonish.graph.body import Body as GraphBody
from gluonish.graph.ir import Node
from gluonish.onnx.exporting.package import CannotExportError
from gluonish.onnx.exporting.tensors import Emitter, Extent, OpenExtent, Tensor
from gluonish.ops.registry import Attrs


class OutputSpec(NamedTuple):
    """Shape and dtype of a node's output.

    Attributes:
        shape: Sizes of the axes.
        dtype: Element type.
    """

    shape: tuple[Extent, ...]
    dtype: np.dtype[Any]

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def fixed(self) -> tuple[int, ...]:
        """The extents as numbers.

        Raises:
            TypeError: An axis is dynamic.
        """
        if any(isinstance(extent, OpenExtent) for extent in self.shape):
            raise TypeError(f"a fixed shape, got {self.shape}")
        return self.shape  # type: ignore[return-value]  # checked above


@dataclass(eq=False)
class Call:
    """A call of an operator: one node to translate.

    Attributes:
        emitter: Receives the ONNX nodes; calling the `Call` appends a node to it.
        op: Name of the operator.
        attrs: Parsed attributes of the node.
        inputs: Inputs of the node, with known shapes.
        outputs: Specs of the node's outputs, including hidden ones.
        translate: Writes the body of a control-flow operator: called with the emitter of an ONNX
            body, gluonish's body and tensors for its inputs, it returns the outputs.
    """

    emitter: Emitter
    op: str
    attrs: Attrs
    inputs: Sequence[Tensor]
    outputs: Sequence[OutputSpec]
    translate: Callable[[Emitter, GraphBody, Sequence[Tensor]], list[Tensor]]

    @property
    def x(self) -> Tensor:
        """The first input."""
        return self.inputs[0]

    @property
    def out(self) -> OutputSpec:
        """The first output."""
        return self.outputs[0]

    def __getitem__(self, attribute: str) -> Any:
        return self.attrs[attribute]

    def __call__(self, kind: str, *inputs: Any, **attrs: Any) -> Tensor:
        """Append a node and return its output; see `Emitter.__call__`."""
        return self.emitter(kind, *inputs, **attrs)

    def constant(self, value: Any, dtype: Any = None) -> Tensor:
        """Return a constant; see `Emitter.constant`."""
        return self.emitter.constant(value, dtype)

    def refuse(self, reason: str) -> CannotExportError:
        """Return the error to raise if ONNX cannot express the call."""
        return CannotExportError(reason)


Translator = Callable[[Call], Tensor | Sequence[Tensor | None]]


# Modules of gluonish.onnx.exporting.families. Each has a TABLE of operators by their registry name.
FAMILIES = (
    *("elementwise", "binary", "layers", "normalization", "outputs", "reduction", "shapes"),
    *("joining", "rearrangement", "indexing", "numpy_indexing", "matrices"),
    *("recurrent", "control_flow", "attention", "rotary", "vision", "boxes", "losses"),
    *("quantization", "fused_layers", "byte_layers", "sampling"),
)

# Inputs that only gradients read: labels, which callers of the exported network do not pass.
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
    """Return the translator of an operator, or None."""
    return translators().get(op)


def unread_inputs(node: Node) -> frozenset[int]:
    """Return the indices of a node's inputs that do not affect its outputs."""
    return _NONE if node.op is None else _UNREAD.get(node.op.name, _NONE)
