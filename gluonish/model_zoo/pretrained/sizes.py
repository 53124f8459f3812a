"""Settings that are lists of numbers, one for each stage."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.model_zoo.pretrained.config import MOST, Config

__all__ = ["SizesSetting"]

_MOST_STAGES = 16


class SizesSetting:
    """A list of whole numbers, and the argument of a network's class that it is.

    Args:
        argument: Name of the argument.
        name: Name of the setting.
        default: The setting's value where it is missing.
        most: Largest number.
    """

    def __init__(self, argument: str, name: str, default: Sequence[int], most: int = MOST) -> None:
        self.names = (name,)
        self._argument, self._default, self._most = argument, list(default), most

    def read(self, config: Config) -> Mapping[str, Any]:
        """Return the argument by its name.

        Raises:
            FileFormatError: The setting is not a list of numbers, or their number is not that of
                ``num_stages`` or ``num_layers``.
        """
        (name,) = self.names
        found = config.take(name, list, self._default)
        good = 0 < len(found) <= _MOST_STAGES and all(
            type(number) is int and 1 <= number <= self._most for number in found
        )
        if not good:
            raise FileFormatError(
                f"{config.source}: expected {name!r} to be whole numbers from 1 to {self._most}, "
                f"got {found!r:.60}"
            )
        for count in ("num_stages", "num_layers"):
            if config.entries.get(count, len(found)) != len(found):
                raise FileFormatError(
                    f"{config.source}: expected {name!r} with {count!r} = "
                    f"{config.entries[count]!r:.60} numbers, got {len(found)}"
                )
        return {self._argument: tuple(found)}

    def write(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the setting by its name."""
        return {self.names[0]: list(arguments[self._argument])}
