"""Heads of decoders such as Llama that classify texts and tokens, and find answers."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.positions import places_along
from gluonish.gluon.nn.tensor import Tensor, check_rate
from gluonish.model_zoo.pretrained.config import Computed, Config, TokenSetting
from gluonish.model_zoo.pretrained.families import Head, keeps_arguments
from gluonish.model_zoo.pretrained.labels import LabelSetting
from gluonish.model_zoo.text.encoder_heads import number_of_classes
from gluonish.model_zoo.text.pooling import pool
from gluonish.ndarray import NDArray

__all__ = [
    "CausalQuestionAnswering",
    "CausalSequenceClassifier",
    "CausalTokenClassifier",
    "answers",
    "classifiers",
]


class _DecoderHead(HybridBlock):
    """Base class of the heads: a body, and scores of its features by one dense layer."""

    def __init__(
        self,
        body: HybridBlock,
        classes: int | Sequence[str],
        use_bias: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        if getattr(body, "embedding", None) is None or not hasattr(body, "units"):
            raise ArgumentError(f"{name}: expected a body such as Llama, got {type(body).__name__}")
        self.body: Any = body
        number, units = number_of_classes(name, classes), self.body.units
        with self.name_scope():
            self.output = Dense(
                number, flatten=False, use_bias=use_bias, in_units=units, prefix="output_"
            )

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        mask: Tensor | None = None,
        valid_length: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            mask: See the body; None for none.
            valid_length: (N,), or None.
            positions: (T,) or (N, T), or None.
        """
        features = self.body(tokens, mask, valid_length, None, positions)
        return self.output(self._chosen(F, features, tokens, valid_length))

    def _chosen(self, F: ModuleType, features: Any, tokens: Any, valid_length: Any) -> Any:
        """Return the features, of (N, T, units), that are classified."""
        raise NotImplementedError


