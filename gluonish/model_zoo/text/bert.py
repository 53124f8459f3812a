"""BERT and its relatives RoBERTa, DistilBERT and ELECTRA.

References:
    J. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language
    Understanding, 2019.
    Y. Liu et al., RoBERTa: A Robustly Optimized BERT Pretraining Approach, 2019.
    V. Sanh et al., DistilBERT, a distilled version of BERT: smaller, faster, cheaper and lighter,
    2019.
    K. Clark et al., ELECTRA: Pre-training Text Encoders as Discriminators Rather Than Generators,
    2020.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense, Dropout, Embedding
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.positions import CUT, PositionalEmbedding
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.gluon.nn.transformer import TransformerEncoder
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST_LAYERS,
    AnySetting,
    Computed,
    Config,
    Fixed,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import Family, Head, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.labels import LabelSetting
from gluonish.model_zoo.pretrained.weights import Names, rows
from gluonish.model_zoo.text.encoder_heads import (
    MaskedLM,
    QuestionAnswering,
    ReplacedTokenDetector,
    SequenceClassifier,
    TokenClassifier,
)
from gluonish.model_zoo.text.heads import TIED
from gluonish.ndarray import NDArray

__all__ = ["BERT", "ELECTRA", "DistilBERT", "RoBERTa"]


class BERT(HybridBlock):
    """The body of a BERT: embeddings of words, positions and types, and an encoder.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        max_length: Largest number of tokens.
        num_token_types: Number of types of tokens, such as of first and second sentences; 0 for
            none.
        embedding_units: Width of the embeddings; if it is not ``units``, a dense layer follows.
        activation: See `TransformerEncoderLayer`.
        use_pooler: Whether there is a second output: ``tanh`` of a dense layer of the first token.
        dropout: Probability of dropping an element of embeddings, and before each sum, in [0, 1).
        attention_dropout: That of a weight of attention.
        epsilon: Small constant of the normalizations.
        dtype: Element type of the parameters.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers from 0 to ``vocab_size`` - 1.
        token_types: (N, T), from 0 to ``num_token_types`` - 1; None for 0.
        valid_length: number of tokens of each sample, (N,); None for T. Later ones are hidden.
        mask: see `MultiHeadAttention`.
        positions: (1, T) or (N, T); None for 0, 1, ...

    Outputs:
        features: (N, T, units).
        pooled: (N, units), with ``use_pooler``.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, a number is out of range, or types
            are passed to a network without them.
        OperatorError: In the call, if T is above ``max_length``.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.text import BERT
        >>> net = BERT(32, units=8, hidden_units=16, num_layers=1, num_heads=2)
        >>> net.initialize()
        >>> features, pooled = net(mx.nd.array([[1, 2, 3]], dtype="int32"))
        >>> features.shape, pooled.shape
        ((1, 3, 8), (1, 8))
    """

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int,
        units: int,
        hidden_units: int,
        num_layers: int,
        num_heads: int,
        max_length: int = 512,
        num_token_types: int = 2,
        embedding_units: int | None = None,
        activation: str = "gelu",
        use_pooler: bool = True,
        dropout: float = 0.1,
        attention_dropout: float = 0.1,
        epsilon: float = 1e-12,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        width = units if embedding_units is None else embedding_units
        check_positive(name, vocab_size=vocab_size, units=units, max_length=max_length)
        check_positive(name, embedding_units=width)
        check_rate(name, "dropout", dropout)
        self.vocab_size, self.units, self.max_length = vocab_size, units, max_length
        self.dropout_rate = dropout
        typed = num_token_types > 0
        with self.name_scope():
            self.embedding = Embedding(vocab_size, width, dtype=dtype, prefix="embedding_")
            self.token_type = (
                Embedding(num_token_types, width, dtype=dtype, prefix="token_type_")
                if typed
                else None
            )
            self.position = PositionalEmbedding(
                *(width, max_length),
                dtype=dtype,
                first_row=self._first_row(),
                prefix="position_",
            )
            self.norm = LayerNorm(epsilon=epsilon, in_channels=width, prefix="norm_")
            self.dropout = Dropout(dropout) if dropout else None
            options: dict[str, Any] = {"flatten": False, "dtype": dtype}
            self.projection = (
                None
                if width == units
                else Dense(units, in_units=width, prefix="projection_", **options)
            )
            self.encoder = TransformerEncoder(
                num_layers,
                units,
                hidden_units,
                num_heads,
                activation=activation,
                dropout=dropout,
                attention_dropout=attention_dropout,
                activation_dropout=0.0,
                epsilon=epsilon,
                dtype=dtype,
                prefix="encoder_",
            )
            self.pooler = (
                Dense(units, "tanh", in_units=units, prefix="pooler_", **options)
                if use_pooler
                else None
            )

    def _first_row(self) -> int:
        """Return the row of the table of positions that the first token has."""
        return 0

    def _places(self, F: ModuleType, tokens: Any, positions: Any) -> Any:
        """Return the positions of tokens; None for 0, 1, ..."""
        return positions

    def hybrid_forward(
        self,
        F: ModuleType,
        tokens: Tensor,
        token_types: Tensor | None = None,
        valid_length: Tensor | None = None,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
            token_types: (N, T), or None.
            valid_length: (N,), or None.
            mask: Broadcasts to (N, H, T, T), or None.
            positions: (1, T) or (N, T), or None.
        """
        x = self.embedding(tokens)
        if self.token_type is not None:
            types = F.zeros_like(tokens) if token_types is None else token_types
            x = x + self.token_type(types)
        elif token_types is not None:
            raise ArgumentError(f"{self.name}: expected no token_types, as it has none, got some")
        x = self.norm(self.position(x, self._places(F, tokens, positions)))
        if self.dropout is not None:
            x = self.dropout(x)
        if self.projection is not None:
            x = self.projection(x)
        x = self.encoder(x, mask, valid_length)
        if self.pooler is None:
            return x
        first = F.slice_axis(x, axis=1, begin=0, end=1)
        return x, self.pooler(F.reshape(first, shape=(0, -1)))


