"""Vision transformers: ViT, and DeiT with its distillation token.

References:
    A. Dosovitskiy et al., An Image Is Worth 16x16 Words, 2021.
    H. Touvron et al., Training Data-Efficient Image Transformers and Distillation through
    Attention, 2021.
"""

from types import ModuleType
from typing import Any, ClassVar

from gluonish.gluon.nn.basic_layers import Dense
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.residual import DropPath
from gluonish.gluon.nn.tensor import Extents, Tensor, check_positive, check_rate
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST_LAYERS,
    AnySetting,
    Computed,
    Config,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import Family, Head, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.weights import Names, with_leading_axes
from gluonish.model_zoo.vision.classifier import WithTransform
from gluonish.model_zoo.vision.image_heads import (
    CLASSES,
    DistilledClassifier,
    ImageClassifier,
    first_token,
    register_sizes,
)
from gluonish.model_zoo.vision.image_settings import layer_names, rate, size_setting
from gluonish.model_zoo.vision.image_tokens import ImageTokens, encoder_layers

__all__ = ["DeiT", "ViT", "VisionTransformer"]


class VisionTransformer(WithTransform):
    """The body of a vision transformer: patches and tokens, layers, and a norm.

    Args:
        image_size: Height and width of the images in pixels; one number for both.
        patch_size: Height and width of a patch.
        units: Number of features.
        hidden_units: Number of hidden units of the feed-forward networks.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        in_channels: Number of channels of the images.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        qkv_bias: Whether the projections of queries, keys and values have a bias.
        dropout: Probability of dropping an element before each sum in training, in [0, 1).
        attention_dropout: That of a weight of attention.
        drop_path: Probability of dropping a branch of the last layer for a sample in training, in
            [0, 1); that of the others rises linearly from 0.
        epsilon: Small constant of the normalizations.
        pooler: Whether the first token becomes an embedding of the image, by a dense layer and
            tanh.
        **kwargs: See `HybridBlock`.

    Inputs:
        images: (N, in_channels, height, width).

    Outputs:
        features: (N, T, units), of the tokens, then of the patches in rows from the top left.
        embedding: (N, units), only with ``pooler``.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.
        OperatorError: In the call, if images have another size.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import ViT
        >>> net = ViT(32, 8, units=12, hidden_units=24, num_layers=1, num_heads=2)
        >>> net.initialize()
        >>> net(mx.nd.ones((2, 3, 32, 32))).shape
        (2, 17, 12)
    """

    tokens: ClassVar[tuple[str, ...]] = ("class_token",)

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
        activation: str = "gelu",
        qkv_bias: bool = True,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        epsilon: float = 1e-6,
        pooler: bool = False,
        drop_path: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, in_channels=in_channels)
        check_rate(name, "drop_path", drop_path)
        attention = {"use_bias": qkv_bias, "use_output_bias": True}
        with self.name_scope():
            self.embedding = ImageTokens(
                *(image_size, patch_size, units, in_channels),
                tokens=self.tokens,
                dropout=dropout,
                prefix="embedding_",
            )
            self.layers = encoder_layers(
                *(name, num_layers, units, hidden_units, num_heads),
                dropout=dropout,
                attention_dropout=attention_dropout,
                activation=activation,
                epsilon=epsilon,
                attention_options=attention,
            )
            if drop_path:
                for i, layer in enumerate(self.layers):
                    layer.drop_path = DropPath(drop_path * i / max(1, num_layers - 1))
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")
            self.pooler = None
            if pooler:
                self.pooler = Dense(units, activation="tanh", in_units=units, prefix="pooler_")

    def __call__(self, images: Any, *args: Any) -> Any:
        """Check the size of the images, and compute the network."""
        self.embedding.check(images, type(self).__name__)
        return super().__call__(images, *args)

    def hybrid_forward(self, F: ModuleType, images: Tensor) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            images: (N, in_channels, height, width).
        """
        features = self.norm(self.layers(self.embedding(images)))
        if self.pooler is None:
            return features
        return features, self.pooler(first_token(F, features))

    @property
    def _image_size(self) -> tuple[int, int]:
        return self.embedding.image_size

    def set_image_size(self, image_size: Extents) -> None:
        """Make vectors of positions for images of another size; see `ImageTokens`.

        Args:
            image_size: Height and width of the images in pixels; one number for both.
        """
        self.embedding.set_image_size(image_size)
        self._arguments["image_size"] = self.embedding.image_size  # type: ignore[attr-defined]


class ViT(VisionTransformer):
    """The body of a ViT."""


class DeiT(VisionTransformer):
    """The body of a DeiT: a ViT with a distillation token behind the class token."""

    tokens = ("class_token", "distillation_token")


def _read_pooler(config: Config) -> dict[str, Any]:
    names = config.entries.get("architectures")
    body = isinstance(names, list) and names in (["ViTModel"], ["DeiTModel"])
    config.take("pooler_act", {"tanh": "tanh"}, "tanh")
    size = config.take("pooler_output_size", int | None, None)
    if size is not None:
        config.require("pooler_output_size", config.take("hidden_size", int))
    return {"pooler": body}


_SETTINGS: tuple[AnySetting, ...] = (
    size_setting("image_size", 224),
    size_setting("patch_size", 16),
    Setting("units", "hidden_size", int, 768),
    Setting("hidden_units", "intermediate_size", int, 3072),
    Setting("num_layers", "num_hidden_layers", int, 12, most=MOST_LAYERS),
    Setting("num_heads", "num_attention_heads", int, 12),
    Setting("in_channels", "num_channels", int, 3),
    Setting("activation", "hidden_act", ACTIVATIONS, "gelu"),
    Setting("qkv_bias", "qkv_bias", bool, True),
    rate("dropout", "hidden_dropout_prob"),
    rate("attention_dropout", "attention_probs_dropout_prob"),
    rate("drop_path", "drop_path_rate"),
    Setting("epsilon", "layer_norm_eps", float, 1e-12, least=0.0),
    Computed(("pooler_act", "pooler_output_size"), _read_pooler, lambda arguments: {}),
    Ignored("encoder_stride"),
)
_BLOCK = "encoder.layer.{}."
_NAMES: Names = (
    ("embedding.class_token", with_leading_axes("embeddings.cls_token", 2)),
    ("embedding.distillation_token", with_leading_axes("embeddings.distillation_token", 2)),
    ("embedding.positions", with_leading_axes("embeddings.position_embeddings")),
    *layer_names(
        {
            "embedding.patches.projection": "embeddings.patch_embeddings.projection",
            "layers.{}.attention_norm": _BLOCK + "layernorm_before",
            "layers.{}.attention.qkv": [
                f"{_BLOCK}attention.attention.{x}" for x in ("query", "key", "value")
            ],
            "layers.{}.attention.output": _BLOCK + "attention.output.dense",
            "layers.{}.feed_forward_norm": _BLOCK + "layernorm_after",
            "layers.{}.feed_forward.hidden": _BLOCK + "intermediate.dense",
            "layers.{}.feed_forward.output": _BLOCK + "output.dense",
            "norm": "layernorm",
            "pooler": "pooler.dense",
        }
    ),
)
TIMM_NAMES: Names = (
    ("embedding.class_token", with_leading_axes("cls_token", 2)),
    ("embedding.distillation_token", with_leading_axes("dist_token", 2)),
    ("embedding.positions", with_leading_axes("pos_embed")),
    *layer_names(
        {
            "embedding.patches.projection": "patch_embed.proj",
            "layers.{}.attention_norm": "blocks.{}.norm1",
            "layers.{}.attention.qkv": "blocks.{}.attn.qkv",
            "layers.{}.attention.output": "blocks.{}.attn.proj",
            "layers.{}.feed_forward_norm": "blocks.{}.norm2",
            "layers.{}.feed_forward.hidden": "blocks.{}.mlp.fc1",
            "layers.{}.feed_forward.output": "blocks.{}.mlp.fc2",
            "norm": "norm",
        }
    ),
)
TIMM_HEAD: Names = tuple(layer_names({"head": "head"}))
_CLASSIFIER = Head(
    ImageClassifier,
    tuple(layer_names({"head": "classifier"})),
    (CLASSES,),
    {"pooling": "token"},
    timm_names=TIMM_HEAD,
)
register_family(
    Family(
        "vit",
        "ViTModel",
        ViT,
        _SETTINGS,
        _NAMES,
        "vit.",
        {"ViTForImageClassification": _CLASSIFIER},
        timm_names=TIMM_NAMES,
    )
)
_TWO_HEADS = {"head": "cls_classifier", "distillation_head": "distillation_classifier"}
register_family(
    Family(
        "deit",
        "DeiTModel",
        DeiT,
        _SETTINGS,
        _NAMES,
        "deit.",
        {
            "DeiTForImageClassificationWithTeacher": Head(
                DistilledClassifier,
                tuple(layer_names(_TWO_HEADS)),
                (CLASSES,),
                timm_names=(*TIMM_HEAD, *layer_names({"distillation_head": "head_dist"})),
            ),
            "DeiTForImageClassification": _CLASSIFIER,
        },
        timm_names=TIMM_NAMES,
    )
)


def _size(units: int, num_layers: int, num_heads: int, **options: int) -> dict[str, int]:
    sizes = {"units": units, "num_layers": num_layers, "num_heads": num_heads}
    return {"hidden_units": 4 * units, **sizes, **options}


TINY, SMALL, BASE = _size(192, 12, 3), _size(384, 12, 6), _size(768, 12, 12)
LARGE, HUGE = _size(1024, 24, 16), _size(1280, 32, 16)
register_sizes(
    ViT,
    {
        "vit_tiny_patch16_224": TINY,
        "vit_small_patch16_224": SMALL,
        "vit_base_patch16_224": BASE,
        "vit_base_patch16_384": {**BASE, "image_size": 384},
        "vit_base_patch32_224": {**BASE, "patch_size": 32},
        "vit_large_patch16_224": LARGE,
        "vit_huge_patch14_224": {**HUGE, "patch_size": 14},
        # Without the distillation token a DeiT is a ViT.
        "deit_tiny_patch16_224": TINY,
        "deit_small_patch16_224": SMALL,
        "deit_base_patch16_224": BASE,
    },
    ImageClassifier,
)
register_sizes(
    DeiT,
    {
        "deit_tiny_distilled_patch16_224": TINY,
        "deit_small_distilled_patch16_224": SMALL,
        "deit_base_distilled_patch16_224": BASE,
    },
    DistilledClassifier,
)
