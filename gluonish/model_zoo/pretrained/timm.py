"""Networks of timm: their names, weights and folders, and the transform that images need.

A folder of timm has ``model.safetensors``, and a ``config.json`` with the network's name as
``architecture`` and, as ``pretrained_cfg``, how images were prepared.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any

from gluonish.core.context import Context, current_context
from gluonish.core.errors import (
    ArgumentError,
    FileFormatError,
    NotSupportedError,
    nearest,
)
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.initializer import Initializer
from gluonish.model_zoo.model_store import get_model_file
from gluonish.model_zoo.pretrained.config import Config
from gluonish.model_zoo.pretrained.weights import (
    Form,
    Names,
    WeightTable,
    common_dtype,
    floating_dtype,
    setter,
)
from gluonish.model_zoo.registry import get_model, model_names, register_model
from gluonish.model_zoo.vision.classifier import PooledClassifier
from gluonish.ndarray.list_file import StoredArray

__all__ = ["TimmNetwork", "register_networks", "timm_network", "timm_table"]

_COUNTERS = ("num_batches_tracked",)
# Settings without an effect on outputs.
_TEXTS = ("num_features", "labels", "label_names", "label_descriptions", "license", "tags")
_OPTIONS = {"in_channels": "in_chans", "drop_path": "drop_path_rate", "image_size": "img_size"}


@dataclass(frozen=True)
class TimmNetwork:
    """A network of timm.

    Attributes:
        body: Class of the body.
        arguments: Its arguments.
        names: Returns timm's names of the body's weights for its arguments.
        classifier: Name of the last layer.
        unused: Endings of names in files that no parameter needs.
    """

    body: Callable[..., HybridBlock]
    arguments: Mapping[str, Any]
    names: Callable[[Mapping[str, Any]], Names]
    classifier: str
    unused: tuple[str, ...] = field(default=())


_networks: dict[str, TimmNetwork] = {}


def register_networks(
    body: Callable[..., HybridBlock],
    names: Callable[[Mapping[str, Any]], Names],
    classifier: str,
    variants: Iterable[tuple[str, Mapping[str, Any]]],
    unused: tuple[str, ...] = (),
) -> None:
    """Register networks of a family with `get_model`, under timm's names.

    Args:
        body: Class of the body.
        names: Returns timm's names of the body's weights for its arguments.
        classifier: Name of the last layer in timm.
        variants: Name of each network, and arguments of the body.
        unused: Endings of names in files that no parameter needs.
    """
    for name, arguments in variants:
        _networks[name] = TimmNetwork(body, arguments, names, classifier, unused)
        register_model(name, "timm")(partial(_make, name))


def _make(
    name: str,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] | None = None,
    root: str | os.PathLike[str] | None = None,
    classes: int = 1000,
    dropout: float = 0.0,
    prefix: str | None = None,
    params: Any = None,
    **changes: Any,
) -> PooledClassifier:
    """Create a network by timm's name; see `get_model`.

    Raises:
        ArgumentError: ``pretrained`` is set, as MXNet has published no weights of it.
    """
    if pretrained:
        get_model_file(name, root)  # raises
    found = _networks[name]
    body = found.body(**{**found.arguments, **changes})
    net = PooledClassifier(body, classes, dropout, prefix=prefix, params=params)
    net._timm_name = name
    return net


def timm_network(net: HybridBlock) -> TimmNetwork | None:
    """Return what `get_model` made a network of; None for other networks."""
    return _networks.get(getattr(net, "_timm_name", ""))


def timm_table(net: HybridBlock) -> WeightTable:
    """Return timm's names of a network's weights.

    Raises:
        NotSupportedError: It is no network of timm's that `get_model` made.
    """
    found = timm_network(net)
    if found is None:
        raise NotSupportedError(
            "timm: expected a network that get_model made by a name of timm's, such as "
            f"'efficientnet_b0', got {type(net).__name__}"
        )
    body: Any = net
    names: list[tuple[str, str | Form]] = [
        (f"body.{ours}", theirs) for ours, theirs in found.names(body.body._arguments)
    ]
    names += [(f"output.{role}", f"{found.classifier}.{role}") for role in ("weight", "bias")]
    return WeightTable(net, names, f"{body._timm_name} of timm")


def is_unused(net: HybridBlock, name: str) -> bool:
    """Whether an entry of timm's files has no effect on a network's outputs."""
    found = timm_network(net)
    return name.endswith(_COUNTERS + (found.unused if found else ()))


def build(config: Config, changes: Mapping[str, Any]) -> PooledClassifier:
    """Return the network, without values, that settings of timm describe.

    Args:
        config: The settings.
        changes: Arguments of `get_model` in place of those of the settings.

    Raises:
        FileFormatError: A setting is missing, of another type, or out of range.
        NotSupportedError: The network or a setting is not known.
    """
    name = config.take("architecture", str)
    known = model_names("timm")
    if name not in known:
        raise NotSupportedError(
            f"{config.source}: expected 'architecture' among timm's names that get_model knows, "
            f"got {name!r:.60}{nearest(name, known)}"
        )
    arguments = {"classes": config.take("num_classes", int, 1000)}
    config.require("global_pool", "avg")
    arguments |= _model_arguments(config)
    cfg = config.take("pretrained_cfg", dict, {})
    config.ignore(*_TEXTS)
    config.finish()
    try:
        net = get_model(name, **{**arguments, **changes})
    except (ArgumentError, TypeError) as error:
        raise FileFormatError(
            f"{config.source}: expected settings of {name}, got some that do not fit each other: "
            f"{error}"
        ) from error
    assert isinstance(net, PooledClassifier)
    net._pretrained_cfg = cfg
    return net


def _model_arguments(config: Config) -> dict[str, Any]:
    given = Config(config.take("model_args", dict, {}), f"{config.source}: model_args")
    found = {
        ours: given.take(theirs, int if ours != "drop_path" else float)
        for ours, theirs in _OPTIONS.items()
        if theirs in given
    }
    if "drop_rate" in given:
        found["dropout"] = given.take("drop_rate", float)
    given.finish()
    return found


def load_timm(
    entries: Mapping[str, Any],
    source: str,
    open_weights: Callable[[], Any],
    ctx: Any,
    dtype: Any,
    mmap: bool,
    initializer: Initializer | None,
    changes: Mapping[str, Any],
) -> HybridBlock:
    """Return the network of a folder of timm; see `from_pretrained`.

    With an ``initializer``, the last layer may be of another number of classes, and is then new.

    Args:
        entries: Settings of config.json.
        source: Name of that file.
        open_weights: Returns a context manager of the tensors by name and the file's name.
        ctx: See `from_pretrained`.
        dtype: See `from_pretrained`.
        mmap: See `from_pretrained`.
        initializer: See `from_pretrained`.
        changes: Arguments of `get_model`.
    """
    net = build(Config(entries, source), changes)
    with open_weights() as (stored, file):
        kind = common_dtype(stored, file) if dtype is None else floating_dtype(dtype)
        net.cast(kind)
        tensors = dict(stored)
        if initializer is not None:
            _drop_other_classifier(net, tensors)
        missing = timm_table(net).load(
            tensors,
            file,
            setter(current_context() if ctx is None else ctx, mmap),
            lambda path: initializer is not None and path.startswith("output."),
            lambda name: is_unused(net, name),
        )
    parameters = net._collect_params_with_prefix()
    if initializer is None:
        return net
    for path in missing:
        parameters[path].initialize(ctx=ctx, default_init=initializer)
    return net


def _drop_other_classifier(net: PooledClassifier, tensors: dict[str, StoredArray]) -> None:
    """Remove the last layer's tensors if they are of another number of classes."""
    found = timm_network(net)
    assert found is not None
    weight = tensors.get(f"{found.classifier}.weight")
    if weight is not None and weight.shape != net.output.weight.shape:
        for role in ("weight", "bias"):
            tensors.pop(f"{found.classifier}.{role}", None)


def describe(net: PooledClassifier) -> dict[str, Any]:
    """Return the settings of a network, for timm's config.json.

    Raises:
        NotSupportedError: timm has no name for the network.
    """
    found = timm_network(net)
    assert found is not None
    name, body = net._timm_name, net.body
    usual = {k: v.default for k, v in signature(found.body).parameters.items()}
    usual |= found.arguments
    changed = {k: v for k, v in body._arguments.items() if v != usual[k]}
    other = {k: v for k, v in changed.items() if k not in _OPTIONS}
    if other:
        shown = ", ".join(f"{key}={value!r:.60}" for key, value in other.items())
        raise NotSupportedError(
            f"save_pretrained: expected the arguments of {name} in timm, got {shown}; "
            "save_parameters writes any network's parameters"
        )
    options = {_OPTIONS[k]: v for k, v in changed.items()}
    if net._arguments["dropout"]:
        options["drop_rate"] = net._arguments["dropout"]
    classes = net._arguments["classes"]
    settings = {"architecture": name, "num_classes": classes, "num_features": body.units}
    cfg = {**net._pretrained_cfg, "num_classes": classes}
    settings |= {"global_pool": "avg", "pretrained_cfg": cfg}
    return {**settings, "model_args": options} if options else settings
