"""SigLIP: like CLIP, with a sigmoid for each pair of an image and a text.

References:
    X. Zhai et al., Sigmoid Loss for Language Image Pre-Training, 2023.
"""

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.attention import MultiHeadAttention
from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Extents, Tensor, check_positive
from gluonish.gluon.nn.transformer_layers import activation_block
from gluonish.initializer import Constant, Normal
from gluonish.model_zoo.pretrained.config import AnySetting, Computed, Config, Ignored, Setting
from gluonish.model_zoo.pretrained.families import Family, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.weights import Names, with_leading_axes
from gluonish.model_zoo.vision.classifier import WithTransform
from gluonish.model_zoo.vision.clip import (
    TEXT_NAMES,
    VISION_NAMES,
    CLIPText,
    TwoTowers,
    tower_names,
    tower_settings,
    vision_settings,
)
from gluonish.model_zoo.vision.image_heads import first_token, register_sizes
from gluonish.model_zoo.vision.image_settings import layer_names, nested
from gluonish.model_zoo.vision.image_tokens import ImageTokens, encoder_layers

__all__ = ["SigLIP", "SigLIPText", "SigLIPVision"]

_NONE: Mapping[str, Any] = MappingProxyType({})
_INIT = Normal(0.02)


class SigLIPText(CLIPText):
    """The text tower of SigLIP: as `CLIPText`, but not causal; the last position is projected.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        max_length: Number of positions, to which texts are padded.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        attention_dropout: Probability of dropping a weight of attention in training, in [0, 1).
        epsilon: Small constant of the normalizations.
        embedding_units: Number of features of the embedding; None for ``units``.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers from 0 to ``vocab_size`` - 1.

    Outputs:
        features: (N, T, units).
        embedding: (N, embedding_units).

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.
    """

    _causal = False

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int = 32000,
        units: int = 768,
        hidden_units: int = 3072,
        num_layers: int = 12,
        num_heads: int = 12,
        max_length: int = 64,
        activation: str = "gelu_tanh",
        attention_dropout: float = 0.0,
        epsilon: float = 1e-6,
        embedding_units: int | None = None,
        **kwargs: Any,
    ) -> None:
        sizes = (vocab_size, units, hidden_units, num_layers, num_heads, max_length)
        super().__init__(*sizes, activation, attention_dropout, epsilon, **kwargs)
        made = units if embedding_units is None else embedding_units
        with self.name_scope():
            self.head = Dense(made, in_units=units, weight_initializer=_INIT, prefix="head_")

    def _pooled(self, F: ModuleType, features: Any, tokens: Any) -> Any:
        """Return the embedding (N, embedding_units)."""
        return self.head(first_token(F, F.slice_axis(features, axis=1, begin=-1, end=None)))


