"""Heads of encoders such as BERT: words that were hidden, classes, answers."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.gluon.nn.transformer_layers import activation_block
from gluonish.model_zoo.pretrained.families import keeps_arguments
from gluonish.model_zoo.text.pooling import check_pooling, pool

__all__ = [
    "MaskedLM",
    "QuestionAnswering",
    "ReplacedTokenDetector",
    "SequenceClassifier",
    "TokenClassifier",
]


class _EncoderHead(HybridBlock):
    """Base class of heads: a body, and what is computed of its features."""

    def __init__(self, body: HybridBlock, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not hasattr(body, "units") or not hasattr(body, "embedding"):
            raise ArgumentError(
                f"{type(self).__name__}: expected a body such as BERT, got {type(body).__name__}"
            )
        self.body: Any = body

    def _dropout(self, rate: float | None) -> Dropout | None:
        """Return a layer that drops elements, with the body's probability if none is given."""
        rate = self.body.dropout_rate if rate is None else rate
        check_rate(type(self).__name__, "dropout", rate)
        return Dropout(rate) if rate else None

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        token_types: Tensor | None = None,
        valid_length: Tensor | None = None,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            token_types: (N, T), or None.
            valid_length: (N,), or None.
            mask: See the body; None for none.
            positions: (1, T) or (N, T), or None.
        """
        made = self.body(tokens, token_types, valid_length, mask, positions)
        features, *pooled = made if isinstance(made, list | tuple) else (made,)
        return self._scores(F, features, pooled[0] if pooled else None, valid_length)

    def _scores(self, F: ModuleType, features: Any, pooled: Any, valid_length: Any) -> Any:
        """Return the scores of features (N, T, units)."""
        raise NotImplementedError


class _Transform(HybridBlock):
    """A dense layer, an activation, and perhaps a normalization."""

    def __init__(
        self,
        units: int,
        in_units: int,
        activation: str,
        epsilon: float | None,
        use_bias: bool = True,
        norm_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        options: dict[str, Any] = {"flatten": False, "in_units": in_units, "use_bias": use_bias}
        with self.name_scope():
            self.hidden = Dense(units, prefix="hidden_", **options)
            self.activation = activation_block(activation)
            self.norm = (
                None
                if epsilon is None
                else LayerNorm(epsilon=epsilon, center=norm_bias, in_channels=units, prefix="norm_")
            )

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the layers.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (..., in_units).
        """
        x = self.activation(self.hidden(x))
        return x if self.norm is None else self.norm(x)


class MaskedLM(_EncoderHead):
    """Scores of the words at all places, of which some were hidden.

    ``y = norm(activation(features W^T + b)) E^T + c``.

    Args:
        body: Network that gives features (N, T, units), such as `BERT`.
        activation: See `TransformerEncoderLayer`.
        tied: Whether E is the weight of the body's embedding.
        next_sentence: Whether there are scores of whether the second sentence is the next one of
            its text, too, of the body's second output.
        epsilon: Small constant of the normalization.
        use_bias: Whether the first dense layer has a bias.
        norm_bias: Whether the normalization has one.
        decoder_bias: Whether the scores have one.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see the body.

    Outputs:
        scores: (N, T, vocab_size).
        next_scores: (N, 2), with ``next_sentence``.

    Raises:
        ArgumentError: The body is none, or has no second output for ``next_sentence``.
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        activation: str = "gelu",
        tied: bool = True,
        next_sentence: bool = False,
        epsilon: float = 1e-12,
        use_bias: bool = True,
        norm_bias: bool = True,
        decoder_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(body, **kwargs)
        words, width = self.body.embedding.weight.shape
        units = self.body.units
        if next_sentence and getattr(self.body, "pooler", None) is None:
            raise ArgumentError("MaskedLM: expected a body with a pooler for next_sentence")
        shared = self.body.embedding.params if tied else None
        options: dict[str, Any] = {"flatten": False, "in_units": width, "use_bias": decoder_bias}
        with self.name_scope():
            self.transform = _Transform(
                width, units, activation, epsilon, use_bias, norm_bias, prefix="transform_"
            )
            self.decoder = Dense(words, prefix="decoder_", params=shared, **options)
            self.next_sentence = (
                Dense(2, in_units=units, prefix="next_sentence_") if next_sentence else None
            )

    def _scores(self, F: ModuleType, features: Any, pooled: Any, valid_length: Any) -> Any:
        made = self.decoder(self.transform(features))
        return made if self.next_sentence is None else (made, self.next_sentence(pooled))


def number_of_classes(name: str, classes: int | Sequence[str]) -> int:
    """Return the number of classes.

    Raises:
        ArgumentError: There is none.
    """
    if isinstance(classes, str):
        raise ArgumentError(f"{name}: expected classes as a number or names, got {classes!r:.60}")
    number = classes if isinstance(classes, int) else len(classes)
    check_positive(name, classes=number)
    return number


class SequenceClassifier(_EncoderHead):
    """Scores of the class of each sample.

    They are a dense layer of the body's second output; or, with an ``activation``, of
    ``activation(x W^T + b)``, with x of ``pooling``.

    Args:
        body: Network that gives features (N, T, units), such as `BERT`.
        classes: Number of classes, or their names.
        activation: See `TransformerEncoderLayer`; None for the body's second output.
        pooling: How features become x; see `Embedder`.
        dropout: Probability of dropping an element before dense layers, in [0, 1); None for that
            of the body.
        input_dropout: Whether that is before the first dense layer, too.
        epsilon: Small constant of a normalization after the activation; None for none.
        use_bias: Whether the first dense layer has a bias.
        norm_bias: Whether the normalization has one.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see the body.

    Outputs:
        scores: (N, classes).

    Raises:
        ArgumentError: There is no such pooling, or no second output of the body and no activation.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import BERT, SequenceClassifier
        >>> body = BERT(32, units=8, hidden_units=16, num_layers=1, num_heads=2)
        >>> net = SequenceClassifier(body, classes=("ham", "spam"))
        >>> net.initialize()
        >>> net(mx.nd.array([[1, 2, 3]], dtype="int32")).shape
        (1, 2)
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        classes: int | Sequence[str] = 2,
        activation: str | None = None,
        pooling: str = "cls",
        dropout: float | None = None,
        input_dropout: bool = True,
        epsilon: float | None = None,
        use_bias: bool = True,
        norm_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(body, **kwargs)
        name = type(self).__name__
        check_pooling(name, pooling)
        if activation is None and getattr(self.body, "pooler", None) is None:
            raise ArgumentError(f"{name}: expected an activation for a body without a pooler")
        self.classes, self._pooling, self._first = classes, pooling, input_dropout
        units = self.body.units
        with self.name_scope():
            self.transform = (
                None
                if activation is None
                else _Transform(
                    units, units, activation, epsilon, use_bias, norm_bias, prefix="transform_"
                )
            )
            self.dropout = self._dropout(dropout)
            self.output = Dense(number_of_classes(name, classes), in_units=units, prefix="output_")

    def _scores(self, F: ModuleType, features: Any, pooled: Any, valid_length: Any) -> Any:
        drop = self.dropout
        if self.transform is not None:
            pooled = pool(F, features, valid_length, self._pooling)
            if drop is not None and self._first:
                pooled = drop(pooled)
            pooled = self.transform(pooled)
        return self.output(pooled if drop is None else drop(pooled))