class CausalSequenceClassifier(_DecoderHead):
    """Scores of the class of each text, of its last token, which attends to all before it.

    Scores are ``y = x W^T``, with x the features of the last token: the one at ``valid_length`` - 1
    or, without it, the last one that is not ``pad_token_id`` (the first one, if all are).

    Args:
        body: Network that gives features (N, T, units), such as `Llama`.
        classes: Number of classes, or their names.
        pad_token_id: The token that fills shorter texts of a batch; None if there is none.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers below the body's ``vocab_size``.
        mask, valid_length, positions: see the body.

    Outputs:
        scores: (N, classes).

    Raises:
        ArgumentError: The body is none; or, of a call, there are several texts and neither
            ``pad_token_id`` nor ``valid_length`` tells where each of them ends.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import CausalSequenceClassifier, Llama
        >>> body = Llama(32, units=8, hidden_units=16, num_layers=1, num_heads=2)
        >>> net = CausalSequenceClassifier(body, classes=("ham", "spam"), pad_token_id=0)
        >>> net.initialize()
        >>> net(mx.nd.array([[1, 2, 3], [4, 0, 0]], dtype="int32")).shape
        (2, 2)
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        classes: int | Sequence[str] = 2,
        pad_token_id: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(body, classes, use_bias=False, **kwargs)
        self.classes = classes
        if pad_token_id is not None and (
            isinstance(pad_token_id, bool) or not isinstance(pad_token_id, int)
        ):
            raise ArgumentError(
                f"{type(self).__name__}: expected pad_token_id as int or None, got "
                f"{pad_token_id!r:.60}"
            )
        self.pad_token_id = pad_token_id

    def __call__(self, tokens: Any, mask: Any = None, valid_length: Any = None, *args: Any) -> Any:
        """Compute the scores; see the class."""
        several = isinstance(tokens, NDArray) and len(tokens) != 1
        if several and self.pad_token_id is None and valid_length is None:
            raise ArgumentError(
                f"{type(self).__name__}: expected pad_token_id or valid_length for a batch, to "
                f"find the last token of each text, got tokens {tokens.shape} and neither; name "
                "the token, as in from_pretrained(folder, pad_token_id=0), or give valid_length "
                "of shape (N,)"
            )
        return super().__call__(tokens, mask, valid_length, *args)

    def _chosen(self, F: ModuleType, features: Any, tokens: Any, valid_length: Any) -> Any:
        lengths = self._lengths(F, tokens) if valid_length is None else valid_length
        return pool(F, features, lengths, "last")

    def _lengths(self, F: ModuleType, tokens: Any) -> Any:
        """Return the number of tokens up to the last that is not padding, at least 1: (N,)."""
        counts = F.expand_dims(places_along(F, tokens, 1, rank=2) + 1, axis=0)
        if self.pad_token_id is None:
            return F.max(counts, axis=1)  # of the only text
        is_token = F.cast(F.cast(tokens, dtype="int32") != self.pad_token_id, dtype="float32")
        return F.maximum(F.max(F.broadcast_mul(is_token, counts), axis=1), 1)


class CausalTokenClassifier(_DecoderHead):
    """Scores of the class of each token, which attends to itself and to those before it.

    Args:
        body: Network that gives features (N, T, units), such as `Llama`.
        classes: Number of classes, or their names.
        dropout: Probability of dropping a feature in training, in [0, 1).
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers below the body's ``vocab_size``.
        mask, valid_length, positions: see the body.

    Outputs:
        scores: (N, T, classes).
    """

    @keeps_arguments
    def __init__(
        self,
        body: HybridBlock,
        classes: int | Sequence[str] = 2,
        dropout: float = 0.1,
        **kwargs: Any,
    ) -> None:
        super().__init__(body, classes, use_bias=True, **kwargs)
        self.classes = classes
        check_rate(type(self).__name__, "dropout", dropout)
        self.dropout = Dropout(dropout) if dropout else None

    def _chosen(self, F: ModuleType, features: Any, tokens: Any, valid_length: Any) -> Any:
        return features if self.dropout is None else self.dropout(features)


class CausalQuestionAnswering(_DecoderHead):
    """Scores of each token as the first and as the last one of an answer.

    A token attends to itself and to those before it, so that the question comes first.

    Args:
        body: Network that gives features (N, T, units), such as `Llama`.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers below the body's ``vocab_size``.
        mask, valid_length, positions: see the body.

    Outputs:
        scores: (N, T, 2): of the first token, and of the last one.
    """

    @keeps_arguments
    def __init__(self, body: HybridBlock, **kwargs: Any) -> None:
        super().__init__(body, 2, use_bias=True, **kwargs)

    def _chosen(self, F: ModuleType, features: Any, tokens: Any, valid_length: Any) -> Any:
        return features


_RATE = 0.1  # of dropout, where no setting says it


def _read_rate(config: Config) -> Mapping[str, Any]:
    rate = config.take("classifier_dropout", float | None, None, least=0.0, most=1.0)
    return {"dropout": _RATE if rate is None else rate}


def _write_rate(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"classifier_dropout": arguments["dropout"]}


_ANSWERS = [(f"output.{kind}", f"qa_outputs.{kind}") for kind in ("weight", "bias")]


def answers(name: str, prefix: str | None = None) -> Mapping[str, Head]:
    """Return the head of a family that finds answers, by its name in ``architectures``.

    Args:
        name: What the name begins with, such as ``Qwen2``.
        prefix: What the names of the body's weights begin with in its files; None for that of the
            family.
    """
    head = Head(CausalQuestionAnswering, _ANSWERS, prefix=prefix)
    return {f"{name}ForQuestionAnswering": head}


def classifiers(
    name: str, padding: int | None = None, of_tokens: str | None = "score"
) -> Mapping[str, Head]:
    """Return the heads of a family that classify, by their names in ``architectures``.

    Args:
        name: What the names begin with, such as ``Qwen2``.
        padding: ``pad_token_id`` of the family where no setting says it.
        of_tokens: Name in files of the layer that classifies tokens; None for no such head.
    """
    labels = LabelSetting()
    heads = {
        f"{name}ForSequenceClassification": Head(
            CausalSequenceClassifier,
            [("output.weight", "score.weight")],
            (labels, TokenSetting("pad_token_id", padding, optional=True)),
        )
    }
    if of_tokens is not None:
        heads[f"{name}ForTokenClassification"] = Head(
            CausalTokenClassifier,
            [(f"output.{kind}", f"{of_tokens}.{kind}") for kind in ("weight", "bias")],
            (labels, Computed(("classifier_dropout",), _read_rate, _write_rate)),
        )
    return heads
