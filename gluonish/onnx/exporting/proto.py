"""Writes an emitted graph to an ONNX file: prunes and checks it, and writes atomically.

Weights above the limit of a protobuf message (2 GB) are stored in a second file,
``<file>.data``.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import INT4, INT8, UINT8
from gluonish.core.errors import GraphError
from gluonish.core.files import atomic_write, written_together
from gluonish.onnx.exporting.package import onnx_package
from gluonish.onnx.exporting.tensors import Body, Draft, Emitter, OpenExtent, Tensor
from gluonish.ops.quantization.weight_only import packed

LARGEST_MESSAGE = 2_000_000_000  # bytes of weights in one protobuf message
SMALLEST_OUTSIDE = 1024  # bytes; small tensors, such as shapes and axes, stay in the message
_ALIGNMENT = 4096  # so that the weights of a file can be mapped into memory


def _type(dtype: np.dtype[Any]) -> int:
    return int(onnx_package("export_model").helper.np_dtype_to_tensor_dtype(dtype))


def _live(nodes: Sequence[Draft], needed: set[str]) -> list[Draft]:
    """Return the nodes that compute ``needed`` values; the names that they read are added to it."""
    kept = []
    for draft in reversed(nodes):
        if any(y is not None and y.name in needed for y in draft.outputs):
            kept.append(draft)
            needed.update(x.name for x in draft.inputs if x is not None)
            for body in draft.attrs.values():
                if isinstance(body, Body):
                    inner = {y.name for y in body.outputs}
                    body.emitter.nodes = _live(body.emitter.nodes, inner)
                    needed |= inner
    return kept[::-1]


def _node(draft: Draft, number: int) -> Any:
    helper = onnx_package("export_model").helper
    names = [["" if x is None else x.name for x in xs] for xs in (draft.inputs, draft.outputs)]
    while names[0] and not names[0][-1]:
        names[0].pop()
    node = helper.make_node(draft.kind, *names, name=f"{names[1][0]}_{number}")
    for key, value in draft.attrs.items():
        node.attribute.append(helper.make_attribute(key, _attribute(value)))
    return node


def _attribute(value: Any) -> Any:
    helper = onnx_package("export_model").helper
    if isinstance(value, np.dtype):
        return _type(value)
    if isinstance(value, Body):
        return helper.make_graph(
            [_node(draft, i) for i, draft in enumerate(value.emitter.nodes)],
            "body",
            [_value_info(x) for x in value.inputs],
            [_value_info(x) for x in value.outputs],
        )
    return value.item() if isinstance(value, np.generic) else value


def _value_info(x: Tensor, axes: Mapping[Any, str] | None = None) -> Any:
    shape = None
    if x.shape is not None:
        names = axes or {}
        shape = [names.get(e) if isinstance(e, OpenExtent) else e for e in x.shape]
    return onnx_package("export_model").helper.make_tensor_value_info(x.name, _type(x.dtype), shape)


class ModelFile:
    """A model that can be saved as an ONNX file.

    Args:
        emitter: Holds the nodes and constants.
        inputs: Inputs of the network, without parameters.
        outputs: Outputs of the network.
        parameters: Arrays of the parameters, by name.
        axes: Names of the dynamic axes.
    """

    def __init__(
        self,
        emitter: Emitter,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        parameters: Mapping[str, np.ndarray[Any, Any]],
        axes: Mapping[Any, str],
    ) -> None:
        self._emitter, self._inputs, self._outputs, self._axes = emitter, inputs, outputs, axes
        needed = {y.name for y in outputs}
        self._nodes = _live(emitter.nodes, needed)
        arrays = {**parameters, **emitter.arrays}
        self._arrays = {name: array for name, array in arrays.items() if name in needed}

    def save(self, path: str, *, outside: bool, infer_shapes: bool) -> Any:
        """Write the file, and return the ModelProto, without weights that are in the second file.

        Args:
            path: Path of the file.
            outside: Whether to store the weights in a second file, whatever their size.
            infer_shapes: Whether the file includes the shape of each value.

        Raises:
            GraphError: The checker of the package onnx rejects the model.
            MissingFileError: The folder does not exist.
            OSError: The file cannot be written.
        """
        nbytes = sum(_nbytes(array) for array in self._arrays.values())
        indices = dict(self._places()) if outside or nbytes > LARGEST_MESSAGE else {}
        beside = f"{path}.data"
        model = self._message(indices, os.path.basename(beside))
        model = self._checked(model, infer_shapes)
        data = model.SerializeToString()
        if not indices:
            with atomic_write(path) as file:
                file.write(data)
            return model
        with written_together(path, beside):
            with atomic_write(beside) as file:
                for name, (offset, _) in indices.items():
                    file.write(b"\0" * (offset - file.tell()))
                    file.write(_stored(self._arrays[name]).data)
            with atomic_write(path) as file:
                file.write(data)
        return model

    def _places(self) -> Iterator[tuple[str, tuple[int, int]]]:
        end = 0
        for name, array in self._arrays.items():
            if _nbytes(array) >= SMALLEST_OUTSIDE:
                offset = -(-end // _ALIGNMENT) * _ALIGNMENT
                end = offset + _nbytes(array)
                yield name, (offset, _nbytes(array))

    def _message(self, indices: Mapping[str, tuple[int, int]], location: str) -> Any:
        helper = onnx_package("export_model").helper
        graph = helper.make_graph(
            [_node(draft, i) for i, draft in enumerate(self._nodes)],
            "gluonish",
            [_value_info(x, self._axes) for x in self._inputs],
            [_value_info(x, self._axes) for x in self._outputs],
            [_tensor(name, x, indices.get(name), location) for name, x in self._arrays.items()],
        )
        opset = helper.make_opsetid("", self._emitter.opset)
        version = helper.find_min_ir_version_for([opset])
        return helper.make_model(
            graph, producer_name="gluonish", opset_imports=[opset], ir_version=version
        )

    def _checked(self, model: Any, infer_shapes: bool) -> Any:
        onnx = onnx_package("export_model")
        try:
            # The checker would read the file of weights, which does not exist yet.
            onnx.checker.check_model(_without_outside(model))
            if infer_shapes:
                return onnx.shape_inference.infer_shapes(model, strict_mode=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            raise GraphError(
                f"export_model: expected a graph that the checker of onnx accepts, got {error}"
            ) from error
        return model


def _without_outside(model: Any) -> Any:
    if not any(tensor.external_data for tensor in model.graph.initializer):
        return model
    inside = type(model)()
    inside.CopyFrom(model)
    for tensor in inside.graph.initializer:
        if tensor.external_data:
            info = inside.graph.input.add()
            info.name = tensor.name
            info.type.tensor_type.elem_type = tensor.data_type
            for extent in tensor.dims:
                info.type.tensor_type.shape.dim.add().dim_value = extent
    kept = [tensor for tensor in inside.graph.initializer if not tensor.external_data]
    del inside.graph.initializer[:]
    inside.graph.initializer.extend(kept)
    return inside


def _nbytes(array: np.ndarray[Any, Any]) -> int:
    """Return the bytes of an array in a file."""
    return -(-array.size // 2) if array.dtype == INT4 else array.nbytes


def _stored(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the bytes of an array in a file, (nbytes,); elements of 4 bits are two in a byte."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if array.dtype != INT4:
        return flat.view(UINT8)
    made: np.ndarray[Any, Any] = packed(np.pad(flat.astype(INT8), (0, flat.size % 2))[None])[0]
    return made


def _tensor(
    name: str, array: np.ndarray[Any, Any], index: tuple[int, int] | None, location: str
) -> Any:
    onnx = onnx_package("export_model")
    tensor = onnx.TensorProto(name=name, data_type=_type(array.dtype), dims=array.shape)
    if index is None:
        tensor.raw_data = _stored(array).tobytes()
        return tensor
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", index[0]), ("length", index[1])):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    return tensor