class _AttentionPooling(HybridBlock):
    """One query that is learned attends to features (N, T, C), and a network follows: (N, C)."""

    def __init__(
        self,
        units: int,
        hidden_units: int,
        num_heads: int,
        activation: str,
        epsilon: float,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.probe = self.params._declare("probe", (units,), _INIT)
        with self.name_scope():
            self.attention = MultiHeadAttention(
                units, num_heads, in_units=units, prefix="attention_"
            )
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")
            self.feed_forward = HybridSequential(prefix="feed_forward_")
            with self.feed_forward.name_scope():
                self.feed_forward.add(
                    Dense(hidden_units, in_units=units),
                    activation_block(activation),
                    Dense(units, in_units=hidden_units),
                )

    def hybrid_forward(self, F: ModuleType, features: Tensor, probe: Any) -> Any:
        """Pool the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            features: (N, T, C).
            probe: The query (C,), a parameter.
        """
        query = F.reshape(probe, shape=(1, 1, -1))
        query = F.broadcast_like(query, features, lhs_axes=(0,), rhs_axes=(0,))
        x = first_token(F, self.attention(query, features))
        return x + self.feed_forward(self.norm(x))


class SigLIPVision(WithTransform):
    """The vision tower of SigLIP: patches, layers, a norm, and pooling by attention.

    Args:
        image_size: Height and width of the images in pixels; one number for both.
        patch_size: Height and width of a patch.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        in_channels: Number of channels of the images.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        attention_dropout: Probability of dropping a weight of attention in training, in [0, 1).
        epsilon: Small constant of the normalizations.
        pooling: Whether there is an embedding.
        **kwargs: See `HybridBlock`.

    Inputs:
        images: (N, in_channels, height, width).

    Outputs:
        features: (N, T, units), of the patches in rows from the top left.
        embedding: (N, units), only with ``pooling``.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.
        OperatorError: In the call, if images have another size.
    """

    @keeps_arguments
    def __init__(
        self,
        image_size: Extents = 224,
        patch_size: Extents = 16,
        units: int = 768,
        hidden_units: int = 3072,
        num_layers: int = 12,
        num_heads: int = 12,
        in_channels: int = 3,
        activation: str = "gelu_tanh",
        attention_dropout: float = 0.0,
        epsilon: float = 1e-6,
        pooling: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, in_channels=in_channels)
        with self.name_scope():
            self.embedding = ImageTokens(
                *(image_size, patch_size, units, in_channels), tokens=(), prefix="embedding_"
            )
            self.layers = encoder_layers(
                *(name, num_layers, units, hidden_units, num_heads),
                dropout=0.0,
                attention_dropout=attention_dropout,
                activation=activation,
                epsilon=epsilon,
            )
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")
            self.pooling = None
            if pooling:
                self.pooling = _AttentionPooling(
                    *(units, hidden_units, num_heads, activation, epsilon), prefix="pooling_"
                )

    def __call__(self, images: Any, *args: Any) -> Any:
        """Check the size of the images, and compute the network."""
        self.embedding.check(images, type(self).__name__)
        return super().__call__(images, *args)

    def hybrid_forward(self, F: ModuleType, images: Tensor) -> Any:
        """Compute features and embedding.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            images: (N, in_channels, height, width).
        """
        features = self.norm(self.layers(self.embedding(images)))
        return features if self.pooling is None else (features, self.pooling(features))

    def set_image_size(self, image_size: Extents) -> None:
        """Make vectors of positions for images of another size; see `ImageTokens`.

        Args:
            image_size: Height and width of the images in pixels; one number for both.
        """
        self.embedding.set_image_size(image_size)
        self._arguments["image_size"] = self.embedding.image_size  # type: ignore[attr-defined]


class SigLIP(TwoTowers):
    """SigLIP: scores are ``exp(logit_scale)`` times the cosine of embeddings, plus a bias.

    Args:
        text: Arguments of `SigLIPText`.
        vision: Arguments of `SigLIPVision`.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (M, T), whole numbers; texts are padded to the ``max_length`` of the text tower.
        images: (N, channels, height, width).

    Outputs:
        scores: (N, M), of each image with each text; a sigmoid gives probabilities.

    Raises:
        ArgumentError: An argument of a tower is out of range, or embeddings differ in length.
        OperatorError: In the call, if images have another size.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import SigLIP
        >>> sizes = {"units": 12, "hidden_units": 24, "num_layers": 1, "num_heads": 2}
        >>> text = {**sizes, "vocab_size": 32}
        >>> net = SigLIP(text, {**sizes, "image_size": 32, "patch_size": 8})
        >>> net.initialize()
        >>> tokens = mx.nd.array([[1, 5, 3], [1, 7, 3]], dtype="int32")
        >>> net(tokens, mx.nd.ones((4, 3, 32, 32))).sigmoid().shape
        (4, 2)
    """

    @keeps_arguments
    def __init__(
        self, text: Mapping[str, Any] = _NONE, vision: Mapping[str, Any] = _NONE, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.text = SigLIPText(prefix="text_", **text)
            self.vision = SigLIPVision(prefix="vision_", **vision)
        made, other = self.text.head.weight.shape[0], self.vision.norm.gamma.shape[0]
        if made != other or self.vision.pooling is None:
            raise ArgumentError(
                f"SigLIP: expected embeddings of one length, got {made} of text and "
                f"{other if self.vision.pooling else 'none'} of images"
            )
        self.logit_scale = self.params._declare("logit_scale", (1,), Constant(2.3026))
        self.logit_bias = self.params._declare("logit_bias", (1,), Constant(-10.0))

    def hybrid_forward(
        self, F: ModuleType, tokens: Tensor, images: Tensor, logit_scale: Any, logit_bias: Any
    ) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (M, T).
            images: (N, channels, height, width).
            logit_scale: Logarithm of the factor (1,), a parameter.
            logit_bias: What is added (1,), a parameter.
        """
        cosines = self._cosines(F, tokens, images)
        scaled = F.broadcast_mul(cosines, F.reshape(F.exp(logit_scale), shape=(1, 1)))
        return F.broadcast_add(scaled, F.reshape(logit_bias, shape=(1, 1)))


def _read_units(config: Config) -> dict[str, Any]:
    return {"embedding_units": config.take("projection_size", int | None, None)}


def _write_units(arguments: Mapping[str, Any]) -> dict[str, Any]:
    made = arguments.get("embedding_units")
    return {"projection_size": arguments["units"] if made is None else made}


_TEXT: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size", int, 32000),
    Setting("units", "hidden_size", int, 768),
    Setting("hidden_units", "intermediate_size", int, 3072),
    Setting("num_heads", "num_attention_heads", int, 12),
    Setting("max_length", "max_position_embeddings", int, 64),
    Computed(("projection_size",), _read_units, _write_units),
    *tower_settings(1e-6, "gelu_pytorch_tanh"),
)
_VISION: tuple[AnySetting, ...] = (
    *vision_settings(16),
    Setting("pooling", "vision_use_head", bool, True),
    *tower_settings(1e-6, "gelu_pytorch_tanh"),
)
_TEXT_NAMES: Names = (*TEXT_NAMES, *layer_names({"head": "head"}))
_VISION_NAMES: Names = (
    *VISION_NAMES,
    ("pooling.probe", with_leading_axes("head.probe", 2)),
    ("pooling.attention.qkv.weight", "head.attention.in_proj_weight"),
    ("pooling.attention.qkv.bias", "head.attention.in_proj_bias"),
    *layer_names(
        {
            "pooling.attention.output": "head.attention.out_proj",
            "pooling.norm": "head.layernorm",
            "pooling.feed_forward.0": "head.mlp.fc1",
            "pooling.feed_forward.2": "head.mlp.fc2",
        }
    ),
)
register_family(
    Family(
        "siglip",
        "SiglipModel",
        SigLIP,
        (
            nested("text", _TEXT, "siglip_text_model"),
            nested("vision", _VISION, "siglip_vision_model"),
            Ignored("logit_scale_init_value"),
        ),
        (
            *tower_names(_TEXT_NAMES, _VISION_NAMES),
            ("logit_scale", "logit_scale"),
            ("logit_bias", "logit_bias"),
        ),
        "",
    )
)
register_family(
    Family("siglip_text_model", "SiglipTextModel", SigLIPText, _TEXT, _TEXT_NAMES, "text_model.")
)
register_family(
    Family(
        *("siglip_vision_model", "SiglipVisionModel", SigLIPVision),
        *(_VISION, _VISION_NAMES, "vision_model."),
    )
)

_LARGE = {"units": 1152, "hidden_units": 4304, "num_layers": 27, "num_heads": 16}
register_sizes(
    SigLIP,
    {
        "siglip_base_patch16_224": {},
        "siglip_so400m_patch14_384": {
            "text": _LARGE,
            "vision": {**_LARGE, "image_size": 384, "patch_size": 14},
        },
    },
    None,
    None,
)
