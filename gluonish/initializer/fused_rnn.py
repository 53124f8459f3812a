"""FusedRNN and RNNFused: initial values of the RNN operator's packed parameters."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.initializer.base import InitDesc, Initializer, create, register
from gluonish.ndarray import NDArray
from gluonish.ops.recurrent.layout import (
    GATES,
    Dims,
    Weights,
    layer_dims,
    parameter_count,
    split_parameters,
    vector_dims,
)

Init = Initializer | str | Callable[[str, NDArray], None]
# Suffixes of the gates in the names of a cell's unpacked parameters.
_GATE_NAMES = {
    "lstm": ("_i", "_f", "_c", "_o"),
    "gru": ("_r", "_z", "_o"),
    "rnn_relu": ("",),
    "rnn_tanh": ("",),
}


@register
class FusedRNN(Initializer):
    """Fill the packed parameter vector of the RNN operator, gate by gate, with another initializer.

    The slices are named like ``l0_i2h_f_weight`` or ``r1_h2h_bias`` for the other initializer. The
    biases of an LSTM's forget gates are set to ``forget_bias``.

    Args:
        init: The initializer of the slices, in any form that `create` accepts; None uses the
            initializer of the whole model.
        num_hidden: Number of hidden features of a cell.
        num_layers: Number of layers.
        mode: ``"lstm"``, ``"gru"``, ``"rnn_relu"`` or ``"rnn_tanh"``.
        bidirectional: Whether the layers run in both directions.
        forget_bias: Initial bias of the forget gates of an LSTM.

    Raises:
        ArgumentError: The mode is unknown or a size is below 1; when called: the vector's length
            does not match these sizes, or there is no initializer for the slices.
        ArgumentTypeError: ``init`` is not an initializer.
    """

    def __init__(
        self,
        init: Initializer | str | None,
        num_hidden: int,
        num_layers: int,
        mode: str,
        bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        if mode not in GATES:
            raise ArgumentError(f"FusedRNN: expected mode {', '.join(GATES)}, got {mode!r}")
        if num_hidden < 1 or num_layers < 1:
            raise ArgumentError(
                f"FusedRNN: expected num_hidden and num_layers of 1 or more, got {num_hidden} and "
                f"{num_layers}"
            )
        chosen: Any = create(init) if isinstance(init, str) else init
        if chosen is not None and not isinstance(chosen, Initializer):
            raise ArgumentTypeError(
                f"FusedRNN: expected init to be an Initializer, its name or None, got {init!r}"
            )
        super().__init__(
            init=None if chosen is None else chosen.dumps(),
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init = chosen
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        global_init = getattr(name, "global_init", None)
        init = self._init if self._init is not None else global_init
        if init is None or init is self:
            raise ArgumentError(
                f"FusedRNN: expected an initializer for the slices of {str(name)!r}, got None; "
                "pass init"
            )
        values = np.empty(arr.shape, np.float32)
        for slice_name, view in self._named_views(values, name):
            if self._mode == "lstm" and slice_name.endswith("_f_bias"):
                view[...] = self._forget_bias
                continue
            filled = nd.zeros(view.shape, ctx=arr.context)
            init(InitDesc(slice_name, global_init=global_init), filled)
            view[...] = filled.asnumpy()
        arr[:] = values

    def _named_views(self, values: Any, name: str) -> list[tuple[str, Any]]:
        """Return (name, view) for the weights of all gates, then for the biases."""
        packed = split_parameters(values, self._dims(values, name))
        sides = "lr" if self._bidirectional else "l"
        runs = [f"{side}{i}" for i in range(self._num_layers) for side in sides]
        found = []
        for kind in ("weight", "bias"):
            for run, weights in zip(runs, packed, strict=True):
                for matrix, array in _of_kind(weights, kind):
                    gates = _GATE_NAMES[self._mode]
                    rows = array.reshape(len(gates), self._num_hidden, *array.shape[1:])
                    found += [
                        (f"{run}_{matrix}{gate}_{kind}", view)
                        for gate, view in zip(gates, rows, strict=True)
                    ]
        return found

    def _dims(self, values: Any, name: str) -> Dims:
        """Return the sizes of the layers; the input size follows from the length of the vector."""
        directions = 2 if self._bidirectional else 1
        sizes = (self._mode, self._num_layers, directions, self._num_hidden, None)
        found = vector_dims(*sizes, values.size) if values.ndim == 1 else None
        if found is None:
            rest = parameter_count(layer_dims(*sizes, 0))
            raise ArgumentError(
                f"FusedRNN: expected {str(name)!r} to be a vector of {rest} elements and "
                f"{GATES[self._mode] * self._num_hidden * directions} for each feature of the "
                f"input, got shape {values.shape}"
            )
        return found


def _of_kind(weights: Weights, kind: str) -> tuple[tuple[str, Any], tuple[str, Any]]:
    if kind == "weight":
        return ("i2h", weights.i2h), ("h2h", weights.h2h)
    return ("i2h", weights.i2h_bias), ("h2h", weights.h2h_bias)


@register
class RNNFused(Initializer):
    """Fill the parameter vector of a recurrent layer of MXNet 2.0, array by array.

    Args:
        mode: ``"lstm"``, ``"gru"``, ``"rnn_relu"`` or ``"rnn_tanh"``.
        num_layers: Number of layers.
        state_size: Number of hidden features of a cell.
        bidirectional: Whether the layers run in both directions.
        projection_size: Number of features of an LSTM's projected output; None for no projection.
        i2h_weight_initializer: Initializer of the input weights; None for that of the network.
        h2h_weight_initializer: Initializer of the recurrent weights.
        i2h_bias_initializer: Initializer of the input biases.
        h2h_bias_initializer: Initializer of the recurrent biases.
        h2r_weight_initializer: Initializer of the projections.

    Raises:
        ArgumentError: The mode is unknown; when called: the vector's length does not match these
            sizes.
    """

    def __init__(
        self,
        mode: str,
        num_layers: int,
        state_size: int,
        bidirectional: bool = False,
        projection_size: int | None = None,
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = None,
        h2h_bias_initializer: Init | None = None,
        h2r_weight_initializer: Init | None = None,
    ) -> None:
        if mode not in GATES:
            raise ArgumentError(f"RNNFused: expected mode {', '.join(GATES)}, got {mode!r}")
        own: dict[str, Init | None] = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
            "h2r_weight": h2r_weight_initializer,
        }
        written = {
            f"{name}_initializer": init if init is None or isinstance(init, str) else _written(init)
            for name, init in own.items()
        }
        super().__init__(
            mode=mode,
            num_layers=num_layers,
            state_size=state_size,
            bidirectional=bidirectional,
            projection_size=projection_size,
            **written,
        )
        self._own = own
        self._mode = mode
        self.gates = GATES[mode]
        self.num_layers = num_layers
        self.num_hidden = state_size
        self.dir = 2 if bidirectional else 1
        self.projection_size = projection_size
        self._default: Initializer | str = "uniform"

    def set_initializer(self, init: Initializer | str) -> None:
        """Set the initializer of the arrays that have none.

        Args:
            init: The initializer, or its name.
        """
        self._default = init

    def _init_weight(self, name: str, arr: NDArray) -> None:
        values = np.empty(arr.shape, np.float32)
        sizes = (self._mode, self.num_layers, self.dir, self.num_hidden, self.projection_size)
        dims = vector_dims(*sizes, values.size) if values.ndim == 1 else None
        if dims is None:
            raise ArgumentError(
                f"RNNFused: expected {str(name)!r} to be a vector of the parameters of "
                f"{self.num_layers} layers of {self.num_hidden} features, got shape {values.shape}"
            )
        for weights in split_parameters(values, dims):
            for label, view in _labelled(weights):
                own = self._own[label]
                filled = nd.zeros(view.shape, ctx=arr.context)
                if own is None:
                    create(self._default)(InitDesc(label), filled)
                elif isinstance(own, str | Initializer):
                    create(own)._init_weight(label, filled)
                else:
                    own(InitDesc(label), filled)
                view[...] = filled.asnumpy()
        arr[:] = values


def _written(init: Any) -> str:
    """Return an initializer or a function as text."""
    return init.dumps() if isinstance(init, Initializer) else str(init)


def _labelled(weights: Weights) -> list[tuple[str, Any]]:
    """Return the arrays of one layer in one direction with their names."""
    found = [
        ("i2h_weight", weights.i2h),
        ("h2h_weight", weights.h2h),
        ("h2r_weight", weights.h2r),
        ("i2h_bias", weights.i2h_bias),
        ("h2h_bias", weights.h2h_bias),
    ]
    return [(name, array) for name, array in found if array is not None]
