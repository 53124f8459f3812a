"""`mx.contrib.onnx.onnx2mx.import_onnx`: what reads the graph of an ONNX model."""

from typing import Any

from gluonish.block.hybrid_block import HybridBlock
from gluonish.ndarray import NDArray
from gluonish.onnx.importing import get_model_metadata, import_model, import_to_gluon
from gluonish.onnx.importing.models import model_of_graph
from gluonish.symbol import Symbol

__all__ = ["GraphProto"]


class GraphProto:
    """Reads a graph, as the package onnx parses it from a file.

    Attributes:
        arg_dict: Arguments by name, once a graph was read.
        aux_dict: Auxiliary states by name.
        opset_version: The opset of the graph; None before.
        model_metadata: What the graph says of its inputs and outputs.
    """

    def __init__(self) -> None:
        self.arg_dict: dict[str, NDArray] = {}
        self.aux_dict: dict[str, NDArray] = {}
        self.opset_version: int | None = None
        self.model_metadata: dict[str, Any] = {}

    def from_onnx(
        self, graph: Any, opset_version: int
    ) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
        """Return a graph as a Symbol, with its arguments and auxiliary states by name.

        Args:
            graph: The ``onnx.GraphProto``.
            opset_version: The version of ONNX's operators that it was written for.

        Raises:
            FileFormatError: It breaks ONNX's rules.
            NotSupportedError: Something in it cannot be expressed.
        """
        self.opset_version = opset_version
        symbol, self.arg_dict, self.aux_dict = import_model(model_of_graph(graph, opset_version))
        return symbol, self.arg_dict, self.aux_dict

    def get_graph_metadata(self, graph: Any) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
        """Return names and shapes of a graph's inputs and outputs.

        Args:
            graph: The ``onnx.GraphProto``.

        Raises:
            FileFormatError: It breaks ONNX's rules.
        """
        self.model_metadata = get_model_metadata(model_of_graph(graph, 1))
        return self.model_metadata

    def graph_to_gluon(self, graph: Any, ctx: Any, opset_version: int) -> HybridBlock:
        """Return a graph as a network.

        Args:
            graph: The ``onnx.GraphProto``.
            ctx: Device, or list of devices, of its parameters.
            opset_version: The version of ONNX's operators that it was written for.

        Raises:
            FileFormatError: It breaks ONNX's rules.
            NotSupportedError: Something in it cannot be expressed.
        """
        self.opset_version = opset_version
        return import_to_gluon(model_of_graph(graph, opset_version), ctx)
