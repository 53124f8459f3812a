"""Values by name while a graph is computed; the graphs inside it see them, too."""

from typing import Any

from gluonish.core.errors import FileFormatError

__all__ = ["Scope"]


class Scope:
    """Values by name.

    Args:
        outer: The scope around it, of which it sees all values.
    """

    __slots__ = ("_outer", "_values")

    def __init__(self, outer: "Scope | None" = None) -> None:
        self._outer = outer
        self._values: dict[str, Any] = {}

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[name] = value

    def __getitem__(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._values:
                return scope._values[name]
            scope = scope._outer
        raise FileFormatError(f"ONNX graph: expected a value {name!r}, got none of this name")

    def free(self, names: tuple[str, ...]) -> None:
        """Forget values that nobody needs any more."""
        for name in names:
            self._values.pop(name, None)
