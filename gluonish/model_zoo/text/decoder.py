"""Decoder: what the bodies of causal language models have in common."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Embedding
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_positive
from gluonish.model_zoo.pretrained.windows import Windows

__all__ = ["Decoder", "each_window"]


class Decoder(HybridBlock):
    """Base class of bodies: an embedding, layers with causal self-attention, and a norm.

    A layer is called as ``layer(x, mask, valid_length, cache, positions)``, and has a child
    ``attention``.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        max_length: Largest number of positions that the network was made for.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers from 0 to ``vocab_size`` - 1.
        mask, valid_length, positions: see `MultiHeadAttention`.
        cache: a cache for each layer; see `begin_cache`.

    Outputs:
        features: (N, T, units).
    """

    norm: HybridBlock

    def __init__(
        self, vocab_size: int, units: int, max_length: int, dtype: Any, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, vocab_size=vocab_size, units=units, max_length=max_length)
        self.vocab_size, self.units, self.max_length = vocab_size, units, max_length
        with self.name_scope():
            self.embedding = Embedding(vocab_size, units, dtype=dtype, prefix="embedding_")
            self.layers = HybridSequential(prefix="layers_")

    def _add(self, layers: Iterable[HybridBlock]) -> None:
        """Add layers, which are made in the scope of their names."""
        with self.name_scope(), self.layers.name_scope():
            for layer in layers:
                self.layers.add(layer)

    def _embed(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        """Return the features (N, T, units) that the first layer reads."""
        return self.embedding(tokens)

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        cache: Sequence[Any] | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            mask: See `MultiHeadAttention`; None for none.
            valid_length: (N,), or None.
            cache: A cache for each layer, or None.
            positions: (T,) or (N, T), or None.
        """
        x = self._embed(F, tokens, cache, positions)
        caches = [None] * len(self.layers) if cache is None else cache
        if len(caches) != len(self.layers):
            raise ArgumentError(
                f"{self.name}: expected a cache for each of {len(self.layers)} layers, got "
                f"{len(caches)}"
            )
        for layer, held in zip(self.layers, caches, strict=True):
            x = layer(x, mask, valid_length, held, positions)
        return self.norm(x)

    @property
    def attention_windows(self) -> tuple[int | None, ...]:
        """How many positions a query of each layer attends to; None for all before it."""
        layers: list[Any] = list(self.layers)
        return tuple(layer.attention.window for layer in layers)

    def begin_cache(
        self,
        batch_size: int,
        length: int | Sequence[int],
        ctx: Any = None,
        dtype: Any = None,
    ) -> tuple[Any, ...]:
        """Return an empty cache for each layer; all have the same array as position.

        Args:
            batch_size: Number N of samples.
            length: Largest number of tokens, or the rows of each layer's cache; see
                `AttentionCache` for layers with a window, whose caches may be rings.
            ctx: Device; the current one by default.
            dtype: Element type; that of the parameters by default. See
                `MultiHeadAttention.begin_cache`.

        Raises:
            ArgumentError: There are not as many lengths as layers.
        """
        layers: list[Any] = list(self.layers)
        lengths = [length] * len(layers) if isinstance(length, int) else list(length)
        if len(lengths) != len(layers):
            raise ArgumentError(
                f"{self.name}.begin_cache: expected a length for each of {len(layers)} layers, got "
                f"{len(lengths)}"
            )
        made = [
            layer.attention.begin_cache(batch_size, rows, ctx, dtype)
            for layer, rows in zip(layers, lengths, strict=True)
        ]
        return tuple(cache._replace(position=made[0].position) for cache in made)


def each_window(name: str, windows: Windows, num_layers: int) -> tuple[int | None, ...]:
    """Return the window of each layer.

    Raises:
        ArgumentError: There are not as many as layers.
    """
    check_positive(name, num_layers=num_layers)
    if windows is None or isinstance(windows, int):
        return (windows,) * num_layers
    if len(windows) != num_layers:
        raise ArgumentError(
            f"{name}: expected a window for each of {num_layers} layers, got {len(windows)}"
        )
    return tuple(windows)
