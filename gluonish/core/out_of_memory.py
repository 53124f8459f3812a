"""Out of memory: release the caches and retry, then raise an error that lists the owners."""

import gc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from gluonish.core.context import Context
from gluonish.core.device import Device, device_of
from gluonish.core.errors import GluonishError, OutOfMemoryError
from gluonish.core.memory_owners import memory_by_owner
from gluonish.core.spec import Shape, Spec

Made = TypeVar("Made")
_MAX_NAMED = 4  # owners in a message


def allocate(make: Callable[[], Made], owner: str, specs: Sequence[Spec], context: Context) -> Made:
    """Return ``make()``; if memory is short, collect garbage, empty the caches, and retry.

    Hot paths try ``make`` themselves and call this when it fails.

    Args:
        make: Allocates arrays.
        owner: Name of the operator or Block, for the message.
        specs: The arrays, for the message.

    Raises:
        OutOfMemoryError: The retry failed, too.
    """
    try:
        return make()
    except GluonishError:
        raise
    except (MemoryError, ValueError):  # NumPy raises ValueError beyond the address space
        gc.collect()
        context.empty_cache()
    try:
        return make()
    except GluonishError:
        raise
    except (MemoryError, ValueError) as error:
        raise out_of_memory_error(owner, specs, context) from error


def empty_or_raise(device: Device, shape: Shape, dtype: np.dtype[Any], owner: str) -> Any:
    """Return an array of undefined values on a device; see `allocate`."""
    return allocate(
        partial(device.empty, shape, dtype), owner, [Spec(shape, dtype)], device.context
    )


def out_of_memory_error(owner: str, specs: Sequence[Spec], context: Context) -> OutOfMemoryError:
    """Return the error for arrays that could not be allocated."""
    requested = ", ".join(f"{spec} of {spec.nbytes} bytes" for spec in specs)
    return OutOfMemoryError(
        f"{owner}: expected memory for {requested} on {context}, got none{_usage_text(context)}; "
        "use smaller arrays, or free some"
    )


def _usage_text(context: Context) -> str:
    """Describe the current owners of memory for the message; empty if memory runs out for it."""
    try:
        uses = memory_by_owner(context)
        info = device_of(context).memory_info()
    except MemoryError:
        return ""
    named = [
        f"{use.name} ({use.arrays} arrays, {_size(use.nbytes)})"
        if use.arrays > 1
        else f"{use.name} ({_size(use.nbytes)})"
        for use in uses[:_MAX_NAMED]
    ]
    rest = sum(use.nbytes for use in uses[_MAX_NAMED:])
    if rest:
        named.append(f"others ({_size(rest)})")
    if info.held:
        named.append(f"cached ({_size(info.held)})")
    total = sum(use.nbytes for use in uses) + info.held
    return f", while {_size(total)} are in use: {', '.join(named)}" if named else ""


def _size(nbytes: int) -> str:
    """Return a human-readable size."""
    if nbytes < 1_000_000:
        return f"{nbytes} bytes"
    return f"{nbytes / 1e6:.1f} MB" if nbytes < 1e9 else f"{nbytes / 1e9:.2f} GB"
