"""Layers of transformers' encoders and decoders."""

from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import GELU, Activation, SiLU
from gluonish.gluon.nn.attention import AttentionCache, MultiHeadAttention
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.normalization import LayerNorm, RMSNorm
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.gluon.parameter.parameter import Init
from gluonish.ndarray import NDArray

__all__ = [
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
]

_NONE: Mapping[str, Any] = MappingProxyType({})
_ACTIVATIONS: dict[str, Callable[..., HybridBlock]] = {
    "gelu": GELU,
    "gelu_tanh": lambda **kwargs: GELU("tanh", **kwargs),
    "gelu_sigmoid": lambda **kwargs: GELU("sigmoid", **kwargs),
    "silu": SiLU,
    "swish": SiLU,
}


def activation_block(activation: str | HybridBlock) -> HybridBlock:
    """Return the block of an activation function.

    Args:
        activation: ``gelu``, ``gelu_tanh``, ``gelu_sigmoid``, ``silu``, ``swish`` or a name of
            `Activation`; or a block, which is returned.
    """
    if isinstance(activation, HybridBlock):
        return activation
    prefix = f"{activation}_"
    make = _ACTIVATIONS.get(activation)
    return Activation(activation, prefix=prefix) if make is None else make(prefix=prefix)


class _Options(NamedTuple):
    """Options that all layers have; see `TransformerEncoderLayer`."""

    units: int
    hidden_units: int
    num_heads: int
    dropout: float
    attention_dropout: float | None
    activation_dropout: float | None
    activation: str | HybridBlock
    norm_first: bool
    norm: str
    norm_bias: bool
    epsilon: float
    layout: str
    use_bias: bool
    dtype: Any
    weight_initializer: Init | None
    bias_initializer: Init | None

    def check(self, layer: str) -> None:
        """Refuse options out of range.

        Raises:
            ArgumentError: The message names the option.
        """
        check_positive(layer, units=self.units, hidden_units=self.hidden_units)
        check_rate(layer, "dropout", self.dropout)
        for name in ("attention_dropout", "activation_dropout"):
            if getattr(self, name) is not None:
                check_rate(layer, name, getattr(self, name))
        if self.norm not in ("layer", "rms"):
            raise ArgumentError(f"{layer}: expected norm layer or rms, got {self.norm!r}")

    def parameters(self) -> dict[str, Any]:
        """Return the options of layers with weights."""
        return {
            "use_bias": self.use_bias,
            "dtype": self.dtype,
            "weight_initializer": self.weight_initializer,
            "bias_initializer": self.bias_initializer,
        }

    def attention(self, prefix: str, **options: Any) -> MultiHeadAttention:
        """Return an attention layer."""
        rate = self.dropout if self.attention_dropout is None else self.attention_dropout
        given = {"dropout": rate, "layout": self.layout, **self.parameters(), **options}
        return MultiHeadAttention(self.units, self.num_heads, prefix=prefix, **given)

    def norm_layer(self, prefix: str) -> HybridBlock:
        """Return a normalization layer."""
        given: dict[str, Any] = {"epsilon": self.epsilon, "in_channels": self.units}
        if self.norm == "rms":
            return RMSNorm(prefix=prefix, **given)
        return LayerNorm(prefix=prefix, center=self.norm_bias, **given)

    def feed_forward(self, prefix: str) -> HybridBlock:
        """Return the default feed-forward network."""
        return _FeedForward(self, prefix=prefix)


