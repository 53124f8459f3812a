"""Classes in config.json: ``id2label``, ``label2id`` and ``num_labels``."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.model_zoo.pretrained.config import Config

_MOST = 1_000_000
_DEFAULT = 2  # classes, where no setting says it


class LabelSetting:
    """The settings of classes, as the argument ``classes``: their number, or their names.

    Args:
        named: Whether the argument may be names; otherwise it is the number, and names stay in the
            settings of the folder.
        default: Number of classes where no setting says it.
    """

    argument = "classes"
    names: tuple[str, ...] = ("id2label", "label2id", "num_labels")

    def __init__(self, named: bool = True, default: int = _DEFAULT) -> None:
        self._named, self._default = named, default

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the argument by its name.

        Raises:
            FileFormatError: Classes are not numbered from 0 on, or are not as many as said.
        """
        if self._named:
            config.rewrites(*self.names)
        names = config.take("id2label", dict | None, None)
        config.take("label2id", dict | None, None)
        number = config.take("num_labels", int | None, None, most=_MOST)
        if names is None:
            return {self.argument: self._default if number is None else number}
        found = [names.get(str(i)) for i in range(len(names))]
        if not found or not all(isinstance(name, str) for name in found):
            raise FileFormatError(
                f"{config.source}: expected 'id2label' with names of classes 0, 1, ..., got "
                f"{names!r:.60}"
            )
        if number not in (None, len(found)):
            raise FileFormatError(
                f"{config.source}: expected 'id2label' of num_labels {number} classes, got "
                f"{len(found)}"
            )
        plain = not self._named or found == _plain(len(found))
        return {self.argument: len(found) if plain else tuple(found)}

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings of the argument."""
        given = arguments[self.argument]
        if self._named and given == self._default == _DEFAULT:
            return {}
        names = _plain(given) if isinstance(given, int) else list(given)
        return {
            "id2label": {str(i): name for i, name in enumerate(names)},
            "label2id": {name: i for i, name in enumerate(names)},
        }


def _plain(number: int) -> list[str]:
    return [f"LABEL_{i}" for i in range(number)]