class RoBERTa(BERT):
    """The body of a RoBERTa: a `BERT` that counts tokens other than padding.

    Args:
        *args: See `BERT`.
        padding: Number of the token of padding. The first rows of the table of positions, up to
            this number, are not of any place: the first token has row ``padding + 1``.
        **kwargs: See `BERT`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see `BERT`; without ``positions``, the
            place of a token is the number of tokens before it that are not padding.

    Outputs:
        features, pooled: see `BERT`.
    """

    @keeps_arguments
    def __init__(self, *args: Any, padding: int = 1, **kwargs: Any) -> None:
        if isinstance(padding, bool) or not isinstance(padding, int) or padding < 0:
            raise ArgumentError(f"RoBERTa: expected padding of 0 or more, got {padding!r:.60}")
        self._padding = padding
        super().__init__(*args, **kwargs)

    def _first_row(self) -> int:
        return self._padding + 1

    def _places(self, F: ModuleType, tokens: Any, positions: Any) -> Any:
        if positions is not None:
            return positions
        known = F.cast(tokens != self._padding, dtype="float32")
        places = F.cumsum(known, axis=1) * known - 1
        if isinstance(tokens, NDArray) and tokens.shape[1] > self.max_length:
            self._check_places(places)
        return places

    def _check_places(self, places: NDArray) -> None:
        """Refuse texts that are too long even without their padding; in graphs, the table does."""
        longest = 0 if places.is_traced else int(places.max().asscalar()) + 1
        if longest > self.max_length:
            raise OperatorError(
                f"expected tokens (N, T) with at most max_length {self.max_length} besides "
                f"padding, the number of positions, got a text of {longest}; {CUT}"
            )


