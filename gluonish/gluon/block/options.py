"""The checked options of `HybridBlock.hybridize`, which later traces use."""

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, nearest
from gluonish.core.mxnet_rules import follows_mxnet1
from gluonish.symbol.subgraph import find_backend

_LOG = logging.getLogger(__name__)
# Back ends without effect, as oneDNN's kernels are used wherever they support an operator.
_KNOWN_BACKENDS = (None, "MKLDNN", "ONEDNN")
_FLAGS = "static_alloc, static_shape, inline_limit, forward_bulk_size and backward_bulk_size"


class HybridOptions(NamedTuple):
    """The effective options of a graph.

    Attributes:
        static_alloc: Whether memory is kept between calls.
        forward_bulk_size: Maximum number of operators in one engine operation of the forward pass;
            None for the value of the environment variable.
        backward_bulk_size: The same for the backward pass.
        backends: The user's back ends that partition the graph, in order, with options.
        partition_if_dynamic: Whether to partition graphs whose shapes depend on values, too.
        static_shape: Whether CUDA graphs are allowed; only with ``static_alloc``.
        inline_limit: Maximum number of operators of a graph that a recorded call shows one by one.
        packs_weights: Whether plans of inference may have a copy of each dense layer's weight in
            the layout that is read fastest. Each shape of data has its own plan and copies, of
            which `CachedGraph` bounds the number.
    """

    static_alloc: bool = False
    forward_bulk_size: int | None = None
    backward_bulk_size: int | None = None
    backends: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    partition_if_dynamic: bool = True
    static_shape: bool = False
    inline_limit: int = 2
    packs_weights: bool = True


def checked_options(
    what: str, flags: Mapping[str, Any], backend: str | None, backend_options: Mapping[str, Any]
) -> HybridOptions:
    """Return the options of a call of ``hybridize``.

    Args:
        what: The called method, for messages.
        flags: ``active`` and the options of `_FLAGS`.
        backend: None, ``"MKLDNN"``, ``"ONEDNN"``, or a registered back end.
        backend_options: Options of the back end. Without a back end they have no effect, as in
            MXNet, and are logged at debug level.

    Raises:
        ArgumentError: ``static_shape`` without ``static_alloc``, or a negative number.
        ArgumentTypeError: A flag is not a bool, a size not a whole number, or the name of an option
            misspelt.
        NotSupportedError: The back end is not registered.
    """
    is_registered = find_backend(backend) is not None
    options = dict(backend_options)
    if_dynamic = options.pop("partition_if_dynamic", True)
    if backend not in _KNOWN_BACKENDS and not is_registered:
        raise NotSupportedError(
            f"{what}: expected backend None, 'MKLDNN' or 'ONEDNN', got {backend!r}; omit it, or "
            "register it with mx.sym.register_backend"
        )
    for name in options if backend is None and not follows_mxnet1() else ():
        near = nearest(name, ("backend", "clear", *flags))
        if near:  # not an option of a back end that is absent, but a typing error
            raise ArgumentTypeError(f"{what}: expected the name of an option, got {name!r}{near}")
    if options and backend is None:
        _log_unknown(what, ", ".join(sorted(options)))
    switches = {name: flags[name] for name in ("static_alloc", "static_shape")}
    for name, value in {**switches, "partition_if_dynamic": if_dynamic}.items():
        if value not in (True, False):
            raise ArgumentTypeError(f"{what}: expected {name} True or False, got {value!r}")
    for name in ("inline_limit", "forward_bulk_size", "backward_bulk_size"):
        _check_size(what, name, flags[name])
    if flags["active"] and flags["static_shape"] and not flags["static_alloc"]:
        raise ArgumentError(
            f"{what}: expected static_alloc=True, which static_shape=True requires, got False"
        )
    return HybridOptions(
        bool(flags["static_alloc"]),
        flags["forward_bulk_size"],
        flags["backward_bulk_size"],
        ((backend, options),) if backend is not None and is_registered else (),
        bool(if_dynamic),
        bool(flags["static_alloc"] and flags["static_shape"]),
        flags["inline_limit"],
    )


@cache
def _log_unknown(what: str, names: str) -> None:
    _LOG.debug("%s: ignored %s, expected %s", what, names, _FLAGS)


def _check_size(what: str, name: str, size: object) -> None:
    if size is None and name != "inline_limit":
        return
    if not isinstance(size, int | np.integer):
        raise ArgumentTypeError(f"{what}: expected {name} to be a whole number, got {size!r}")
    if size < 0:
        raise ArgumentError(f"{what}: expected {name} of at least 0, got {size}")