class _FeedForward(HybridBlock):
    """Two dense layers with an activation in between: (N, T, units) to (N, T, units)."""

    def __init__(self, options: _Options, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        rate = options.activation_dropout
        parameters = options.parameters()
        with self.name_scope():
            self.hidden = Dense(
                options.hidden_units,
                flatten=False,
                in_units=options.units,
                prefix="hidden_",
                **parameters,
            )
            self.activation = activation_block(options.activation)
            self.dropout = _dropout(options.dropout if rate is None else rate)
            self.output = Dense(
                options.units,
                flatten=False,
                in_units=options.hidden_units,
                prefix="output_",
                **parameters,
            )

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the network.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (..., units).
        """
        hidden = self.activation(self.hidden(x))
        return self.output(hidden if self.dropout is None else self.dropout(hidden))


def _dropout(rate: float) -> Dropout | None:
    return Dropout(rate) if rate else None


class _Layer(HybridBlock):
    """Base class of the layers: blocks with a residual connection and a normalization each."""

    drop_path: HybridBlock | None = None  # stochastic depth, of networks that set it

    def __init__(self, options: _Options, feed_forward: HybridBlock | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        options.check(type(self).__name__)
        self._norm_first = bool(options.norm_first)
        self._text = f"{options.units}, {options.hidden_units}, num_heads={options.num_heads}"
        with self.name_scope():
            self.dropout = _dropout(options.dropout)
            if feed_forward is None:
                feed_forward = options.feed_forward("feed_forward_")
            self.feed_forward = feed_forward
            self.feed_forward_norm = options.norm_layer("feed_forward_norm_")

    def _residual(self, norm: HybridBlock | None, x: Any, compute: Callable[[Any], Any]) -> Any:
        """Add what a block computes to its input, and normalize before or after it."""
        y = compute(norm(x) if self._norm_first and norm is not None else x)
        if self.dropout is not None:
            y = self.dropout(y)
        if self.drop_path is not None:
            y = self.drop_path(y)
        return x + y if self._norm_first or norm is None else norm(x + y)

    def _with_feed_forward(self, x: Any) -> Any:
        """Return the layer's output, with the losses of a feed-forward network that has some."""
        losses: list[Any] = []

        def compute(x: Any) -> Any:
            made = self.feed_forward(x)
            if isinstance(made, list | tuple):
                made, *rest = made
                losses.extend(rest)
            return made

        y = self._residual(self.feed_forward_norm, x, compute)
        return (y, *losses) if losses else y

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text}, norm_first={self._norm_first})"


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual connection and a norm.

    ``y = norm(x + attention(x))``, then ``norm(y + feed_forward(y))``; with ``norm_first``,
    ``y = x + attention(norm(x))``, then ``y + feed_forward(norm(y))``. With ``causal`` it is the
    layer of a language model.

    Args:
        units: Number of features of inputs and outputs.
        hidden_units: Number of hidden units of the feed-forward network.
        num_heads: Number of heads, which divides ``units``.
        dropout: Probability of dropping an element before each sum, in [0, 1).
        attention_dropout: That of a weight of attention; None for ``dropout``.
        activation_dropout: That of a hidden unit; None for ``dropout``.
        activation: ``relu``, ``gelu``, ``gelu_tanh``, ``gelu_sigmoid``, ``silu`` or another of
            `Activation`, or a block.
        norm_first: Whether blocks normalize their inputs instead of the sums.
        norm: ``"layer"`` for `LayerNorm`, ``"rms"`` for `RMSNorm`.
        epsilon: Small constant of the normalizations.
        layout: ``"NTC"`` or ``"TNC"``.
        use_bias: Whether dense layers have a bias.
        causal: Whether no position attends to a later one.
        attention_options: Further arguments of `MultiHeadAttention`, such as ``num_kv_heads``,
            ``window`` or ``rotary``.
        feed_forward: Block in place of the feed-forward network, such as `GatedMLP` or
            `MixtureOfExperts`; further outputs of it become outputs of the layer.
        dtype: Element type of the parameters of dense layers.
        weight_initializer: Initializer of weights; None uses the one passed to `initialize`.
        bias_initializer: Initializer of biases.
        norm_bias: Whether each `LayerNorm` trains a bias; without it ``beta`` stays 0.
        normalize_attention: Whether the block of attention has a normalization, which the first
            layer after one does not need.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, T, units), or (T, N, units) with ``layout="TNC"``.
        mask, valid_length, cache, positions: see `MultiHeadAttention`.

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.

    References:
        A. Vaswani et al., Attention Is All You Need, 2017.
        R. Xiong et al., On Layer Normalization in the Transformer Architecture, 2020.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.TransformerEncoderLayer(units=8, hidden_units=32, num_heads=2)
        >>> layer.initialize()
        >>> layer(mx.nd.ones((3, 5, 8)), valid_length=mx.nd.array([5, 2, 4])).shape
        (3, 5, 8)
    """

    def __init__(
        self,
        units: int,
        hidden_units: int,
        num_heads: int,
        dropout: float = 0.1,
        attention_dropout: float | None = None,
        activation_dropout: float | None = None,
        activation: str | HybridBlock = "relu",
        norm_first: bool = False,
        norm: str = "layer",
        epsilon: float = 1e-5,
        layout: str = "NTC",
        use_bias: bool = True,
        causal: bool = False,
        attention_options: Mapping[str, Any] = _NONE,
        feed_forward: HybridBlock | None = None,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        norm_bias: bool = True,
        normalize_attention: bool = True,
        **kwargs: Any,
    ) -> None:
        options = _Options(
            units=units,
            hidden_units=hidden_units,
            num_heads=num_heads,
            dropout=dropout,
            attention_dropout=attention_dropout,
            activation_dropout=activation_dropout,
            activation=activation,
            norm_first=norm_first,
            norm=norm,
            norm_bias=norm_bias,
            epsilon=epsilon,
            layout=layout,
            use_bias=use_bias,
            dtype=dtype,
            weight_initializer=weight_initializer,
            bias_initializer=bias_initializer,
        )
        super().__init__(options, feed_forward, **kwargs)
        with self.name_scope():
            given = {"causal": causal, "in_units": units, **attention_options}
            self.attention = options.attention("attention_", **given)
            self.attention_norm: Any = (
                options.norm_layer("attention_norm_") if normalize_attention else None
            )

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        cache: AttentionCache | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the layer.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, T, units) or (T, N, units).
            mask: See `MultiHeadAttention`; None for none.
            valid_length: (N,), or None.
            cache: See `MultiHeadAttention.begin_cache`; None without one.
            positions: (T,) or (N, T), or None.
        """
        rest = (None, None, mask, valid_length, cache, positions)
        x = self._residual(self.attention_norm, x, lambda x: self.attention(x, *rest))
        return self._with_feed_forward(x)


