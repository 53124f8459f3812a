"""What `HybridBlock.hybridize` is told: checked, and kept for the graphs that are traced later."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError

__all__ = ["HybridOptions", "checked_options"]

# oneDNN's kernels are used wherever they fit, so these change nothing.
_KNOWN_BACKENDS = (None, "MKLDNN", "ONEDNN")
_FLAGS = "static_alloc, static_shape, inline_limit, forward_bulk_size and backward_bulk_size"


class HybridOptions(NamedTuple):
    """The options of a graph that have an effect."""

    static_alloc: bool = False
    forward_bulk_size: int | None = None
    backward_bulk_size: int | None = None


def checked_options(
    what: str, flags: Mapping[str, Any], backend: str | None, backend_options: Mapping[str, Any]
) -> HybridOptions:
    """Return the options of a call of ``hybridize``.

    Args:
        what: Who was called, for messages.
        flags: ``active``, and those that the message about an unknown one lists.
        backend: None, ``"MKLDNN"`` or ``"ONEDNN"``.
        backend_options: Options that only a back end could take.

    Raises:
        ArgumentError: for ``static_shape`` without ``static_alloc``, a negative number, or an
            unknown option.
        ArgumentTypeError: for a flag that is no bool, or a size that is no whole number.
        NotSupportedError: for another back end.
    """
    if backend not in _KNOWN_BACKENDS:
        raise NotSupportedError(
            f"{what}: expected backend None, 'MKLDNN' or 'ONEDNN', got {backend!r}; leave it out"
        )
    if backend_options and backend is None:
        raise ArgumentError(
            f"{what}: expected flags {_FLAGS}, got {', '.join(sorted(backend_options))}"
        )
    for name in ("static_alloc", "static_shape"):
        if flags[name] not in (True, False):
            raise ArgumentTypeError(f"{what}: expected {name} True or False, got {flags[name]!r}")
    for name in ("inline_limit", "forward_bulk_size", "backward_bulk_size"):
        _check_size(what, name, flags[name])
    if flags["active"] and flags["static_shape"] and not flags["static_alloc"]:
        raise ArgumentError(
            f"{what}: expected static_alloc=True with static_shape=True, got static_alloc=False"
        )
    return HybridOptions(
        bool(flags["static_alloc"]), flags["forward_bulk_size"], flags["backward_bulk_size"]
    )


def _check_size(what: str, name: str, size: object) -> None:
    if size is None and name != "inline_limit":
        return
    if not isinstance(size, int | np.integer):
        raise ArgumentTypeError(f"{what}: expected {name} to be a whole number, got {size!r}")
    if size < 0:
        raise ArgumentError(f"{what}: expected {name} of at least 0, got {size}")
