"""fill_at_once: write a kernel's results in one call per array.

A signal handler may run between two calls of a kernel in the same thread. If it reads an array that
the kernel fills in steps (to save the weights, for example), it would see intermediate values.
"""

from types import ModuleType
from typing import Any

from gluonish.ops.kernel import Kernel


def fill_at_once(kernel: Kernel, xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    """Run a kernel on scratch memory, then copy each result to ``out``."""
    several = isinstance(out, tuple)
    targets = out if several else (out,)
    fresh = tuple(map(xp.empty_like, targets))
    kernel(xp, fresh if several else fresh[0], *inputs, **attrs)
    for target, value in zip(targets, fresh, strict=True):
        target[...] = value
