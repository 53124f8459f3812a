"""Encoder and decoder of transformers: stacks of layers."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.attention import AttentionCache
from gluonish.gluon.nn.normalization import LayerNorm, RMSNorm
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.gluon.nn.transformer_layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from gluonish.ndarray import NDArray

__all__ = ["TransformerDecoder", "TransformerEncoder"]


class _Stack(HybridBlock):
    """Base class of encoder and decoder: layers, and perhaps a normalization of the result."""

    _layer: Callable[..., HybridBlock]

    def __init__(
        self,
        num_layers: int,
        units: int,
        hidden_units: int,
        num_heads: int,
        *,
        final_norm: bool | None,
        feed_forward: Callable[[], HybridBlock] | None,
        prefix: str | None = None,
        params: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        check_positive(type(self).__name__, num_layers=num_layers)
        final_norm = options.get("norm_first", False) if final_norm is None else final_norm
        with self.name_scope():
            self.layers = HybridSequential(prefix="layers_")
            with self.layers.name_scope():
                for _ in range(num_layers):
                    given = {**options, "feed_forward": feed_forward and feed_forward()}
                    self.layers.add(self._layer(units, hidden_units, num_heads, **given))
            self.norm = None
            if final_norm:
                kind = RMSNorm if options.get("norm", "layer") == "rms" else LayerNorm
                epsilon = options.get("epsilon", 1e-5)
                self.norm = kind(epsilon=epsilon, in_channels=units, prefix="norm_")

    def _compute(self, x: Any, *args: Any, cache: Sequence[Any] | None, positions: Any) -> Any:
        """Run the layers, and add the losses that they have."""
        caches = [None] * len(self.layers) if cache is None else cache
        if len(caches) != len(self.layers):
            raise ArgumentError(
                f"{self.name}: expected a cache for each of {len(self.layers)} layers, got "
                f"{len(caches)}"
            )
        losses: list[Any] = []
        for layer, held in zip(self.layers, caches, strict=True):
            x = layer(x, *args, held, positions)
            if isinstance(x, list | tuple):
                x, *rest = x
                losses = [a + b for a, b in zip(losses, rest, strict=True)] if losses else rest
        x = x if self.norm is None else self.norm(x)
        return (x, *losses) if losses else x


class TransformerEncoder(_Stack):
    """A stack of `TransformerEncoderLayer`; with ``causal``, a language model without embeddings.

    Args:
        num_layers: Number of layers.
        units: Number of features of inputs and outputs.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_heads: Number of heads, which divides ``units``.
        final_norm: Whether the result is normalized; None for ``norm_first``.
        feed_forward: Function that returns a block in place of a layer's feed-forward network;
            None for the default one.
        **kwargs: Further arguments of `TransformerEncoderLayer`, and ``prefix`` and ``params``.

    Inputs:
        x: (N, T, units), or (T, N, units) with ``layout="TNC"``.
        mask, valid_length, positions: see `MultiHeadAttention`.
        cache: a cache for each layer; see `begin_cache`.

    Outputs:
        y: shape of ``x``; with the sum of the losses of feed-forward networks that have some.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.

    References:
        A. Vaswani et al., Attention Is All You Need, 2017.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.TransformerEncoder(2, units=8, hidden_units=32, num_heads=2)
        >>> net.initialize()
        >>> net(mx.nd.ones((3, 5, 8))).shape
        (3, 5, 8)
    """

    _layer = TransformerEncoderLayer

    def __init__(
        self,
        num_layers: int,
        units: int,
        hidden_units: int,
        num_heads: int,
        final_norm: bool | None = None,
        feed_forward: Callable[[], HybridBlock] | None = None,
        **kwargs: Any,
    ) -> None:
        sizes = (num_layers, units, hidden_units, num_heads)
        super().__init__(*sizes, final_norm=final_norm, feed_forward=feed_forward, **kwargs)

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        cache: Sequence[AttentionCache] | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute all layers.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, T, units) or (T, N, units).
            mask: See `MultiHeadAttention`; None for none.
            valid_length: (N,), or None.
            cache: A cache for each layer, or None.
            positions: (T,) or (N, T), or None.
        """
        return self._compute(x, mask, valid_length, cache=cache, positions=positions)

    def begin_cache(
        self, batch_size: int, length: int, ctx: Any = None, dtype: Any = None
    ) -> tuple[AttentionCache, ...]:
        """Return an empty cache for each layer; all have the same array as position.

        Args:
            batch_size: Number N of samples.
            length: Largest number of tokens.
            ctx: Device; the current one by default.
            dtype: Element type; that of the parameters by default.

        Raises:
            ArgumentError: A number is below 1.
        """
        layers: list[Any] = list(self.layers)
        made = [x.attention.begin_cache(batch_size, length, ctx, dtype) for x in layers]
        return tuple(cache._replace(position=made[0].position) for cache in made)