class DistilBERT(BERT):
    """The body of a DistilBERT: a `BERT` without types of tokens and pooler.

    Args:
        *args: See `BERT`.
        **kwargs: See `BERT`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see `BERT`; ``token_types`` is None.

    Outputs:
        features: (N, T, units).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"num_token_types": 0, "use_pooler": False, **kwargs})


class ELECTRA(BERT):
    """The body of an ELECTRA: a `BERT` with embeddings of their own width, without pooler.

    Args:
        *args: See `BERT`.
        **kwargs: See `BERT`.

    Inputs:
        tokens, token_types, valid_length, mask, positions: see `BERT`.

    Outputs:
        features: (N, T, units).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"use_pooler": False, **kwargs})


def rate(argument: str, name: str, default: float) -> Setting:
    """Return the setting of a probability of dropping an element."""
    return Setting(argument, name, float, default, least=0.0, most=1.0)


_DROPOUT = rate("dropout", "hidden_dropout_prob", 0.1)
_EPSILON = Setting("epsilon", "layer_norm_eps", float, 1e-12, least=0.0)
_ACTIVATION = Setting("activation", "hidden_act", ACTIVATIONS, "gelu")
_SIZES: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size"),
    Setting("units", "hidden_size"),
    Setting("hidden_units", "intermediate_size"),
    Setting("num_layers", "num_hidden_layers", most=MOST_LAYERS),
    Setting("num_heads", "num_attention_heads"),
    Setting("num_token_types", "type_vocab_size", int, 2, least=0),
    _ACTIVATION,
    _DROPOUT,
    rate("attention_dropout", "attention_probs_dropout_prob", 0.1),
    _EPSILON,
    Fixed("position_embedding_type", "absolute"),
)
_LENGTH = Setting("max_length", "max_position_embeddings", int, 512)
_POOLER = Computed((), lambda config: {"use_pooler": True}, lambda arguments: {})


def _read_places(config: Config) -> Mapping[str, Any]:
    padding = config.take("pad_token_id", int, 1, least=0)
    most = config.take("max_position_embeddings", int, 512, least=padding + 2)
    return {"max_length": most - padding - 1, "padding": padding}


