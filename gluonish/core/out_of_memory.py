"""What is done when a device has no memory: caches go back, and an error says who has it all."""

import gc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from gluonish.core.context import Context
from gluonish.core.device import Device, device_of
from gluonish.core.errors import GluonishError, OutOfMemoryError
from gluonish.core.holders import held_memory
from gluonish.core.spec import Shape, Spec

Made = TypeVar("Made")
_NAMED = 4  # holders in a message


def allocate(make: Callable[[], Made], owner: str, specs: Sequence[Spec], context: Context) -> Made:
    """Return what a function allocates on a device, if need be after the caches went back.

    Calls that are too frequent for this one try ``make`` themselves and come here when it fails.

    Args:
        make: Allocates; called again if there was no memory, after garbage in cycles was collected
            and the device's caches were emptied.
        owner: Who asks, for the message.
        specs: The arrays, for the message.

    Raises:
        OutOfMemoryError: There is no memory for it.
    """
    try:
        return make()
    except GluonishError:
        raise
    except (MemoryError, ValueError):  # NumPy has a ValueError for what no address reaches
        gc.collect()
        context.empty_cache()
    try:
        return make()
    except GluonishError:
        raise
    except (MemoryError, ValueError) as error:
        raise no_memory(owner, specs, context) from error


def empty_or_refuse(device: Device, shape: Shape, dtype: np.dtype[Any], owner: str) -> Any:
    """Return an array of undefined values on a device; see `allocate`."""
    return allocate(
        partial(device.empty, shape, dtype), owner, [Spec(shape, dtype)], device.context
    )


def no_memory(owner: str, wanted: Sequence[Spec], context: Context) -> OutOfMemoryError:
    """Return the error for arrays that found no memory on a device.

    Args:
        owner: Who asked.
    """
    asked = ", ".join(f"{spec} of {spec.nbytes} bytes" for spec in wanted)
    return OutOfMemoryError(
        f"{owner}: expected memory for {asked} on {context}, got none{_held(context)}; use smaller "
        "arrays, or free some"
    )


def _held(context: Context) -> str:
    """Return who has the memory, as a part of the message; nothing where even that does not fit."""
    try:
        holdings = held_memory(context)
        info = device_of(context).memory_info()
    except MemoryError:
        return ""
    named = [
        f"{holding.name} ({holding.arrays} arrays, {_size(holding.nbytes)})"
        if holding.arrays > 1
        else f"{holding.name} ({_size(holding.nbytes)})"
        for holding in holdings[:_NAMED]
    ]
    rest = sum(holding.nbytes for holding in holdings[_NAMED:])
    if rest:
        named.append(f"others ({_size(rest)})")
    if info.held:
        named.append(f"kept for later arrays ({_size(info.held)})")
    total = sum(holding.nbytes for holding in holdings) + info.held
    return f", while {_size(total)} are held: {', '.join(named)}" if named else ""


def _size(nbytes: int) -> str:
    """Return bytes as people read them."""
    if nbytes < 1_000_000:
        return f"{nbytes} bytes"
    return f"{nbytes / 1e6:.1f} MB" if nbytes < 1e9 else f"{nbytes / 1e9:.2f} GB"
