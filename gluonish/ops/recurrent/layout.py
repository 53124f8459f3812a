"""Layout of the RNN operator's packed vectors: its parameters and its reserve space.

Parameters. For each layer, for each direction: the input weight, the recurrent weight and, with a
projection, the projection, each in C order. After all of them, in the same nesting, the input bias
and the recurrent bias. Gates are stacked along a weight's first axis: input, forget, cell, output
of an LSTM; reset, update, new of a GRU.

Reserve. One vector that the forward pass fills for the backward pass, with the arrays of
`segments`. The layout is the same for all kernels, so that each can read what another wrote.

_rnn_param_concat: concatenate the flat parameters of recurrent layers for RNN.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.shape.concat import CONCAT

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
# Arrays of H elements that one time step saves: the gates, and for a GRU the recurrent term of the
# new gate before the reset gate is applied.
_NUM_SAVED = {"lstm": 4, "gru": 4, "rnn_tanh": 0, "rnn_relu": 0}

Clip = tuple[float, float, bool]
Segment = tuple[int, Shape]


class Dims(NamedTuple):
    """Extents and options of one call.

    Attributes:
        mode: Kind of cell, a key of `GATES`.
        layers: Number of layers.
        directions: 2 if bidirectional, else 1.
        steps: T, number of time steps.
        batch: N, batch size.
        inputs: Features of the data.
        units: H, features of a cell.
        width: R, features of one direction's output: H, or the size of the projection.
        projected: Whether there is a projection.
        dropout: Probability of zeroing an element between layers.
        ragged: Whether sequences end at different steps.
        clip: Lower and upper bound of an LSTM's cell, and whether NaN becomes the lower one.
    """

    mode: str
    layers: int
    directions: int
    steps: int
    batch: int
    inputs: int
    units: int
    width: int
    projected: bool
    dropout: float
    ragged: bool
    clip: Clip | None

    def features(self, layer: int) -> int:
        """Number of input features of a layer."""
        return self.width * self.directions if layer else self.inputs

    @property
    def joined(self) -> bool:
        """Whether layers read a separate array instead of the hidden states of the layer below."""
        return self.directions > 1 or self.dropout > 0 or self.ragged


class Weights(NamedTuple):
    """Parameters of one layer in one direction; ``h2r`` is None without a projection."""

    i2h: Any
    h2h: Any
    h2r: Any
    i2h_bias: Any
    h2h_bias: Any


def dims_of(shape: Shape, attrs: Attrs) -> Dims:
    """Return the extents and options of a call, from the data's shape (T, N, features)."""
    steps, batch, inputs = shape
    low, high = attrs["lstm_state_clip_min"], attrs["lstm_state_clip_max"]
    clip = None if low is None or high is None else (low, high, attrs["lstm_state_clip_nan"])
    return Dims(
        attrs["mode"],
        attrs["num_layers"],
        2 if attrs["bidirectional"] else 1,
        steps,
        batch,
        inputs,
        attrs["state_size"],
        attrs["projection_size"] or attrs["state_size"],
        bool(attrs["projection_size"]),
        attrs["p"] if attrs["num_layers"] > 1 else 0.0,
        attrs["use_sequence_length"],
        clip if attrs["mode"] == "lstm" else None,
    )


def weight_shapes(dims: Dims, layer: int) -> tuple[Shape, ...]:
    """Return the shapes of a layer's matrices in one direction, in their order."""
    rows = GATES[dims.mode] * dims.units
    shapes: tuple[Shape, ...] = ((rows, dims.features(layer)), (rows, dims.width))
    return (*shapes, (dims.width, dims.units)) if dims.projected else shapes


def parameter_count(dims: Dims) -> int:
    """Return the length of the parameter vector; `UNKNOWN` if the number of features is."""
    if dims.inputs == UNKNOWN:
        return UNKNOWN
    rows = GATES[dims.mode] * dims.units
    matrices = sum(
        math.prod(shape) for layer in range(dims.layers) for shape in weight_shapes(dims, layer)
    )
    return dims.directions * (matrices + 2 * rows * dims.layers)


def layer_dims(
    mode: str, layers: int, directions: int, units: int, projection: int | None, inputs: int
) -> Dims:
    """Return the extents of layers without a call."""
    return Dims(
        mode=mode,
        layers=layers,
        directions=directions,
        steps=0,
        batch=0,
        inputs=inputs,
        units=units,
        width=projection or units,
        projected=bool(projection),
        dropout=0.0,
        ragged=False,
        clip=None,
    )


def vector_dims(
    mode: str, layers: int, directions: int, units: int, projection: int | None, size: int
) -> Dims | None:
    """Return the extents of layers with a parameter vector of ``size`` elements, or None.

    None: no number of input features gives a vector of this size.
    """
    sizes = (mode, layers, directions, units, projection)
    rest = parameter_count(layer_dims(*sizes, 0))
    inputs, remainder = divmod(size - rest, GATES[mode] * units * directions)
    return None if remainder or inputs < 1 else layer_dims(*sizes, inputs)


