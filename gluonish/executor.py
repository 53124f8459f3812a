"""``mx.executor``: the executor of bound Symbols."""

from gluonish.symbol.executor import Executor

__all__ = ["Executor"]