class TokenClassifier(_EncoderHead):
    """Scores of the class of each token, such as of a name or a part of speech.

    Args:
        body: Network that gives features (N, T, units), such as `BERT`.
        classes: Number of classes, or their names.
        dropout: Probability of dropping a feature, in [0, 1); None for that of the body.
        activation: That of a dense layer before, followed by a normalization; None for none.
        epsilon: Small constant of this normalization.
        use_bias: Whether this dense layer has a bias.
        norm_bias: Whether this normalization has one.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see the body.

    Outputs:
        scores: (N, T, classes).
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        classes: int | Sequence[str] = 2,
        dropout: float | None = None,
        activation: str | None = None,
        epsilon: float = 1e-5,
        use_bias: bool = True,
        norm_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(body, **kwargs)
        self.classes = classes
        number, units = number_of_classes(type(self).__name__, classes), self.body.units
        with self.name_scope():
            self.transform = (
                None
                if activation is None
                else _Transform(
                    units, units, activation, epsilon, use_bias, norm_bias, prefix="transform_"
                )
            )
            self.dropout = self._dropout(dropout)
            self.output = Dense(number, flatten=False, in_units=units, prefix="output_")

    def _scores(self, F: ModuleType, features: Any, pooled: Any, valid_length: Any) -> Any:
        x = features if self.transform is None else self.transform(features)
        return self.output(x if self.dropout is None else self.dropout(x))


class QuestionAnswering(TokenClassifier):
    """Scores of each token as the first and as the last one of an answer.

    Args:
        body: Network that gives features (N, T, units), such as `BERT`.
        dropout: Probability of dropping a feature, in [0, 1).
        **kwargs: See `TokenClassifier`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see the body. Question and text are
            one sequence.

    Outputs:
        scores: (N, T, 2): of the first token, and of the last one.
    """

    def __init__(self, body: HybridBlock, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(body, 2, dropout, **kwargs)


class ReplacedTokenDetector(_EncoderHead):
    """Score of each token: above 0 if it seems to be in place of another one, as ELECTRA learns.

    Args:
        body: Network that gives features (N, T, units), such as `ELECTRA`.
        activation: See `TransformerEncoderLayer`.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see the body.

    Outputs:
        scores: (N, T).
    """

    @keeps_arguments
    def __init__(self, body: HybridBlock, activation: str = "gelu", **kwargs: Any) -> None:
        super().__init__(body, **kwargs)
        units = self.body.units
        with self.name_scope():
            self.hidden = Dense(units, flatten=False, in_units=units, prefix="hidden_")
            self.activation = activation_block(activation)
            self.output = Dense(1, flatten=False, in_units=units, prefix="output_")

    def _scores(self, F: ModuleType, features: Any, pooled: Any, valid_length: Any) -> Any:
        scores = self.output(self.activation(self.hidden(features)))
        return F.reshape(scores, shape=(0, 0))
