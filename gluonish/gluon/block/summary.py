"""The table of `Block.summary`: layers in the order of execution, shapes, parameters."""

from collections.abc import Iterator
from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.gluon.block.hooks import HookHandle
from gluonish.gluon.block.protocols import BlockTree
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol

_WIDTH = 80


class _Row:
    """A line of the table, and its contribution to the sums."""

    __slots__ = ("name", "shape", "shared", "size", "trainable")

    def __init__(self, name: str, shape: str) -> None:
        self.name = name
        self.shape = shape
        self.size = 0
        self.trainable = 0
        self.shared = 0

    def count(self, parameter: Parameter, counted: set[int]) -> None:
        """Add a parameter; ``counted`` holds the ids of parameters counted before."""
        size = parameter.list_data()[0].size
        self.size += size
        self.trainable += size if parameter.grad_req != "null" else 0
        self.shared += size if id(parameter) in counted else 0
        counted.add(id(parameter))

    def __str__(self) -> str:
        return f"{self.name:>20}  {self.shape:>42} {self.size:>15}"


def summarize(block: BlockTree, inputs: tuple[Any, ...]) -> str:
    """Run a network once, layer by layer, and return its table.

    Nested layers have separate lines, and containers have none; calls on Symbols, which infer
    shapes, are omitted. Hybridized Blocks keep their graphs, which this call does not use.

    Args:
        block: The network, initialized.
        inputs: Arguments of the call.

    Raises:
        ArgumentTypeError: There are no inputs, or shapes instead.
    """
    if not inputs or (isinstance(inputs[0], tuple) and all(isinstance(n, int) for n in inputs[0])):
        given = f"the shape {inputs[0]}" if inputs else "none"
        raise ArgumentTypeError(
            f"summary: expected example inputs, such as net.summary(mx.nd.ones((1, 3, 32, 32))), "
            f"got {given}"
        )
    rows = [_Row("Input", _shape_text(inputs))]
    counted: set[int] = set()

    def add_row(layer: BlockTree, _: Any, outputs: Any) -> None:
        if not _holds_symbols(outputs):
            row = _Row(f"{type(layer).__name__}-{len(rows)}", _shape_text(outputs))
            for parameter in layer.params.values():
                row.count(parameter, counted)
            rows.append(row)

    layers = list(layers_of(block))
    hybridized = [layer for layer in layers if vars(layer).get("_active")]
    handles: list[HookHandle] = []
    try:
        handles += [layer.register_forward_hook(add_row) for layer in layers if layer._in_summary]
        for layer in hybridized:
            vars(layer)["_active"] = False  # not by setattr, which would invalidate graphs
        block(*inputs)
    finally:
        for layer in hybridized:
            vars(layer)["_active"] = True
        for handle in handles:
            handle.detach()
    return "\n".join(_lines(rows))


def layers_of(block: BlockTree) -> Iterator[BlockTree]:
    """Yield a network's blocks once each, children first."""
    found: dict[int, BlockTree] = {}
    block.apply(lambda layer: found.setdefault(id(layer), layer))
    yield from found.values()


def _lines(rows: list[_Row]) -> Iterator[str]:
    total, trainable, shared = (
        sum(getattr(row, name) for row in rows) for name in ("size", "trainable", "shared")
    )
    yield "-" * _WIDTH
    yield f"{'Layer (type)':>20}  {'Output Shape':>42} {'Param #':>15}"
    yield "=" * _WIDTH
    yield from map(str, rows)
    yield "=" * _WIDTH
    yield "Parameters in forward computation graph, duplicate included"
    yield f"   Total params: {total}"
    yield f"   Trainable params: {trainable}"
    yield f"   Non-trainable params: {total - trainable}"
    yield f"Shared params in forward computation graph: {shared}"
    yield f"Unique parameters in model: {total - shared}"
    yield "-" * _WIDTH


def _shapes(values: Any) -> Any:
    if isinstance(values, list | tuple):
        return [_shapes(value) for value in values]
    return values.shape if isinstance(values, NDArray) else values


def _shape_text(values: Any) -> str:
    """Return the shapes of arrays, without brackets around the outermost list."""
    shapes = _shapes(values)
    return str(shapes)[1:-1] if isinstance(shapes, list) else str(shapes)


def _holds_symbols(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return any(_holds_symbols(value) for value in values)
    return isinstance(values, Symbol)
