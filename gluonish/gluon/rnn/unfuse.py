"""The cells of a recurrent layer, which share its parameters."""

from typing import TYPE_CHECKING, Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.rnn.bidirectional_cell import BidirectionalCell
from gluonish.gluon.rnn.dropout_cell import DropoutCell
from gluonish.gluon.rnn.elman_cell import RNNCell
from gluonish.gluon.rnn.gru_cell import GRUCell
from gluonish.gluon.rnn.lstm_cell import LSTMCell
from gluonish.gluon.rnn.lstmp_cell import LSTMPCell
from gluonish.gluon.rnn.sequential_cell import HybridSequentialRNNCell

if TYPE_CHECKING:
    from gluonish.gluon.rnn.recurrent_layer import RecurrentLayer

__all__ = ["unfused"]


def unfused(layer: "RecurrentLayer") -> HybridSequentialRNNCell:
    """Return a stack of cells with a layer's parameters; see `RecurrentLayer.unfuse`."""
    if layer._lstm_state_clip_min is not None or layer._lstm_state_clip_nan:
        raise ArgumentError(
            f"{layer.name}.unfuse: expected a layer without state clipping, which cells do not "
            "have, got one with it"
        )
    stack = HybridSequentialRNNCell(prefix=layer.prefix, params=layer.params)
    width = layer._projection_size or layer._hidden_size
    with stack.name_scope():
        for i in range(layer._num_layers):
            inputs = width * layer._dir if i else layer._input_size
            cells = [_cell(layer, inputs, f"{side}{i}_") for side in "lr"[: layer._dir]]
            stack.add(cells[0] if len(cells) == 1 else BidirectionalCell(*cells))
            if layer._dropout > 0 and i + 1 < layer._num_layers:
                stack.add(DropoutCell(layer._dropout))
    return stack


def _cell(layer: "RecurrentLayer", input_size: int, prefix: str) -> Any:
    options: dict[str, Any] = {
        f"{name}_initializer": getattr(layer, f"_{name}_initializer")
        for name in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    }
    options |= {"input_size": input_size, "prefix": prefix}
    if layer._mode == "gru":
        return GRUCell(layer._hidden_size, **options)
    if layer._mode != "lstm":
        return RNNCell(layer._hidden_size, layer._mode.removeprefix("rnn_"), **options)
    if layer._projection_size is None:
        return LSTMCell(layer._hidden_size, **options)
    options["h2r_weight_initializer"] = layer._h2r_weight_initializer
    return LSTMPCell(layer._hidden_size, layer._projection_size, **options)
