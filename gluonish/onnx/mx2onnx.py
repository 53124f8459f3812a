"""`mx.onnx.mx2onnx`: writing ONNX files."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.loading import load

__all__ = ["export_model", "get_operator_support"]


def export_model(
    sym: Any,
    params: Any = None,
    in_shapes: Any = None,
    in_types: Any = np.float32,
    onnx_file_path: str | os.PathLike[str] = "model.onnx",
    verbose: bool = False,
    dynamic: bool = False,
    dynamic_input_shapes: Sequence[Sequence[Any]] | None = None,
    run_shape_inference: bool = False,
    input_type: Any = None,
    input_shape: Any = None,
    large_model: bool = False,
    opset_version: int | None = None,
) -> str:
    """Export a network for inference to an ONNX file, and return the file's path.

    Inputs, outputs and weights keep their names in the Symbol. Dropout is removed, batch
    normalization uses its running statistics, and labels of output operators are not inputs.
    Weights of more than 2 GB are stored in a second file, ``<onnx_file_path>.data``. The file is
    written atomically.

    Args:
        sym: A Symbol, the path of a ``-symbol.json`` file, or a block, which is traced.
        params: The weights: a dict of arrays by name, with or without the prefixes ``arg:`` and
            ``aux:``, a list of such dicts, or the path of a ``.params`` file. A block has its own
            weights; those given here replace them.
        in_shapes: Shape of each input that is not in ``params``, in the order of ``list_inputs()``
            or of the block's arguments. None, -1 or a name instead of a size marks a dynamic axis.
        in_types: Dtype of all inputs, or a list with one for each.
        onnx_file_path: Path of the file.
        verbose: Whether to log each node, at level INFO.
        dynamic: Whether axes are dynamic, either those in ``dynamic_input_shapes``, or all.
        dynamic_input_shapes: With ``dynamic``: shapes in which None or a name, such as ``'batch'``,
            marks a dynamic axis. Axes with the same name have the same size.
        run_shape_inference: Whether to store the shape of every value in the file.
        input_type: Older name of ``in_types``.
        input_shape: Older name of ``in_shapes``.
        large_model: Whether to store weights in a second file, whatever their size.
        opset_version: Version of ONNX's operators, from 13 to the newest that the installed package
            onnx supports; 18 by default.

    Raises:
        ArgumentError: Shapes, types or the version do not fit.
        ArgumentTypeError: ``sym`` or ``params`` is something else.
        GraphError: The checker of the package onnx rejects the file.
        NotSupportedError: ONNX cannot express some operators, which are listed with their nodes; or
            the package onnx is not installed.
        OperatorError: The shapes do not fit the network.
        OSError: The file cannot be written.

    Example::

        net = mx.gluon.model_zoo.vision.resnet18_v1(pretrained=True)
        export_model(net, in_shapes=[("batch", 3, 224, 224)], onnx_file_path="resnet18.onnx")
    """
    if dynamic_input_shapes is not None and not dynamic:
        raise ArgumentError(
            "export_model: expected dynamic=True with dynamic_input_shapes, got dynamic=False"
        )
    path: str = load("gluonish.onnx.exporting").write_model(
        sym,
        params,
        onnx_file_path,
        in_shapes if input_shape is None else input_shape,
        in_types if input_type is None else input_type,
        (dynamic_input_shapes or True) if dynamic else None,
        opset_version,
        outside=large_model,
        infer_shapes=run_shape_inference,
        verbose=verbose,
    )
    return path


def get_operator_support(opset_version: int | None = None) -> list[str]:
    """Return the names of the operators that `export_model` can export, sorted.

    Args:
        opset_version: Version of ONNX's operators; the result is the same for each supported
            version.

    Raises:
        ArgumentError: The version is not supported.
        NotSupportedError: The package onnx is not installed.
    """
    exporting = load("gluonish.onnx.exporting")
    exporting.opset_of(opset_version)
    return sorted(exporting.translators())
