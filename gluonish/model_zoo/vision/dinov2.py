"""DINOv2: a vision transformer whose branches have trained scales.

References:
    M. Oquab et al., DINOv2: Learning Robust Visual Features without Supervision, 2023.
"""

from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.feed_forward import GatedMLP
from gluonish.gluon.nn.normalization import LayerNorm
from gluonish.gluon.nn.residual import DropPath, LayerScale
from gluonish.gluon.nn.tensor import Extents, Tensor, check_positive, check_rate
from gluonish.gluon.nn.transformer_layers import TransformerEncoderLayer
from gluonish.initializer import Constant
from gluonish.model_zoo.pretrained.config import (
    ACTIVATIONS,
    MOST_LAYERS,
    AnySetting,
    Fixed,
    Ignored,
    Setting,
)
from gluonish.model_zoo.pretrained.families import Family, Head, keeps_arguments, register_family
from gluonish.model_zoo.pretrained.weights import Names, with_leading_axes
from gluonish.model_zoo.vision.classifier import WithTransform
from gluonish.model_zoo.vision.image_heads import CLASSES, ImageClassifier, register_sizes
from gluonish.model_zoo.vision.image_settings import layer_names, rate, size_setting
from gluonish.model_zoo.vision.image_tokens import ImageTokens, encoder_layers
from gluonish.model_zoo.vision.vit import TIMM_HEAD, TIMM_NAMES

__all__ = ["DINOv2"]


class _ScaledLayer(TransformerEncoderLayer):
    """A `TransformerEncoderLayer` whose branches are scaled and, in training, dropped at random."""

    def __init__(self, units: int, *args: Any, scale: float, drop_path: float, **kw: Any) -> None:
        super().__init__(units, *args, **kw)
        with self.name_scope():
            self.attention_scale, self.feed_forward_scale = (
                LayerScale(units, gamma_initializer=Constant(scale), prefix=f"{branch}_scale_")
                for branch in ("attention", "feed_forward")
            )
            self.drop_path = DropPath(drop_path) if drop_path else None

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:  # type: ignore[override]
        """Compute the layer.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, T, units).
        """
        branches = (
            (self.attention_norm, self.attention, self.attention_scale),
            (self.feed_forward_norm, self.feed_forward, self.feed_forward_scale),
        )
        for norm, layer, scale in branches:
            made = layer(norm(x))
            made = scale(made if self.dropout is None else self.dropout(made))
            x = x + (made if self.drop_path is None else self.drop_path(made))
        return x


