"""fill_at_once: a kernel's results, put by one call each where a program may look at any time.

A signal's handler comes between two calls of a kernel that its thread runs. If it reads an array
that the kernel fills step by step, as one that saves the weights may, it gets what never was a
value of that array.
"""

from types import ModuleType
from typing import Any

from gluonish.ops.kernel import Kernel


def fill_at_once(kernel: Kernel, xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    """Run a kernel on memory of its own, then fill each of the arrays of ``out``."""
    several = isinstance(out, tuple)
    targets = out if several else (out,)
    fresh = tuple(map(xp.empty_like, targets))
    kernel(xp, fresh if several else fresh[0], *inputs, **attrs)
    for target, value in zip(targets, fresh, strict=True):
        target[...] = value
