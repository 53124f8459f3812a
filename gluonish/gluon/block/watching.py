"""Watching a block that runs imperatively: each operator tells a hook what it computed."""

from collections.abc import Sequence

from gluonish.core.value_scope import ValueScope
from gluonish.graph.interpreter import Monitor, input_words, output_word
from gluonish.graph.ir import operator_word
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.recording import WATCHED
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol import NameManager

__all__ = ["Watched"]


class Watched(ValueScope):
    """Scope in which every operator that this thread calls on arrays is told to a hook.

    The names are those that the nodes of a trace would get. The hook's own calls are not told, nor
    is what a graph computes, which tells its own hook.

    Args:
        hook: Called with name, operator name and array for every output and, if the flag beside it
            is set, for every input.
    """

    __slots__ = ("_callback", "_monitor_all")

    def __init__(self, hook: tuple[Monitor, bool]) -> None:
        super().__init__()
        self._callback, self._monitor_all = hook

    def __enter__(self) -> None:
        self._change(recording.watcher, self._tell)
        self._change(recording.mode, recording.mode.get() | WATCHED)

    def __exit__(self, *exc_info: object) -> None:
        self._restore()
        self._restore()

    def _tell(
        self, op: Operator, attrs: Attrs, inputs: Sequence[NDArray], outputs: Sequence[NDArray]
    ) -> None:
        name = NameManager.current.get(None, operator_word(op))
        before = recording.mode.get()
        try:
            recording.mode.set(before & ~WATCHED)
            if self._monitor_all:
                for word, x in zip(input_words(op, attrs), inputs, strict=False):
                    self._callback(f"{name}_{word}", op.name, x)
            for i in range(op.num_visible(attrs)):
                self._callback(f"{name}_{output_word(op, attrs, i)}", op.name, outputs[i])
        finally:
            recording.mode.set(before)
