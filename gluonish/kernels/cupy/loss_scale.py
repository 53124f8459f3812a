"""The end of a step with a loss scale on a GPU, and its outcome in memory of the host.

The kernel writes the outcome of each step to page-locked memory, where the host reads it without
waiting, once it is there.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
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

    __slots__ = ("_memory", "_words", "_xp")

    def __init__(self, xp: ModuleType, count: int) -> None:
        self._xp = xp
        self._memory = xp.cuda.alloc_pinned_memory(4 * count)
        self._words = np.frombuffer(self._memory, np.uint32, count)
        self._words[:] = 0

    def of(self, step: int) -> bool | None:
        """Return whether a step was skipped; None if that is not known yet."""
        word = int(self._words[step % len(self._words)])
        return bool(word & 1) if word >> 1 == step else None

    def end_step(
        self, finite: Any, state: Any, scale: Any, step: int, divides: int, limits: Limits
    ) -> None:
        """Update the state by whether the gradients of a step are finite."""
        settings = np.zeros(1, _SETTINGS)  # CuPy passes an array of size 1 by value
        offset = 4 * (step % len(self._words))
        settings["written"] = self._words.ctypes.data + offset
        settings["step"], settings["divides"] = step, divides
        settings["length"], settings["largest"], settings["smallest"] = limits
        arguments = (settings, finite, state, scale)
        launch_blocks(self._xp, "loss_scale", "end_step", FLOAT32, arguments, (1,), 1)
