"""Recurrent layers that run full sequences in one operator: RNN, LSTM and GRU.

References:
    J. Elman, Finding Structure in Time, 1990.
    S. Hochreiter, J. Schmidhuber, Long Short-Term Memory, 1997.
    K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014; here the reset
    gate multiplies the recurrent product, as in cuDNN.
    H. Sak, A. Senior, F. Beaufays, Long Short-Term Memory Based Recurrent Neural Network
    Architectures, 2014 (projection).
"""

from typing import Any

from gluonish.core.errors import KeyLookupError
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.recurrent_layer import RecurrentLayer

__all__ = ["GRU", "LSTM", "RNN"]


class RNN(RecurrentLayer):
    """Elman (simple) recurrent network: ``h_t = activation(W_i x_t + b_i + W_h h_(t-1) + b_h)``.

    Args:
        hidden_size: Number H of features of h.
        num_layers: Number of stacked layers; each runs on the output of the layer below.
        activation: ``"relu"`` or ``"tanh"``.
        layout: Axes of input and output: ``"TNC"`` or ``"NTC"`` (T time, N batch, C features).
        dropout: Dropout probability for the output of each layer but the last, in training.
        bidirectional: Whether to run in both directions and concatenate the outputs.
        i2h_weight_initializer: Initializer of the input weights (H, C).
        h2h_weight_initializer: Initializer of the recurrent weights (H, H).
        i2h_bias_initializer: Initializer of the input biases (H,).
        h2h_bias_initializer: Initializer of the recurrent biases (H,).
        input_size: Number C of input features; 0 infers it from the first batch.
        dtype: Element type of the parameters and the states.
        **kwargs: ``use_sequence_length``: whether calls pass the length of each sequence; for the
            others see `HybridBlock`.

    Inputs:
        inputs: (T, N, C), or (N, T, C) with layout NTC.
        states: (layers * directions, N, H), or a list of it; zeros if omitted.
        sequence_length: (N,), only with ``use_sequence_length``. Outputs after the end of a
            sequence are 0.

    Outputs:
        output: (T, N, directions * H) or (N, T, directions * H).
        states: list of the final states; returned only if states were passed.

    Raises:
        KeyLookupError: There is no such activation.
        ArgumentError: The layout is not supported.
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
    """Long short-term memory (LSTM).

    With s the sigmoid, and ``W_i x_t + b_i + W_h h_(t-1) + b_h`` split into four gates i, f, g, o::

        c_t = s(f) * c_(t-1) + s(i) * tanh(g)
        h_t = s(o) * tanh(c_t)

    Args:
        hidden_size: Number H of features of the cell state c.
        num_layers: Number of stacked layers; each runs on the output of the layer below.
        layout: Axes of input and output: ``"TNC"`` or ``"NTC"`` (T time, N batch, C features).
        dropout: Dropout probability for the output of each layer but the last, in training.
        bidirectional: Whether to run in both directions and concatenate the outputs.
        input_size: Number C of input features; 0 infers it from the first batch.
        i2h_weight_initializer: Initializer of the input weights (4 H, C).
        h2h_weight_initializer: Initializer of the recurrent weights (4 H, R).
        i2h_bias_initializer: Initializer of the input biases (4 H,).
        h2h_bias_initializer: Initializer of the recurrent biases (4 H,).
        projection_size: Number R of features of the projected h; None for no projection, R = H.
        h2r_weight_initializer: Initializer of the projections (R, H).
        state_clip_min: Lower bound of c; only together with ``state_clip_max``.
        state_clip_max: Upper bound of c.
        state_clip_nan: Whether NaN in c is replaced by the lower bound.
        dtype: Element type of the parameters and the states.
        **kwargs: ``use_sequence_length``: whether calls pass the length of each sequence; for the
            others see `HybridBlock`.

    Inputs:
        inputs: (T, N, C), or (N, T, C) with layout NTC.
        states: list of h (layers * directions, N, R) and c (layers * directions, N, H); zeros if
            omitted.
        sequence_length: (N,), only with ``use_sequence_length``. Outputs after the end of a
            sequence are 0.

    Outputs:
        output: (T, N, directions * R) or (N, T, directions * R).
        states: list of the final states; returned only if states were passed.

    Raises:
        ArgumentError: The layout is not supported.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.rnn.LSTM(hidden_size=16, layout="NTC")
        >>> layer.initialize()
        >>> x = mx.nd.ones((2, 5, 3))  # 2 sequences of 5 steps
        >>> layer(x).shape
        (2, 5, 16)
        >>> output, (h, c) = layer(x, layer.begin_state(batch_size=2))
        >>> h.shape
        (1, 2, 16)
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
    """Gated recurrent unit (GRU).

    With s the sigmoid, ``a = W_i x_t + b_i`` and ``b = W_h h_(t-1) + b_h``, each split into three
    gates r, z and n::

        r = s(a_r + b_r)
        z = s(a_z + b_z)
        h_t = (1 - z) * tanh(a_n + r * b_n) + z * h_(t-1)

    Args:
        hidden_size: Number H of features of h.
        num_layers: Number of stacked layers; each runs on the output of the layer below.
        layout: Axes of input and output: ``"TNC"`` or ``"NTC"`` (T time, N batch, C features).
        dropout: Dropout probability for the output of each layer but the last, in training.
        bidirectional: Whether to run in both directions and concatenate the outputs.
        input_size: Number C of input features; 0 infers it from the first batch.
        i2h_weight_initializer: Initializer of the input weights (3 H, C).
        h2h_weight_initializer: Initializer of the recurrent weights (3 H, H).
        i2h_bias_initializer: Initializer of the input biases (3 H,).
        h2h_bias_initializer: Initializer of the recurrent biases (3 H,).
        dtype: Element type of the parameters and the states.
        **kwargs: ``use_sequence_length``: whether calls pass the length of each sequence; for the
            others see `HybridBlock`.

    Inputs:
        inputs: (T, N, C), or (N, T, C) with layout NTC.
        states: (layers * directions, N, H), or a list of it; zeros if omitted.
        sequence_length: (N,), only with ``use_sequence_length``. Outputs after the end of a
            sequence are 0.

    Outputs:
        output: (T, N, directions * H) or (N, T, directions * H).
        states: list of the final states; returned only if states were passed.

    Raises:
        ArgumentError: The layout is not supported.
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
