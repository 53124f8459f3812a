"""`export_model`: arguments, graph, file."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.files import path_text
from gluonish.graph.interpreter import output_names
from gluonish.onnx.exporting import proto
from gluonish.onnx.exporting.arguments import dtypes_of, opset_of, shapes_of
from gluonish.onnx.exporting.package import onnx_package
from gluonish.onnx.exporting.sources import Source, source_of
from gluonish.onnx.exporting.tensors import Emitter, OpenExtent, Tensor
from gluonish.onnx.exporting.walk import Known, Walk, inferred


def write_model(
    sym: Any,
    params: Any,
    path: str | os.PathLike[str],
    shapes: Any,
    types: Any,
    dynamic: Any,
    opset: int | None,
    *,
    outside: bool,
    infer_shapes: bool,
    verbose: bool,
) -> str:
    """Write a model as a file of ONNX and return its path; see `gluonish.onnx.export_model`.

    Args:
        sym: Symbol, block or file.
        params: Parameters.
        path: Of the file to write.
        shapes: Of the inputs.
        types: Of the inputs.
        dynamic: None, or for each input which axes have no fixed size.
        opset: Version of ONNX's operators; None for the default.
        outside: Whether weights go into a file of their own in any case.
        infer_shapes: Whether the file has the shapes of all values.
        verbose: Whether to log the written nodes.
    """
    onnx_package("export_model")
    number = opset_of(opset)
    extents, axes = shapes_of(shapes, dynamic)
    source = source_of(sym, params, extents, dtypes_of(types))
    emitter, inputs, outputs, arrays = _emitted(source, number)
    file = proto.ModelFile(emitter, inputs, outputs, arrays, axes)
    target = path_text(path, "export_model")
    model = file.save(target, outside=outside, infer_shapes=infer_shapes)
    if verbose:
        _log(model, target, number)
    return target


def _emitted(
    source: Source, opset: int
) -> tuple[Emitter, list[Tensor], list[Tensor], Mapping[str, np.ndarray[Any, Any]]]:
    names = {node.name for node in source.inputs}
    arrays = {
        name: array.tostype("default").asnumpy() if hasattr(array, "tostype") else array.asnumpy()
        for name, array in source.parameters.items()
    }
    emitter = Emitter(opset, used=names | set(arrays), weights=arrays)
    walk = Walk()
    walk.promise(emitter, source.outputs)
    inputs = [
        Tensor(emitter, node.name, dtype, tuple(shape))
        for node, shape, dtype in zip(source.inputs, source.shapes, source.dtypes, strict=True)
    ]
    for x in inputs:
        for axis, extent in enumerate(x.known_shape):
            if isinstance(extent, OpenExtent):
                emitter.origins.setdefault(extent, (x, axis))
    known: dict[str, Known] = {x.name: (x.shape, x.dtype) for x in inputs}
    known |= {name: (array.shape, array.dtype) for name, array in arrays.items()}
    trials = inferred(source.outputs, known)
    given = {id(node): x for node, x in zip(source.inputs, inputs, strict=True)}
    for node in trials[0].nodes:
        if node.op is None and id(node) not in given and node.name in arrays:
            array = arrays[node.name]
            given[id(node)] = Tensor(emitter, node.name, array.dtype, array.shape)
    outputs = walk.translate(emitter, source.outputs, given, trials)
    walk.check("export_model")
    return emitter, inputs, _named(emitter, source, outputs), arrays


def _named(emitter: Emitter, source: Source, outputs: Sequence[Tensor]) -> list[Tensor]:
    """Return the outputs under their names in the Symbol, each from a separate node."""
    names = _output_names(source)
    made = {y.name for draft in emitter.nodes for y in draft.outputs if y is not None}
    found: list[Tensor] = []
    for name, y in zip(names, outputs, strict=True):
        if y.name != name or name not in made or any(y.name == other.name for other in found):
            shape, y = y.shape, emitter("Identity", y)
            y.shape = shape
            if name not in made | {x.name for x in found} | {n.name for n in source.inputs}:
                y.name = name
        found.append(y)
    return found


def _output_names(source: Source) -> list[str]:
    return [
        f"{name}_output" if value.node.op is None else name
        for name, value in zip(output_names(source.outputs), source.outputs, strict=True)
    ]


def _log(model: Any, path: str, opset: int) -> None:
    for node in model.graph.node:
        logging.info("%s %s -> %s", node.op_type, list(node.input), list(node.output))
    logging.info(
        "ONNX file %s: opset %d, %d nodes, %d weights",
        *(path, opset, len(model.graph.node), len(model.graph.initializer)),
    )
