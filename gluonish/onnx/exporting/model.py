"""Implements `export_model`: checks its arguments, translates the graph, and writes the file.

Shapes with dynamic axes, types and the opset are normalized here.
"""

import logging
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.core.files import path_text
from gluonish.core.numpy_mode import is_np_shape
from gluonish.graph.interpreter import output_names
from gluonish.onnx.exporting import proto
from gluonish.onnx.exporting.package import newest_opset, onnx_package
from gluonish.onnx.exporting.sources import Source, source_of
from gluonish.onnx.exporting.tensors import Emitter, Extent, OpenExtent, Tensor
from gluonish.onnx.exporting.walk import Known, Walk, inferred

OLDEST_OPSET = 13
# Has LayerNormalization and bitwise operators; runtimes of 2023 and later read it.
DEFAULT_OPSET = 18
# Dynamic axes are traced with two sizes, to find the extents that depend on them. The defaults:
_FIRST_BATCH, _FIRST_SPACE = 2, 64


def opset_of(opset: int | None) -> int:
    """Return the version of ONNX's operators to write.

    Raises:
        ArgumentError: The version is not supported.
    """
    if opset is None:
        return min(DEFAULT_OPSET, newest_opset())
    if not (
        isinstance(opset, numbers.Integral)
        and int(opset) in range(OLDEST_OPSET, newest_opset() + 1)
    ):
        raise ArgumentError(
            f"export_model: expected an opset_version from {OLDEST_OPSET} to {newest_opset()}, "
            f"which the installed package onnx knows, got {opset!r}"
        )
    return int(opset)


def dtypes_of(types: Any) -> list[np.dtype[Any]]:
    """Return the element types of the inputs: one for all, or one for each."""
    several = types if isinstance(types, list | tuple) else [types]
    return [normalize_dtype(dtype) for dtype in several]


def shapes_of(
    shapes: Any, dynamic: Any
) -> tuple[list[tuple[Extent, ...]], Mapping[OpenExtent, str]]:
    """Return the shapes of the inputs, and the names of their dynamic axes.

    Args:
        shapes: A shape for each input. None, -1, 0 or a name marks a dynamic axis.
        dynamic: None, or shapes in which None or a name marks the dynamic axes; True for all axes.

    Raises:
        ArgumentError: The values are not shapes, or ``shapes`` and ``dynamic`` do not match.
    """
    given = _as_shapes(shapes, "in_shapes")
    marks: list[Sequence[Any]]
    if dynamic is True:
        marks = [[None] * len(shape) for shape in given]
    elif dynamic is None:
        marks = [list(shape) for shape in given]
    else:
        marks = list(_as_shapes(dynamic, "dynamic_input_shapes"))
    if [len(shape) for shape in given] != [len(shape) for shape in marks]:
        raise ArgumentError(
            "export_model: expected dynamic_input_shapes with as many axes as in_shapes, got "
            f"{dynamic} for {given}"
        )
    named: dict[str, OpenExtent] = {}
    found = [
        tuple(
            _extent(size, mark, index, axis, named)
            for axis, (size, mark) in enumerate(zip(shape, own, strict=True))
        )
        for index, (shape, own) in enumerate(zip(given, marks, strict=True))
    ]
    return found, {extent: name for name, extent in named.items()}


def _as_shapes(shapes: Any, name: str) -> list[tuple[Any, ...]]:
    if shapes is None:
        return []
    if isinstance(shapes, tuple) and not any(isinstance(x, list | tuple) for x in shapes):
        shapes = [shapes]  # the shape of the one input
    if not isinstance(shapes, list | tuple) or not all(isinstance(s, list | tuple) for s in shapes):
        raise ArgumentError(
            f"export_model: expected {name} to be a list of shapes, one for each input, got "
            f"{shapes!r}"
        )
    return [tuple(shape) for shape in shapes]


def _is_size(x: Any) -> bool:
    """Whether a value is a known size; 0 means unknown, except under NumPy shape semantics."""
    return isinstance(x, numbers.Integral) and int(x) >= (0 if is_np_shape() else 1)


def _may_be_open(x: Any) -> bool:
    """Whether a value is a size or marks a dynamic axis (None, -1, or 0 for an unknown size)."""
    return x is None or (isinstance(x, numbers.Integral) and int(x) >= -1)


def _extent(size: Any, mark: Any, index: int, axis: int, named: dict[str, OpenExtent]) -> Extent:
    if _is_size(mark):
        return int(size if _is_size(size) else mark)
    word = next((x for x in (mark, size) if isinstance(x, str)), None)
    if word is None and not all(map(_may_be_open, (size, mark))):
        raise ArgumentError(f"export_model: expected a size, None or a name, got {mark!r}")
    name = word if word is not None else ("batch" if axis == 0 else f"input{index}_axis{axis}")
    if name not in named:
        first = int(size) if _is_size(size) else (_FIRST_BATCH if axis == 0 else _FIRST_SPACE)
        # Different sizes for each name distinguish the names; 32 is a multiple of
        # the usual strides of networks.
        step = 32 * (1 + len(named)) if axis else 1 + len(named)
        named[name] = OpenExtent(first, first + step)
    return named[name]


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
    """Write a model to an ONNX file and return its path; see `gluonish.onnx.export_model`.

    Args:
        sym: Symbol, block, or path of a ``-symbol.json`` file.
        params: The weights; see `source_of`.
        path: Path of the ONNX file.
        shapes: Shapes of the inputs.
        types: Dtypes of the inputs.
        dynamic: Marks of the dynamic axes; see `shapes_of`.
        opset: Version of ONNX's operators; None for the default.
        outside: Whether to store the weights in a second file, whatever their size.
        infer_shapes: Whether to store the shapes of all values in the file.
        verbose: Whether to log each node.
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
    """Name the outputs as in the Symbol; an Identity separates outputs that share a tensor."""
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
