"""Vision transformers in folders of timm, whose config.json names an architecture."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import FileFormatError, NotSupportedError, nearest
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.model_zoo.pretrained.config import MOST
from gluonish.model_zoo.registry import get_model, model_names

# Settings of training and of preprocessing, and sizes that follow from the architecture.
_KINDS = ("vit_", "deit_")
_KNOWN = {"architecture", "num_classes", "num_features", "global_pool", "pretrained_cfg"}


def vision_transformer_names() -> list[str]:
    """Return the names of timm's vision transformers whose folders are read, sorted."""
    return [name for name in model_names("transformers") if name.startswith(_KINDS)]


def is_timm(entries: Mapping[str, Any]) -> bool:
    """Whether the settings in a ``config.json`` are timm's."""
    return "model_type" not in entries and "architecture" in entries


def is_vision_transformer(entries: Mapping[str, Any]) -> bool:
    """Whether a config.json is timm's of a vision transformer."""
    named = entries.get("architecture")
    return isinstance(named, str) and named.startswith(_KINDS)


def vision_transformer(
    entries: Mapping[str, Any], source: str, changes: Mapping[str, Any]
) -> HybridBlock:
    """Return the network, without values, that timm's settings describe, with its ``transform``.

    Args:
        entries: The settings.
        source: Name of the file in messages.
        changes: Arguments of the network's class.

    Raises:
        FileFormatError: A setting is of another type, or out of range.
        NotSupportedError: The architecture, or a setting, is not known.
    """
    name, classes = entries["architecture"], entries.get("num_classes", 1000)
    known = vision_transformer_names()
    if name not in known:
        raise NotSupportedError(
            f"{source}: expected 'architecture' among {', '.join(known)}, got {name!r:.60}"
            f"{nearest(name, known)}"
        )
    left = sorted(entries.keys() - _KNOWN)
    if left:
        raise NotSupportedError(
            f"{source}: expected settings {', '.join(sorted(_KNOWN))}, got {left[0]!r}; a setting "
            "that is not understood is never ignored: remove it, if it does not matter"
        )
    if type(classes) is not int or not 0 <= classes <= MOST:
        raise FileFormatError(
            f"{source}: expected 'num_classes' from 0 to {MOST}, got {classes!r:.60}"
        )
    if entries.get("global_pool", "token") != "token":
        raise NotSupportedError(
            f"{source}: expected 'global_pool' token, got {entries['global_pool']!r:.60}"
        )
    cfg = entries.get("pretrained_cfg", {})
    if not isinstance(cfg, dict):
        raise FileFormatError(f"{source}: expected 'pretrained_cfg' of type dict, got {cfg!r:.60}")
    net = get_model(name, classes=classes or None, **changes)
    net._pretrained_cfg = cfg
    return net
