"""Settings and names of weights that vision transformers share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.model_zoo.pretrained.config import AnySetting, Computed, Config, Setting
from gluonish.model_zoo.pretrained.weights import Form, rows

_MOST_PIXELS = 1 << 16  # along an axis


def rate(argument: str, name: str) -> Setting:
    """Return the setting of a probability, 0 by default."""
    return Setting(argument, name, float, 0.0, least=0.0, most=1.0)


def size_setting(argument: str, default: int) -> AnySetting:
    """Return the setting of a height and a width: a number, or a list of two.

    Args:
        argument: Name of the argument, and of the setting.
        default: Value of a missing setting.
    """

    def read(config: Config) -> dict[str, Any]:
        if not isinstance(config.entries.get(argument), list):
            return {argument: config.take(argument, int, default, most=_MOST_PIXELS)}
        sizes = config.take(argument, list)
        right = len(sizes) == 2 and all(type(size) is int for size in sizes)
        if not right or not all(1 <= size <= _MOST_PIXELS for size in sizes):
            raise FileFormatError(
                f"{config.source}: expected {argument!r} as a number or a list of two from 1 to "
                f"{_MOST_PIXELS}, got {sizes!r:.60}"
            )
        return {argument: sizes[0] if sizes[0] == sizes[1] else tuple(sizes)}

    def write(arguments: Mapping[str, Any]) -> dict[str, Any]:
        size = arguments[argument]
        if isinstance(size, int):
            return {argument: size}
        height, width = size
        return {argument: height if height == width else [height, width]}

    return Computed((argument,), read, write)


def nested(argument: str, settings: Sequence[AnySetting], model_type: str) -> AnySetting:
    """Return the setting of a tower, an object of settings.

    Args:
        argument: Name of the argument, ``text`` or ``vision``: a dict of the tower's arguments.
        settings: Settings of the tower.
        model_type: Its ``model_type``.
    """
    name, old = f"{argument}_config", f"{argument}_config_dict"

    def read(config: Config) -> dict[str, Any]:
        entries = config.take(name, dict, {})
        entries = {**entries, **(config.take(old, dict | None, None) or {})}
        inner = config.inner(name, entries)
        inner.require("model_type", model_type)
        found: dict[str, Any] = {}
        for setting in settings:
            found |= setting.read(inner)
        inner.finish()
        return {argument: found}

    def write(arguments: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"model_type": model_type}
        for setting in settings:
            found |= setting.write(arguments[argument])
        return {name: found}

    return Computed((name, old), read, write)


def expected_value(name: str, *allowed: Any) -> AnySetting:
    """Return a setting of old files that must have a value, and is not written."""

    def read(config: Config) -> dict[str, Any]:
        config.require(name, *allowed)
        return {}

    return Computed((name,), read, lambda arguments: {})


def layer_names(
    layers: Mapping[str, str | Sequence[str]],
) -> Iterator[tuple[str, str | Form]]:
    """Yield the pairs of names of weights and biases.

    Args:
        layers: Paths of dense layers and normalizations, with the names of their weights and
            biases in files without the last part; several are rows of one.
    """
    for ours, theirs in layers.items():
        kinds = ("gamma", "beta") if ours.endswith("norm") else ("weight", "bias")
        for own, kind in zip(kinds, ("weight", "bias"), strict=True):
            if isinstance(theirs, str):
                yield f"{ours}.{own}", f"{theirs}.{kind}"
            else:
                yield f"{ours}.{own}", rows(*(f"{name}.{kind}" for name in theirs))
