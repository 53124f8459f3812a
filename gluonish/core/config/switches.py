"""kernel_switches: what decides which kernels are in use, read fast."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.config.flag import changes, encoded, environment
from gluonish.core.config.graph import MXNET_USE_FUSION
from gluonish.core.config.libraries import (
    MXNET_MKLDNN_ENABLED,
    MXNET_SAFE_ACCUMULATION,
    MXNET_USE_MKLDNN_RNN,
    MXNET_WINOGRAD_CONVOLUTION,
)

_SWITCHES = (
    MXNET_MKLDNN_ENABLED,
    MXNET_USE_FUSION,
    MXNET_WINOGRAD_CONVOLUTION,
    MXNET_SAFE_ACCUMULATION,
    MXNET_USE_MKLDNN_RNN,
)
_SWITCH_KEYS = tuple(encoded(flag.name) for flag in _SWITCHES)


def kernel_switches() -> tuple[object, ...]:
    """Return what decides which kernels are switched on: equal as long as nothing has changed.

    It costs less than reading the flags, so that choices can be kept from call to call.
    """
    get = environment.get
    first, second, third, fourth, fifth = _SWITCH_KEYS
    return (get(first), get(second), get(third), get(fourth), get(fifth), changes[0])


def settings_now() -> tuple[Mapping[Any, object], int]:
    """Return what all flags follow from: equal as long as no plan would be another."""
    return dict(environment), changes[0]