class TransformerDecoder(_Stack):
    """A stack of `TransformerDecoderLayer`.

    Args:
        num_layers: Number of layers.
        units: Number of features of inputs and outputs.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_heads: Number of heads, which divides ``units``.
        final_norm: Whether the result is normalized; None for ``norm_first``.
        feed_forward: Function that returns a block in place of a layer's feed-forward network;
            None for the default one.
        **kwargs: Further arguments of `TransformerDecoderLayer`, and ``prefix`` and ``params``.

    Inputs:
        x: (N, T, units), or (T, N, units) with ``layout="TNC"``.
        memory, mask, valid_length, memory_mask, memory_valid_length, positions: see
            `TransformerDecoderLayer`.
        cache: a pair of caches for each layer, instead of ``memory``; see `begin_cache`.

    Outputs:
        y: shape of ``x``; with the sum of the losses of feed-forward networks that have some.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.

    References:
        A. Vaswani et al., Attention Is All You Need, 2017.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.TransformerDecoder(2, units=8, hidden_units=32, num_heads=2)
        >>> net.initialize()
        >>> tokens, memory = mx.nd.ones((3, 5, 8)), mx.nd.ones((3, 7, 8))
        >>> net(tokens, memory).shape
        (3, 5, 8)
        >>> cache = net.begin_cache(memory, length=16)
        >>> y = net(tokens, cache=cache)
        >>> cache[0][0].position[:] += 5  # all layers have this position
    """

    _layer = TransformerDecoderLayer

    def __init__(
        self,
        num_layers: int,
        units: int,
        hidden_units: int,
        num_heads: int,
        final_norm: bool | None = None,
        feed_forward: Callable[[], HybridBlock] | None = None,
        **kwargs: Any,
    ) -> None:
        sizes = (num_layers, units, hidden_units, num_heads)
        super().__init__(*sizes, final_norm=final_norm, feed_forward=feed_forward, **kwargs)

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        memory_mask: Tensor | None = None,
        memory_valid_length: Tensor | None = None,
        cache: Sequence[tuple[AttentionCache, AttentionCache]] | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute all layers.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, T, units) or (T, N, units).
            memory: (N, S, ...) or (S, N, ...), or None.
            mask: Broadcasts to (N, H, T, T), or None.
            valid_length: (N,), or None.
            memory_mask: Broadcasts to (N, H, T, S), or None.
            memory_valid_length: (N,), or None.
            cache: A pair of caches for each layer, or None.
            positions: (T,) or (N, T), or None.
        """
        given = (memory, mask, valid_length, memory_mask, memory_valid_length)
        return self._compute(x, *given, cache=cache, positions=positions)

    def begin_cache(
        self, memory: NDArray, length: int, dtype: Any = None
    ) -> tuple[tuple[AttentionCache, AttentionCache], ...]:
        """Return a pair of caches for each layer; all have the same array as position.

        Args:
            memory: Output of an encoder, (N, S, ...) or (S, N, ...).
            length: Largest number of tokens.
            dtype: Element type; that of the parameters by default.

        Raises:
            ArgumentError: ``length`` is below 1.
        """
        layers: list[Any] = list(self.layers)
        made = [layer.begin_cache(memory, length, dtype) for layer in layers]
        position = made[0][0].position
        return tuple((own._replace(position=position), held) for own, held in made)
