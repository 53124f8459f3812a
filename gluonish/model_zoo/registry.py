"""Registry of networks by name, for `get_model`."""

from collections.abc import Callable
from typing import Any, TypeVar

from gluonish.core.errors import ArgumentError, nearest, require_text
from gluonish.core.loading import load
from gluonish.gluon.block.hybrid_block import HybridBlock

Maker = TypeVar("Maker", bound=Callable[..., HybridBlock])

# Modules that register networks when they are loaded, which other networks do not need.
_LAZY_MODULES = (
    "gluonish.model_zoo.vision.convnext",
    "gluonish.model_zoo.vision.efficientnet",
    "gluonish.model_zoo.vision.mobilenet_v3",
    "gluonish.model_zoo.vision.regnet",
    "gluonish.model_zoo.vision.swin_names",
)
_makers: dict[str, Callable[..., HybridBlock]] = {}
_sources: dict[str, str] = {}


def register_model(name: str, source: str = "mxnet") -> Callable[[Maker], Maker]:
    """Return a decorator that registers a function with `get_model`.

    Args:
        name: Model name in lower case, as in the file names of pretrained weights, such as
            ``mobilenet1.0``.
        source: Library whose name it is: ``mxnet`` (and GluonCV), or ``timm``.

    Raises:
        ArgumentError: The name is registered already.
    """

    def register(maker: Maker) -> Maker:
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
        source: Library whose names they are, ``mxnet`` or ``timm``; None for all.
    """
    if source != "mxnet":
        for module in _LAZY_MODULES:
            load(module)
    return sorted(name for name, found in _sources.items() if source in (None, found))


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
    names = _makers if name.lower() in _makers else model_names()
    if name.lower() not in names:
        raise ArgumentError(
            f"get_model: expected one of {', '.join(names)}, got {name!r}"
            f"{nearest(name.lower(), names)}"
        )
    return _makers[name.lower()](**kwargs)
