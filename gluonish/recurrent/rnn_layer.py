"""Recurrent layers that run whole sequences in one operator: RNN, LSTM and GRU.

References:
    J. Elman, Finding Structure in Time, 1990.
    S. Hochreiter, J. Schmidhuber, Long Short-Term Memory, 1997.
    K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014; the reset gate
    here multiplies the recurrent product, as in cuDNN.
    H. Sak, A. Senior, F. Beaufays, Long Short-Term Memory Based Recurrent Neural Network
    Architectures, 2014 (projection).
"""

from typing import Any

from gluonish.core.errors import KeyLookupError
from gluonish.parameter.parameter import Init
from gluonish.recurrent.recurrent_layer import RecurrentLayer

__all__ = ["GRU", "LSTM", "RNN"]


class RNN(RecurrentLayer):
    """Elman's recurrent network: ``h_t = activation(W_i x_t + b_i + W_h h_(t-1) + b_h)``.

    Args:
        hidden_size: H, features of h.
        num_layers: Number of layers; each reads the output of the one below.
        activation: ``"relu"`` or ``"tanh"``.
        layout: Order of the input's and output's axes, ``"TNC"`` or ``"NTC"``.
        dropout: Probability of zeroing an element of each layer's output but the last, in training.
        bidirectional: Whether to run in both directions and join their outputs.
        i2h_weight_initializer: For the input weights (H, C).
        h2h_weight_initializer: For the recurrent weights (H, H).
        i2h_bias_initializer: For the input biases (H,).
        h2h_bias_initializer: For the recurrent biases (H,).
        input_size: C, features of the input; 0 for what the first batch has.
        dtype: Element type of the parameters and the states.
        **kwargs: ``use_sequence_length``, whether calls give the length of each sequence; and see
            `HybridBlock`.

    Inputs:
        inputs: (T, N, C), or (N, T, C) with layout NTC.
        states: (layers * directions, N, H), or a list with it; may be left out.
        sequence_length: (N,), with ``use_sequence_length``. Outputs behind a sequence's end are 0.

    Outputs:
        output: (T, N, directions * H) or (N, T, directions * H).
        states: a list like that of the inputs, if that was given.

    Raises:
        KeyLookupError: for another activation.
        ArgumentError: for another layout.
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        input_size: int = 0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        if activation not in ("relu", "tanh"):
            raise KeyLookupError(f"RNN: expected activation 'relu' or 'tanh', got {activation!r}")
        super().__init__(
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            mode=f"rnn_{activation}",
            dtype=dtype,
            **kwargs,
        )


class LSTM(RecurrentLayer):
    """Long short-term memory.

    With s the sigmoid, and ``W_i x_t + b_i + W_h h_(t-1) + b_h`` in four parts i, f, g and o::

        c_t = s(f) * c_(t-1) + s(i) * tanh(g)
        h_t = s(o) * tanh(c_t)

    Args:
        hidden_size: H, features of c.
        num_layers: Number of layers; each reads the output of the one below.
        layout: Order of the input's and output's axes, ``"TNC"`` or ``"NTC"``.
        dropout: Probability of zeroing an element of each layer's output but the last, in training.
        bidirectional: Whether to run in both directions and join their outputs.
        input_size: C, features of the input; 0 for what the first batch has.
        i2h_weight_initializer: For the input weights (4 H, C).
        h2h_weight_initializer: For the recurrent weights (4 H, R).
        i2h_bias_initializer: For the input biases (4 H,).
        h2h_bias_initializer: For the recurrent biases (4 H,).
        projection_size: R, features that h is projected to; None for H and no projection.
        h2r_weight_initializer: For the projections (R, H).
        state_clip_min: Lower bound that c is held above; goes with ``state_clip_max``.
        state_clip_max: Upper bound.
        state_clip_nan: Whether NaN in c becomes the lower bound.
        dtype: Element type of the parameters and the states.
        **kwargs: ``use_sequence_length``, whether calls give the length of each sequence; and see
            `HybridBlock`.

    Inputs:
        inputs: (T, N, C), or (N, T, C) with layout NTC.
        states: list of h (layers * directions, N, R) and c (layers * directions, N, H); may be left
            out.
        sequence_length: (N,), with ``use_sequence_length``. Outputs behind a sequence's end are 0.

    Outputs:
        output: (T, N, directions * R) or (N, T, directions * R).
        states: a list like that of the inputs, if that was given.

    Raises:
        ArgumentError: for another layout.
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Init | None = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            mode="lstm",
            dtype=dtype,
            projection_size=projection_size,
            h2r_weight_initializer=h2r_weight_initializer,
            lstm_state_clip_min=state_clip_min,
            lstm_state_clip_max=state_clip_max,
            lstm_state_clip_nan=state_clip_nan,
            **kwargs,
        )


class GRU(RecurrentLayer):
    """Gated recurrent units.

    With s the sigmoid, ``a = W_i x_t + b_i`` and ``b = W_h h_(t-1) + b_h``, in three parts each::

        r = s(a_r + b_r)
        z = s(a_z + b_z)
        h_t = (1 - z) * tanh(a_n + r * b_n) + z * h_(t-1)

    Args:
        hidden_size: H, features of h.
        num_layers: Number of layers; each reads the output of the one below.
        layout: Order of the input's and output's axes, ``"TNC"`` or ``"NTC"``.
        dropout: Probability of zeroing an element of each layer's output but the last, in training.
        bidirectional: Whether to run in both directions and join their outputs.
        input_size: C, features of the input; 0 for what the first batch has.
        i2h_weight_initializer: For the input weights (3 H, C).
        h2h_weight_initializer: For the recurrent weights (3 H, H).
        i2h_bias_initializer: For the input biases (3 H,).
        h2h_bias_initializer: For the recurrent biases (3 H,).
        dtype: Element type of the parameters and the states.
        **kwargs: ``use_sequence_length``, whether calls give the length of each sequence; and see
            `HybridBlock`.

    Inputs:
        inputs: (T, N, C), or (N, T, C) with layout NTC.
        states: (layers * directions, N, H), or a list with it; may be left out.
        sequence_length: (N,), with ``use_sequence_length``. Outputs behind a sequence's end are 0.

    Outputs:
        output: (T, N, directions * H) or (N, T, directions * H).
        states: a list like that of the inputs, if that was given.

    Raises:
        ArgumentError: for another layout.
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            mode="gru",
            dtype=dtype,
            **kwargs,
        )
