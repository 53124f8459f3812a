"""Heads of encoder-decoders such as BART that classify texts, and find answers in them.

References:
    M. Lewis et al., BART: Denoising Sequence-to-Sequence Pre-training for Natural Language
    Generation, Translation, and Comprehension, 2020.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.positions import places_along
from gluonish.gluon.nn.tensor import Tensor, check_rate
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.text.encoder_decoder import EncoderDecoder
from gluonish.model_zoo.text.encoder_heads import number_of_classes
from gluonish.model_zoo.text.pooling import pool
from gluonish.ndarray import NDArray

__all__ = ["Seq2SeqQuestionAnswering", "Seq2SeqSequenceClassifier"]


class _SourceHead(HybridBlock):
    """Base class of the heads: a body whose encoder and decoder read one text."""

    def __init__(self, body: HybridBlock, start: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        if not isinstance(body, EncoderDecoder) or not hasattr(body, "vocab_size"):
            raise ArgumentError(f"{name}: expected a body such as BART, got {type(body).__name__}")
        self.body: Any = body
        self._check_token("decoder_start_token_id", start)
        self._start = start

    def _check_token(self, argument: str, token: object) -> None:
        words = self.body.vocab_size
        if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < words:
            raise ArgumentError(
                f"{type(self).__name__}: expected {argument} from 0 to {words - 1}, got "
                f"{token!r:.60}"
            )

    def hybrid_forward(
        self, F: ModuleType, tokens: Tensor, valid_length: Tensor | None = None
    ) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            valid_length: (N,), or None.
        """
        first = F.slice_axis(tokens, axis=1, begin=0, end=1) * 0 + self._start
        shifted = F.slice_axis(F.concat(first, tokens, dim=1), axis=1, begin=0, end=-1)
        return self._scores(F, self.body(tokens, shifted, valid_length), tokens)

    def _scores(self, F: ModuleType, features: Any, tokens: Any) -> Any:
        """Return the scores of the decoder's features (N, T, units)."""
        raise NotImplementedError


class Seq2SeqSequenceClassifier(_SourceHead):
    """Scores of the class of each text, which ends with a token ``eos_token_id``.

    The encoder reads the text, the decoder reads it behind a start token. Scores are
    ``tanh(x W^T + b) V^T + c``, with x the decoder's features at the text's last ``eos_token_id``.

    Args:
        body: Encoder and decoder of one vocabulary, such as `BART`.
        classes: Number of classes, or their names.
        dropout: Probability of dropping an element before each dense layer in training, in [0, 1).
        eos_token_id: The token that ends texts.
        decoder_start_token_id: The token that the decoder begins with.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers below the body's ``vocab_size``.
        valid_length: number of tokens of each text, (N,); None for T.

    Outputs:
        scores: (N, classes).

    Raises:
        ArgumentError: The body is none, or a token is out of its vocabulary; or, of a call that is
            not hybridized, a text has no ``eos_token_id``.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import BART, Seq2SeqSequenceClassifier
        >>> body = BART(32, 8, *(1, 2, 16), *(1, 2, 16), max_length=9)
        >>> net = Seq2SeqSequenceClassifier(body, classes=("ham", "spam"))
        >>> net.initialize()
        >>> net(mx.nd.array([[0, 5, 6, 2]], dtype="int32")).shape
        (1, 2)
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        classes: int | Sequence[str] = 2,
        dropout: float = 0.0,
        eos_token_id: int = 2,
        decoder_start_token_id: int = 2,
        **kwargs: Any,
    ) -> None:
        super().__init__(body, decoder_start_token_id, **kwargs)
        name = type(self).__name__
        check_rate(name, "dropout", dropout)
        self._check_token("eos_token_id", eos_token_id)
        self.classes, self._end = classes, eos_token_id
        units, number = self.body.units, number_of_classes(name, classes)
        with self.name_scope():
            self.hidden = Dense(units, activation="tanh", in_units=units, prefix="hidden_")
            self.dropout = Dropout(dropout) if dropout else None
            self.output = Dense(number, in_units=units, prefix="output_")

    def __call__(self, tokens: Any, *args: Any) -> Any:
        """Compute the scores; see the class."""
        if isinstance(tokens, NDArray) and tokens.ndim == 2 and tokens.size and not self._active:
            has_end = (tokens == self._end).max(axis=1).asnumpy()
            if not has_end.all():
                raise ArgumentError(
                    f"{type(self).__name__}: expected texts that end with eos_token_id "
                    f"{self._end}, got none in row {int(has_end.argmin())}"
                )
        return super().__call__(tokens, *args)

    def _scores(self, F: ModuleType, features: Any, tokens: Any) -> Any:
        counts = F.expand_dims(places_along(F, tokens, 1, rank=2) + 1, axis=0)
        is_end = F.cast(F.cast(tokens, dtype="int32") == self._end, dtype="float32")
        length = F.maximum(F.max(F.broadcast_mul(is_end, counts), axis=1), 1)
        x = pool(F, features, length, "last")
        for layer in (self.hidden, self.output):
            x = layer(x if self.dropout is None else self.dropout(x))
        return x


class Seq2SeqQuestionAnswering(_SourceHead):
    """Scores of each token as the first and as the last one of an answer.

    The encoder reads question and text, the decoder reads them behind a start token.

    Args:
        body: Encoder and decoder of one vocabulary, such as `BART`.
        decoder_start_token_id: The token that the decoder begins with.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers below the body's ``vocab_size``.
        valid_length: number of tokens of each sample, (N,); None for T.

    Outputs:
        scores: (N, T, 2): of the first token, and of the last one.
    """

    @keeps_arguments
    def __init__(self, body: HybridBlock, decoder_start_token_id: int = 2, **kwargs: Any) -> None:
        super().__init__(body, decoder_start_token_id, **kwargs)
        with self.name_scope():
            self.output = Dense(2, flatten=False, in_units=self.body.units, prefix="output_")

    def _scores(self, F: ModuleType, features: Any, tokens: Any) -> Any:
        return self.output(features)
