"""RNNParams: the weights of symbolic cells by name, which cells may share."""

from typing import Any

from gluonish.symbol import Symbol, Variable

__all__ = ["RNNParams"]


class RNNParams:
    """Variables by name, each made when it is first asked for.

    Args:
        prefix: What all their names begin with.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: dict[str, Symbol] = {}

    def get(self, name: str, **kwargs: Any) -> Symbol:
        """Return a variable, the same one for the same name.

        Args:
            name: Its name after the prefix.
            **kwargs: For `sym.Variable`, where it is made.
        """
        full = self._prefix + name
        if full not in self._params:
            self._params[full] = Variable(full, **kwargs)
        return self._params[full]
