"""FusedRNN: initial values of the RNN operator's packed parameters."""

from typing import Any

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.initializer.base import InitDesc, Initializer, create, register
from gluonish.ndarray import NDArray
from gluonish.ops.recurrent.layout import GATES, Dims, Weights, parameter_count, split_parameters

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
        rows = GATES[self._mode] * self._num_hidden
        directions = 2 if self._bidirectional else 1

        def dims(inputs: int) -> Dims:
            return Dims(
                mode=self._mode,
                layers=self._num_layers,
                directions=directions,
                steps=0,
                batch=0,
                inputs=inputs,
                units=self._num_hidden,
                width=self._num_hidden,
                projected=False,
                dropout=0.0,
                ragged=False,
                clip=None,
            )

        rest = parameter_count(dims(0))
        inputs, remainder = divmod(values.size - rest, rows * directions)
        if values.ndim != 1 or remainder or inputs < 1:
            raise ArgumentError(
                f"FusedRNN: expected {str(name)!r} to be a vector of {rest} elements and "
                f"{rows * directions} for each feature of the input, got shape {values.shape}"
            )
        return dims(inputs)


def _of_kind(weights: Weights, kind: str) -> tuple[tuple[str, Any], tuple[str, Any]]:
    if kind == "weight":
        return ("i2h", weights.i2h), ("h2h", weights.h2h)
    return ("i2h", weights.i2h_bias), ("h2h", weights.h2h_bias)
