"""CLIP: a tower for images and one for text, whose embeddings are near where they belong together.

References:
    A. Radford et al., Learning Transferable Visual Models from Natural Language Supervision, 2021.
"""

from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense, Embedding
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.positions import PositionalEmbedding
from gluonish.gluon.nn.tensor import Extents, Tensor, check_positive
from gluonish.initializer import Constant, Normal
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST_LAYERS,
    AnySetting,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import (
    Family,
    Head,
    keeps_arguments,
    prefixed,
    register_family,
)
from gluonish.model_zoo.pretrained.weights import Names, scalar
from gluonish.model_zoo.vision.classifier import WithTransform
from gluonish.model_zoo.vision.image_heads import first_token, register_sizes
from gluonish.model_zoo.vision.image_settings import (
    expected_value,
    layer_names,
    nested,
    rate,
    size_setting,
)
from gluonish.model_zoo.vision.image_tokens import ImageTokens, encoder_layers

__all__ = ["CLIP", "CLIPText", "CLIPVision", "Projection"]

_NONE: Mapping[str, Any] = MappingProxyType({})
_INIT = Normal(0.02)


class CLIPText(HybridBlock):
    """The text tower of CLIP: embeddings of words and positions, causal layers, and a norm.

    Args:
        vocab_size: Number of words.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        max_length: Number of positions; further ones are an error.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        attention_dropout: Probability of dropping a weight of attention in training, in [0, 1).
        epsilon: Small constant of the normalizations.
        end_token: Token whose features are the embedding, at its first position (the first
            position of all, if it is missing); 2 for the highest token, as in old networks.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (N, T), whole numbers from 0 to ``vocab_size`` - 1.

    Outputs:
        features: (N, T, units).
        embedding: (N, units).

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.
    """

    _causal: ClassVar[bool] = True

    @keeps_arguments
    def __init__(
        self,
        vocab_size: int = 49408,
        units: int = 512,
        hidden_units: int = 2048,
        num_layers: int = 12,
        num_heads: int = 8,
        max_length: int = 77,
        activation: str = "gelu_sigmoid",
        attention_dropout: float = 0.0,
        epsilon: float = 1e-5,
        end_token: int = 49407,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, vocab_size=vocab_size, max_length=max_length)
        self._end_token = end_token
        with self.name_scope():
            self.embedding = Embedding(
                vocab_size, units, weight_initializer=_INIT, prefix="embedding_"
            )
            self.positions = PositionalEmbedding(
                units, max_length, weight_initializer=_INIT, prefix="positions_"
            )
            self.layers = encoder_layers(
                *(name, num_layers, units, hidden_units, num_heads),
                dropout=0.0,
                attention_dropout=attention_dropout,
                activation=activation,
                epsilon=epsilon,
                causal=self._causal,
            )
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")

    def hybrid_forward(self, F: ModuleType, tokens: Tensor) -> Any:
        """Compute features and embedding.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (N, T).
        """
        features = self.norm(self.layers(self.positions(self.embedding(tokens))))
        return features, self._pooled(F, features, tokens)

    def _pooled(self, F: ModuleType, features: Any, tokens: Any) -> Any:
        """Return the embedding (N, units)."""
        found = tokens if self._end_token == 2 else tokens == self._end_token
        length = F.argmax(F.cast(found, dtype="float32"), axis=1) + 1
        return F.SequenceLast(features, length, use_sequence_length=True, axis=1)


