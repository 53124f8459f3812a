"""The public functions `import_model`, `import_to_gluon` and `get_model_metadata`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import GluonishError, NotSupportedError, UntraceableError
from gluonish.core.files import path_text
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.ndarray import NDArray
from gluonish.onnx.importing.block import OnnxBlock
from gluonish.onnx.importing.models import declared_values, load_model, parse_model
from gluonish.onnx.importing.symbols import Composed, compose, declared_shapes, is_open
from gluonish.symbol import Symbol, var

_File = str | os.PathLike[str] | bytes


class _Named:
    """Context manager that adds the file's path to the messages of errors."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, GluonishError) and isinstance(self._file, str | os.PathLike):
            name = path_text(self._file, "import_model")
            if error.args and name not in str(error.args[0]):
                error.args = (f"{error.args[0]}; in {name}", *error.args[1:])


def import_model(
    model_file: _File, input_shapes: Mapping[str, Sequence[int]] | None = None
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """Load an ONNX file as a Symbol and its parameters.

    Args:
        model_file: Path of the file, or its bytes.
        input_shapes: Shapes of inputs by name, needed if the file leaves sizes open and no single
            Symbol is valid for all of them. The Symbol may then be valid for these shapes only.

    Returns:
        The Symbol, whose variables have the names of the graph's inputs and tensors; its arguments
        by name, including constants; and its auxiliary states by name.

    Raises:
        FileFormatError: The file is damaged, or violates ONNX's rules.
        MissingFileError: The file does not exist.
        NotSupportedError: An operator or an element type cannot be converted, a shape is not known,
            or the package onnx is not installed.
    """
    what = "import_model"
    with _Named(model_file):
        block = OnnxBlock(load_model(model_file, what))
        block.take_numbers(None)
        try:
            found = compose(block, declared_shapes(block.model, input_shapes or {}, what))
        except UntraceableError as error:
            raise NotSupportedError(f"{what}: {error}; import_to_gluon takes it") from error
    return found.symbol, dict(found.arguments), dict(found.auxiliary)


def import_to_gluon(model_file: _File, ctx: Any = None) -> HybridBlock:
    """Load an ONNX file as a network, which can be run, trained and exported.

    Floating-point tensors of the file, including running statistics of batch normalization, become
    its parameters; the graph's constants do not change.

    Args:
        model_file: Path of the file, or its bytes.
        ctx: Device, or list of devices, of the parameters; the CPU by default.

    Returns:
        A `SymbolBlock` if the file determines all shapes. If it leaves some open, or shapes depend
        on values, a HybridBlock that makes a graph for each set of shapes it is called with.

    Raises:
        FileFormatError: The file is damaged, or violates ONNX's rules.
        MissingFileError: The file does not exist.
        NotSupportedError: An operator or an element type cannot be converted, or the package onnx
            is not installed.
    """
    what = "import_to_gluon"
    with _Named(model_file):
        block = OnnxBlock(load_model(model_file, what))
        block.take_numbers(ctx)
        try:
            shapes = declared_shapes(block.model, {}, what)
            found = None if is_open(shapes) else compose(block, shapes)
        except (NotSupportedError, UntraceableError):
            found = None  # calls of the block raise the error for unsupported operators
        if found is not None and _reads_all(found):
            return _symbol_block(found, ctx)
        return block


def _reads_all(found: Composed) -> bool:
    """Whether a model has inputs, and its Symbol uses all of them."""
    return bool(found.inputs) and set(found.symbol.list_arguments()).issuperset(found.inputs)


def _symbol_block(found: Composed, ctx: Any) -> SymbolBlock:
    """Return a SymbolBlock with the values of the file."""
    block = SymbolBlock(found.symbol, [var(name) for name in found.inputs])
    values = {**found.arguments, **found.auxiliary}
    for name, parameter in block.params.items():
        parameter.cast(values[name].dtype)
        if name not in found.trained:
            parameter.grad_req = "null"
        parameter._load_init(values[name], ctx)
    return block


def get_model_metadata(model_file: _File) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Return the names and shapes of an ONNX file's inputs and outputs.

    Args:
        model_file: Path of the file, or its bytes.

    Returns:
        A dict of ``input_tensor_data`` and ``output_tensor_data``: lists of pairs (name, shape),
        with 0 for a size that the file leaves open.

    Raises:
        FileFormatError: The file is damaged.
        MissingFileError: The file does not exist.
        NotSupportedError: The package onnx is not installed.
    """
    with _Named(model_file):
        model, _ = parse_model(model_file, "get_model_metadata")
        names = {tensor.name for tensor in model.graph.initializer}
        found = declared_values(model.graph, dict.fromkeys(names))
    shapes = [[(x.name, _zeros_for_open(x.shape)) for x in side] for side in found]
    return {"input_tensor_data": shapes[0], "output_tensor_data": shapes[1]}


def _zeros_for_open(shape: Sequence[int | str | None] | None) -> tuple[int, ...]:
    return tuple(extent if isinstance(extent, int) else 0 for extent in shape or ())
