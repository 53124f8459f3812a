"""The block that runs an imported ONNX graph."""

import os
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    NotSupportedError,
    UntraceableError,
)
from gluonish.core.loading import load
from gluonish.gluon.block.files import write_model
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.parameter import ParameterDict
from gluonish.ndarray import NDArray, array
from gluonish.numpy.array import ndarray
from gluonish.onnx.importing.arrays import plain
from gluonish.onnx.importing.elements import Narrow
from gluonish.onnx.importing.models import Declared, Model
from gluonish.onnx.importing.nodes import Node
from gluonish.onnx.importing.running import Program, run
from gluonish.onnx.importing.tensors import Stored

# Inputs whose values determine shapes or kernels; tensors read there are not parameters.
_NUMBERS = {
    "Clip": (1, 2),
    "Dropout": (1, 2),
    "OneHot": (2,),
    "Pad": (2,),
    "Range": (0, 1, 2),
    "Resize": (1, 2, 3),
    "Upsample": (1,),
    "NonMaxSuppression": (3, 4),
    "QuantizeLinear": (1, 2),
    "DequantizeLinear": (1, 2),
    "_int8_convolution": (2, 3, 4),
    "_int8_dense": (2, 3, 4),
}
_STATISTICS = {"BatchNormalization": (3, 4)}


class OnnxBlock(HybridBlock):
    """A network that computes an ONNX graph, for inputs of all shapes for which the graph is valid.

    The floating-point tensors of the file are its parameters. Integers in the file that determine
    shapes are computed when the block is traced.

    Args:
        model: The model.

    Inputs:
        inputs: One array for each input of the graph; a list of arrays for a sequence.

    Outputs:
        outputs: One array, or a list with one for each output of the graph. Element
            types that gluonish's arrays lack (float8, int4) are converted to wider ones.

    Attributes:
        model: The model; tensors that became parameters no longer have values here.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix, self._params = "", ParameterDict("", None)
        self.model = model
        statistics, trained = trainable(model.program)
        for name in sorted(trained, key=statistics.__contains__):
            stored = model.program.constants[name]
            parameter = self.params.get(
                name,
                shape=stored.numbers.shape,
                dtype=stored.element.dtype,
                grad_req="null" if name in statistics else "write",
            )
            self._reg_params[name] = parameter

    def take_numbers(self, ctx: Any) -> None:
        """Initialize the parameters with the values in the file.

        Args:
            ctx: Device, or list of devices.
        """
        for name, parameter in self._reg_params.items():
            stored = self.model.program.constants[name]
            parameter._load_init(array(stored.numbers, dtype=stored.element.dtype), ctx)
            stored.numbers = np.empty(0, stored.element.dtype)  # the parameter holds the values now

    def export(
        self, path: str | os.PathLike[str] | None, epoch: int = 0, remove_amp_cast: bool = True
    ) -> Any:
        """Export a graph for all shapes, and the parameters; see `HybridBlock.export`.

        The network need not be called before. If no single graph is valid for all shapes, the graph
        of the last hybridized call is exported.

        Args:
            path: Prefix of the files' paths; None to return graph and arrays instead.
            epoch: Number in the name of the parameters' file.
            remove_amp_cast: Whether to leave out casts that mixed precision inserted.

        Raises:
            NotSupportedError: No graph is valid for all shapes, and there was no hybridized call.
            UntraceableError: Shapes depend on values of the inputs.
        """
        what = f"{self.name}.export"
        symbols = load("gluonish.onnx.importing.symbols")
        try:
            found = symbols.compose(self, symbols.declared_shapes(self.model, {}, what))
        except (NotSupportedError, UntraceableError):
            if not self._graphs:
                raise
            return super().export(path, epoch, remove_amp_cast)
        values = {f"arg:{name}": x for name, x in found.arguments.items()}
        values |= {f"aux:{name}": x for name, x in found.auxiliary.items()}
        if path is None:
            return found.symbol, values
        return write_model(what, found.symbol, values, path, epoch, remove_amp_cast)

    def _call_graph(self, *args: Any, **kwargs: Any) -> Any:
        """Run a traced graph, or, for a call without arrays, the operators directly."""
        if not any(map(_holds_array, args)):
            return self._call_forward(*args, **kwargs)
        return super()._call_graph(*args, **kwargs)

    def forward(self, *args: Any) -> Any:
        """Compute the outputs.

        Args:
            *args: The inputs.
        """
        inputs = self.model.inputs
        if len(args) != len(inputs):
            raise ArgumentError(
                f"{self.name}: expected {len(inputs)} inputs, {[x.name for x in inputs]}, got "
                f"{len(args)}"
            )
        given = {d.name: _value(d, x) for d, x in zip(inputs, args, strict=True)}
        weights = {n: p.data().as_np_ndarray() for n, p in self._reg_params.items()}
        program = self.model.program
        results = run(program, [given.get(n) for n in program.inputs], parameters=weights)
        numpy = any(_is_numpy(x) for x in args) or not args
        shown = [_shown(x, numpy=numpy) for x in results]
        return shown[0] if len(shown) == 1 else shown


def trainable(program: Program) -> tuple[set[str], set[str]]:
    """Return the names of tensors that are running statistics, and of all that are parameters.

    Args:
        program: The main graph.
    """
    numbers, statistics, used = set[str](), set[str](), set[str]()
    for node in _all_nodes(program):
        for i, name in enumerate(node.inputs):
            if i in _NUMBERS.get(node.kind, ()):
                numbers.add(name)
            elif i in _STATISTICS.get(node.kind, ()) and not node.domain:
                statistics.add(name)
            else:
                used.add(name)
    found = {name for name, stored in program.constants.items() if _is_weight(stored)}
    found -= numbers
    return found & statistics - used, found


def _is_weight(stored: Stored) -> bool:
    return is_floating(stored.element.dtype) and not stored.element.is_narrow


def _all_nodes(program: Program) -> list[Node]:
    nodes = list(program.nodes)
    for node in program.nodes:
        for value in node.attrs.values():
            if isinstance(value, Program):
                nodes += _all_nodes(value)
    return nodes


def _value(declared: Declared, x: Any) -> Any:
    if x is None or isinstance(x, list | tuple):
        return None if x is None else [_value(declared, item) for item in x]
    if not isinstance(x, NDArray):
        raise ArgumentTypeError(
            f"ONNX input {declared.name!r}: expected an NDArray, got {type(x).__name__}"
        )
    array: Any = x.as_np_ndarray()
    kind = declared.element
    if kind is None or array.dtype == kind.dtype:
        return array if kind is None or not kind.is_narrow else Narrow(array, kind)
    return Narrow(array.astype(kind.dtype), kind) if kind.is_narrow else array.astype(kind.dtype)


def _holds_array(x: Any) -> bool:
    return any(map(_holds_array, x)) if isinstance(x, list | tuple) else isinstance(x, NDArray)


def _is_numpy(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_numpy, x))
    return isinstance(x, ndarray)


def _shown(value: Any, *, numpy: bool) -> Any:
    if isinstance(value, list):
        return [_shown(item, numpy=numpy) for item in value]
    if value is None:
        return None
    array = plain(value)
    return array if numpy else array.as_nd_ndarray()