class CLIPVision(WithTransform):
    """The vision tower of CLIP: patches and a class token, layers, and norms before and after.

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
        **kwargs: See `HybridBlock`.

    Inputs:
        images: (N, in_channels, height, width).

    Outputs:
        features: (N, T, units), of the class token, then of the patches, not normalized.
        embedding: (N, units), the normalized features of the class token.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.
        OperatorError: In the call, if images have another size.
    """

    @keeps_arguments
    def __init__(
        self,
        image_size: Extents = 224,
        patch_size: Extents = 32,
        units: int = 768,
        hidden_units: int = 3072,
        num_layers: int = 12,
        num_heads: int = 12,
        in_channels: int = 3,
        activation: str = "gelu_sigmoid",
        attention_dropout: float = 0.0,
        epsilon: float = 1e-5,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, in_channels=in_channels)
        norm: dict[str, Any] = {"epsilon": epsilon, "in_channels": units}
        with self.name_scope():
            self.embedding = ImageTokens(
                *(image_size, patch_size, units, in_channels), use_bias=False, prefix="embedding_"
            )
            self.pre_norm = LayerNorm(prefix="pre_norm_", **norm)
            self.layers = encoder_layers(
                *(name, num_layers, units, hidden_units, num_heads),
                dropout=0.0,
                attention_dropout=attention_dropout,
                activation=activation,
                epsilon=epsilon,
            )
            self.norm = LayerNorm(prefix="norm_", **norm)

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
        features = self.layers(self.pre_norm(self.embedding(images)))
        return features, self.norm(first_token(F, features))

    def set_image_size(self, image_size: Extents) -> None:
        """Make vectors of positions for images of another size; see `ImageTokens`.

        Args:
            image_size: Height and width of the images in pixels; one number for both.
        """
        self.embedding.set_image_size(image_size)
        self._arguments["image_size"] = self.embedding.image_size  # type: ignore[attr-defined]