def split_parameters(flat: Any, dims: Dims) -> list[Weights]:
    """Return the parameters of every layer and direction, as views of a contiguous vector."""
    at = 0

    def take(shape: Shape) -> Any:
        nonlocal at
        begin, at = at, at + math.prod(shape)
        return flat[begin:at].reshape(shape)

    matrices = [
        [take(shape) for shape in weight_shapes(dims, layer)]
        for layer in range(dims.layers)
        for _ in range(dims.directions)
    ]
    rows = (GATES[dims.mode] * dims.units,)
    return [
        Weights(found[0], found[1], found[2] if dims.projected else None, take(rows), take(rows))
        for found in matrices
    ]


@lru_cache(maxsize=256)
def segments(dims: Dims) -> dict[tuple[str, int], Segment]:
    """Return the offset and shape of each array in the reserve.

    Keys are ``("mask", 0)``: factors of dropout (layers - 1, T, N, features), if there is dropout;
    ``("x", layer)``: the input of a layer above the first (T, N, features), unless it is the hidden
    states below; and for each run ``layer * directions + direction``: ``("hidden", run)``
    (T, N, R), ``("gates", run)`` (T, N, k H) and ``("cells", run)`` (T, N, H) of an LSTM.
    """
    found: dict[tuple[str, int], Segment] = {}
    at = 0

    def put(name: str, index: int, shape: Shape) -> None:
        nonlocal at
        found[name, index] = (at, shape)
        at += math.prod(shape)

    ticks = (dims.steps, dims.batch)
    above = (*ticks, dims.directions * dims.width)
    if dims.dropout > 0:
        put("mask", 0, (dims.layers - 1, *above))
    for layer in range(1, dims.layers):
        if dims.joined:
            put("x", layer, above)
    num_saved = _NUM_SAVED[dims.mode]
    for run in range(dims.layers * dims.directions):
        put("hidden", run, (*ticks, dims.width))
        if num_saved:
            put("gates", run, (*ticks, num_saved * dims.units))
        if dims.mode == "lstm":
            put("cells", run, (*ticks, dims.units))
    return found


def reserve_size(dims: Dims) -> int:
    """Return the number of elements of the reserve."""
    return sum(math.prod(shape) for _, shape in segments(dims).values())


class Reserve:
    """The arrays inside a reserve vector."""

    def __init__(self, flat: Any, dims: Dims) -> None:
        self._arrays = {
            key: flat[at : at + math.prod(shape)].reshape(shape)
            for key, (at, shape) in segments(dims).items()
        }

    def get(self, name: str, index: int = 0) -> Any:
        """Return an array by its key in `segments`; None if absent."""
        return self._arrays.get((name, index))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Infer unknown lengths from the known lengths and the total.

    A bidirectional layer has two unknown lengths, those of the input weights, which are equal.
    """
    dtype = None
    for spec in (*inputs, *outputs):
        dtype = merge_dtypes(dtype, spec.dtype, "_rnn_param_concat")
    inputs[:] = [PartialSpec(spec.shape, dtype) for spec in inputs]
    outputs[0] = PartialSpec(outputs[0].shape, dtype)
    total = UNKNOWN if outputs[0].shape is None else outputs[0].shape[0]
    lengths = [UNKNOWN if spec.shape is None else spec.shape[0] for spec in inputs]
    missing = [i for i, length in enumerate(lengths) if length == UNKNOWN]
    known = sum(length for length in lengths if length != UNKNOWN)
    if not missing:
        whole = merge_shapes((known,), outputs[0].shape, "_rnn_param_concat output")
        outputs[0] = PartialSpec(whole, dtype)
    elif total >= known and (total - known) % len(missing) == 0:
        for i in missing:
            inputs[i] = PartialSpec(((total - known) // len(missing),), dtype)


def _infer(*arrays: Spec, **attrs: Any) -> tuple[Spec, ...]:
    try:
        return CONCAT.infer(*arrays, **attrs)
    except OperatorError as error:
        raise OperatorError(f"_rnn_param_concat: {str(error).partition(': ')[2]}") from error


RNN_PARAM_CONCAT = register(
    Operator(
        "_rnn_param_concat",
        _infer,
        CONCAT.kernel,
        CONCAT.gradient,
        doc=("Join vectors; dim must be 0.\n\nShapes: arrays (n_i,), output (sum of n_i,)."),
        inputs=("data",),
        schema=Schema(num_args=integer(low=1), dim=integer(1)),
        aliases=("_npi_rnn_param_concat",),
        variadic="num_args",
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(copies_only=True),
    )
)
