"""What a translator is given: one node of gluonish's graph, with tensors in place of its inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gluonish.graph.body import Body as GraphBody
from gluonish.onnx.exporting.package import CannotExportError
from gluonish.onnx.exporting.tensors import Emitter, Extent, OpenExtent, Tensor
from gluonish.ops.registry import Attrs

__all__ = ["Call", "OutputSpec", "Translator"]


class OutputSpec(NamedTuple):
    """What an output of a node is.

    Attributes:
        shape: Extents.
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
            TypeError: One is dynamic.
        """
        if any(isinstance(extent, OpenExtent) for extent in self.shape):
            raise TypeError(f"a fixed shape, got {self.shape}")
        return self.shape  # type: ignore[return-value]  # seen above


@dataclass(eq=False)
class Call:
    """One node to translate.

    Attributes:
        emitter: Where its nodes are appended; calling it is short for that.
        op: Name of the operator.
        attrs: Its attributes, parsed.
        inputs: Tensors with known shapes.
        outputs: What the node gives, hidden outputs included.
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
        """Return the error to raise for what ONNX has no words for."""
        return CannotExportError(reason)


Translator = Callable[[Call], Tensor | Sequence[Tensor | None]]