class Projection(WithTransform):
    """A tower whose embedding is projected: ``y = embedding(x) W^T``.

    Args:
        body: `CLIPText` or `CLIPVision`.
        units: Number of features of the projected embedding.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: input of the tower.

    Outputs:
        y: (N, units).
    """

    @keeps_arguments
    def __init__(self, body: HybridBlock, units: int = 512, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(body, CLIPText | CLIPVision):
            raise ArgumentError(
                f"Projection: expected CLIPText or CLIPVision, got {type(body).__name__}"
            )
        self.body: Any = body
        with self.name_scope():
            self.projection = _projection(body, units, "projection_")

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the projected embedding.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Input of the tower.
        """
        return self.projection(self.body(x)[1])

    def set_image_size(self, image_size: Extents) -> None:
        """Make vectors of positions for images of another size; see `ImageTokens`.

        Args:
            image_size: Height and width of the images in pixels; one number for both.
        """
        self.body.set_image_size(image_size)


def _projection(tower: Any, units: int, prefix: str) -> Dense:
    check_positive("Projection", units=units)
    of = tower.norm.gamma.shape[0]
    return Dense(units, use_bias=False, in_units=of, weight_initializer=_INIT, prefix=prefix)


class TwoTowers(WithTransform):
    """Base class of CLIP and SigLIP: how well texts and images belong together.

    Attributes:
        text: Tower that gives features and an embedding of tokens.
        vision: The same of images.
    """

    text: Any
    vision: Any

    def __call__(self, tokens: Any, images: Any, *args: Any) -> Any:
        """Check the size of the images, and compute the network."""
        self.vision.embedding.check(images, type(self).__name__)
        return super().__call__(tokens, images, *args)

    def embed_text(self, tokens: Any) -> Any:
        """Return embeddings (N, units) of length 1.

        Args:
            tokens: (N, T).
        """
        return _normalized(nd, self._embedded_text(tokens))

    def embed_images(self, images: Any) -> Any:
        """Return embeddings (N, units) of length 1.

        Args:
            images: (N, channels, height, width).
        """
        self.vision.embedding.check(images, type(self).__name__)
        return _normalized(nd, self._embedded_images(images))

    def _embedded_text(self, tokens: Any) -> Any:
        """Return embeddings of any length."""
        return self.text(tokens)[1]

    def _embedded_images(self, images: Any) -> Any:
        """Return embeddings of any length."""
        return self.vision(images)[1]

    def _cosines(self, F: ModuleType, tokens: Any, images: Any) -> Any:
        """Return the products of embeddings of length 1, (images, texts)."""
        made = self._embedded_images(images), self._embedded_text(tokens)
        return F.dot(*(_normalized(F, vectors) for vectors in made), transpose_b=True)

    def set_image_size(self, image_size: Extents) -> None:
        """Make vectors of positions for images of another size; see `ImageTokens`.

        Args:
            image_size: Height and width of the images in pixels; one number for both.
        """
        self.vision.set_image_size(image_size)
        arguments: dict[str, Any] = self._arguments  # type: ignore[attr-defined]
        size = self.vision.embedding.image_size
        arguments["vision"] = {**arguments["vision"], "image_size": size}


def _normalized(F: ModuleType, vectors: Any) -> Any:
    return F.broadcast_div(vectors, F.norm(vectors, axis=1, keepdims=True))


class CLIP(TwoTowers):
    """CLIP: scores of images and texts are ``exp(logit_scale)`` times the cosine of embeddings.

    Args:
        text: Arguments of `CLIPText`.
        vision: Arguments of `CLIPVision`.
        units: Number of features of the embeddings.
        **kwargs: See `HybridBlock`.

    Inputs:
        tokens: (M, T), whole numbers.
        images: (N, channels, height, width).

    Outputs:
        scores: (N, M), of each image with each text; softmax over texts gives probabilities.

    Raises:
        ArgumentError: An argument of a tower is out of range.
        OperatorError: In the call, if images have another size.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import CLIP
        >>> sizes = {"units": 12, "hidden_units": 24, "num_layers": 1, "num_heads": 2}
        >>> text = {**sizes, "vocab_size": 32, "end_token": 3}
        >>> net = CLIP(text, {**sizes, "image_size": 32, "patch_size": 8}, units=6)
        >>> net.initialize()
        >>> tokens = mx.nd.array([[1, 5, 3], [1, 7, 3]], dtype="int32")
        >>> net(tokens, mx.nd.ones((4, 3, 32, 32))).shape
        (4, 2)
        >>> net.embed_text(tokens).shape
        (2, 6)
    """

    @keeps_arguments
    def __init__(
        self,
        text: Mapping[str, Any] = _NONE,
        vision: Mapping[str, Any] = _NONE,
        units: int = 512,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.text = CLIPText(prefix="text_", **text)
            self.vision = CLIPVision(prefix="vision_", **vision)
            self.text_projection = _projection(self.text, units, "text_projection_")
            self.vision_projection = _projection(self.vision, units, "vision_projection_")
        self.logit_scale = self.params._declare("logit_scale", (1,), Constant(2.6592))

    def hybrid_forward(
        self, F: ModuleType, tokens: Tensor, images: Tensor, logit_scale: Any
    ) -> Any:
        """Compute the scores.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            tokens: (M, T).
            images: (N, channels, height, width).
            logit_scale: Logarithm of the factor (1,), a parameter.
        """
        cosines = self._cosines(F, tokens, images)
        return F.broadcast_mul(cosines, F.reshape(F.exp(logit_scale), shape=(1, 1)))

    def _embedded_text(self, tokens: Any) -> Any:
        """Return projected embeddings."""
        return self.text_projection(self.text(tokens)[1])

    def _embedded_images(self, images: Any) -> Any:
        """Return projected embeddings."""
        return self.vision_projection(self.vision(images)[1])


def tower_settings(epsilon: float, activation: str) -> tuple[AnySetting, ...]:
    """Return the settings that all towers have.

    Args:
        epsilon: Default of ``layer_norm_eps``.
        activation: Default of ``hidden_act``, in config.json.
    """
    functions = {activation: ACTIVATIONS[activation], **ACTIVATIONS}
    generation = ("bad_words_ids", "diversity_penalty", "encoder_no_repeat_ngram_size")
    return (
        Setting("num_layers", "num_hidden_layers", int, 12, most=MOST_LAYERS),
        Setting("activation", "hidden_act", functions, ACTIVATIONS[activation]),
        rate("attention_dropout", "attention_dropout"),
        Setting("epsilon", "layer_norm_eps", float, epsilon, least=0.0),
        expected_value("dropout", 0.0, 0),
        # Of text that other networks write.
        Ignored(*generation, "num_beam_groups", "typical_p", "tf_legacy_loss"),
    )


def vision_settings(patch_size: int) -> tuple[AnySetting, ...]:
    """Return the settings of sizes that all vision towers have.

    Args:
        patch_size: Default of ``patch_size``.
    """
    return (
        Setting("units", "hidden_size", int, 768),
        Setting("hidden_units", "intermediate_size", int, 3072),
        Setting("num_heads", "num_attention_heads", int, 12),
        Setting("in_channels", "num_channels", int, 3),
        size_setting("image_size", 224),
        size_setting("patch_size", patch_size),
    )


_TEXT: tuple[AnySetting, ...] = (
    Setting("vocab_size", "vocab_size", int, 49408),
    Setting("units", "hidden_size", int, 512),
    Setting("hidden_units", "intermediate_size", int, 2048),
    Setting("num_heads", "num_attention_heads", int, 8),
    Setting("max_length", "max_position_embeddings", int, 77),
    Setting("end_token", "eos_token_id", int, 49407, least=0),
    *tower_settings(1e-5, "quick_gelu"),
)
_VISION = (*vision_settings(32), *tower_settings(1e-5, "quick_gelu"))
_UNITS = Setting("units", "projection_dim", int, 512)
_LAYER = "encoder.layers.{}."
LAYERS: Names = tuple(
    layer_names(
        {
            "layers.{}.attention_norm": _LAYER + "layer_norm1",
            "layers.{}.attention.qkv": [f"{_LAYER}self_attn.{x}_proj" for x in "qkv"],
            "layers.{}.attention.output": _LAYER + "self_attn.out_proj",
            "layers.{}.feed_forward_norm": _LAYER + "layer_norm2",
            "layers.{}.feed_forward.hidden": _LAYER + "mlp.fc1",
            "layers.{}.feed_forward.output": _LAYER + "mlp.fc2",
        }
    )
)
TEXT_NAMES: Names = (
    ("embedding.weight", "embeddings.token_embedding.weight"),
    ("positions.weight", "embeddings.position_embedding.weight"),
    *LAYERS,
    *layer_names({"norm": "final_layer_norm"}),
)
VISION_NAMES: Names = (
    ("embedding.positions", "embeddings.position_embedding.weight"),
    *LAYERS,
    *layer_names(
        {
            "embedding.patches.projection": "embeddings.patch_embedding",
            "norm": "post_layernorm",
        }
    ),
)
_VISION_NAMES: Names = (
    ("embedding.class_token", "embeddings.class_embedding"),
    *layer_names({"pre_norm": "pre_layrnorm"}),
    *VISION_NAMES,
)


def tower_names(text: Names, vision: Names) -> Names:
    """Return the names of both towers.

    Args:
        text: Names of the text tower.
        vision: Names of the vision tower.
    """
    return tuple(
        (f"{tower}.{ours}", prefixed(theirs, f"{tower}_model."))
        for tower, names in (("text", text), ("vision", vision))
        for ours, theirs in names
    )


register_family(
    Family(
        "clip",
        "CLIPModel",
        CLIP,
        (
            nested("text", (*_TEXT, Ignored("projection_dim")), "clip_text_model"),
            nested("vision", (*_VISION, Ignored("projection_dim")), "clip_vision_model"),
            _UNITS,
            Ignored("logit_scale_init_value"),
        ),
        (
            *tower_names(TEXT_NAMES, _VISION_NAMES),
            ("text_projection.weight", "text_projection.weight"),
            ("vision_projection.weight", "visual_projection.weight"),
            ("logit_scale", scalar("logit_scale")),
        ),
        "",
    )
)


def _register_tower(
    kind: str, body: type[HybridBlock], settings: tuple[AnySetting, ...], names: Names, weight: str
) -> None:
    name = f"CLIP{kind.title()}Model"
    head = Head(Projection, [("projection.weight", f"{weight}_projection.weight")], (_UNITS,))
    prefix, heads = f"{kind}_model.", {f"{name}WithProjection": head}
    register_family(Family(f"clip_{kind}_model", name, body, settings, names, prefix, heads))


_register_tower("text", CLIPText, _TEXT, TEXT_NAMES, "text")
_register_tower("vision", CLIPVision, _VISION, _VISION_NAMES, "visual")

_LARGE_TEXT = {"units": 768, "hidden_units": 3072, "num_heads": 12}
_LARGE = {"units": 1024, "hidden_units": 4096, "num_layers": 24, "num_heads": 16}
register_sizes(
    CLIP,
    {
        "clip_vit_base_patch32": {},
        "clip_vit_base_patch16": {"vision": {"patch_size": 16}},
        "clip_vit_large_patch14": {
            "text": _LARGE_TEXT,
            "vision": {**_LARGE, "patch_size": 14},
            "units": 768,
        },
    },
    None,
    None,
)
