"""The number of classes in config.json: as names of classes, or as a number."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.model_zoo.pretrained.config import MOST, Computed, Config

__all__ = ["LABELS"]

_USUAL = 2  # what transformers takes where a config says nothing


def _read(config: Config) -> Mapping[str, Any]:
    names = config.take("id2label", dict | None, None)
    count = config.take("num_labels", int | None, None, most=MOST)
    if names is None:
        return {"classes": _USUAL if count is None else count}
    if not names or not all(isinstance(name, str) for name in names.values()):
        raise FileFormatError(
            f"{config.source}: expected 'id2label' with the name of each class, got {names!r:.60}"
        )
    if {str(key) for key in names} != {str(index) for index in range(len(names))}:
        raise FileFormatError(
            f"{config.source}: expected 'id2label' with the classes from 0 to {len(names) - 1}, "
            f"got {names!r:.60}"
        )
    if count not in (None, len(names)):
        raise FileFormatError(
            f"{config.source}: expected 'num_labels' to be {len(names)}, the number of names in "
            f"'id2label', got {count}"
        )
    return {"classes": len(names)}


def _write(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    names = {str(index): f"LABEL_{index}" for index in range(arguments["classes"])}
    return {"id2label": names, "label2id": {name: int(key) for key, name in names.items()}}


# The argument ``classes`` of a head.
LABELS = Computed(("id2label", "num_labels"), _read, _write)
