"""Names of Swin's weights and settings in timm and transformers."""

from collections.abc import Iterator, Mapping
from typing import Any

from gluonish.model_zoo.pretrained.config import MOST_LAYERS, AnySetting, Fixed, Ignored, Setting
from gluonish.model_zoo.pretrained.families import Family, Head, register_family
from gluonish.model_zoo.pretrained.labels import LabelSetting
from gluonish.model_zoo.pretrained.sizes import SizesSetting
from gluonish.model_zoo.pretrained.timm import register_networks
from gluonish.model_zoo.pretrained.weights import Names, rows
from gluonish.model_zoo.vision.classifier import PooledClassifier
from gluonish.model_zoo.vision.swin import Swin

_NORM = {"gamma": "weight", "beta": "bias"}
_DENSE = {"weight": "weight", "bias": "bias"}


def _parts(ours: str, theirs: str, roles: Mapping[str, str] = _DENSE) -> Names:
    return [(f"{ours}.{role}", f"{theirs}.{name}") for role, name in roles.items()]


_LAYER = "layers.{}.blocks.{}."
_TIMM: Names = (
    *_parts("stem.0", "patch_embed.proj"),
    *_parts("stem.1", "patch_embed.norm", _NORM),
    *_parts("stages.{}.downsample.norm", "layers.{}.downsample.norm", _NORM),
    ("stages.{}.downsample.projection.weight", "layers.{}.downsample.reduction.weight"),
    *_parts("stages.{}.layers.{}.attention_norm", _LAYER + "norm1", _NORM),
    ("stages.{}.layers.{}.attention.bias_table", _LAYER + "attn.relative_position_bias_table"),
    *_parts("stages.{}.layers.{}.attention.attention.qkv", _LAYER + "attn.qkv"),
    *_parts("stages.{}.layers.{}.attention.attention.output", _LAYER + "attn.proj"),
    *_parts("stages.{}.layers.{}.norm", _LAYER + "norm2", _NORM),
    *_parts("stages.{}.layers.{}.hidden", _LAYER + "mlp.fc1"),
    *_parts("stages.{}.layers.{}.output", _LAYER + "mlp.fc2"),
    *_parts("norm", "norm", _NORM),
)
_SELF = "encoder.layers.{}.blocks.{}.attention.self."
_THEIRS = "encoder.layers.{}.blocks.{}."


def _transformers_names(arguments: Mapping[str, Any]) -> Names:
    """Return transformers' names; there, merging belongs to the stage before."""
    names = [
        *_parts("stem.0", "embeddings.patch_embeddings.projection"),
        *_parts("stem.1", "embeddings.norm", _NORM),
        *_parts("stages.{}.layers.{}.attention_norm", _THEIRS + "layernorm_before", _NORM),
        (
            "stages.{}.layers.{}.attention.bias_table",
            _SELF + "relative_position_bias_table",
        ),
        *(
            (
                f"stages.{{}}.layers.{{}}.attention.attention.qkv.{role}",
                rows(*(f"{_SELF}{part}.{role}" for part in ("query", "key", "value"))),
            )
            for role in _DENSE
        ),
        *_parts("stages.{}.layers.{}.attention.attention.output",
                _THEIRS + "attention.output.dense"),
        *_parts("stages.{}.layers.{}.norm", _THEIRS + "layernorm_after", _NORM),
        *_parts("stages.{}.layers.{}.hidden", _THEIRS + "intermediate.dense"),
        *_parts("stages.{}.layers.{}.output", _THEIRS + "output.dense"),
        *_parts("norm", "layernorm", _NORM),
    ]  # fmt: skip
    for stage in range(1, len(arguments["num_layers"])):
        ours, theirs = f"stages.{stage}.downsample", f"encoder.layers.{stage - 1}.downsample"
        names += _parts(f"{ours}.norm", f"{theirs}.norm", _NORM)
        names.append((f"{ours}.projection.weight", f"{theirs}.reduction.weight"))
    return names


_SIZES: dict[str, dict[str, Any]] = {
    "tiny": {"units": 96, "num_layers": (2, 2, 6, 2), "num_heads": (3, 6, 12, 24)},
    "small": {"units": 96, "num_layers": (2, 2, 18, 2), "num_heads": (3, 6, 12, 24)},
    "base": {"units": 128, "num_layers": (2, 2, 18, 2), "num_heads": (4, 8, 16, 32)},
    "large": {"units": 192, "num_layers": (2, 2, 18, 2), "num_heads": (6, 12, 24, 48)},
}
_IMAGES = {
    "tiny": ((7, 224),),
    "small": ((7, 224),),
    "base": ((7, 224), (12, 384)),
    "large": ((7, 224), (12, 384)),
}


def _variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield timm's name of each network, and arguments of the body."""
    for size, arguments in _SIZES.items():
        for window, pixels in _IMAGES[size]:
            images = {"image_size": pixels, "window_size": window, "pads_shifted": True}
            yield f"swin_{size}_patch4_window{window}_{pixels}", {**arguments, **images}


# Index and mask of attention are computed.
_UNUSED = ("relative_position_index", "attn_mask")
register_networks(Swin, lambda arguments: _TIMM, "head.fc", _variants(), _UNUSED)

_RATE = {"least": 0.0, "most": 1.0}
SETTINGS: tuple[AnySetting, ...] = (
    Setting("image_size", "image_size", int, 224),
    Setting("units", "embed_dim", int, 96),
    SizesSetting("num_layers", "depths", [2, 2, 6, 2], MOST_LAYERS),
    SizesSetting("num_heads", "num_heads", [3, 6, 12, 24]),
    Setting("window_size", "window_size", int, 7),
    Setting("patch_size", "patch_size", int, 4),
    Setting("in_channels", "num_channels", int, 3),
    Setting("hidden_ratio", "mlp_ratio", float, 4.0, least=0.0, most=1024.0),
    Setting("use_bias", "qkv_bias", bool, True),
    Setting("dropout", "hidden_dropout_prob", float, 0.0, **_RATE),
    Setting("attention_dropout", "attention_probs_dropout_prob", float, 0.0, **_RATE),
    Setting("drop_path", "drop_path_rate", float, 0.1, **_RATE),
    Setting("epsilon", "layer_norm_eps", float, 1e-5, least=0.0),
    Fixed("hidden_act", "gelu"),
    Fixed("use_absolute_embeddings", False),
    # Stages and features follow from other settings; the stride is that of a decoder.
    Ignored("num_layers", "hidden_size", "encoder_stride", "path_norm"),
    Ignored("out_features", "out_indices", "stage_names"),
)
register_family(
    Family(
        "swin",
        "SwinModel",
        Swin,
        SETTINGS,
        _transformers_names,
        "swin.",
        {
            "SwinForImageClassification": Head(
                PooledClassifier, _parts("output", "classifier"), (LabelSetting(named=False),)
            )
        },
        _UNUSED,
    )
)