class DINOv2(WithTransform):
    """The body of a DINOv2: patches and a class token, layers with scaled branches, and a norm.

    Args:
        image_size: Height and width of the images in pixels; one number for both.
        patch_size: Height and width of a patch.
        units: Number of features.
        num_layers: Number of layers.
        num_heads: Number of heads, which divides ``units``.
        mlp_ratio: Number of hidden units for each feature.
        in_channels: Number of channels of the images.
        activation: Function of the hidden units; see `TransformerEncoderLayer`.
        gated: Whether the feed-forward networks are SwiGLU, of 2/3 as many hidden units, rounded
            up to a multiple of 8.
        qkv_bias: Whether the projections of queries, keys and values have a bias.
        layer_scale: Initial scale of the branches.
        drop_path: Probability of dropping a branch of a sample in training, in [0, 1).
        dropout: Probability of dropping an element before each sum in training, in [0, 1).
        attention_dropout: That of a weight of attention.
        epsilon: Small constant of the normalizations.
        mask_token: Whether there is a vector in place of masked patches.
        **kwargs: See `HybridBlock`.

    Inputs:
        images: (N, in_channels, height, width).
        masked: (N, patches), 1 where a patch is replaced by the mask token; None for none.

    Outputs:
        features: (N, T, units), of the class token, which stands for the image, then of patches.

    Raises:
        ArgumentError: ``num_heads`` does not divide ``units``, or a number is out of range.
        OperatorError: In the call, if images have another size.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.model_zoo.vision import DINOv2
        >>> net = DINOv2(56, 14, units=12, num_layers=1, num_heads=2)
        >>> net.initialize()
        >>> net.set_image_size(28)  # the vectors of positions are interpolated
        >>> net(mx.nd.ones((2, 3, 28, 28))).shape
        (2, 5, 12)
    """

    @keeps_arguments
    def __init__(
        self,
        image_size: Extents = 518,
        patch_size: Extents = 14,
        units: int = 768,
        num_layers: int = 12,
        num_heads: int = 12,
        mlp_ratio: int = 4,
        in_channels: int = 3,
        activation: str = "gelu",
        gated: bool = False,
        qkv_bias: bool = True,
        layer_scale: float = 1e-5,
        drop_path: float = 0.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        epsilon: float = 1e-6,
        mask_token: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        check_positive(name, mlp_ratio=mlp_ratio, in_channels=in_channels)
        check_rate(name, "drop_path", drop_path)
        with self.name_scope():
            self.embedding = ImageTokens(
                *(image_size, patch_size, units, in_channels),
                mask_token=mask_token,
                dropout=dropout,
                prefix="embedding_",
            )
            self.layers = encoder_layers(
                *(name, num_layers, units, units * mlp_ratio, num_heads),
                make=partial(_scaled_layer, gated, scale=layer_scale, drop_path=drop_path),
                dropout=dropout,
                attention_dropout=attention_dropout,
                activation=activation,
                epsilon=epsilon,
                attention_options={"use_bias": qkv_bias, "use_output_bias": True},
            )
            self.norm = LayerNorm(epsilon=epsilon, in_channels=units, prefix="norm_")

    def __call__(self, images: Any, *args: Any) -> Any:
        """Check the size of the images, and compute the network."""
        self.embedding.check(images, type(self).__name__)
        return super().__call__(images, *args)

    def hybrid_forward(self, F: ModuleType, images: Tensor, masked: Tensor | None = None) -> Any:
        """Compute the features.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            images: (N, in_channels, height, width).
            masked: (N, patches), or None.
        """
        return self.norm(self.layers(self.embedding(images, masked)))

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


def _scaled_layer(gated: bool, units: int, hidden: int, *args: Any, **options: Any) -> _ScaledLayer:
    if gated:
        hidden = (hidden * 2 // 3 + 7) // 8 * 8
        options["feed_forward"] = GatedMLP(units, hidden, use_bias=True, in_units=units)
    return _ScaledLayer(units, hidden, *args, **options)


_SETTINGS: tuple[AnySetting, ...] = (
    size_setting("image_size", 224),
    size_setting("patch_size", 14),
    Setting("units", "hidden_size", int, 768),
    Setting("num_layers", "num_hidden_layers", int, 12, most=MOST_LAYERS),
    Setting("num_heads", "num_attention_heads", int, 12),
    Setting("mlp_ratio", "mlp_ratio", int, 4),
    Setting("in_channels", "num_channels", int, 3),
    Setting("activation", "hidden_act", ACTIVATIONS, "gelu"),
    Setting("gated", "use_swiglu_ffn", bool, False),
    Setting("qkv_bias", "qkv_bias", bool, True),
    Setting("layer_scale", "layerscale_value", float, 1.0),
    rate("drop_path", "drop_path_rate"),
    rate("dropout", "hidden_dropout_prob"),
    rate("attention_dropout", "attention_probs_dropout_prob"),
    Setting("epsilon", "layer_norm_eps", float, 1e-6, least=0.0),
    Setting("mask_token", "use_mask_token", bool, True),
    Fixed("apply_layernorm", True),
    # What a backbone gives to detectors.
    Ignored("out_features", "out_indices", "stage_names", "reshape_hidden_states"),
)
_BLOCK = "encoder.layer.{}."


def _scales(theirs: str) -> Iterator[tuple[str, str]]:
    """Yield the names of the scales of a layer's branches, which are 1 and 2 in files."""
    for index, branch in enumerate(("attention", "feed_forward"), 1):
        yield f"layers.{{}}.{branch}_scale.gamma", theirs.format("{}", index)


_NAMES: Names = (
    ("embedding.class_token", with_leading_axes("embeddings.cls_token", 2)),
    ("embedding.mask_token", with_leading_axes("embeddings.mask_token")),
    ("embedding.positions", with_leading_axes("embeddings.position_embeddings")),
    *_scales(_BLOCK + "layer_scale{}.lambda1"),
    *layer_names(
        {
            "embedding.patches.projection": "embeddings.patch_embeddings.projection",
            "layers.{}.attention_norm": _BLOCK + "norm1",
            "layers.{}.attention.qkv": [
                f"{_BLOCK}attention.attention.{x}" for x in ("query", "key", "value")
            ],
            "layers.{}.attention.output": _BLOCK + "attention.output.dense",
            "layers.{}.feed_forward_norm": _BLOCK + "norm2",
            "layers.{}.feed_forward.hidden": _BLOCK + "mlp.fc1",
            "layers.{}.feed_forward.gate_value": _BLOCK + "mlp.weights_in",
            "norm": "layernorm",
        }
    ),
)


def _output_names(arguments: Any) -> Names:
    """Return the names of a body, whose last layer of a branch has another name with gates."""
    last = "mlp.weights_out" if arguments["gated"] else "mlp.fc2"
    return (*_NAMES, *layer_names({"layers.{}.feed_forward.output": _BLOCK + last}))


register_family(
    Family(
        "dinov2",
        "Dinov2Model",
        DINOv2,
        _SETTINGS,
        _output_names,
        "dinov2.",
        {
            "Dinov2ForImageClassification": Head(
                ImageClassifier,
                tuple(layer_names({"head": "classifier"})),
                (CLASSES,),
                {"pooling": "token_mean"},
                timm_names=TIMM_HEAD,
            )
        },
        timm_names=(
            *TIMM_NAMES,
            *_scales("blocks.{}.ls{}.gamma"),
            *layer_names({"layers.{}.feed_forward.gate_value": "blocks.{}.mlp.fc1"}),
            ("embedding.mask_token", with_leading_axes("mask_token")),
        ),
    )
)


def _token_mean(body: HybridBlock, classes: int) -> ImageClassifier:
    return ImageClassifier(body, classes, "token_mean")


register_sizes(
    DINOv2,
    {
        f"vit_{name}_patch14_dinov2": {"units": units, "num_layers": layers, "num_heads": heads}
        | ({"gated": True} if name == "giant" else {})
        for name, units, layers, heads in (
            ("small", 384, 12, 6),
            ("base", 768, 12, 12),
            ("large", 1024, 24, 16),
            ("giant", 1536, 40, 24),
        )
    },
    _token_mean,
    None,
)
