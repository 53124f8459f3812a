"""`mx.contrib.onnx.onnx2mx.import_onnx`: conversion of ONNX graphs."""

from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ndarray import NDArray
from gluonish.onnx.importing import get_model_metadata, import_model, import_to_gluon
from gluonish.onnx.importing.models import model_of_graph
from gluonish.symbol import Symbol

__all__ = ["GraphProto"]


class GraphProto:
    """Converts graphs of the package onnx to Symbols or networks.

    Attributes:
        arg_dict: Parameters by name, set by a conversion.
        aux_dict: Auxiliary states by name, set by a conversion.
        opset_version: Opset of the converted graph; None before a conversion.
        model_metadata: Names and shapes of the graph's inputs and outputs.
    """

    def __init__(self) -> None:
        self.arg_dict: dict[str, NDArray] = {}
        self.aux_dict: dict[str, NDArray] = {}
        self.opset_version: int | None = None
        self.model_metadata: dict[str, Any] = {}

    def from_onnx(
        self, graph: Any, opset_version: int
    ) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
        """Convert a graph to a Symbol; return it, its parameters and its auxiliary states by name.

        Args:
            graph: The ``onnx.GraphProto``.
            opset_version: Version of ONNX's operators for which it was written.

        Raises:
            FileFormatError: The graph violates ONNX's rules.
            NotSupportedError: Part of it cannot be converted.
        """
        self.opset_version = opset_version
        symbol, self.arg_dict, self.aux_dict = import_model(model_of_graph(graph, opset_version))
        return symbol, self.arg_dict, self.aux_dict

    def get_graph_metadata(self, graph: Any) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
        """Return the names and shapes of a graph's inputs and outputs.

        Args:
            graph: The ``onnx.GraphProto``.

        Raises:
            FileFormatError: The graph violates ONNX's rules.
        """
        self.model_metadata = get_model_metadata(model_of_graph(graph, 1))
        return self.model_metadata

    def graph_to_gluon(self, graph: Any, ctx: Any, opset_version: int) -> HybridBlock:
        """Convert a graph to a network.

        Args:
            graph: The ``onnx.GraphProto``.
            ctx: Device, or list of devices, of its parameters.
            opset_version: Version of ONNX's operators for which it was written.

        Raises:
            FileFormatError: The graph violates ONNX's rules.
            NotSupportedError: Part of it cannot be converted.
        """
        self.opset_version = opset_version
        return import_to_gluon(model_of_graph(graph, opset_version), ctx)
