"""Plans of generated kernels: a compiled kernel and the words that it is called with.

A plan depends on the layouts of the arrays that it runs on: only their addresses, which are the
first words, and the key of random numbers change from call to call. Plans are shared by all
threads; the words of a call belong to one thread from their `pop` to their `append` on the plan's
list of idle ones, both single steps of the interpreter.
"""

from collections.abc import Collection, Sequence
from ctypes import addressof, c_int64
from typing import Any

from gluonish.kernels.compiler import CompiledKernel
from gluonish.ops.kernel import Key, address


class KernelPlan:
    """A kernel and the words that it is called with, for arrays of some layouts.

    Args:
        kernel: What runs.
        words: What it is called with; the first are addresses of operands, filled in by the call.
        extent: How many steps it has.
        grain: Fewest steps that are worth a thread.
        key_at: Where in the words the key of random numbers stands; 0 where it draws none.
    """

    __slots__ = ("_extent", "_grain", "_idle", "_kernel", "_key_at", "_words")

    def __init__(
        self,
        kernel: CompiledKernel,
        words: Sequence[int],
        extent: int,
        grain: int,
        key_at: int = 0,
    ) -> None:
        self._kernel = kernel
        self._words = words
        self._extent = extent
        self._grain = grain
        self._key_at = key_at
        self._idle: list[tuple[Any, int]] = []

    def new_words(self) -> tuple[Any, int]:
        """Return words of one's own, and their address."""
        words = (c_int64 * len(self._words))(*self._words)
        return words, addressof(words)

    def launch(self, words: tuple[Any, int], key: Key | None) -> None:
        """Run on the arrays whose addresses are in the words."""
        if key is not None and self._key_at:
            words[0][self._key_at], words[0][self._key_at + 1] = key
        self._kernel.run_at(self._extent, words[1], self._grain)

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on outputs and inputs, which lie as those that the plan was made for.

        Args:
            *arrays: Outputs, then inputs.
            key: Where the random numbers of this call start.
        """
        try:
            words = self._idle.pop()
        except IndexError:
            words = self.new_words()
        own = words[0]
        for i, array in enumerate(arrays):
            own[i] = address(array)
        self.launch(words, key)
        self._idle.append(words)

    def packing(self, stable: Collection[int]) -> None:
        """Nothing is computed ahead."""

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        moving: Collection[int],
        packing: None = None,
    ) -> "Attached":
        """Return the plan bound to memory; arguments of `Attached`."""
        return Attached(self, operands, arrays, moving)


class Attached:
    """A plan on memory that mostly stays where it is, for one caller at a time.

    Args:
        plan: The plan.
        operands: Where each operand lies among the arrays that `run` is given.
        arrays: Those arrays, now.
        moving: Places of arrays that may lie elsewhere at the next call.
    """

    __slots__ = ("_moving", "_plan", "_words")

    def __init__(
        self,
        plan: KernelPlan,
        operands: Sequence[int],
        arrays: Sequence[Any],
        moving: Collection[int],
    ) -> None:
        self._plan = plan
        self._words = plan.new_words()
        self._moving: list[tuple[int, int]] = []
        for i, place in enumerate(operands):
            if place in moving:
                self._moving.append((i, place))
            else:
                self._words[0][i] = address(arrays[place])

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays at their places."""
        own = self._words[0]
        for i, place in self._moving:
            own[i] = address(arrays[place])
        self._plan.launch(self._words, None)

    def pack(self, arrays: Sequence[Any]) -> None:
        """Compute nothing."""
