"""The end of a step with a loss scale on a GPU, and its outcome in memory of the host.

The kernel writes the outcome of each step to page-locked memory, where the host reads it without
waiting, once it is there.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.kernels.cupy.all_finite import FiniteTest
from gluonish.kernels.cupy.source import launch_blocks
from gluonish.kernels.loss_scale import Limits

_SETTINGS = np.dtype(
    [
        ("written", np.uint64, (1,)),
        ("step", np.uint32),
        ("divides", np.uint32),
        ("length", np.float32),
        ("largest", np.float32),
        ("smallest", np.float32),
    ],
    align=True,
)


class Outcomes:
    """Outcomes of the last steps; see `gluonish.kernels.loss_scale.Outcomes`.

    Args:
        count: Number of steps whose outcomes are stored.
    """

    __slots__ = ("_finite", "_memory", "_test", "_words", "_xp")

    def __init__(self, xp: ModuleType, count: int) -> None:
        self._xp = xp
        self._test: FiniteTest | None = None
        self._finite: Any = None
        self._memory = xp.cuda.alloc_pinned_memory(4 * count)
        self._words = np.frombuffer(self._memory, np.uint32, count)
        self._words[:] = 0

    def of(self, step: int) -> bool | None:
        """Return whether a step was skipped; None if that is not known yet."""
        word = int(self._words[step % len(self._words)])
        return bool(word & 1) if word >> 1 == step else None

    def bind(self, gradients: Sequence[Any]) -> None:
        """Set the gradients of the following steps, which must not be reallocated."""
        self._test = FiniteTest(self._xp, gradients)

    def end_step(self, state: Any, scale: Any, step: int, divides: int, limits: Limits) -> None:
        """Test the gradients, and update the state."""
        if self._finite is None:
            self._finite = self._xp.ones((1,), np.float32)
        assert self._test is not None
        self._test.run(self._finite)
        settings = np.zeros(1, _SETTINGS)  # CuPy passes an array of size 1 by value
        offset = 4 * (step % len(self._words))
        settings["written"] = self._words.ctypes.data + offset
        settings["step"], settings["divides"] = step, divides
        settings["length"], settings["largest"], settings["smallest"] = limits
        arguments = (settings, self._finite, state, scale)
        launch_blocks(self._xp, "loss_scale", "end_step", FLOAT32, arguments, (1,), 1)