class TransformerDecoderLayer(_Layer):
    """Causal self-attention, attention to an encoder's output, and a feed-forward network.

    Each has a residual connection and a norm, as in `TransformerEncoderLayer`.

    Args:
        units: Number of features of inputs and outputs.
        hidden_units: Number of hidden units of the feed-forward network.
        num_heads: Number of heads, which divides ``units``.
        dropout: Probability of dropping an element before each sum, in [0, 1).
        attention_dropout: That of a weight of attention; None for ``dropout``.
        activation_dropout: That of a hidden unit; None for ``dropout``.
        activation: See `TransformerEncoderLayer`.
        norm_first: Whether blocks normalize their inputs instead of the sums.
        norm: ``"layer"`` for `LayerNorm`, ``"rms"`` for `RMSNorm`.
        epsilon: Small constant of the normalizations.
        layout: ``"NTC"`` or ``"TNC"``.
        use_bias: Whether dense layers have a bias.
        causal: Whether no position attends to a later one.
        attention_options: Further arguments of self-attention; see `MultiHeadAttention`.
        memory_options: Further arguments of the attention to ``memory``.
        feed_forward: Block in place of the feed-forward network, such as `GatedMLP`.
        dtype: Element type of the parameters of dense layers.
        weight_initializer: Initializer of weights; None uses the one passed to `initialize`.
        bias_initializer: Initializer of biases.
        norm_bias: Whether each `LayerNorm` trains a bias; without it ``beta`` stays 0.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, T, units), or (T, N, units) with ``layout="TNC"``.
        memory: output of an encoder, (N, S, ...) or (S, N, ...); None with a cache.
        mask: broadcasts to (N, H, T, T), for self-attention; see `MultiHeadAttention`.
        valid_length: number of positions of each sample, (N,).
        memory_mask: broadcasts to (N, H, T, S).
        memory_valid_length: number of positions of ``memory`` of each sample, (N,).
        cache: pair of caches of self-attention and of ``memory``; see `begin_cache`.
        positions: see `MultiHeadAttention`.

    Outputs:
        y: shape of ``x``.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.

    References:
        A. Vaswani et al., Attention Is All You Need, 2017.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.TransformerDecoderLayer(units=8, hidden_units=32, num_heads=2)
        >>> layer.initialize()
        >>> layer(mx.nd.ones((3, 5, 8)), mx.nd.ones((3, 7, 8))).shape
        (3, 5, 8)
    """

    def __init__(
        self,
        units: int,
        hidden_units: int,
        num_heads: int,
        dropout: float = 0.1,
        attention_dropout: float | None = None,
        activation_dropout: float | None = None,
        activation: str | HybridBlock = "relu",
        norm_first: bool = False,
        norm: str = "layer",
        epsilon: float = 1e-5,
        layout: str = "NTC",
        use_bias: bool = True,
        causal: bool = True,
        attention_options: Mapping[str, Any] = _NONE,
        memory_options: Mapping[str, Any] = _NONE,
        feed_forward: HybridBlock | None = None,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        norm_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        options = _Options(
            units=units,
            hidden_units=hidden_units,
            num_heads=num_heads,
            dropout=dropout,
            attention_dropout=attention_dropout,
            activation_dropout=activation_dropout,
            activation=activation,
            norm_first=norm_first,
            norm=norm,
            norm_bias=norm_bias,
            epsilon=epsilon,
            layout=layout,
            use_bias=use_bias,
            dtype=dtype,
            weight_initializer=weight_initializer,
            bias_initializer=bias_initializer,
        )
        super().__init__(options, feed_forward, **kwargs)
        with self.name_scope():
            given = {"causal": causal, "in_units": units, **attention_options}
            self.attention = options.attention("attention_", **given)
            self.attention_norm = options.norm_layer("attention_norm_")
            given = {"fused": False, "in_units": units, **memory_options}
            self.memory_attention = options.attention("memory_attention_", **given)
            self.memory_attention_norm = options.norm_layer("memory_attention_norm_")

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        memory_mask: Tensor | None = None,
        memory_valid_length: Tensor | None = None,
        cache: tuple[AttentionCache, AttentionCache] | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the layer.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, T, units) or (T, N, units).
            memory: (N, S, ...) or (S, N, ...), or None.
            mask: Broadcasts to (N, H, T, T), or None.
            valid_length: (N,), or None.
            memory_mask: Broadcasts to (N, H, T, S), or None.
            memory_valid_length: (N,), or None.
            cache: See `begin_cache`; None without one.
            positions: (T,) or (N, T), or None.
        """
        if (memory is None) == (cache is None):
            raise ArgumentError(
                f"{self.name}: expected either memory or a cache, got "
                f"{'neither' if cache is None else 'both'}"
            )
        own, held = (None, None) if cache is None else cache
        rest = (None, None, mask, valid_length, own, positions)
        x = self._residual(self.attention_norm, x, lambda x: self.attention(x, *rest))
        given = (memory, None, memory_mask, memory_valid_length, held)
        norm = self.memory_attention_norm
        x = self._residual(norm, x, lambda x: self.memory_attention(x, *given))
        return self._with_feed_forward(x)

    def begin_cache(
        self, memory: NDArray, length: int, dtype: Any = None
    ) -> tuple[AttentionCache, AttentionCache]:
        """Return the caches of self-attention, which is empty, and of memory, which is complete.

        Args:
            memory: Output of an encoder, (N, S, ...) or (S, N, ...).
            length: Largest number of tokens.
            dtype: Element type; that of the layer's parameters by default.

        Raises:
            ArgumentError: ``length`` is below 1.
        """
        batch_size = memory.shape[self.attention._layout.index("N")]
        own = self.attention.begin_cache(batch_size, length, memory.context, dtype)
        return own, self.memory_attention.fill_cache(memory)