def _write_places(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    padding = arguments["padding"]
    most = arguments["max_length"] + padding + 1
    return {"max_position_embeddings": most, "pad_token_id": padding}


_PLACES = Computed(("max_position_embeddings", "pad_token_id"), _read_places, _write_places)


def both(ours: str, theirs: str) -> Names:
    """Return the names of the weight and the bias of a dense layer."""
    return [(f"{ours}.{kind}", f"{theirs}.{kind}") for kind in ("weight", "bias")]


def norm(ours: str, theirs: str) -> Names:
    """Return the names of the scale and the bias of a normalization."""
    return [(f"{ours}.gamma", f"{theirs}.weight"), (f"{ours}.beta", f"{theirs}.bias")]


def joined(ours: str, *theirs: str) -> Names:
    """Return the names of the weight and the bias of several dense layers that are one of ours."""
    kinds = ("weight", "bias")
    return [(f"{ours}.{kind}", rows(*(f"{name}.{kind}" for name in theirs))) for kind in kinds]


_EMBEDDINGS: Names = (
    ("embedding.weight", "embeddings.word_embeddings.weight"),
    ("position.weight", "embeddings.position_embeddings.weight"),
    ("token_type.weight", "embeddings.token_type_embeddings.weight"),
    *norm("norm", "embeddings.LayerNorm"),
)
_OURS, _LAYER = "encoder.layers.{}.", "encoder.layer.{}."
_SELF = _LAYER + "attention.self."
_NAMES: Names = (
    *_EMBEDDINGS,
    *both("projection", "embeddings_project"),
    *joined(_OURS + "attention.qkv", *(_SELF + name for name in ("query", "key", "value"))),
    *both(_OURS + "attention.output", _LAYER + "attention.output.dense"),
    *norm(_OURS + "attention_norm", _LAYER + "attention.output.LayerNorm"),
    *both(_OURS + "feed_forward.hidden", _LAYER + "intermediate.dense"),
    *both(_OURS + "feed_forward.output", _LAYER + "output.dense"),
    *norm(_OURS + "feed_forward_norm", _LAYER + "output.LayerNorm"),
    *both("pooler", "pooler.dense"),
)
_NO_POOLER = {"use_pooler": False}
_CLASSES = LabelSetting()
_RATE = Setting("dropout", "classifier_dropout", float | None, None, least=0.0, most=1.0)
_TOKENS = Head(TokenClassifier, both("output", "classifier"), (_CLASSES, _RATE), body=_NO_POOLER)
_ANSWERS = Head(QuestionAnswering, both("output", "qa_outputs"), body=_NO_POOLER)


def _masked(
    dense: str,
    norms: str,
    decoder: str,
    biases: Sequence[str],
    *settings: AnySetting,
    extra: Names = (),
    body: Mapping[str, Any] = MappingProxyType(_NO_POOLER),
) -> Head:
    """Return a masked language model, by the names of its layers in files.

    Args:
        dense: Name of the first dense layer.
        norms: Name of the normalization.
        decoder: Name of the second dense layer.
        biases: Name of the bias of this layer: tied to the embedding, and not.
        *settings: Settings that are arguments of `MaskedLM`.
        extra: Names of further weights, of ``next_sentence``.
        body: See `Head`.
    """

    def names(arguments: Mapping[str, Any]) -> Names:
        return (
            *both("transform.hidden", dense),
            *norm("transform.norm", norms),
            ("decoder.weight", decoder + ".weight"),
            ("decoder.bias", biases[0] if arguments.get("tied", True) else biases[-1]),
            *extra,
        )

    return Head(MaskedLM, names, (TIED, *settings), {"next_sentence": bool(extra)}, body)


_LM = "cls.predictions."
_BERT_LM = (
    _LM + "transform.dense",
    _LM + "transform.LayerNorm",
    _LM + "decoder",
    (_LM + "bias", _LM + "decoder.bias"),
    _ACTIVATION,
    _EPSILON,
)
_NEXT = ("cls.seq_relationship.weight", "cls.seq_relationship.bias")
register_family(
    Family(
        "bert",
        "BertModel",
        BERT,
        (*_SIZES, _LENGTH, _POOLER),
        _NAMES,
        "bert.",
        {
            "BertForMaskedLM": _masked(*_BERT_LM),
            "BertForPreTraining": _masked(
                *_BERT_LM, extra=both("next_sentence", "cls.seq_relationship"), body={}
            ),
            "BertForSequenceClassification": Head(
                SequenceClassifier, both("output", "classifier"), (_CLASSES, _RATE)
            ),
            "BertForTokenClassification": _TOKENS,
            "BertForQuestionAnswering": _ANSWERS,
        },
        # Of pretraining, beside other heads. There are two names of the bias of the scores of
        # words, which are one array if the weight is the embedding's.
        unused=("pooler.dense.weight", "pooler.dense.bias", *_NEXT,
                *_BERT_LM[3]),
        optional=("pooler.",),
    )
)  # fmt: skip
_ROBERTA_BIASES = ("lm_head.bias", "lm_head.decoder.bias")
_POOLED = (*both("transform.hidden", "classifier.dense"), *both("output", "classifier.out_proj"))
register_family(
    Family(
        "roberta",
        "RobertaModel",
        RoBERTa,
        (*_SIZES, _PLACES, _POOLER),
        _NAMES,
        "roberta.",
        {
            "RobertaForMaskedLM": _masked(
                "lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", _ROBERTA_BIASES, _EPSILON
            ),
            "RobertaForSequenceClassification": Head(
                SequenceClassifier, _POOLED, (_CLASSES, _RATE), {"activation": "tanh"}, _NO_POOLER
            ),
            "RobertaForTokenClassification": _TOKENS,
            "RobertaForQuestionAnswering": _ANSWERS,
        },
        unused=("pooler.dense.weight", "pooler.dense.bias", *_ROBERTA_BIASES),
        optional=("pooler.",),
    )
)  # fmt: skip
_DETECTOR = "discriminator_predictions."
register_family(
    Family(
        "electra",
        "ElectraModel",
        ELECTRA,
        (
            *_SIZES,
            _LENGTH,
            Setting("embedding_units", "embedding_size", int, 128),
            Ignored("summary_type", "summary_use_proj", "summary_activation",
                    "summary_last_dropout", "summary_first_dropout"),
        ),
        _NAMES,
        "electra.",
        {
            "ElectraForPreTraining": Head(
                ReplacedTokenDetector,
                [*both("hidden", _DETECTOR + "dense"),
                 *both("output", _DETECTOR + "dense_prediction")],
                (_ACTIVATION,),
            ),
            "ElectraForMaskedLM": _masked(
                "generator_predictions.dense", "generator_predictions.LayerNorm",
                "generator_lm_head", ("generator_lm_head.bias",), _EPSILON,
            ),
            "ElectraForSequenceClassification": Head(
                SequenceClassifier, _POOLED, (_CLASSES, _RATE), {"activation": "gelu"}
            ),
            "ElectraForTokenClassification": _TOKENS,
            "ElectraForQuestionAnswering": _ANSWERS,
        },
    )
)  # fmt: skip
_DISTIL = "transformer.layer.{}."
_DISTIL_RATE = rate("dropout", "dropout", 0.1)
_DISTIL_ACTIVATION = Setting("activation", "activation", ACTIVATIONS, "gelu")
register_family(
    Family(
        "distilbert",
        "DistilBertModel",
        DistilBERT,
        (
            Setting("vocab_size", "vocab_size", int, 30522),
            Setting("units", ("dim", "hidden_size"), int, 768),
            Setting("hidden_units", "hidden_dim", int, 3072),
            Setting("num_layers", ("n_layers", "num_hidden_layers"), int, 6, most=MOST_LAYERS),
            Setting("num_heads", ("n_heads", "num_attention_heads"), int, 12),
            _LENGTH,
            _DISTIL_ACTIVATION,
            _DISTIL_RATE,
            rate("attention_dropout", "attention_dropout", 0.1),
            # The table of positions is in the file in both cases.
            Ignored("sinusoidal_pos_embds", "tie_weights_"),
        ),
        (
            *_EMBEDDINGS,
            *joined(
                _OURS + "attention.qkv", *(_DISTIL + f"attention.{name}_lin" for name in "qkv")
            ),
            *both(_OURS + "attention.output", _DISTIL + "attention.out_lin"),
            *norm(_OURS + "attention_norm", _DISTIL + "sa_layer_norm"),
            *both(_OURS + "feed_forward.hidden", _DISTIL + "ffn.lin1"),
            *both(_OURS + "feed_forward.output", _DISTIL + "ffn.lin2"),
            *norm(_OURS + "feed_forward_norm", _DISTIL + "output_layer_norm"),
        ),
        "distilbert.",
        {
            "DistilBertForMaskedLM": _masked(
                "vocab_transform", "vocab_layer_norm", "vocab_projector",
                ("vocab_projector.bias",), _DISTIL_ACTIVATION,
            ),
            "DistilBertForSequenceClassification": Head(
                SequenceClassifier,
                [*both("transform.hidden", "pre_classifier"), *both("output", "classifier")],
                (_CLASSES, rate("dropout", "seq_classif_dropout", 0.2)),
                {"activation": "relu", "input_dropout": False},
            ),
            "DistilBertForTokenClassification": Head(
                TokenClassifier, both("output", "classifier"), (_CLASSES, _DISTIL_RATE)
            ),
            "DistilBertForQuestionAnswering": Head(
                QuestionAnswering,
                both("output", "qa_outputs"),
                (rate("dropout", "qa_dropout", 0.1),),
            ),
        },
    )
)  # fmt: skip
