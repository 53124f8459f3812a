"""What `HybridBlock.hybridize` is told: checked, and kept for the graphs that are traced later."""

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.symbol.subgraph import find_backend

_LOG = logging.getLogger(__name__)
# oneDNN's kernels are used wherever they fit, so these change nothing.
_KNOWN_BACKENDS = (None, "MKLDNN", "ONEDNN")
_FLAGS = "static_alloc, static_shape, inline_limit, forward_bulk_size and backward_bulk_size"


class HybridOptions(NamedTuple):
    """The options of a graph that have an effect.

    Attributes:
        static_alloc: Whether memory is kept between calls.
        forward_bulk_size: Most operators in one engine job of the forward pass; None as the
            environment says.
        backward_bulk_size: The same for the backward pass.
        backends: Back ends of the user's that the graph goes through, in order, with options.
        partition_if_dynamic: Whether those get a graph whose shapes depend on values, too.
        static_shape: Whether CUDA graphs may run where they are enabled; only with static_alloc.
        inline_limit: Most operators of a graph that a recorded call shows one by one.
    """

    static_alloc: bool = False
    forward_bulk_size: int | None = None
    backward_bulk_size: int | None = None
    backends: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    partition_if_dynamic: bool = True
    static_shape: bool = False
    inline_limit: int = 2


def checked_options(
    what: str, flags: Mapping[str, Any], backend: str | None, backend_options: Mapping[str, Any]
) -> HybridOptions:
    """Return the options of a call of ``hybridize``.

    Args:
        what: Who was called, for messages.
        flags: ``active``, and those that the message about an unknown one lists.
        backend: None, ``"MKLDNN"``, ``"ONEDNN"``, or a registered back end of the user's.
        backend_options: Options that only a back end could take; without one they change nothing,
            as in MXNet, and a line of the log at debug level says so.

    Raises:
        ArgumentError: ``static_shape`` without ``static_alloc``, or a negative number.
        ArgumentTypeError: for a flag that is no bool, or a size that is no whole number.
        NotSupportedError: The back end is not registered.
    """
    is_own = find_backend(backend) is not None
    own_options = dict(backend_options)
    if_dynamic = own_options.pop("partition_if_dynamic", True)
    if backend not in _KNOWN_BACKENDS and not is_own:
        raise NotSupportedError(
            f"{what}: expected backend None, 'MKLDNN' or 'ONEDNN', got {backend!r}; leave it out, "
            "or register it with mx.sym.register_backend"
        )
    if own_options and backend is None:
        _tell_of_unknown(what, ", ".join(sorted(own_options)))
    switches = {name: flags[name] for name in ("static_alloc", "static_shape")}
    for name, value in {**switches, "partition_if_dynamic": if_dynamic}.items():
        if value not in (True, False):
            raise ArgumentTypeError(f"{what}: expected {name} True or False, got {value!r}")
    for name in ("inline_limit", "forward_bulk_size", "backward_bulk_size"):
        _check_size(what, name, flags[name])
    if flags["active"] and flags["static_shape"] and not flags["static_alloc"]:
        raise ArgumentError(
            f"{what}: expected static_alloc=True with static_shape=True, got static_alloc=False"
        )
    return HybridOptions(
        bool(flags["static_alloc"]),
        flags["forward_bulk_size"],
        flags["backward_bulk_size"],
        ((backend, own_options),) if backend is not None and is_own else (),
        bool(if_dynamic),
        bool(flags["static_alloc"] and flags["static_shape"]),
        flags["inline_limit"],
    )


@cache
def _tell_of_unknown(what: str, names: str) -> None:
    _LOG.debug("%s: ignored %s, which is none of %s", what, names, _FLAGS)


def _check_size(what: str, name: str, size: object) -> None:
    if size is None and name != "inline_limit":
        return
    if not isinstance(size, int | np.integer):
        raise ArgumentTypeError(f"{what}: expected {name} to be a whole number, got {size!r}")
    if size < 0:
        raise ArgumentError(f"{what}: expected {name} of at least 0, got {size}")
