"""Heads of language networks: scores of the next word, and of classes."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.tensor import Tensor
from gluonish.model_zoo.generation.generate import Generates
from gluonish.model_zoo.pretrained.config import Setting
from gluonish.model_zoo.pretrained.families import keeps_arguments

__all__ = ["CausalLM"]


class CausalLM(Generates, HybridBlock):
    """Scores of the next word, and text: see `generate` and `stream`.

    Scores are ``y = body(tokens) W^T``.

    Args:
        body: Network that gives features (N, T, units), such as `Llama`.
        tied: Whether the weight is that of the body's embedding.
        use_bias: Whether the scores have a bias.
        softcap: Scores are ``softcap * tanh(scores / softcap)``; None for no cap.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers below the body's ``vocab_size``.
        *args: further inputs of the body.

    Outputs:
        scores: (N, T, vocab_size).
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        tied: bool = False,
        use_bias: bool = False,
        softcap: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        embedding: Any = getattr(body, "embedding", None)
        if embedding is None:
            raise ArgumentError(
                f"CausalLM: expected a body with an embedding, got {type(body).__name__}"
            )
        if softcap is not None and not softcap > 0:
            raise ArgumentError(f"CausalLM: expected softcap above 0, got {softcap}")
        self._softcap = softcap
        self.body: Any = body
        words, units = embedding.weight.shape
        options = {"flatten": False, "use_bias": use_bias, "in_units": units}
        with self.name_scope():
            shared = embedding.params if tied else None
            self.head = Dense(words, prefix="head_", params=shared, **options)

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        cache: Sequence[Any] | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            mask: See the body.
            valid_length: (N,), or None.
            cache: See `begin_cache`, or None.
            positions: (T,) or (N, T), or None.
        """
        return self.scores(F, self.body(tokens, mask, valid_length, cache, positions))

    def features(self, F: ModuleType, tokens: Any, cache: Any, positions: Any) -> Any:
        """Return features (N, T, units) of the body, for generation.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            tokens: (N, T).
            cache: See `begin_cache`.
            positions: (N, T).
        """
        return self.body(tokens, None, None, cache, positions)

    @property
    def max_length(self) -> int:
        """Largest number of positions of the body."""
        return int(self.body.max_length)

    @property
    def vocab_size(self) -> int:
        """Number of words."""
        return int(self.body.vocab_size)

    def scores(self, F: ModuleType, features: Any) -> Any:
        """Return the scores (..., vocab_size) of features (..., units) of the body.

        Args:
            F: ``mx.nd`` or ``mx.sym``.
            features: What the body computed.
        """
        made = self.head(features)
        if self._softcap is None:
            return made
        return F.tanh(made / self._softcap) * self._softcap

    @property
    def attention_windows(self) -> tuple[int | None, ...]:
        """How many positions a query of each layer attends to; None for all before it."""
        windows: tuple[int | None, ...] = getattr(self.body, "attention_windows", ())
        return windows

    def begin_cache(
        self,
        batch_size: int,
        length: int | Sequence[int],
        ctx: Any = None,
        dtype: Any = None,
    ) -> tuple[Any, ...]:
        """Return an empty cache for each layer of the body.

        Args:
            batch_size: Number N of samples.
            length: Largest number of tokens; see `Decoder.begin_cache`.
            ctx: Device; the current one by default.
            dtype: Element type; that of the parameters by default.
        """
        made: tuple[Any, ...] = self.body.begin_cache(batch_size, length, ctx, dtype)
        return made


TIED = Setting("tied", "tie_word_embeddings", bool, True)
UNTIED = Setting("tied", "tie_word_embeddings", bool, False)
