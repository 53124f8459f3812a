"""Registry of networks by name, for `get_model`."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gluonish.core.errors import ArgumentError, nearest, require_text
from gluonish.core.loading import load
from gluonish.gluon.block.hybrid_block import HybridBlock

Maker = TypeVar("Maker", bound=Callable[..., HybridBlock])

# Modules that register networks when they are loaded: MXNet's, and others', which MXNet's programs
# do not need.
_MXNET_MODULE = f"{__package__}.vision"
_LAZY_MODULES = (
    f"{__package__}.vision.convnext",
    f"{__package__}.vision.efficientnet",
    f"{__package__}.vision.mobilenet_v3",
    f"{__package__}.vision.regnet",
    f"{__package__}.vision.swin_names",
)
_makers: dict[str, Callable[..., HybridBlock]] = {}
_sources: dict[str, str] = {}
# Networks whose module is loaded when the first of them is created.
_LATER: Mapping[str, tuple[str, ...]] = {
    "clip": ("clip_vit_base_patch16", "clip_vit_base_patch32", "clip_vit_large_patch14"),
    "dinov2": (
        "vit_small_patch14_dinov2",
        "vit_base_patch14_dinov2",
        "vit_large_patch14_dinov2",
        "vit_giant_patch14_dinov2",
    ),
    "siglip": ("siglip_base_patch16_224", "siglip_so400m_patch14_384"),
    "vit": (
        "vit_tiny_patch16_224",
        "vit_small_patch16_224",
        "vit_base_patch16_224",
        "vit_base_patch16_384",
        "vit_base_patch32_224",
        "vit_large_patch16_224",
        "vit_huge_patch14_224",
        "deit_tiny_patch16_224",
        "deit_small_patch16_224",
        "deit_base_patch16_224",
        "deit_tiny_distilled_patch16_224",
        "deit_small_distilled_patch16_224",
        "deit_base_distilled_patch16_224",
    ),
}
_modules = {
    name: f"{__package__}.vision.{module}" for module, names in _LATER.items() for name in names
}


def register_model(name: str, source: str = "mxnet") -> Callable[[Maker], Maker]:
    """Return a decorator that registers a function with `get_model`.

    Args:
        name: Model name in lower case, as in the file names of pretrained weights, such as
            ``mobilenet1.0``.
        source: Library whose name it is: ``mxnet`` (and GluonCV), ``timm`` or ``transformers``.

    Raises:
        ArgumentError: The name is registered already.
    """

    def register(maker: Maker) -> Maker:
        if not maker.__module__.startswith(f"{__package__}."):
            load(_MXNET_MODULE)
        if name in _makers:
            raise ArgumentError(
                f"register_model: expected a new name, got {name!r}, which is registered already"
            )
        _makers[name], _sources[name] = maker, source
        return maker

    return register


def model_names(source: str | None = None) -> list[str]:
    """Return the names of all models, sorted.

    Args:
        source: Whose names they are: ``mxnet``, ``timm``, or ``transformers`` for vision
            transformers; None for all.
    """
    load(_MXNET_MODULE)
    if source not in ("mxnet", "transformers"):
        for module in _LAZY_MODULES:
            load(module)
    of_transformers = set(_modules) if source in (None, "transformers") else set()
    found = {name for name, one in _sources.items() if source in (None, one)}
    return sorted(found | of_transformers)


def get_model(name: str, **kwargs: Any) -> HybridBlock:
    """Create a network of the model zoo by its name.

    Args:
        name: Name of the model, such as ``"resnet50_v1"``, case-insensitive.
        **kwargs: Arguments of the model's function: ``pretrained``, ``ctx``, ``root``,
            ``classes`` ...

    Raises:
        ArgumentError: There is no network of this name.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.model_zoo.vision.get_model("mobilenet0.25", classes=10)
        >>> net.initialize()
        >>> net(mx.nd.ones((1, 3, 64, 64))).shape
        (1, 10)
    """
    require_text(name, "get_model: expected name")
    load(_MXNET_MODULE)
    if name.lower() in _modules:
        load(_modules[name.lower()])
    names = _makers if name.lower() in _makers else model_names()
    if name.lower() not in names:
        raise ArgumentError(
            f"get_model: expected the name of one of {len(names)} models, got {name!r}"
            f"{nearest(name.lower(), names)}; `gluonish zoo list` lists them"
        )
    return _makers[name.lower()](**kwargs)
