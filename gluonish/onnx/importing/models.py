"""Reads ONNX files: parses and checks them, and compiles them into programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gluonish.core.errors import FileFormatError, MissingFileError
from gluonish.core.file_kind import HEAD_NBYTES, ONNX, file_kind
from gluonish.core.files import path_text
from gluonish.onnx.importing.byte_layers import on_bytes
from gluonish.onnx.importing.element_types import check_element_types
from gluonish.onnx.importing.elements import Element, element
from gluonish.onnx.importing.package import onnx_package
from gluonish.onnx.importing.programs import Compiler, opset_versions
from gluonish.onnx.importing.running import Program

_MAX_RANK = 32


class Declared(NamedTuple):
    """The declaration of an input or output.

    Attributes:
        name: Name of the value.
        shape: Sizes of the axes, with a name (or None) for a dynamic one; None if the graph
            declares no shape.
        element: Element type of the value; None if not declared.
        kind: ``tensor``, ``sequence`` or ``optional``.
    """

    name: str
    shape: tuple[int | str | None, ...] | None
    element: Element | None
    kind: str


class Model(NamedTuple):
    """A model read from a file.

    Attributes:
        program: The compiled main graph.
        inputs: The inputs of a call: the graph's inputs without a value in the file.
        outputs: The outputs of the graph.
    """

    program: Program
    inputs: Sequence[Declared]
    outputs: Sequence[Declared]


def parse_model(file: Any, what: str) -> tuple[Any, Path | None]:
    """Return the ModelProto of a file, and its folder.

    Args:
        file: Path of the file; or its bytes, or a ModelProto.
        what: The calling function, for error messages.

    Raises:
        FileFormatError: The file is not an ONNX file.
        MissingFileError: There is no such file.
    """
    onnx = onnx_package(what)
    if isinstance(file, onnx.ModelProto):
        return file, None
    folder = None
    data = file
    if not isinstance(file, bytes):
        path = Path(path_text(file, "import_model"))
        folder = path.parent
        try:
            data = path.read_bytes()
        except FileNotFoundError as error:
            raise MissingFileError(
                f"{what}: expected an ONNX file, got {path}, which is not there"
            ) from error
        except OSError as error:
            raise FileFormatError(f"{what}: expected an ONNX file, got {error}") from error
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # protobuf's class differs between the implementations of protobuf
        raise _no_model(data, what, f"a broken one ({error})") from error
    if not model.HasField("graph") or not model.graph.output or not model.opset_import:
        raise _no_model(data, what, "one without", "model with a graph, outputs and opsets")
    _check_texts(model, what)
    return model, folder


def _no_model(data: bytes, what: str, found: str, target: str = "file") -> FileFormatError:
    kind = file_kind(data[:HEAD_NBYTES])
    if kind.what != ONNX and kind.advice:
        found = f"{kind.what}; {kind.advice}"
    return FileFormatError(f"{what}: expected an ONNX {target}, got {found}")


def _check_texts(message: Any, what: str) -> None:
    """Check that all strings of a message are valid UTF-8; protobuf returns others as bytes.

    Raises:
        FileFormatError: A string is not valid.
    """
    for field, value in message.ListFields():
        if field.type not in (field.TYPE_STRING, field.TYPE_MESSAGE) or field.name == "doc_string":
            continue
        single = isinstance(value, str | bytes) or hasattr(value, "ListFields")
        for item in (value,) if single else value:
            if isinstance(item, bytes):
                raise FileFormatError(
                    f"{what}: expected text in UTF-8 for {field.name}, got {item[:40]!r}"
                )
            if not isinstance(item, str):
                _check_texts(item, what)


def load_model(file: Any, what: str) -> Model:
    """Read a model and compile it into a program.

    Args:
        file: Path of the file; or its bytes, or a ModelProto.
        what: The calling function, for error messages.

    Raises:
        FileFormatError: The file is not an ONNX file, or violates ONNX's rules.
        MissingFileError: There is no such file.
        NotSupportedError: An operator or an element type cannot be converted.
    """
    model, folder = parse_model(file, what)
    try:
        compiler = Compiler(model.functions, opset_versions(model.opset_import), folder)
        program = compiler.whole(model.graph)
        check_element_types(program, _declared_types(model.graph))
        program = on_bytes(program)
        inputs, outputs = declared_values(model.graph, program.constants)
    except RecursionError as error:
        raise FileFormatError(f"{what}: expected an ONNX model, got one too deep") from error
    return Model(program, inputs, outputs)


def model_of_graph(graph: Any, opset: int) -> bytes:
    """Return a serialized model with a graph (GraphProto) of ONNX's own operators."""
    onnx = onnx_package("GraphProto")
    version = onnx.helper.make_opsetid("", opset)
    data: bytes = onnx.helper.make_model(graph, opset_imports=[version]).SerializeToString()
    return data


def declared_values(
    graph: Any, constants: Mapping[str, Any]
) -> tuple[list[Declared], list[Declared]]:
    """Return the declared inputs without a value in the file, and the declared outputs.

    Raises:
        FileFormatError: A shape is out of bounds, or two inputs have the same name.
        NotSupportedError: gluonish's arrays do not support an element type.
    """
    names = [value.name for value in graph.input]
    if len(set(names)) < len(names):
        raise FileFormatError(f"ONNX graph: expected inputs of different names, got {names[:20]}")
    inputs = [_declared(value) for value in graph.input if value.name not in constants]
    return inputs, [_declared(value) for value in graph.output]


def _declared_types(graph: Any) -> dict[str, Element]:
    """Return the element types of inputs that are tensors."""
    declared = map(_declared, graph.input)
    return {x.name: x.element for x in declared if x.element is not None and x.kind == "tensor"}


def _declared(value: Any) -> Declared:
    kind = value.type.WhichOneof("value")
    proto = value.type
    while kind in ("sequence_type", "optional_type"):
        proto = getattr(proto, kind).elem_type
        kind = proto.WhichOneof("value")
    what = f"ONNX value {value.name!r}"
    if kind is None:
        return Declared(value.name, None, None, "tensor")
    if kind != "tensor_type":
        element(8, what)
    tensor = proto.tensor_type
    known = element(tensor.elem_type, what) if tensor.elem_type else None
    outer = value.type.WhichOneof("value").partition("_")[0]
    return Declared(value.name, _declared_shape(tensor, what), known, outer)


def _declared_shape(tensor: Any, what: str) -> tuple[int | str | None, ...] | None:
    if not tensor.HasField("shape"):
        return None
    shape = tuple(
        int(dim.dim_value) if dim.WhichOneof("value") == "dim_value" else dim.dim_param or None
        for dim in tensor.shape.dim
    )
    if len(shape) > _MAX_RANK or any(isinstance(n, int) and not 0 <= n < 1 << 48 for n in shape):
        raise FileFormatError(f"{what}: expected a shape of at most {_MAX_RANK} axes, got {shape}")
    return shape
